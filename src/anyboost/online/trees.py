"""Streaming histogram trees, one a stage: leaves answer their targets' running mean and split where that pays.

A leaf keeps, for each bin of each feature, the weight and the sum of its targets. Every `grace` rows it looks for the
split that lowers its squared error most, and takes it where the gain is more than chance gives: among m possible splits
of pure noise the best gains about 2 ln m variances.

Bins are the quantiles of the first rows, the same for all stages; until they are known, trees are constants.

Leaves have room for 256 columns. Wider rows have theirs in the order in which columns are first other than 0: one goes
to the place of its number modulo 256, or to one of the next few where that is taken. Who finds none is not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anyboost import checks
from anyboost.backends.compiler import inlined
from anyboost.online import scales
from anyboost.online.base import Arrays, Shape

FIRST = 256  # rows
MARGIN = 8.0
MOST_COLUMNS = FIRST  # that trees see; a line of so many numbers says which ones
TRIED = 8  # places
SHORT = 50.0  # rows that a leaf's mean still counts after an earlier stage has split


class Trees(NamedTuple):
    """What the learners have in common."""

    leaves: int
    bins: int
    grace: int
    rate: float  # the least share of a row in its leaf's mean
    forget: float


class TreeArrays(NamedTuple):
    """What they learn. Nodes of all stages lie one after another, and a stage's leaves have a histogram each."""

    feature: np.ndarray  # of each node's split; 0 makes it a leaf
    bin: np.ndarray  # the last that goes left
    left: np.ndarray  # its left child, in the stage; the right one is the next
    slot: np.ndarray  # of a leaf's histogram, in the stage
    counts: np.ndarray  # weights of rows
    squares: np.ndarray  # of what the node's mean left over
    used: np.ndarray  # of a stage's first node: how many leaves the stage has, less one
    values: np.ndarray  # (nodes, outputs)
    histograms: np.ndarray  # (leaves, (features + 1) * bins * (1 + outputs)) weight and sums of targets
    edges: np.ndarray  # (features + 1, FIRST) the first rows' values, then the edges of the bins
    places: np.ndarray  # (1 or 0, MOST_COLUMNS) each feature's column, plus 1; 0: none yet
    leaf: np.ndarray  # (stages,) the row's
    target: np.ndarray  # (outputs,) and sums of a split's search
    left_sum: np.ndarray
    sum: np.ndarray
    seen: np.ndarray


VALUES = TreeArrays._fields.index("values")  # columns of `main` before it are a node's other numbers


@dataclass(frozen=True)
class TreeLearner:
    """A regression tree that grows with the stream, from histograms in its leaves.

    Zeros of sparse rows are values like others. Trees see 256 columns, of wider rows those that are the first to be
    other than 0: memory is 2 * max_leaves * bins numbers a column and learner.

    Parameters
    ----------
    max_leaves : int, default 16
        Of each tree.
    bins : int, default 32
        Quantiles of each feature's first 256 values.
    grace : int, default 200
        After how many rows in a leaf a split is looked for.
    rate : float, default 0.005
        The least share of a row in its leaf's mean; 1/100 lets leaves follow drift within hundreds of rows.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.online.SpanBooster(ab.online.TreeLearner(8)).learner
    TreeLearner(max_leaves=8, bins=32, grace=200, rate=0.005)
    """

    max_leaves: int = 16
    bins: int = 32
    grace: int = 200
    rate: float = 0.005

    def __post_init__(self) -> None:
        checks.count(self.max_leaves, "max_leaves", least=2)
        checks.count(self.bins, "bins", 2, 256)
        checks.count(self.grace, "grace", least=1)
        object.__setattr__(self, "rate", checks.fraction(self.rate, "rate"))

    def settings(self, forget: float) -> Trees:
        return Trees(self.max_leaves, self.bins, self.grace, self.rate, forget)

    def named(self, arrays: Arrays) -> TreeArrays:
        main, extra, table, scratch, seen = arrays
        nodes = (main[:, column] for column in range(VALUES))
        lines = columns_of(self, arrays) + 1
        return TreeArrays(
            *(*nodes, main[:, VALUES:], extra, table[:lines], table[lines:]),
            *(*scratch, scales.named(seen, scales.SEEN)),
        )

    def shapes(
        self, n_features: int, stages: int, outputs: int, columns: int | None = None
    ) -> tuple[Shape, ...]:
        # `columns`: how many trees see; those of models of earlier versions saw all.
        nodes, channels = 2 * self.max_leaves - 1, 1 + outputs
        columns = min(n_features, MOST_COLUMNS) if columns is None else columns
        return (
            (stages * nodes, VALUES + outputs),
            (stages * self.max_leaves, (columns + 1) * self.bins * channels),
            (columns + 1 + (columns == MOST_COLUMNS < n_features), FIRST),
            (4, max(stages, outputs)),
            scales.shape(scales.SEEN),
        )

    def arrays(self, n_features: int, stages: int, outputs: int, random: np.random.Generator) -> Arrays:
        return Arrays(*(np.zeros(shape) for shape in self.shapes(n_features, stages, outputs)))

    def grown(self, arrays: Arrays, n_features: int, random: np.random.Generator) -> Arrays:
        before = columns_of(self, arrays)
        columns = max(before, min(n_features, MOST_COLUMNS))
        channels = 1 + arrays.main.shape[1] - VALUES
        more = columns - before
        edges, places = arrays.table[: before + 1], arrays.table[before + 1 :]
        edges = np.pad(edges, ((0, more), (0, 0)))
        # A feature that comes late was 0 so far: its bins tell negative, zero and positive apart.
        if edges[0, 0] == FIRST:
            edges[before + 1 :, self.bins - 1 :] = np.inf
        if columns == MOST_COLUMNS < n_features and not len(places):
            numbers = np.arange(1.0, MOST_COLUMNS + 1)
            places = np.where(numbers <= before, numbers, 0.0)[None]
        wider = np.pad(arrays.extra, ((0, 0), (0, more * self.bins * channels))) if more else arrays.extra
        return arrays._replace(extra=wider, table=np.concatenate([edges, places]))

    def reset(self, arrays: Arrays, stage: int, stages: int, random: np.random.Generator) -> None:
        nodes = len(arrays.main) // stages
        arrays.main[stage * nodes : (stage + 1) * nodes] = 0.0
        arrays.extra[stage * self.max_leaves : (stage + 1) * self.max_leaves] = 0.0


