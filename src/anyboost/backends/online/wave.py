"""The loop of `rows` for chains of linear learners with squared loss on dense rows: all stages at once.

A stage waits for the one before it, but not for later rows: while stage i works on a row, stage i - 1 can work on
the next. So step s of the wave takes every stage i to row s - i, side by side (`backends.lanes`), and each stage meets the
rows in their order, with the very numbers that it would meet in `rows`.

Rows come in blocks. First what no stage has a say in: the features as learners see them, bounds, rates. Then the wave,
which goes on from block to block. Row t of a block lies at place ROWS - t of each line, and rows of the block before
behind that: so stages side by side find their rows side by side, and a row the frame before it one place further on.
"""

import math

import numpy as np

from anyboost.backends.compiler import borrowed, kernel, part
from anyboost.backends.lanes import WIDTH, load, load_some, load_upwards, select, store
from anyboost.backends.online import features, labels, linear
from anyboost.backends.online.chain import ROWS as AGE
from anyboost.backends.online.chain import (
    ANSWERS,
    INVERSE,
    LOSS,
    SCORE,
    SHRINK,
    STEP,
    account,
    advance,
    arrive,
    clip,
    count_row,
    frame_now,
    goal_of,
    see_label,
    unit_of,
)
from anyboost.backends.online.learners import Row
from anyboost.backends.online.losses import SQUARED, squared_slope, squared_value

ROWS = 128  # in a block
FEWEST_STAGES, MOST_FEATURES = 4, 500
# Lines of `facts`, a place a row: the frame after the row's label, the label, the same tamed, and what steps need.
CENTER, BOUND, LOW, HIGH, BOTTOM, TOP, LABEL, CALM = range(8)
WEIGHT, KEEP, SHRINK_STEP, FIRST, LENGTH, NORM, UNIT = range(8, 15)
FACTS = 15
# Lines of `stages`, a place a stage: its answer, |v|^2 with each weight's own rate, its columns of the chain; and one place
# further what it hands on.
RAW, NORMS, ETA, OVER_ETA, SHRINKS, LOSSES, SCORES = range(7)
Z, NEW_Z, BEST, RESULT = range(7, 11)
LINES = 11


def takes(settings, learner, stages, table, weights):
    """Whether the wave can and should take these rows: where little is side by side, it does not pay."""
    return (
        type(learner) is linear.Linear
        and (settings.code, settings.curvature, settings.greedy) == (SQUARED, 1.0, True)
        and len(table.features) == 0
        and stages >= FEWEST_STAGES
        and table.n >= stages
        and table.width <= MOST_FEATURES
        and weights.min() > 0.0
    )


