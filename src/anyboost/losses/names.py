"""Losses by name: "squared", "quantile:0.9"; and by the names that the field has for them."""

from __future__ import annotations

from collections.abc import Callable

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.losses.base import Loss
from anyboost.losses.regression import Huber

NAMED: dict[str, Callable[..., Loss]] = {}  # filled in by the list, `anyboost.losses`

# What others call them.
OTHER_NAMES = {
    **dict.fromkeys(("squared_error", "l2", "mse", "rmse", "RMSE"), "squared"),
    **dict.fromkeys(("absolute_error", "l1", "mae", "MAE"), "absolute"),
    "pinball": "quantile",
    "binary": "logistic",
    **dict.fromkeys(("multiclass", "MultiClass"), "softmax"),
}
LOG_LOSS = (
    "log_loss",
    "cross_entropy",
    "crossentropy",
    "xentropy",
)  # logistic or softmax: a classifier knows which, by its classes
# What stands for one of ours in the parameter tables of other libraries, and is not understood: it may hold a colon.
THEIRS = {
    **dict.fromkeys(("regression", "reg:squarederror", "reg:linear"), "squared"),
    **dict.fromkeys(("regression_l1", "reg:absoluteerror"), "absolute"),
    **dict.fromkeys(("reg:quantileerror", "quantile:alpha"), "quantile:0.9"),
    "reg:pseudohubererror": "huber",
    **dict.fromkeys(("binary:logistic", "binary:logitraw", "reg:logistic", "logloss"), "logistic"),
    "binary:hinge": "hinge",
    **dict.fromkeys(("multi:softmax", "multi:softprob", "multiclassova"), "softmax"),
    "count:poisson": "poisson",
    "reg:gamma": "gamma",
    "reg:tweedie": "tweedie:1.5",
    "survival:cox": "cox",
    "multiquantile:alpha": "multi_quantile:0.05,0.5,0.95",
    **dict.fromkeys(("pairlogit", "pairlogitpairwise"), "rank_logistic"),
}
OF_ANOTHER = {"cvar": 'ab.losses.CVaR("absolute", 0.9)', "worst_group": 'ab.losses.WorstGroup("squared")'}
# Losses of other libraries that are not here, each with what comes nearest.
_OF_LOGARITHMS = "'squared' on log(1 + y)"
NEAREST = {
    "mape": "'absolute' with sample_weight=1 / abs(y), which is the same where no target is 0",
    **dict.fromkeys(("fair", "logcosh", "log_cosh"), "'huber'"),
    **dict.fromkeys(("msle", "squaredlogerror", "reg:squaredlogerror"), _OF_LOGARITHMS),
    "survival:aft": "'cox'",
    "multirmse": "'squared', which takes y of several columns",
    "rmsewithuncertainty": "'multi_quantile:0.05,0.5,0.95'",
}
NOT_HERE = ("lambdarank", "lambdamart", "rank:pairwise", "rank:ndcg", "rank:map", "rank_xendcg", "yetirank")


def get(spec: str | Loss) -> Loss:
    """A loss from its name, its parameter after a colon ("quantile:0.9"); a loss passes through.

    Parameters
    ----------
    spec : str or Loss
        The name, or the loss.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.get("quantile:0.9")
    Quantile(tau=0.9)
    """
    if isinstance(spec, Loss):
        return spec
    if isinstance(spec, type) and issubclass(spec, Loss):
        raise ValueError(f"loss must be a loss, got the class {spec.__name__}: write {spec.__name__}()")
    if not isinstance(spec, str):
        advice = f"names are {', '.join(NAMED)}"
        if callable(spec):
            advice = "a function becomes one by ab.losses.pointwise(value, subgradient)"
        raise ValueError(f"loss must be a name or a loss, got {checks.short(spec)}: {advice}")
    theirs = THEIRS.get(spec.lower().partition("=")[0])
    if theirs is not None:
        number = ", the number being yours" if ":" in theirs else ""
        raise ValueError(f"loss {spec!r} is another library's name: use {theirs!r}{number}")
    if spec.lower() in LOG_LOSS:
        raise ValueError(
            f"loss {spec!r} does not say of how many classes: use 'logistic' for two, -1 and +1, 'softmax' for more, "
            "or a BoostingClassifier"
        )
    near = NEAREST.get(spec.lower().partition("=")[0])
    if near is not None:
        raise ValueError(f"loss {spec!r} is not here: use {near}")
    if spec.lower() in NOT_HERE:
        raise ValueError(
            f"loss {spec!r} is not here: use 'rank_logistic' or 'rank_hinge', which rank the pairs of a query"
        )
    made = OF_ANOTHER.get(spec.partition(":")[0].lower())
    if made is not None:
        raise ValueError(f"loss {spec!r} is made of another loss, and has no name: pass {made} in Python")
    return checks.named(spec, "loss", NAMED, OTHER_NAMES)


def suited(spec: str | Loss, y: Array, weights: Floats | None = None) -> Loss:
    """What `get` gives, on checked targets: "huber" without a number is given the delta that suits them.

    Parameters
    ----------
    spec : str or Loss
        The name, or the loss.
    y : ndarray
        Checked targets.
    weights : ndarray (n,) or None, default None
        Weights of the rows.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> ab.losses.suited("huber", np.arange(11.0))
    Huber(delta=5.0)
    """
    return Huber.suited_to(y, weights) if spec == "huber" else get(spec)


def stands_for(spec: str | Loss, loss: Loss) -> bool:
    """Whether `spec` is this loss, or could have been given for it.

    Parameters
    ----------
    spec : str or Loss
        A name, or a loss.
    loss : Loss
        The loss to compare it with.

    Returns
    -------
    bool
        Whether they are the same.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.losses.stands_for("huber", ab.losses.Huber(3.0))
    True
    """
    return (spec == "huber" and isinstance(loss, Huber)) or get(spec) == loss
