"""A model of one or two columns a path is the sum of its shapes, and these are those of the functional ANOVA."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor


def frame(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": random.normal(size=n),
            "kind": pd.Categorical(random.choice(["a", "b", "c", "d"], size=n)),
            "rooms": random.integers(0, 5, n).astype(float),
            "age": random.normal(size=n),
        }
    )
    y = 2.0 * X["size"] + X["kind"].isin(["b", "d"]) * (X["rooms"] > 2) + X["age"] * X["rooms"]
    for name in ("size", "kind"):
        X.loc[random.random(n) < 0.1, name] = None
    return X, y.fillna(0.0).to_numpy() + 0.1 * random.normal(size=n)


def cells(shape, X):
    """Where rows lie in a shape, by what its docstring says."""
    found = []
    for name, edges, levels in zip(shape.features, shape.edges, shape.levels, strict=True):
        column = X[name]
        if levels is None:
            found.append(np.where(column.isna(), len(edges) + 1, np.searchsorted(edges, column)))
        else:
            codes = {level: number for number, level in enumerate(levels)}
            other = codes.get("others", codes.get("never seen", len(levels)))
            found.append([len(levels) if value != value else codes.get(value, other) for value in column])
    return tuple(np.asarray(part, dtype=int) for part in found)


def assert_sum(model, X):
    shapes = model.shapes()
    raw = model.ensemble_.predict(model._table(X))
    total = shapes.intercept + sum(shape.values[cells(shape, X)] for shape in shapes)
    np.testing.assert_allclose(total + np.zeros(raw.shape), raw, rtol=0, atol=1e-9)
    return shapes


TREES = {
    "stumps": {"max_leaf_nodes": 2},
    "three leaves": {"max_leaf_nodes": 3},
    "pairs at any size": {"interaction_cst": "pairwise", "min_leaf_weight": 5},
    "one column a tree": {"interaction_cst": "no_interactions"},
    "encoded": {"max_leaf_nodes": 3, "categorical_encoding": "target"},
    "sampled": {"max_leaf_nodes": 3, "subsample": 0.5, "max_features": 0.5, "random_thresholds": True},
}


@pytest.mark.parametrize("name", TREES)
def test_intercept_curves_and_pairs_add_up_to_the_score(name):
    X, y = frame()
    weights = np.random.default_rng(1).uniform(0, 2, len(y))
    model = BoostingRegressor(max_iter=40, **TREES[name]).fit(X, y, sample_weight=weights)
    shapes = assert_sum(model, X)
    # Also at rows that training had none of: other numbers, missing where none was, and a level never seen.
    later, _ = frame(100, seed=5)
    later["age"] *= 10
    later.loc[::7, "rooms"] = None
    later["kind"] = later["kind"].astype(object).where(np.arange(100) % 5 > 0, "z")
    assert_sum(model, later)
    assert sum(shape.share for shape in shapes) == pytest.approx(1.0)
    assert sorted((shape.share for shape in shapes), reverse=True) == [shape.share for shape in shapes]
    assert all(len(shape.features) == 1 for shape in shapes) == (name in ("stumps", "one column a tree"))
    for shape in shapes:
        for axis in range(len(shape.features)):
            means = np.tensordot(shape.values, shape.mass[axis], axes=(axis, 0))
            np.testing.assert_allclose(means, 0.0, atol=1e-9)
            of_rows = np.bincount(cells(shape, X)[axis], weights, minlength=len(shape.mass[axis]))
            np.testing.assert_allclose(shape.mass[axis], of_rows / weights.sum(), atol=1e-12)


def test_terms_and_shares_are_those_of_the_functional_anova_of_all_cells():
    X, y = frame()
    X, y = X[["size", "kind", "rooms"]], y
    model = BoostingRegressor(max_iter=15, interaction_cst="pairwise", max_leaf_nodes=5).fit(X, y)
    shapes = model.shapes()
    curves = [shapes[name] for name in X.columns]
    # A row for every combination of cells, and what the model says of it: nothing below knows of trees.
    values = [
        [*(curve.edges[0] if curve.levels[0] is None else curve.levels[0])]
        + ([1e9] if curve.levels[0] is None else [])
        + [None]
        for curve in curves
    ]
    grid = pd.DataFrame(list(product(*values)), columns=X.columns)
    grid = grid.astype({"size": float, "rooms": float})
    f = model.predict(grid).reshape([len(part) for part in values])
    m = [curve.mass[0] for curve in curves]
    mean = np.einsum("abc,a,b,c", f, *m)
    assert shapes.intercept == pytest.approx(mean)
    single = [
        np.einsum(f"abc,{two},{three}->{one}", f, *(m["abc".index(o)] for o in (two, three))) - mean
        for one, two, three in ("abc", "bac", "cab")
    ]
    for curve, expected in zip(curves, single, strict=True):
        np.testing.assert_allclose(curve.values, expected, atol=1e-9)
    variance = np.einsum("abc,a,b,c", (f - mean) ** 2, *m)
    for curve, expected, mass in zip(curves, single, m, strict=True):
        assert curve.share == pytest.approx(mass @ expected**2 / variance)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        (k,) = {0, 1, 2} - {i, j}
        both = np.tensordot(f, m[k], axes=(k, 0)) - mean - single[i][:, None] - single[j]
        pair = shapes[X.columns[j], X.columns[i]]
        assert pair.share == pytest.approx(m[i] @ both**2 @ m[j] / variance)
        # A pair has the cells that it needs, each of which is a block of those of its columns.
        blocks = [
            np.arange(len(m[number]))
            if curves[number].levels[0] is not None
            else np.append(np.searchsorted(pair.edges[axis], [*curves[number].edges[0], np.inf]), -1)
            for axis, number in enumerate((i, j))
        ]
        np.testing.assert_allclose(pair.values[np.ix_(*blocks)], both, atol=1e-9)


def test_several_outputs_have_a_curve_each():
    X, y = frame()
    kinds = np.digitize(y, [-1.0, 1.0])
    for outputs in ("joint", "each"):
        model = BoostingClassifier(max_iter=10, max_leaf_nodes=3, outputs=outputs, class_weight="balanced")
        shapes = assert_sum(model.fit(X, kinds), X)
        assert shapes.intercept.shape == (3,)
        assert shapes["size"].values.shape == (len(shapes["size"].edges[0]) + 2, 3)
        assert shapes["size"].missing().shape == (3,)
    encoded = BoostingClassifier(max_iter=10, max_leaf_nodes=3, categorical_encoding="target").fit(X, kinds)
    assert encoded.ensemble_.n_features > 4
    assert_sum(encoded, X)
    several = BoostingRegressor(max_iter=5, max_leaf_nodes=2).fit(X, np.column_stack([y, -y]))
    assert_sum(several, X)


def test_curves_of_stumps_are_their_shapley_values():
    X, y = frame()
    weights = np.random.default_rng(1).uniform(0, 2, len(y))
    model = BoostingRegressor(max_iter=40, max_leaf_nodes=2).fit(X, y, sample_weight=weights)
    shapes, told = model.shapes(), model.explanation(X)
    np.testing.assert_allclose(told.base_values, shapes.intercept)
    for shape in shapes:
        column = list(X.columns).index(shape.features[0])
        np.testing.assert_allclose(shape.values[cells(shape, X)], told.values[:, column], atol=1e-9)


def test_rankers_and_hazards_have_shapes_and_tables_may_be_single_precision():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3)).astype(np.float32)
    y = np.abs(X[:, 0] * 2 + X[:, 1] + random.normal(size=300)) + 0.1
    named = pd.DataFrame(X, columns=["a", "b", "c"])
    ranker = BoostingRanker(max_iter=10, max_leaf_nodes=3)
    ranker.fit(named, np.digitize(y, [1.0, 2.0]), qid=np.repeat(np.arange(30), 10))
    assert_sum(ranker, named)
    stopped = {"early_stopping": True, "validation_fraction": 0.3}
    assert_sum(BoostingRegressor("cox", max_iter=30, max_leaf_nodes=3, **stopped).fit(named, y), named)


def test_many_levels_and_numbers_as_categories():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"code": random.integers(0, 300, 2000).astype(str), "zone": random.integers(0, 9, 2000)})
    y = random.normal(size=300)[X["code"].astype(int)] + np.isin(X["zone"], [2, 5])
    for way in ("auto", "target"):
        model = BoostingRegressor(
            max_iter=20, max_leaf_nodes=3, categorical_features=["code", "zone"], categorical_encoding=way
        )
        shapes = assert_sum(model.fit(X, y), X)
        assert len(shapes["code"].levels[0]) == X["code"].nunique() + 1  # and those never seen
        assert shapes["zone"].levels[0][:9] == tuple(range(9))
    with pytest.warns(UserWarning, match="count as one"):
        model.set_params(categorical_encoding="subset").fit(X, y)
    assert assert_sum(model, X)["code"].levels[0][-1] == "others"


def test_files_keep_shapes(tmp_path):
    X, y = frame()
    path = tmp_path / "model.anyboost"
    for encoding in ("subset", "target"):
        model = BoostingRegressor(max_iter=10, max_leaf_nodes=3, categorical_encoding=encoding).fit(X, y)
        ab.save(model, path)
        for ours, theirs in zip(model.shapes(), ab.load(path).shapes(), strict=True):
            assert (ours.features, ours.levels, ours.share) == (theirs.features, theirs.levels, theirs.share)
            np.testing.assert_array_equal(ours.values, theirs.values)
            np.testing.assert_array_equal(ours.mass[0], theirs.mass[0])
    del model._marginals  # as after loading a file of an older version
    with pytest.raises(ValueError, match=r"older version, .* fit it anew"):
        model.shapes()


def test_a_constant_is_an_intercept():
    X, y = frame()
    shapes = BoostingRegressor(max_iter=3, max_leaf_nodes=2).fit(X, np.ones(len(y))).shapes()
    assert (len(shapes), shapes.intercept) == (0, 1.0)


def test_what_has_no_shapes_is_refused_in_a_sentence():
    X, y = frame()
    with pytest.raises(TypeError, match=r"columns on a path, .* max_leaf_nodes=2 or 3, or interaction_cst"):
        BoostingRegressor(max_iter=5, min_leaf_weight=5).fit(X, y).shapes()
    with pytest.raises(TypeError, match='trees of leaf="linear"'):
        BoostingRegressor(max_iter=3, max_leaf_nodes=3, leaf="linear").fit(X, y).shapes()
    with pytest.raises(TypeError, match="model is a sum of LinearFunction, and shapes are those of trees"):
        BoostingRegressor(max_iter=3, learner="linear").fit(X[["age"]], y).shapes()
    model = BoostingRegressor(max_iter=3, max_leaf_nodes=2).fit(X, y)
    with pytest.raises(KeyError, match="length is no term of the model"):
        model.shapes()["length"]
    other = BoostingRegressor(max_iter=20, max_leaf_nodes=2, random_thresholds=True).fit(X, y)
    model.ensemble_ = other.ensemble_
    with pytest.raises(ValueError, match="other trees than those that it was fitted with"):
        model.shapes()
