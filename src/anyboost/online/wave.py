"""The chain for linear learners with squared loss on many dense rows, all stages at once: `takes` and `run`.

A stage waits for the one before it, but not for later rows: while stage i works on a row, stage i - 1 can work on
the next. So step s of the wave takes every stage i to row s - i, side by side (`backends.simd`), and each stage
meets the rows in their order, with the very numbers that it would meet in `chain`.

Rows come in `wave_blocks`, which are prepared, and then rolled over by all stages; or by parts of them in turn, so that
several threads can work on different blocks at a time.
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends import pipeline, threads
from anyboost.backends.atomics import rest
from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.forms import borrowed
from anyboost.backends.simd import WIDTH, load, select, store
from anyboost.losses.numbered import SQUARED, squared
from anyboost.online import linear, one_score
from anyboost.online import wave_blocks as block
from anyboost.online.chain import with_lines
from anyboost.online.labels import read
from anyboost.online.one_score import advanced, arrived, clip, counted, goal_of
from anyboost.online.scales import SCALE
from anyboost.online.wave_blocks import MOST_STAGES, ROWS, keep_last, leave_empty, note_region, prepare

SLOTS = 8  # blocks that may be under way at a time
LINE = 8  # numbers in a line of the cache
# Fewer rows or more features are faster row by row, and so are one or two plain learners.
FEWEST_ROWS, FEWEST_STAGES, MOST_FEATURES, MOST_PLAIN_FEATURES = 200, 3, 500, 200
MANY_ROWS = 2000  # for which other threads are called
# Lines of `stages`, a place a stage: its answer, |v|^2 with each weight's own rate, its columns of the chain; and one
# place further what it hands on.
LINES, HANDED, SPACE = 11, 4, MOST_STAGES + LINE
RAW, NORMS, ETA, OVER_ETA, SHRINKS, LOSSES, SCORES = range(0, 7 * SPACE, SPACE)
Z, NEW_Z, BEST, RESULT = range(7 * SPACE, LINES * SPACE, SPACE)


def takes(model, table, weights):
    """Whether the wave can and should take these rows."""
    settings, learner, stages = model.settings, model.learner, model.chain.shape[1] - 1
    if type(learner) is not linear.Linear:
        return False
    plain = learner.update == linear.PLAIN
    return (
        (settings.code, settings.curvature, settings.greedy) == (SQUARED, 1.0, True)
        and len(table.columns) == 0
        and (FEWEST_STAGES if plain else 1) <= stages <= MOST_STAGES
        and table.n >= max(FEWEST_ROWS, 2 * stages)
        and table.width <= (MOST_PLAIN_FEATURES if plain else MOST_FEATURES)
        and weights.min() > 0.0
    )


def run(model, table, y, weights, n_threads):
    """Learn the rows of a table; returns their answers."""
    main, extra = model.arrays.weights, model.arrays.rates
    n_threads = n_threads if table.n >= MANY_ROWS else 1
    padded = -(-main.shape[1] // LINE) * LINE
    parts = min(n_threads, padded // LINE)
    slots = SLOTS if n_threads > 1 else 1
    answers, sync, numbers = np.empty(table.n), pipeline.prepare(parts + 1), len(SCALE)
    memory = Memory(
        _aligned(numbers, WIDTH),
        _aligned(ROWS, -(-table.width // WIDTH) * WIDTH),
        _aligned(slots, table.width + 1, ROWS + padded + LINE),
        _aligned(slots, block.FACTS * block.PLACES),
        _aligned(slots, parts * ROWS, HANDED),
        _aligned(parts, LINES * SPACE),
        _aligned(parts, len(main), padded, dtype=main.dtype),
        _aligned(parts, len(extra), padded, dtype=extra.dtype),
    )
    data, scales = table.values.reshape(table.n, table.width), model.arrays.scales
    given = (sync, model, scales.view(np.float64).reshape(-1, numbers), data, y, weights, answers, memory)
    threads.invite(lambda: help_along(*given), min(n_threads, parts + 1) - 1)
    learn_rows(*given)
    return answers


class Memory(NamedTuple):
    """Memory of a run; see `wave_blocks` for that of a block."""

    features: np.ndarray
    block: np.ndarray
    values: np.ndarray  # one a slot
    facts: np.ndarray  # one a slot
    handed: np.ndarray  # one a slot: what a part of the stages hands on
    stages: np.ndarray  # one a part
    pool: np.ndarray  # one a part: weights, a column a stage
    rates: np.ndarray  # the same of their own rates


def _aligned(*shape, dtype=np.float64):
    """An array that begins with a line of the cache."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    space = np.empty(size + 64, np.uint8)
    begin = -space.ctypes.data % 64
    return space[begin : begin + size].view(dtype).reshape(shape)


