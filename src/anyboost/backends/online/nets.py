"""Small nets, one a stage: a layer of sigmoid units between the row and the answer.

    hidden_h = 1 / (1 + exp(-u_h . v)),    answer = o_0 + sum_h o_h hidden_h

main:    (features + 1, stages * units) u
extra:   (units + 1, columns) o, the constant first; a column is stage * outputs + output
scratch: (2, stages * units) hidden; what a row takes from each u, over v
"""

import math
from typing import NamedTuple

from anyboost.backends.compiler import part
from anyboost.backends.online import features

HIDDEN, MOVES = 0, 1


class Nets(NamedTuple):
    """What the learners have in common."""

    rate: float
    power: float
    forget: float


@part
def load(learner, table, data, index, begin, count, learning, v):
    """|v|^2 of the row."""
    return features.load(True, table, data, index, begin, count, learning, v)


@part
def rate_of_row(learner, seen, norm):
    """The rate of this row's steps."""
    return (
        learner.rate * (seen[features.ROWS] + 1.0) ** -learner.power if learner.power > 0.0 else learner.rate
    )


@part
def predict(learner, main, extra, scratch, row, index, v, raw):
    """raw[column] = what each stage's net answers."""
    sparse = len(index) > 0
    units = main.shape[1]
    for h in range(units):
        scratch[HIDDEN, h] = main[0, h]
    for j in range(1, row.length + 1):
        feature = index[row.begin + j - 1] + 1 if sparse else j
        value = v[j]
        if value != 0.0:
            for h in range(units):
                scratch[HIDDEN, h] += main[feature, h] * value
    for h in range(units):
        scratch[HIDDEN, h] = 1.0 / (1.0 + math.exp(-scratch[HIDDEN, h]))
    own = len(extra) - 1
    outputs = len(raw) * own // units
    for c in range(len(raw)):
        total = extra[0, c]
        first = (c // outputs) * own
        for h in range(own):
            total += extra[h + 1, c] * scratch[HIDDEN, first + h]
        raw[c] = total


@part
def gain(learner, scratch, row, column):
    """Not known before the step."""
    return -1.0


@part
def learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    """Step against the slope in both layers, never past the minimum of a loss of this curvature."""
    own = len(extra) - 1
    outputs = len(slope)
    first, column = stage * own, stage * outputs
    scale = 1.0 / (unit * unit) if unit > 0.0 else 0.0
    norm = 1.0
    for h in range(own):
        hidden = scratch[HIDDEN, first + h]
        bend = hidden * (1.0 - hidden)
        reach = 0.0
        for k in range(outputs):
            reach += extra[h + 1, column + k] ** 2
        norm += hidden * hidden + scale * row.norm * bend * bend * reach
    move = min(row.weight * row.rate, 1.0 / norm) * ease
    for h in range(own):
        hidden = scratch[HIDDEN, first + h]
        back = 0.0
        for k in range(outputs):
            back += slope[k] * extra[h + 1, column + k]
            extra[h + 1, column + k] -= move * slope[k] * hidden
        scratch[MOVES, first + h] = move * scale * back * hidden * (1.0 - hidden)
    for k in range(outputs):
        extra[0, column + k] -= move * slope[k]
        raw[column + k] = extra[0, column + k]
    for h in range(own):
        # The unit's answer after the step, which moves its sum by |v|^2 times what v takes from it.
        hidden = scratch[HIDDEN, first + h]
        odds = (
            (1.0 - hidden) / hidden * math.exp(scratch[MOVES, first + h] * row.norm)
            if hidden > 0.0
            else math.inf
        )
        for k in range(outputs):
            raw[column + k] += extra[h + 1, column + k] / (1.0 + odds)


@part
def finish(learner, main, extra, table, scratch, seen, row, index, v):
    """Take the steps of all first layers."""
    sparse = len(index) > 0
    units = main.shape[1]
    for j in range(row.length + 1):
        feature = 0
        if j > 0:
            feature = index[row.begin + j - 1] + 1 if sparse else j
        value = v[j]
        if value != 0.0:
            for h in range(units):
                main[feature, h] -= scratch[MOVES, h] * value
    features.count(seen, row.norm, learner.forget)
