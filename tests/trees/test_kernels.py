"""Histogram, split, partition and prediction kernels against loops in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from anyboost.backends import fixed_point
from anyboost.space import Space
from anyboost.trees.histogram import count, many, subtract, subtract_seen, take
from anyboost.trees.partition import descend, leaves_of_ranges, partition
from anyboost.trees.rows import Rows
from anyboost.weak import Stump, Tree


def histogram(words, fixed, rows, n_columns):
    out = np.full((len(words) * 2048, fixed.outputs + 1), 7, dtype=np.int64)
    taken = fixed if rows is None or many(fixed) else take(fixed, rows)
    n_cuts = np.full(len(words) * 8, 254)  # what was in the bins before is forgotten in all of them
    for groups in np.array_split(np.arange(len(words)), 2):
        count(words, groups, n_cuts, n_columns, taken, rows, out)
    return out.reshape(-1, 256, fixed.outputs + 1)


@pytest.mark.parametrize("n", [4000, 40_000])  # the larger one fills packed counters more than once
@pytest.mark.parametrize("outputs", [1, 2, 5])
@pytest.mark.parametrize("mass", ["ones", "whole", "heavy", "any"])
@pytest.mark.parametrize("some", [False, True])
def test_histogram_adds_every_row_to_its_bin(n, outputs, mass, some):
    random = np.random.default_rng(outputs)
    n_columns = 21
    codes = random.integers(0, 256, (3, n, 8)).astype(np.uint8)
    codes[2, :, 5:] = 0
    words = codes.view(np.uint64).reshape(3, n)
    weights = {
        "ones": None,
        "whole": random.integers(1, 6, n).astype(float),
        "heavy": random.integers(1, 1000, n).astype(float),
        "any": random.uniform(0.5, 2.0, n),
    }[mass]
    whole = mass != "any"
    rows = Rows(n)
    masses = (
        np.ones(n, dtype=np.int64) if weights is None else fixed_point.fixed_mass(weights, whole, rows)[0]
    )
    target = random.normal(size=(n, outputs))
    fixed = fixed_point.fixed(target, None, weights, whole, masses, masses.sum(), (None, None), rows)
    assert (fixed.shift > 0) == (outputs == 1 and (mass in ("ones", "whole")))
    rows = np.sort(random.choice(n, 701, replace=False)).astype(np.uint32) if some else None
    found = histogram(words, fixed, rows, n_columns)
    scale = 1 / fixed.unit
    rounded = (
        np.rint(target * scale) * masses[:, None] if whole else np.rint(weights[:, None] * target * scale)
    )
    expected = counted(codes, np.hstack([rounded.astype(np.int64), masses[:, None]]), rows)
    np.testing.assert_array_equal(found[:n_columns], expected[:n_columns])


@pytest.mark.parametrize("outputs", [1, 5])
def test_columns_of_few_bins_leave_the_others_alone(outputs):
    """Where sums are zero beyond a column's own bins, counting and subtracting touch none of them."""
    random = np.random.default_rng(0)
    n, n_cuts = 500, np.array([3, 0, 254, 16, 1, 255, 0, 0])
    codes = random.integers(0, np.minimum(n_cuts, 254) + 1, (1, n, 8)).astype(np.uint8)
    codes[0, ::7, 3] = 255
    words = codes.view(np.uint64).reshape(1, n)
    channels = random.integers(-9, 9, (n, outputs + 1))
    fixed = fixed_point.Fixed(np.asarray(channels, order="C" if outputs > 3 else "F"), 0, n, 1.0, outputs)
    rows = np.arange(0, n, 3, dtype=np.uint32)
    whole, part = np.zeros((2, 2048, outputs + 1), dtype=np.int64)
    groups = np.zeros(1, dtype=np.int64)
    count(words, groups, n_cuts, 8, fixed, None, whole)
    count(words, groups, n_cuts, 8, fixed if many(fixed) else take(fixed, rows), rows, part)
    subtract(whole.reshape(-1), part.reshape(-1), outputs + 1, groups, n_cuts)
    others = np.setdiff1d(np.arange(n), rows)
    np.testing.assert_array_equal(whole.reshape(8, 256, -1), counted(codes, channels, others))


