"""treelite's own predictor gives what the model gives."""

import numpy as np
import pytest

import anyboost as ab
from export.models import MODELS, fitted
from export.random_models import random_model

treelite = pytest.importorskip("treelite")

REFUSED = {
    "joint quantiles": "sorted",
    "calibrated": "a calibration",
    "encoded": "encoded categories",
    "encoded classes": "encoded categories",
    "many levels": "encoded categories",
    "linear": "a linear function",
    "linear leaves": "linear leaves",
}


@pytest.mark.parametrize("name", [name for name in MODELS if name not in REFUSED])
def test_treelite_serves_the_same_numbers(name):
    model, X = fitted(name)
    numbers = np.ascontiguousarray(model._table(X), dtype=np.float64)
    served = treelite.gtil.predict(ab.export.to_treelite(model), numbers).reshape(len(numbers), -1)
    if not hasattr(model, "classes_"):
        wanted = model.predict(X)
    elif hasattr(model, "predict_proba") and name != "squared_hinge":
        wanted = model.predict_proba(X)
        wanted = wanted[:, 1] if wanted.shape[1] == 2 else wanted
    else:
        wanted = model._raw(X)
    np.testing.assert_allclose(served, wanted.reshape(len(numbers), -1), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", REFUSED)
def test_what_treelite_has_not_is_refused(name):
    with pytest.raises(ValueError, match=REFUSED[name]):
        ab.export.to_treelite(fitted(name)[0])


def test_random_sums_are_the_same_on_rows_with_holes():
    for seed in range(40):
        model = random_model(seed)
        if isinstance(model, ab.Run):
            X = np.random.default_rng(seed).normal(size=(50, model.ensemble.n_features))
            X[:, 0] = np.round(np.abs(20 * X[:, 0]))
            X[::7] = np.nan
            served = treelite.gtil.predict(ab.export.to_treelite(model.ensemble), X).ravel()
            np.testing.assert_allclose(served, model.ensemble.predict(X), rtol=1e-9, atol=1e-12)
