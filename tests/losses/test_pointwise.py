"""A user's own loss, in scalar code or in NumPy, behaves like the built-in one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.losses import Absolute, Poisson, Squared, domains, pointwise
from anyboost.losses.pointwise import _compiled
from anyboost.space import Space

numbers = st.lists(st.floats(-10, 10), min_size=5, max_size=5).map(np.array)


def pinball(score, target):
    if score > target:
        return 0.25 * (score - target)
    return 0.75 * (target - score)


def pinball_slope(score, target):
    if score > target:
        return 0.25
    if score < target:
        return -0.75
    return 0.0


TABLE = {"half": 0.5}


def half_square(score, target):
    # A dictionary lookup inside keeps Numba from compiling this.
    return TABLE["half"] * np.square(score - target)


def half_square_slope(score, target):
    return 2 * TABLE["half"] * (score - target)


class Measure:
    def mean(self, values):
        return float(np.mean(values))


def test_scalar_code_with_if_is_compiled():
    assert _compiled(pinball)[0] is not None
    assert _compiled(pinball_slope)[0] is not None


def test_a_compiled_function_may_be_handed_in():
    import numba

    loss = pointwise(numba.njit(pinball), numba.njit(pinball_slope))
    assert loss.value([0.0], [4.0]) == 3.0


def test_what_numba_refuses_runs_as_numpy():
    assert _compiled(half_square)[0] is None
    assert _compiled(half_square_slope)[0] is None


@settings(max_examples=30, deadline=None)
@given(f=numbers, y=numbers)
def test_both_ways_equal_the_built_in_losses(f, y):
    from anyboost.losses import Quantile

    for own, built_in in (
        (pointwise(pinball, pinball_slope), Quantile(0.75)),
        (pointwise(half_square, half_square_slope), Squared()),
    ):
        np.testing.assert_allclose(own.values(f, y), built_in.values(f, y), atol=1e-12)
        np.testing.assert_allclose(own.subgradients(f, y), built_in.subgradients(f, y), atol=1e-12)
        assert own.best_constant(y) == pytest.approx(built_in.best_constant(y), abs=1e-9)
        leaf = np.array([0, 0, 1, 1, 1])
        steps = (loss.best_shifts(f, y, np.ones(5), leaf, 2) for loss in (own, built_in))
        np.testing.assert_allclose(*steps, atol=1e-9)


def test_states_what_it_is_told():
    loss = pointwise(
        lambda f, y: np.exp(f) - y * f,
        lambda f, y: np.exp(f) - y,
        domain=domains.NONNEGATIVE,
        link=np.exp,
        name="counts",
        lipschitz=7.0,
    )
    assert (loss.name, str(loss), loss.lipschitz, loss.smoothness) == ("counts", "counts", 7.0, np.inf)
    with pytest.raises(ValueError, match="y must be 0 or larger for the loss counts"):
        loss.check([-1.0])
    np.testing.assert_allclose(loss.link([0.0, 1.0]), [1, np.e])
    y = [0.0, 1.0, 5.0]
    assert loss.best_constant(y) == pytest.approx(Poisson().best_constant(y), abs=1e-10)
    with pytest.raises(TypeError, match="gives no probabilities"):
        loss.probabilities([0.0])


def test_adds_to_other_losses():
    loss = 2 * pointwise(pinball, pinball_slope) + Absolute()
    assert loss.value([0.0], [4.0]) == pytest.approx(2 * 3 + 4)


def test_overflow_far_away_does_not_stop_the_search():
    """The search looks far to both sides: infinite slopes there are no error."""
    loss = pointwise(lambda f, y: np.cosh(f - y), lambda f, y: np.sinh(f - y))
    assert loss.best_constant([5000.0, 5000.0]) == pytest.approx(5000)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda f, y: half_square(f, y)[:-1], "must return one number a row, got shape"),
        (lambda f, y: half_square(f, y).sum(), "must return one number a row, got shape"),
        (lambda f, y: half_square(f, y) * np.nan, "is NaN at score"),
        (lambda f, y: f / (y - y) * 0, "is NaN at score"),
        (lambda f, y: half_square(f, y) + np.inf, "is inf at score 0"),
        (lambda f, y: y / f, "is inf at score 0"),
    ],
)
def test_what_comes_back_is_checked_before_any_work(value, words):
    loss = pointwise(value, half_square_slope)
    with pytest.raises(ValueError, match=words):
        loss.on([1.0, 2.0, 3.0], Measure())


def test_code_that_works_neither_way_says_so():
    def broken(score, target):
        return TABLE["half"] if score > target else 0.0

    with pytest.raises(TypeError, match=r"works neither compiled .* nor on whole arrays"):
        pointwise(broken, half_square_slope).value([0.0, 1.0], [1.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"value": 3}, "value must be a function"),
        ({"smoothness": -1.0}, "must not be negative"),
        ({"smoothness": 1.0, "strong_convexity": 2.0}, "not below strong_convexity"),
        ({"domain": domains.CLASSES}, "domain must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        pointwise(**{"value": pinball, "subgradient": pinball_slope, **arguments})


def capped(score, target):
    return min((score - target) ** 2, 4.0)


def capped_slope(score, target):
    return 2 * (score - target) if (score - target) ** 2 < 4.0 else 0.0


NOT_CONVEX = {
    "capped square": (capped, capped_slope, [0.0, 1.0, 5.0]),
    "Welsch": (
        lambda f, y: 1 - np.exp(-((f - y) ** 2)),
        lambda f, y: 2 * (f - y) * np.exp(-((f - y) ** 2)),
        [0.0, 0.1],
    ),
    "wrong sign": (lambda f, y: (f - y) ** 2, lambda f, y: 2 * (y - f), [0.0, 1.0]),
    "twice the slope": (lambda f, y: (f - y) ** 2, lambda f, y: 4 * (f - y), [0.0, 1e6]),
    "a loss turned over": (lambda f, y: -abs(f - y), lambda f, y: -np.sign(f - y), [1e-3, 2e-3]),
}


@pytest.mark.parametrize("case", NOT_CONVEX)
def test_a_loss_that_is_not_convex_is_refused_where_it_meets_the_data(case):
    """It used to search for a minimum for ever."""
    import anyboost as ab

    value, slope, y = NOT_CONVEX[case]
    words = "not convex, or its subgradient is wrong: at target .* at score .* at score"
    with pytest.raises(ValueError, match=words):
        ab.boost(np.arange(len(y))[:, None], y, pointwise(value, slope), rounds=2)


CONVEX = {
    "fourth power": (lambda f, y: (f - y) ** 4, lambda f, y: 4 * (f - y) ** 3),
    "pinball": (pinball, pinball_slope),
    "Poisson": (lambda f, y: np.exp(f) - y * f, lambda f, y: np.exp(f) - y),
    "logistic": (lambda f, y: np.log1p(np.exp(-y * f)), lambda f, y: -y / (1 + np.exp(y * f))),
    "smoothed absolute": (
        lambda f, y: np.sqrt(1 + (f - y) ** 2) - 1,
        lambda f, y: (f - y) / np.sqrt(1 + (f - y) ** 2),
    ),
    "linear": (lambda f, y: y * f, lambda f, y: y),
}


@pytest.mark.parametrize(
    "y", [[0.0, 1.0, 2.0], [1e-8, 3e-8], [1e6, 2e6, 5e7], [7.0, 7.0], [-1.0, 1.0]], ids=str
)
@pytest.mark.parametrize("case", CONVEX)
def test_no_convex_loss_is_refused(case, y):
    from anyboost.space import Space

    pointwise(*CONVEX[case]).on(y, Space(np.zeros((len(y), 1))))


def test_a_search_in_slopes_that_fall_ends_in_a_sentence():
    from anyboost.losses.search import monotone_zeros

    y = np.linspace(25.0, 346.0, 442)

    def slope(x):
        return np.array([np.where((x[0] - y) ** 2 < 4.0, x[0] - y, 0.0).sum()])

    with pytest.raises(ValueError, match=r"did not end after \d+ trials: .* not convex"):
        monotone_zeros(slope, 1)


def test_a_curvature_is_looked_at_where_it_meets_data():
    def square(score, target):
        return (score - target) ** 2

    def slope(score, target):
        return 2 * (score - target)

    y = np.array([1.0, 2.0])
    assert not pointwise(square, slope).has_curvature
    with pytest.raises(ValueError, match="curvature must be a function"):
        pointwise(square, slope, 2.0)
    with pytest.raises(ValueError, match=r"curvature of the loss pointwise is -2\.0 at score 0"):
        pointwise(square, slope, lambda score, target: -2.0).on(y, Space(y[:, None]))
    loss = pointwise(square, slope, lambda score, target: 2.0)
    np.testing.assert_array_equal(loss.on(y, Space(y[:, None])).curvature(np.zeros(2)), [2.0, 2.0])
    whole = pointwise(square, slope, _Whole())
    np.testing.assert_array_equal(whole.on(y, Space(y[:, None])).curvature(np.zeros(2)), [2.0, 2.0])


class _Whole:
    """A function of arrays that cannot be compiled."""

    def __call__(self, score, target):
        return np.full(len(score), 2.0)
