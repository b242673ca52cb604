"""Linear learners, one a stage: stage i answers u_i . v, and a step is u_i -= rate * slope * v.

v is the row as it is (plain) or divided by each feature's running reach (all other updates), with a constant
1 in front. Weights lie feature by feature, all stages of a feature side by side: so dense rows vectorize over
stages, and a sparse row touches one short run of memory for each of its features.

A column is stage * outputs + output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anyboost import checks
from anyboost.backends.compiler import inlined
from anyboost.backends.simd import WIDTH, fill, load_some, select, store, total
from anyboost.backends.simd import load as load_vector
from anyboost.online import scales
from anyboost.online.base import Arrays, Shape
from anyboost.online.scales import feature_of

PLAIN, NORMALISED, ADAPTIVE, INVARIANT = 0, 1, 2, 3
UPDATES = {"plain": PLAIN, "normalised": NORMALISED, "adaptive": ADAPTIVE, "invariant": INVARIANT}
FEW = 8  # columns under which a loop over features is the faster one


class Linear(NamedTuple):
    """What the learners have in common."""

    update: int
    rate: float
    power: float
    forget: float


class LinearArrays(NamedTuple):
    """What they learn, and what a row leaves until its end."""

    weights: np.ndarray  # (features + 1, columns)
    rates: np.ndarray  # the same where adaptive: each weight's own, 1 / sqrt(1 + its sum of squared slopes)
    scales: np.ndarray
    norms: np.ndarray  # (columns,) |v|^2 with each weight's own rate
    moves: np.ndarray  # what the row takes from each weight, over v
    pulls: np.ndarray  # slopes
    seen: np.ndarray


@dataclass(frozen=True)
class LinearLearner:
    """Answers w . x + b, learned by gradient steps.

    Any step ends at the latest where a quadratic loss of the same curvature has its minimum: no row,
    however large, throws the learner out.

    Parameters
    ----------
    rate : float, default 0.2
        Of the steps.
    update : {"plain", "normalised", "adaptive", "invariant"}, default "normalised"
        "plain": w -= rate * slope * x, stochastic gradient descent, for features of size about one. "normalised": the
        same with each feature divided by its running reach, and the rate by the row's usual squared length: features
        may have any scale, and rate 1 steps all the way (Ross et al. 2013). "adaptive": normalised, and each weight's
        rate falls with its own squared slopes (AdaGrad). "invariant": normalised, and a row of weight h counts like h
        rows in a row (Karampatziakis and Langford 2011): the step along a loss of the same curvature, never past its
        minimum.
    power : float, default 0.0
        The rate falls with the number of rows as rate / rows^power.
    precision : {"double", "single"}, default "double"
        Of the weights.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.online.SpanBooster(ab.online.LinearLearner(update="adaptive")).learner
    LinearLearner(rate=0.2, update='adaptive', power=0.0, precision='double')
    """

    rate: float = 0.2
    update: str = "normalised"
    power: float = 0.0
    precision: str = "double"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.positive(self.rate, "rate"))
        if self.update == "normalized":
            object.__setattr__(self, "update", "normalised")
        checks.choice(self.update, "update", ("plain", "normalised", "adaptive", "invariant"))
        object.__setattr__(self, "power", checks.fraction(self.power, "power"))
        checks.choice(self.precision, "precision", ("double", "single"))

    def settings(self, forget: float) -> Linear:
        return Linear(UPDATES[self.update], self.rate, self.power, forget)

    def named(self, arrays: Arrays) -> LinearArrays:
        main, extra, table, (norms, moves, pulls), seen = arrays
        scale, count = scales.named(table, scales.SCALE), scales.named(seen, scales.SEEN)
        return LinearArrays(main, extra, scale, norms, moves, pulls, count)

    def shapes(self, n_features: int, stages: int, outputs: int) -> tuple[Shape, ...]:
        main = (n_features + 1, stages * outputs)
        extra = main if self.update == "adaptive" else (1, 0)
        scale, seen = scales.shape(scales.SCALE, n_features + 1), scales.shape(scales.SEEN)
        return main, extra, scale, (3, stages * outputs), seen

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        dtype = np.float64 if self.precision == "double" else np.float32
        main, extra, table, scratch, seen = self.shapes(n_features, stages, outputs)
        return Arrays(
            np.zeros(main, dtype), np.ones(extra, dtype), np.zeros(table), np.zeros(scratch), np.zeros(seen)
        )

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        more = n_features + 1 - len(arrays.main)
        extra = arrays.extra
        if self.update == "adaptive":
            extra = np.pad(extra, ((0, more), (0, 0)), constant_values=1.0)
        return arrays._replace(
            main=np.pad(arrays.main, ((0, more), (0, 0))),
            extra=extra,
            table=np.pad(arrays.table, ((0, more), (0, 0))),
        )

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        outputs = arrays.main.shape[1] // stages
        own = slice(stage * outputs, (stage + 1) * outputs)
        arrays.main[:, own] = 0.0
        if self.update == "adaptive":
            arrays.extra[:, own] = 1.0


@inlined
def load(learner, arrays, rows, begin, count, learning, values):
    return scales.load(learner.update != PLAIN, arrays.scales, rows, begin, count, learning, values)


@inlined
def rate_of_row(learner, arrays, norm):
    """In units of |v|^2 unless plain, so that 1 is a step all the way."""
    rate, seen = scales.rate_of(learner, arrays.seen), arrays.seen[0]
    if learner.update == PLAIN:
        return rate
    usual = max((seen.norm + norm) / (seen.share + 1.0), norm)
    return rate / math.sqrt(usual) if learner.update == ADAPTIVE else rate / usual


@inlined
def predict(learner, arrays, row, raw):
    """raw[column] = u . v for all stages, summed in the order of features, or as `_answer_alone` says."""
    columns, v = len(raw), row.values
    if _is_alone(learner, columns):
        raw[0] = _answer_alone(arrays.weights, row)
    elif columns < FEW:
        for c in range(columns):
            raw[c] = _answer(arrays.weights, row, c)
    else:
        _answers(arrays.weights, row, raw)
    if learner.update == ADAPTIVE:
        rates, norms = arrays.rates, arrays.norms
        for c in range(columns):
            norms[c] = rates[0, c]
        for j in range(1, row.length + 1):
            feature, square = feature_of(row, j), v[j] * v[j]
            for c in range(columns):
                norms[c] += rates[feature, c] * square


@inlined
def _is_alone(learner, columns):
    """Whether there is one plain learner only: it has nothing else to do while a sum waits for its terms."""
    return columns == 1 and learner.update == PLAIN


@inlined
def _answer_alone(main, row):
    """The lone learner's answer, with sums like those of `scales.load`."""
    v = row.values
    if len(row.columns) > 0:
        sums = fill(0.0)
        for j in range(1, row.length + 1):
            feature = feature_of(row, j)
            sums = sums + scales.part_of_sum(feature, main[feature, 0] * v[j])
        return main[0, 0] + total(sums)
    in_vectors, sums = row.length - row.length % WIDTH, fill(0.0)
    for j in range(1, in_vectors + 1, WIDTH):
        sums = sums + load_vector(main, j, 0) * load_vector(v, 0, j)
    if in_vectors < row.length:
        rest = row.length - in_vectors
        sums = sums + load_some(main, in_vectors + 1, 0, rest) * load_some(v, 0, in_vectors + 1, rest)
    return main[0, 0] + total(sums)


