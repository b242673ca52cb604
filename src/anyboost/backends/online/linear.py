"""Linear learners, one a stage: stage i answers u_i . v, and a step is u_i -= rate * slope * v.

v is the row as it is (plain) or divided by each feature's running reach (all other updates), with a constant
1 in front. Weights lie feature by feature, all stages of a feature side by side: so dense rows vectorize over
stages, and a sparse row touches one short run of memory for each of its features.

main:    (features + 1, columns) weights; a column is stage * outputs + output
extra:   the same shape where adaptive: each weight's own rate, 1 / sqrt(1 + its sum of squared slopes)
scratch: (3, columns) |v|^2 with each weight's own rate; what a row takes from each weight, over v; slopes
"""

import math
from typing import NamedTuple

from anyboost.backends.compiler import part
from anyboost.backends.lanes import WIDTH, fill, load_some, select, store, total
from anyboost.backends.lanes import load as load_lanes
from anyboost.backends.online import features

PLAIN, NORMALISED, ADAPTIVE, INVARIANT = 0, 1, 2, 3
UPDATES = {"plain": PLAIN, "normalised": NORMALISED, "adaptive": ADAPTIVE, "invariant": INVARIANT}
NORMS, MOVES, PULLS = 0, 1, 2
FEW = 8  # columns under which a loop over features is the faster one


class Linear(NamedTuple):
    """What the learners have in common."""

    update: int
    rate: float
    power: float
    forget: float


@part
def load(learner, table, data, index, begin, count, learning, v):
    """|v|^2 of the row."""
    return features.load(learner.update != PLAIN, table, data, index, begin, count, learning, v)


@part
def rate_of_row(learner, seen, norm):
    """The rate of this row's steps: in units of |v|^2 unless plain, so that 1 is a step all the way."""
    rate = learner.rate
    if learner.power > 0.0:
        rate *= (seen[features.ROWS] + 1.0) ** -learner.power
    if learner.update == PLAIN:
        return rate
    usual = max((seen[features.NORM] + norm) / (seen[features.SHARE] + 1.0), norm)
    return rate / math.sqrt(usual) if learner.update == ADAPTIVE else rate / usual


@part
def predict(learner, main, extra, scratch, row, index, v, raw):
    """raw[column] = u . v for all stages, summed in the order of features, or as `_answer_alone` says."""
    columns = len(raw)
    if _is_alone(learner, columns):
        raw[0] = _answer_alone(main, row, index, v)
    elif columns < FEW:
        for c in range(columns):
            raw[c] = _answer(main, row, index, v, c)
    else:
        _answers(main, row, index, v, raw)
    if learner.update == ADAPTIVE:
        for c in range(columns):
            scratch[NORMS, c] = extra[0, c]
        for j in range(1, row.length + 1):
            feature, square = _feature(row, index, j), v[j] * v[j]
            for c in range(columns):
                scratch[NORMS, c] += extra[feature, c] * square


@part
def _feature(row, index, j):
    """Which feature stands at place j of the row, behind the constant."""
    return index[row.begin + j - 1] + 1 if len(index) > 0 else j


@part
def _is_alone(learner, columns):
    """Whether there is one plain learner only: it has nothing else to do while a sum waits for its terms."""
    return columns == 1 and learner.update == PLAIN


@part
def _answer_alone(main, row, index, v):
    """The lone learner's answer, with sums like those of `features.load`."""
    if len(index) > 0:
        sums = fill(0.0)
        for j in range(1, row.length + 1):
            feature = _feature(row, index, j)
            sums = sums + features.part_of_sum(feature, main[feature, 0] * v[j])
        return main[0, 0] + total(sums)
    whole, sums = row.length - row.length % WIDTH, fill(0.0)
    for j in range(1, whole + 1, WIDTH):
        sums = sums + load_lanes(main, j, 0) * load_lanes(v, 0, j)
    if whole < row.length:
        rest = row.length - whole
        sums = sums + load_some(main, whole + 1, 0, rest) * load_some(v, 0, whole + 1, rest)
    return main[0, 0] + total(sums)


@part
def _answer(main, row, index, v, c):
    """One stage's, summed in a register."""
    answer = 1.0 * main[0, c]
    for j in range(1, row.length + 1):
        answer += main[_feature(row, index, j), c] * v[j]
    return answer


