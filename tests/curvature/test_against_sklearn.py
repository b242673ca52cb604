"""Without the cap and on data without ties, the same trees as scikit-learn's HistGradientBoosting."""

import math

import numpy as np
import pytest

import anyboost as ab
from anyboost.descent import Naive
from anyboost.weak import Tree
from curvature import oracle
from curvature.test_oracle import HISTOGRAMS, fit_histograms

CLASSES = {"logistic": ab.losses.Logistic, "poisson": ab.losses.Poisson, "softmax": ab.losses.Softmax}


@pytest.mark.parametrize("loss", HISTOGRAMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_same_cuts_and_values(loss, seed, monkeypatch):
    monkeypatch.setattr(CLASSES[loss], "farthest", math.inf)
    X, y, model, eta, options = fit_histograms(loss, seed)
    learner = Tree(**options, outputs="each")
    run = ab.boost(X, y, loss, learner, Naive(eta, curvature=True), model.n_iter_)
    for h, predictors in zip(run.ensemble.hypotheses, model._predictors, strict=True):
        for tree, predictor in zip(getattr(h, "trees", [h]), predictors, strict=True):
            cuts, values = oracle.walk_function(tree, X)
            theirs, their_values = oracle.walk_predictor(predictor, X)
            assert cuts == theirs
            np.testing.assert_allclose(-eta * values, their_values, atol=1e-6)
    np.testing.assert_allclose(run.scores, np.squeeze(model._raw_predict(X)), atol=1e-5)
