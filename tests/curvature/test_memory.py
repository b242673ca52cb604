"""Memory from 0 to 1 with curvature: nothing runs away, and the loss falls."""

from functools import cache

import numpy as np
import pytest

import anyboost as ab
import reference
from anyboost.descent import Residual
from anyboost.weak import Stump, Tree
from curvature.samples import sample, weights

MEMORIES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
ROUNDS = 200
LEARNERS = {"stumps": Stump(), "trees": Tree(6), "trees, l2": Tree(6, l2=1.0)}


def noisy(n=90):
    X, y = sample("logistic", n)
    return X, np.where(np.random.default_rng(0).random(n) < 0.15, -y, y)


@cache
def follow(learner, eta, memory):
    """A run from 0, and the highest score of any row after any round."""
    X, y = noisy()
    highest = []
    run = ab.boost(
        X,
        y,
        "logistic",
        LEARNERS[learner],
        Residual(eta, memory=memory, curvature=True),
        ROUNDS,
        start=0.0,
        callbacks=[lambda step, run: highest.append(np.abs(run.scores).max()) and None],
        n_threads=1,
    )
    return run, max(highest)


@pytest.mark.parametrize(("learner", "eta"), [("stumps", 0.3), ("trees", 0.1), ("trees, l2", 0.3)])
@pytest.mark.parametrize("memory", MEMORIES)
def test_scores_and_residuals_stay_bounded(memory, learner, eta):
    """The loss gets where a run without memory gets, and no score goes far beyond the best ones.

    Stumps have best scores, at most 2.9 here; trees find leaves of one class, whose rows move on for ever, by about
    eta a round. D gains |g| < 1 a round; what no tree can fit (equal rows that disagree) stays in it for good.
    """
    run, highest = follow(learner, eta, memory)
    plain, _ = follow(learner, eta, 0.0)
    losses = np.array([step.loss for step in run.steps])
    assert highest <= (4.0 if learner == "stumps" else 2.0 * eta * ROUNDS)
    assert losses.max() < run.start_loss
    assert losses[-1] <= plain.steps[-1].loss * 1.02
    assert losses[ROUNDS // 2 :].max() <= losses[: ROUNDS // 2].max()
    assert np.abs(run.state.residual).max() <= 2 * sum(memory**t for t in range(ROUNDS))


@pytest.mark.parametrize("memory", [0.9, 1.0])
def test_what_a_stump_can_see_of_the_residual_stays_small(memory):
    """<D, h> over stumps |h| <= 1, which is what could move the scores, does not grow with the rounds."""
    X, y = noisy()
    w = reference.normalised(None, len(y))
    seen = []
    ab.boost(
        X,
        y,
        "logistic",
        "stump",
        Residual(0.3, memory=memory, curvature=True),
        ROUNDS,
        start=0.0,
        callbacks=[
            lambda step, run: seen.append(reference.extreme_stump(X, w, run.state.residual)[0]) and None
        ],
    )
    assert max(seen[50:]) <= max(seen[:50])


@pytest.mark.parametrize("memory", [0.5, 1.0])
def test_what_is_left_is_orthogonal_to_the_last_tree(memory):
    X, y = noisy()
    w = weights("floats", len(y))
    descent = Residual(0.3, memory=memory, curvature=True)
    run = ab.boost(X, y, "logistic", Tree(6), descent, 7, sample_weight=w)
    leaf = run.ensemble.hypotheses[-1].apply(X)
    scale = np.sum(w * np.abs(run.state.residual))
    for node in np.unique(leaf):
        assert abs(np.sum((w * run.state.residual)[leaf == node])) <= 1e-9 * scale
