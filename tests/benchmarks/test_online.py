"""The race's own parts: what it measures is what it says."""

import numpy as np
import pytest

from benchmarks import online


def test_losses_are_those_of_their_names():
    y = np.array([1.0, -1.0, 1.0])
    told = online.summary(np.array([2.0, 1.0, 0.5]), y, "logistic")
    assert told["error"] == pytest.approx(1 / 3)
    assert told["logistic loss"] == pytest.approx(np.mean(np.log1p(np.exp([-2.0, 1.0, -0.5]))))
    assert online.summary(np.zeros(3), y, "squared") == {"mean squared error": 1.0}


def test_our_contestant_answers_before_it_learns():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    scores = online.SCORES["anyboost, 20 adaptive linear"](X, np.where(X[:, 0] > 0, 1.0, -1.0), "logistic")
    assert scores[0] == 0.0
    assert np.mean((scores > 0) == (X[:, 0] > 0)) > 0.8


def test_who_fails_or_is_not_installed_is_left_out():
    assert online.in_own_process("--speed", "nobody", "10") is None
