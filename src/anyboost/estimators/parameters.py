"""What an estimator's parameters mean to `boost`: each is checked; with the dials they become a learner and a descent.

Steps: the rate, where leaves are exact or curvature is followed. Else leaf values are mean gradients, which have to be
brought to the scale of scores:

| smooth with constant Lambda (logistic, Huber) | rate / Lambda |
| softmax of K classes | rate K, at most 1 / Lambda |
| pairs and hazards | rate |
| others that couple rows (tails, worst groups) | rate times a line search |
"""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from anyboost import checks, losses, notices, steps, tables, weak
from anyboost import descent as descents
from anyboost.descent import Descent
from anyboost.estimators import intervals
from anyboost.estimators.dials import Dials
from anyboost.estimators.encoding import WAYS
from anyboost.explain import calibration
from anyboost.losses import Cox, Loss, Quantile, RankHinge, RankLogistic
from anyboost.losses.names import LOG_LOSS
from anyboost.tables import Columns
from anyboost.trees.parts import circle, total
from anyboost.weak import Learner, Takes, Tree

UNLIMITED = 2**31 - 1
TREE: tuple[str, ...] = (
    "max_leaf_nodes",
    "max_depth",
    "min_leaf_weight",
    "l2_regularization",
    "outputs",
    "leaf",
    "random_thresholds",
    "monotonic_cst",
    "interaction_cst",
)
STEP = ("learning_rate", "memory")


def mean_step(loss: Loss, rate: float, outputs: int) -> Any:
    """The step along mean gradients, which have to be brought to the scale of scores."""
    if isinstance(loss, RankHinge | RankLogistic | Cox):
        return steps.Constant(rate)
    if not math.isfinite(loss.smoothness):
        return steps.LineSearch(rate)
    if loss.domain.classes:  # with K classes alike the curvature is 1/K, and 1/2 only between two
        return steps.Constant(min(rate * outputs, 1 / loss.smoothness))
    return steps.Constant(rate / loss.smoothness)


def check(estimator: Any) -> None:
    """Refuse a bad parameter before any work, in a sentence. What needs the table is checked with it."""
    own = estimator.get_params(deep=False)

    def unless_auto(name: str, check: Callable[..., Any], *limits: Any, **more: Any) -> None:
        if isinstance(own[name], str) and own[name] != "auto":
            what = "True, False" if check is checks.flag else "a number"
            raise ValueError(f'{name} must be {what} or "auto", got {own[name]!r}')
        if not isinstance(own[name], str):
            check(own[name], name, *limits, **more)

    unless_auto("learning_rate", checks.positive)
    unless_auto("max_iter", checks.count, least=0)
    if own["max_leaf_nodes"] is not None:
        checks.count(own["max_leaf_nodes"], "max_leaf_nodes", least=2)
    if own["max_depth"] is not None:
        checks.count(own["max_depth"], "max_depth", least=1)
    unless_auto("min_leaf_weight", checks.not_negative)
    unless_auto("l2_regularization", checks.not_negative)
    unless_auto("max_features", checks.fraction, zero=False)
    unless_auto("subsample", checks.fraction, zero=False)
    unless_auto("random_thresholds", checks.flag, ' or "auto"')
    checks.bins(own["max_bins"])
    checks.choice(own["categorical_encoding"], "categorical_encoding", WAYS)
    checks.choice(own["outputs"], "outputs", ("auto", "joint", "each"))
    checks.choice(own["leaf"], "leaf", ("auto", "mean", "exact", "linear"))
    if own["leaf"] == "linear" and own["monotonic_cst"] is not None:
        raise ValueError('monotonic_cst cannot be kept by leaf="linear": leave one of them out')
    unless_auto("memory", checks.fraction)
    descents.check_curvature(own["curvature"])
    if own["preset"] is not None:
        checks.choice(own["preset"], "preset", ("paper",))
    if "conformal" in own:
        intervals.check(own["conformal"])
    if own.get("calibration") is not None:
        checks.choice(own["calibration"], "calibration", calibration.WAYS)
    checks.flag(own["warm_start"], "warm_start")
    unless_auto("early_stopping", checks.flag, ' or "auto"')
    if own["validation_fraction"] is not None:
        unless_auto("validation_fraction", checks.between, 0, 1)
    unless_auto("n_iter_no_change", checks.count, least=1)
    unless_auto("tol", checks.not_negative)
    checks.count(
        int(own["verbose"]) if isinstance(own["verbose"], bool) else own["verbose"], "verbose", least=0
    )
    _check_callbacks(own["callbacks"])
    _check_init(own["init"])
    checks.n_threads(own["n_jobs"])
    if own["learner"] is not None:
        learner = weak.get(own["learner"])
        why = "is part of the learner where learner is given: set it there, or leave learner out"
        if not isinstance(learner, Tree):
            why = f"is for trees, and the learner is {type(learner).__name__}: leave it out"
        _given_apart(estimator, TREE, why)
    if own["descent"] is not None:
        why = "is part of the descent where descent is given: set it there, or leave descent out"
        _given_apart(estimator, STEP, why)