@kernel
def learn_rows(sync, given, table, data, y, weights, answers, memory):
    """Answer and learn all rows, none of weight 0; answers[row] is the score before the row was learned."""
    model = with_lines(given)
    chain, arrays, stages = model.chain, model.arrays, memory.stages
    for number in range(len(stages)):
        take_chain(chain, stages[number])
        take_columns(arrays.weights, memory.pool[number], 0.0)
        take_columns(arrays.rates, memory.rates[number], 1.0)
    for place in range(ROWS + 1, ROWS + 1 + memory.pool.shape[2]):
        leave_empty(memory.values[0], memory.facts[0], place)
    now = one_score.region(model.scores, model.settings, chain, read(model.labels), 0)
    note_region(memory.facts[0], ROWS + 1, now)
    pipeline.open_up(sync)
    help_along(sync, given, table, data, y, weights, answers, memory)
    for number in range(len(stages)):
        start, stop = columns_of(number, len(stages), len(chain.step) - 1)
        stop = min(stop, len(chain.step) - 1)
        give_chain_back(chain, stages[number], start, stop)
        give_columns_back(arrays.weights, memory.pool[number], start, stop)
        if model.learner.update == linear.ADAPTIVE:
            give_columns_back(arrays.rates, memory.rates[number], start, stop)


@kernel
def help_along(sync, given, table, data, y, weights, answers, memory):
    """Do what can be done, until all is: for each thread that comes.

    Every block is prepared, then rolled over by each part of the stages in turn: so many steps of the pipeline,
    each of which takes the blocks in their order, one at a time, whoever does it.
    """
    sync, model, memory, table = borrowed(sync), with_lines(given), borrowed(memory), borrowed(table)
    data, y, weights, answers = borrowed(data), borrowed(y), borrowed(weights), borrowed(answers)
    values, facts, stages, pool, rates = memory.values, memory.facts, memory.stages, memory.pool, memory.rates
    n, count_of, parts = len(y), len(model.chain.step) - 1, len(stages)
    delay = count_of - 1
    blocks = (n + delay + ROWS - 1) // ROWS
    looks, slots = 0, len(values)
    while pipeline.finished(sync, parts) < blocks:
        step = pipeline.claim(sync, parts + 1, blocks, slots)
        if step < 0:
            looks = rest(looks)
            continue
        looks = 0
        number = pipeline.finished(sync, step)
        first, slot = number * ROWS, number % slots
        count = min(ROWS, n + delay - first)
        if step == 0:
            if number > 0:
                before = (number - 1) % slots
                keep_last(values[before], facts[before], values[slot], facts[slot], pool.shape[2])
            prepare(
                model, table, data, y, weights, first, count,
                memory.features, memory.block, values[slot], facts[slot],
            )  # fmt: skip
        else:
            own = step - 1
            start, stop = columns_of(own, parts, count_of)
            if own == 0:
                meet_first_row(model.learner, values[slot], stages[own], pool[own], rates[own])
            roll(
                model.settings, model.learner, values[slot], facts[slot], stages[own], pool[own], rates[own],
                count, first, delay, answers, start, stop, memory.handed[slot], own, step == parts,
            )  # fmt: skip
            if step == parts:
                lost = model.totals[0].loss
                for row in range(max(first - delay, 0), first - delay + count):
                    lost += weights[row] * squared(answers[row], y[row], 0.0)[0]
                model.totals[0].loss = lost
        pipeline.pass_on(sync, step)


