"""Runs to save: every loss, learner and descent there is, on a small sample."""

from functools import cache

import numpy as np

import anyboost as ab
from anyboost import losses
from anyboost.descent import Descent, Hull, Naive, Repeated, Residual, Shrinking
from anyboost.steps import Constant, InverseSqrt, InverseT, LineSearch
from anyboost.weak import Classifier, Dictionary, Linear, Net, Stump, Tree

LOSSES = {
    "squared": (losses.Squared(), "real"),
    "absolute": (losses.Absolute(), "real"),
    "quantile": (losses.Quantile(0.9), "real"),
    "huber": (losses.Huber(0.7), "real"),
    "expectile": (losses.Expectile(0.3), "real"),
    "poisson": (losses.Poisson(), "count"),
    "gamma": (losses.Gamma(), "positive"),
    "tweedie": (losses.Tweedie(1.3), "count"),
    "logistic": (losses.Logistic(), "sign"),
    "hinge": (losses.Hinge(), "sign"),
    "squared_hinge": (losses.SquaredHinge(), "sign"),
    "exponential": (losses.Exponential(), "sign"),
    "softmax": (losses.Softmax(), "class"),
    "multiclass_hinge": (losses.MulticlassHinge(), "class"),
    "multi_quantile": (losses.MultiQuantile((0.1, 0.5, 0.8)), "real"),
    "multi_quantile + crossing": (losses.MultiQuantile((0.1, 0.9)) + losses.Crossing(0.1), "real"),
    "rank_hinge": (losses.RankHinge(), "grouped count"),
    "rank_logistic": (losses.RankLogistic(), "grouped count"),
    "cox": (losses.Cox(), "time"),
    "sum": (0.5 * losses.Absolute() + losses.Squared(), "real"),
    "multiple": (2.0 * losses.Hinge(), "sign"),
    "cvar": (losses.CVaR(losses.Absolute(), 0), "real"),
    "cvar of a sum": (losses.CVaR(0.3 * losses.Absolute() + losses.Squared(), 0.6), "real"),
    "worst_group": (losses.WorstGroup(losses.Softmax()), "grouped class"),
    "coupled sum": (losses.Squared() + 0.25 * losses.RankHinge(), "grouped count"),
    "multioutput": (losses.Multioutput(losses.Absolute()), "reals"),
    "pointwise": (
        losses.pointwise(lambda f, y: (f - y) ** 2, lambda f, y: 2.0 * (f - y), name="mine"),
        "real",
    ),
}
LEARNERS = {
    "stump": Stump(),
    "exact stump": Stump(leaf="exact"),
    "tree": Tree(max_leaves=5, max_depth=3),
    "exact tree": Tree(max_leaves=4, leaf="exact"),
    "ruled tree": Tree(
        max_leaves=5,
        min_leaf_weight=1.5,
        l2=0.5,
        monotone=(1, 0, -1, 0),
        interactions=((0, 1), (1, 2)),
        outputs="each",
    ),
    "dictionary": Dictionary(),
    "classifier": Classifier(both_signs=True),
}
SMOOTH = {
    "linear": Linear(0.1),
    "net": Net(hidden=3, max_iter=10),
}  # which have no atoms for shrinking and hull


def my_step(t):
    return 0.1 / t


DESCENTS = {
    "naive": Naive(Constant(0.1)),
    "repeated": Repeated(InverseT(0.1), projections=3, tolerance=0.5),
    "residual": Residual(InverseSqrt(0.05), memory=0.5),
    "shrinking": Shrinking(InverseSqrt(0.1), shrinks=False),
    "hull": Hull(0.5),
    "search": Residual(LineSearch(0.5)),
    "dials": Descent(0.05, memory=0.3, projections=2),
    "my step": Naive(my_step),
}


@cache
def sample(kind, n=40, seed=0):
    """X, y and the other arguments of `boost` for targets of one kind."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    X[:, 1] = np.round(X[:, 1])
    signal = X[:, 0] + np.sin(2 * X[:, 2]) + 0.3 * random.normal(size=n)
    y = {
        "real": signal,
        "reals": np.column_stack([signal, -signal]),
        "count": np.floor(np.exp(signal / 2)),
        "positive": np.exp(signal / 2),
        "sign": np.where(signal > 0, 1.0, -1.0),
        "class": np.digitize(signal, [-0.5, 0.5]),
        "time": np.exp(signal / 2) * np.where(random.random(n) < 0.8, 1, -1),
    }[kind.split()[-1]]
    return X, y, {"groups": random.integers(0, 3, n)} if "grouped" in kind else {}


def keep_trees(step, run):
    """A callback for which a run keeps its trees."""


keep_trees.keeps_trees = True


def fit(loss, learner, descent, rounds, watch=True, **options):
    loss, kind = LOSSES[loss]
    X, y, given = sample(kind)
    if watch:
        X_new, y_new, given_new = sample(kind, seed=1)
        options["valid"] = {"X": X_new, "y": y_new, **given_new}
    options = {"random_state": 7, "n_threads": 1, **given, **options}
    return ab.boost(X, y, loss, (LEARNERS | SMOOTH)[learner], DESCENTS[descent], rounds, **options)