def abilities(estimator: Any) -> Takes:
    """What the learner can take of a table; that of a tree where `fit` has yet to say what is wrong with it."""
    try:
        return Takes() if estimator.learner is None else weak.takes(weak.get(estimator.learner))
    except (ValueError, TypeError):
        return Takes()


def _check_callbacks(callbacks: Any) -> None:
    if callbacks is None:
        return
    if not isinstance(callbacks, Sequence) or isinstance(callbacks, str):
        raise ValueError(f"callbacks must be a list of functions of (step, run), got {callbacks!r}")
    for callback in callbacks:
        if not callable(callback) or isinstance(callback, type):
            raise ValueError(f"callbacks must hold functions of (step, run), got {callback!r}")


def _check_init(init: Any) -> None:
    if init is None or hasattr(init, "fit"):
        return
    if isinstance(init, np.ndarray | list | tuple):
        raise ValueError(
            "init must be None, a number or an estimator: pass scores row by row as fit(..., offset=)"
        )
    checks.real(init, "init")


def _given_apart(estimator: Any, names: tuple[str, ...], why: str) -> None:
    """Refuse parameters that would have no say beside a whole learner or descent."""
    for name in names:
        value, default = getattr(estimator, name), _default(estimator, name)
        if not (value is default or (np.isscalar(value) and value == default)):
            raise ValueError(f"{name} {why}")


def _default(estimator: Any, name: str) -> Any:
    return inspect.signature(type(estimator).__init__).parameters[name].default


def find_loss(loss: Any, automatic: str) -> Loss:
    """The loss that `loss` names; `automatic` stands for "auto", and for "log_loss" where it is one of classes."""
    if isinstance(loss, str):
        by_classes = loss in LOG_LOSS and automatic in ("logistic", "softmax")
        loss = automatic if loss == "auto" or by_classes else loss
    return losses.get(loss)


def quantile_loss(loss: Any, quantile: Any) -> Any:
    """What `loss` says, with the level that `quantile` gives it."""
    if quantile is None:
        return loss
    if not (isinstance(loss, str) and loss in ("quantile", "pinball")):
        raise ValueError(
            f"quantile is the level of loss='quantile', and loss is {loss!r}: use that loss, or leave quantile out"
        )
    return Quantile(checks.between(quantile, "quantile", 0, 1))


def method(
    estimator: Any,
    dials: Dials,
    loss: Loss,
    outputs: int,
    columns: Columns,
    sources: Sequence[int],
    names: Sequence[str] | None,
) -> tuple[Learner, Descent]:
    """The learner and the descent that the parameters and the dials describe.

    `columns` and `names` are those of the table, `sources` where each column that a learner sees comes from.
    """
    learner: Learner
    if estimator.learner is None:
        learner = _tree(estimator, dials, outputs, columns, sources, names)
    else:
        learner = weak.get(estimator.learner)
    if estimator.descent is not None:
        return learner, descents.get(estimator.descent).having(curvature=dials.curvature)
    if dials.curvature or dials.leaf == "exact":
        step: Any = steps.Constant(dials.learning_rate)
    else:
        step = mean_step(loss, dials.learning_rate, outputs)
    return learner, descents.Descent(
        step, memory=dials.memory, curvature=dials.curvature, proximal=dials.proximal
    )


