"""Interaction constraints: the columns of every branch lie in one of the sets."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.weak import Tree


def branches(tree, node=0, so_far=frozenset()):
    """The columns on the way to each leaf."""
    if tree.feature[node] < 0:
        return [so_far]
    so_far = so_far | {int(tree.feature[node])}
    return branches(tree, tree.left[node], so_far) + branches(tree, tree.right[node], so_far)


def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 10))
    return X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] * X[:, 8] + X[:, 9] * X[:, 0]


@pytest.mark.parametrize("features", [1.0, 0.6])
@pytest.mark.parametrize("growth", ["leaf", "depth"])
def test_branches_stay_within_a_set(features, growth):
    X, y = data()
    sets = [(0, 1), [1, 2, 3], {8}]
    tree = Tree(12, growth=growth, interactions=sets)
    run = ab.boost(X, y, "squared", tree, rounds=10, feature_fraction=features, random_state=0)
    allowed = [{0, 1}, {1, 2, 3}, {8}, {4, 5, 6, 7, 9}]  # columns in none form one more set
    found = {branch for tree in run.ensemble.hypotheses for branch in branches(tree)}
    assert all(any(branch <= columns for columns in allowed) for branch in found)
    assert max(map(len, found)) > 1
    free = ab.boost(X, y, "squared", Tree(12, growth=growth), rounds=3)
    assert any(
        not any(branch <= columns for columns in allowed)
        for tree in free.ensemble.hypotheses
        for branch in branches(tree)
    )


def test_one_set_of_all_columns_is_no_constraint_and_single_columns_give_an_additive_model():
    X, y = data()
    free = ab.boost(X, y, "squared", Tree(12), rounds=3)
    same = ab.boost(X, y, "squared", Tree(12, interactions=[range(10)]), rounds=3)
    np.testing.assert_array_equal(free.scores, same.scores)
    additive = ab.boost(X, y, "squared", Tree(12, interactions=[(j,) for j in range(10)]), rounds=5)
    A, B = X[:200].copy(), X[200:400].copy()
    A2, B2 = A.copy(), B.copy()
    A2[:, 0], B2[:, 0] = B[:, 0], A[:, 0]
    f = additive.ensemble.predict
    np.testing.assert_allclose(f(A) + f(B), f(A2) + f(B2), atol=1e-12)


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (3, "interactions must be sets of column numbers, got 3"),
        ([(0, -1)], "a column of interactions must be at least 0, got -1"),
        ([(0, "age")], "interactions must be sets of column numbers|a column of interactions"),
        ([(0, 12)], "interactions name column 12, but X has 10 columns"),
    ],
)
def test_bad_sets_are_named(sets, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        ab.boost(X, y, learner=Tree(interactions=sets), rounds=1)
