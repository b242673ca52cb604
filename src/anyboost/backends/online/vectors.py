"""The loop of `rows` for several scores a row: z, a and slopes are vectors, and balls are Euclidean."""

import math

from anyboost.backends.compiler import kernel, part
from anyboost.backends.definitions import LOG_SHARES
from anyboost.backends.elementary import log
from anyboost.backends.numbered import value_and_slopes
from anyboost.backends.online import labels, learners
from anyboost.backends.online.chain import (
    ANSWERS,
    INVERSE,
    LOSS,
    ROWS,
    SCORE,
    SHRINK,
    STEP,
    answering_prefix,
    bounds_now,
    count_row,
    ease_of,
    lipschitz_of,
    room,
    shrink_rate,
    unit_of,
)
from anyboost.backends.online.rows import load_row

# Rows of the (9, outputs) scratch of a row: z and z after the steps, center before and after the label, a, a point,
# slopes, more slopes, and what answers.
Z, NEW_Z, CENTER, NEW_CENTER, A, POINT, SLOPES, PULLS, RESULT = 0, 1, 2, 3, 4, 5, 6, 7, 8
LINES = 9


@part
def fill_center(settings, seen_labels, shares, out):
    """y_0, one number an output."""
    outputs = len(out)
    if not settings.running_center or settings.center != LOG_SHARES:
        number = labels.center(settings.center, seen_labels) if settings.running_center else settings.start
        for k in range(outputs):
            out[k] = number
        return
    mean = 0.0
    for k in range(outputs):
        out[k] = log(shares[k] + 1.0)
        mean += out[k]
    for k in range(outputs):
        out[k] -= mean / outputs


@part
def fit_into_ball(vector, radius):
    """Shorten a vector to the radius."""
    square = 0.0
    for k in range(len(vector)):
        square += vector[k] * vector[k]
    if square > radius * radius:
        factor = radius / math.sqrt(square)
        for k in range(len(vector)):
            vector[k] *= factor


@part
def take(raw, stage, D, out):
    """A stage's answer, no longer than D."""
    outputs = len(out)
    for k in range(outputs):
        out[k] = raw[stage * outputs + k]
    fit_into_ball(out, D)


@part
def advance(settings, eta, shrink, z, a, center, B, low, high):
    """z_i from z_{i-1} and the stage's answer, in place."""
    kept = 1.0 - eta if settings.hull else 1.0 - shrink * eta
    for k in range(len(z)):
        z[k] = kept * z[k] + eta * a[k]
    if not settings.hull:
        fit_into_ball(z, B)
    if settings.greedy:
        for k in range(len(z)):
            least, most = room(settings, B, low, high, center[k])
            z[k] = min(max(z[k], least), most)


