"""Memory from 0 to 1 with curvature: nothing runs away, and the loss falls."""

import numpy as np
import pytest

import anyboost as ab
import reference
from anyboost.descent import Residual
from anyboost.weak import Stump, Tree
from curvature.samples import sample, weights

MEMORIES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
ROUNDS = 250


def noisy(n=90):
    X, y = sample("logistic", n)
    return X, np.where(np.random.default_rng(0).random(n) < 0.15, -y, y)


@pytest.mark.parametrize("eta", [0.1, 0.3])
@pytest.mark.parametrize("learner", [Stump(), Tree(6), Tree(6, l2=1.0)])
@pytest.mark.parametrize("memory", MEMORIES)
def test_scores_and_residuals_stay_bounded(memory, learner, eta):
    """No row is pushed further than a run without memory pushes it, but for some slack.

    D gains at most max|g| a round; what no tree can fit (equal rows that disagree) stays in it for good.
    """
    X, y = noisy()
    highest = []
    run = ab.boost(
        X,
        y,
        "logistic",
        learner,
        Residual(eta, memory=memory, curvature=True),
        ROUNDS,
        start=0.0,
        callbacks=[lambda step, run: highest.append(np.abs(run.scores).max()) and None],
    )
    losses = np.array([step.loss for step in run.steps])
    plain = ab.boost(X, y, "logistic", learner, Residual(eta, memory=0.0, curvature=True), ROUNDS, start=0.0)
    assert max(highest) <= (4.0 if learner.max_leaves == 2 else 8.0 * eta * ROUNDS / 4)
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
