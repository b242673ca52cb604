"""The loop: rows in order, each through all stages. One score a row; `vectors` has several.

    y_0 = center;  z_i = P_B((1 - s_i eta) z_{i-1} + eta a_i)           (span)
                   z_i = (1 - eta_i) z_{i-1} + eta_i a_i                (hull)

with a_i the stage's answer, brought to [-D, D], and center + z_i the score after i stages. In linear mode stage i
learns from the slope at z_{i-1}; in greedy mode from the slope at the point it leads to, and later stages see what
earlier ones answer after their step.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import borrowed, kernel, part
from anyboost.backends.online import labels, learners
from anyboost.backends.online.learners import Row
from anyboost.backends.online.losses import ABSOLUTE, EXPECTILE, LOGISTIC, QUANTILE, slope, value

# Rows of the (5, stages + 1) chain, with stage i in column i, from 1: eta_i, s_i, cumulative loss, the same on tamed
# labels less that of column 0 and discounted, 1 / eta_i.
STEP, SHRINK, LOSS, SCORE, INVERSE = 0, 1, 2, 3, 4
ANSWERS, ROWS, FIRST, MOMENTS = 0, 1, 2, 3  # totals; from MOMENTS on sums of w, w y and w y^2


class Chain(NamedTuple):
    """The booster's settings."""

    code: int
    parameter: float
    hull: bool
    greedy: bool
    best_prefix: bool  # answer with the prefix of least loss so far, not with the whole chain
    running_center: bool
    start: float  # the center, where it does not run
    output_bound: float  # D; 0: follow the labels
    label_bound: float  # Y; 0: follow the labels
    radius: float  # B; 0: from D and Y
    lipschitz: float  # L; 0: B + Y
    scale: float  # lambda of the scaled class
    forget: float


@part
def best_prefix(chain):
    """The prefix of least loss; the longest among equals."""
    best = chain.shape[1] - 1
    for i in range(best - 1, -1, -1):
        if chain[SCORE, i] < chain[SCORE, best]:
            best = i
    return best


@part
def bounds_now(settings, chain, seen_labels):
    """center, D, B, and the range of scores outside which slopes are taken at its ends."""
    code = settings.code
    center = labels.center(code, seen_labels) if settings.running_center else settings.start
    reach = settings.label_bound if settings.label_bound > 0.0 else labels.reach(seen_labels)
    D = settings.scale * (settings.output_bound if settings.output_bound > 0.0 else reach)
    if settings.radius > 0.0:
        B = settings.radius
    else:
        B = labels.ball(code, settings.parameter, chain[STEP, 1], chain.shape[1] - 1, D, reach)
        if settings.greedy:
            B = reach
    if code > EXPECTILE:
        return center, D, B, -math.inf, math.inf
    if settings.label_bound > 0.0:
        return center, D, B, -reach, reach
    return center, D, B, seen_labels[labels.LOW], seen_labels[labels.HIGH]


@part
def clip(number, bound):
    return min(max(number, -bound), bound)


@part
def curvature_of(code, parameter, unit):
    """The curvature that steps are measured by: a bound where there is one, else one that fits the labels."""
    if code == LOGISTIC:
        return 0.25
    if code == EXPECTILE:
        return 2.0 * max(parameter, 1.0 - parameter)
    if code == ABSOLUTE or code == QUANTILE:
        return 1.0 / unit if unit > 0.0 else 1.0
    return 1.0


@part
def load_row(learner, table, seen, data, index, begins, width, number, weight, v):
    """Row `number` as the learner sees it; a row of weight 0 leaves no trace."""
    begin = begins[number] if len(begins) > 0 else number * width
    count = begins[number + 1] - begin if len(begins) > 0 else width
    norm = learners.load(learner, table, data, index, begin, count, weight > 0.0, v)
    return Row(begin, count, norm, learners.rate_of_row(learner, seen, norm), weight)


