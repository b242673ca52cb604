"""Zeros of nondecreasing slopes, many at once: the exact step of every one-dimensional convex problem.

    minimize_c  phi_i(c), i = 1 .. n,   where slope(c)_i is a subgradient of phi_i at c_i

The minimizers of phi_i are an interval; its midpoint is the answer. One call of `slope` serves all n
problems, so the work is a few dozen passes over the data, however many leaves a tree has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from anyboost.checks import Floats

Slope = Callable[[Floats], Floats]
Mask = npt.NDArray[np.bool_]

FADE = 1e-6
_FARTHEST = 2.0**340  # beyond any target (`domains.LARGEST`)
_NEAREST = 2.0**-100
_CLOSE = 4 * np.finfo(np.float64).eps
_MAX_PROBES = 400  # of one of the searches below
_MOST_PROBES = 3000  # of all of them: slopes that never fall need far fewer


def monotone_zeros(slope: Slope, n: int) -> Floats:
    """Midpoint of each zero set of `slope`, which maps (n,) to (n,), nondecreasing in each component.

    A zero set is where the slope is 0 or jumps over it. Special cases:
    - zero on a half-line (hinge, one class): its finite end; zero everywhere: 0;
    - the slope fades out but never changes sign (logistic, one class: the minimizer is at infinity):
      the point where it has fallen to 1e-6 of its value at 0;
    - it does neither: ValueError, there is no minimum.
    """
    return zeros_and_fading(slope, n)[0]


def zeros_and_fading(slope: Slope, n: int) -> tuple[Floats, Mask]:
    """`monotone_zeros`, and which components had their minimizer at infinity."""
    with np.errstate(all="ignore"):
        bracket = _Bracket(slope, n)
        start = bracket.probe(np.zeros(n))
        for side in (1.0, -1.0):
            bracket.grow(side)
        for side in (1.0, -1.0):
            bracket.shrink(side)
        fading = np.zeros(n, dtype=bool)
        answer = _inside(bracket)
        for side in (1.0, -1.0):
            one_sided = bracket.missing(side) & ~bracket.missing(-side)
            if one_sided.any():
                ends, faded = _finite_ends(bracket, side, one_sided, start)
                answer = np.where(one_sided, ends, answer)
                fading |= faded
        return answer, fading


class _Bracket:
    """What is known of each zero set: `below` has slope < 0, `above` > 0, `first .. last` is 0."""

    def __init__(self, slope: Slope, n: int) -> None:
        self.slope = slope
        self.below, self.above = np.full(n, -np.inf), np.full(n, np.inf)
        self.below_slope, self.above_slope = np.zeros(n), np.zeros(n)
        self.first, self.last = np.full(n, np.inf), np.full(n, -np.inf)
        self.steepest = np.zeros(n)
        self.probes = 0

    def probe(self, x: Floats) -> Floats:
        self.probes += 1
        if self.probes > _MOST_PROBES:
            raise ValueError(
                f"the search for the least loss did not end after {_MOST_PROBES} trials: the slope of the loss falls "
                "where it must not, so it is not convex; use another loss"
            )
        value = np.asarray(self.slope(x), dtype=np.float64)
        negative, positive = (value < 0) & (x >= self.below), (value > 0) & (x <= self.above)
        self.below, self.above = np.where(negative, x, self.below), np.where(positive, x, self.above)
        self.below_slope = np.where(negative, value, self.below_slope)
        self.above_slope = np.where(positive, value, self.above_slope)
        size = np.abs(value)
        self.steepest = np.where(np.isfinite(size), np.maximum(self.steepest, size), self.steepest)
        zero = ~(value < 0) & ~(value > 0)
        self.first = np.where(zero, np.minimum(self.first, x), self.first)
        self.last = np.where(zero, np.maximum(self.last, x), self.last)
        return value

    @property
    def flat(self) -> Mask:
        """A point of slope zero has been seen."""
        return self.first <= self.last

    def outer(self, side: float) -> Floats:
        return self.above if side > 0 else self.below

    def inner(self, side: float) -> Floats:
        """The point nearest to the outer one that is not beyond the zero set."""
        return np.maximum(self.below, self.last) if side > 0 else np.minimum(self.above, self.first)

    def missing(self, side: float) -> Mask:
        return np.isinf(self.outer(side))

    def grow(self, side: float) -> None:
        """From 1, outward until the slope changes sign; in great strides once it is zero."""
        reach = np.ones(len(self.below))
        while (active := self.missing(side) & (reach <= _FARTHEST)).any():
            value = self.probe(np.where(active, side * reach, 0.0))
            reach = np.where(active, reach * np.where(value == 0, 256.0, 2.0), reach)

    def shrink(self, side: float) -> None:
        """Where 1 was already beyond the zero set, inward to the scale of the data."""
        while (
            active := ~self.missing(side)
            & (self.inner(side) == 0)
            & (np.abs(np.where(self.missing(side), 0.0, self.outer(side))) > _NEAREST)
        ).any():
            self.probe(np.where(active, self.outer(side) / 16.0, 0.0))

    def gallop(self, side: float, active: Mask) -> Mask:
        """In growing strides out of the zeros just found; tells which of them end in a jump.

        Where the slope passes smoothly through zero, rounding makes a few floats of zeros around the
        root, which are not worth a search.
        """
        stride = 1e-10 * np.maximum(np.abs(self.first), np.abs(self.last)) + _NEAREST
        moving = active
        while (moving := moving & (stride < 0.5 * np.abs(self.outer(side) - self.inner(side)))).any():
            before = self.inner(side)
            self.probe(np.where(moving, before + side * stride, 0.0))
            moving = moving & (self.inner(side) != before)
            stride = stride * 64.0
        beyond = np.abs(self.above_slope if side > 0 else self.below_slope)
        return active & ~(beyond <= 1e-9 * self.steepest)

    def narrow(self, side: float, active: Mask) -> None:
        """Bisect for the end of the flat part on this side."""
        for _ in range(_MAX_PROBES):
            inner, outer = self.inner(side), self.outer(side)
            active = active & (np.abs(outer - inner) > _tolerance(inner, outer))
            if not active.any():
                return
            self.probe(np.where(active, inner + 0.5 * (outer - inner), 0.0))


def _tolerance(a: Floats, b: Floats) -> Floats:
    return np.maximum(_CLOSE * np.maximum(np.abs(a), np.abs(b)), _NEAREST)


def _inside(bracket: _Bracket) -> Floats:
    """The midpoint where the slope changes sign; 0 where it is zero everywhere."""
    two_sided = ~bracket.missing(1.0) & ~bracket.missing(-1.0)
    steep = two_sided & ~bracket.flat
    low, high = _cross(
        bracket.probe,
        np.where(two_sided, bracket.below, 0.0),
        np.where(two_sided, bracket.above, 0.0),
        bracket.below_slope,
        bracket.above_slope,
        steep,
    )
    answer = np.where(steep, low + 0.5 * (high - low), 0.0)

    # A zero seen by chance between two steep sides is the answer; only a flat part has ends to look for.
    flat = two_sided & bracket.flat
    if flat.any():
        for side in (1.0, -1.0):
            bracket.narrow(side, bracket.gallop(side, flat))
        answer = np.where(flat, bracket.first + 0.5 * (bracket.last - bracket.first), answer)
    return answer


def _finite_ends(bracket: _Bracket, side: float, active: Mask, start: Floats) -> tuple[Floats, Mask]:
    """No sign change toward `side`: the finite end of the zeros, or the point where the slope fades."""
    strict = bracket.outer(-side)  # the farthest point known to be steep
    strict_slope = bracket.below_slope if side > 0 else bracket.above_slope
    level = FADE * np.abs(start)
    faint = active & (start != 0) & (bracket.flat | (np.abs(strict_slope) <= level))
    if (active & ~bracket.flat & ~faint).any():
        raise ValueError("the loss has no minimum: its slope neither changes sign nor fades away")

    # Mirrored and lifted by the level, the fading slope has an ordinary zero.
    def lifted(x: Floats) -> Floats:
        return side * bracket.probe(side * x) + level

    far = np.where(bracket.flat, side * bracket.inner(-side), side * strict)
    far = np.where(faint, far, 0.0)
    low, high = _cross(lifted, np.zeros(len(far)), far, -np.abs(start) + level, level, faint, 1e-9)
    fade = np.where(faint, low + 0.5 * (high - low), 0.0)

    # An exponential tail is far below the level halfway to where it underflows; a real end is not.
    near_end = side * np.where(faint & bracket.flat, bracket.inner(-side), side * fade)
    bracket.probe(np.where(faint, side * (fade + 0.5 * (near_end - fade)), 0.0))
    strict_slope = bracket.below_slope if side > 0 else bracket.above_slope
    endless = faint & (~bracket.flat | (np.abs(strict_slope) < 1e-3 * level))
    bracket.narrow(-side, active & ~endless)
    return np.where(endless, side * fade, np.where(bracket.flat, bracket.inner(-side), 0.0)), endless


def _cross(
    slope: Slope,
    low: Floats,
    high: Floats,
    low_slope: Floats,
    high_slope: Floats,
    active: Mask,
    relative: float = _CLOSE,
) -> tuple[Floats, Floats]:
    """Shrink brackets around sign changes (Chandrupatla: inverse quadratic steps, else bisection)."""
    newest, other, previous = low.copy(), high.copy(), low.copy()
    f_newest, f_other, f_previous = low_slope.copy(), high_slope.copy(), low_slope.copy()
    part = np.full(len(low), 0.5)
    for _ in range(_MAX_PROBES):
        width = np.abs(other - newest)
        tolerance = np.maximum(relative * np.maximum(np.abs(newest), np.abs(other)), _NEAREST)
        active = active & (width > tolerance)
        if not active.any():
            break
        least = np.minimum(0.5 * tolerance / width, 0.5)
        x = np.where(active, newest + np.clip(part, least, 1.0 - least) * (other - newest), 0.0)
        f = slope(x)
        same = np.sign(f) == np.sign(f_newest)
        previous, f_previous = (
            np.where(active, np.where(same, newest, other), previous),
            np.where(active, np.where(same, f_newest, f_other), f_previous),
        )
        other, f_other = (
            np.where(active & ~same, newest, other),
            np.where(active & ~same, f_newest, f_other),
        )
        newest, f_newest = np.where(active, x, newest), np.where(active, f, f_newest)
        hit = active & ~(f < 0) & ~(f > 0)
        other = np.where(hit, newest, other)

        xi = (newest - other) / (previous - other)
        phi = (f_newest - f_other) / (f_previous - f_other)
        quadratic = (phi**2 < xi) & ((1.0 - phi) ** 2 < 1.0 - xi)
        step = f_newest / (f_other - f_newest) * f_previous / (f_other - f_previous)
        step += (
            (previous - newest)
            / (other - newest)
            * f_newest
            / (f_previous - f_newest)
            * f_other
            / (f_previous - f_other)
        )
        part = np.where(quadratic & np.isfinite(step), step, 0.5)
    return np.minimum(newest, other), np.maximum(newest, other)
