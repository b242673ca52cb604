"""The best cut of a set of rows, read off its histograms.

A cut sends bins 0 .. b of one column left and missing values (bin 255) either way, or any set of the bins of a column
of categories. With S the sums of the target, W the mass of a side and l2 the weight of the penalty, a side is worth

    ||S||^2 / (W + l2)           least squares, projection (4)
    ||S||_1                      the extreme atom with |h| <= 1
    max_k S_k - mean_k S_k       a class a side, projection (3)

and a cut what its two sides are. Where rows have a curvature, its sums K stand in the place of W, one an output:
sum_k S_k^2 / (K_k + l2); the least mass of a side is still one of W. A histogram has, for every bin, the targets, the
curvatures, if there are any, and the mass, last.

A sum within `noise` units a unit of mass, which is what rounding the rows can leave behind, counts as zero. Scores
within 1e-9 of the best are equal; then the lowest column, the lowest cut and missing values to the right win, so that
ties, common with sign gradients, do not hang on rounding. The last cut of a column with missing values parts those from
the rest, and no other cut does.

Trees that keep an order (monotone columns) have values within bounds: a side is then worth  2 <v, S> - (W + l2) ||v||^2
or <v, S>  for its free value, clipped, v, and a cut along an ordered column is allowed where the values of its sides
are in that order, output by output. The cut that parts missing values from the others has no order to keep.

For one output the best set of categories is a run of them in the order of their means (Fisher 1958): the score is a
convex function of the sums S and the mass W on its left, so it is largest at a vertex of what (S, W) can be, and
vertices are such runs. This holds for all that is above. With several outputs the order by each of them is tried in
turn, and the best found is good, not best. Missing values are one more category, the last.

Trees may look at some of the cuts of a column alone, drawn by the node's key: `node_thresholds` of those that part
its rows, one from each of as many equal runs of them, and the one that parts missing values. Columns of few values keep
all of theirs.

Most trees are plain: least squares of one output, without an order. Kernels take `rules` for all others, and
`categorical` for columns of categories, and `bends`, room for sums of curvature, where there is any; where None is
passed instead, Numba leaves out what they would need, and a first fit does not wait until it is compiled.
"""

from typing import NamedTuple

import numpy as np

from anyboost.backends.compiler import inlined, inner
from anyboost.backends.draws import STEP, mixed
from anyboost.trees.table import BINS, GROUP, MISSING

TIE = 1e-9
NOISE = 2.0  # units a unit of mass: half a unit from rounding, the rest from the target's own last bits
LEAST_SQUARES = 0
EXTREME = 1
CLASS = 2

FEW = 16  # values of a column that keeps all of its cuts where others draw some
LEFT = BINS  # where in `scores` those with missing values on the left begin


class Limits(NamedTuple):
    """What a search has to know of every tree: units of noise and of the penalty, and the least mass."""

    noise: float
    l2: float
    least: int


class Rules(NamedTuple):
    """What trees that are not plain keep to; arrays by node say what that leaves to each."""

    criterion: int
    ordered: bool  # whether values have bounds
    signs: (
        np.ndarray
    )  # by column: 1 where the right value must not be under the left one, -1 not above, else 0
    n_thresholds: np.ndarray  # by column: a cut beyond these parts missing values from the rest
    together: np.ndarray  # (sets, columns): a branch keeps to the columns of one of them
    node_features: float  # the share of columns that a node looks at
    node_thresholds: int  # the cuts of a column that a node looks at; 0: all
    bounds: np.ndarray  # (nodes, 2, k)
    looked: np.ndarray  # (nodes, columns): those drawn for the node; all that it may use where none are
    sets: np.ndarray  # (nodes, sets): those that hold the columns of its branch
    keys: np.ndarray  # (nodes,): words by which columns and cuts are drawn
    words: np.ndarray  # (columns,): room for those of columns