@kernel
def learn_rows(
    data, index, begins, width, y, weights, answers, work,
    settings, chain, seen_labels, totals, learner, main, extra, table, scratch, seen,
):  # fmt: skip
    """Answer and learn all rows; answers[row] is the score before the row was learned."""
    data, index, begins, y, weights = borrowed(data), borrowed(index), borrowed(begins), borrowed(y), borrowed(weights)
    answers, chain, seen_labels, totals = borrowed(answers), borrowed(chain), borrowed(seen_labels), borrowed(totals)
    main, extra, table, scratch, seen = (
        borrowed(main), borrowed(extra), borrowed(table), borrowed(scratch), borrowed(seen)
    )  # fmt: skip
    work = borrowed(work)
    stages = chain.shape[1] - 1
    raw, slopes, v = work[:stages], work[stages : stages + 1], work[stages + 1 :]
    for number in range(len(y)):
        row = load_row(learner, table, seen, data, index, begins, width, number, weights[number], v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        if row.weight > 0.0:
            answers[number] = learn_row(
                settings, chain, seen_labels, totals, learner, main, extra, table, scratch,
                row, index, v, y[number], raw, slopes,
            )  # fmt: skip
            learners.finish(learner, main, extra, table, scratch, seen, row, index, v)
        else:
            answers[number] = answer(settings, chain, seen_labels, raw)


@kernel
def predict_rows(
    data, index, begins, width, answers, work,
    settings, chain, seen_labels, learner, main, extra, table, scratch, seen,
):  # fmt: skip
    """Answer all rows."""
    stages = chain.shape[1] - 1
    raw, v = work[:stages], work[stages + 1 :]
    for number in range(len(answers)):
        row = load_row(learner, table, seen, data, index, begins, width, number, 0.0, v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        answers[number] = answer(settings, chain, seen_labels, raw)


@part
def answer(settings, chain, seen_labels, raw):
    """The score that the stages' raw answers give."""
    center, D, B, _, _ = bounds_now(settings, chain, seen_labels)
    length = best_prefix(chain) if settings.best_prefix else len(raw)
    z = 0.0
    for i in range(length):
        z = advance(settings.hull, chain[STEP, i + 1], chain[SHRINK, i + 1], z, clip(raw[i], D), B)
    return center + z


@part
def advance(hull, eta, shrink, z, a, B):
    """z_i from z_{i-1} and the stage's answer."""
    if hull:
        return (1.0 - eta) * z + eta * a
    return clip((1.0 - shrink * eta) * z + eta * a, B)


@part
def learn_row(
    settings, chain, seen_labels, totals, learner, main, extra, table, scratch, row, index, v, y, raw, slopes
):
    """One row through all stages; returns its score before it was learned."""
    code, parameter, weight = settings.code, settings.parameter, row.weight
    center, D, B, low, high = bounds_now(settings, chain, seen_labels)
    calm = labels.tame(seen_labels, y) if code <= EXPECTILE and settings.label_bound == 0.0 else y
    labels.see(seen_labels, y, weight, settings.forget)
    L = settings.lipschitz if settings.lipschitz > 0.0 else B + max(center - low, high - center)
    new_center, new_D, new_B, low, high = bounds_now(settings, chain, seen_labels)
    length = best_prefix(chain) if settings.best_prefix else len(raw)
    unit = math.sqrt(seen_labels[labels.VARIANCE]) if code <= EXPECTILE else 1.0
    ease = 1.0 / curvature_of(code, parameter, unit)
    age = totals[ROWS] + 1.0
    if settings.forget > 0.0:
        age = min(age, 1.0 / settings.forget)
    shrink_step = weight / (L * B * math.sqrt(age)) if L * B > 0.0 else 0.0

    z, new_z = 0.0, 0.0
    first = value(code, parameter, center, y)
    first_calm = first if calm == y else value(code, parameter, center, calm)
    chain[LOSS, 0] += weight * first
    result, result_loss = center, first
    for i in range(len(raw)):
        eta, shrink = chain[STEP, i + 1], chain[SHRINK, i + 1]
        a = clip(raw[i], D)
        pull = slope(code, parameter, center + z, calm)
        if settings.greedy:
            offset = new_center + ((1.0 - eta) * new_z if settings.hull else new_z)
            point = min(max(offset + eta * clip(raw[i], new_D), low), high)
            inverse = chain[INVERSE, i + 1]
            slopes[0] = slope(code, parameter, point, calm) * inverse
            lowest, highest = (low - offset) * inverse, (high - offset) * inverse
            least = min(max(-new_D, lowest), highest)
            most = max(min(new_D, highest), lowest)
            learners.learn(
                learner, main, extra, table, scratch, row, index, v, i,
                slopes, ease, unit * inverse, least, most, raw,
            )  # fmt: skip
            new_z = advance(settings.hull, eta, shrink, new_z, clip(raw[i], new_D), new_B)
        elif L > 0.0:
            slopes[0] = pull / L
            learners.learn(
                learner, main, extra, table, scratch, row, index, v, i, slopes, D, D, -D, D, raw
            )
        if not settings.hull:
            chain[SHRINK, i + 1] = min(max(shrink + shrink_step * pull * z, 0.0), 1.0)
        z = advance(settings.hull, eta, shrink, z, a, B)
        loss = value(code, parameter, center + z, y)
        chain[LOSS, i + 1] += weight * loss
        if i + 1 == length:
            result, result_loss = center + z, loss
        if calm != y:
            loss = value(code, parameter, center + z, calm)
        chain[SCORE, i + 1] = (1.0 - settings.forget) * chain[SCORE, i + 1] + weight * (loss - first_calm)
    totals[ANSWERS] += weight * result_loss
    totals[ROWS] += 1.0
    totals[MOMENTS] += weight
    totals[MOMENTS + 1] += weight * y
    totals[MOMENTS + 2] += weight * y * y
    return result
