"""Thresholds drawn anew for each node: so many of those that part its rows, by the way to the node and the seed."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.space import Space


def table(n=600, p=6):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, p))
    return X, X @ random.normal(size=p) + 0.1 * random.normal(size=n)


def drawn(X, y, key, thresholds, leaves=2, **given):
    tree = ab.weak.Tree(leaves, node_thresholds=thresholds, **given)
    return tree.project(Space(X).lent(None, None, key), y)


def test_one_threshold_is_anywhere_with_the_same_chance():
    X, y = table(p=1)
    ranks = np.array([np.mean(X[:, 0] <= drawn(X, y, key, 1).hypothesis.threshold[0]) for key in range(400)])
    # Uniform over the cuts: mean 1/2, a quarter in each quarter, within four deviations.
    assert abs(ranks.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 400)
    quarters = np.bincount((ranks * 4).astype(int).clip(0, 3), minlength=4) / 400
    assert np.abs(quarters - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 400)


def test_of_more_thresholds_the_best_is_taken_and_all_are_the_plain_tree():
    X, y = table(p=1)
    few, many = (
        np.mean([np.mean((drawn(X, y, key, k).values - y) ** 2) for key in range(50)]) for k in (1, 8)
    )
    plain = ab.weak.Tree(2).project(Space(X), y)
    least = np.mean((plain.values - y) ** 2)
    assert least < many < few
    np.testing.assert_array_equal(drawn(X, y, 3, 255).values, plain.values)


@pytest.mark.parametrize("missing", [False, True])
def test_few_values_keep_all_of_their_cuts(missing):
    random = np.random.default_rng(2)
    X = random.integers(0, 12, size=(500, 3)).astype(float)
    y = (X[:, 1] > 7) + 0.01 * random.normal(size=500)
    if missing:
        X[random.random(X.shape) < 0.1] = np.nan
    plain = ab.weak.Tree(8).project(Space(X), y)
    np.testing.assert_array_equal(drawn(X, y, 7, 1, 8).values, plain.values)


def test_the_cut_that_parts_missing_values_is_always_looked_at():
    X, y = table(p=1)
    lost = np.arange(len(y)) % 2 == 0
    X[lost] = np.nan
    for key in range(20):
        found = drawn(X, y + 100.0 * lost, key, 1).values
        np.testing.assert_array_equal(found > found.mean(), lost)
    # Elsewhere missing values go to the side that they are like.
    low = X[:, 0] < np.nanmedian(X)
    for key in range(20):
        found = drawn(X, np.where(lost, -1.0, np.where(low, -1.0, 1.0)), key, 1).values
        assert (found[lost] <= found.mean()).all()


@pytest.mark.parametrize(
    "given", [{}, {"min_leaf_weight": 3.0, "l2": 1.0}, {"monotone": (1, 0, 0, 0, 0, -1)}]
)
def test_the_same_model_for_any_threads_and_order(given):
    X, y = table()
    X[::7, 2] = np.nan
    order = np.random.default_rng(1).permutation(len(X))
    given = {"learner": ab.weak.Tree(8, node_thresholds=2, node_features=0.7, **given), "rounds": 6}
    one, other = ab.boost(X, y, n_threads=1, **given), ab.boost(X[order], y[order], n_threads=2, **given)
    np.testing.assert_array_equal(one.scores[order], other.scores)
    assert not np.array_equal(ab.boost(X, y, random_state=1, **given).scores, one.scores)


def test_vectors_and_curvature_draw_too():
    X, y = table()
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6]))
    given = {"loss": "softmax", "rounds": 5}
    drawn = ab.boost(X, labels, learner=ab.weak.Tree(8, node_thresholds=1), curvature=True, **given)
    plain = ab.boost(X, labels, learner=ab.weak.Tree(8), curvature=True, **given)
    assert plain.steps[-1].loss < drawn.steps[-1].loss < drawn.start_loss


def test_files_keep_them(tmp_path):
    X, y = table()
    run = ab.boost(X, y, learner=ab.weak.Tree(8, node_thresholds=3), rounds=2)
    ab.save(run, tmp_path / "run")
    assert ab.load(tmp_path / "run").learner == run.learner


@pytest.mark.parametrize("bad", [0, 1.5, "all"])
def test_bad_counts_are_refused(bad):
    with pytest.raises((ValueError, TypeError), match="node_thresholds"):
        ab.weak.Tree(node_thresholds=bad)
