"""Quantiles from ranks: against exact counts, by weights as copies, and what they promise of new rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.explain.intervals import Conformal, Distributions, log_odds

LEVELS = (0.1, 0.5, 0.9)
NOWHERE = Distributions()


def ranked(ranks, weights=None, groups=None):
    return Conformal.of("split", NOWHERE, np.asarray(ranks, dtype=float), weights, groups)


@pytest.mark.parametrize("n", [19, 20, 99, 250])
def test_a_level_is_the_rank_that_its_count_names(n):
    ranks = np.sort(np.random.default_rng(n).normal(size=n))
    conformal = ranked(np.random.default_rng(0).permutation(ranks))
    for hundredth in (5, 10, 30, 70, 90, 95):
        # floor and ceil of a (n + 1), in whole numbers
        down, up = hundredth * (n + 1) // 100, -(-hundredth * (n + 1) // 100)
        expected = ranks[(down if hundredth < 50 else up) - 1]
        assert conformal.at([hundredth / 100])[0] == expected


def test_new_rows_lie_inside_as_often_as_is_promised():
    """Among n + 1 exchangeable ranks each is the new one as often: the exact coverage is counted, not drawn."""
    random = np.random.default_rng(1)
    for n in (19, 40, 77):
        everyone = random.normal(size=n + 1)
        inside = 0
        for new in range(n + 1):
            low, high = ranked(np.delete(everyone, new)).at([0.05, 0.95])
            inside += low <= everyone[new] <= high
        assert 0.9 <= inside / (n + 1) <= 0.9 + 2 / (n + 1) + 1e-12


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=12, max_size=40))
@settings(max_examples=50, deadline=None)
def test_a_weight_is_so_many_rows(rows):
    ranks, weights = np.array(rows, dtype=float).T
    levels = [0.2, 0.4, 0.5, 0.6, 0.8]
    copied = ranked(np.repeat(ranks, weights.astype(int)))
    np.testing.assert_array_equal(ranked(ranks, weights).at(levels), copied.at(levels))


@given(
    st.lists(st.floats(-3, 3, width=32), min_size=3, max_size=3).map(sorted),
    st.floats(-10, 10, width=32),
    st.floats(-6, 6),
)
@settings(max_examples=300, deadline=None)
def test_ranks_and_values_turn_back(quantiles, y, z):
    predictions = np.array([quantiles])
    distributions = Distributions(LEVELS, (0.1, 0.1))
    there = distributions.values(predictions, np.array([[z]]))[0, 0]
    rank = distributions.ranks(predictions, np.array([there]))[0]
    again = distributions.values(predictions, np.array([[rank]]))[0, 0]
    assert again == pytest.approx(there, abs=1e-6)
    rank = distributions.ranks(predictions, np.array([y]))[0]
    assert distributions.values(predictions, np.array([[rank]]))[0, 0] == pytest.approx(y, abs=1e-6)


def test_quantiles_pass_through_those_predicted_and_rise_between_and_beyond():
    predictions = np.array([[0.0, 1.0, 5.0], [2.0, 2.0, 3.0]])
    distributions = Distributions.of(LEVELS, predictions)
    np.testing.assert_allclose(
        distributions.values(predictions, np.tile(log_odds(LEVELS), (2, 1))), predictions, atol=1e-12
    )
    fine = np.tile(np.linspace(-8, 8, 401), (2, 1))
    rising = np.diff(distributions.values(predictions, fine), axis=1)
    assert (rising >= 0).all()
    assert (rising[0] > 0).all()
    # Beyond the outer levels the slope is that of the outer pieces.
    step = (1.0 - 0.0) / (log_odds(0.5) - log_odds(0.1))
    below = distributions.values(predictions, np.array([[-5.0], [-5.0]]))[0, 0]
    assert below == pytest.approx(0.0 + (-5.0 - log_odds(0.1)) * step)


def test_a_target_at_equal_quantiles_has_the_rank_nearest_to_the_median():
    predictions = np.array([[2.0, 2.0, 3.0], [1.0, 2.0, 2.0], [2.0, 2.0, 2.0], [1.0, 1.0, 4.0]])
    ranks = Distributions(LEVELS, (0.1, 0.1)).ranks(predictions, np.array([2.0, 2.0, 2.0, 1.0]))
    np.testing.assert_allclose(ranks, 0.0, atol=1e-12)


def test_too_few_rows_are_said():
    with pytest.raises(
        ValueError, match=r"coverage 0.9 takes 19 rows or more to calibrate by, and this model has 18"
    ):
        ranked(np.arange(18)).at([0.05, 0.95], "coverage 0.9")
    assert np.isfinite(ranked(np.arange(19)).at([0.05, 0.95])).all()


def test_groups_have_their_own_ranks_and_small_ones_those_of_all():
    ranks = np.concatenate([np.arange(40.0), 100 + np.arange(60.0), [7.0, 8.0, 9.0]])
    groups = np.repeat(["a", "b", "c"], [40, 60, 3])
    conformal = ranked(ranks, groups=groups)
    with pytest.warns(UserWarning, match=r"groups 'c', 'd' have fewer than the 9 rows"):
        found = conformal.by_row([0.1, 0.9], np.array(["a", "b", "c", "d"]))
    np.testing.assert_array_equal(found[0], ranked(np.arange(40.0)).at([0.1, 0.9]))
    np.testing.assert_array_equal(found[1], ranked(100 + np.arange(60.0)).at([0.1, 0.9]))
    np.testing.assert_array_equal(found[2:], np.tile(ranked(ranks).at([0.1, 0.9]), (2, 1)))
