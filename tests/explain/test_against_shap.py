"""The package shap, given our trees as it takes them, says the same of them; and its plots take our explanations."""

import numpy as np
import pytest

from anyboost import BoostingClassifier, BoostingRegressor
from benchmarks.explain import as_shap_takes_it

shap = pytest.importorskip("shap", reason="needs the package shap: pip install shap")


def table(n=500):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 6))
    return X, X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * random.normal(size=n)


def test_values_and_interactions_are_those_of_shap_on_the_same_trees():
    X, y = table()
    model = BoostingRegressor(max_iter=20, subsample=0.7).fit(X, y)
    theirs = shap.TreeExplainer(as_shap_takes_it(model.ensemble_), feature_perturbation="tree_path_dependent")
    told = model.explanation(X[:50])
    assert theirs.expected_value == pytest.approx(told.base_values[0])
    np.testing.assert_allclose(theirs.shap_values(X[:50]), told.values, atol=1e-9)
    np.testing.assert_allclose(
        theirs.shap_interaction_values(X[:50]), model.shap_interaction_values(X[:50]), atol=1e-9
    )


def test_values_against_a_background_are_those_of_shap():
    X, y = table()
    model = BoostingClassifier(max_iter=10).fit(X, y > 0)
    background = X[200:240]
    theirs = shap.TreeExplainer(
        as_shap_takes_it(model.ensemble_), background, feature_perturbation="interventional"
    )
    told = model.explanation(X[:50], background)
    # Its weights of coalitions are single precision here.
    np.testing.assert_allclose(theirs.shap_values(X[:50]), told.values, atol=1e-7)


def test_linear_functions_are_those_of_shap():
    X, y = table()
    model = BoostingRegressor(learner="linear", max_iter=5).fit(X, y)
    weight = sum(
        c * h.weight for c, h in zip(model.ensemble_.coefficients, model.ensemble_.hypotheses, strict=True)
    )
    masker = shap.maskers.Independent(X[:40], max_samples=40)
    theirs = shap.LinearExplainer((weight[0], 0.0), masker).shap_values(X[:50])
    np.testing.assert_allclose(theirs, model.shap_values(X[:50], X[:40]), atol=1e-9)


def test_plots_of_shap_take_an_explanation():
    from matplotlib import pyplot as plt

    plt.switch_backend("Agg")
    X, y = table()
    told = BoostingRegressor(max_iter=5).fit(X, y).explanation(X).to_shap()
    try:
        ax = shap.plots.bar(told, show=False)
        assert "column 1" in {label.get_text() for label in ax.get_yticklabels()}
        shap.plots.waterfall(told[0], show=False)
    finally:
        plt.close("all")
