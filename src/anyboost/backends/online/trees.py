"""Streaming histogram trees, one a stage: leaves answer their targets' running mean and split where that pays.

A leaf keeps, for each bin of each feature, the weight and the sum of its targets. Every `grace` rows it looks for the
split that lowers its squared error most, and takes it where the gain is more than chance gives: among m possible splits
of pure noise the best gains about 2 ln m variances.

Bins are the quantiles of the first rows, the same for all stages; until they are known, trees are constants.

main:    (stages * nodes, 7 + outputs) see the columns below
extra:   (stages * leaves, (features + 1) * bins * (1 + outputs)) histograms
table:   (features + 1, FIRST) the first rows' values, then the edges of the bins
scratch: (4, stages or outputs) the row's leaf in each stage; its target, and sums of a split's search
"""

import math
from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import part
from anyboost.backends.online import features

# Columns of a node; feature 0 makes it a leaf. USED, of a stage's first node, is how many leaves the stage has.
FEATURE, BIN, LEFT, SLOT, COUNT, SQUARES, USED, VALUE = 0, 1, 2, 3, 4, 5, 6, 7
LEAF, TARGET, LEFT_SUM, SUM = 0, 1, 2, 3  # rows of the scratch
FIRST = 256  # rows
MARGIN = 8.0
SHORT = 50.0  # rows that a leaf's mean still counts after an earlier stage has split


class Trees(NamedTuple):
    """What the learners have in common."""

    leaves: int
    bins: int
    grace: int
    rate: float  # the least share of a row in its leaf's mean
    forget: float


