"""A user's own row-wise loss, from two or three functions of (score, target)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.convexity import refuse_unless_convex
from anyboost.losses.functionals import Functional, Measure
from anyboost.losses.rowwise import RowwiseLoss

Scalar = Callable[[Any, Any], Any]


def pointwise(
    value: Scalar,
    subgradient: Scalar,
    curvature: Scalar | None = None,
    *,
    domain: domains.Domain | None = None,
    link: Callable[[Floats], Array] | None = None,
    name: str = "pointwise",
    smoothness: float = math.inf,
    strong_convexity: float = 0.0,
    lipschitz: float = math.inf,
    infimum: float = -math.inf,
) -> Pointwise:
    """A convex loss of your own, from `value(score, target)` and its derivative in the score.

    The functions are compiled at first use, so they may be plain scalar code with `if`. Functions that Numba cannot
    compile are called on whole arrays instead, and must then be NumPy functions of two (n,) arrays.

    Where the loss meets data, some of their targets and a grid of scores show whether it is convex.

    Parameters
    ----------
    value : callable
        The loss of (score, target).
    subgradient : callable
        Its derivative in the score, or any subgradient.
    curvature : callable or None, default None
        The second derivative, or that of a parabola above the loss with its value and slope at the score.
    domain : Domain or None, default None
        Which targets are allowed, a `losses.Domain`; None: any real number.
    link : callable or None, default None
        From scores to predictions; None: the identity.
    name : str, default "pointwise"
        What it is called in messages and files.
    smoothness : float, default inf
        Lambda, where known. Certificates trust the four constants.
    strong_convexity : float, default 0.0
        lambda, where known.
    lipschitz : float, default inf
        A bound on the subgradient, where known.
    infimum : float, default -inf
        What `value` is never under: 0 for most losses.

    Returns
    -------
    RowwiseLoss
        The loss.

    Examples
    --------
    >>> from anyboost.losses import pointwise
    >>> loss = pointwise(lambda f, y: (f - y) ** 4, lambda f, y: 4 * (f - y) ** 3)
    >>> float(loss.best_constant([1.0, 3.0]))
    2.0
    """
    for function, argument in ((value, "value"), (subgradient, "subgradient"), (curvature, "curvature")):
        if not callable(function) and (argument != "curvature" or function is not None):
            raise ValueError(f"{argument} must be a function of (score, target), got {function!r}")
    if strong_convexity < 0 or smoothness < strong_convexity or lipschitz < 0:
        raise ValueError(
            "smoothness, strong_convexity and lipschitz must not be negative, and smoothness not below "
            f"strong_convexity, got {smoothness}, {strong_convexity} and {lipschitz}"
        )
    if not infimum < math.inf:
        raise ValueError(f"infimum must be a number, or -inf where it is not known, got {infimum!r}")
    constants = (float(smoothness), float(strong_convexity), float(lipschitz), float(infimum))
    shown = links.IDENTITY if link is None else links.Link(link)
    return Pointwise(value, subgradient, curvature, name, domain or domains.REALS, shown, constants)


@dataclass(frozen=True)
class Pointwise(RowwiseLoss):
    """A loss made by `pointwise`."""

    value_function: Scalar
    subgradient_function: Scalar
    curvature_function: Scalar | None
    title: str
    targets: domains.Domain
    shown: links.Link
    constants: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        if self.targets.classes:
            raise ValueError("domain must be one of real targets: a pointwise loss has one score a row")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.title

    @property
    def domain(self) -> domains.Domain:  # type: ignore[override]
        return self.targets

    @property
    def link_(self) -> links.Link:  # type: ignore[override]
        return self.shown

    @property
    def kinked(self) -> bool:
        return self.smoothness == math.inf  # it may have kinks

    @property
    def smoothness(self) -> float:
        return self.constants[0]

    @property
    def strong_convexity(self) -> float:
        return self.constants[1]

    @property
    def lipschitz(self) -> float:
        return self.constants[2]

    @property
    def infimum(self) -> float:  # type: ignore[override]
        return self.constants[3]

    @property
    def has_curvature(self) -> bool:
        return self.curvature_function is not None

    @property
    def parameter(self) -> float:
        return 0.0  # the functions know their own

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        functions = (self.value_function, self.subgradient_function)
        names = [getattr(function, "__name__", type(function).__name__) for function in functions]
        return f"pointwise({', '.join(names)}, name={self.title!r})"

    def values(self, scores: Floats, y: Array) -> Floats:
        return self._apply(self.value_function, "value", scores, y)

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        return self._apply(self.subgradient_function, "subgradient", scores, y)

    def curvatures(self, scores: Floats, y: Array) -> Floats:
        if self.curvature_function is None:
            raise TypeError(f"the loss {self.name} has no curvature: give one to pointwise")
        return self._apply(self.curvature_function, "curvature", scores, y)

    def both(self, scores: Floats, y: Array) -> tuple[Floats, Floats]:
        return self.values(scores, y), self.subgradients(scores, y)

    def kernel(self, asked: str = "both") -> Callable[..., Any] | None:
        if asked == "curvatures":
            return None
        return _fused(self.value_function, self.subgradient_function, self.curvature_function, asked)

    def verify(self, scores: Floats, y: Array, mean: float, slopes: Floats) -> None:
        # A sum shows whether it is worth looking for a NaN; infinities of both signs make it look in vain.
        if np.isnan(mean + slopes.sum()):
            self.both(scores, y)

    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        functional = super().on(y, space, groups, outputs)
        given = {"value": self.value_function, "subgradient": self.subgradient_function}
        if self.curvature_function is not None:
            given["curvature"] = self.curvature_function
        for argument, function in given.items():
            numbers = self._apply(function, argument, np.zeros(len(functional.y)), functional.y)
            right = np.isfinite(numbers) & ((numbers >= 0) | (argument != "curvature"))
            if not right.all():
                row = int(np.argmin(right))
                raise ValueError(
                    f"{argument} of the loss {self.name} is {numbers[row]} at score 0 and target "
                    f"{functional.y[row]:.12g}: make it finite for every score"
                    f"{' and not negative' if argument == 'curvature' else ''}, or restrict its domain"
                )
        value, slope = (
            partial(self._compute, given[argument], argument) for argument in ("value", "subgradient")
        )
        refuse_unless_convex(self.name, value, slope, functional.y)
        return functional

    def _apply(self, function: Scalar, argument: str, scores: Floats, y: Array) -> Floats:
        scores, y = checks.numbers(scores, "scores"), checks.numbers(y, "y")
        result = self._compute(function, argument, scores, y)
        self._refuse_nan(result, argument, scores, y)
        return result

    def _compute(self, function: Scalar, argument: str, scores: Floats, y: Array) -> Floats:
        compiled, reason = _compiled(function)
        with np.errstate(all="ignore"):
            if compiled is None:
                return self._whole(function, argument, scores, y, reason)
            return compiled(scores, y)

    def _refuse_nan(self, result: Floats, argument: str, scores: Floats, y: Array) -> None:
        # Infinity is an overflow at a far-off score and keeps its sign; NaN has no meaning in a search.
        if np.isnan(result).any():
            row = int(np.argmax(np.isnan(result)))
            raise ValueError(
                f"{argument} of the loss {self.name} is NaN at score {scores[row]:.12g} and target "
                f"{y[row]:.12g}: make it a number for every score"
            )

    def _whole(self, function: Scalar, argument: str, scores: Floats, y: Array, reason: str) -> Floats:
        """Call a function that could not be compiled on whole arrays."""
        try:
            result = np.array(function(scores, y), dtype=np.float64)
        except Exception as error:
            raise TypeError(
                f"{argument} of the loss {self.name} works neither compiled ({reason}) nor on whole arrays "
                f"({error}): write it with plain arithmetic and `if`, or with NumPy functions"
            ) from error
        if result.shape != scores.shape:
            raise ValueError(
                f"{argument} of the loss {self.name} must return one number a row, got shape {result.shape} "
                f"for {len(scores)} rows"
            )
        return result


@lru_cache(maxsize=128)
def _fused(
    value: Scalar, subgradient: Scalar, curvature: Scalar | None, asked: str
) -> Callable[..., Any] | None:
    """The functions in one compiled loop over rows, as fast as a built-in loss; None where they cannot be."""
    given = [function for function in (value, subgradient, curvature) if function is not None]
    if any(_compiled(function)[0] is None for function in given):
        return None
    from anyboost.backends.rowwise import over_rows, scalar

    value_of, slope_of, curvature_of = scalar(value), scalar(subgradient), scalar(given[-1])

    def row(f: float, y: float, _: float) -> tuple[float, float, float]:
        return value_of(f, y), slope_of(f, y), curvature_of(f, y)

    return cast(Callable[..., Any], over_rows(row, asked=asked))


@lru_cache(maxsize=128)
def _compiled(function: Scalar) -> tuple[Callable[[Floats, Floats], Floats] | None, str]:
    """The function as a compiled loop over rows, or None and the reason why not."""
    import numba

    from anyboost.backends.rowwise import scalar

    try:
        compiled = scalar(function)

        # Division by zero gives inf or NaN as in NumPy, instead of an exception from inside the loop.
        @numba.njit("float64[::1](float64[::1], float64[::1])", nogil=True, error_model="numpy")
        def loop(scores: Floats, y: Floats) -> Floats:
            result = np.empty(len(scores))
            for row in range(len(scores)):
                result[row] = compiled(scores[row], y[row])
            return result

    except Exception as error:  # Numba raises many kinds: whatever it is, NumPy may still do
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return None, lines[0] if lines else type(error).__name__
    return loop, ""
