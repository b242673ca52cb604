"""Sums and multiples: mixing losses is ordinary arithmetic."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost import losses
from anyboost.losses import Absolute, Hinge, Logistic, Poisson, Softmax, Squared

numbers = st.lists(st.floats(-10, 10), min_size=5, max_size=5).map(np.array)


@settings(max_examples=25, deadline=None)
@given(f=numbers, y=numbers, a=st.floats(0.01, 100), b=st.floats(0.01, 100))
def test_values_slopes_and_constants_add_up(f, y, a, b):
    mixed = a * Absolute() + Squared() * b
    np.testing.assert_allclose(mixed.values(f, y), a * np.abs(y - f) + b * (y - f) ** 2 / 2)
    np.testing.assert_allclose(mixed.subgradients(f, y), a * np.sign(f - y) + b * (f - y))
    assert mixed.strong_convexity == b
    assert mixed.smoothness == mixed.lipschitz == np.inf
    assert (a * Absolute()).lipschitz == a


def test_sums_of_sums_flatten_and_compare_by_value():
    left, right = Absolute() + (Squared() + 2 * Absolute()), (Absolute() + Squared()) + 2 * Absolute()
    assert left == right
    assert len(left.terms) == 3
    assert 2 * (Absolute() + Squared()) == 2 * Absolute() + 2 * Squared()
    assert str(0.5 * Absolute() + losses.Quantile(0.9)) == "0.5*absolute + quantile:0.9"
    assert pickle.loads(pickle.dumps(left)) == left


def test_numpy_numbers_multiply_like_python_ones():
    assert np.float64(2) * Absolute() == 2 * Absolute()
    assert Absolute() * np.int64(2) == 2 * Absolute()


@pytest.mark.parametrize("factor", [0, -1, np.nan, np.inf, "two"])
def test_factors_must_be_positive(factor):
    with pytest.raises(ValueError, match="factor must be"):
        factor * Absolute()


def test_one_score_and_one_score_a_class_do_not_mix():
    with pytest.raises(ValueError, match="squared and softmax cannot be added"):
        Squared() + Softmax()


def test_only_losses_add():
    with pytest.raises(TypeError):
        Squared() + 1


def test_every_term_checks_the_targets():
    loss = Squared() + Poisson()
    with pytest.raises(ValueError, match="y must be 0 or larger for the loss poisson, got -1 at row 1"):
        loss.check([1, -1])
    assert loss.check([1, 0]).tolist() == [1, 0]
    assert "0 or larger" in loss.domain.words


def test_links_are_the_common_one_or_the_identity():
    f = np.array([-2.0, 3.0])
    assert (Logistic() + Hinge()).link(f).tolist() == [-1, 1]
    assert (Logistic() + Squared()).link(f).tolist() == f.tolist()
    np.testing.assert_array_equal((2 * Logistic()).probabilities(f), Logistic().probabilities(f))
    with pytest.raises(TypeError, match="gives no probabilities"):
        (Logistic() + Hinge()).probabilities(f)


def test_best_constant_of_a_sum_solves_the_sum():
    """|f| + |f - 1| + f^2/2 ...: the optimum of the sum is no average of the terms' optima."""
    y = np.array([0.0, 0.0, 3.0])
    # squared: 3 f - 3; absolute: slopes -3, +1, +3 with kinks at 0 and 3. With weight 1: 3 f - 3 + 1 = 0.
    assert (Squared() + Absolute()).best_constant(y) == pytest.approx(2 / 3, abs=1e-12)
