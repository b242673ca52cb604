"""A keyword of another library is answered, in one sentence, with ours: nobody has to search the signature."""

import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor, keywords

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12.0)
KINDS = (BoostingRegressor, BoostingClassifier, BoostingRanker)


def arguments(function):
    return set(inspect.signature(function).parameters)


def advice(ours):
    return ours if ours.startswith("leave it out") else f"use {ours}"


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_and_its_fit_say_what_a_foreign_keyword_is_here(kind):
    for name, ours in keywords.OURS.items():
        words = re.escape(f"has no argument {name!r}: {advice(ours.estimators)}")
        if name not in kind().get_params():
            with pytest.raises(TypeError, match=f"^{kind.__name__} {words}$"):
                kind(**{name: 3})
            with pytest.raises(ValueError, match=f"^{kind.__name__} {words}$"):
                kind().set_params(**{name: 3})
            if name not in arguments(kind.fit):
                where = re.escape(f", in {kind.__name__}(...)")
                with pytest.raises(TypeError, match=f"^fit {words}({where})?$"):
                    kind().fit(X, Y, **{name: 3})


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_before_the_fit_is_sent_there_and_what_is_said_in_it_there(kind):
    for name in ("verbose", "callbacks", "max_iter"):
        with pytest.raises(
            TypeError, match=rf"^fit has no .* '{name}': say it before, {kind.__name__}\({name}=...\)$"
        ):
            kind().fit(X, Y, **{name: 0})
    with pytest.raises(
        TypeError, match=rf"^fit .* 'n_estimators': use max_iter, in {kind.__name__}\(\.\.\.\)$"
    ):
        kind().fit(X, Y, n_estimators=3)
    with pytest.raises(
        TypeError, match=r"'sample_weight': give it to fit, as fit\(X, y, sample_weight=...\)$"
    ):
        kind(sample_weight=Y)


@pytest.mark.parametrize("kind", KINDS)
def test_predict_says_what_a_foreign_keyword_is_here(kind):
    for name, words in (
        ("pred_contrib", "shap_values"),
        ("pred_contribs", "shap_values"),
        ("pred_interactions", "shap_interaction_values"),
        ("pred_leaf", "apply"),
        ("output_margin", "decision_function"),
        ("raw_score", "decision_function"),
        ("iteration_range", "staged_predict"),
        ("base_margin", "offset"),
    ):
        for method in {"predict", "predict_proba"} & set(dir(kind)):
            with pytest.raises(TypeError, match=f"^{method} has no argument '{name}': use {words}"):
                getattr(kind(), method)(X, **{name: True})


def test_boost_says_what_a_foreign_keyword_is_here():
    for name in set(keywords.OURS) - arguments(ab.boost):
        words = re.escape(f"boost has no argument {name!r}: {advice(keywords.OURS[name].boost)}")
        with pytest.raises(TypeError, match=f"^{words}$"):
            ab.boost(X, Y, **{name: 3})
    for name, ours in (("n_estimators", "rounds"), ("n_jobs", "n_threads"), ("colsample_bytree", "feature_")):
        assert keywords.OURS[name].boost.startswith(ours)


def test_what_is_advised_exists():
    methods = set(dir(BoostingClassifier)) | set(dir(BoostingRegressor))
    in_estimators = arguments(BoostingClassifier) | arguments(BoostingRanker.fit) | methods
    for ours in keywords.OURS.values():
        if not ours.estimators.startswith("leave it out"):
            assert re.match(r"\w+", ours.estimators)[0] in in_estimators
            first = re.match(r"\w+", ours.boost)[0]
            assert first in arguments(ab.boost) or (first in methods and "of " in ours.boost)
        tree = re.search(r"Tree\((\w+)=", ours.boost)
        assert tree is None or tree[1] in arguments(ab.weak.Tree)


def test_an_attribute_of_another_library_is_answered_with_ours():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = BoostingRegressor(max_iter=2, callbacks=None).fit(frame, Y, X_val=frame, y_val=Y)
    for name, ours in keywords.ATTRIBUTES.items():
        assert not hasattr(model, name)
        assert name not in dir(model)
        with pytest.raises(AttributeError, match=f"^BoostingRegressor has no attribute '{name}': use "):
            getattr(model, name)
        for word in ours.split(", or "):
            found = re.match(r"(ab\.)?(\w+)", word)
            assert hasattr(ab if found[1] else model, found[2])
    with pytest.raises(AttributeError, match="no attribute 'zzz'"):
        _ = model.zzz
    with pytest.raises(AttributeError, match="needs"):  # a reason of one's own stays
        _ = BoostingClassifier("hinge", max_iter=1).fit(X, Y > 5).predict_proba
    assert clone(model).max_iter == pickle.loads(pickle.dumps(model)).max_iter == 2


def test_quantiles_that_cross_are_answered_with_those_that_do_not():
    for name in ("crossing", "quantile_alpha"):
        with pytest.raises(TypeError, match=r'never cross "multi_quantile:0.05,0.5,0.95"'):
            BoostingRegressor(**{name: True})
    with pytest.raises(ValueError, match=r'or take "multi_quantile:0.05,0.5,0.95" alone, whose'):
        BoostingRegressor("crossing", max_iter=1).fit(X, Y)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: BoostingRegressor(max_itr=3), "BoostingRegressor has no argument 'max_itr': use max_iter$"),
        (
            lambda: BoostingRegressor().fit(X, Y, sample_weights=Y),
            "fit has no argument .*: use sample_weight$",
        ),
        (lambda: ab.boost(X, Y, round=3), "boost has no argument 'round': use rounds$"),
        (
            lambda: BoostingRanker(zzz=3),
            r"BoostingRanker has no argument 'zzz': help\(BoostingRanker\) lists",
        ),
    ],
)
def test_a_misspelt_keyword_gets_the_nearest(act, words):
    with pytest.raises(TypeError, match=words):
        act()


def test_signatures_stay_what_scikit_learn_reads():
    assert list(BoostingRegressor().get_params())
    assert "kwargs" not in arguments(BoostingRegressor)
    assert {"sample_weight", "X_val"} <= arguments(BoostingRegressor.fit)
    model = pickle.loads(pickle.dumps(clone(BoostingClassifier(max_iter=3))))
    assert model.max_iter == 3
    with pytest.raises(ValueError, match="Invalid parameter 'zzz'"):
        model.set_params(zzz=3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mape", "use 'absolute' with sample_weight=1 / abs"),
        ("MAPE", "use 'absolute' with sample_weight=1 / abs"),
        ("CrossEntropy", "'logistic' for two, -1 and .1, 'softmax' for more"),
        ("reg:squaredlogerror", "use 'squared' on log"),
        ("survival:aft", "use 'cox'"),
        ("LogCosh", "use 'huber'"),
        ("MultiRMSE", "use 'squared'"),
    ],
)
def test_a_loss_of_another_library_is_not_taken_for_one_that_is_spelt_alike(name, words):
    with pytest.raises(ValueError, match=f"^loss '{name}' .*{words}"):
        BoostingRegressor(loss=name).fit(X, Y)


def test_what_stands_for_the_percentage_error_is_the_same_number():
    y, predicted = Y + 1.0, np.full(12, 3.0)
    loss = ab.losses.get("absolute").value(predicted, y, 1 / np.abs(y)) * np.sum(1 / np.abs(y))
    assert np.isclose(loss / len(y), np.mean(np.abs(y - predicted) / np.abs(y)))
