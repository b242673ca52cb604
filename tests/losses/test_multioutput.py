"""A loss over the columns of y is the sum of the loss of each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
from anyboost.losses import Absolute, Hinge, Huber, Multioutput, Poisson, Quantile, Softmax, Squared

LOSSES = [Squared(), Absolute(), Quantile(0.8), Huber(0.5), Poisson()]
REAL = st.floats(-5, 5)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(deadline=None)
@given(data=st.data())
def test_columns_add_up(loss, data):
    y = np.abs(np.array(data.draw(st.lists(st.tuples(REAL, REAL, REAL), min_size=4, max_size=4))))
    f, g = (
        np.array(data.draw(st.lists(st.tuples(REAL, REAL, REAL), min_size=4, max_size=4))) for _ in range(2)
    )
    y[0] += 1.0  # counts have a best constant where not all are zero
    weights = np.arange(1.0, 5.0)
    both = Multioutput(loss)
    np.testing.assert_allclose(both.values(f, y), sum(loss.values(f[:, k], y[:, k]) for k in range(3)))
    gradient = both.subgradients(f, y)
    for k in range(3):
        np.testing.assert_array_equal(gradient[:, k], loss.subgradients(f[:, k], y[:, k]))
    assert (both.values(g, y) >= both.values(f, y) + (gradient * (g - f)).sum(axis=1) - 1e-9).all()
    constants = [loss.best_constant(y[:, k], weights) for k in range(3)]
    np.testing.assert_allclose(both.best_constant(y, weights), constants)
    np.testing.assert_array_equal(both.link(f), loss.link(f))


def test_a_kinked_loss_is_smoothed_column_by_column():
    f, y = np.arange(6.0).reshape(3, 2), np.ones((3, 2))
    envelope = Multioutput(Absolute()).envelope_gradients(f, y, 0.5)
    np.testing.assert_allclose(envelope[:, 1], Absolute().envelope_gradients(f[:, 1], y[:, 1], 0.5))
    assert Multioutput("absolute").smoothable
    assert Multioutput("squared").smoothness == Multioutput("squared").strong_convexity == 1.0


def test_trees_fit_all_columns_at_once():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    y = np.column_stack([np.sin(X[:, 0]), X[:, 1] > 0])
    run = ab.boost(X, y, Multioutput("squared"), "tree:8", ab.descent.Naive(0.3), 40)
    assert run.ensemble.predict(X).shape == (200, 2)
    assert run.steps[-1].loss < 0.1 * run.start_loss


def test_what_it_refuses():
    for base in (Softmax(), ab.losses.Cox(), ab.losses.MultiQuantile((0.1, 0.9))):
        with pytest.raises(ValueError, match="loss must be a row-wise loss of one score"):
            Multioutput(base)
    with pytest.raises(ValueError, match="y must have two or more columns for the loss multioutput"):
        Multioutput("squared").check([1.0, 2.0])
    with pytest.raises(ValueError, match=r"y must be -1 or \+1 for the loss hinge, got 0.5 at row 1"):
        Multioutput(Hinge()).check([[1, -1], [1, 0.5]])
