"""Watching a validation set: the same rounds are the best, and the same round the last, however a run is asked for."""

import math

import numpy as np
import pytest

import anyboost as ab
from anyboost.watching import Patience, best_round

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 4))
Y = X[:, 0] + 0.5 * np.abs(X[:, 1]) + RANDOM.normal(size=120)
TRAIN, VALID = slice(80), slice(80, None)


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        ([3.0, 1.0, 1.0, 2.0], 1),  # of equal ones the first
        ([1.0, 2.0], 0),
        ([2.0, math.nan, 1.0, math.nan], 2),
        ([math.nan, 5.0], 1),
        ([math.inf, math.inf], 0),
        ([], 0),
    ],
)
def test_the_best_round_has_the_lowest_loss_that_is_a_number(losses, best):
    assert best_round(losses) == best


def test_patience_wants_more_than_the_tolerance():
    patience = Patience(rounds=2, tol=0.5).see([0.0, 0.4, 0.6])
    assert (patience.best_round, patience.over) == (2, False)
    assert not patience.see([1.0]).over
    assert patience.see([1.05]).over
    assert patience.best_round == 2
    assert not Patience(tol=0.5).see([0.0] * 100).over


def test_boost_and_an_estimator_watch_alike():
    """Whoever moves from one to the other gets the same losses, and the same model."""
    how = {"learner": ab.weak.Tree(8), "descent": ab.descent.Naive(0.5)}
    run = ab.boost(
        X[TRAIN],
        Y[TRAIN],
        "squared",
        rounds=60,
        valid=(X[VALID], Y[VALID]),
        patience=4,
        random_state=0,
        **how,
    )
    model = ab.BoostingRegressor(
        "squared", max_iter=60, early_stopping=True, n_iter_no_change=4, tol=0.0, random_state=0, **how
    )
    model.fit(X[TRAIN], Y[TRAIN], X_val=X[VALID], y_val=Y[VALID])
    assert len(run.steps) == model.n_iter_ < 60
    assert run.best_round == model.best_iteration_
    np.testing.assert_array_equal(run.watch.losses, -model.validation_score_)
    assert [step.valid_loss for step in run.steps] == [step.valid_loss for step in model.steps_]
    np.testing.assert_array_equal(run.best.predict(X), model.predict(X))


def test_cross_validation_watches_as_boost_does():
    pair = (np.arange(80), np.arange(80, 120))
    found = ab.cv(X, Y, "squared", "tree:8", ab.descent.Naive(0.5), 20, folds=[pair])
    run = ab.boost(
        ab.Binned(X).take(pair[0]),
        Y[TRAIN],
        "squared",
        "tree:8",
        ab.descent.Naive(0.5),
        20,
        valid=(X[VALID], Y[VALID]),
    )
    np.testing.assert_array_equal(found.valid_losses[0], run.watch.losses)
    assert found.best_round == run.best_round
