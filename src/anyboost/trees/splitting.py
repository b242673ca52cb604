"""The best cut of a set of rows, read off its histograms.

A cut sends bins 0 .. b of one column left and missing values (bin 255) either way, or any set of the bins of a column
of categories (see `categories`). It is worth what its two children are (see `worth`). A histogram has, for every bin,
the targets, the curvatures, if there are any, and the mass, last.

Scores within 1e-9 of the best are equal; then the lowest column, the lowest cut and missing values to the right win, so
that ties, common with sign gradients, do not hang on rounding. The last cut of a column with missing values parts those
from the rest, no other cut does, and it has no order to keep.

Trees may look at some of the cuts of a column alone, drawn by the node's key: `node_thresholds` of those that part
its rows, one from each of as many equal runs of them, and the one that parts missing values. Columns of few values keep
all of theirs.

`rules` are None for plain trees, `categorical` where no column holds categories, `bends` where rows have no curvature.
"""

import numpy as np

from anyboost.backends.compiler import inlined, inner
from anyboost.backends.draws import STEP, mixed
from anyboost.trees.categories import best_subset
from anyboost.trees.rules import LEAST_SQUARES, TIE
from anyboost.trees.table import BINS, GROUP, MISSING
from anyboost.trees.worth import LEFT, is_plain, largest, plain_worth, ruled_worth, score_one, score_outputs

FEW = 16  # values of a column that keeps all of its cuts where others draw some


@inner
def _sum_children(sums, first, cuts, count, way, total, whole, lefts, children):
    # The sums of both children of all cuts of a column, as floats.
    channels, done = total.shape[0], 0
    for j in range(channels):
        lefts[j] = way * sums[first + MISSING, j]
    for i in range(count):
        for b in range(done, cuts[i] + 1):
            if not whole or sums[first + b, channels - 1] > 0:  # in a small node most bins are empty
                for j in range(channels):
                    lefts[j] += sums[first + b, j]
        done = cuts[i] + 1
        for j in range(channels):
            children[0, j, i], children[1, j, i] = lefts[j], total[j] - lefts[j]


@inlined(early=True)
def _score_free(sums, first, way, total, limits, outputs, scratch, scores):
    # Least squares of several outputs that keep no order.
    count, last = scores.shape[0], total.shape[0] - 1
    lefts, children = scratch.children[0], scratch.children_of_cuts
    _sum_children(sums, first, scratch.bins, count, way, total, limits.whole, lefts, children)
    score_outputs(children, outputs, limits, scores)
    for i in range(count):
        mass = scratch.left_mass[i] + way * sums[first + MISSING, last]
        if min(mass, total[last] - mass) < limits.least:
            scores[i] = -np.inf


@inlined(early=True)
def _score_vectors(sums, first, cuts, way, total, limits, rules, node, sign, n_ordered, scratch, scores):
    # Any number of outputs, any criterion.
    channels, outputs = total.shape[0], rules.bounds.shape[2]
    left, right, values = scratch.children[0], scratch.children[1], scratch.values
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
            score = ruled_worth(left, limits, criterion, ordered, bounds, values[0])
            score += ruled_worth(right, limits, criterion, ordered, bounds, values[1])
            if ordered and sign != 0 and i < n_ordered:
                for j in range(outputs):
                    if sign * (values[1, j] - values[0, j]) < 0.0:
                        score = -np.inf
            scores[i] = score


@inlined(early=True)
def _missing_left(sums, first, way, scratch):
    # What missing values add on the left of all cuts of a column: themselves (way 1) or nothing.
    added = scratch.children[0]
    for j in range(added.shape[0]):
        added[j] = way * sums[first + MISSING, j]
    return added


@inner
def _score_ruled(sums, column, way, total, limits, rules, node, n_ordered, scratch, scores, bends):
    # Scores of cuts of a column of numbers, with missing values on the right (way 0) or the left.
    first, sign = BINS * column, rules.signs[column]
    if rules.bounds.shape[2] == 1 and rules.criterion == LEAST_SQUARES:
        lost = _missing_left(sums, first, way, scratch)
        score_one(
            scratch.left, scratch.left_mass, lost, total, limits, scores, rules.bounds[node], sign,
            n_ordered, bends,
        )  # fmt: skip
    else:
        outputs, cuts = rules.bounds.shape[2], scratch.bins
        if rules.criterion == LEAST_SQUARES and not rules.ordered:
            _score_free(sums, first, way, total, limits, outputs, scratch, scores)
            return
        _score_vectors(sums, first, cuts, way, total, limits, rules, node, sign, n_ordered, scratch, scores)


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
    # rows has the children of a lower one, and is left out.
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
        if rules is None or is_plain(rules):
            lost = _missing_left(sums, first, way, scratch)
            score_one(left, left_mass, lost, total, limits, own, None, 0, 0, bends)
        else:
            _score_ruled(sums, column, way, total, limits, rules, node, n_ordered, scratch, own, bends)
    return count, n_lost


@inlined(early=True)
def _send(sums, column, cut, lost_left, outputs, goes_left):
    # goes_left[bin] for a cut. Missing values of a set that has none go to the heavier child.
    first, balance = BINS * column, 0
    for b in range(MISSING):
        goes_left[b] = b <= cut
        balance += sums[first + b, outputs] if b <= cut else -sums[first + b, outputs]
    goes_left[MISSING] = lost_left or (sums[first + MISSING, outputs] == 0 and balance > 0)
    return cut


@inlined(early=True)
def score_columns(
    sums, groups, n_cuts, categorical, total, limits, allowed, scratch, rules, node, bends, best
):  # fmt: skip
    """best[c] = the score of column c's best cut, -inf where it has none, for the columns of some groups of eight.

    `sums` (columns * 256, channels) is the histogram of the node, its last channel the mass, and `total` (channels,)
    its sum over any one column. No child may have less than the least mass.
    """
    scores, light = scratch.scores, total[total.shape[0] - 1] < 2 * limits.least
    for group in groups:
        for column in range(GROUP * group, GROUP * (group + 1)):
            best[column] = -np.inf
            if light or not allowed[column] or n_cuts[column] == 0:
                continue
            if categorical is not None and categorical[column]:
                best[column] = best_subset(
                    sums, column, n_cuts[column], total, limits, np.inf, scratch, allowed, rules, node, bends
                )
                continue
            count, n_lost = _score_cuts(
                sums, column, n_cuts[column], total, limits, scratch, rules, node, bends
            )
            for own in (scores[:count], scores[LEFT : LEFT + n_lost]):
                best[column] = max(best[column], largest(own, rules))


@inlined(early=True)
def choose_cut(sums, n_cuts, categorical, total, limits, best, scratch, goes_left, rules, node, bends):
    """Column, cut and gain of the best cut; column -1 where no cut gains, cut -1 for a set of categories.

    goes_left (256,) says of every bin, missing values in the last, whether the cut sends it left.
    """
    last = total.shape[0] - 1
    if rules is None:
        whole = plain_worth(total[0], total[1], total[last], limits)
    else:
        whole = ruled_worth(
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
        score = best_subset(
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
