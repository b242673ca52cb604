"""Blocks of dense rows, as far as no stage has a say in them: features as learners see them, bounds, rates.

Row t of a block lies at place ROWS - t of each line, and rows of the block before it behind that. So stages side by
side, each a row behind the one before, find their rows side by side; and a row finds the frame before it one place
further on.
"""

from anyboost.backends.compiler import part
from anyboost.backends.lanes import WIDTH, fill, load, load_some, load_upwards, store
from anyboost.backends.numbered import squared
from anyboost.backends.online import features, labels, linear
from anyboost.backends.online.chain import LOSS, count_row, frame_now, see_label, unit_of
from anyboost.backends.online.chain import ROWS as AGE
from anyboost.backends.online.learners import Row

ROWS = 128  # in a block
MOST_STAGES = 128
PLACES = ROWS + MOST_STAGES + 8
# `facts` has lines of so many places, one after another, a place a row: the frame after the row's label, the label, the
# same tamed, and what steps need. Constant distances between lines keep addresses short.
FACTS = 15
CENTER, BOUND, LOW, HIGH, BOTTOM, TOP, LABEL, CALM = range(0, 8 * PLACES, PLACES)
WEIGHT, KEEP, SHRINK_STEP, FIRST, LENGTH, NORM, UNIT = range(8 * PLACES, FACTS * PLACES, PLACES)


@part
def prepare(
    settings, chain, seen_labels, totals, learner, table, seen,
    data, y, weights, first, count, scales, block, values, facts,
):  # fmt: skip
    """A block as far as no stage has a say in it."""
    here = max(min(count, len(y) - first), 0)
    known = labels.read(seen_labels)
    now = frame_now(settings, chain, known)
    load_rows(learner.update != linear.PLAIN, table, data, first, here, scales, block)
    turn(block, here, values)
    note_norms(block, here, facts)
    for t in range(here):
        known, now = see_row(
            settings, chain, known, now, totals, learner, seen,
            y[first + t], weights[first + t], facts, ROWS - t,
        )  # fmt: skip
    for t in range(here, count):
        leave_empty(values, facts, ROWS - t)
    labels.write(seen_labels, known)


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
            for column in range(features.COLUMNS):
                scales[column, k] = table[f + k + 1, column]
        scale = features.Scale(
            load(scales, features.INVERSE, 0), load(scales, features.SCALE, 0), load(scales, features.SQUARE, 0),
            load(scales, features.COUNT, 0), load(scales, features.PEAK, 0), load(scales, features.DUE, 0),
            load(scales, features.LEFT, 0),
        )  # fmt: skip
        for t in range(count):
            value = load_some(data, first + t, f, few)
            store(block, t, f, features.scaled(scale, value))
            scale = features.scale_after(scale, value, abs(value) > 0.0)
        store(scales, features.INVERSE, 0, scale.inverse)
        store(scales, features.SCALE, 0, scale.scale)
        store(scales, features.SQUARE, 0, scale.square)
        store(scales, features.COUNT, 0, scale.times)
        store(scales, features.PEAK, 0, scale.peak)
        store(scales, features.DUE, 0, scale.due)
        store(scales, features.LEFT, 0, scale.left)
        for k in range(few):
            for column in range(features.COLUMNS):
                table[f + k + 1, column] = scales[column, k]


@part
def turn(block, count, values):
    """The block's rows as columns, the first in the last place."""
    for t in range(0, count, WIDTH):
        for j in range(1, len(values)):
            store(values, j, ROWS - t - WIDTH + 1, load_upwards(block, t + WIDTH - 1, j - 1))


@part
def note_norms(block, count, facts):
    """|v|^2 of the block's rows."""
    for t in range(count):
        squares = fill(0.0)
        for f in range(0, block.shape[1], WIDTH):
            squares = squares + load(block, t, f) * load(block, t, f)
        facts[NORM + ROWS - t] = features.norm_of(squares)


@part
def see_row(settings, chain, known, now, totals, learner, seen, y, weight, facts, place):
    """Note what the stages will need to know of a row; returns labels and frame after it."""
    norm = facts[NORM + place]
    row = Row(0, 0, norm, linear.rate_of_row(learner, seen, norm), weight)
    features.count(seen, norm, learner.forget)
    calm, _, shrink_step, known, then = see_label(settings, chain, known, totals[AGE], now, y, weight)
    count_row(totals, weight, y)
    chain[LOSS, 0] += weight * squared(now.center, y, 0.0)[0]
    facts[LABEL + place], facts[CALM + place] = y, calm
    facts[WEIGHT + place], facts[KEEP + place] = weight, 1.0 - settings.forget
    facts[SHRINK_STEP + place], facts[FIRST + place] = shrink_step, squared(now.center, calm, 0.0)[0]
    if learner.update == linear.ADAPTIVE:  # each stage has its own norm
        facts[LENGTH + place], facts[UNIT + place] = row.weight * row.rate, unit_of(settings, known)
    else:
        facts[LENGTH + place] = linear.whole_step(learner, row, norm)
    note_frame(facts, place, then)
    return known, then


@part
def note_frame(facts, place, now):
    facts[CENTER + place], facts[BOUND + place] = now.center, now.D
    facts[LOW + place], facts[HIGH + place] = now.low, now.high
    facts[BOTTOM + place], facts[TOP + place] = now.bottom, now.top


@part
def leave_empty(values, facts, place):
    """A row of weight 0, which leaves no trace."""
    for k in range(FACTS):
        facts[k * PLACES + place] = 0.0
    facts[KEEP + place], facts[NORM + place] = 1.0, 1.0
    values[:, place] = 0.0


@part
def keep_last(values_before, facts_before, values, facts, behind):
    """Put the last rows of the block before, which some stages have yet to meet, behind the next block."""
    for place in range(behind, 0, -1):  # from the last: both blocks may be in the same memory
        for k in range(FACTS):
            facts[k * PLACES + ROWS + place] = facts_before[k * PLACES + place]
        for j in range(len(values)):
            values[j, ROWS + place] = values_before[j, place]
