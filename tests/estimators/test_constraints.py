"""Monotone and interaction constraints hold for every loss, leaf step and sampling, by brute force on grids."""

import itertools

import numpy as np
import pytest

from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor
from anyboost.losses import CVaR, WorstGroup

RANDOM = np.random.default_rng(0)
N = 250
X = np.column_stack([RANDOM.integers(0, 8, N), RANDOM.integers(0, 6, N), RANDOM.normal(size=N)]).astype(float)
# Against the constraints in places, and noisy: a tree that may, will break them.
SIGNAL = (
    np.sin(X[:, 0]) + 0.3 * X[:, 0] - np.cos(2 * X[:, 1]) - 0.2 * X[:, 1] + X[:, 2] + RANDOM.normal(size=N)
)
GROUPS = np.arange(N) % 10
GRID = np.array(
    list(itertools.product(np.arange(-1, 9), np.arange(-1, 7), (-2.0, -0.3, 0.4, 2.0))), dtype=float
)
GRID = GRID.reshape(10, 8, 4, 3)
REGRESSION = ["squared", "absolute", "quantile:0.1", "quantile:0.9", "huber:0.5", "expectile:0.8"]
COUNTS = ["poisson", "gamma", "tweedie:1.5"]
CLASSES = ["logistic", "hinge", "squared_hinge", "exponential"]
COUPLED = {"cvar": CVaR("absolute", 0.7), "worst_group": WorstGroup("squared"), "cox": "cox"}
LEAVES = ["mean", "exact"]
SAMPLING = [{}, {"subsample": 0.5}, {"max_features": 0.7}, {"subsample": 0.6, "max_features": 0.7}]


def score(model, table):
    return model.decision_function(table) if isinstance(model, BoostingClassifier) else model.predict(table)


def violations(model, signs):
    values = score(model, GRID.reshape(-1, 3)).reshape(GRID.shape[:3])
    broken = 0
    for axis, sign in enumerate(signs[:2]):
        if sign:
            broken += int((sign * np.diff(values, axis=axis) < -1e-9).sum())
    return broken


def fitted(kind, loss, y, leaf, sampling, signs, **given):
    model = kind(
        loss, max_iter=12, max_leaf_nodes=8, learning_rate=0.3, leaf=leaf, random_state=0, **sampling
    )
    return model.set_params(monotonic_cst=signs, min_leaf_weight=1.0).fit(X, y, **given)


def targets(loss):
    if loss in COUNTS:
        return BoostingRegressor, np.exp(SIGNAL / 3), {}
    if loss in CLASSES:
        return BoostingClassifier, np.median(SIGNAL) < SIGNAL, {}
    if loss in ("rank_hinge", "rank_logistic"):
        return BoostingRanker, np.round(SIGNAL), {"qid": GROUPS}
    if loss == "cox":
        return BoostingRegressor, np.exp(SIGNAL / 3) * np.where(GROUPS < 7, 1, -1), {}
    return BoostingRegressor, SIGNAL, {"groups": GROUPS} if loss == "worst_group" else {}


@pytest.mark.parametrize("sampling", SAMPLING, ids=str)
@pytest.mark.parametrize("leaf", LEAVES)
@pytest.mark.parametrize("loss", REGRESSION + COUNTS + CLASSES)
def test_no_violation_anywhere(loss, leaf, sampling):
    kind, y, given = targets(loss)
    assert violations(fitted(kind, loss, y, leaf, sampling, [0, 0, 0], **given), [1, -1, 0]) > 0
    assert violations(fitted(kind, loss, y, leaf, sampling, [1, -1, 0], **given), [1, -1, 0]) == 0
    assert violations(fitted(kind, loss, y, leaf, sampling, [-1, 1, 0], **given), [-1, 1, 0]) == 0


@pytest.mark.parametrize("sampling", [{}, {"subsample": 0.5}], ids=str)
@pytest.mark.parametrize("loss", [*COUPLED, "rank_hinge", "rank_logistic"])
def test_no_violation_where_rows_are_coupled(loss, sampling):
    kind, y, given = targets(loss)
    model = fitted(kind, COUPLED.get(loss, loss), y, "mean", sampling, [1, -1, 0], **given)
    assert violations(model, [1, -1, 0]) == 0
    assert len(np.unique(score(model, X))) > 5


def test_a_constraint_by_name():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["up", "down", "free"])
    named = BoostingRegressor(max_iter=5, monotonic_cst={"up": 1, "down": -1}).fit(frame, SIGNAL)
    numbered = BoostingRegressor(max_iter=5, monotonic_cst=[1, -1, 0]).fit(X, SIGNAL)
    np.testing.assert_array_equal(named.predict(frame), numbered.predict(X))


def paths(tree, node=0, seen=frozenset()):
    """The columns met on each path of a tree."""
    if tree.feature[node] < 0:
        return [seen]
    seen = seen | {int(tree.feature[node])}
    return paths(tree, int(tree.left[node]), seen) + paths(tree, int(tree.right[node]), seen)


@pytest.mark.parametrize(
    ("constraint", "allowed"),
    [
        ("no_interactions", [{0}, {1}, {2}]),
        ("pairwise", [{0, 1}, {0, 2}, {1, 2}]),
        ([[0, 2]], [{0, 2}, {1}]),
        ([{0, 1}, {1, 2}], [{0, 1}, {1, 2}]),
    ],
)
@pytest.mark.parametrize("leaf", LEAVES)
def test_columns_meet_only_where_they_may(constraint, allowed, leaf):
    y = SIGNAL + X[:, 0] * X[:, 2] + X[:, 1] * X[:, 2]
    model = BoostingRegressor("absolute", max_iter=10, leaf=leaf, interaction_cst=constraint).fit(X, y)
    met = {path for tree in model.ensemble_.hypotheses for path in paths(tree)}
    assert all(any(path <= part for part in allowed) for path in met)
    assert any(len(path) == max(map(len, allowed)) for path in met)


def test_without_interactions_the_model_is_additive():
    model = BoostingRegressor(max_iter=10, interaction_cst="no_interactions").fit(
        X, SIGNAL + X[:, 0] * X[:, 2]
    )
    values = model.predict(GRID.reshape(-1, 3)).reshape(GRID.shape[:3])
    mixed = np.diff(np.diff(values, axis=0), axis=2)
    np.testing.assert_allclose(mixed, 0.0, atol=1e-9)