@kernel
def learn_rows(
    data, index, begins, width, y, weights, answers, v, raw, lines, taus, shares,
    settings, chain, seen_labels, totals, learner, main, extra, table, scratch, seen,
):  # fmt: skip
    """Answer and learn all rows; answers[row] holds the scores before the row was learned."""
    for number in range(len(y)):
        row = load_row(learner, table, seen, data, index, begins, width, number, weights[number], v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        if row.weight > 0.0:
            learn_row(
                settings, chain, seen_labels, totals, shares, taus, learner, main, extra, table, scratch,
                row, index, v, y[number], raw, lines,
            )  # fmt: skip
            learners.finish(learner, main, extra, table, scratch, seen, row, index, v)
        else:
            answer(settings, chain, seen_labels, shares, raw, lines)
        for k in range(answers.shape[1]):
            answers[number, k] = lines[RESULT, k]


@kernel
def predict_rows(
    data, index, begins, width, answers, v, raw, lines, taus, shares,
    settings, chain, seen_labels, learner, main, extra, table, scratch, seen,
):  # fmt: skip
    """Answer all rows."""
    for number in range(len(answers)):
        row = load_row(learner, table, seen, data, index, begins, width, number, 0.0, v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        answer(settings, chain, seen_labels, shares, raw, lines)
        for k in range(answers.shape[1]):
            answers[number, k] = lines[RESULT, k]


@kernel
def answer(settings, chain, seen_labels, shares, raw, lines):
    """The scores that the stages' raw answers give, into lines[RESULT]."""
    D, B, low, high = bounds_now(settings, chain, seen_labels)
    fill_center(settings, seen_labels, shares, lines[CENTER])
    lines[Z, :] = 0.0
    for i in range(answering_prefix(settings, chain)):
        take(raw, i, D, lines[A])
        advance(
            settings,
            chain[STEP, i + 1],
            chain[SHRINK, i + 1],
            lines[Z],
            lines[A],
            lines[CENTER],
            B,
            low,
            high,
        )
    for k in range(lines.shape[1]):
        lines[RESULT, k] = lines[CENTER, k] + lines[Z, k]


@kernel
def learn_row(
    settings, chain, seen_labels, totals, shares, taus, learner, main, extra, table, scratch,
    row, index, v, y, raw, lines,
):  # fmt: skip
    """One row through all stages; its scores before it was learned go into lines[RESULT]."""
    code, weight, outputs = settings.code, row.weight, lines.shape[1]
    z, new_z, center, new_center = lines[Z], lines[NEW_Z], lines[CENTER], lines[NEW_CENTER]
    a, point, slopes, pulls = lines[A], lines[POINT], lines[SLOPES], lines[PULLS]
    D, B, low, high = bounds_now(settings, chain, seen_labels)
    fill_center(settings, seen_labels, shares, center)
    L = lipschitz_of(settings, B, max(center[0] - low, high - center[0]))
    calm = labels.tame(seen_labels, y) if settings.located and settings.label_bound == 0.0 else y
    keep = 1.0 - settings.forget
    labels.see(seen_labels, y, weight, settings.forget)
    if not settings.located:
        for k in range(outputs):
            shares[k] *= keep
        shares[int(y)] += weight
    old_low, old_high = low, high
    new_D, new_B, low, high = bounds_now(settings, chain, seen_labels)
    fill_center(settings, seen_labels, shares, new_center)
    ease, unit = ease_of(settings, seen_labels), unit_of(settings, seen_labels)
    length = answering_prefix(settings, chain)
    shrink_step = weight * shrink_rate(settings, totals[ROWS], L, B)
    z[:], new_z[:] = 0.0, 0.0
    first = value_and_slopes(code, taus, center, calm, pulls)
    result_loss = first if calm == y else value_and_slopes(code, taus, center, y, slopes)
    lines[RESULT, :] = center
    chain[LOSS, 0] += weight * result_loss
    for i in range(chain.shape[1] - 1):
        eta, shrink = chain[STEP, i + 1], chain[SHRINK, i + 1]
        inner = 0.0
        for k in range(outputs):
            inner += pulls[k] * z[k]
        take(raw, i, D, a)
        chain[SHRINK, i + 1] = min(max(shrink + shrink_step * inner, 0.0), 1.0)
        advance(settings, eta, shrink, z, a, center, B, old_low, old_high)
        if settings.greedy:
            inverse = chain[INVERSE, i + 1]
            kept = 1.0 - eta if settings.hull else 1.0
            take(raw, i, new_D, a)
            for k in range(outputs):
                point[k] = min(max(new_center[k] + kept * new_z[k] + eta * a[k], low), high)
            value_and_slopes(code, taus, point, calm, slopes)
            for k in range(outputs):
                slopes[k] *= inverse
            learners.learn(
                learner, main, extra, table, scratch, row, index, v, i,
                slopes, ease, unit * inverse, -new_D, new_D, raw,
            )  # fmt: skip
            take(raw, i, new_D, a)
            advance(settings, eta, shrink, new_z, a, new_center, new_B, low, high)
        elif L > 0.0:
            for k in range(outputs):
                slopes[k] = pulls[k] / L
            learners.learn(learner, main, extra, table, scratch, row, index, v, i, slopes, D, D, -D, D, raw)
        for k in range(outputs):
            point[k] = center[k] + z[k]
        calm_loss = value_and_slopes(code, taus, point, calm, pulls)
        loss = calm_loss if calm == y else value_and_slopes(code, taus, point, y, slopes)
        chain[LOSS, i + 1] += weight * loss
        if i + 1 == length:
            lines[RESULT, :] = point
            result_loss = loss
        chain[SCORE, i + 1] = keep * chain[SCORE, i + 1] + weight * (calm_loss - first)
    count_row(totals, weight, y)
    totals[ANSWERS] += weight * result_loss
