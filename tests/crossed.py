"""Fits in which every two choices meet that a user may make: of loss, weights, learner, draws, table and descent.

Rows lie on seven workers. All hold some, one a single row, and one holds none but rows of weight zero.
"""

from itertools import combinations

import numpy as np

import anyboost as ab
from collective_fits import (
    COUNTS,
    GROUPS,
    LABELS,
    ROWS,
    SIGNS,
    WEIGHTS,
    X,
    Y,
    _log_cosh,
    _slope,
    boost,
    estimator,
)

EDGES = (0, 20, 90, 150, 151, 260, 330, ROWS)
ORDER = np.random.default_rng(7).permutation(ROWS)

random = np.random.default_rng(5)
IDLE = random.random(ROWS) < 0.2
IDLE[ORDER[EDGES[2] : EDGES[3]]] = True
MISSING = X.copy()
MISSING[random.random(X.shape) < 0.1] = np.nan
CATEGORIES = np.column_stack([X[:, :2], GROUPS % 7])
POSITIVE = np.abs(Y) + 0.1
GRADES = np.floor(Y)

LOSSES = {
    "squared": ("squared", Y),
    "absolute": ("absolute", Y),
    "huber": ("huber:0.5", Y),
    "quantile": ("quantile:0.9", Y),
    "expectile": ("expectile:0.8", Y),
    "pointwise": (ab.losses.pointwise(_log_cosh, _slope, smoothness=1.0), Y),
    "logistic": ("logistic", SIGNS),
    "hinge": ("hinge", SIGNS),
    "squared hinge": ("squared_hinge", SIGNS),
    "exponential": ("exponential", SIGNS),
    "poisson": ("poisson", COUNTS),
    "gamma": ("gamma", POSITIVE),
    "tweedie": ("tweedie:1.5", COUNTS),
    "multiclass hinge": ("multiclass_hinge", COUNTS % 3),
    "softmax": ("softmax", COUNTS % 3),
    "rank logistic": ("rank_logistic", GRADES),
    "rank hinge": ("rank_hinge", GRADES),
    "survival": ("cox", POSITIVE),
    "cvar": (ab.losses.CVaR("absolute", 0.8), Y),
    "worst group": (ab.losses.WorstGroup("squared"), Y),
    "joint quantiles": (ab.losses.MultiQuantile((0.1, 0.9)) + ab.losses.Crossing(0.1), Y),
    "two targets": (ab.losses.Multioutput("absolute"), np.column_stack([Y, Y * Y])),
}
LABELLED = {"rank logistic": GROUPS, "rank hinge": GROUPS, "worst group": GROUPS % 3}
CURVED = {
    *("squared", "huber", "expectile", "logistic", "squared hinge", "exponential", "poisson", "gamma"),
    *("tweedie", "softmax", "rank logistic", "survival"),
}
CHOICES = {
    "loss": LOSSES,
    "weights": {
        "no weights": {},
        "whole weights": {"sample_weight": np.where(IDLE, 0.0, 1.0 + GROUPS % 3)},
        "float weights": {"sample_weight": np.where(IDLE, 0.0, WEIGHTS)},
    },
    "learner": {
        "stumps": {"learner": "stump"},
        "trees": {"learner": ab.weak.Tree(5)},
        "exact leaves": {"learner": ab.weak.Tree(4, leaf="exact")},
        "linear leaves": {"learner": ab.weak.Tree(4, leaf="linear")},
        "a tree each": {"learner": ab.weak.Tree(4, outputs="each")},
        "kept in order": {"learner": ab.weak.Tree(5, monotone=(1, -1, 0))},
        "by depth": {"learner": ab.weak.Tree(6, growth="depth", l2=0.1)},
    },
    "draws": {
        "all rows": {},
        "rows drawn": {"row_fraction": 0.6, "random_state": 3},
        "columns drawn": {"feature_fraction": 0.5},
    },
    "table": {
        "numbers": {},
        "missing": {"X": MISSING},
        "categories": {"X": CATEGORIES, "categorical": [2]},
    },
    "descent": {
        "plain": {},
        "memory": {"descent": ab.descent.Residual(0.1, memory=0.5)},
        "hull": {"descent": "hull"},
        "shrinking": {"descent": "shrinking"},
        "curved": {"curvature": True},
    },
}


