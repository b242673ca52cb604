"""A team however its rows come: cut, saved and loaded anywhere, and through streams that nobody wishes for."""

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from anyboost import losses
from anyboost.streams.experts import Refitted

REGRESSOR, CLASSIFIER = ab.OnlineBoostingRegressor, ab.OnlineBoostingClassifier


def stream(n, classes, seed=0):
    """Named rows with text, missing cells, and for classes one that comes late."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    rows = [
        {"a": a, "b": b if i % 7 else None, "c": c, "kind": "uvw"[i % 3]}
        for i, (a, b, c) in enumerate(X.tolist())
    ]
    score = X[:, 0] * X[:, 1] + X[:, 2]
    if not classes:
        return rows, score
    return rows, np.where((np.arange(n) > n // 2) & (score > 1), "late", np.where(score > 0, "high", "low"))


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
@pytest.mark.parametrize("refit", ["inline", "background"])
def test_files_are_the_same_bytes_wherever_rows_are_cut_saved_and_loaded(tmp_path, make, refit):
    rows, y = stream(760, make is CLASSIFIER)
    whole = make(refit=refit, max_rows_kept=1000)
    whole.learn_many(rows, y)
    ab.save(whole, tmp_path / "whole")
    assert any(each.model is not None for each in experts(whole) if each.name == "last 500")
    random = np.random.default_rng(1)
    model = make(refit=refit, max_rows_kept=1000)
    begin = 0
    while begin < len(rows):
        end = min(len(rows), begin + int(random.integers(1, 200)))
        if random.random() < 0.3:
            for x, label in zip(rows[begin:end], y[begin:end].tolist(), strict=True):
                model.learn_one(x, label)
        else:
            model.learn_many(rows[begin:end], y[begin:end])
        ab.save(model, tmp_path / "part")
        model = ab.load(tmp_path / "part")
        begin = end
    ab.save(model, tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == (tmp_path / "whole").read_bytes()


def texts_that_keep_coming(n):
    return [{"t": f"w{i}"} for i in range(n)]


def zeros_of_both_signs(n):
    return [{"a": [-0.0, 0.0, 1.0][i % 3], "b": -0.0 if i % 2 else None, "t": "xy"[i % 2]} for i in range(n)]


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
@pytest.mark.parametrize("bits", [None, 6])
@pytest.mark.parametrize("rows_of", [texts_that_keep_coming, zeros_of_both_signs])
def test_files_are_the_same_bytes_however_rows_are_given(tmp_path, make, bits, rows_of):
    rows = rows_of(45)
    y = (np.arange(45) % 3.0).tolist()
    by_rows, at_once, in_portions, observed, frame = (make(hash_bits=bits) for _ in range(5))
    for x, label in zip(rows, y, strict=True):
        by_rows.learn_one(x, label)
    at_once.learn_many(rows, y)
    for begin in range(0, 45, 7):
        in_portions.learn_many(rows[begin : begin + 7], y[begin : begin + 7])
        observed.observe(rows[begin : begin + 7], y[begin : begin + 7])
    frame.learn_many(pd.DataFrame(rows), y)
    found = []
    for model in (by_rows, at_once, in_portions, observed, frame):
        ab.save(model, tmp_path / "model")
        found.append((tmp_path / "model").read_bytes())
    assert found[1:] == found[:1] * 4


def experts(model):
    return [each for each in model._team().experts if isinstance(each, Refitted)]


@pytest.mark.parametrize("n", [3000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_one_class_for_ever_is_answered_and_the_next_one_learnt(n):
    random = np.random.default_rng(0)
    model = CLASSIFIER()
    for _ in range(0, n, 1000):
        X = random.normal(size=(1000, 2))
        model.partial_fit(X, np.zeros(1000, dtype=int), classes=[0, 1])
    assert model.predict_proba(X)[:, 0].min() > 0.99
    X = random.normal(size=(2000, 2))
    model.partial_fit(X, (X[:, 0] > 0).astype(int))
    assert (model.predict(X) == (X[:, 0] > 0)).mean() > 0.9


@pytest.mark.parametrize("loss", ["poisson", "tweedie:1.5"])
@pytest.mark.parametrize("refit", ["inline", "background"])
def test_counts_may_all_be_0_at_first_and_for_a_whole_window(tmp_path, loss, refit):
    random = np.random.default_rng(0)
    X = random.uniform(size=(1600, 2))
    y = random.poisson(1 + 5 * (X[:, 0] > 0.5)).astype(float)
    y[:45] = y[600:1400] = 0.0
    model = REGRESSOR(loss=loss, refit=refit).partial_fit(X[:45], y[:45])
    assert model.regret().best_constant_loss is None
    assert 0 <= model.predict(X[:1])[0] < 0.5
    model.partial_fit(X[45:600], y[45:600])
    rates = model.predict([[0.1, 0.5], [0.9, 0.5]])
    assert 0 < rates[0] < 2.5 < rates[1]
    model.partial_fit(X[600:1400], y[600:1400])
    assert model.predict([[0.9, 0.5]])[0] < 0.5
    ab.save(model, tmp_path / "model")
    model = ab.load(tmp_path / "model").partial_fit(X[1400:], y[1400:])
    rates = model.predict([[0.1, 0.5], [0.9, 0.5]])
    assert 0 < rates[0] < 3 < rates[1]
    mean = y.mean()
    least = losses.get(loss).values(np.full(1600, np.log(mean)), y).sum()
    assert model.regret().best_constant_loss == pytest.approx(least)


@pytest.mark.parametrize("make", [REGRESSOR, CLASSIFIER])
def test_a_feature_of_1e10_does_no_lasting_harm(make):
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 3))
    y = X[:, 0] > 0 if make is CLASSIFIER else X[:, 0]
    X[700] = 1e10
    model = make().partial_fit(X, y)
    X[700] = 0.0
    right = model.predict(X[800:])
    assert np.isfinite(right.astype(float)).all()
    assert (right == y[800:]).mean() > 0.9 if make is CLASSIFIER else np.abs(right - y[800:]).mean() < 0.2


def test_rows_that_lack_everything_are_answered_by_what_is_usual():
    model = REGRESSOR()
    model.learn_many([{"a": None, "b": None}] * 400, np.tile([1.0, 3.0], 200))
    assert model.predict_one({"a": None}) == pytest.approx(2.0, abs=0.5)
    rows, y = stream(300, False)
    model.learn_many(rows, y)  # and features that come after that are learnt
    assert np.isfinite([model.predict_one(x) for x in rows]).all()


@pytest.mark.parametrize("change", ["gradual", "recurring"])
def test_a_world_that_changes_slowly_or_comes_back_is_followed(change):
    random = np.random.default_rng(0)
    n = 2400
    X = random.uniform(-1, 1, size=(n, 2))
    row = np.arange(n)
    share = np.clip((row - 800) / 800, 0, 1) if change == "gradual" else (row // 800) % 2
    y = np.where(random.random(n) < share, X[:, 0] + X[:, 1] > 0, X[:, 0] * X[:, 1] > 0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model, wrong = CLASSIFIER(), []
    for begin in range(0, n, 100):
        part = slice(begin, begin + 100)
        wrong.append(np.asarray(model.observe(frame[part], y[part]).predictions) != y[part])
    wrong = np.concatenate(wrong)
    settled = [slice(500, 800), slice(2100, n)] + ([slice(1300, 1600)] if change == "recurring" else [])
    assert max(wrong[part].mean() for part in settled) < 0.15
    assert len({move.leader for move in model.drift_}) > 1


def test_features_may_go_and_come_back():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 1800))
    rows = [
        {"a": x} if i < 600 else {"b": z} if i < 1200 else {"a": x, "b": z}
        for i, (x, z) in enumerate(zip(a.tolist(), b.tolist(), strict=True))
    ]
    y = np.where(np.arange(1800) < 600, a, np.where(np.arange(1800) < 1200, 2 * b, a + 2 * b))
    model = REGRESSOR()
    errors = np.abs(y - np.asarray(model.observe(rows, y).predictions))
    for end in (600, 1200, 1800):
        assert errors[end - 200 : end].mean() < 0.3


def test_a_longer_stream_makes_no_larger_file(tmp_path):
    random = np.random.default_rng(0)
    model, sizes = REGRESSOR(max_rows_kept=1000), []
    for _ in range(3):
        X = random.normal(size=(4000, 3))
        model.partial_fit(X, X[:, 0] * X[:, 1])
        ab.save(model, tmp_path / "model")
        sizes.append((tmp_path / "model").stat().st_size)
    assert sizes[2] < 1.1 * sizes[0]


@pytest.mark.parametrize("learner", ["linear", "team"])
def test_intervals_in_one_call_keep_their_coverage_under_drift(learner):
    random = np.random.default_rng(0)
    model = REGRESSOR(learner).with_intervals(coverage=0.8, rate=0.02, window=300)
    inside = []
    for i in range(3000):
        x, wide = random.normal(), 1.0 if i < 1000 else 5.0 if i < 2000 else 0.2  # the noise changes twice
        y = 2.0 * x + wide * random.normal()
        low, high = model.predict_interval_one({"x": x})
        inside.append(low <= y <= high)
        model.learn_one({"x": x}, y)
    assert abs(np.mean(inside) - 0.8) <= model.off_by_at_most()
    for part in (inside[400:1000], inside[1100:2000], inside[2100:]):
        assert np.mean(part) == pytest.approx(0.8, abs=0.06)