@inlined
def _answer(main, row, c):
    """One stage's, summed in a register."""
    answer = 1.0 * main[0, c]
    for j in range(1, row.length + 1):
        answer += main[feature_of(row, j), c] * row.values[j]
    return answer


@inlined
def _answers(main, row, raw):
    """All stages' side by side, four features at a time: each turn reads and writes raw but once."""
    columns, length, v = len(raw), row.length, row.values
    in_fours = length - length % 4
    for c in range(columns):
        raw[c] = main[0, c]
    for j in range(1, in_fours + 1, 4):
        e, f = feature_of(row, j), feature_of(row, j + 1)
        g, h = feature_of(row, j + 2), feature_of(row, j + 3)
        p, q, r, s = v[j], v[j + 1], v[j + 2], v[j + 3]
        for c in range(columns):
            raw[c] = raw[c] + main[e, c] * p + main[f, c] * q + main[g, c] * r + main[h, c] * s
    for j in range(in_fours + 1, length + 1):
        feature, value = feature_of(row, j), v[j]
        for c in range(columns):
            raw[c] += main[feature, c] * value


@inlined
def gain(learner, arrays, row, column):
    """How far towards a squared loss's minimum a step brings the answer."""
    norm = arrays.norms[column] if learner.update == ADAPTIVE else row.norm
    return min(step_length(learner, row.weight * row.rate, norm) * norm, 1.0)


