"""The tables of docs/learners.md: the linear program is the optimum, and the certificate lies under it."""

import numpy as np
import pytest

from anyboost import datasets
from benchmarks import learners


@pytest.fixture
def small(monkeypatch):
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=(150, 3)), random.integers(0, 3, 150)])
    signal = X @ [1.0, -2.0, 0.5, 0.0] + random.normal(size=150)

    def load(name):
        y = (signal > 0).astype(float) if name == "signs" else signal
        names = ["a", "b", "c", "kind"]
        return datasets.Dataset(X, y, names, np.array([False, False, False, True]))

    monkeypatch.setattr(datasets, "load", load)
    monkeypatch.setattr(learners, "ROUNDS", 400)


@pytest.mark.usefixtures("small")
def test_floor_optimum_and_loss_are_in_order():
    rows = list(learners.optima({"numbers": "real", "signs": "sign"}))
    assert [row["loss"] for row in rows] == ["absolute", "quantile:0.9", "hinge"]
    for row in rows:
        assert row["certified"] <= row["optimum"] + 1e-9 <= row["boosted"] + 2e-9
        assert row["boosted"] < 1.02 * row["optimum"]
    assert rows[-1]["linear_svc"] >= rows[-1]["optimum"]


@pytest.mark.usefixtures("small")
@pytest.mark.full
def test_every_learner_has_its_row():
    rows = list(learners.classes({"numbers": "real", "signs": "sign"}, max_iter=3))
    assert [row["learner"] for row in rows] == list(learners.LEARNERS) * 2
    assert all(np.isfinite(row["test"]) and row["test"] > 0 for row in rows)
