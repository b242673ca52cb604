"""Exact leaf steps: one pass gives every leaf what a fit on that leaf alone would give it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost import losses
from anyboost.losses import RowwiseLoss
from anyboost.losses.leaves import Leaves
from anyboost.space import Space
from anyboost.trees.rows import Rows
from losses.registry import (
    CASES,
    CLASSES,
    SCALAR,
    VECTOR,
    Halfway,
    best_constant,
    scores,
    targets,
    weights,
)

every_loss = pytest.mark.parametrize("case", CASES, ids=str)
every_scalar_loss = pytest.mark.parametrize("case", SCALAR, ids=str)
N, LEAVES = 12, 3

leaves = st.lists(st.integers(0, LEAVES - 1), min_size=N, max_size=N).map(np.array)
directions = st.lists(st.integers(-2, 2), min_size=LEAVES * CLASSES, max_size=LEAVES * CLASSES).map(
    lambda v: np.array(v, float).reshape(LEAVES, CLASSES)
)


def leaf_loss(case, f, y, w, leaf, shift, along):
    """sum of w l in every leaf after the shift."""
    moved = f + (shift[leaf] if along is None else shift[leaf, None] * along[leaf])
    return np.bincount(leaf, weights=w * case.loss.values(moved, y), minlength=LEAVES)


@every_scalar_loss
@settings(max_examples=25, deadline=None)
@given(data=st.data(), leaf=leaves)
def test_from_zero_each_leaf_gets_its_best_constant(case, data, leaf):
    y, w = data.draw(targets(case, N)), data.draw(weights(N, least=1))
    shifts = case.loss.best_shifts(np.zeros(N), y, w, leaf, LEAVES)
    for k in np.unique(leaf):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                alone = best_constant(case, y[leaf == k], w[leaf == k])
            except UserWarning:  # one class in this leaf: the best constant is clipped, the shift is not
                continue
            except ValueError:  # zeros only: there is none, and the shift fades out
                assert not y[leaf == k].any()
                continue
        assert shifts[k] == pytest.approx(alone, rel=1e-9, abs=1e-9)


@every_loss
@settings(max_examples=25, deadline=None)
@given(data=st.data(), leaf=leaves)
def test_beats_every_other_shift(case, data, leaf):
    y, f, w = data.draw(targets(case, N)), data.draw(scores(case, N)), data.draw(weights(N))
    along = data.draw(directions) if case.vector else None
    shifts = case.loss.best_shifts(f, y, w, leaf, LEAVES, along)
    assert shifts.shape == (LEAVES,)
    assert np.isfinite(shifts).all()
    least = leaf_loss(case, f, y, w, leaf, shifts, along)
    # A minimum at infinity is left where the slope is 1e-6 of its start: that much is still to be had.
    start = case.loss.subgradients(f, y)
    start = start if along is None else np.sum(start * along[leaf], axis=1)
    slack = 1e-9 * (1 + np.abs(least)) + 30e-6 * np.bincount(
        leaf, weights=w * np.abs(start), minlength=LEAVES
    )
    for change in (0.5, -0.5, 1e-2, -1e-2, 3.0, -3.0, data.draw(st.floats(-20, 20))):
        other = leaf_loss(case, f, y, w, leaf, shifts + change, along)
        exists = np.isfinite(other)
        assert np.all(least[exists] <= other[exists] + slack[exists])
    assert np.all(least <= leaf_loss(case, f, y, w, leaf, np.zeros(LEAVES), along) + slack)


@pytest.mark.parametrize("case", [case for case in CASES if case.polyhedral], ids=str)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), leaf=leaves, eighths=st.integers(1, 40))
def test_midpoint_where_an_interval_is_best(case, data, leaf, eighths):
    """Equally far to both sides of a midpoint the loss is least, or it is not, alike."""
    one = st.integers(-3, 3).map(float) if case.loss.domain.words == "a real number" else case.targets
    y = case.loss.check(data.draw(st.lists(one, min_size=N, max_size=N)))
    f, w = data.draw(scores(case, N, grid=True)), data.draw(weights(N))
    along = data.draw(directions) if case.vector else None
    shifts = case.loss.best_shifts(f, y, w, leaf, LEAVES, along)
    least, left, right, far_left, far_right = (
        leaf_loss(case, f, y, w, leaf, shifts + change, along)
        for change in (0, -eighths / 8, eighths / 8, -1e3, 1e3)
    )
    # On a half-line of minimizers (one class under hinge) the finite end is the rule instead.
    half_line = (far_left <= least + 1e-9) | (far_right <= least + 1e-9)
    alike = (left <= least + 1e-9) == (right <= least + 1e-9)
    assert np.all(alike | half_line)
    everywhere = (far_left <= least + 1e-9) & (far_right <= least + 1e-9)
    assert np.all(shifts[everywhere] == 0)
    end = half_line & ~everywhere
    step = 1e-6
    toward = np.where(far_right <= least + 1e-9, -step, step)
    before = leaf_loss(case, f, y, w, leaf, shifts + toward, along)
    assert np.all(before[end] > least[end] + 1e-9)


@pytest.mark.parametrize(
    "case", [case for case in SCALAR if type(case.loss)._best_shifts is not RowwiseLoss._best_shifts], ids=str
)
@settings(max_examples=25, deadline=None)
@given(data=st.data(), leaf=leaves)
def test_closed_form_equals_the_search(case, data, leaf):
    y, f, w = data.draw(targets(case, N)), data.draw(scores(case, N)), data.draw(weights(N, least=1))
    parted = Leaves(leaf, LEAVES, w)
    closed = case.loss.shifts_in(f, y, parted)
    searched = RowwiseLoss._best_shifts(case.loss, f, y, parted, None)
    np.testing.assert_allclose(closed, searched, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "case", [case for case in VECTOR if type(case.loss)._moves is not RowwiseLoss._moves], ids=str
)
@settings(max_examples=40, deadline=None)
@given(data=st.data(), leaf=leaves, output=st.integers(0, CLASSES - 1))
def test_a_single_output_moves_as_the_search_says_and_to_the_least_of_all_kinks(case, data, leaf, output):
    y, f, w = data.draw(targets(case, N)), data.draw(scores(case, N)), data.draw(weights(N, least=1))
    along = np.zeros((LEAVES, CLASSES))
    along[:, output] = data.draw(st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5]), min_size=3, max_size=3))
    parted = Leaves(leaf, LEAVES, w)
    shifts = case.loss.shifts_in(f, y, parted, along)
    searched, _ = case.loss._search_shifts(f, y, parted, along)
    np.testing.assert_allclose(shifts, searched, rtol=1e-7, atol=1e-7)
    least = leaf_loss(case, f, y, w, leaf, shifts, along)
    # A piecewise-linear loss is least at a kink, and those are where a score meets another, one more, or the target.
    level = np.column_stack([f, f + 1.0, f - 1.0, y]) - f[:, [output]]
    for kink in np.unique(level):
        where = np.divide(kink, along[:, output], out=np.zeros(LEAVES), where=along[:, output] != 0)
        assert np.all(least <= leaf_loss(case, f, y, w, leaf, where, along) + 1e-9)


@every_loss
@settings(max_examples=15, deadline=None)
@given(data=st.data(), leaf=leaves)
def test_row_order_changes_no_bit(case, data, leaf):
    y, f, w = data.draw(targets(case, N)), data.draw(scores(case, N)), data.draw(weights(N)) / 7
    along = data.draw(directions) if case.vector else None
    order = np.array(data.draw(st.permutations(range(N))))
    shifts = case.loss.best_shifts(f, y, w, leaf, LEAVES, along)
    again = case.loss.best_shifts(f[order], y[order], w[order], leaf[order], LEAVES, along)
    np.testing.assert_array_equal(shifts, again)


@every_loss
def test_leaves_without_weight_stay_put(case):
    y = case.loss.check([1.0, 1.0])
    f = np.zeros((2, CLASSES)) if case.vector else np.zeros(2)
    along = np.ones((3, CLASSES)) if case.vector else None
    shifts = case.loss.best_shifts(f, y, np.array([1.0, 0.0]), np.array([0, 2]), 3, along)
    np.testing.assert_array_equal(shifts[1:], 0)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_any_integer_kind_of_leaf(kind):
    y = np.array([1.0, 2.0, 4.0])
    for loss in (losses.Squared(), losses.Absolute(), losses.Huber()):
        shifts = loss.best_shifts(np.zeros(3), y, np.ones(3), np.array([0, 1, 1], dtype=kind), 2)
        np.testing.assert_allclose(shifts, [1, 3])


def test_pure_leaf_stops_where_the_slope_has_faded():
    y, f = np.ones(3), np.array([0.0, 1.0, 2.0])
    leaf, w = np.zeros(3, int), np.ones(3)
    for loss in (losses.Logistic(), losses.Exponential()):
        (shift,) = loss.best_shifts(f, y, w, leaf, 1)
        before, after = (loss.subgradients(f + c, y).sum() for c in (0.0, shift))
        assert after / before == pytest.approx(1e-6, rel=1e-4)


def test_functional_steps_with_the_space_weights():
    class Measure:
        weights = np.array([0.25, 0.25, 0.5])
        rows = Rows(3)

        def mean(self, values):
            return float(self.weights @ values)

    R = losses.Squared().on([0.0, 2.0, 5.0], Measure())
    np.testing.assert_allclose(R.best_shifts(np.zeros(3), np.array([0, 0, 1]), 2), [1, 5])
    assert R.best_constant() == pytest.approx(3)


@pytest.mark.parametrize("case", VECTOR, ids=str)
def test_unseen_classes_get_a_constant_too(case):
    class Measure:
        weights = np.array([0.5, 0.25, 0.25])
        rows = Rows(3)

        def mean(self, values):
            return float(self.weights @ values)

    R = case.loss.on([0, 0, 1], Measure(), outputs=2)
    assert R.best_constant().shape == (2,)


def test_a_loss_may_have_steps_of_its_own():
    y, leaf = np.array([1.0, 2.0, 8.0, 4.0]), np.array([0, 0, 1, 1])
    space = Space(np.zeros((4, 1)))
    for loss in (Halfway(), 2.0 * Halfway()):
        R = loss.on(y, space)
        np.testing.assert_array_equal(R.best_shifts(np.zeros(4), leaf, 2), [0.75, 3.0])
        assert R.best_constant() == 1.5


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_step_of_one_of_several_quantiles_is_a_quantile_of_its_own(sign):
    random = np.random.default_rng(3)
    loss, n, n_leaves = losses.MultiQuantile([0.1, 0.5, 0.9]), 300, 5
    scores, y, weights = random.normal(size=(n, 3)), random.normal(size=n), random.integers(1, 4, n) * 1.0
    leaf = random.integers(0, n_leaves, n)
    for output, tau in enumerate(loss.taus):
        directions = np.zeros((n_leaves, 3))
        directions[:, output] = sign
        found = loss.best_shifts(scores, y, weights, leaf, n_leaves, directions)
        own = losses.Quantile(tau).best_shifts(scores[:, output], y, weights, leaf, n_leaves)
        np.testing.assert_allclose(found, sign * own, rtol=0, atol=1e-12)
