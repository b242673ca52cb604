"""What the chain asks of scores, where a row has several: z, answers and slopes are arrays, and balls are Euclidean.

What returns an array has filled memory of `SeveralScores`, which the next call of the same uses again.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined
from anyboost.backends.definitions import LOG_SHARES
from anyboost.backends.elementary import log
from anyboost.losses.numbered import value_and_slopes
from anyboost.online.one_score import Goal, counted, kept
from anyboost.online.region import Region, bounds_now, center_of, keeps_range, room, slope_range


class SeveralScores(NamedTuple):
    """The loss, the classes' weights so far, and memory."""

    code: int
    parameters: np.ndarray
    shares: np.ndarray
    regions: np.ndarray  # (2, 3, outputs) center, bottom and top, of two regions
    z: np.ndarray  # (2, outputs)
    point: np.ndarray
    result: np.ndarray
    pulls: np.ndarray
    spare: np.ndarray  # slopes that nobody asks for


def several_scores(code: int, parameters: np.ndarray, shares: np.ndarray) -> SeveralScores:
    k = len(shares)
    return SeveralScores(
        code, parameters, shares, np.zeros((2, 3, k)), np.zeros((2, k)), *(np.zeros(k) for _ in range(4))
    )


@inlined
def see(scores, settings, y, weight):
    if not settings.located:
        shares = scores.shares
        for k in range(len(shares)):
            shares[k] *= 1.0 - settings.forget
        shares[int(y)] += weight


@inlined
def region(scores, settings, chain, known, memory):
    D, B, low, high = bounds_now(settings, chain, known)
    center, bottom, top = scores.regions[memory, 0], scores.regions[memory, 1], scores.regions[memory, 2]
    _fill_center(scores, settings, known, center)
    for k in range(len(center)):
        bottom[k], top[k] = (
            room(settings, B, low, high, center[k]) if keeps_range(settings) else (-math.inf, math.inf)
        )
    reach = max(center[0] - low, high - center[0])
    low, high = slope_range(settings, low, high)
    return Region(center, reach, D, B, low, high, bottom, top, memory)


@inlined
def _fill_center(scores, settings, known, center):
    outputs = len(center)
    if not settings.running_center or settings.center != LOG_SHARES:
        center[:] = center_of(settings, known)
        return
    mean = 0.0
    for k in range(outputs):
        center[k] = log(scores.shares[k] + 1.0)
        mean += center[k]
    for k in range(outputs):
        center[k] -= mean / outputs


@inlined
def zero(scores, number):
    z = scores.z[number]
    z[:] = 0.0
    return z


@inlined
def of_stage(scores, raw, i):
    outputs = len(scores.shares)
    return raw[i * outputs : (i + 1) * outputs]


@inlined
def at(scores, now, z):
    return _sum(now.center, z, scores.result)


@inlined
def _sum(a, b, out):
    for k in range(len(out)):
        out[k] = a[k] + b[k]
    return out


@inlined
def value(scores, f, y):
    return value_and_slopes(scores.code, scores.parameters, f, y, scores.spare)


@inlined
def slope(scores, f, y, times, slopes):
    value_and_slopes(scores.code, scores.parameters, f, y, slopes)
    for k in range(len(slopes)):
        slopes[k] *= times


@inlined
def _shortening(vector, radius):
    """By what to multiply a vector so that it is no longer than the radius."""
    square = 0.0
    for k in range(len(vector)):
        square += vector[k] * vector[k]
    return radius / math.sqrt(square) if square > radius * radius else 1.0


@inlined
def advance(scores, link, z, answer, now):
    """In place."""
    factor, left = _shortening(answer, now.D), kept(link.hull, link.eta, link.shrink)
    for k in range(len(z)):
        z[k] = left * z[k] + link.coefficient * (answer[k] * factor)
    factor = _shortening(z, now.B) if link.hull == 0.0 else 1.0
    for k in range(len(z)):
        z[k] = min(max(z[k] * factor, now.bottom[k]), now.top[k])
    return z


@inlined
def goal(scores, link, raw, z, gain, tamed, then):
    factor, left, point = _shortening(raw, then.D), 1.0 - link.hull * link.eta, scores.point
    for k in range(len(point)):
        lead = then.center[k] + left * z[k] + link.coefficient * (raw[k] * factor)
        point[k] = min(max(lead, then.low), then.high)
    return Goal(point, -then.D, then.D, z, False)


@inlined
def arrive(scores, goal, link, z, moved, then):
    return advance(scores, link, z, moved, then)


@inlined
def account(scores, chain, now, points, y, tamed, weight, keep, shrink_step):
    point, pulls = scores.point, scores.pulls
    first = value_and_slopes(scores.code, scores.parameters, now.center, tamed, pulls)
    chain.loss[0] += weight * (first if tamed == y else value(scores, now.center, y))
    for i in range(1, len(chain.step)):
        inner = 0.0
        for k in range(len(pulls)):
            inner += pulls[k] * points[i - 1, k]
        _sum(now.center, points[i], point)
        tamed_loss = value_and_slopes(scores.code, scores.parameters, point, tamed, pulls)
        loss = tamed_loss if tamed == y else value(scores, point, y)
        chain.shrink[i], chain.loss[i], chain.score[i] = counted(
            *(inner, loss, tamed_loss, first, 1.0, chain.shrink[i], chain.loss[i], chain.score[i]),
            *(weight, keep, shrink_step),
        )