@inlined
def columns_of(number, parts, stages):
    """The stages of a part, filled up to whole lanes."""
    lines = -(-stages // LINE)
    start, stop = lines * number // parts * LINE, lines * (number + 1) // parts * LINE
    return start, min(stop, -(-stages // WIDTH) * WIDTH)


@inlined
def take_chain(chain, stages):
    """The chain as the wave has it; stages that only fill up the last lanes learn nothing."""
    stages[:] = 0.0
    stages[NORMS : NORMS + SPACE] = 1.0
    for c in range(len(chain.step) - 1):
        stages[ETA + c], stages[OVER_ETA + c] = chain.step[c + 1], chain.inverse[c + 1]
        stages[SHRINKS + c] = chain.shrink[c + 1]
        stages[LOSSES + c], stages[SCORES + c] = chain.loss[c + 1], chain.score[c + 1]
    stages[BEST] = chain.score[0]


@inlined
def give_chain_back(chain, stages, start, stop):
    for c in range(start, stop):
        chain.shrink[c + 1] = stages[SHRINKS + c]
        chain.loss[c + 1], chain.score[c + 1] = stages[LOSSES + c], stages[SCORES + c]


@inlined
def take_columns(columns, padded, rest):
    padded[:, :] = rest
    for j in range(len(columns)):
        for c in range(columns.shape[1]):
            padded[j, c] = columns[j, c]


@inlined
def give_columns_back(columns, padded, start, stop):
    for j in range(len(columns)):
        for c in range(start, stop):
            columns[j, c] = padded[j, c]


@inlined
def meet_first_row(learner, values, stages, pool, rates):
    """The first stages' answers to the block's first row, and those before; others were made in the step before."""
    answer = load(pool, 0, 0)
    for j in range(1, len(values)):
        answer = answer + load(pool, j, 0) * load(values, j, ROWS)
    store(stages, 0, RAW, answer)
    if learner.update == linear.ADAPTIVE:
        norm = load(rates, 0, 0)
        for j in range(1, len(values)):
            norm = norm + load(rates, j, 0) * (load(values, j, ROWS) * load(values, j, ROWS))
        store(stages, 0, NORMS, norm)


@inlined
def roll(
    settings, learner, values, facts, stages, pool, rates,
    count, first, delay, answers, start, stop, handed, number, last,
):  # fmt: skip
    """The wave over a block, for the stages of one part."""
    hull = 1.0 if settings.hull else 0.0
    slack = 0.0 if settings.best_prefix else math.inf
    adaptive = learner.update == linear.ADAPTIVE
    for s in range(count):
        place = ROWS - s
        if start == 0:
            stages[RESULT] = facts[block.CENTER + place + 1]
        for c in range(stop - WIDTH, start - 1, -WIDTH):  # later stages first: each reads what was handed on
            pull, move = take_stages(hull, settings.multiplier, slack, adaptive, facts, stages, c, place + c)
            if adaptive:
                step_adaptively(values, facts, stages, pool, rates, c, place + c, pull, move)
            else:
                step_and_answer(values, stages, pool, c, place + c, move)
        if not last:
            for k in range(HANDED):
                handed[number * ROWS + s, k] = stages[Z + k * SPACE + stop]
        elif first + s >= delay:
            answers[first + s - delay] = stages[RESULT + delay + 1]
        if start > 0:
            for k in range(HANDED):
                stages[Z + k * SPACE + start] = handed[(number - 1) * ROWS + s, k]


@inlined
def take_stages(hull, multiplier, slack, adaptive, facts, stages, c, place):
    """Let the stages from c on see their rows, which lie from `place` on; returns slopes and steps."""
    eta, inverse, shrink = (
        load(stages, 0, ETA + c),
        load(stages, 0, OVER_ETA + c),
        load(stages, 0, SHRINKS + c),
    )
    coefficient = eta * multiplier
    raw, z, new_z = load(stages, 0, RAW + c), load(stages, 0, Z + c), load(stages, 0, NEW_Z + c)
    center, tamed = load(facts, 0, block.CENTER + place + 1), load(facts, 0, block.TAMED + place)
    D, bottom, top = (
        load(facts, 0, block.BOUND + place),
        load(facts, 0, block.BOTTOM + place),
        load(facts, 0, block.TOP + place),
    )
    length, norm = load(facts, 0, block.LENGTH + place), load(facts, 0, block.NORM + place)
    if adaptive:
        norm = load(stages, 0, NORMS + c)
        length = linear.capped(length, norm)
    next_z = advanced(
        hull, eta, coefficient, shrink, z, clip(raw, load(facts, 0, block.BOUND + place + 1)),
        load(facts, 0, block.BOTTOM + place + 1), load(facts, 0, block.TOP + place + 1),
    )  # fmt: skip
    goal = goal_of(
        hull, eta, coefficient, inverse, shrink, raw, new_z, min(length * norm, 1.0), tamed,
        load(facts, 0, block.CENTER + place), D, load(facts, 0, block.LOW + place),
        load(facts, 0, block.HIGH + place), bottom, top,
    )  # fmt: skip
    pull = squared(goal.point, tamed, 0.0)[1] * inverse
    pull, move, moved = linear.step(pull, length, norm, raw, goal.least, goal.most)
    score, best, result = load(stages, 0, SCORES + c), load(stages, 0, BEST + c), center + next_z
    better = score - slack <= best
    store(stages, 0, BEST + c + 1, select(better, score, best))
    store(stages, 0, RESULT + c + 1, select(better, result, load(stages, 0, RESULT + c)))
    store(stages, 0, Z + c + 1, next_z)
    after = arrived(goal, hull, eta, coefficient, shrink, new_z, moved, D, bottom, top)
    store(stages, 0, NEW_Z + c + 1, after)
    shrink, loss, score = counted(
        squared(center + z, tamed, 0.0)[1], squared(result, load(facts, 0, block.LABEL + place), 0.0)[0],
        squared(result, tamed, 0.0)[0], load(facts, 0, block.FIRST + place), z, shrink, load(stages, 0, LOSSES + c),
        score, load(facts, 0, block.WEIGHT + place), load(facts, 0, block.KEEP + place),
        load(facts, 0, block.SHRINK_STEP + place),
    )  # fmt: skip
    store(stages, 0, SHRINKS + c, shrink)
    store(stages, 0, LOSSES + c, loss)
    store(stages, 0, SCORES + c, score)
    return pull, move


@inlined
def step_and_answer(values, stages, pool, c, place, move):
    """Take the steps, and answer the rows that come next."""
    store(pool, 0, c, load(pool, 0, c) - move)
    answer = load(pool, 0, c)
    for j in range(1, len(values)):
        store(pool, j, c, load(pool, j, c) - move * load(values, j, place))
        answer = answer + load(pool, j, c) * load(values, j, place - 1)
    store(stages, 0, RAW + c, answer)


@inlined
def step_adaptively(values, facts, stages, pool, rates, c, place, pull, move):
    """The same where each weight has a rate of its own."""
    weight, keep = load(facts, 0, block.WEIGHT + place), load(facts, 0, block.KEEP + place)
    pull = linear.in_units(pull, load(facts, 0, block.UNIT + place) * load(stages, 0, OVER_ETA + c))
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
    store(stages, 0, RAW + c, answer)
    store(stages, 0, NORMS + c, norm)
