"""Blocks of dense rows, as far as no stage has a say in them: features as learners see them, bounds, rates.

Row t of a block lies at place ROWS - t of each line, and rows of the block before it behind that. So stages side by
side, each a row behind the one before, find their rows side by side; and a row finds the region before it one place
further on.
"""

from anyboost.backends.compiler import inlined
from anyboost.backends.simd import WIDTH, fill, load, load_some, load_upwards, store
from anyboost.losses.numbered import squared
from anyboost.online import labels, linear, one_score, scales
from anyboost.online.region import see_label, unit_of
from anyboost.online.scales import Scale

ROWS = 128  # in a block
MOST_STAGES = 128
PLACES = ROWS + MOST_STAGES + 8
# `facts` has lines of so many places, one after another, a place a row: the region after the row's label, the label,
# the same tamed, and what steps need. Constant distances between lines keep addresses short.
FACTS = 15
CENTER, BOUND, LOW, HIGH, BOTTOM, TOP, LABEL, TAMED = range(0, 8 * PLACES, PLACES)
WEIGHT, KEEP, SHRINK_STEP, FIRST, LENGTH, NORM, UNIT = range(8 * PLACES, FACTS * PLACES, PLACES)


@inlined
def prepare(model, table, data, y, weights, first, count, features, block, values, facts):
    """A block as far as no stage has a say in it."""
    here = max(min(count, len(y) - first), 0)
    known = labels.read(model.labels)
    now = one_score.region(model.scores, model.settings, model.chain, known, 0)
    load_rows(model.learner.update != linear.PLAIN, table, data, first, here, features, block)
    turn(block, here, values)
    note_norms(block, here, facts)
    for t in range(here):
        known, now = see_row(model, known, now, y[first + t], weights[first + t], facts, ROWS - t)
    for t in range(here, count):
        leave_empty(values, facts, ROWS - t)
    labels.write(model.labels, known)


@inlined
def load_rows(normal, table, data, first, count, features, block):
    """Rows of `data` as learners see them: what `scales.load` does, several features at a time.

    `features` has a line for each number of a scale, a place for each feature.
    """
    for f in range(0, data.shape[1], WIDTH):
        few = min(WIDTH, data.shape[1] - f)
        if not normal:
            for t in range(count):
                store(block, t, f, load_some(data, first + t, f, few))
            continue
        features[:, :] = 0.0
        for k in range(few):
            for line in range(len(features)):
                features[line, k] = table[f + k + 1, line]
        scale = Scale(
            load(features, 0, 0), load(features, 1, 0), load(features, 2, 0), load(features, 3, 0),
            load(features, 4, 0), load(features, 5, 0), load(features, 6, 0),
        )  # fmt: skip
        for t in range(count):
            value = load_some(data, first + t, f, few)
            store(block, t, f, scales.scaled(scale, value))
            scale = scales.scale_after(scale, value, abs(value) > 0.0)
        store(features, 0, 0, scale.inverse)
        store(features, 1, 0, scale.scale)
        store(features, 2, 0, scale.square)
        store(features, 3, 0, scale.times)
        store(features, 4, 0, scale.peak)
        store(features, 5, 0, scale.due)
        store(features, 6, 0, scale.left)
        for k in range(few):
            for line in range(len(features)):
                table[f + k + 1, line] = features[line, k]


@inlined
def turn(block, count, values):
    """The block's rows as columns, the first in the last place."""
    for t in range(0, count, WIDTH):
        for j in range(1, len(values)):
            store(values, j, ROWS - t - WIDTH + 1, load_upwards(block, t + WIDTH - 1, j - 1))


@inlined
def note_norms(block, count, facts):
    """|v|^2 of the block's rows."""
    for t in range(count):
        squares = fill(0.0)
        for f in range(0, block.shape[1], WIDTH):
            squares = squares + load(block, t, f) * load(block, t, f)
        facts[NORM + ROWS - t] = scales.norm_of(squares)


@inlined
def see_row(model, known, now, y, weight, facts, place):
    """Note what the stages will need to know of a row; returns labels and region after it."""
    settings, chain, learner, seen = model.settings, model.chain, model.learner, model.arrays.seen
    norm = facts[NORM + place]
    length = weight * linear.rate_of_row(learner, model.arrays, norm)
    scales.count(seen, norm, learner.forget)
    tamed, _, shrink_step, known = see_label(settings, chain, model.totals, known, now, y, weight)
    then = one_score.region(model.scores, settings, chain, known, 0)
    chain.loss[0] += weight * squared(now.center, y, 0.0)[0]
    facts[LABEL + place], facts[TAMED + place] = y, tamed
    facts[WEIGHT + place], facts[KEEP + place] = weight, 1.0 - settings.forget
    facts[SHRINK_STEP + place], facts[FIRST + place] = shrink_step, squared(now.center, tamed, 0.0)[0]
    if learner.update == linear.ADAPTIVE:  # each stage has its own norm
        facts[LENGTH + place], facts[UNIT + place] = length, unit_of(settings, known)
    else:
        facts[LENGTH + place] = linear.step_length(learner, length, norm)
    note_region(facts, place, then)
    return known, then


@inlined
def note_region(facts, place, now):
    facts[CENTER + place], facts[BOUND + place] = now.center, now.D
    facts[LOW + place], facts[HIGH + place] = now.low, now.high
    facts[BOTTOM + place], facts[TOP + place] = now.bottom, now.top


@inlined
def leave_empty(values, facts, place):
    """A row of weight 0, which leaves no trace."""
    for k in range(FACTS):
        facts[k * PLACES + place] = 0.0
    facts[KEEP + place], facts[NORM + place] = 1.0, 1.0
    values[:, place] = 0.0


@inlined
def keep_last(values_before, facts_before, values, facts, behind):
    """Put the last rows of the block before, which some stages have yet to meet, behind the next block."""
    for place in range(behind, 0, -1):  # from the last: both blocks may be in the same memory
        for k in range(FACTS):
            facts[k * PLACES + ROWS + place] = facts_before[k * PLACES + place]
        for j in range(len(values)):
            values[j, ROWS + place] = values_before[j, place]
