"""Importances and Shapley values of estimators."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.tree import DecisionTreeRegressor

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor


def frame(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": random.normal(size=n),
            "kind": pd.Categorical(random.choice(["a", "b", "c", "d"], size=n)),
            "noise": random.normal(size=n),
        }
    )
    y = 2.0 * X["size"] + X["kind"].isin(["b", "d"]) + 0.1 * random.normal(size=n)
    return X, y.to_numpy()


def test_importances_are_shares_and_the_columns_that_matter_come_first():
    X, y = frame()
    model = BoostingRegressor(max_iter=30).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.importances("split").sum() == pytest.approx(1.0)
    for kind in ("gain", "shap", "permutation"):
        assert np.argsort(model.importances(kind, X, y)).tolist() == [2, 1, 0]
    np.testing.assert_array_equal(model.importances(), model.feature_importances_)
    trees = model.ensemble_.hypotheses
    cuts = np.concatenate([tree.feature[tree.feature >= 0] for tree in trees])
    np.testing.assert_allclose(model.importances("split"), np.bincount(cuts, minlength=3) / len(cuts))


def test_values_add_up_to_raw_scores():
    X, y = frame()
    classes = np.digitize(y, [-1.0, 1.0])
    for model, target in (
        (BoostingRegressor(max_iter=20, loss="poisson"), np.exp(y / 4)),
        (BoostingClassifier(max_iter=20), classes > 1),
        (BoostingClassifier(max_iter=20), classes),
        (BoostingRegressor(max_iter=10), np.column_stack([y, -y])),
    ):
        model.fit(X, target)
        raw = model.ensemble_.predict(model._table(X))
        for background in (None, X[:20]):
            told = model.explanation(X[:50], background)
            assert told.feature_names == ["size", "kind", "noise"]
            np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), raw[:50], atol=1e-9)
        pairs = model.shap_interaction_values(X[:5])
        np.testing.assert_allclose(pairs.sum(axis=2), model.shap_values(X[:5]), atol=1e-9)
        assert model.importances("shap", X).shape == (3,)


def test_an_encoded_column_is_one():
    X, y = frame()
    classes = np.digitize(y, [-1.0, 1.0])
    model = BoostingClassifier(max_iter=10, categorical_encoding="target").fit(X, classes)
    assert model.ensemble_.n_features > 3
    told = model.explanation(X[:30])
    assert told.values.shape == (30, 3, 3)
    raw = model.ensemble_.predict(model._table(X[:30]))
    np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), raw, atol=1e-9)
    assert model.feature_importances_.shape == (3,)


def test_selectors_of_scikit_learn_take_them():
    X, y = frame()
    X = X[["size", "noise"]].to_numpy()
    assert RFE(BoostingRegressor(max_iter=10), n_features_to_select=1).fit(X, y).support_.tolist() == [
        True,
        False,
    ]
    assert SelectFromModel(BoostingRegressor(max_iter=10)).fit(X, y).get_support().tolist() == [True, False]


def test_files_keep_what_explanations_need(tmp_path):
    X, y = frame()
    model = BoostingRegressor(max_iter=5).fit(X, y)
    ab.save(model, tmp_path / "model.anyboost")
    again = ab.load(tmp_path / "model.anyboost")
    np.testing.assert_array_equal(again.shap_values(X), model.shap_values(X))
    np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


def test_what_cannot_be_told_is_said():
    X, y = frame()
    model = BoostingRegressor(max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match=r"importances\('permutation'\) needs X and y"):
        model.importances("permutation", X)
    with pytest.raises(ValueError, match="kind must be"):
        model.importances("gains")
    with pytest.raises(ValueError, match="background must have one row or more"):
        model.shap_values(X, X[:0])
    with pytest.raises(ValueError, match="feature"):
        model.shap_values(X, X[["size"]])
    with pytest.raises(ValueError, match="background must be rows with the columns of the fit"):
        model.shap_values(X, X.rename(columns={"size": "length"}))
    nets = BoostingRegressor(learner="net", max_iter=3).fit(X[["size"]], y)
    assert not hasattr(nets, "feature_importances_")
    with pytest.raises(TypeError, match=r"sum of NetFunction, .* use a model-agnostic explainer"):
        nets.shap_values(X[["size"]])
    assert nets.importances("permutation", X[["size"]], y).shape == (1,)
    foreign = ab.weak.Estimator(DecisionTreeRegressor(max_depth=2))
    foreign = BoostingRegressor(learner=foreign, max_iter=2).fit(X[["size"]], y)
    with pytest.raises(TypeError, match=r"sum of EstimatorFunction, .* such as shap.PermutationExplainer"):
        foreign.shap_values(X[["size"]])
    with pytest.raises(AttributeError, match=r'has no cuts: use importances\("permutation", X, y\)'):
        foreign.feature_importances_  # noqa: B018
    with pytest.raises(TypeError, match="shapes are those of trees"):
        foreign.shapes()


def test_a_file_from_before_nodes_kept_their_cover_says_so():
    kept = Path(__file__).parents[1] / "files" / "kinds_1" / "regressor.safetensors"
    old, rows = ab.load(kept), pd.DataFrame(json.loads(kept.with_suffix(".json").read_text())["rows"])
    rows["color"] = pd.Categorical(rows["color"], categories=["blue", "green", "red"])
    rows = rows.astype({"b": float})
    with pytest.raises(
        ValueError, match="older version, whose trees do not know how many rows went each way"
    ):
        old.shap_values(rows)
    with pytest.raises(ValueError, match="older version, whose trees do not know what their cuts gained"):
        old.feature_importances_  # noqa: B018
    # What asks no node for its rows is told all the same.
    assert old.importances("split").sum() == pytest.approx(1.0)
    told = old.shap_values(rows, rows[:4])
    raw = old.ensemble_.predict(old._table(rows))
    np.testing.assert_allclose(told.sum(axis=1), raw - raw[:4].mean(), atol=1e-9)


def test_rankers_are_explained_too():
    random = np.random.default_rng(0)
    X, qid = random.normal(size=(120, 3)), np.repeat(np.arange(12), 10)
    y = (X[:, 0] > 0.3).astype(int)
    model = BoostingRanker(max_iter=10).fit(X, y, qid=qid)
    assert model.feature_importances_.argmax() == 0
    told = model.explanation(X)
    np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), model.predict(X), atol=1e-9)
