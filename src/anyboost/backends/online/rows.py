"""The loop: rows in order, each through all stages. One score a row; `vectors` has several.

In linear mode a stage learns from the slope at the point before it; in greedy mode from the slope at the point it
leads to, where later stages see what earlier ones answer after their step.
"""

from anyboost.backends.compiler import borrowed, kernel, part
from anyboost.backends.online import labels, learners
from anyboost.backends.online.chain import (
    INVERSE,
    LOSS,
    SCORE,
    SHRINK,
    STEP,
    advance,
    answering_prefix,
    bounds_now,
    clip,
    count_row,
    ease_of,
    lipschitz_of,
    room,
    shrink_rate,
    unit_of,
)
from anyboost.backends.online.learners import Row
from anyboost.backends.online.losses import SQUARED, slope, value


@part
def load_row(learner, table, seen, data, index, begins, width, number, weight, v):
    """Row `number` as the learner sees it; a row of weight 0 leaves no trace."""
    begin = begins[number] if len(begins) > 0 else number * width
    count = begins[number + 1] - begin if len(begins) > 0 else width
    norm = learners.load(learner, table, data, index, begin, count, weight > 0.0, v)
    return Row(begin, count, norm, learners.rate_of_row(learner, seen, norm), weight)


@part
def center_of(settings, seen_labels):
    """y_0."""
    return labels.center(settings.center, seen_labels) if settings.running_center else settings.start


