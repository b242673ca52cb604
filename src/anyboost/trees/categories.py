"""The best cut of a column of categories, which may send any set of them left.

For one output the best set is a run of categories in the order of their means (Fisher 1958): the score is a convex
function of the sums S and the mass W on its left, so it is largest at a vertex of what (S, W) can be, and vertices are
such runs. This holds for all that is in `worth`. With several outputs the order by each of them is tried in turn, and
the best found is good, not best. Missing values are one more category, the last.
"""

import numpy as np

from anyboost.backends.compiler import inlined, inner
from anyboost.trees.table import BINS, MISSING
from anyboost.trees.worth import is_plain, largest, ruled_worth, score_one, weight_of


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


@inner
def _score_runs(sums, first, bins, total, limits, rules, node, scratch, scores):
    # scores[i] of sending the first i + 1 of these categories left.
    channels = total.shape[0]
    left, right, value = scratch.children[0], scratch.children[1], scratch.values[0]
    criterion, ordered, bounds = rules.criterion, rules.ordered, rules.bounds[node]
    for j in range(channels):
        left[j] = 0
    for i in range(scores.shape[0]):
        for j in range(channels):
            left[j] += sums[first + bins[i], j]
            right[j] = total[j] - left[j]
        scores[i] = -np.inf
        if min(left[channels - 1], right[channels - 1]) >= limits.least:
            scores[i] = ruled_worth(left, limits, criterion, ordered, bounds, value)
            scores[i] += ruled_worth(right, limits, criterion, ordered, bounds, value)


@inner
def best_subset(sums, column, n_cuts, total, limits, enough, scratch, goes_left, rules, node, bends):
    # The score of the best set of categories to send left, -inf where none is allowed. Sets are the first of the
    # categories in the order by the first output, then by the second, and so on. The search ends at the first of them
    # whose score is enough, and then goes_left (256,) says which bins it sends left: categories that the rows have
    # none of go where missing values go, and those, where there are none, to the heavier child.
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
                weight = weight_of(sums[first + b], outputs, output)
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
        if rules is None or is_plain(rules):
            nothing = scratch.children[0]
            for j in range(nothing.shape[0]):
                nothing[j] = 0
            score_one(left, left_mass, nothing, total, limits, scores, None, 0, 0, bends)
        else:
            _score_runs(sums, first, bins, total, limits, rules, node, scratch, scores)
        most = max(most, largest(scores, rules))
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