def _tree(
    estimator: Any,
    dials: Dials,
    outputs: int,
    columns: Columns,
    sources: Sequence[int],
    names: Sequence[str] | None,
) -> Tree:
    leaves = UNLIMITED if estimator.max_leaf_nodes is None else int(estimator.max_leaf_nodes)
    depth = None if estimator.max_depth is None else int(estimator.max_depth)
    wanted: dict[str, Any] = {"min_leaf_weight": dials.min_leaf_weight, "l2": dials.l2_regularization}
    wanted["node_features"] = dials.max_features
    if dials.random_thresholds:
        wanted["node_thresholds"] = 1
    if estimator.monotonic_cst is not None:
        signs = monotone(estimator.monotonic_cst, columns.n, names)
        wanted["monotone"] = tuple(signs[source] for source in sources)
        for column in columns.levels:
            if signs[column]:
                called = column if names is None else repr(names[column])
                raise ValueError(
                    f"monotonic_cst is {signs[column]} for the column {called}, which holds categories, and these "
                    "have no order: use 0 there, or turn the column into numbers"
                )
    if estimator.interaction_cst is not None:
        sets = interactions(estimator.interaction_cst, columns.n, names)
        wanted["interactions"] = tuple(
            tuple(place for place, source in enumerate(sources) if source in together) for together in sets
        )
    if outputs > 1:
        wanted["outputs"] = dials.outputs
    return Tree(leaves, depth, dials.leaf, **wanted)


def warn_of_light_rows(estimator: Any, dials: Dials, weights: np.ndarray) -> None:
    """Say so where weights are shares of one, say, of which no leaf can have enough."""
    least = dials.min_leaf_weight
    if estimator.learner is not None:
        return
    mass, n = total(weights.sum(keepdims=True)), int(circle().add(len(weights)))
    if mass < 2 * least <= n:
        notices.warn(
            f"the weights add up to {mass:.4g}, too little for two leaves of min_leaf_weight={least:g}, "
            "so the model is a constant: scale the weights to a mean of 1, or lower min_leaf_weight",
            stacklevel=2,
        )


def monotone(spec: Any, n_columns: int, names: Sequence[str] | None) -> tuple[int, ...]:
    """-1, 0 or 1 for every column, from a list of all or a mapping from some columns."""
    signs = [0] * n_columns
    if isinstance(spec, Mapping):
        given = [(tables.column_number(key, names, n_columns, "monotonic_cst"), spec[key]) for key in spec]
    else:
        values = _sequence(spec)
        if values is None:
            raise ValueError(f"monotonic_cst must be a list, got {spec!r}")
        if len(values) != n_columns:
            raise ValueError(
                f"monotonic_cst must have one of -1, 0, 1 for each of the {n_columns} columns of X, got {len(values)}"
            )
        given = list(enumerate(values))
    for column, sign in given:
        if (
            isinstance(sign, bool | np.bool_)
            or not isinstance(sign, int | float | np.number)
            or sign not in (-1, 0, 1)
        ):
            raise ValueError(f"monotonic_cst must hold -1, 0 or 1, got {sign!r} for column {column}")
        signs[column] = int(sign)
    return tuple(signs)


def interactions(spec: Any, n_columns: int, names: Sequence[str] | None) -> tuple[tuple[int, ...], ...]:
    """The sets of columns that may meet on one path of a tree; columns in none form a set of their own."""
    if isinstance(spec, str):
        checks.choice(spec, "interaction_cst", ("no_interactions", "pairwise"))
        if spec == "no_interactions":
            return tuple((column,) for column in range(n_columns))
        return tuple((a, b) for a in range(n_columns) for b in range(a + 1, n_columns)) or ((0,),)
    groups = _sequence(spec)
    if groups is None or any(_sequence(part) is None for part in groups):
        raise ValueError(f"interaction_cst must be a list of sets of columns, got {spec!r}")
    sets = [
        tuple(tables.column_numbers(_sequence(part), names, n_columns, "interaction_cst")) for part in groups
    ]
    if any(len(part) == 0 for part in sets):
        raise ValueError("interaction_cst holds an empty set of columns: leave it out")
    rest = tuple(sorted(set(range(n_columns)) - {column for part in sets for column in part}))
    return tuple(sets) + ((rest,) if rest else ())


def _sequence(spec: Any) -> list[Any] | None:
    """A list, an array or a set, in order; None for anything else."""
    if isinstance(spec, str | bytes) or not isinstance(spec, Sequence | np.ndarray | set | frozenset):
        return None
    return sorted(spec, key=str) if isinstance(spec, set | frozenset) else list(spec)
