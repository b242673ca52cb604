"""The wave gives the bits of the loop over rows, with any number of threads."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse

from anyboost.online import HullBooster, LinearLearner, SpanBooster, rows, wave

UPDATES = ("plain", "normalised", "adaptive", "invariant")


def stream(n=700, d=7, seed=0):
    """A linear stream with what streams have: outliers, zeros, a feature that comes late, a change of scale."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = X @ random.normal(size=d) + 0.3 * random.normal(size=n)
    X[200:230] = 0.0
    X[: n // 2, -1] = 0.0
    X[300, 0], y[320] = 1e6, -1e8
    X[450:, 0] *= 100.0
    X[500:520] *= 30.0
    return X, y, random.uniform(0.1, 3.0, n)


def learned(booster, X, y, weights, n_threads=1):
    answers = booster.progressive_predict(X, y, weights, n_threads=n_threads)
    state = booster.state
    return [answers, state.chain, state.labels, state.totals, *state.arrays[:3], state.arrays.seen]


def row_by_row(monkeypatch, booster, X, y, weights):
    with monkeypatch.context() as patch:
        patch.setattr(wave, "takes", lambda *_: False)
        return learned(booster, X, y, weights)


def waved(monkeypatch, booster, X, y, weights, n_threads):
    """With the wave, for however few rows."""
    with monkeypatch.context() as patch:
        patch.setattr(wave, "MANY_ROWS", 0)
        patch.setattr(wave, "FEWEST_ROWS", 0)
        calls = []
        run = wave.run
        patch.setattr(wave, "run", lambda *given: calls.append(1) or run(*given))
        found = learned(booster, X, y, weights, n_threads)
        assert calls
        return found


def check(monkeypatch, make, X, y, weights, threads=(1, 3)):
    expected = row_by_row(monkeypatch, make(), X, y, weights)
    assert np.isfinite(np.concatenate([part.ravel() for part in expected])).all()
    for n_threads in threads:
        found = waved(monkeypatch, make(), X, y, weights, n_threads)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(("make", "update"), list(product([SpanBooster, HullBooster], UPDATES)))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prefix": "all"},
        {"forget": 0.01},
        {"label_bound": 2.0, "output_bound": 0.5},
        {"start": 1.0, "scale": 2.0},
    ],
)
def test_the_wave_equals_the_rows(monkeypatch, make, update, options):
    X, y, weights = stream()
    learner = LinearLearner(0.05, update)
    check(monkeypatch, lambda: make(learner, 20, **options), X, y, weights)


@pytest.mark.parametrize("n_learners", [1, 2, 3, 4, 5, 8, 9, 17, 33, 121, 128])
@pytest.mark.parametrize("update", ["normalised", "adaptive"])
def test_any_number_of_stages(monkeypatch, n_learners, update):
    X, y, weights = stream(n=610, d=3)
    learner = LinearLearner(0.1, update)
    check(monkeypatch, lambda: SpanBooster(learner, n_learners, step=1.0), X, y, weights)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 16, 41])
@pytest.mark.parametrize(
    ("update", "precision"), [("plain", "double"), ("normalised", "single"), ("adaptive", "single")]
)
def test_any_number_of_features(monkeypatch, d, update, precision):
    X, y, weights = stream(d=d)
    learner = LinearLearner(0.02, update, precision=precision)
    check(monkeypatch, lambda: SpanBooster(learner, 6), X, y, weights)


@pytest.mark.parametrize("n", [40, 127, 128, 129, 255, 256, 257])
def test_any_number_of_rows(monkeypatch, n):
    X, y, weights = stream()
    check(monkeypatch, lambda: SpanBooster(LinearLearner(), 12), X[:n], y[:n], weights[:n])


def test_batches_and_single_rows_mix(monkeypatch):
    X, y, weights = stream(n=1500)

    def make():
        return SpanBooster(LinearLearner(update="adaptive"), 9)

    expected = row_by_row(monkeypatch, make(), X, y, weights)
    booster, answers = make(), []
    for start, stop in [(0, 300), (300, 310), (310, 900), (900, 901), (901, 1500)]:
        part = slice(start, stop)
        found = learned(booster, X[part], y[part], weights[part], n_threads=2)
        answers.append(found[0])
    for mine, theirs in zip([np.concatenate(answers), *found[1:]], expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_many_threads_many_times(monkeypatch):
    X, y, weights = stream(n=20_000, d=5)

    def make():
        return SpanBooster(LinearLearner(), 40)

    expected = row_by_row(monkeypatch, make(), X, y, weights)
    for n_threads in (2, 3, 4, 6) * 3:
        found = learned(make(), X, y, weights, n_threads)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("d", [1, 3, 4, 20, 22])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_lone_plain_learner_is_the_same_from_dense_and_sparse_rows(d, precision):
    X, y, weights = stream(d=d)
    X[::3, ::2] = 0.0

    def make():
        return SpanBooster(LinearLearner(0.01, "plain", precision=precision), 1)

    dense = learned(make(), X, y, weights)
    sparse = learned(make(), scipy.sparse.csr_matrix(X), y, weights)
    for mine, theirs in zip(dense, sparse, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_rows_of_weight_zero_go_row_by_row(monkeypatch):
    X, y, weights = stream()
    weights[100:200] = 0.0
    monkeypatch.setattr(wave, "run", None)
    full = learned(SpanBooster(LinearLearner(), 20), X, y, weights)
    kept = weights > 0
    rest = row_by_row(monkeypatch, SpanBooster(LinearLearner(), 20), X[kept], y[kept], weights[kept])
    np.testing.assert_array_equal(full[0][kept], rest[0])


def test_threads_are_checked():
    X, y, _ = stream()
    with pytest.raises(ValueError, match="n_threads"):
        SpanBooster(LinearLearner(), 3).partial_fit(X, y, n_threads=0)


@pytest.mark.parametrize("loss", ["squared", "quantile:0.3"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_portions_change_nothing(monkeypatch, loss, sparse, weighted):
    X, y, weights = stream()
    given = (scipy.sparse.csr_matrix(X) if sparse else X, y, weights if weighted else None)
    whole, parts = (SpanBooster(LinearLearner(), 5, loss) for _ in range(2))
    expected = learned(whole, *given)
    monkeypatch.setattr(rows, "PORTION", 97)
    for mine, theirs in zip(learned(parts, *given), expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert parts.regret() == whole.regret()
    assert len(expected[0]) == len(y)


@pytest.mark.parametrize("huge", [1e10, 1e160, -1e307])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("n_learners", [1, 20])
def test_a_value_whose_square_is_not_finite_leaves_finite_weights(monkeypatch, huge, update, n_learners):
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 5))
    y = X.sum(axis=1) + 0.1 * random.normal(size=3000)
    X[500, 2] = huge
    learner = LinearLearner(0.02 if update == "plain" else 0.2, update)
    expected = row_by_row(monkeypatch, SpanBooster(learner, n_learners), X, y, np.ones(3000))
    found = learned(SpanBooster(learner, n_learners), X, y, None)
    for mine, theirs in zip(found, expected, strict=True):
        assert np.isfinite(mine).all()
        np.testing.assert_array_equal(mine, theirs)
    assert np.mean((found[0][2000:] - y[2000:]) ** 2) < 0.2  # of 5
