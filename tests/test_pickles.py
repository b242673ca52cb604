"""A pickled model is the model, and does not cost a file descriptor an array."""

import copy
import os
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import anyboost as ab

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] * X[:, 1] + RNG.normal(size=120) / 5
KINDS = np.digitize(Y, [-0.5, 0.5])
FRAME = pd.DataFrame(X, columns=list("abc")).assign(city=RNG.choice(["Oslo", "Rome", "Lima"], 120))
MODELS = {
    "trees": lambda: (ab.BoostingRegressor(max_iter=7), X, Y),
    "categories": lambda: (ab.BoostingRegressor(max_iter=7), FRAME, Y),
    "linear leaves": lambda: (ab.BoostingRegressor(max_iter=7, leaf="linear"), X, Y),
    "vectors": lambda: (ab.BoostingClassifier(max_iter=7), X, KINDS),
    "a tree an output": lambda: (ab.BoostingClassifier(max_iter=7, outputs="each"), X, KINDS),
    "linear": lambda: (ab.BoostingRegressor(learner="linear", max_iter=7), X, Y),
    "scikit-learn": lambda: (
        ab.BoostingRegressor(learner=ab.weak.Estimator(DecisionTreeRegressor(max_depth=2)), max_iter=3),
        X,
        Y,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_pickled_model_is_the_model(name):
    model, rows, y = MODELS[name]()
    model.fit(rows, y)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.predict(rows).tobytes() == model.predict(rows).tobytes()
        for one, other in zip(model.ensemble_.hypotheses, again.ensemble_.hypotheses, strict=True):
            assert type(one) is type(other)
            if hasattr(one, "feature"):
                assert other.feature.flags.writeable
                assert other.value.flags.c_contiguous == one.value.flags.c_contiguous
                assert (other.feature.tobytes(), other.value.tobytes()) == (
                    one.feature.tobytes(),
                    one.value.tobytes(),
                )
        assert again.fit(rows, y).predict(rows).tobytes() == model.predict(rows).tobytes()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are counted under /proc")
def test_a_model_mapped_from_a_file_keeps_few_descriptors_open(tmp_path):
    """A model of 2,000 trees took 20,000 of them, and the process could open nothing more."""
    model = ab.BoostingRegressor(max_iter=100, max_leaf_nodes=4).fit(X, Y)
    joblib.dump(model, tmp_path / "model.pkl")
    before = len(os.listdir("/proc/self/fd"))
    mapped = joblib.load(tmp_path / "model.pkl", mmap_mode="r")
    assert len(os.listdir("/proc/self/fd")) < before + 20
    assert mapped.predict(X).tobytes() == model.predict(X).tobytes()
    assert mapped.shap_values(X[:2]).tobytes() == model.shap_values(X[:2]).tobytes()


def test_a_pickle_of_an_earlier_version_loads():
    """Its terms lie one by one."""
    model = ab.boost(X, Y, "squared", "stump", rounds=3).ensemble
    again = ab.ensemble.Ensemble.__new__(ab.ensemble.Ensemble)
    again.__setstate__(vars(model) | {"_joined": None})
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
