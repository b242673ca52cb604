"""Losses by name: "squared", "quantile:0.9"."""

from __future__ import annotations

from collections.abc import Callable

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses.base import Array, Loss
from anyboost.losses.counts import Gamma, Poisson, Tweedie
from anyboost.losses.joint import Crossing, MultiQuantile
from anyboost.losses.margin import Exponential, Hinge, Logistic, SquaredHinge
from anyboost.losses.multiclass import MulticlassHinge, Softmax
from anyboost.losses.ranking import RankHinge, RankLogistic
from anyboost.losses.regression import Absolute, Expectile, Huber, Quantile, Squared
from anyboost.losses.survival import Cox


def _multi_quantile(*taus: float) -> Loss:
    return MultiQuantile(taus)


NAMED: dict[str, Callable[..., Loss]] = {
    loss.name: loss
    for loss in (
        *(Squared, Absolute, Quantile, Huber, Expectile),
        *(Poisson, Gamma, Tweedie),
        *(Logistic, Hinge, SquaredHinge, Exponential),
        *(Softmax, MulticlassHinge),
        *(RankHinge, RankLogistic, Crossing, Cox),
    )
} | {"multi_quantile": _multi_quantile}


def get(spec: str | Loss) -> Loss:
    """A loss from its name, its parameter after a colon ("quantile:0.9"); a loss passes through."""
    if isinstance(spec, Loss):
        return spec
    if isinstance(spec, type) and issubclass(spec, Loss):
        raise ValueError(f"loss must be a loss, got the class {spec.__name__}: write {spec.__name__}()")
    if not isinstance(spec, str):
        raise ValueError(f"loss must be a name or a loss, got {spec!r}: names are {', '.join(NAMED)}")
    return checks.named(spec, "loss", NAMED)


def suited(spec: str | Loss, y: Array, weights: Floats | None = None) -> Loss:
    """`get`, on checked targets: "huber" without a number is given the delta that suits them."""
    return Huber.suited_to(y, weights) if spec == "huber" else get(spec)


def stands_for(spec: str | Loss, loss: Loss) -> bool:
    """Whether `spec` is this loss, or could have been given for it."""
    return (spec == "huber" and isinstance(loss, Huber)) or repr(get(spec)) == repr(loss)
