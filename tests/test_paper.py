"""The paper's contrast: naive stalls on a non-smooth loss, repeated and residual do not."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import anyboost as ab
from anyboost.steps import InverseSqrt


def fit(X, y, descent, rounds):
    return ab.boost(X, y, "multiclass_hinge", "stump", descent, rounds)


def error(run, X, y):
    return np.mean(run.ensemble.predict(X).argmax(axis=1) != y)


def test_digits_residual_loss_is_at_most_a_tenth_of_naive():
    X, y = load_digits(return_X_y=True)
    naive = fit(X, y, ab.descent.Naive(InverseSqrt(1.0)), 500)
    residual = fit(X, y, ab.descent.Residual(InverseSqrt(1.0)), 500)
    assert len(naive.ensemble) == 500
    assert naive.steps[-1].loss > 0.2
    assert residual.steps[-1].loss <= 0.1 * naive.steps[-1].loss


def test_iris_naive_stalls_and_residual_reaches_zero():
    X, y = load_iris(return_X_y=True)
    naive = fit(X, y, ab.descent.Naive(InverseSqrt(1.0)), 3000)
    assert min(step.loss for step in naive.steps) > 0.03
    residual = fit(X, y, ab.descent.Residual(InverseSqrt(1.0)), 500)
    assert residual.steps[-1].loss == 0.0


def test_letter_naive_fails_and_the_others_learn():
    try:
        data = ab.datasets.load("letter")
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    X, y, test = data.X, data.y.astype(int), data.split == 1
    errors = {}
    for name, descent, rounds in (
        ("naive", ab.descent.Naive(InverseSqrt(1.0)), 1000),
        ("repeated", ab.descent.Repeated(InverseSqrt(1.0)), 44),  # 990 stumps
        ("residual", ab.descent.Residual(InverseSqrt(1.0)), 1000),
    ):
        run = fit(X[~test], y[~test], descent, rounds)
        errors[name] = error(run, X[test], y[test])
    print("letter test error:", errors)
    assert errors["naive"] > 0.80
    assert errors["repeated"] < 0.30
    assert errors["residual"] < 0.17
