"""A keyword of another library is answered, in one sentence, with ours: nobody has to search the signature."""

import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor, keywords

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12.0)
KINDS = (BoostingRegressor, BoostingClassifier, BoostingRanker)


def arguments(function):
    return set(inspect.signature(function).parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimator_and_its_fit_say_what_a_foreign_keyword_is_here(kind):
    for name, ours in keywords.OURS.items():
        words = re.escape(f"has no argument {name!r}: use {ours.estimators}")
        if name not in kind().get_params():
            with pytest.raises(TypeError, match=f"^{kind.__name__} {words}$"):
                kind(**{name: 3})
            with pytest.raises(ValueError, match=f"^{kind.__name__} {words}$"):
                kind().set_params(**{name: 3})
        if name not in arguments(kind.fit):
            with pytest.raises(TypeError, match=f"^fit {words}$"):
                kind().fit(X, Y, **{name: 3})


def test_boost_says_what_a_foreign_keyword_is_here():
    for name in set(keywords.OURS) - arguments(ab.boost):
        with pytest.raises(TypeError, match=re.escape(f"boost has no argument {name!r}: use ")):
            ab.boost(X, Y, **{name: 3})
    for name, ours in (("n_estimators", "rounds"), ("n_jobs", "n_threads"), ("colsample_bytree", "feature_")):
        assert keywords.OURS[name].boost.startswith(ours)


def test_what_is_advised_exists():
    in_estimators = arguments(BoostingClassifier) | arguments(BoostingRanker.fit)
    for ours in keywords.OURS.values():
        assert re.match(r"\w+", ours.estimators)[0] in in_estimators
        assert re.match(r"\w+", ours.boost)[0] in arguments(ab.boost)
        tree = re.search(r"Tree\((\w+)=", ours.boost)
        assert tree is None or tree[1] in arguments(ab.weak.Tree)


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
