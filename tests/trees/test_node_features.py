"""Columns drawn anew for each node: a share of those allowed, by the way to the node and the seed alone."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.space import Space


def table(n=600, p=12):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, p))
    return X, X @ random.normal(size=p) + 0.1 * random.normal(size=n)


def test_a_node_looks_at_its_own_columns_and_at_no_others():
    X, y = table()
    seen = []
    for key in range(200):
        stump = ab.weak.Tree(2, node_features=0.25).project(Space(X).lent(None, None, key), y)
        seen.append(int(stump.hypothesis.feature[0]))
    whole = ab.weak.Tree(2).project(Space(X), y).hypothesis.feature[0]
    # 3 of 12 columns: the best of all is among them in one of four draws, within four deviations.
    assert abs(np.mean(np.array(seen) == whole) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 200)
    assert len(set(seen)) > 5


def test_nodes_of_one_tree_draw_apart_and_one_column_is_the_least():
    X, y = table()
    tree = ab.weak.Tree(16, node_features=0.01).project(Space(X).lent(None, None, 5), y).hypothesis
    assert len(set(tree.feature[tree.feature >= 0].tolist())) > 5


def test_all_columns_are_the_tree_without_draws():
    X, y = table()
    plain = ab.weak.Tree(9).project(Space(X), y)
    drawn = ab.weak.Tree(9, node_features=0.999).project(
        Space(X).lent(None, None, 3), y
    )  # rounded up: all 12
    np.testing.assert_array_equal(plain.values, drawn.values)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_same_model_for_any_threads_and_order(n_threads):
    X, y = table()
    order = np.random.default_rng(1).permutation(len(X))
    given = {"learner": ab.weak.Tree(8, node_features=0.5), "rounds": 6, "n_threads": n_threads}
    one, other = ab.boost(X, y, **given), ab.boost(X[order], y[order], **given)
    np.testing.assert_array_equal(one.scores[order], other.scores)
    unlike = ab.boost(X, y, random_state=1, **given)
    assert not np.array_equal(unlike.scores, one.scores)


def test_bad_shares_are_refused():
    with pytest.raises(ValueError, match="node_features"):
        ab.weak.Tree(node_features=0.0)