def columns_of(learner: TreeLearner, arrays: Arrays) -> int:
    """How many columns trees see."""
    channels = 1 + arrays.main.shape[1] - VALUES
    return int(arrays.extra.shape[1] // (learner.bins * channels) - 1)


gain = scales.unknown_gain


@inlined
def load(learner, arrays, rows, begin, count, learning, values):
    """The row, with zeros where it is sparse; values[0] says how many rows the bins rest on."""
    edges, v = arrays.edges, values
    v[: len(edges)] = 0.0
    v[0] = 1.0
    for j in range(count):
        value = rows.values[begin + j]
        place = (rows.columns[begin + j] if len(rows.columns) > 0 else j) + 1
        if len(arrays.places) > 0:
            place = _place(arrays.places, place, learning and value != 0.0)
        if 0 < place < len(edges):
            v[place] = value
    if learning and edges[0, 0] < FIRST:
        place = int(edges[0, 0])
        for feature in range(1, len(edges)):
            edges[feature, place] = v[feature]
        edges[0, 0] += 1.0
        if edges[0, 0] == FIRST:
            for feature in range(1, len(edges)):
                ordered = np.sort(edges[feature])
                for b in range(learner.bins - 1):
                    edges[feature, b] = ordered[(b + 1) * FIRST // learner.bins]
                edges[feature, learner.bins - 1 :] = math.inf
    if edges[0, 0] == FIRST:
        for feature in range(1, len(edges)):
            low, high = 0, learner.bins - 1
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if v[feature] > edges[feature, middle] else (low, middle)
            v[feature] = low
        v[0] = FIRST
    return 1.0


@inlined
def _place(places, number, claiming):
    """The feature that a column is, by its number from 1 on; 0: none. A new one may claim a place."""
    for step in range(TRIED):
        slot = (number - 1 + step) % MOST_COLUMNS
        if places[0, slot] == 0.0 and claiming:
            places[0, slot] = number
        if places[0, slot] == number:
            return slot + 1
    return 0


@inlined
def rate_of_row(learner, arrays, norm):
    """The least share of the row in its leaf's mean."""
    return learner.rate


@inlined
def predict(learner, arrays, row, raw):
    """raw[column] = the value of the row's leaf in each stage."""
    nodes = 2 * learner.leaves - 1
    stages = len(arrays.feature) // nodes
    outputs = len(raw) // stages
    for stage in range(stages):
        node = stage * nodes
        while arrays.feature[node] > 0.0:
            right = row.values[int(arrays.feature[node])] > arrays.bin[node]
            node = stage * nodes + int(arrays.left[node]) + (1 if right else 0)
        arrays.leaf[stage] = node
        for k in range(outputs):
            raw[stage * outputs + k] = arrays.values[node, k]


@inlined
def learn(learner, arrays, row, stage, slopes, aim, raw):
    """Count the target in the row's leaf, which may split."""
    outputs, weight, v = len(slopes), row.weight, row.values
    node = int(arrays.leaf[stage])
    channels = 1 + outputs
    slot = stage * learner.leaves + int(arrays.slot[node])
    arrays.counts[node] += weight
    share = min(max(weight / arrays.counts[node], weight * learner.rate), 1.0)
    for k in range(outputs):
        c = stage * outputs + k
        target = min(max(raw[c], aim.low), aim.high) - slopes[k] * aim.inverse_curvature
        arrays.target[k] = target
        gap = target - arrays.values[node, k]
        arrays.values[node, k] += share * gap
        arrays.squares[node] += weight * gap * (target - arrays.values[node, k])
        raw[c] = arrays.values[node, k]
    if v[0] < FIRST:
        return
    own = arrays.histograms[slot]
    for feature in range(1, len(arrays.edges)):
        place = (feature * learner.bins + int(v[feature])) * channels
        own[place] += weight
        for k in range(outputs):
            own[place + 1 + k] += weight * arrays.target[k]
    own[0] += weight  # the constant's place counts the rows since the last look
    if own[0] >= learner.grace:
        own[0] = 0.0
        _split(learner, arrays, stage, node, own, outputs)


@inlined
def _split(learner, arrays, stage, node, own, outputs):
    """Split the leaf where that pays and there is room."""
    channels = 1 + outputs
    width = learner.bins * channels
    used = arrays.used[stage * (2 * learner.leaves - 1)] + 1.0
    if used >= learner.leaves:
        return
    total, best_gain, best_feature, best_bin = 0.0, 0.0, 0, 0
    arrays.sum[:outputs] = 0.0
    for b in range(learner.bins):
        place = width + b * channels
        total += own[place]
        for k in range(outputs):
            arrays.sum[k] += own[place + 1 + k]
    for feature in range(1, len(arrays.edges)):
        left = 0.0
        arrays.left_sum[:outputs] = 0.0
        for b in range(learner.bins - 1):
            place = feature * width + b * channels
            left += own[place]
            for k in range(outputs):
                arrays.left_sum[k] += own[place + 1 + k]
            if left <= 0.0 or total - left <= 0.0:
                continue
            gain = 0.0
            for k in range(outputs):
                mine, whole = arrays.left_sum[k], arrays.sum[k]
                gain += mine * mine / left + (whole - mine) ** 2 / (total - left) - whole * whole / total
            if gain > best_gain:
                best_gain, best_feature, best_bin = gain, feature, b
    noise = arrays.squares[node] / arrays.counts[node]
    chance = 2.0 * math.log(1.0 + (len(arrays.edges) - 1.0) * (learner.bins - 1.0)) + MARGIN
    if best_feature > 0 and best_gain > noise * chance:
        _grow(learner, arrays, stage, node, own, outputs, best_feature, best_bin)


@inlined
def _grow(learner, arrays, stage, node, own, outputs, feature, cut):
    """Give the leaf two children, which begin at the means of their sides."""
    channels = 1 + outputs
    first = stage * (2 * learner.leaves - 1)
    used = int(arrays.used[first]) + 1  # leaves; so far, twice as many nodes less one
    left = 2 * used - 1
    place = feature * learner.bins * channels
    for side in range(2):
        child = first + left + side
        weight = 0.0
        for b in range(0 if side == 0 else cut + 1, cut + 1 if side == 0 else learner.bins):
            weight += own[place + b * channels]
        for k in range(outputs):
            total = 0.0
            for b in range(0 if side == 0 else cut + 1, cut + 1 if side == 0 else learner.bins):
                total += own[place + b * channels + 1 + k]
            arrays.values[child, k] = total / weight
        share = arrays.squares[node] / arrays.counts[node]
        arrays.counts[child], arrays.squares[child] = weight, weight * share
        arrays.feature[child] = 0.0
        arrays.slot[child] = arrays.slot[node] if side == 0 else used
    own[:] = 0.0
    arrays.histograms[stage * learner.leaves + used, :] = 0.0
    arrays.feature[node], arrays.bin[node], arrays.left[node] = feature, cut, left
    arrays.used[first] += 1.0
    _begin_again(learner, arrays, stage + 1)


@inlined
def _begin_again(learner, arrays, stage):
    """Let the stages from this one on look anew: what they saw is what an earlier stage answers from now on.

    Without it all stages would find the same split at the same time, and their sum be wrong as often.
    """
    arrays.histograms[stage * learner.leaves :, :] = 0.0
    for node in range(stage * (2 * learner.leaves - 1), len(arrays.counts)):
        if arrays.counts[node] > SHORT:
            arrays.squares[node] *= SHORT / arrays.counts[node]
            arrays.counts[node] = SHORT


@inlined
def finish(learner, arrays, row):
    """Count the row; forget a little of every leaf's weight, so that later rows count more."""
    scales.count(arrays.seen, 1.0, learner.forget)
    if learner.forget > 0.0:
        for stage in range(len(arrays.counts) // (2 * learner.leaves - 1)):
            node = int(arrays.leaf[stage])
            arrays.counts[node] *= 1.0 - learner.forget
            arrays.squares[node] *= 1.0 - learner.forget