class Scratch(NamedTuple):
    """Room to work in, a thread's own: kernels make no arrays."""

    counters: np.ndarray  # see `histogram.count_columns` and `count_pairs`
    scores: np.ndarray  # of cuts, from LEFT on with missing values on the left
    keys: np.ndarray  # of categories, in order
    bins: np.ndarray  # they, or cuts
    left: np.ndarray  # (256,): sums on the left of cuts
    left_mass: np.ndarray
    sides: np.ndarray  # (2, channels): sums on both sides of one cut
    values: np.ndarray  # (2, channels): what they are filled with

    @classmethod
    def of(cls, channels: int) -> "Scratch":
        bins, left, left_mass = np.empty((3, BINS), dtype=np.int64)
        return cls(
            np.zeros(2 * GROUP * BINS, dtype=np.int64),
            np.empty(2 * LEFT),
            np.empty(BINS),
            bins,
            left,
            left_mass,
            np.empty((2, channels), dtype=np.int64),
            np.empty((2, channels)),
        )


@inlined(early=True)
def _plain_worth(total, weight, mass, limits):
    value = np.float64(total)
    if abs(value) <= limits.noise * np.float64(mass):
        return 0.0
    return value * value / (np.float64(weight) + limits.l2)


@inlined(early=True)
def _weight(side, outputs, j):
    # By what output j of a side is divided: its curvature, or the mass, which stands there where there is none.
    return np.float64(side[outputs + (j if side.shape[0] > outputs + 1 else 0)])


@inlined(early=True)
def _worth(side, outputs, limits, criterion):
    # What a side without bounds is worth.
    total = 0.0
    nothing = limits.noise * np.float64(side[side.shape[0] - 1])
    if criterion == CLASS:
        # How far the largest sum is above the mean of all: never negative.
        most = np.float64(side[0])
        for j in range(outputs):
            value = np.float64(side[j])
            total += value
            most = max(most, value)
        lead = most - total / outputs
        return lead if lead > nothing else 0.0
    curved = side.shape[0] > outputs + 1
    for j in range(outputs):
        value = abs(np.float64(side[j]))
        if value > nothing:
            gained = value * value if criterion == LEAST_SQUARES else value
            total += gained / (_weight(side, outputs, j) + limits.l2) if curved else gained
    if curved or criterion != LEAST_SQUARES:
        return total
    return total / (np.float64(side[outputs]) + limits.l2)


@inlined(early=True)
def free_value(side, outputs, j, limits, criterion):
    """What output j of a side would be filled with, were there no bounds."""
    s = np.float64(side[j])
    if abs(s) <= limits.noise * np.float64(side[side.shape[0] - 1]):
        return 0.0
    return (
        s / (_weight(side, outputs, j) + limits.l2) if criterion == LEAST_SQUARES else np.float64(np.sign(s))
    )


@inner
def _bounded_worth(side, outputs, limits, criterion, bounds, value):
    # What a side within bounds (2, k) is worth, and in `value` (k,) what it is filled with.
    total = 0.0
    nothing = limits.noise * np.float64(side[side.shape[0] - 1])
    for j in range(outputs):
        s = np.float64(side[j])
        s = s if abs(s) > nothing else 0.0
        v = min(max(free_value(side, outputs, j, limits, criterion), bounds[0, j]), bounds[1, j])
        value[j] = v
        weight = _weight(side, outputs, j) + limits.l2
        total += v * (2.0 * s - v * weight) if criterion == LEAST_SQUARES else v * s
    return total


@inner
def _ruled_worth(side, limits, criterion, ordered, bounds, value):
    # What a side is worth; `value` becomes what it is filled with, where there are bounds. It is called for every cut,
    # so it is not handed all of the rules.
    outputs = bounds.shape[1]
    if ordered and criterion != CLASS:  # a class has no bounds
        return _bounded_worth(side, outputs, limits, criterion, bounds, value)
    return _worth(side, outputs, limits, criterion)