@part
def load(learner, table, data, index, begin, count, learning, v):
    """The row, with zeros where it is sparse; v[0] says how many rows the bins rest on."""
    v[:] = 0.0
    v[0] = 1.0
    for j in range(count):
        v[(index[begin + j] if len(index) > 0 else j) + 1] = data[begin + j]
    if learning and table[0, 0] < FIRST:
        place = int(table[0, 0])
        for feature in range(1, len(table)):
            table[feature, place] = v[feature]
        table[0, 0] += 1.0
        if table[0, 0] == FIRST:
            for feature in range(1, len(table)):
                ordered = np.sort(table[feature])
                for b in range(learner.bins - 1):
                    table[feature, b] = ordered[(b + 1) * FIRST // learner.bins]
                table[feature, learner.bins - 1 :] = math.inf
    if table[0, 0] == FIRST:
        for feature in range(1, len(table)):
            low, high = 0, learner.bins - 1
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if v[feature] > table[feature, middle] else (low, middle)
            v[feature] = low
        v[0] = FIRST
    return 1.0


@part
def rate_of_row(learner, seen, norm):
    """The least share of the row in its leaf's mean."""
    return learner.rate


@part
def predict(learner, main, extra, scratch, row, index, v, raw):
    """raw[column] = the value of the row's leaf in each stage."""
    nodes = 2 * learner.leaves - 1
    stages = len(main) // nodes
    outputs = len(raw) // stages
    for stage in range(stages):
        node = stage * nodes
        while main[node, FEATURE] > 0.0:
            right = v[int(main[node, FEATURE])] > main[node, BIN]
            node = stage * nodes + int(main[node, LEFT]) + (1 if right else 0)
        scratch[LEAF, stage] = node
        for k in range(outputs):
            raw[stage * outputs + k] = main[node, VALUE + k]


@part
def gain(learner, scratch, row, column):
    """Not known before the step."""
    return -1.0


@part
def learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    """Count the target in the row's leaf, which may split."""
    outputs = len(slope)
    node = int(scratch[LEAF, stage])
    channels = 1 + outputs
    slot = stage * learner.leaves + int(main[node, SLOT])
    weight = row.weight
    main[node, COUNT] += weight
    share = min(max(weight / main[node, COUNT], weight * learner.rate), 1.0)
    for k in range(outputs):
        c = stage * outputs + k
        target = min(max(raw[c], low), high) - slope[k] * ease
        scratch[TARGET, k] = target
        gap = target - main[node, VALUE + k]
        main[node, VALUE + k] += share * gap
        main[node, SQUARES] += weight * gap * (target - main[node, VALUE + k])
        raw[c] = main[node, VALUE + k]
    if v[0] < FIRST:
        return
    width = learner.bins * channels
    for feature in range(1, len(table)):
        place = feature * width + int(v[feature]) * channels
        extra[slot, place] += weight
        for k in range(outputs):
            extra[slot, place + 1 + k] += weight * scratch[TARGET, k]
    extra[slot, 0] += weight  # the constant's place counts the rows since the last look
    if extra[slot, 0] >= learner.grace:
        extra[slot, 0] = 0.0
        _split(learner, main, extra, table, scratch, stage, node, slot, outputs)


@part
def _split(learner, main, extra, table, scratch, stage, node, slot, outputs):
    """Split the leaf where that pays and there is room."""
    channels = 1 + outputs
    width = learner.bins * channels
    used = main[stage * (2 * learner.leaves - 1), USED] + 1.0
    if used >= learner.leaves:
        return
    total, best_gain, best_feature, best_bin = 0.0, 0.0, 0, 0
    scratch[SUM, :outputs] = 0.0
    for b in range(learner.bins):
        place = width + b * channels
        total += extra[slot, place]
        for k in range(outputs):
            scratch[SUM, k] += extra[slot, place + 1 + k]
    for feature in range(1, len(table)):
        left = 0.0
        scratch[LEFT_SUM, :outputs] = 0.0
        for b in range(learner.bins - 1):
            place = feature * width + b * channels
            left += extra[slot, place]
            for k in range(outputs):
                scratch[LEFT_SUM, k] += extra[slot, place + 1 + k]
            if left <= 0.0 or total - left <= 0.0:
                continue
            gain = 0.0
            for k in range(outputs):
                mine, whole = scratch[LEFT_SUM, k], scratch[SUM, k]
                gain += mine * mine / left + (whole - mine) ** 2 / (total - left) - whole * whole / total
            if gain > best_gain:
                best_gain, best_feature, best_bin = gain, feature, b
    noise = main[node, SQUARES] / main[node, COUNT]
    chance = 2.0 * math.log(1.0 + (len(table) - 1.0) * (learner.bins - 1.0)) + MARGIN
    if best_feature > 0 and best_gain > noise * chance:
        _grow(learner, main, extra, stage, node, slot, outputs, best_feature, best_bin)


@part
def _grow(learner, main, extra, stage, node, slot, outputs, feature, cut):
    """Give the leaf two children, which begin at the means of their sides."""
    channels = 1 + outputs
    first = stage * (2 * learner.leaves - 1)
    used = int(main[first, USED]) + 1  # leaves; so far, twice as many nodes less one
    left = 2 * used - 1
    place = feature * learner.bins * channels
    for side in range(2):
        child = first + left + side
        weight = 0.0
        for b in range(0 if side == 0 else cut + 1, cut + 1 if side == 0 else learner.bins):
            weight += extra[slot, place + b * channels]
        for k in range(outputs):
            total = 0.0
            for b in range(0 if side == 0 else cut + 1, cut + 1 if side == 0 else learner.bins):
                total += extra[slot, place + b * channels + 1 + k]
            main[child, VALUE + k] = total / weight
        share = main[node, SQUARES] / main[node, COUNT]
        main[child, COUNT], main[child, SQUARES] = weight, weight * share
        main[child, FEATURE] = 0.0
        main[child, SLOT] = main[node, SLOT] if side == 0 else used
    extra[slot, :] = 0.0
    extra[stage * learner.leaves + used, :] = 0.0
    main[node, FEATURE], main[node, BIN], main[node, LEFT] = feature, cut, left
    main[first, USED] += 1.0
    _begin_again(learner, main, extra, stage + 1)


@part
def _begin_again(learner, main, extra, stage):
    """Let the stages from this one on look anew: what they saw is what an earlier stage answers from now on.

    Without it all stages would find the same split at the same time, and their sum be wrong as often.
    """
    nodes = 2 * learner.leaves - 1
    extra[stage * learner.leaves :, :] = 0.0
    for node in range(stage * nodes, len(main)):
        if main[node, COUNT] > SHORT:
            main[node, SQUARES] *= SHORT / main[node, COUNT]
            main[node, COUNT] = SHORT


@part
def finish(learner, main, extra, table, scratch, seen, row, index, v):
    """Count the row; forget a little of every leaf's weight, so that later rows count more."""
    features.count(seen, 1.0, learner.forget)
    if learner.forget > 0.0:
        for stage in range(len(main) // (2 * learner.leaves - 1)):
            node = int(scratch[LEAF, stage])
            main[node, COUNT] *= 1.0 - learner.forget
            main[node, SQUARES] *= 1.0 - learner.forget
