"""Partial dependence is that of scikit-learn, which predicts all rows at every point of the grid."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import partial_dependence

import anyboost as ab
from anyboost.ensemble import Ensemble

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4)).round(1)
HOLES = X.copy()
HOLES[::7, 1] = np.nan
Y = X[:, 0] * X[:, 1] + np.abs(X[:, 2])
SMALL = {"max_iter": 8, "max_leaf_nodes": 6, "min_leaf_weight": 2.0, "random_state": 0}


def labels(count):
    return np.array(list("abcdef"))[np.digitize(Y, np.quantile(Y, np.arange(1, count) / count))]


def regressor(loss="squared", y=Y, table=X, **given):
    return ab.BoostingRegressor(loss, **(SMALL | given)).fit(table, y)


def linear():
    return ab.BoostingRegressor(learner="linear", max_iter=8).fit(X, Y)


def classifier(count=2, **given):
    return ab.BoostingClassifier(**(SMALL | given)).fit(X, labels(count))


MODELS = {
    "numbers": (lambda: regressor(), X),
    "stumps": (lambda: regressor(max_leaf_nodes=2), X),
    "missing values": (lambda: regressor(table=HOLES), HOLES),
    "counts": (lambda: regressor("poisson", np.exp(Y)), X),
    "quantiles": (lambda: regressor("multi_quantile:0.1,0.5,0.9", conformal=None), X),
    "several targets": (lambda: regressor(y=np.column_stack([Y, -2.0 * X[:, 0]])), X),
    "linear leaves": (lambda: regressor(leaf="linear"), X),
    "linear functions": (lambda: linear(), X),
    "two classes": (lambda: classifier(2), X),
    "three classes": (lambda: classifier(3), X),
    "calibrated": (lambda: classifier(3, calibration="temperature"), X),
    "no probabilities": (lambda: classifier(2, loss="hinge"), X),
}


@pytest.mark.parametrize("features", [[0], [1], (0, 1), [3, 2]], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_means_and_curves_are_those_of_predicting_at_every_point(name, features):
    made, table = MODELS[name]
    model, filled = made(), table[~np.isnan(table).any(axis=1)]
    weights = np.linspace(0.5, 2.0, len(filled))
    given = {"features": features, "grid_resolution": 7, "kind": "both"}
    found = model.partial_dependence(filled, sample_weight=weights, **given)
    expected = partial_dependence(model, filled, sample_weight=weights, method="brute", **given)
    for ours, theirs in zip(found.grid_values, expected.grid_values, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.average, expected.average, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.individual, expected.individual, rtol=1e-10, atol=1e-10)
    alone = model.partial_dependence(filled, sample_weight=weights, **given | {"kind": "average"})
    np.testing.assert_allclose(alone.average, expected.average, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("count", [2, 3])
def test_a_classifier_s_scores_are_to_be_had(count):
    model, given = classifier(count), {"features": (0, 2), "grid_resolution": 6}
    found = model.partial_dependence(X, response_method="decision_function", **given)
    expected = partial_dependence(model, X, response_method="decision_function", method="brute", **given)
    np.testing.assert_allclose(found.average, expected.average, rtol=1e-10, atol=1e-10)


def test_a_ranker_has_its_scores():
    query = np.arange(150) // 10
    model = ab.BoostingRanker(**SMALL).fit(X, np.digitize(Y, [0.0, 1.0]), qid=query)
    found = model.partial_dependence(X, [1], grid_resolution=5)
    for value, mean in zip(found.grid_values[0], found.average[0], strict=True):
        moved = X.copy()
        moved[:, 1] = value
        assert mean == pytest.approx(model.predict(moved).mean(), abs=1e-10)


def shops(n=150):
    frame = pd.DataFrame({"size": X[:n, 0], "town": RNG.choice(["here", "there", "far"], n)})
    frame["street"] = pd.Categorical([f"s{number}" for number in RNG.integers(0, 12, n)])
    frame["age"] = HOLES[:n, 1]
    return frame, Y[:n] + (frame["town"] == "far") * frame["size"] + (frame["street"] == "s3")


def by_hand(model, frame, columns, values):
    """The mean prediction where the columns have these values, by predicting the frame so changed."""
    changed = frame.copy()
    for column, value in zip(columns, values, strict=True):
        changed[column] = pd.Series([value] * len(frame), dtype=frame[column].dtype, index=frame.index)
    return model.predict(changed).mean()


@pytest.mark.parametrize("encoding", ["subset", "target"])
@pytest.mark.parametrize(
    "columns", [["town"], ["town", "size"], ["street", "town"], ["age", "street"]], ids=str
)
def test_categories_and_missing_cells_are_as_in_predict(columns, encoding):
    frame, y = shops()
    model = ab.BoostingRegressor(categorical_encoding=encoding, **SMALL).fit(frame, y)
    found = model.partial_dependence(frame, columns, grid_resolution=4)
    assert found.average.shape == (1, *map(len, found.grid_values))
    for place in np.ndindex(found.average.shape[1:]):
        values = [axis[i] for axis, i in zip(found.grid_values, place, strict=True)]
        assert found.average[(0, *place)] == pytest.approx(by_hand(model, frame, columns, values), abs=1e-10)


@pytest.mark.filterwarnings("ignore:.*saw none of these levels")
def test_values_of_one_s_own_may_be_missing_unsorted_and_unseen():
    frame, y = shops()
    model = ab.BoostingRegressor(**SMALL).fit(frame, y)
    given = {"age": [1.0, np.nan, -2.0], "town": ["far", None, "nowhere"]}
    found = model.partial_dependence(frame, ["age", "town"], custom_values=given)
    for i, age in enumerate(given["age"]):
        for j, town in enumerate(given["town"]):
            expected = by_hand(model, frame, ["age", "town"], [age, town])
            assert found.average[0, i, j] == pytest.approx(expected, abs=1e-10)


def walked(tree, values, node=0):
    """The value of a tree where columns have these values, and rows go both ways at other cuts, in their shares."""
    if tree.feature[node] < 0:
        return tree.value[node, 0]
    left, right = tree.left[node], tree.right[node]
    if tree.feature[node] in values:
        return walked(tree, values, left if values[tree.feature[node]] <= tree.threshold[node] else right)
    return sum(tree.cover[child] / tree.cover[node] * walked(tree, values, child) for child in (left, right))


@pytest.mark.parametrize("features", [[2], [0, 1]], ids=str)
def test_recursion_weighs_by_the_cover_of_nodes(features):
    model = regressor("poisson", np.exp(Y))
    found = model.partial_dependence(X, features, method="recursion", grid_resolution=6)
    for place in np.ndindex(found.average.shape[1:]):
        values = {column: axis[i] for column, axis, i in zip(features, found.grid_values, place, strict=True)}
        expected = model.ensemble_.start[0] + sum(
            c * walked(tree, values)
            for c, tree in zip(model.ensemble_.coefficients, model.ensemble_.hypotheses, strict=True)
        )
        assert found.average[(0, *place)] == pytest.approx(expected, abs=1e-10)


def test_recursion_of_one_tree_is_that_of_scikit_learn_s_boosting():
    """One tree of two leaves, of the same rows: both go the same ways with the same shares."""
    theirs = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0, min_samples_leaf=1, early_stopping=False
    ).fit(X, Y)
    ours = ab.BoostingRegressor(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0, min_leaf_weight=1.0, preset="paper"
    ).fit(X, Y)
    for features in ([0], [1], [2], [0, 2]):
        found = ours.partial_dependence(X, features, method="recursion", grid_resolution=5)
        expected = partial_dependence(theirs, X, features, method="recursion", grid_resolution=5)
        np.testing.assert_allclose(
            found.average, expected.average + Y.mean(), atol=1e-6
        )  # theirs are float32


def test_linear_functions_have_the_means_of_the_training_rows_in_recursion():
    model = linear()
    found = model.partial_dependence(X, [1], method="recursion", grid_resolution=5)
    expected = model.partial_dependence(X, [1], grid_resolution=5)  # X are the training rows
    np.testing.assert_allclose(found.average, expected.average, rtol=1e-12)


@pytest.mark.parametrize(("name", "most"), [("numbers", 0), ("three classes", 0), ("linear leaves", 20)])
def test_a_pair_on_the_default_grid_is_not_predicted_point_by_point(monkeypatch, name, most):
    """10,000 points: predicting the rows at each took 101 s."""
    model, asked = MODELS[name][0](), []
    predict = Ensemble.predict
    monkeypatch.setattr(Ensemble, "predict", lambda *given: asked.append(1) or predict(*given))
    table = RNG.normal(size=(120, 4))
    assert model.partial_dependence(table, (0, 1)).average.shape[1:] == (100, 100)
    assert len(asked) <= most


def test_scikit_learn_draws_what_is_found():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot as plt

    frame, y = shops()
    model = ab.BoostingRegressor(**SMALL).fit(frame, y)
    display = ab.plot.partial_dependence(model, frame, ["size", "town", ("size", "age")], grid_resolution=9)
    assert type(display).__name__ == "PartialDependenceDisplay"
    line = display.lines_[0, 0]
    found = model.partial_dependence(frame, "size", grid_resolution=9)
    np.testing.assert_allclose(line.get_xdata(), found.grid_values[0])
    np.testing.assert_allclose(line.get_ydata(), found.average[0])
    heights = [bar.get_height() for bar in display.axes_[0, 1].patches]
    np.testing.assert_allclose(heights, model.partial_dependence(frame, "town").average[0])
    plt.close("all")
    with pytest.raises(ValueError, match="town' and 'size"):
        ab.plot.partial_dependence(model, frame, [("town", "size")])
    with pytest.raises(ValueError, match="target must be between 0 and 0, got 1"):
        ab.plot.partial_dependence(model, frame, ["size"], target=1)


REFUSED = {
    "no such column": ({"features": 9}, "features holds column 9"),
    "no such name": ({"features": "size"}, "X has no column names"),
    "one column twice": ({"features": [1, 1]}, "names a column twice"),
    "no column": ({"features": []}, "features is empty"),
    "a method": ({"method": "fast"}, "method must be"),
    "a kind": ({"kind": "ice"}, "kind must be"),
    "one point": ({"grid_resolution": 1}, "grid_resolution must be"),
    "percentiles": ({"percentiles": (0.9, 0.1)}, "percentiles must rise"),
    "weights": ({"sample_weight": [1.0]}, "sample_weight must have one weight a row"),
    "a response": ({"response_method": "predict_proba"}, "response_method must be"),
    "curves by recursion": ({"method": "recursion", "kind": "both"}, "gives the mean over the training rows"),
    "other values": ({"custom_values": {1: [0.0]}}, "which features has not"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_a_sentence(name):
    given, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        regressor().partial_dependence(X, **{"features": 0, **given})


def test_models_that_have_none_say_what_to_do():
    init = ab.BoostingRegressor(init=ab.BoostingRegressor(**SMALL), **SMALL).fit(X, Y)
    with pytest.raises(ValueError, match=r"sklearn\.inspection\.partial_dependence"):
        init.partial_dependence(X, 0)
    with pytest.raises(TypeError, match='use method="brute"'):
        regressor(leaf="linear").partial_dependence(X, 0, method="recursion")
    with pytest.raises(ValueError, match="custom_values"):
        regressor(table=HOLES).partial_dependence(np.where(np.arange(4) == 1, np.nan, X), 1)