@inlined(early=True)
def _real(whole):
    # np.float64(whole), rounded once as that is, by its halves: of these, machines convert several at a time.
    return np.float64(np.int32(whole >> 32)) * 4294967296.0 + np.float64(np.uint32(whole & 0xFFFFFFFF))


@inlined(early=True)
def _kept(here, mass, noise):
    # A sum as a float, zero where it is noise.
    value = _real(here)
    return value if abs(value) > noise * mass else 0.0


@inlined(early=True)
def _free_score(a, c, w, v):
    return (a * a * v + c * c * w) / (w * v)


@inlined(early=True)
def _bounded_score(a, c, w, v, low, high, sign, ordered):
    p, q = a / w, c / v
    p = p if p > low else low
    p = p if p < high else high
    q = q if q > low else low
    q = q if q < high else high
    score = p * (2.0 * a - p * w) + q * (2.0 * c - q * v)
    return score if sign * (q - p) >= 0.0 or not ordered else -np.inf


# Least squares with one output, the common case: no branch, several cuts at a time. `side` is what missing values add
# on the left.


@inner
def _score_one(left, left_mass, side, total, limits, scores, bounds, sign, n_ordered, bends):
    # Without bounds (None) with one division a cut; within bounds the first `n_ordered` cuts must be in order.
    noise, l2, least = limits.noise, limits.l2, limits.least
    last = total.shape[0] - 1
    lost, lost_mass, whole, mass = side[0], side[last], total[0], total[last]
    lost_weight, weight = side[1], total[1]
    low, high = -np.inf, np.inf
    if bounds is not None:
        low, high = bounds[0, 0], bounds[1, 0]
    for i in range(scores.shape[0]):
        here, here_mass = left[i] + lost, left_mass[i] + lost_mass
        w, v = _real(here_mass), _real(mass - here_mass)
        a, c = _kept(here, w, noise), _kept(whole - here, v, noise)
        if bends is not None:
            here_weight = bends[i] + lost_weight
            w, v = _real(here_weight), _real(weight - here_weight)
            w = w if w > 0.0 else 1.0  # then all its targets are zero
            v = v if v > 0.0 else 1.0
        w += l2
        v += l2
        if bounds is None:
            score = _free_score(a, c, w, v)
        else:
            score = _bounded_score(a, c, w, v, low, high, sign, i < n_ordered)
        scores[i] = score if min(here_mass, mass - here_mass) >= least else -np.inf


@inlined(early=True)
def _score_vectors(sums, first, cuts, way, total, limits, rules, node, sign, n_ordered, scratch, scores):
    # Any number of outputs, any criterion.
    channels, outputs = total.shape[0], rules.bounds.shape[2]
    left, right, values = scratch.sides[0], scratch.sides[1], scratch.values
    criterion, ordered, bounds = rules.criterion, rules.ordered, rules.bounds[node]
    for j in range(channels):
        left[j] = way * sums[first + MISSING, j]
        right[j] = total[j] - left[j]
    done = 0
    for i in range(scores.shape[0]):
        for b in range(done, cuts[i] + 1):
            for j in range(channels):
                left[j] += sums[first + b, j]
                right[j] -= sums[first + b, j]
        done = cuts[i] + 1
        scores[i] = -np.inf
        if min(left[channels - 1], right[channels - 1]) >= limits.least:
            score = _ruled_worth(left, limits, criterion, ordered, bounds, values[0])
            score += _ruled_worth(right, limits, criterion, ordered, bounds, values[1])
            if ordered and sign != 0 and i < n_ordered:
                for j in range(outputs):
                    if sign * (values[1, j] - values[0, j]) < 0.0:
                        score = -np.inf
            scores[i] = score