@kernel
def learn_rows(
    data, index, begins, width, y, weights, answers, work,
    settings, chain, seen_labels, totals, learner, main, extra, table, scratch, seen,
):  # fmt: skip
    """Answer and learn all rows; answers[row] is the score before the row was learned."""
    data, index, begins, y, weights = (
        borrowed(data),
        borrowed(index),
        borrowed(begins),
        borrowed(y),
        borrowed(weights),
    )
    answers, chain, seen_labels, totals = (
        borrowed(answers),
        borrowed(chain),
        borrowed(seen_labels),
        borrowed(totals),
    )
    main, extra, table, scratch = borrowed(main), borrowed(extra), borrowed(table), borrowed(scratch)
    seen, work = borrowed(seen), borrowed(work)
    stages = chain.shape[1] - 1
    raw, slopes, points = work[:stages], work[stages : stages + 1], work[stages + 1 : 2 * stages + 2]
    v = work[2 * stages + 2 :]
    for number in range(len(y)):
        row = load_row(learner, table, seen, data, index, begins, width, number, weights[number], v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        if row.weight > 0.0:
            answers[number] = learn_row(
                settings, chain, seen_labels, totals, learner, main, extra, table, scratch,
                row, index, v, y[number], raw, slopes, points,
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
    data, index, begins, answers, work = (
        borrowed(data),
        borrowed(index),
        borrowed(begins),
        borrowed(answers),
        borrowed(work),
    )
    chain, seen_labels, main, extra = borrowed(chain), borrowed(seen_labels), borrowed(main), borrowed(extra)
    table, scratch, seen = borrowed(table), borrowed(scratch), borrowed(seen)
    stages = chain.shape[1] - 1
    raw, v = work[:stages], work[2 * stages + 2 :]
    for number in range(len(answers)):
        row = load_row(learner, table, seen, data, index, begins, width, number, 0.0, v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        answers[number] = answer(settings, chain, seen_labels, raw)


@part
def answer(settings, chain, seen_labels, raw):
    """The score that the stages' raw answers give."""
    center, (D, B, low, high) = center_of(settings, seen_labels), bounds_now(settings, chain, seen_labels)
    least, most = room(settings, B, low, high, center)
    z = 0.0
    for i in range(answering_prefix(settings, chain)):
        z = advance(settings.hull, chain[STEP, i + 1], chain[SHRINK, i + 1], z, clip(raw[i], D), least, most)
    return center + z


@part
def learn_row(
    settings, chain, seen_labels, totals, learner, main, extra, table, scratch,
    row, index, v, y, raw, slopes, points,
):  # fmt: skip
    """One row through all stages; returns its score before it was learned."""
    code, parameter, weight = settings.code, settings.parameter, row.weight
    center, (D, B, low, high) = center_of(settings, seen_labels), bounds_now(settings, chain, seen_labels)
    L = lipschitz_of(settings, B, max(center - low, high - center))
    bottom, top = room(settings, B, low, high, center)
    calm = labels.tame(seen_labels, y) if settings.located and settings.label_bound == 0.0 else y
    labels.see(seen_labels, y, weight, settings.forget)
    new_center = center_of(settings, seen_labels)
    new_D, new_B, low, high = bounds_now(settings, chain, seen_labels)
    new_bottom, new_top = room(settings, new_B, low, high, new_center)
    ease, unit = ease_of(settings, seen_labels), unit_of(settings, seen_labels)
    short = new_center - calm
    length, keep = answering_prefix(settings, chain), 1.0 - settings.forget
    shrink_step = weight * shrink_rate(settings, totals, L, B)
    z, new_z, points[0] = 0.0, 0.0, 0.0
    for i in range(len(raw)):
        a, eta, shrink = clip(raw[i], D), chain[STEP, i + 1], chain[SHRINK, i + 1]
        z = advance(settings.hull, eta, shrink, z, a, bottom, top)
        points[i + 1] = z
        if settings.greedy:
            inverse, lead = chain[INVERSE, i + 1], eta * raw[i]
            left = 1.0 - eta if settings.hull else 1.0
            offset = new_center + left * new_z
            point = offset + lead
            inside = low <= point <= high and abs(raw[i]) <= new_D  # as nearly always
            least, most = -new_D, new_D
            # What z will be, where that is known before the step: the next stage need not wait for it.
            gain = learners.gain(learner, scratch, row, i) if code == SQUARED else -1.0
            moved = raw[i] - gain * (point - calm) * inverse
            kept = 1.0 - (eta if settings.hull else shrink * eta)
            ahead = (kept - gain * left) * new_z + (lead - gain * (short + lead))
            near = gain >= 0.0 and inside
            known = near and abs(moved) <= new_D and new_bottom <= ahead <= new_top
            if not near:
                point = min(max(offset + eta * clip(raw[i], new_D), low), high)
                lowest, highest = (low - offset) * inverse, (high - offset) * inverse
                least, most = min(max(-new_D, lowest), highest), max(min(new_D, highest), lowest)
            slopes[0] = slope(code, parameter, point, calm) * inverse
            learners.learn(
                learner, main, extra, table, scratch, row, index, v, i,
                slopes, ease, unit * inverse, least, most, raw,
            )  # fmt: skip
            if known:
                new_z = ahead
            else:
                a = clip(raw[i], new_D)
                new_z = advance(settings.hull, eta, shrink, new_z, a, new_bottom, new_top)
        elif L > 0.0:
            slopes[0] = slope(code, parameter, center + points[i], calm) / L
            learners.learn(learner, main, extra, table, scratch, row, index, v, i, slopes, D, D, -D, D, raw)
    result = center + points[length]
    count_row(totals, weight, y, value(code, parameter, result, y))
    if code == SQUARED:  # written out, so that it is done for several stages at once
        keep_account(SQUARED, 0.0, chain, center, points, y, calm, weight, keep, shrink_step)
    else:
        keep_account(code, parameter, chain, center, points, y, calm, weight, keep, shrink_step)
    return result


@part
def keep_account(code, parameter, chain, center, points, y, calm, weight, keep, shrink_step):
    """Count every prefix's losses, and learn the shrinkage."""
    first = value(code, parameter, center, calm)
    chain[LOSS, 0] += weight * value(code, parameter, center, y)
    for i in range(chain.shape[1] - 1):
        pull = slope(code, parameter, center + points[i], calm)
        shrink = chain[SHRINK, i + 1] + shrink_step * pull * points[i]
        chain[SHRINK, i + 1] = min(max(shrink, 0.0), 1.0)
        chain[LOSS, i + 1] += weight * value(code, parameter, center + points[i + 1], y)
        loss = value(code, parameter, center + points[i + 1], calm)
        chain[SCORE, i + 1] = keep * chain[SCORE, i + 1] + weight * (loss - first)