def test_bins_without_mass_have_nothing_to_subtract():
    random = np.random.default_rng(1)
    n_cuts = np.array([3, 0, 254, 16, 1, 255, 0, 0])
    sums, part = random.integers(-9, 9, (2, 8, 256, 6))
    part[random.random((8, 256)) < 0.7] = 0
    part[..., -1] = np.abs(part[..., :-1]).any(axis=-1)
    expected = sums.copy()
    subtract(expected.reshape(-1), part.reshape(-1), 6, np.zeros(1, dtype=np.int64), n_cuts)
    subtract_seen(sums.reshape(-1), part.reshape(-1), 6, np.zeros(1, dtype=np.int64), n_cuts)
    np.testing.assert_array_equal(sums, expected)


def counted(codes, channels, rows):
    expected = np.zeros((len(codes) * 8, 256, channels.shape[1]), dtype=np.int64)
    some = np.arange(len(channels)) if rows is None else rows
    for feature in range(len(codes) * 8):
        np.add.at(expected[feature], codes[feature // 8, some, feature % 8], channels[some])
    return expected


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 255), min_size=1, max_size=50),
    st.sets(st.integers(0, 255)),
    st.integers(0, 7),
)
def test_partition_is_stable(column, lefts, place):
    codes = np.zeros((len(column), 8), dtype=np.uint8)
    codes[:, place] = column
    rows = np.arange(len(column), dtype=np.int32)[::-1].copy()
    before = rows.tolist()
    goes_left = np.isin(np.arange(256), list(lefts))
    middle = partition(codes.view(np.uint64).ravel(), 8 * place, goes_left, rows, np.empty_like(rows))
    assert rows[:middle].tolist() == [i for i in before if column[i] in lefts]
    assert rows[middle:].tolist() == [i for i in before if column[i] not in lefts]


def test_mark_and_descend_agree_with_the_tree_on_raw_values():
    random = np.random.default_rng(5)
    X = random.normal(size=(400, 11))
    X[random.random(X.shape) < 0.1] = np.nan
    space = Space(X)
    found = Tree(max_leaves=9).project(space, random.normal(size=400))
    tree = found.hypothesis
    nodes = tree.apply(X)
    leaf_nodes = np.flatnonzero(tree.feature < 0)
    np.testing.assert_array_equal(leaf_nodes[found.leaf], nodes)
    cuts = [
        np.searchsorted(space.bins.thresholds[f], t)
        for f, t in zip(tree.feature, tree.threshold, strict=True)
    ]
    goes_left = np.arange(256) <= np.array(cuts)[:, None]
    goes_left[:, 255] = tree.missing_left
    out = np.full(400, -1, dtype=np.int32)
    number = np.arange(len(tree.feature), dtype=np.int32)
    descend(space.bins.words, tree.feature, goes_left, tree.left, tree.right, number, out, 1)
    np.testing.assert_array_equal(out, nodes)
    labels = np.zeros(8, dtype=np.int32)
    rows = np.array([3, 7, 0, 1, 2, 4, 5, 6], dtype=np.uint32)
    leaves_of_ranges(rows, np.array([2, 0, 4]), np.array([4, 2, 8]), labels, 1)
    assert labels.tolist() == [0, 0, 2, 1, 2, 2, 2, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_predictions_on_raw_values_match_the_oracle(dtype, order):
    random = np.random.default_rng(6)
    X = np.array(random.integers(-20, 20, (120, 5)), dtype=dtype, order=order)
    D = random.normal(size=(120, 2))
    mine = Tree(max_leaves=7).project(Space(np.asarray(X, dtype=float)), D)
    theirs = reference.project_tree(X, None, D, max_leaves=7)
    fresh = np.array(random.integers(-25, 25, (300, 5)), dtype=dtype, order=order)
    np.testing.assert_allclose(
        mine.hypothesis.predict(fresh), reference.predict_tree(theirs, fresh), atol=1e-12
    )
    parts, coefficients = [mine.hypothesis, mine.hypothesis], np.array([2.0, -0.5])
    for n_threads in (1, 2):
        out = np.ones((300, 2))
        type(mine.hypothesis).combine(parts, coefficients, fresh, out, n_threads)
        np.testing.assert_allclose(out, 1 + 1.5 * reference.predict_tree(theirs, fresh), atol=1e-12)


def test_stump_is_a_tree_of_two_leaves():
    X = np.random.default_rng(7).normal(size=(50, 3))
    y = X[:, 1] ** 2
    one, other = Stump().project(Space(X), y), Tree(max_leaves=2).project(Space(X), y)
    np.testing.assert_array_equal(one.values, other.values)