@inner
def _score_ruled(sums, column, way, total, limits, rules, node, n_ordered, scratch, scores, bends):
    # Scores of cuts of a column of numbers, with missing values on the right (way 0) or the left.
    first, sign = BINS * column, rules.signs[column]
    if rules.bounds.shape[2] == 1 and rules.criterion == LEAST_SQUARES:
        side = scratch.sides[0]
        for j in range(side.shape[0]):
            side[j] = way * sums[first + MISSING, j]
        _score_one(
            scratch.left, scratch.left_mass, side, total, limits, scores, rules.bounds[node], sign,
            n_ordered, bends,
        )  # fmt: skip
    else:
        cuts = scratch.bins
        _score_vectors(sums, first, cuts, way, total, limits, rules, node, sign, n_ordered, scratch, scores)


@inlined(early=True)
def _is_plain(rules):
    # Whether rules, where there are any, say nothing about scores.
    return rules.bounds.shape[2] == 1 and rules.criterion == LEAST_SQUARES and not rules.ordered


@inlined(early=True)
def column_word(key, column):
    """A word of a node's own for each column, by which is drawn."""
    return mixed(key ^ mixed(np.uint64(column + 1) * STEP))


@inlined(early=True)
def _move_cut(source, place, scratch, bends):
    cuts, left, left_mass = scratch.bins, scratch.left, scratch.left_mass
    cuts[place], left[place], left_mass[place] = cuts[source], left[source], left_mass[source]
    if bends is not None:
        bends[place] = bends[source]


@inlined(early=True)
def _draw_cuts(wanted, word, count, scratch, bends):
    # Keep one of each of `wanted` equal runs of the cuts, in their place; how many there are.
    if count <= wanted:
        return count
    for run in range(wanted):
        word = mixed(word + STEP)
        begin, end = count * run // wanted, count * (run + 1) // wanted
        place = (word >> np.uint64(32)) * np.uint64(end - begin) >> np.uint64(32)
        _move_cut(begin + np.int64(place), run, scratch, bends)
    return wanted


@inner
def _score_cuts(sums, column, n_cuts, total, limits, scratch, rules, node, bends):
    # Scores of the cuts of a column of numbers, -inf where not allowed: scores[i] of the cut cuts[i] and, where the set
    # has missing values, scores[LEFT + i] with those on its left. How many there are of both. A cut after a bin without
    # rows has the sides of a lower one, and is left out.
    first, last = BINS * column, total.shape[0] - 1
    cuts, left, left_mass = scratch.bins, scratch.left, scratch.left_mass
    lost_mass = sums[first + MISSING, last]
    count, so_far, mass_so_far, weight_so_far = 0, 0, 0, 0
    for b in range(n_cuts):
        moved = sums[first + b, last]
        so_far += sums[first + b, 0]
        mass_so_far += moved
        cuts[count], left[count], left_mass[count] = b, so_far, mass_so_far
        if bends is not None:
            weight_so_far += sums[first + b, 1]
            bends[count] = weight_so_far
        count += moved > 0
    ended = count > 0 and left_mass[count - 1] == total[last] - lost_mass
    if ended and lost_mass == 0:
        count -= 1  # nobody is on the right
    n_ordered, n_lost = count, 0
    if lost_mass > 0:  # the last one parts missing values from the rest, and only one way
        cuts[count - 1] = n_cuts - 1
        n_ordered = n_lost = count - 1
    if rules is not None and rules.node_thresholds > 0 and n_cuts >= FEW:
        word = ~column_word(rules.keys[node], column)
        drawn = _draw_cuts(rules.node_thresholds, word, n_ordered, scratch, bends)
        if lost_mass > 0:  # it is always looked at
            _move_cut(count - 1, drawn, scratch, bends)
            n_lost = drawn
        count, n_ordered = drawn + (lost_mass > 0), drawn
    for way in range(1 + (lost_mass > 0)):
        own = scratch.scores[:count] if way == 0 else scratch.scores[LEFT : LEFT + n_lost]
        if rules is None or _is_plain(rules):
            side = scratch.sides[0]
            for j in range(side.shape[0]):
                side[j] = way * sums[first + MISSING, j]
            _score_one(left, left_mass, side, total, limits, own, None, 0, 0, bends)
        else:
            _score_ruled(sums, column, way, total, limits, rules, node, n_ordered, scratch, own, bends)
    return count, n_lost


