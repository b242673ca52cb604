"""Value and subgradient belong to one convex function: the one thing every algorithm here relies on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.losses import Absolute, Hinge, MulticlassHinge, Quantile
from anyboost.space import Space
from losses.registry import CASES, CLASSES, REAL, Case, scores, targets, weights

every_loss = pytest.mark.parametrize("case", CASES, ids=str)
N = 6


def inner(f, g):
    return np.sum(f * g, axis=1) if f.ndim == 2 else f * g


@every_loss
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_convex_along_every_segment(case, data):
    y = data.draw(targets(case, N))
    f, g = data.draw(scores(case, N)), data.draw(scores(case, N))
    share = data.draw(st.floats(0, 1))
    ends = (1 - share) * case.loss.values(f, y), share * case.loss.values(g, y)
    between = case.loss.values((1 - share) * f + share * g, y)
    assert np.all(between <= ends[0] + ends[1] + 1e-9 * (1 + np.abs(ends[0]) + np.abs(ends[1])))


@every_loss
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_subgradient_supports_the_loss_from_below(case, data):
    y = data.draw(targets(case, N))
    f, g = data.draw(scores(case, N)), data.draw(scores(case, N))
    value, slope = case.loss.values(f, y), case.loss.subgradients(f, y)
    below = value + inner(slope, g - f)
    scale = 1 + np.abs(value) + inner(np.abs(slope), np.abs(g - f))
    assert np.all(case.loss.values(g, y) >= below - 1e-9 * scale)


@every_loss
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_subgradient_lies_between_the_one_sided_differences(case, data):
    """For smooth losses this pins the gradient to a numeric one."""
    y, f = data.draw(targets(case, N)), data.draw(scores(case, N))
    slope, value = case.loss.subgradients(f, y), case.loss.values(f, y)
    step = 1e-5
    columns = range(CLASSES) if case.vector else [...]
    for k in columns:
        moved = np.zeros(f.shape)
        moved[:, k] = step
        right = (case.loss.values(f + moved, y) - value) / step
        left = (value - case.loss.values(f - moved, y)) / step
        tolerance = 1e-9 * (1 + np.abs(value)) / step * 1e-3 + 1e-8
        assert np.all(slope[:, k] <= right + tolerance)
        assert np.all(slope[:, k] >= left - tolerance)


@every_loss
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_functional_is_the_weighted_mean_and_its_gradient_carries_no_weights(case, data):
    y, f, w = data.draw(targets(case, N)), data.draw(scores(case, N)), data.draw(weights(N, least=1))

    space = Space(np.zeros((len(y), 1)), w)
    R = case.loss.on(list(y), space, outputs=CLASSES if case.vector else None)
    assert R.outputs == (CLASSES if case.vector else 1)
    assert R.value(f) == pytest.approx(case.loss.value(f, y, w), rel=1e-12)
    assert space.largest(R.subgradient(f)) == np.abs(R.subgradient(f)).max()
    slope = R.subgradient(f)
    together = R.at(f)
    assert together[0] == R.value(f)
    np.testing.assert_array_equal(together[1], slope)
    assert slope.shape == f.shape
    assert slope.dtype == np.float64
    assert slope.flags.c_contiguous
    np.testing.assert_array_equal(slope, case.loss.subgradients(f, y))


@every_loss
def test_far_off_scores_stay_silent_and_never_become_nan(case):
    y = case.loss.check([1.0, 1.0, 1.0, 1.0])
    for far in (1e3, 1e4):
        f = np.array([far, -far, far, 0.0])
        f = np.stack([f, np.roll(f, 1), 0 * f, -f], axis=1) if case.vector else f
        assert not np.isnan(case.loss.values(f, y)).any()
        assert not np.isnan(case.loss.subgradients(f, y)).any()
        assert not np.isnan(np.asarray(case.loss.link(f), float)).any()


@pytest.mark.parametrize("name", ["logistic", "softmax"])
def test_far_off_scores_are_exact(name):
    """log(1 + exp(m)) is m for large m: no rounding may creep in where overflow is avoided."""
    loss = next(case.loss for case in CASES if str(case) == name)
    if name == "logistic":
        f, y = np.array([1e3, -1e3]), np.array([-1.0, -1.0])
    else:
        f, y = np.array([[1e3, 0.0], [-1e3, 0.0]]), np.array([1, 1])
    np.testing.assert_array_equal(loss.values(f, y), [1e3, 0.0])
    slope = loss.subgradients(f, y)
    np.testing.assert_array_equal(slope if name == "logistic" else slope[:, 0], [1.0, 0.0])


def test_kinks_take_the_fixed_subgradients():
    zero, one = np.zeros(1), np.ones(1)
    assert Absolute().subgradients(zero, zero) == 0
    assert Quantile(0.9).subgradients(zero, zero) == 0
    assert Hinge().subgradients(one, one) == 0
    assert Hinge().subgradients(-one, -one) == 0
    # f_k + 1[k != y] is (1, 1, 1) here: class 0 is the lowest-numbered maximizer.
    assert MulticlassHinge().subgradients(np.array([[0.0, 1.0, 0.0]]), np.array([1])).tolist() == [[1, -1, 0]]
    assert MulticlassHinge().subgradients(np.array([[1.0, 0.0, 0.0]]), np.array([0])).tolist() == [[0, 0, 0]]


@settings(max_examples=30, deadline=None)
@given(y=targets(Case(Absolute(), REAL), N), f=scores(Case(Absolute(), REAL), N))
def test_halves_and_special_cases_agree(y, f):
    """Squared is half the square, expectile 0.5 is squared, quantile 0.5 half of absolute."""
    from anyboost.losses import Expectile, Huber, Squared, SquaredHinge

    np.testing.assert_allclose(Squared().values(f, y), (y - f) ** 2 / 2)
    np.testing.assert_allclose(Expectile(0.5).values(f, y), Squared().values(f, y))
    np.testing.assert_allclose(Quantile(0.5).values(f, y), Absolute().values(f, y) / 2)
    np.testing.assert_allclose(Huber(1e3).values(f, y), Squared().values(f, y))
    sign = np.where(y > 0, 1.0, -1.0)
    np.testing.assert_allclose(SquaredHinge().values(f, sign), Hinge().values(f, sign) ** 2 / 2)
