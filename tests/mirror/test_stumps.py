"""A million stumps without their matrix: the trees of sums are the plain algorithm on the plain matrix."""

import itertools

import numpy as np
import pytest

from anyboost.mirror import (
    Adaptive,
    Anytime,
    Doubling,
    ExponentiatedGradient,
    KnownHorizon,
    MirrorAverager,
    StumpAverager,
)
from reference import mirror as reference

RULES = [Doubling(), KnownHorizon(80), ExponentiatedGradient(0.2), Anytime(), Adaptive()]


def table(rows=80, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.normal(size=rows),
            np.round(random.normal(size=rows)),
            np.full(rows, 3.0),
            random.random(rows) < 0.5,
        ]
    )
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0) + 0.3 * X[:, 1] + 0.1 * random.normal(size=rows)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, y


def every_stump(X):
    """(features, thresholds) by enumeration; the constant is above -inf."""
    found = []
    for j in range(X.shape[1]):
        values = sorted(set(X[~np.isnan(X[:, j]), j].tolist()))
        found += [(j, a + (b - a) / 2) for a, b in itertools.pairwise(values)]
    return [*found, (X.shape[1], -np.inf)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_mirror_averaging_on_the_matrix_of_stumps(rule, weighted):
    X, y = table()
    stumps = every_stump(X)
    H = reference.stump_values(np.column_stack([X, np.zeros(len(X))]), *map(list, zip(*stumps, strict=True)))
    weights = np.tile([1.0, 2.0, 0.0, 0.75], 20) if weighted else None
    averager = StumpAverager("squared", 2.0, rule, lipschitz=1.5)
    ours = averager.start(X).predict_then_fit(X, y, weights)
    assert (averager.features_.tolist(), averager.thresholds_.tolist()) == tuple(
        list(part) for part in zip(*stumps, strict=True)
    )
    plain = MirrorAverager("squared", "entropy", "octahedron:2", rule, lipschitz=1.5)
    np.testing.assert_allclose(ours, plain.predict_then_fit(H, y, weights), rtol=0, atol=1e-12)
    np.testing.assert_allclose(averager.weights_, plain.weights_, rtol=0, atol=1e-12)
    np.testing.assert_allclose(averager.predict(X), plain.predict(H), rtol=0, atol=1e-12)
    unit = 1 / np.sqrt(np.log(2 * len(stumps)))
    if isinstance(rule, KnownHorizon) and not weighted:
        theirs, _, mean = reference.average(
            *(H, y, lambda f, t: f - t, "Entropy", "Octahedron", 2.0),
            beta=lambda i, norms: 1.5 * unit * np.sqrt(40),
            L=1.5,
        )
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
        np.testing.assert_allclose(averager.weights_, mean, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_batches_are_the_loop_bit_for_bit(rule):
    X, y = table()
    whole = StumpAverager("logistic", 3.0, rule).start(X)
    parts = StumpAverager("logistic", 3.0, rule).start(X)
    signs = np.where(y > 0, 1.0, -1.0)
    ours = whole.predict_then_fit(X, signs)
    theirs = [parts.predict_then_fit(X[a:b], signs[a:b]) for a, b in itertools.pairwise([0, 1, 2, 7, 33, 80])]
    np.testing.assert_array_equal(ours, np.concatenate(theirs))
    np.testing.assert_array_equal(whole.weights_, parts.weights_)


def test_long_streams_stay_in_the_set_where_plain_weights_would_overflow():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 2))
    y = np.where(X[:, 0] > 0, 5.0, -5.0)
    averager = StumpAverager("absolute", 4.0, ExponentiatedGradient(2.0)).start(X)
    for _ in range(3):
        averager.partial_fit(X, y)
    weights = averager.weights_
    assert np.isfinite(weights).all()
    assert np.abs(weights).sum() <= 4.0 + 1e-12
    assert np.abs(averager.predict(X)).max() <= 4.0 + 1e-9


def test_it_predicts_zero_before_any_row_and_learns_a_step():
    X, _ = table(400, seed=1)
    y = np.where(np.nan_to_num(X[:, 0]) > 0.5, 1.0, -1.0)
    averager = StumpAverager("squared", 1.0, label_bound=1.0).start(X)
    assert not averager.predict(X).any()
    scores = averager.predict_then_fit(X, y)
    assert np.mean((scores[200:] - y[200:]) ** 2) < 0.7 * np.mean(y[200:] ** 2)
    assert averager.n_rows_ == 400
    assert averager.memory_ < 300 * averager.n_stumps_  # and not rows times stumps


def test_a_dictionary_may_be_thinned():
    X, y = table(300)
    few = StumpAverager(max_thresholds=10).partial_fit(X, y)
    assert few.n_stumps_ <= 31
    assert set(few.thresholds_) <= set(StumpAverager().start(X).thresholds_)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: StumpAverager("softmax"), "one output"),
        (lambda: StumpAverager(schedule="second_order"), r"not made for stumps: use Doubling\(\)"),
        (lambda: StumpAverager(radius=0), "radius must be positive"),
        (lambda: StumpAverager().partial_fit([[1.0], [2.0]], [1.0]), "got 2 rows for 1"),
        (lambda: StumpAverager().start([[1.0]]).start([[1.0]]), "thresholds are set"),
        (lambda: StumpAverager().start([[1.0]]).predict([[1.0, 2.0]]), "the 1 columns of the training data"),
    ],
)
def test_mistakes_are_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