@inlined(early=True)
def _send(sums, column, cut, lost_left, outputs, goes_left):
    # goes_left[bin] for a cut. Missing values of a set that has none go to the heavier side.
    first, balance = BINS * column, 0
    for b in range(MISSING):
        goes_left[b] = b <= cut
        balance += sums[first + b, outputs] if b <= cut else -sums[first + b, outputs]
    goes_left[MISSING] = lost_left or (sums[first + MISSING, outputs] == 0 and balance > 0)
    return cut


@inlined(early=True)
def _sort(keys, bins, count):
    # Shell's sort by key, of equals the lower bin first.
    gap = 109
    while gap > 0:
        for i in range(gap, count):
            key, b, place = keys[i], bins[i], i
            while place >= gap and (
                keys[place - gap] > key or (keys[place - gap] == key and bins[place - gap] > b)
            ):
                keys[place] = keys[place - gap]
                bins[place] = bins[place - gap]
                place -= gap
            keys[place] = key
            bins[place] = b
        gap = gap * 3 // 8  # 109, 40, 15, 5, 1


@inlined(early=True)
def _largest(scores, rules):
    if rules is not None and rules.ordered:
        most = -np.inf
        for i in range(scores.shape[0]):
            most = max(most, scores[i])
        return most
    # Without bounds scores are -inf or not negative, so their bits are ordered as they are, and integers are compared
    # faster.
    top = np.float64(-np.inf).view(np.int64)
    for i in range(scores.shape[0]):
        top = max(top, np.float64(scores[i]).view(np.int64))
    return np.int64(top).view(np.float64)


@inner
def _score_runs(sums, first, bins, total, limits, rules, node, scratch, scores):
    # scores[i] of sending the first i + 1 of these categories left.
    channels = total.shape[0]
    left, right, value = scratch.sides[0], scratch.sides[1], scratch.values[0]
    criterion, ordered, bounds = rules.criterion, rules.ordered, rules.bounds[node]
    for j in range(channels):
        left[j] = 0
    for i in range(scores.shape[0]):
        for j in range(channels):
            left[j] += sums[first + bins[i], j]
            right[j] = total[j] - left[j]
        scores[i] = -np.inf
        if min(left[channels - 1], right[channels - 1]) >= limits.least:
            scores[i] = _ruled_worth(left, limits, criterion, ordered, bounds, value)
            scores[i] += _ruled_worth(right, limits, criterion, ordered, bounds, value)


@inner
def _best_subset(sums, column, n_cuts, total, limits, enough, scratch, goes_left, rules, node, bends):
    # The score of the best set of categories to send left, -inf where none is allowed. Sets are the first of the
    # categories in the order by the first output, then by the second, and so on. The search ends at the first of them
    # whose score is enough, and then goes_left (256,) says which bins it sends left: categories that the rows have
    # none of go where missing values go, and those, where there are none, to the heavier side.
    first, n_bins, last = BINS * column, n_cuts + 1, total.shape[0] - 1
    keys, bins, left, left_mass = scratch.keys, scratch.bins, scratch.left, scratch.left_mass
    outputs = 1 if rules is None else rules.bounds.shape[2]
    most = -np.inf
    for output in range(outputs):
        count = 0
        for place in range(n_bins + 1):
            b = place if place < n_bins else MISSING
            mass = np.float64(sums[first + b, last])
            if mass > 0.0 and (place == n_bins or b < MISSING):
                s = np.float64(sums[first + b, output])
                weight = _weight(sums[first + b], outputs, output)
                keys[count] = s / weight if abs(s) > limits.noise * mass else 0.0
                bins[count] = b
                count += 1
        if count < 2:
            return -np.inf
        _sort(keys, bins, count)
        scores = scratch.scores[: count - 1]
        so_far, mass_so_far, weight_so_far = 0, 0, 0
        for i in range(count - 1):
            so_far += sums[first + bins[i], 0]
            mass_so_far += sums[first + bins[i], last]
            left[i], left_mass[i] = so_far, mass_so_far
            if bends is not None:
                weight_so_far += sums[first + bins[i], 1]
                bends[i] = weight_so_far
        if rules is None or _is_plain(rules):
            nothing = scratch.sides[0]
            for j in range(nothing.shape[0]):
                nothing[j] = 0
            _score_one(left, left_mass, nothing, total, limits, scores, None, 0, 0, bends)
        else:
            _score_runs(sums, first, bins, total, limits, rules, node, scratch, scores)
        most = max(most, _largest(scores, rules))
        if most < enough:
            continue
        i = 0
        while scores[i] < enough:
            i += 1
        lost = 2 * left_mass[i] > total[last]
        for place in range(count):
            if bins[place] == MISSING:
                lost = place <= i
        for b in range(BINS):
            goes_left[b] = lost
        for place in range(count):
            goes_left[bins[place]] = place <= i
        return scores[i]
    return most


