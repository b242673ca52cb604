"""`ab.cv` is a boost on all but one fold, watched on that one."""

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold

import anyboost as ab

X, Y = load_diabetes(return_X_y=True)
TREE = {"learner": "tree:4", "descent": ab.descent.Naive(0.1)}


def test_cv_is_boost_fold_by_fold():
    folds = KFold(4)
    found = ab.cv(X, Y, "absolute", rounds=12, folds=folds, **TREE)
    assert found.valid_losses.shape == found.train_losses.shape == (4, 13)
    for number, (train, held_out) in enumerate(folds.split(X)):
        part = ab.Binned(X).take(train)
        run = ab.boost(part, Y[train], "absolute", rounds=12, valid=(X[held_out], Y[held_out]), **TREE)
        np.testing.assert_array_equal(found.valid_losses[number], run.watch.losses)
        np.testing.assert_array_equal(found.train_losses[number, 1:], [step.loss for step in run.steps])
        assert found.weights[number] == pytest.approx(len(held_out) / len(Y))
    assert found.best_round == np.argmin(found.mean)
    assert found.best_loss == found.mean.min()
    assert (found.std >= 0).all()
    assert repr(found).startswith("CrossValidation(4 folds, 12 rounds: ")
    binned = ab.cv(ab.Binned(X), Y, "absolute", rounds=12, folds=folds, **TREE)
    np.testing.assert_array_equal(binned.valid_losses, found.valid_losses)
    coarse = ab.cv(X, Y, "absolute", rounds=12, folds=folds, max_bins=3, **TREE)
    assert not np.array_equal(coarse.valid_losses, found.valid_losses)
    pairs = list(folds.split(X))
    np.testing.assert_array_equal(ab.cv(X, Y, "absolute", rounds=12, folds=pairs, **TREE).mean, found.mean)


def test_folds_suit_the_loss():
    cancer, ill = load_breast_cancer(return_X_y=True)
    order = np.argsort(ill, kind="stable")
    by_class = ab.cv(cancer[order], np.where(ill[order], 1, -1), "logistic", rounds=3, **TREE)
    assert by_class.valid_losses[:, -1].max() < by_class.valid_losses[:, 0].min()
    qid = np.arange(len(Y)) // 10
    ranked = ab.cv(X, Y, "rank_logistic", rounds=3, groups=qid, folds=3, **TREE)
    assert ranked.valid_losses.shape == (3, 4)
    worst = ab.cv(X, Y, ab.losses.WorstGroup("squared"), rounds=2, groups=Y > 150, folds=3, **TREE)
    assert np.isfinite(worst.mean).all()


def test_weights_are_the_measure_of_folds_too():
    weights = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    found = ab.cv(pl.DataFrame(X), Y, rounds=2, sample_weight=weights, folds=KFold(3), **TREE)
    shares = [weights[held_out].sum() / weights.sum() for _, held_out in KFold(3).split(X)]
    np.testing.assert_allclose(found.weights, shares)


def test_categories_of_a_frame_are_cut_into_sets():
    level = np.random.default_rng(0).integers(0, 30, 600)
    frame = pl.DataFrame({"level": [f"level {number:02d}" for number in level]})
    found = ab.cv(frame, level % 2, rounds=3, folds=3, learner="tree:2", descent=ab.descent.Naive(0.5))
    ordered = ab.cv(
        level[:, None], level % 2, rounds=3, folds=3, learner="tree:2", descent=ab.descent.Naive(0.5)
    )
    assert found.best_loss < 0.1 * ordered.best_loss


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"folds": 1}, "folds must be between 2 and 442, got 1"),
        ({"folds": []}, "folds is empty"),
        ({"y": Y[:5]}, "y must have one value for each of the 442 rows of X, got 5"),
        ({"patience": 3}, "patience is not for cv"),
        ({"valid": (X, Y)}, "valid is not for cv"),
        ({"loss": "squard"}, "loss 'squard' is not known"),
        ({"groups": [1]}, "groups must have one label for each of the 442 rows"),
    ],
)
def test_bad_arguments(given, words):
    with pytest.raises(ValueError, match=words):
        ab.cv(**{"X": X, "y": Y, "rounds": 2, **given})
