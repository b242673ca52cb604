"""Columns of categories: every subset by enumeration, unseen codes, many codes, files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
from anyboost.space import Space
from anyboost.trees.binning import category_bins
from anyboost.weak import Classifier, Stump, Tree
from reference.categories import fit_score, partings, reach


def sample(seed, n, outputs=1, missing=False, ties=False, weighted=False):
    """Column 0 holds up to seven categories with odd codes, column 1 numbers."""
    random = np.random.default_rng(seed)
    X = np.column_stack([random.choice([0, 3, 4, 17, 30, 99, 250], n), random.normal(size=n).round(1)])
    if missing:
        X[random.random(X.shape) < 0.15] = np.nan
    shape = n if outputs == 1 else (n, outputs)
    D = random.choice([-1.0, 0.0, 1.0], shape) if ties else random.normal(size=shape)
    return X, D, random.integers(1, 4, n).astype(float) if weighted else np.ones(n)


cases = given(
    st.integers(0, 10**6), st.integers(2, 50), st.booleans(), st.booleans(), st.booleans(), st.booleans()
)


@settings(deadline=None, max_examples=100)
@cases
def test_one_output_gets_the_best_subset_of_all(seed, n, missing, ties, weighted, penalized):
    X, D, weights = sample(seed, n, 1, missing, ties, weighted)
    l2 = 2.0 if penalized else 0.0
    space = Space(X[:, :1], weights, categorical=(0,))
    found = Tree(2, l2=l2).project(space, D)
    scores = [fit_score(left, weights, D, l2) for left in partings(X[:, 0])]
    alone = float(weights @ D) ** 2 / (weights.sum() + l2)
    assert fit_score_of(found, weights, D, l2) == pytest.approx(max([*scores, alone]), rel=1e-8, abs=1e-9)
    np.testing.assert_array_equal(found.hypothesis.predict(X[:, :1]), found.values)


def fit_score_of(found, weights, D, l2=0.0):
    left = found.leaf == 0
    return (
        fit_score(left, weights, D, l2)
        if found.hypothesis.n_leaves == 2
        else float(weights @ D) ** 2 / (weights.sum() + l2)
    )


@settings(deadline=None, max_examples=100)
@cases
def test_the_reach_of_category_stumps_is_the_sum_of_all_sizes(seed, n, missing, ties, weighted, vector):
    X, G, weights = sample(seed, n, 2 if vector else 1, missing, ties, weighted)
    space, total = Space(X[:, :1], weights, categorical=(0,)), weights.sum()
    constant = np.abs(weights @ G).sum()
    best = max([constant, *(reach(left, weights, G) for left in partings(X[:, 0]))]) / total
    support = Stump().support(space, G)
    assert best <= support.upper * (1 + 1e-12) + 1e-12
    assert support.lower <= best + 1e-9
    atom = Stump().extreme(space, G)
    assert space.inner(atom.values, G) == pytest.approx(support.lower, abs=1e-12)
    if not vector:
        sums = [weights[X[:, 0] == c] @ G[X[:, 0] == c] for c in np.unique(X[:, 0][~np.isnan(X[:, 0])])]
        everything = np.abs([*sums, weights[np.isnan(X[:, 0])] @ G[np.isnan(X[:, 0])]]).sum() / total
        assert support.lower == pytest.approx(everything, abs=1e-9)
        assert support.upper <= best * (1 + 1e-8) + 1e-8


def test_several_outputs_are_cut_greedily_but_well():
    ratios = []
    for seed in range(40):
        X, D, weights = sample(seed, 50, 3)
        found = Stump().project(Space(X[:, :1], categorical=(0,)), D)
        scores = [fit_score(left, weights, D) for left in partings(X[:, 0])]
        ratios.append(fit_score_of(found, weights, D) / max(scores))
    assert max(ratios) <= 1 + 1e-9
    assert min(ratios) > 0.7
    assert np.mean(ratios) > 0.95


def test_limits_of_leaf_weight_hold_for_subsets():
    for seed in range(20):
        X, D, weights = sample(seed, 50, 1, missing=True, weighted=True)
        tree = Tree(6, min_leaf_weight=12.0)
        space = Space(X, weights, categorical=(0,))
        found = tree.project(space, D)
        assert found.hypothesis.n_leaves == 1 or np.bincount(found.leaf, weights).min() >= 12
        support = Tree(2, min_leaf_weight=12.0).support(space, D)
        assert support.lower <= support.upper


def test_ties_go_to_the_lowest_column():
    X = np.array([[0.0, 0.0, 5.0], [1.0, 1.0, 5.0], [0.0, 0.0, 7.0], [1.0, 1.0, 7.0]])
    D = np.array([1.0, -1.0, 1.0, -1.0])
    assert Stump().project(Space(X, categorical=(1,)), D).hypothesis.feature[0] == 0
    assert Stump().project(Space(X, categorical=(0,)), D).hypothesis.feature[0] == 0
    assert Stump().project(Space(X[:, ::-1], categorical=(1,)), D).hypothesis.feature[0] == 1


def test_codes_that_training_had_none_of_go_where_missing_values_go():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [5.0], [np.nan]])
    y = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
    run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(1.0), 1, categorical=[0])
    new = np.array([[np.nan], [1.0], [6.0], [1e9], [-1.0], [0.5], [np.inf], [0.0], [5.0]])
    np.testing.assert_allclose(run.ensemble.predict(new), [3, 3, 3, 3, 3, 3, 3, 1, 3])
    # without missing values in training, to the heavier side
    run = ab.boost(X[:5], y[:5], "squared", "stump", ab.descent.Naive(1.0), 1, categorical=[True])
    np.testing.assert_allclose(run.ensemble.predict(new), [1, 1, 1, 1, 1, 1, 1, 1, 3])


def test_the_rarest_of_many_categories_share_a_bin():
    random = np.random.default_rng(0)
    column = np.concatenate([np.repeat(np.arange(1000.0), 1), np.repeat(np.arange(300.0, 500.0), 5)])
    masses = np.ones(len(column), dtype=np.int64)
    table, n_bins, missing = category_bins(column, masses, 255)
    assert (n_bins, missing) == (255, False)
    own = np.flatnonzero(table < 254)
    assert own.tolist() == [*range(54), *range(300, 500)]  # the heaviest, then the lowest codes
    assert np.unique(table[own]).tolist() == list(range(254))
    order = random.permutation(len(column))
    np.testing.assert_array_equal(category_bins(column[order], masses, 255)[0], table)
    few, n_bins, _ = category_bins(column, masses, 8)
    assert n_bins == 8
    assert np.flatnonzero(few < 7).tolist() == list(range(300, 307))


@pytest.mark.parametrize("outputs", ["joint", "each"])
def test_a_model_of_mixed_columns_is_its_scores_and_learns_what_numbers_cannot(outputs):
    random = np.random.default_rng(1)
    X = np.column_stack(
        [random.integers(0, 40, 600), random.normal(size=(600, 2)), random.integers(0, 300, 600)]
    )
    X[random.random(X.shape) < 0.1] = np.nan
    odd = np.isin(X[:, 0], random.choice(40, 20, replace=False))
    y = odd + (X[:, 3] % 2 == 1) + (X[:, 1] > 0)
    tree = Tree(8, outputs=outputs)
    kept = {"rounds": 15, "random_state": 0, "row_fraction": 0.8, "valid": (X[:100], y[:100])}
    run = ab.boost(X, y, "softmax", tree, "naive", categorical=(0, 3), **kept)
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-12)
    np.testing.assert_allclose(run.ensemble.predict(X.astype(np.float32)), run.scores, atol=1e-12)
    plain = ab.boost(X, y, "softmax", tree, "naive", **kept)
    assert run.steps[-1].loss < plain.steps[-1].loss
    threads = ab.boost(X, y, "softmax", tree, "naive", categorical=(0, 3), n_threads=2, **kept)
    np.testing.assert_array_equal(threads.scores, run.scores)


def test_a_binned_table_keeps_its_categories():
    X, D, _ = sample(6, 80, 1, missing=True)
    table = ab.Binned(X, categorical=[0])
    one = ab.boost(table, D, "absolute", "tree:6", rounds=5)
    two = ab.boost(X, D, "absolute", "tree:6", rounds=5, categorical=[0])
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.options == two.options
    with pytest.raises(ValueError, match=r"categorical is \(0,\) in the binned X, got \(1,\); leave it out"):
        ab.boost(table, D, categorical=[1])
    rows = ab.boost(table.take(np.arange(60)), D[:60], "absolute", "tree:6", rounds=5)
    np.testing.assert_allclose(rows.ensemble.predict(X[:60]), rows.scores, atol=1e-12)


def test_names_of_categories_do_not_matter():
    X, D, _ = sample(4, 80, 1, missing=True)
    other = X.copy()
    other[:, 0] = 100_000 + 3 * X[:, 0]
    one = ab.boost(X, D, "absolute", "tree:6", rounds=5, categorical=[0])
    two = ab.boost(other, D, "absolute", "tree:6", rounds=5, categorical=np.array([True, False]))
    np.testing.assert_array_equal(one.scores, two.scores)
    np.testing.assert_array_equal(one.ensemble.predict(X), two.ensemble.predict(other))


@pytest.mark.parametrize("outputs", ["joint", "each"])
def test_a_file_keeps_categories(tmp_path, outputs):
    X, _, _ = sample(5, 90, 1, missing=True)
    y = np.random.default_rng(0).integers(0, 3, 90).astype(float)
    tree = Tree(5, outputs=outputs, monotone=(0, 1), interactions=((0, 1),), min_leaf_weight=2.0, l2=0.5)
    run = ab.boost(X, y, "softmax", tree, rounds=6, categorical=[0])
    ab.save(run, tmp_path / "run")
    back = ab.load(tmp_path / "run")
    assert (back.learner, back.options) == (run.learner, run.options)
    np.testing.assert_array_equal(back.ensemble.predict(X), run.ensemble.predict(X))
    more = ab.boost(X, y, resume=back, rounds=9)
    np.testing.assert_array_equal(
        more.ensemble.predict(X), ab.boost(X, y, resume=run, rounds=9).ensemble.predict(X)
    )
    ab.save(more.ensemble, tmp_path / "more")
    np.testing.assert_array_equal(ab.load(tmp_path / "more").predict(X), more.ensemble.predict(X))


@pytest.mark.parametrize(
    ("column", "arguments", "words"),
    [
        ([0.0, 1.5], {"categorical": [0]}, "categorical column 0, got 1.5 at row 1"),
        ([0.0, -1.0], {"categorical": [0]}, "categorical column 0, got -1.0 at row 1"),
        ([0.0, np.inf], {"categorical": [0]}, "categorical column 0, got inf at row 1"),
        ([0.0, 2.0**24], {"categorical": [0]}, "number the categories 0, 1, 2"),
        ([0.0, 1.0], {"categorical": [1]}, "categorical must name columns 0 .. 0 of X, got 1"),
        ([0.0, 1.0], {"categorical": ["a"]}, "categorical must be column numbers, or a mask"),
        ([0.0, 1.0], {"categorical": [True, False]}, "categorical must be column numbers, or a mask"),
        ([0.0, 1.0], {"categorical": [0], "learner": Tree(monotone=(1,))}, "monotone is 1 for column 0"),
    ],
)
def test_bad_columns_are_named(column, arguments, words):
    with pytest.raises(ValueError, match=words):
        ab.boost(np.array(column)[:, None], [0.0, 1.0], rounds=1, **arguments)


def test_classifiers_of_three_classes_refuse_sets_of_categories():
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=r"learner Classifier\(\) cannot cut the categorical columns \[0\]"):
        ab.boost(X, y, "softmax", Classifier(), rounds=1, categorical=[0])
    signs = np.where(y > 0, 1.0, -1.0)
    run = ab.boost(X, signs, "logistic", Classifier(), rounds=3, categorical=[0])
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores)