@inlined(early=True)
def score_columns(
    sums, groups, n_cuts, categorical, total, limits, allowed, scratch, rules, node, bends, best
):  # fmt: skip
    """best[c] = the score of column c's best cut, -inf where it has none, for the columns of some groups of eight.

    `sums` (columns * 256, channels) is the histogram of the node, its last channel the mass, and `total` (channels,)
    its sum over any one column. No side may have less than the least mass.
    """
    scores, light = scratch.scores, total[total.shape[0] - 1] < 2 * limits.least
    for group in groups:
        for column in range(8 * group, 8 * (group + 1)):
            best[column] = -np.inf
            if light or not allowed[column] or n_cuts[column] == 0:
                continue
            if categorical is not None and categorical[column]:
                best[column] = _best_subset(
                    sums, column, n_cuts[column], total, limits, np.inf, scratch, allowed, rules, node, bends
                )
                continue
            count, n_lost = _score_cuts(
                sums, column, n_cuts[column], total, limits, scratch, rules, node, bends
            )
            for own in (scores[:count], scores[LEFT : LEFT + n_lost]):
                best[column] = max(best[column], _largest(own, rules))


@inlined(early=True)
def choose_cut(sums, n_cuts, categorical, total, limits, best, scratch, goes_left, rules, node, bends):
    """Column, cut and gain of the best cut; column -1 where no cut gains, cut -1 for a set of categories.

    goes_left (256,) says of every bin, missing values in the last, whether the cut sends it left.
    """
    last = total.shape[0] - 1
    if rules is None:
        whole = _plain_worth(total[0], total[1], total[last], limits)
    else:
        whole = _ruled_worth(
            total, limits, rules.criterion, rules.ordered, rules.bounds[node], scratch.values[0]
        )
    most = -np.inf
    for column in range(best.shape[0]):
        most = max(most, best[column])
    if not most > whole + TIE * abs(whole):
        return -1, -1, -1.0
    enough = most - TIE * abs(most)
    column = 0
    while best[column] < enough:
        column += 1
    if categorical is not None and categorical[column]:
        score = _best_subset(
            sums, column, n_cuts[column], total, limits, enough, scratch, goes_left, rules, node, bends
        )
        return column, -1, score - whole
    scores, cuts = scratch.scores, scratch.bins
    n_lost = _score_cuts(sums, column, n_cuts[column], total, limits, scratch, rules, node, bends)[1]
    i = 0
    while scores[i] < enough and (i >= n_lost or scores[LEFT + i] < enough):
        i += 1
    lost_left = scores[i] < enough
    cut = _send(sums, column, cuts[i], lost_left, last, goes_left)
    return column, cut, scores[LEFT + i if lost_left else i] - whole