def _goes(chosen):
    """Whether choices can meet: not all losses have a curvature."""
    return chosen.get("descent") != "curved" or chosen.get("loss") in {None, *CURVED}


def _pairs(chosen):
    return set(combinations(sorted(chosen.items()), 2))


def crossed():
    """Choices by name, in which every pair of them that can meet does."""
    draw = np.random.default_rng(1)
    open_pairs = {
        frozenset(pair)
        for one, other in combinations(CHOICES, 2)
        for pair in ([(one, a), (other, b)] for a in CHOICES[one] for b in CHOICES[other])
        if _goes(dict(pair))
    }
    found = {}
    while open_pairs:
        seed = dict(min(open_pairs, key=sorted))
        best, most = None, -1
        for _ in range(30):
            tried = {
                name: seed.get(name, list(own)[draw.integers(len(own))]) for name, own in CHOICES.items()
            }
            met = sum(frozenset(pair) in open_pairs for pair in _pairs(tried)) if _goes(tried) else -1
            best, most = (tried, met) if met > most else (best, most)
        open_pairs -= {frozenset(pair) for pair in _pairs(best)}
        found[", ".join(best.values())] = best
    return found


def fit(where, chosen):
    """The model of some choices, on a cluster or in one place."""
    loss, y = LOSSES[chosen["loss"]]
    options = {k: v for name, own in chosen.items() if name != "loss" for k, v in CHOICES[name][own].items()}
    if chosen["loss"] in LABELLED:
        options["groups"] = LABELLED[chosen["loss"]]
    return boost(where, y, loss=loss, **options)


WHOLE, FLOAT = (CHOICES["weights"][name]["sample_weight"] for name in ("whole weights", "float weights"))
ESTIMATORS = {
    "target statistics of classes": (
        "Classifier",
        LABELS,
        {"categorical_encoding": "target", "max_iter": 4},
        WHOLE,
    ),
    "target statistics of two classes": (
        "Classifier",
        SIGNS,
        {"categorical_encoding": "target", "max_iter": 4},
        FLOAT,
    ),
    "target statistics of grades": (
        "Ranker",
        GRADES,
        {"categorical_encoding": "target", "max_iter": 4},
        None,
    ),
    "target statistics, whole weights": (
        "Regressor",
        Y,
        {"categorical_encoding": "target", "max_iter": 4},
        WHOLE,
    ),
    "curvature of two classes": ("Classifier", SIGNS, {"max_iter": 6, "random_state": 2}, FLOAT),
    "curvature of gamma": ("Regressor", POSITIVE, {"loss": "gamma", "max_iter": 6}, WHOLE),
    "linear leaves of huber": ("Regressor", Y, {"loss": "huber:0.5", "leaf": "linear", "max_iter": 4}, FLOAT),
    "exact leaves of expectile": (
        "Regressor",
        Y,
        {"loss": "expectile:0.8", "leaf": "exact", "max_iter": 4},
        WHOLE,
    ),
    "hinges, stopped": (
        "Classifier",
        LABELS,
        {"loss": "multiclass_hinge", "early_stopping": True, "max_iter": 8},
        WHOLE,
    ),
    "grades, stopped": (
        "Ranker",
        GRADES,
        {"loss": "rank_hinge", "early_stopping": True, "max_iter": 8},
        None,
    ),
    "intervals, whole weights": (
        "Regressor",
        Y,
        {"loss": ab.losses.MultiQuantile((0.1, 0.9)), "max_iter": 4},
        WHOLE,
    ),
    "memory and draws": (
        "Regressor",
        Y,
        {"memory": 0.5, "subsample": 0.6, "max_iter": 6, "random_state": 1},
        FLOAT,
    ),
}


def fit_estimator(where, name):
    """The estimator of a name, on a cluster or in one place."""
    kind, y, parameters, weights = ESTIMATORS[name]
    given = [("sample_weight", weights)] if weights is not None else []
    if kind == "Ranker":
        given.append(("qid", GROUPS))
        y = y - y.min()
    return estimator(kind, where, y, given=given, **parameters)
