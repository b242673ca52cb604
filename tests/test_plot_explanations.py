"""Figures of what a model uses and why show the numbers of the model, and bad input gets a sentence."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRegressor, plot


@pytest.fixture(autouse=True)
def no_window_opens_and_no_figure_stays():
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def houses(n=500):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"rooms": random.integers(1, 8, n).astype(float), "age": random.uniform(0, 90, n)})
    X["district"] = pd.Categorical(random.choice(["north", "south", "port"], n))
    y = 30 * X["rooms"] - X["age"] + 50 * (X["district"] == "port") * (X["age"] > 40)
    X.loc[random.random(n) < 0.1, "age"] = np.nan
    return X, y.to_numpy() + random.normal(size=n)


X, Y = houses()
MODEL = BoostingRegressor(max_iter=60, max_leaf_nodes=3).fit(X, Y)


def labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_importances_are_bars_the_largest_first():
    for kind in ("gain", "split", "shap", "permutation"):
        found = MODEL.importances(kind, X, Y)
        ax = plot.importances(MODEL, kind, X, Y, top=2)
        assert [bar.get_width() for bar in ax.patches] == sorted(found, reverse=True)[:2]
        assert labels(ax.yaxis) == [X.columns[place] for place in np.argsort(-found)[:2]]
    own = Figure().add_subplot()
    assert plot.importances(MODEL, ax=own) is own


def test_a_waterfall_goes_from_the_base_to_the_score():
    row = X[3:4]
    told = MODEL.explanation(row)
    for given in (row, X.iloc[3]):
        ax = plot.why(MODEL, given)
        values = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(sorted(np.abs(values)), sorted(np.abs(told.values[0])))
        assert sorted(np.abs(values), reverse=True) == np.abs(values).tolist()
        assert ax.patches[0].get_x() == pytest.approx(told.base_values[0])
        last = ax.patches[-1]
        assert last.get_x() + last.get_width() == pytest.approx(MODEL.predict(row)[0])
        assert set(labels(ax.yaxis)) == {
            f"rooms = {row['rooms'].item():g}",
            f"age = {row['age'].item():.4g}",
            f"district = {row['district'].item()}",
        }


def test_a_row_of_an_array_may_be_flat():
    numbers = X[["rooms"]].to_numpy()
    model = BoostingRegressor(max_iter=3).fit(numbers, Y)
    for row in (numbers[0], numbers[:1], [numbers[0, 0]]):
        assert labels(plot.why(model, row).yaxis) == [f"column 0 = {numbers[0, 0]:g}"]


def test_what_has_no_bar_of_its_own_is_summed():
    row = X[X["age"].isna()][:1]
    ax = plot.why(MODEL, row, background=X[:50], top=1)
    told = MODEL.explanation(row, X[:50])
    most = np.abs(told.values[0]).argmax()
    assert labels(ax.yaxis)[-1] == "2 others"
    rest = told.values[0].sum() - told.values[0, most]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([told.values[0, most], rest])
    assert "age = missing" in labels(plot.why(MODEL, row).yaxis)


def test_of_several_classes_the_highest_score_is_explained():
    kinds = np.array(["low", "middle", "high"])[np.digitize(Y, [60.0, 150.0])]
    model = BoostingClassifier(max_iter=10).fit(X, kinds)
    for i in range(5):
        assert plot.why(model, X[i : i + 1]).get_xlabel() == f"raw score of {model.predict(X[i : i + 1])[0]}"
    assert plot.why(model, X[:1], output=2).get_xlabel() == "raw score of middle"
    two = BoostingClassifier(max_iter=3).fit(X, Y > 100)
    assert plot.why(two, X[:1]).get_xlabel() == "raw score of True"


def test_curves_show_the_values_and_the_rows():
    figure = plot.shapes(MODEL, ["rooms", "age", "district"])
    above, below = figure.axes[::2], figure.axes[1::2]
    for ax, rows, name in zip(above, below, ["rooms", "age", "district"], strict=True):
        shape = MODEL.shapes()[name]
        assert ax.get_title() == f"{name}, {shape.share:.1%}"
        drawn = [bar.get_height() for bar in rows.patches]
        assert sum(drawn) == pytest.approx(1.0)
        if name == "district":
            assert [bar.get_height() for bar in ax.patches] == shape.values[:3].tolist()
            assert labels(rows.xaxis) == ["north", "port", "south"]
            continue
        (stairs,) = [patch for patch in ax.patches if isinstance(patch, StepPatch)]
        values, edges, _ = stairs.get_data()
        np.testing.assert_array_equal(values, shape.values[:-1])
        np.testing.assert_array_equal(edges[1:-1], shape.edges[0])
        assert (edges[0], edges[-1]) == (X[name].min(), X[name].max())
        assert ("missing" in labels(rows.xaxis)) == (name == "age")
        if name == "age":
            assert drawn[-1] == pytest.approx(X["age"].isna().mean())
    assert len({ax.get_ylim() for ax in above}) == 1
    lowest, highest = above[0].get_ylim()
    for name in X.columns:
        values = MODEL.shapes()[name].values
        assert lowest <= values.min() <= values.max() <= highest
    figure.canvas.draw()


def test_a_pair_is_a_heat_map_with_missing_values_apart():
    shape = MODEL.shapes()["age", "district"]
    figure = plot.shapes(MODEL, [("district", "age")])
    ax = figure.axes[0]
    (mesh,) = [part for part in ax.collections if isinstance(part, QuadMesh)]
    drawn = mesh.get_array()
    np.testing.assert_allclose(drawn[:, :-2].T, shape.values[:-1, :3])
    assert drawn.mask[:, -2].all()
    np.testing.assert_allclose(drawn[:, -1], shape.missing(0)[:3])
    assert labels(ax.yaxis) == ["north", "port", "south"]
    figure.canvas.draw()


def test_without_features_the_largest_terms_are_drawn():
    shapes = MODEL.shapes()
    titles = [ax.get_title() for ax in plot.shapes(shapes, top=4).axes if ax.get_title()]
    assert [title.split(",")[0] for title in titles] == [" x ".join(shape.features) for shape in shapes][:4]


def test_several_outputs_are_lines_of_their_own():
    kinds = np.digitize(Y, [60.0, 150.0])
    model = BoostingClassifier(max_iter=10, max_leaf_nodes=3).fit(X, kinds)
    first = plot.shapes(model, ["rooms", ("rooms", "age"), "district"]).axes[0]
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["0", "1", "2"]
    only = plot.shapes(model, ["rooms"], output=1).axes[0]
    (stairs,) = [patch for patch in only.patches if isinstance(patch, StepPatch)]
    np.testing.assert_array_equal(stairs.get_data().values, model.shapes()["rooms"].values[:-1, 1])


def test_many_levels_and_columns_that_are_only_missing_or_not():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"code": random.integers(0, 40, 800).astype(str)})
    table["seen"] = np.where(random.random(800) < 0.5, 3.0, np.nan)
    model = BoostingRegressor(max_iter=30, max_leaf_nodes=2)
    model.fit(table, table["code"].astype(int) + 30 * table["seen"].isna())
    figure = plot.shapes(model)
    words = {text for ax in figure.axes for text in labels(ax.xaxis)}
    assert "missing" in words
    assert len(words & set(table["code"])) >= 15
    assert "the 15 levels of most rows" in {ax.get_xlabel() for ax in figure.axes}
    figure.canvas.draw()


def test_bad_input_gets_a_sentence():
    several = BoostingRegressor(max_iter=2, max_leaf_nodes=2).fit(X, np.column_stack([Y, -Y]))
    constant = BoostingRegressor(max_iter=2, max_leaf_nodes=2).fit(X, np.ones(len(Y)))
    run = ab.boost(X[["rooms"]].to_numpy(), Y, rounds=2)
    for bad, words in (
        (
            lambda: plot.why(MODEL, X[:2]),
            r"row must be one row of 3 columns, e.g. X\[:1\], got shape \(2, 3\)",
        ),
        (lambda: plot.why(MODEL, [1.0, 2.0]), r"row must be one row of 3 columns"),
        (lambda: plot.why(MODEL, X[:1], X[["age"]]), "background must be rows with the columns of the fit"),
        (lambda: plot.why(MODEL, X[:1], top=0), "top must be"),
        (lambda: plot.why(several, X[:1]), "model has 2 outputs: say which one to explain, output=0 to 1"),
        (lambda: plot.why(several, X[:1], output=2), "output must be"),
        (lambda: plot.why(run, X[:1]), "model must be a fitted boosting estimator, got Run"),
        (lambda: plot.why(BoostingRegressor(), X[:1]), "not fitted yet"),
        (lambda: plot.importances(run), "model must be a fitted boosting estimator, got Run"),
        (lambda: plot.importances(MODEL, "gains"), "kind must be"),
        (lambda: plot.shapes(run), "model must be a fitted boosting estimator, got Run"),
        (lambda: plot.shapes(constant), "model is a constant"),
        (
            lambda: plot.shapes(MODEL, ["length"]),
            r"features must be columns and pairs .* got \['length'\]; it uses: rooms",
        ),
        (lambda: plot.shapes(MODEL, "age"), "features must be a list of columns and pairs"),
        (lambda: plot.shapes(MODEL, [3.5]), "features must be columns and pairs"),
        (lambda: plot.shapes(MODEL, output=1), "output must be"),
        (lambda: plot.shapes(BoostingRegressor(max_iter=3).fit(X, Y)), "columns on a path"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            bad()
    assert plt.get_fignums() == []