@inlined
def step_length(learner, length, norm):
    """The step a unit of slope, of a row with this weight times rate."""
    return -math.expm1(-length * norm) / norm if learner.update == INVARIANT else capped(length, norm)


@inlined
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """Note one stage's step and move its answer by it; `finish` takes it."""
    for k in range(len(slopes)):
        c = stage * len(slopes) + k
        norm = arrays.norms[c] if learner.update == ADAPTIVE else row.norm
        pull = slopes[k] if learner.update == PLAIN else slopes[k] * aim.inverse_curvature
        length = step_length(learner, row.weight * row.rate, norm)
        pull, arrays.moves[c], raw[c] = step(pull, length, norm, raw[c], aim.low, aim.high)
        if learner.update == ADAPTIVE:
            arrays.pulls[c] = in_units(pull, aim.unit)


# For numbers, and for vectors of them.


@inlined
def capped(length, norm):
    """No step goes further than to where a loss of this curvature has its minimum: beyond, a large row
    would throw the learner ever further out."""
    return min(length, 1.0 / norm)


@inlined
def step(pull, length, norm, raw, low, high):
    """The slope that counts, the step against it, and the answer after it."""
    # Further out, the answer would not change.
    idle = ((raw > high) & (pull < 0.0)) | ((raw < low) & (pull > 0.0))
    pull = select(idle, 0.0, pull)
    move = length * pull
    return pull, move, raw - move * norm


@inlined
def in_units(pull, unit):
    return select(unit > 0.0, pull / unit, 0.0)


@inlined
def own_rate(own, pull, weight, keep):
    """A weight's own rate after a slope: 1 / sqrt(1 + the sum of their squares), discounted."""
    return own / math.sqrt(keep + own * own * (1.0 - keep + weight * pull * pull))


@inlined
def finish(learner, arrays, row):
    """Take all stages' steps."""
    main, moves, v = arrays.weights, arrays.moves, row.values
    columns = main.shape[1]
    if learner.update == ADAPTIVE:
        _adaptive_step(learner, arrays, row, 0, 1.0)
        for j in range(1, row.length + 1):
            _adaptive_step(learner, arrays, row, feature_of(row, j), v[j])
    elif _is_alone(learner, columns) and len(row.columns) == 0:
        _step_alone(main, moves[0], row)
    elif columns < FEW:
        for c in range(columns):
            move = moves[c]
            main[0, c] -= move
            for j in range(1, row.length + 1):
                main[feature_of(row, j), c] -= move * v[j]
    else:
        _steps(main, moves, row)
    scales.count(arrays.seen, row.norm, learner.forget)


@inlined
def _step_alone(main, move, row):
    v, in_vectors = row.values, row.length - row.length % WIDTH
    main[0, 0] -= move
    for j in range(1, in_vectors + 1, WIDTH):
        store(main, j, 0, load_vector(main, j, 0) - move * load_vector(v, 0, j))
    for j in range(in_vectors + 1, row.length + 1):
        main[j, 0] -= move * v[j]


@inlined
def _steps(main, moves, row):
    columns, length, v = main.shape[1], row.length, row.values
    in_pairs = length - length % 2
    for c in range(columns):
        main[0, c] -= moves[c]
    for j in range(1, in_pairs + 1, 2):
        first, second, p, q = feature_of(row, j), feature_of(row, j + 1), v[j], v[j + 1]
        for c in range(columns):
            main[first, c] -= moves[c] * p
            main[second, c] -= moves[c] * q
    for j in range(in_pairs + 1, length + 1):
        feature, value = feature_of(row, j), v[j]
        for c in range(columns):
            main[feature, c] -= moves[c] * value


@inlined
def _adaptive_step(learner, arrays, row, feature, value):
    keep = 1.0 - learner.forget
    for c in range(arrays.weights.shape[1]):
        own = 1.0 * arrays.rates[feature, c]
        arrays.weights[feature, c] -= arrays.moves[c] * own * value
        arrays.rates[feature, c] = own_rate(own, arrays.pulls[c] * value, row.weight, keep)
