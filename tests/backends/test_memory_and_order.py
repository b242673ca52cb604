"""Arrays used again, columns sorted by digits, trees joined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.backends import order, threads
from anyboost.backends.arrays import ArrayPool
from anyboost.space import Space
from anyboost.trees.predictor import add_trees, join
from anyboost.weak import Tree


def test_an_array_is_given_again_only_when_nobody_holds_it():
    arrays = ArrayPool()
    first = arrays.empty(1000)
    address = first.ctypes.data
    view = first[10:20]
    del first
    assert arrays.empty(1000).ctypes.data != address  # the view still holds it
    del view
    assert arrays.empty(1000).ctypes.data == address
    assert arrays.empty((10, 100)).shape == (10, 100)
    assert arrays.empty(1000, np.int64).dtype == np.int64


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.one_of(st.floats(allow_nan=True, width=32), st.just(-0.0)), min_size=1, max_size=80),
    st.sampled_from([np.float32, np.float64]),
)
def test_sorting_by_digits_is_sorting(numbers, dtype):
    column = np.array(numbers, dtype=dtype)
    before = order._LARGE
    order._LARGE = 1
    try:
        found = order.sort(column)
    finally:
        order._LARGE = before
    np.testing.assert_array_equal(found, np.sort(column))
    assert found.dtype == column.dtype


def test_trees_whose_children_lie_apart_are_joined_in_order():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    X[random.random(X.shape) < 0.1] = np.nan
    tree = Tree(max_leaves=8).project(Space(X), random.normal(size=300)).hypothesis
    shuffled = np.append(0, 1 + random.permutation(len(tree.feature) - 1))
    place = np.argsort(shuffled)
    other = type(tree)(
        **{
            name: getattr(tree, name)[shuffled]
            for name in ("feature", "threshold", "missing_left", "category_set", "value")
        },
        left=place[tree.left][shuffled].astype(np.int32),
        right=place[tree.right][shuffled].astype(np.int32),
        category_sets=tree.category_sets,
    )
    for rows in (X, np.asfortranarray(X), X.astype(np.float32)):
        out = np.zeros((300, 1))
        add_trees(rows, join([tree, other], np.array([1.0, -1.0])), out, 2)
        np.testing.assert_array_equal(out, 0.0)


def test_a_failing_task_is_heard_and_the_workers_live_on():
    def task(index):
        if index == 3:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        threads.each(task, 8, 2)
    done = []
    threads.each(done.append, 8, 2)
    assert sorted(done) == list(range(8))
