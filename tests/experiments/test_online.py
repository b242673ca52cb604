"""The experiment's quick form runs without data; the paper's figures are those it prints."""

import numpy as np
import pytest

from anyboost import datasets
from anyboost.experiments import frame, online


@pytest.mark.full
def test_the_quick_form_needs_no_data(tmp_path, monkeypatch):
    monkeypatch.delenv("ANYBOOST_DATA", raising=False)
    record = frame.run("online", True, tmp_path)
    assert set(record["results"]) == set(online.cases(True))
    assert [claim["verdict"] for claim in record["claims"]]
    table = (tmp_path / "online.md").read_text()
    assert "| SGD | diabetes |" in table


def test_a_stream_is_as_the_paper_has_it(monkeypatch):
    data = datasets.Dataset(
        X=np.c_[np.arange(6.0), [0, 1, 2, 0, 1, 2]],
        y=np.array([0.0, 1, 0, 1, 1, 0]),
        feature_names=["age", "job"],
        categorical=np.array([False, True]),
    )
    monkeypatch.setattr(datasets, "load", lambda name: data)
    online.stream.cache_clear()
    X, y = online.stream("bank")
    online.stream.cache_clear()
    X = X.toarray() if hasattr(X, "toarray") else X
    assert X.shape == (6, 4)  # a number, and three categories
    assert np.array_equal(X[:, 1:].sum(axis=1), np.ones(6))
    row = X[:, 0].astype(int)
    assert not np.array_equal(row, np.arange(6))  # shuffled
    assert np.array_equal(y, 2 * data.y[row] - 1)


def test_the_papers_mean_gains_are_those_it_states():
    # 21 % and 16 % for stumps over these ten sets.
    gains = np.mean([online.gains(row[1]) for row in online.PAPER.values()], axis=0)
    np.testing.assert_allclose(gains, [21, 16], atol=0.6)


@pytest.mark.parametrize(
    ("losses", "verdicts"),
    [
        # baseline, Algorithm 1 and 2 of SGD, stumps and nets
        (((1.0, 0.99, 0.99), (1.0, 0.8, 0.9), (1.0, 0.95, 1.0)), ["reproduced"] * 3),
        (((1.0, 0.99, 0.5), (1.0, 0.8, 0.9), (1.0, 1.01, 1.0)), ["partly", "not reproduced", "partly"]),
        (
            ((1.0, 1.1, 1.1), (1.0, 1.0, 1.0), (1.0, 0.9, 1.0)),
            ["not reproduced", "reproduced", "not reproduced"],
        ),
    ],
)
def test_claims_follow_the_losses(losses, verdicts):
    results = {
        f"any, {base}": {
            name: {"losses": [0.9 * loss, 1.1 * loss]}
            for name, loss in zip(("baseline", "Algorithm 1", "Algorithm 2"), row, strict=True)
        }
        for base, row in zip(online.BASES, losses, strict=True)
    }
    assert [claim.verdict for claim in online.claims(results)] == verdicts


def test_parameters_are_chosen_on_the_first_half_only(monkeypatch):
    """And the record names them: who cannot read what was chosen cannot repeat a row of the table."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = X @ [0.3, -0.2, 0.1]
    case = {"data": "any", "base": "SGD", "growth": 0}

    def measured(labels):
        monkeypatch.setattr(online, "stream", lambda name: online.Stream(X, labels))
        return online.measure(case)

    found, other = measured(y), measured(np.r_[y[:200], -y[200:]])
    for name in ("baseline", "Algorithm 1", "Algorithm 2"):
        assert found[name]["chosen"] == other[name]["chosen"]
        tried = {tuple(found[name]["chosen"]): one for one in found[name]["tried"]}
        assert found[name]["chosen"].keys() | {"loss"} == tried[tuple(found[name]["chosen"])].keys()
    chosen = found["Algorithm 1"]["chosen"]
    booster = online.SpanBooster(online.LinearLearner(chosen["rate"]), 20, step=chosen["step"])
    again = np.mean((booster.progressive_predict(X[200:], y[200:]) - y[200:]) ** 2)
    assert found["Algorithm 1"]["losses"][0] == pytest.approx(again)
    assert len(set(found["Algorithm 1"]["losses"])) == 3  # three orders of the other half
