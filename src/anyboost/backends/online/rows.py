"""The loop: rows in order, each through all stages. One score a row; `vectors` has several.

In linear mode a stage learns from the slope at the point before it; in greedy mode from the slope at the point it
leads to, where later stages see what earlier ones answer after their step.
"""

from anyboost.backends.compiler import borrowed, kernel, part
from anyboost.backends.numbered import SQUARED, by_number, slope, value
from anyboost.backends.online import labels, learners
from anyboost.backends.online.chain import (
    ANSWERS,
    INVERSE,
    LOSS,
    ROWS,
    SCORE,
    SHRINK,
    STEP,
    account,
    advance,
    answering_prefix,
    arrive,
    clip,
    count_row,
    ease_of,
    frame_now,
    goal_of,
    see_label,
    unit_of,
)
from anyboost.backends.online.learners import Row


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
    known = labels.read(seen_labels)
    now = frame_now(settings, chain, known)
    for number in range(len(y)):
        row = load_row(learner, table, seen, data, index, begins, width, number, weights[number], v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        if row.weight > 0.0:
            answers[number], known, now = learn_row(
                settings, chain, known, now, totals, learner, main, extra, table, scratch,
                row, index, v, y[number], raw, slopes, points,
            )  # fmt: skip
            learners.finish(learner, main, extra, table, scratch, seen, row, index, v)
        else:
            answers[number] = answer(settings, chain, now, raw)
    labels.write(seen_labels, known)


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
    now = frame_now(settings, chain, seen_labels)
    for number in range(len(answers)):
        row = load_row(learner, table, seen, data, index, begins, width, number, 0.0, v)
        learners.predict(learner, main, extra, scratch, row, index, v, raw)
        answers[number] = answer(settings, chain, now, raw)


@part
def answer(settings, chain, now, raw):
    """The score that the stages' raw answers give."""
    z, hull = 0.0, 1.0 if settings.hull else 0.0
    for i in range(answering_prefix(settings, chain)):
        eta, shrink = chain[STEP, i + 1], chain[SHRINK, i + 1]
        z = advance(hull, eta, shrink, z, clip(raw[i], now.D), now.bottom, now.top)
    return now.center + z


@part
def learn_row(
    settings, chain, known, now, totals, learner, main, extra, table, scratch,
    row, index, v, y, raw, slopes, points,
):  # fmt: skip
    """One row through all stages; returns its score before it was learned, and labels and frame after it."""
    code, parameter, weight = settings.code, settings.parameter, row.weight
    hull = 1.0 if settings.hull else 0.0
    calm, L, shrink_step, known, then = see_label(settings, chain, known, totals[ROWS], now, y, weight)
    count_row(totals, weight, y)
    ease, unit = ease_of(settings, known), unit_of(settings, known)
    length, keep = answering_prefix(settings, chain), 1.0 - settings.forget
    z, new_z, points[0] = 0.0, 0.0, 0.0
    for i in range(len(raw)):
        eta, inverse, shrink = chain[STEP, i + 1], chain[INVERSE, i + 1], chain[SHRINK, i + 1]
        z = advance(hull, eta, shrink, z, clip(raw[i], now.D), now.bottom, now.top)
        points[i + 1] = z
        if settings.greedy:
            gain = learners.gain(learner, scratch, row, i) if code == SQUARED else -1.0
            goal = goal_of(
                hull, eta, inverse, shrink, raw[i], new_z, gain, calm,
                then.center, then.D, then.low, then.high, then.bottom, then.top,
            )  # fmt: skip
            slopes[0] = slope(code, parameter, goal.point, calm) * inverse
            learners.learn(
                learner, main, extra, table, scratch, row, index, v, i,
                slopes, ease, unit * inverse, goal.least, goal.most, raw,
            )  # fmt: skip
            new_z = arrive(goal, hull, eta, shrink, new_z, raw[i], then.D, then.bottom, then.top)
        elif L > 0.0:
            slopes[0] = slope(code, parameter, now.center + points[i], calm) / L
            learners.learn(
                learner,
                main,
                extra,
                table,
                scratch,
                row,
                index,
                v,
                i,
                slopes,
                now.D,
                now.D,
                -now.D,
                now.D,
                raw,
            )
    result = now.center + points[length]
    totals[ANSWERS] += weight * value(code, parameter, result, y)
    keep_account(code, parameter, chain, now.center, points, y, calm, weight, keep, shrink_step)
    return result, known, then


@by_number  # so that it is done for several stages at once
def keep_account(parameter, chain, center, points, y, calm, weight, keep, shrink_step):
    """Count every prefix's losses, and learn the shrinkage."""
    first = row(center, calm, parameter)[0]  # noqa: F821
    chain[LOSS, 0] += weight * row(center, y, parameter)[0]  # noqa: F821
    for i in range(chain.shape[1] - 1):
        before, after = center + points[i], center + points[i + 1]
        chain[SHRINK, i + 1], chain[LOSS, i + 1], chain[SCORE, i + 1] = account(
            row(before, calm, parameter)[1],  # noqa: F821
            row(after, y, parameter)[0],  # noqa: F821
            row(after, calm, parameter)[0],  # noqa: F821
            *(first, points[i], chain[SHRINK, i + 1], chain[LOSS, i + 1], chain[SCORE, i + 1]),
            *(weight, keep, shrink_step),
        )
