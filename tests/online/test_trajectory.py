"""The chain follows a plain NumPy oracle, and the compiled loop follows the interpreted one."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse

import reference.online as oracle
from anyboost.online import (
    FeatureStumpLearner,
    HullBooster,
    LinearLearner,
    NetLearner,
    SpanBooster,
    state,
)


def stream(n=400, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    score = X @ random.normal(size=d) + 0.3 * random.normal(size=n)
    return X, score


@pytest.mark.parametrize(
    ("hull", "greedy", "loss"), list(product([False, True], [False, True], ["squared", "logistic"]))
)
@pytest.mark.parametrize(("rate", "D"), [(0.02, 2.0), (0.5, 0.5)])
def test_trajectories_equal_the_oracle(hull, greedy, loss, rate, D):
    X, score = stream()
    y = np.clip(score, -2.0, 2.0) if loss == "squared" else np.where(score > 0, 1.0, -1.0)
    N, eta, Y = 7, 0.3, 2.0
    make = HullBooster if hull else SpanBooster
    booster = make(
        LinearLearner(rate=rate, update="plain"),
        n_learners=N,
        loss=loss,
        mode="greedy" if greedy else "linear",
        output_bound=D,
        label_bound=Y,
        start=0.0,
        prefix="all",
        **({} if hull else {"step": eta}),
    )
    expected = oracle.boost(X, y, loss=loss, hull=hull, greedy=greedy, N=N, eta=eta, D=D, Y=Y, rate=rate)
    found = booster.progressive_predict(X, y)
    assert np.abs(expected).max() > 0.3
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    losses_of_answers = sum(oracle.value(loss, p, t) for p, t in zip(expected, y, strict=True))
    assert booster.regret().loss == pytest.approx(losses_of_answers)


LOSSES = {
    "real": ["squared", "absolute", "quantile:0.8", "huber:0.5", "expectile:0.7", "multi_quantile:0.1,0.9"],
    "sign": ["logistic", "hinge", "squared_hinge", "exponential"],
    "positive": ["poisson", "gamma", "tweedie:1.5"],
    "class": ["softmax", "multiclass_hinge"],
}
KINDS = {name: kind for kind, names in LOSSES.items() for name in names}


def targets(kind, score):
    return {
        "real": score + 3,
        "sign": np.where(score > 0, 1.0, -1.0),
        "positive": np.exp(score / 3) + 0.01,
        "class": np.clip(np.round(score + 1), 0, 2),
    }[kind]


def both_ways(monkeypatch, make, X, y):
    """Answers of the compiled and of the interpreted booster, dense rows and then sparse ones."""
    answers = []
    for known in (True, False):
        if not known:
            monkeypatch.setattr("anyboost.online.booster.compiled_loss", lambda loss: False)
        booster = make()
        first = booster.progressive_predict(X[:60], y[:60])
        second = booster.progressive_predict(scipy.sparse.csr_matrix(X[60:]), y[60:])
        assert isinstance(booster.state, state.InterpretedState) != known
        answers.append(np.concatenate([first, second, booster.predict(X)]))
    return answers


@pytest.mark.parametrize("loss", list(KINDS))
@pytest.mark.parametrize("hull", [False, True])
@pytest.mark.parametrize("mode", ["greedy", "offset", "linear"])
def test_compiled_and_interpreted_agree_for_every_loss(monkeypatch, loss, hull, mode):
    X, score = stream(100)
    X = X * [1.0, 10.0, 0.1, 3.0]
    y = targets(KINDS[loss], score)

    def make():
        cls = HullBooster if hull else SpanBooster
        return cls(LinearLearner(0.1), n_learners=4, loss=loss, mode=mode, forget=0.01, scale=1.5)

    compiled, slow = both_ways(monkeypatch, make, X, y)
    np.testing.assert_allclose(compiled, slow, rtol=0, atol=1e-10)


LEARNERS = [
    LinearLearner(0.1, "plain"),
    LinearLearner(0.3, "adaptive", power=0.2),
    LinearLearner(0.3, "invariant"),
    FeatureStumpLearner(0.1),
    NetLearner(units=3),
]


@pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: getattr(learner, "update", type(learner).__name__)
)
@pytest.mark.parametrize("mode", ["greedy", "offset", "linear"])
def test_compiled_and_interpreted_agree_for_every_learner(monkeypatch, learner, mode):
    X, score = stream(100)
    X[np.abs(X) < 0.3] = 0.0
    compiled, slow = both_ways(
        monkeypatch, lambda: SpanBooster(learner, n_learners=4, mode=mode), X, targets("real", score)
    )
    np.testing.assert_allclose(compiled, slow, rtol=0, atol=1e-10)


@pytest.mark.full
@pytest.mark.parametrize(
    "learner", LEARNERS, ids=lambda learner: getattr(learner, "update", type(learner).__name__)
)
@pytest.mark.parametrize("loss", list(KINDS))
@pytest.mark.parametrize("hull", [False, True])
def test_compiled_and_interpreted_agree_for_all_pairs(monkeypatch, learner, loss, hull):
    X, score = stream(100)
    X[np.abs(X) < 0.3] = 0.0
    cls = HullBooster if hull else SpanBooster
    compiled, slow = both_ways(
        monkeypatch, lambda: cls(learner, n_learners=4, loss=loss), X, targets(KINDS[loss], score)
    )
    np.testing.assert_allclose(compiled, slow, rtol=0, atol=1e-10)
