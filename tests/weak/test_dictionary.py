"""The dictionary against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
import reference
from anyboost.space import Space
from anyboost.weak import Dictionary


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(1, 6),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_projection_and_extreme(seed, n, columns, outputs, ties, weighted):
    random = np.random.default_rng(seed)
    B = random.integers(-2, 3, (n, columns)).astype(float) if ties else random.normal(size=(n, columns))
    shape = (n,) if outputs == 1 else (n, outputs)
    D = random.choice([-1.0, 1.0], shape) if ties else random.normal(size=shape)
    weights = random.integers(1, 4, n).astype(float) if weighted else None
    space = Space(B, weights)
    mine, theirs = Dictionary().project(space, D), reference.project_dictionary(B, weights, D)
    if theirs.column is not None:
        assert mine.hypothesis.column == theirs.column
        np.testing.assert_allclose(mine.values, theirs.values, atol=1e-12)
    np.testing.assert_allclose(mine.hypothesis.predict(B), mine.values)
    value, _ = reference.extreme_dictionary(B, weights, D)
    support = Dictionary().support(space, D)
    assert support.lower == pytest.approx(value, abs=1e-12)
    assert value <= support.upper <= value + 1e-9
    atom = Dictionary().extreme(space, D).values
    assert space.inner(atom, D) == pytest.approx(value, abs=1e-12)
    assert np.abs(atom).max() <= 1


def test_functions_are_evaluated_at_new_rows():
    random = np.random.default_rng(0)
    X = random.uniform(1, 3, (80, 2))
    y = 2 * np.log(X[:, 0]) - X[:, 1] ** 2
    learner = Dictionary([lambda X: np.log(X[:, 0]), lambda X: X[:, 1] ** 2, lambda X: np.ones(len(X))])
    run = ab.boost(X, y, "squared", learner, ab.descent.Naive(step=1.0), rounds=400)
    fresh = random.uniform(1, 3, (50, 2))
    np.testing.assert_allclose(
        run.ensemble.predict(fresh), 2 * np.log(fresh[:, 0]) - fresh[:, 1] ** 2, atol=1e-3
    )


def test_values_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="X gives a Dictionary non-finite values"):
        ab.boost(np.array([[1.0], [np.nan]]), [0.0, 1.0], learner="dictionary")
