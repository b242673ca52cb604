"""What the chain asks of scores, where a row has one: a number, and the formulas of a stage.

The formulas come first, for numbers and for vectors of numbers, with `hull` 1.0 or 0.0.
"""

from typing import NamedTuple

from anyboost.backends.compiler import inlined
from anyboost.backends.simd import every, select
from anyboost.losses.numbered import by_number
from anyboost.losses.numbered import slope as slope_of
from anyboost.losses.numbered import value as value_of
from anyboost.online.region import Region, bounds_now, center_of, room, slope_range


class OneScore(NamedTuple):
    """The loss."""

    code: int
    parameter: float


class Goal(NamedTuple):
    """What a greedy stage learns from, and where its step ends."""

    point: float  # where its slope is taken
    least: float  # answers beyond these make no difference
    most: float
    ahead: float  # z after the step,
    known: bool  # where that can be told beforehand: the next stage need not wait for it then


@inlined
def clip(number, bound):
    return min(max(number, -bound), bound)


@inlined
def kept(hull, eta, shrink):
    """What a stage leaves of z: 1 - eta_i (hull) or 1 - s_i eta (span)."""
    return 1.0 - (hull + (1.0 - hull) * shrink) * eta


@inlined
def advanced(hull, eta, coefficient, shrink, z, a, least, most):
    """z_i from z_{i-1} and the stage's answer, which has the coefficient eta_i lambda."""
    return min(max(kept(hull, eta, shrink) * z + coefficient * a, least), most)


@inlined
def goal_of(hull, eta, coefficient, inverse, shrink, raw, z, gain, tamed, center, D, low, high, bottom, top):
    """A stage's goal, from its answer and z before its step; for `gain` see `learners`."""
    lead, left = coefficient * raw, 1.0 - hull * eta
    offset = center + left * z
    point, least, most = offset + lead, -D, D
    near = (gain >= 0.0) & (low <= point) & (point <= high) & (abs(raw) <= D)
    moved = raw - gain * (point - tamed) * inverse
    ahead = (kept(hull, eta, shrink) - gain * left) * z + (lead - gain * (center - tamed + lead))
    known = near & (abs(moved) <= D) & (bottom <= ahead) & (ahead <= top)
    if not every(near):  # which is rare
        lowest, highest = (low - offset) * inverse, (high - offset) * inverse
        point = select(near, point, min(max(offset + coefficient * clip(raw, D), low), high))
        least = select(near, least, min(max(-D, lowest), highest))
        most = select(near, most, max(min(D, highest), lowest))
    return Goal(point, least, most, ahead, known)


@inlined
def arrived(goal, hull, eta, coefficient, shrink, z, moved, D, bottom, top):
    """z after the stage's step, which moved its answer."""
    if every(goal.known):
        return goal.ahead
    after = advanced(hull, eta, coefficient, shrink, z, clip(moved, D), bottom, top)
    return select(goal.known, goal.ahead, after)


@inlined
def counted(pull, loss, tamed_loss, first, z, shrink, total, score, weight, keep, shrink_step):
    """A stage's shrinkage, loss and score after a row; `pull` and z are from before the stage."""
    return (
        min(max(shrink + shrink_step * pull * z, 0.0), 1.0),
        total + weight * loss,
        keep * score + weight * (tamed_loss - first),
    )


@inlined
def see(scores, settings, y, weight):
    pass


@inlined
def region(scores, settings, chain, known, memory):
    center, (D, B, low, high) = center_of(settings, known), bounds_now(settings, chain, known)
    bottom, top = room(settings, B, low, high, center)
    reach = max(center - low, high - center)
    low, high = slope_range(settings, low, high)
    return Region(center, reach, D, B, low, high, bottom, top, memory)


@inlined
def zero(scores, number):
    return 0.0


@inlined
def of_stage(scores, raw, i):
    return raw[i]


@inlined
def at(scores, now, z):
    return now.center + z


@inlined
def value(scores, f, y):
    return value_of(scores.code, scores.parameter, f, y)


@inlined
def slope(scores, f, y, times, slopes):
    slopes[0] = slope_of(scores.code, scores.parameter, f, y) * times


@inlined
def advance(scores, link, z, answer, now):
    return advanced(
        link.hull, link.eta, link.coefficient, link.shrink, z, clip(answer, now.D), now.bottom, now.top,
    )  # fmt: skip


@inlined
def goal(scores, link, raw, z, gain, tamed, then):
    return goal_of(
        link.hull, link.eta, link.coefficient, link.inverse, link.shrink, raw, z, gain, tamed,
        then.center, then.D, then.low, then.high, then.bottom, then.top,
    )  # fmt: skip


@inlined
def arrive(scores, goal, link, z, moved, then):
    return arrived(
        goal, link.hull, link.eta, link.coefficient, link.shrink, z, moved, then.D, then.bottom, then.top,
    )  # fmt: skip


@inlined
def account(scores, chain, now, points, y, tamed, weight, keep, shrink_step):
    _account(scores.code, scores.parameter, chain, now.center, points, y, tamed, weight, keep, shrink_step)


@by_number  # so that it is done for several stages at once
def _account(parameter, chain, center, points, y, tamed, weight, keep, shrink_step):
    first = row(center, tamed, parameter)[0]  # noqa: F821
    chain.loss[0] += weight * row(center, y, parameter)[0]  # noqa: F821
    for i in range(len(chain.step) - 1):
        before, after = center + points[i], center + points[i + 1]
        chain.shrink[i + 1], chain.loss[i + 1], chain.score[i + 1] = counted(
            row(before, tamed, parameter)[1],  # noqa: F821
            row(after, y, parameter)[0],  # noqa: F821
            row(after, tamed, parameter)[0],  # noqa: F821
            *(first, points[i], chain.shrink[i + 1], chain.loss[i + 1], chain.score[i + 1]),
            *(weight, keep, shrink_step),
        )
