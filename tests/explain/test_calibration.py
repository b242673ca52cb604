"""Probabilities from raw scores: against other solvers, by weights as copies, in any order, never quite sure."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from anyboost.explain import calibration


def drawn(n=400, classes=3, seed=0, sharp=3.0):
    """Scores that are `sharp` times too sure."""
    random = np.random.default_rng(seed)
    raw = random.normal(size=(n, classes))
    p = softmax(raw, axis=1)
    codes = (random.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return sharp * raw, np.minimum(codes, classes - 1)


def test_two_classes_have_platt_s_sigmoid():
    random = np.random.default_rng(1)
    scores = random.normal(size=20_000)
    codes = (random.random(20_000) < 1 / (1 + np.exp(-(0.4 * scores - 1)))).astype(int)
    found = calibration.fit("temperature", scores, codes, None)
    peer = LogisticRegression(C=1e9, tol=1e-10).fit(scores[:, None], codes)
    # One unit in 20,000 apart
    assert found.scale == pytest.approx(peer.coef_[0, 0], rel=2e-3)
    assert found.shifts == pytest.approx([0.0, peer.intercept_[0]], rel=2e-3)


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_a_temperature_is_where_no_step_lowers_the_loss(classes):
    scores, codes = drawn(classes=classes)
    found = calibration.fit("temperature", scores, codes, None)
    assert found.scale == pytest.approx(1 / 3, rel=0.35)
    spare = classes / (len(codes) + classes)
    wanted = (1 - spare) * np.eye(classes)[codes] + spare / classes

    def loss(scale, shifts):
        return -(wanted * log_softmax(scale * scores + shifts, axis=1)).sum(axis=1).mean()

    best = loss(found.scale, found.shifts)
    for step in (-1e-2, 1e-2):
        assert loss(found.scale + step, found.shifts) > best
        for number in range(classes):
            assert loss(found.scale, found.shifts + step * np.eye(classes)[number]) > best


def test_two_classes_have_the_isotonic_regression_of_scikit_learn():
    scores, codes = drawn(classes=2)
    odds = scores[:, 1] - scores[:, 0]
    found = calibration.fit("isotonic", odds, codes, None)
    spare = 2 / (len(codes) + 2)
    peer = IsotonicRegression(out_of_bounds="clip").fit(odds, (1 - spare) * codes + spare / 2)
    new = np.linspace(-12, 12, 300)
    p = found.probabilities(calibration.by_class(new))
    np.testing.assert_allclose(p[:, 1], peer.predict(new), atol=1e-9)


@pytest.mark.parametrize("way", calibration.WAYS)
@pytest.mark.parametrize("classes", [2, 4])
def test_order_and_copies_change_nothing_and_nothing_is_sure(way, classes):
    scores, codes = drawn(200, classes)
    random = np.random.default_rng(2)
    weights = random.integers(1, 4, 200)
    order = random.permutation(200)
    one = calibration.fit(way, scores, codes, weights * 1.0).probabilities(scores)
    other = calibration.fit(way, scores[order], codes[order], weights[order] * 1.0).probabilities(scores)
    np.testing.assert_array_equal(one, other)
    copied = calibration.fit(way, np.repeat(scores, weights, axis=0), np.repeat(codes, weights), None)
    np.testing.assert_allclose(copied.probabilities(scores), one, atol=2e-4)
    far = calibration.fit(way, 1e3 * np.eye(classes)[codes], codes, None).probabilities(1e3 * np.eye(classes))
    assert ((far > 0) & (far < 1)).all()
    np.testing.assert_allclose(one.sum(axis=1), 1, atol=1e-12)
