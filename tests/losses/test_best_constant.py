"""Best constants: where boosting starts, and what a loss estimates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, minimize_scalar

from anyboost import losses
from losses.registry import CASES, CLASSES, SCALAR, best_constant, constant_loss, sample, scores, weights

every_loss = pytest.mark.parametrize("case", CASES, ids=str)
every_scalar_loss = pytest.mark.parametrize("case", SCALAR, ids=str)
N = 7


@every_loss
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_beats_other_constants(case, data):
    y, w = data.draw(sample(case, N))
    constant = best_constant(case, y, w)
    assert np.shape(constant) == ((CLASSES,) if case.vector else ())
    least = constant_loss(case, constant, y, w)
    others = data.draw(scores(case, 5))
    nearby = [
        constant + step * np.eye(CLASSES)[0] if case.vector else constant + step for step in (-1e-3, 1e-3)
    ]
    for other in [*others, *nearby]:
        assert least <= constant_loss(case, other, y, w) + 1e-10 * (1 + abs(least))


@every_scalar_loss
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_equals_a_numeric_minimizer(case, data):
    y, w = data.draw(sample(case, N))
    constant = best_constant(case, y, w)
    found = minimize_scalar(
        lambda c: constant_loss(case, c, y, w), bounds=(-12, 12), method="bounded", options={"xatol": 1e-9}
    )
    assert constant_loss(case, constant, y, w) <= found.fun + 1e-9 * (1 + abs(found.fun))
    if case.loss.strong_convexity > 0:
        assert constant == pytest.approx(found.x, abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(y=st.lists(st.floats(-10, 10), min_size=N, max_size=N), w=weights(N))
def test_closed_forms_of_real_targets(y, w):
    y = np.array(y)
    mean = np.average(y, weights=w)
    assert losses.Squared().best_constant(y, w) == pytest.approx(mean, abs=1e-12)
    assert losses.Expectile(0.5).best_constant(y, w) == pytest.approx(mean, abs=1e-9)
    median = np.median(np.repeat(y, w.astype(int)))
    assert losses.Absolute().best_constant(y, w) == pytest.approx(median, rel=1e-12, abs=1e-12)
    amounts = np.abs(y) + 0.1
    for loss in (losses.Poisson(), losses.Gamma(), losses.Tweedie(1.3)):
        assert np.exp(loss.best_constant(amounts, w)) == pytest.approx(np.average(amounts, weights=w))


@settings(max_examples=30, deadline=None)
@given(y=st.lists(st.sampled_from([-1.0, 1.0]), min_size=N, max_size=N), w=weights(N))
def test_closed_forms_of_two_classes(y, w):
    share = np.average(np.array(y) > 0, weights=w)
    expected = 0.0 if share == 0.5 else np.sign(share - 0.5)
    assert losses.Hinge().best_constant(y, w) == expected
    assert losses.SquaredHinge().best_constant(y, w) == pytest.approx(2 * share - 1, abs=1e-12)
    if 0 < share < 1:
        odds = np.log(share / (1 - share))
        assert losses.Logistic().best_constant(y, w) == pytest.approx(odds, abs=1e-12)
        assert losses.Exponential().best_constant(y, w) == pytest.approx(odds / 2, abs=1e-12)


@pytest.mark.parametrize("case", [case for case in SCALAR if case.polyhedral], ids=str)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_midpoint_of_the_minimizing_interval(case, data):
    """Piecewise-linear losses are least at kinks; the middle of the outermost best kinks is the rule."""
    two_classes = case.loss.domain.words == "-1 or +1"
    one = st.sampled_from([-1.0, 1.0]) if two_classes else st.integers(-3, 3).map(float)
    y = np.array(data.draw(st.lists(one, min_size=N, max_size=N)))
    w = data.draw(weights(N))
    # Kinks are at y itself: for the margin losses, at margin 1, which is the same place.
    kinks = np.unique(y[w > 0])
    values = np.array([constant_loss(case, kink, y, w) for kink in kinks])
    best = kinks[values <= values.min() + 1e-9]
    # Thirds as weights: ties must be found in spite of rounding.
    assert case.loss.best_constant(y, w / 3) == pytest.approx((best[0] + best[-1]) / 2, abs=1e-12)


def hinge_program(margins):
    """min_c sum_i weight_i slack_i, slack_i >= 0 and >= constant_i - row_i c, by HiGHS."""
    rows, bounds, mass = (np.array(part) for part in zip(*margins, strict=True))
    n, k = rows.shape
    cost = np.concatenate([np.zeros(k), mass])
    limits = [(None, None)] * k + [(0, None)] * n
    return linprog(cost, A_ub=np.hstack([-rows, -np.eye(n)]), b_ub=-bounds, bounds=limits, method="highs").fun


@settings(max_examples=30, deadline=None)
@given(y=st.lists(st.sampled_from([-1.0, 1.0]), min_size=N, max_size=N), w=weights(N))
def test_hinge_reaches_the_linear_program(y, w):
    case = next(case for case in CASES if str(case) == "hinge")
    optimum = hinge_program([([label], 1.0, mass) for label, mass in zip(y, w / w.sum(), strict=True)])
    assert constant_loss(case, losses.Hinge().best_constant(y, w), y, w) == pytest.approx(optimum, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(y=st.lists(st.integers(0, CLASSES - 1), min_size=N, max_size=N), w=weights(N))
def test_multiclass_hinge_reaches_the_linear_program(y, w):
    """One slack a row, above the margin violation of every wrong class."""
    case = next(case for case in CASES if str(case) == "multiclass_hinge")
    cost = np.concatenate([np.zeros(CLASSES), w / w.sum()])
    rows, unit = [], np.eye(CLASSES)
    for i, label in enumerate(y):
        for k in range(CLASSES):
            if k != label:
                rows.append(np.concatenate([unit[k] - unit[label], -np.eye(N)[i]]))
    limits = [(-50, 50)] * CLASSES + [(0, None)] * N
    program = linprog(cost, A_ub=np.array(rows), b_ub=-np.ones(len(rows)), bounds=limits, method="highs")
    y = np.array(y)
    assert constant_loss(case, best_constant(case, y, w), y, w) == pytest.approx(program.fun, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(1, 9), min_size=CLASSES, max_size=CLASSES))
def test_softmax_gives_the_class_shares(counts):
    constant = losses.Softmax().best_constant(np.repeat(np.arange(CLASSES), counts))
    shares = np.array(counts) / np.sum(counts)
    np.testing.assert_allclose(losses.Softmax().probabilities(constant[None])[0], shares)
    assert constant.sum() == pytest.approx(0, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(counts=st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_sum_of_smooth_vector_losses_is_least(counts):
    loss = losses.Softmax() + 2 * losses.Softmax() + 1e-3 * losses.MulticlassHinge()
    y = np.repeat(np.arange(3), counts)
    found = minimize(lambda c: loss.value(np.tile(c, (len(y), 1)), y), np.zeros(3), method="Nelder-Mead")
    constant = loss.best_constant(y)
    assert loss.value(np.tile(constant, (len(y), 1)), y) <= found.fun + 1e-4


@every_loss
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_deleted(case, data):
    (y, w), f = data.draw(sample(case, N)), data.draw(scores(case, N))
    times = w.astype(int)
    repeated = np.repeat(y, times)
    value = case.loss.value(f, y, w)
    assert value == pytest.approx(
        case.loss.value(np.repeat(f, times, axis=0), repeated), rel=1e-12, abs=1e-12
    )
    # The scale of the weights does not matter either; a third is not a binary fraction.
    assert value == pytest.approx(case.loss.value(f, y, w / 3), rel=1e-12, abs=1e-12)
    constant = best_constant(case, y, w)
    for same in (best_constant(case, repeated), best_constant(case, y, w / 3)):
        np.testing.assert_allclose(constant, same, rtol=case.precision, atol=case.precision)


@every_loss
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_row_order_changes_no_bit(case, data):
    y, w = data.draw(sample(case, N))
    w = w / 7
    order = np.array(data.draw(st.permutations(range(N))))
    np.testing.assert_array_equal(best_constant(case, y, w), best_constant(case, y[order], w[order]))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("make", [losses.Squared, losses.Absolute, losses.Huber, losses.Expectile])
def test_any_scale_of_targets(make, scale):
    y = np.array([1.0, 2.0, 4.0, 8.0])
    loss, scaled = (make(1.0), make(scale)) if make is losses.Huber else (make(), make())
    assert scaled.best_constant(scale * y) == pytest.approx(scale * loss.best_constant(y), rel=1e-11)


@pytest.mark.parametrize(
    ("loss", "y", "expected"),
    [
        (losses.Logistic(), [1, 1], 10),
        (losses.Logistic(), [-1], -10),
        (losses.Exponential(), [-1, -1], -10),
        (losses.Softmax(), [1, 1], [-10, 0]),
        (losses.Softmax(), [0, 2], [0, -10, 0]),
        (3 * losses.Logistic(), [1, 1], 10),
        (losses.Logistic() + losses.Exponential(), [1, 1], 10),
    ],
    ids=str,
)
def test_no_best_constant_is_clipped_and_said_so(loss, y, expected):
    with pytest.warns(UserWarning, match="without a best constant") as caught:
        np.testing.assert_array_equal(loss.best_constant(y), expected)
    assert len(caught) == 1


@pytest.mark.parametrize("loss", [losses.Poisson(), losses.Tweedie(), 2 * losses.Poisson()], ids=str)
def test_counts_that_are_all_zero_are_refused(loss):
    """A fit that starts at -10 looks like a fit, and has learned nothing but that."""
    with pytest.raises(ValueError, match=r"y is 0 in every row, .* give at least one row with a y above 0"):
        loss.best_constant([0, 0])
    with pytest.raises(ValueError, match="y is 0 in every row"):
        loss.best_constant([0, 0, 5], [1, 2, 0])
    assert not loss.has_best_constant([0, 0])
    assert not loss.has_best_constant([0, 0, 5], [1, 2, 0])
    assert loss.has_best_constant([0, 0, 5], [1, 2, 1e-9])


@every_loss
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_who_has_a_best_constant_tells_it(case, data):
    y, w = data.draw(sample(case, N))
    if case.loss.has_best_constant(y, w):
        best_constant(case, y, w)


def test_zero_weight_can_make_the_data_one_class():
    with pytest.warns(UserWarning, match="without a best constant"):
        assert losses.Logistic().best_constant([1, -1], [1, 0]) == 10


def test_one_class_has_finite_ends_for_the_hinges():
    assert losses.Hinge().best_constant([1, 1]) == 1
    assert losses.SquaredHinge().best_constant([-1, -1]) == -1
    np.testing.assert_array_equal(losses.MulticlassHinge().best_constant([1, 1]), [0, 1])
