"""`Naive(LineSearch())` with the exponential loss and classifiers is AdaBoost, round by round.

With weights exp(-y f) the gradient's sign is the label that f gets wrong, projection (3) is the classifier of least
weighted error, and the exact step along it is 1/2 ln((1 - error) / error).
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import anyboost as ab
from anyboost.descent import Naive
from anyboost.steps import LineSearch

ROUNDS = 40
WEIGHTS = {"equal": np.ones(200), "floats": np.random.default_rng(0).uniform(0.2, 3, 200)}


@pytest.fixture(scope="module")
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :8], np.where(y[:200] == 1, 1, -1)


def adaboost(X, y, weights, rounds):
    """The scores after each round of Freund and Schapire's algorithm, with the best of all stumps."""
    weights, scores = weights / weights.sum(), np.zeros(len(y))
    stumps = [
        sign * np.where(column <= cut, 1, -1)
        for column in X.T
        for cut in (np.unique(column)[1:] + np.unique(column)[:-1]) / 2
        for sign in (1, -1)
    ]
    stumps = np.array(stumps)
    for _ in range(rounds):
        errors = (stumps != y) @ weights
        best = np.argmax(errors <= errors.min() + 1e-12)  # of equals the first column, and its lowest cut
        alpha = np.log((1 - errors[best]) / errors[best]) / 2
        scores = scores + alpha * stumps[best]
        weights = weights * np.exp(-alpha * y * stumps[best])
        weights /= weights.sum()
        yield scores


def boosted(X, y, learner, weights):
    run = ab.boost(
        X,
        y,
        "exponential",
        learner,
        Naive(LineSearch()),
        ROUNDS,
        start=0.0,
        sample_weight=weights,
        n_threads=1,
    )
    return list(run.ensemble.staged_predict(X, n_threads=1))


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_it_is_adaboost_over_stumps(rows, weights):
    X, y = rows
    for ours, theirs in zip(
        boosted(X, y, ab.weak.Classifier(), weights), adaboost(X, y, weights, ROUNDS), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_it_is_scikit_learns_adaboost_with_its_trees(rows, weights):
    """Whose trees cut by impurity, so that they are other stumps; SAMME's weights are twice alpha."""
    X, y = rows
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    peer = AdaBoostClassifier(tree, n_estimators=ROUNDS, random_state=0).fit(X, y, sample_weight=weights)
    assert len(peer.estimators_) == ROUNDS
    terms = [
        alpha / 2 * estimator.predict(X)
        for alpha, estimator in zip(peer.estimator_weights_, peer.estimators_, strict=True)
    ]
    ours = boosted(X, y, ab.weak.Classifier(tree), weights)
    np.testing.assert_allclose(ours, np.cumsum(terms, axis=0), rtol=0, atol=1e-11)