@part
def _answers(main, row, index, v, raw):
    """All stages' side by side, four features at a time: each turn reads and writes raw but once."""
    columns, length = len(raw), row.length
    whole = length - length % 4
    for c in range(columns):
        raw[c] = main[0, c]
    for j in range(1, whole + 1, 4):
        e, f = _feature(row, index, j), _feature(row, index, j + 1)
        g, h = _feature(row, index, j + 2), _feature(row, index, j + 3)
        p, q, r, s = v[j], v[j + 1], v[j + 2], v[j + 3]
        for c in range(columns):
            raw[c] = raw[c] + main[e, c] * p + main[f, c] * q + main[g, c] * r + main[h, c] * s
    for j in range(whole + 1, length + 1):
        feature, value = _feature(row, index, j), v[j]
        for c in range(columns):
            raw[c] += main[feature, c] * value


@part
def gain(learner, scratch, row, column):
    """How far towards a squared loss's minimum a step brings the answer."""
    norm = scratch[NORMS, column] if learner.update == ADAPTIVE else row.norm
    return min(whole_step(learner, row, norm) * norm, 1.0)


@part
def whole_step(learner, row, norm):
    """The step a unit of slope."""
    length = row.weight * row.rate
    return -math.expm1(-length * norm) / norm if learner.update == INVARIANT else capped(length, norm)


@part
def learn(learner, main, extra, table, scratch, row, index, v, stage, slope, ease, unit, low, high, raw):
    """Note one stage's step and move its answer by it; `finish` takes it."""
    outputs = len(slope)
    for k in range(outputs):
        c = stage * outputs + k
        norm = scratch[NORMS, c] if learner.update == ADAPTIVE else row.norm
        pull = slope[k] if learner.update == PLAIN else slope[k] * ease
        pull, scratch[MOVES, c], raw[c] = step(pull, whole_step(learner, row, norm), norm, raw[c], low, high)
        if learner.update == ADAPTIVE:
            scratch[PULLS, c] = in_units(pull, unit)


# For numbers, and for lanes of them.


@part
def capped(length, norm):
    """No step goes further than to where a loss of this curvature has its minimum: beyond, a large row
    would throw the learner ever further out."""
    return min(length, 1.0 / norm)


@part
def step(pull, length, norm, raw, low, high):
    """The slope that counts, the step against it, and the answer after it."""
    # Further out, the answer would not change.
    idle = ((raw > high) & (pull < 0.0)) | ((raw < low) & (pull > 0.0))
    pull = select(idle, 0.0, pull)
    move = length * pull
    return pull, move, raw - move * norm


@part
def in_units(pull, unit):
    return select(unit > 0.0, pull / unit, 0.0)


@part
def own_rate(own, pull, weight, keep):
    """A weight's own rate after a slope: 1 / sqrt(1 + the sum of their squares), discounted."""
    return own / math.sqrt(keep + own * own * (1.0 - keep + weight * pull * pull))


@part
def finish(learner, main, extra, table, scratch, seen, row, index, v):
    """Take all stages' steps."""
    columns = main.shape[1]
    if learner.update == ADAPTIVE:
        _adaptive_step(learner, main, extra, scratch, row, 0, 1.0)
        for j in range(1, row.length + 1):
            _adaptive_step(learner, main, extra, scratch, row, _feature(row, index, j), v[j])
    elif _is_alone(learner, columns) and len(index) == 0:
        _step_alone(main, scratch[MOVES, 0], row, v)
    elif columns < FEW:
        for c in range(columns):
            move = scratch[MOVES, c]
            main[0, c] -= move
            for j in range(1, row.length + 1):
                main[_feature(row, index, j), c] -= move * v[j]
    else:
        _steps(main, scratch[MOVES], row, index, v)
    features.count(seen, row.norm, learner.forget)


@part
def _step_alone(main, move, row, v):
    whole = row.length - row.length % WIDTH
    main[0, 0] -= move
    for j in range(1, whole + 1, WIDTH):
        store(main, j, 0, load_lanes(main, j, 0) - move * load_lanes(v, 0, j))
    for j in range(whole + 1, row.length + 1):
        main[j, 0] -= move * v[j]


@part
def _steps(main, moves, row, index, v):
    columns, length = main.shape[1], row.length
    whole = length - length % 2
    for c in range(columns):
        main[0, c] -= moves[c]
    for j in range(1, whole + 1, 2):
        first, second, p, q = _feature(row, index, j), _feature(row, index, j + 1), v[j], v[j + 1]
        for c in range(columns):
            main[first, c] -= moves[c] * p
            main[second, c] -= moves[c] * q
    for j in range(whole + 1, length + 1):
        feature, value = _feature(row, index, j), v[j]
        for c in range(columns):
            main[feature, c] -= moves[c] * value


@part
def _adaptive_step(learner, main, extra, scratch, row, feature, value):
    keep = 1.0 - learner.forget
    for c in range(main.shape[1]):
        own = 1.0 * extra[feature, c]
        main[feature, c] -= scratch[MOVES, c] * own * value
        extra[feature, c] = own_rate(own, scratch[PULLS, c] * value, row.weight, keep)
