"""Shapley values of trees: against all coalitions of small ones, and additive at any depth."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

import anyboost as ab
from anyboost.explain import shap
from anyboost.explain.games import games_of
from anyboost.weak import Tree


def table(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = np.column_stack([random.integers(0, 7, n).astype(float), random.normal(size=(n, 4))])
    y = np.isin(X[:, 0], [1, 4]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.1 * random.normal(size=n)
    X[random.random(X.shape) < 0.1] = np.nan
    return X, y


def goes_left(tree, node, x):
    number = tree.category_set[node]
    if number < 0:
        return bool(tree.missing_left[node]) if np.isnan(x) else x <= tree.threshold[node]
    first, size, bins = tree.categories
    column = tree.feature[node]
    entry = 255 if np.isnan(x) or x >= size[column] else bins[first[column] + int(x)]
    return bool(tree.category_sets[number, entry >> 5] >> np.uint32(entry & 31) & 1)


def worth(tree, row, kept, other=None, node=0):
    """What a tree tells a row of which some players are kept; the others go both ways, or as another row does."""
    column = tree.feature[node]
    if column < 0:
        return tree.value[node]
    children = int(tree.left[node]), int(tree.right[node])
    if column in kept or other is not None:
        x = (row if column in kept else other)[column]
        return worth(tree, row, kept, other, children[0 if goes_left(tree, node, x) else 1])
    shares = tree.cover[list(children)] / tree.cover[node]
    return sum(
        share * worth(tree, row, kept, None, child) for share, child in zip(shares, children, strict=True)
    )


def brute_force(value, d):
    """Shapley values, and interactions, of a game by all of its coalitions."""
    v = {S: value(frozenset(S)) for size in range(d + 1) for S in combinations(range(d), size)}
    phi = np.zeros((d, *np.shape(v[()])))
    pairs = np.zeros((d, d, *np.shape(v[()])))
    for S in v:
        out = [i for i in range(d) if i not in S]
        for i in out:
            gain = v[tuple(sorted((*S, i)))] - v[S]
            phi[i] += factorial(len(S)) * factorial(d - len(S) - 1) / factorial(d) * gain
            for j in out:
                if j != i:
                    both = v[tuple(sorted((*S, i, j)))] - v[tuple(sorted((*S, j)))] - gain
                    share = factorial(len(S)) * factorial(d - len(S) - 2) / (2 * factorial(d - 1))
                    pairs[i, j] += share * both
    for i in range(d):
        pairs[i, i] = phi[i] - pairs[i].sum(axis=0)
    return phi, pairs


def games(ensemble):
    terms = list(zip(ensemble.coefficients, ensemble.hypotheses, strict=True))
    return games_of(terms, ensemble.start, np.arange(ensemble.n_features))


CASES = {
    "trees": ("squared", Tree(9)),
    "deep, sampled columns": ("squared", Tree(16, node_features=0.5)),
    "vectors": ("softmax", Tree(5)),
    "a tree an output": ("softmax", Tree(4, outputs="each")),
    "stumps": ("absolute", "stump"),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_all_coalitions(name):
    X, y = table()
    loss, learner = CASES[name]
    y = np.digitize(y, [0.3, 1.2]) if loss == "softmax" else y
    run = ab.boost(X, y, loss, learner, rounds=3, categorical=[0], row_fraction=0.8, random_state=0)
    model = run.ensemble
    rows = X[[0, 5, 17]]
    found = shap.values(games(model), rows, 5)
    pairs = shap.interactions(games(model), rows, 5)
    background = X[30:36]
    against = shap.values_by_background(games(model), rows, background, 5)
    trees = [
        (c, tree, slice(j, j + 1) if len(parts) > 1 else slice(None))
        for c, h in zip(model.coefficients, model.hypotheses, strict=True)
        for parts in [getattr(h, "trees", (h,))]
        for j, tree in enumerate(parts)
    ]

    def game(row, other=None):
        def value(kept):
            total = np.zeros(model.outputs)
            for c, tree, output in trees:
                total[output] += c * worth(tree, row, kept, other)
            return total

        return value

    for place, row in enumerate(rows):
        phi, both = brute_force(game(row), 5)
        np.testing.assert_allclose(found[place], phi, atol=1e-12)
        np.testing.assert_allclose(pairs[place], both, atol=1e-12)
        means = np.mean([brute_force(game(row, other), 5)[0] for other in background], axis=0)
        np.testing.assert_allclose(against[place], means, atol=1e-12)


@pytest.mark.parametrize("leaves", [31, 400])
def test_values_add_up_at_any_depth_and_in_any_threads(leaves):
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 40))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X).sum(axis=1)
    model = ab.boost(X, y, "squared", Tree(leaves), rounds=4).ensemble
    own = games(model)
    assert leaves == 31 or own.most_players > 10
    found = shap.values(own, X[:200], 40)
    total = own.constant + found.sum(axis=1)
    size = np.abs(own.constant) + np.abs(found).sum(axis=1)
    assert np.all(np.abs(total[:, 0] - model.predict(X[:200])) <= 1e-9 * size[:, 0])
    np.testing.assert_array_equal(shap.values(own, X[:200], 40, n_threads=3), found)
    against = shap.values_by_background(own, X[:20], X[50:60], 40)
    np.testing.assert_allclose(
        against.sum(axis=1)[:, 0], model.predict(X[:20]) - model.predict(X[50:60]).mean(), atol=1e-9
    )


def test_columns_of_one_source_are_one_player():
    X, y = table()
    X = np.nan_to_num(X[:, 1:4])
    model = ab.boost(X, y, "squared", Tree(8), rounds=3).ensemble
    terms = list(zip(model.coefficients, model.hypotheses, strict=True))
    merged = games_of(terms, model.start, np.array([0, 1, 1]))
    found = shap.values(merged, X[:3], 2)
    for place, row in enumerate(X[:3]):

        def value(kept, row=row):
            columns = {c for c, player in enumerate((0, 1, 1)) if player in kept}
            return sum(c * worth(tree, row, columns) for c, tree in terms)

        np.testing.assert_allclose(found[place], brute_force(value, 2)[0], atol=1e-12)


def test_what_is_not_a_sum_of_trees_with_constant_leaves_is_refused():
    X, y = table()
    X = np.nan_to_num(X)
    with pytest.raises(
        TypeError,
        match="model is a sum of NetFunction, and Shapley values are computed of trees and linear functions",
    ):
        games(ab.boost(X[:40], y[:40], "squared", "net", rounds=1).ensemble)
    with pytest.raises(TypeError, match='trees of leaf="linear"'):
        games(ab.boost(X, y, "squared", Tree(4, leaf="linear"), rounds=2).ensemble)