def room(stages, width, main, extra):
    """Space for the wave: scales, block, values, facts, stages, and the weights and rates of all lanes."""
    padded = -(-stages // WIDTH) * WIDTH
    places = ROWS + padded + 2
    return (
        _aligned(features.WIDTH, WIDTH),
        _aligned(ROWS, -(-width // WIDTH) * WIDTH),
        _aligned(width + 1, places),
        _aligned(FACTS, places),
        _aligned(LINES, padded + WIDTH),
        _aligned(len(main), padded, main.dtype),
        _aligned(len(extra), padded, extra.dtype),
    )


def _aligned(rows, columns, dtype=np.float64):
    """An array that begins with a line of the cache."""
    size = rows * columns * np.dtype(dtype).itemsize
    space = np.empty(size + 64, np.uint8)
    begin = -space.ctypes.data % 64
    return space[begin : begin + size].view(dtype).reshape(rows, columns)


@kernel
def learn_rows(
    data, y, weights, answers, scales, block, values, facts, stages, pool, rates,
    settings, chain, seen_labels, totals, learner, main, extra, table, scratch, seen,
):  # fmt: skip
    """Answer and learn all rows, none of weight 0; answers[row] is the score before the row was learned."""
    data, y, weights, answers = borrowed(data), borrowed(y), borrowed(weights), borrowed(answers)
    scales, block, values, facts = borrowed(scales), borrowed(block), borrowed(values), borrowed(facts)
    stages, pool, rates = borrowed(stages), borrowed(pool), borrowed(rates)
    chain, seen_labels, totals = borrowed(chain), borrowed(seen_labels), borrowed(totals)
    main, extra, table, seen = borrowed(main), borrowed(extra), borrowed(table), borrowed(seen)
    n, delay = len(y), chain.shape[1] - 2  # steps from a row's first stage to its last
    known = labels.read(seen_labels)
    now = frame_now(settings, chain, known)
    take_chain(chain, stages)
    take_columns(main, pool, 0.0)
    take_columns(extra, rates, 1.0)
    for place in range(ROWS + 1, values.shape[1]):
        leave_empty(values, facts, place)
    note_frame(facts, ROWS + 1, now)
    for first in range(0, n + delay, ROWS):
        count = min(ROWS, n + delay - first)
        here = max(min(count, n - first), 0)
        load_rows(learner.update != linear.PLAIN, table, data, first, here, scales, block)
        turn(block, here, values, facts)
        for t in range(here):
            known, now = see_row(
                settings, chain, known, now, totals, learner, seen, y[first + t], weights[first + t], facts, ROWS - t
            )
        for t in range(here, count):
            leave_empty(values, facts, ROWS - t)
        meet_first_row(learner, values, stages, pool, rates)
        roll(settings, learner, values, facts, stages, pool, rates, count, first, delay, answers)
        for number in range(max(first - delay, 0), first - delay + count):
            totals[ANSWERS] += weights[number] * squared_value(answers[number], y[number])
        keep_last(values)
        keep_last(facts)
    labels.write(seen_labels, known)
    give_chain_back(chain, stages)
    give_columns_back(main, pool)
    give_columns_back(extra, rates)


@part
def take_chain(chain, stages):
    """The chain as the wave has it; stages that only fill up the last lanes learn nothing."""
    stages[:, :] = 0.0
    stages[NORMS, :] = 1.0
    for c in range(chain.shape[1] - 1):
        stages[ETA, c], stages[OVER_ETA, c] = chain[STEP, c + 1], chain[INVERSE, c + 1]
        stages[SHRINKS, c] = chain[SHRINK, c + 1]
        stages[LOSSES, c], stages[SCORES, c] = chain[LOSS, c + 1], chain[SCORE, c + 1]
    stages[BEST, 0] = chain[SCORE, 0]


@part
def give_chain_back(chain, stages):
    for c in range(chain.shape[1] - 1):
        chain[SHRINK, c + 1] = stages[SHRINKS, c]
        chain[LOSS, c + 1], chain[SCORE, c + 1] = stages[LOSSES, c], stages[SCORES, c]


@part
def take_columns(columns, padded, rest):
    padded[:, :] = rest
    for j in range(len(columns)):
        for c in range(columns.shape[1]):
            padded[j, c] = columns[j, c]


@part
def give_columns_back(columns, padded):
    for j in range(len(columns)):
        for c in range(columns.shape[1]):
            columns[j, c] = padded[j, c]


@part
def load_rows(normal, table, data, first, count, scales, block):
    """Rows of `data` as learners see them: what `features.load` does, several features at a time."""
    for f in range(0, data.shape[1], WIDTH):
        few = min(WIDTH, data.shape[1] - f)
        if not normal:
            for t in range(count):
                store(block, t, f, load_some(data, first + t, f, few))
            continue
        scales[:, :] = 0.0
        for k in range(few):
            for line in range(features.WIDTH):
                scales[line, k] = table[f + k + 1, line]
        scale = features.Scale(
            load(scales, 0, 0), load(scales, 1, 0), load(scales, 2, 0), load(scales, 3, 0),
            load(scales, 4, 0), load(scales, 5, 0), load(scales, 6, 0),
        )  # fmt: skip
        for t in range(count):
            value = load_some(data, first + t, f, few)
            store(block, t, f, features.scaled(scale, value))
            scale = features.scale_after(scale, value, abs(value) > 0.0)
        store(scales, features.INVERSE, 0, scale.inverse)
        store(scales, features.SCALE, 0, scale.scale)
        store(scales, features.SQUARE, 0, scale.square)
        store(scales, features.COUNT, 0, scale.count)
        store(scales, features.PEAK, 0, scale.peak)
        store(scales, features.DUE, 0, scale.due)
        store(scales, features.LEFT, 0, scale.left)
        for k in range(few):
            for line in range(features.WIDTH):
                table[f + k + 1, line] = scales[line, k]


@part
def turn(block, count, values, facts):
    """The block's rows as columns, the first in the last place; and |v|^2 of each."""
    for t in range(0, count, WIDTH):
        place = ROWS - t - WIDTH + 1
        column = load_upwards(block, t + WIDTH - 1, 0)
        norms = 1.0 + column * column
        store(values, 1, place, column)
        for j in range(2, len(values)):
            column = load_upwards(block, t + WIDTH - 1, j - 1)
            norms = norms + column * column
            store(values, j, place, column)
        store(facts, NORM, place, norms)


@part
def see_row(settings, chain, known, now, totals, learner, seen, y, weight, facts, place):
    """Note what the stages will need to know of a row; returns labels and frame after it."""
    norm = facts[NORM, place]
    row = Row(0, 0, norm, linear.rate_of_row(learner, seen, norm), weight)
    features.count(seen, norm, learner.forget)
    calm, _, shrink_step, known, then = see_label(settings, chain, known, totals[AGE], now, y, weight)
    count_row(totals, weight, y)
    chain[LOSS, 0] += weight * squared_value(now.center, y)
    facts[LABEL, place], facts[CALM, place] = y, calm
    facts[WEIGHT, place], facts[KEEP, place] = weight, 1.0 - settings.forget
    facts[SHRINK_STEP, place], facts[FIRST, place] = shrink_step, squared_value(now.center, calm)
    facts[LENGTH, place] = linear.whole_step(learner, row, norm)
    if learner.update == linear.ADAPTIVE:
        facts[LENGTH, place], facts[UNIT, place] = row.weight * row.rate, unit_of(settings, known)
    note_frame(facts, place, then)
    return known, then


@part
def note_frame(facts, place, now):
    facts[CENTER, place], facts[BOUND, place] = now.center, now.D
    facts[LOW, place], facts[HIGH, place] = now.low, now.high
    facts[BOTTOM, place], facts[TOP, place] = now.bottom, now.top


@part
def leave_empty(values, facts, place):
    """A row of weight 0, which leaves no trace."""
    facts[:, place] = 0.0
    facts[KEEP, place], facts[NORM, place] = 1.0, 1.0
    values[:, place] = 0.0


@part
def keep_last(lines):
    """Put the block's last rows, which some stages have yet to meet, behind the next block."""
    for line in range(len(lines)):
        for place in range(lines.shape[1] - ROWS - 1):
            lines[line, ROWS + 1 + place] = lines[line, 1 + place]


@part
def meet_first_row(learner, values, stages, pool, rates):
    """The first stage's answer to the block's first row; all other answers were made in the step before."""
    answer, norm = 1.0 * pool[0, 0], 1.0 * rates[0, 0]
    for j in range(1, len(values)):
        answer += pool[j, 0] * values[j, ROWS]
        if learner.update == linear.ADAPTIVE:
            norm += rates[j, 0] * (values[j, ROWS] * values[j, ROWS])
    stages[RAW, 0], stages[NORMS, 0] = answer, norm


@part
def roll(settings, learner, values, facts, stages, pool, rates, count, first, delay, answers):
    """The wave over a block."""
    hull = 1.0 if settings.hull else 0.0
    slack = 0.0 if settings.best_prefix else math.inf
    adaptive = learner.update == linear.ADAPTIVE
    for s in range(count):
        place = ROWS - s
        stages[RESULT, 0] = facts[CENTER, place + 1]
        for c in range(pool.shape[1] - WIDTH, -1, -WIDTH):  # later stages first: each reads what was handed on
            pull, move = take_stages(hull, slack, adaptive, facts, stages, c, place + c)
            if adaptive:
                step_adaptively(values, facts, stages, pool, rates, c, place + c, pull, move)
            else:
                step_and_answer(values, stages, pool, c, place + c, move)
        if first + s >= delay:
            answers[first + s - delay] = stages[RESULT, delay + 1]


@part
def take_stages(hull, slack, adaptive, facts, stages, c, place):
    """Let the stages from c on see their rows, which lie from `place` on; returns slopes and steps."""
    eta, inverse, shrink = load(stages, ETA, c), load(stages, OVER_ETA, c), load(stages, SHRINKS, c)
    raw, z, new_z = load(stages, RAW, c), load(stages, Z, c), load(stages, NEW_Z, c)
    center, calm = load(facts, CENTER, place + 1), load(facts, CALM, place)
    D, bottom, top = load(facts, BOUND, place), load(facts, BOTTOM, place), load(facts, TOP, place)
    length, norm = load(facts, LENGTH, place), load(facts, NORM, place)
    if adaptive:
        norm = load(stages, NORMS, c)
        length = linear.capped(length, norm)
    next_z = advance(
        hull, eta, shrink, z, clip(raw, load(facts, BOUND, place + 1)),
        load(facts, BOTTOM, place + 1), load(facts, TOP, place + 1),
    )  # fmt: skip
    goal = goal_of(
        hull, eta, inverse, shrink, raw, new_z, min(length * norm, 1.0), calm,
        load(facts, CENTER, place), D, load(facts, LOW, place), load(facts, HIGH, place), bottom, top,
    )  # fmt: skip
    pull = squared_slope(goal.point, calm) * inverse
    pull, move, moved = linear.step(pull, length, norm, raw, goal.least, goal.most)
    score, best, result = load(stages, SCORES, c), load(stages, BEST, c), center + next_z
    better = score - slack <= best
    store(stages, BEST, c + 1, select(better, score, best))
    store(stages, RESULT, c + 1, select(better, result, load(stages, RESULT, c)))
    store(stages, Z, c + 1, next_z)
    store(stages, NEW_Z, c + 1, arrive(goal, hull, eta, shrink, new_z, moved, D, bottom, top))
    shrink, loss, score = account(
        squared_slope(center + z, calm), squared_value(result, load(facts, LABEL, place)),
        squared_value(result, calm), load(facts, FIRST, place), z, shrink, load(stages, LOSSES, c), score,
        load(facts, WEIGHT, place), load(facts, KEEP, place), load(facts, SHRINK_STEP, place),
    )  # fmt: skip
    store(stages, SHRINKS, c, shrink)
    store(stages, LOSSES, c, loss)
    store(stages, SCORES, c, score)
    return pull, move


@part
def step_and_answer(values, stages, pool, c, place, move):
    """Take the steps, and answer the rows that come next."""
    store(pool, 0, c, load(pool, 0, c) - move)
    answer = load(pool, 0, c)
    for j in range(1, len(values)):
        store(pool, j, c, load(pool, j, c) - move * load(values, j, place))
        answer = answer + load(pool, j, c) * load(values, j, place - 1)
    store(stages, RAW, c, answer)


@part
def step_adaptively(values, facts, stages, pool, rates, c, place, pull, move):
    """The same where each weight has a rate of its own."""
    weight, keep = load(facts, WEIGHT, place), load(facts, KEEP, place)
    pull = linear.in_units(pull, load(facts, UNIT, place) * load(stages, OVER_ETA, c))
    own = load(rates, 0, c)
    store(pool, 0, c, load(pool, 0, c) - move * own)
    store(rates, 0, c, linear.own_rate(own, pull, weight, keep))
    answer, norm = load(pool, 0, c), load(rates, 0, c)
    for j in range(1, len(values)):
        value, after, own = load(values, j, place), load(values, j, place - 1), load(rates, j, c)
        store(pool, j, c, load(pool, j, c) - move * own * value)
        store(rates, j, c, linear.own_rate(own, pull * value, weight, keep))
        answer = answer + load(pool, j, c) * after
        norm = norm + load(rates, j, c) * (after * after)
    store(stages, RAW, c, answer)
    store(stages, NORMS, c, norm)
