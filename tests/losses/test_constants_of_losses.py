"""Stated smoothness, strong convexity and Lipschitz constants: theorems and certificates multiply them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.losses import Absolute, Expectile, Huber, Logistic, Quantile, Softmax, Squared
from losses.registry import CASES, CLASSES, scores, targets

every_loss = pytest.mark.parametrize("case", CASES, ids=str)
N = 6


def norms(f):
    return np.linalg.norm(f, axis=1) if f.ndim == 2 else np.abs(f)


def inner(f, g):
    return np.sum(f * g, axis=1) if f.ndim == 2 else f * g


@every_loss
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_constants_hold(case, data):
    loss, y = case.loss, data.draw(targets(case, N))
    f, g = data.draw(scores(case, N)), data.draw(scores(case, N))
    slope, other = loss.subgradients(f, y), loss.subgradients(g, y)
    assert np.all(norms(slope) <= loss.lipschitz * (1 + 1e-12))
    gap = norms(f - g)
    if np.isfinite(loss.smoothness):
        assert np.all(norms(slope - other) <= loss.smoothness * gap * (1 + 1e-9) + 1e-12)
    slack = 1e-9 * gap * (norms(slope) + norms(other))
    assert np.all(inner(slope - other, f - g) >= loss.strong_convexity * gap**2 - slack - 1e-12)


def extreme_pairs(case):
    """Scores and nearby scores, in places where the constants are (nearly) attained."""
    places = [-500.0, -30.0, -10.0, -1.0, -0.5, 0.0, 0.5, 1.0, 10.0, 30.0, 500.0]
    step = 1e-5
    if case.vector:
        corners = [np.array(c) for c in product([0.0, -30.0, 1.0], repeat=CLASSES)]
        ways = [np.eye(CLASSES)[0] - np.eye(CLASSES)[k] for k in range(1, CLASSES)]
        f = np.array([c for c in corners for _ in ways])
        d = np.array([w for _ in corners for w in ways])
        return f - step / 2 * d, f + step / 2 * d, [0.0, 1.0]
    f = np.array(places)
    return f - step / 2, f + step / 2, [1.0, -1.0, 0.0, 3.0]


@every_loss
def test_constants_are_tight(case):
    """Within 1 % of what is attained; `inf` and 0 are stated only where no constant exists."""
    slopes, curvatures = [], []
    f, g, some_targets = extreme_pairs(case)
    for target in some_targets:
        try:
            y = case.loss.check(np.full(len(f), target))
        except ValueError:
            continue
        slope, other = case.loss.subgradients(f, y), case.loss.subgradients(g, y)
        with np.errstate(invalid="ignore"):
            curvature = norms(other - slope) / norms(g - f)
        slopes.append(norms(slope))
        curvatures.append(curvature[np.isfinite(curvature)])
    steepest, curviest = np.concatenate(slopes).max(), np.concatenate(curvatures).max()
    flattest = np.concatenate(curvatures).min()
    loss = case.loss
    if np.isfinite(loss.lipschitz):
        assert steepest >= 0.99 * loss.lipschitz
    else:
        assert steepest >= 100
    if np.isfinite(loss.smoothness):
        assert curviest >= 0.99 * loss.smoothness
    else:
        assert curviest >= 1e3
    if loss.strong_convexity > 0:
        assert flattest <= 1.01 * loss.strong_convexity
    else:
        assert flattest <= 1e-3


def test_constants_of_the_design_are_the_stated_ones():
    assert (Squared().smoothness, Squared().strong_convexity) == (1, 1)
    assert Logistic().smoothness == 0.25
    assert Huber(3.0).lipschitz == 3
    assert Quantile(0.9).lipschitz == 0.9
    assert Expectile(0.9).smoothness == pytest.approx(1.8)
    assert Expectile(0.9).strong_convexity == pytest.approx(0.2)
    assert Softmax().smoothness == 0.5
    assert Absolute().smoothness == np.inf
