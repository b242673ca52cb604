"""Sums over pairs of rows of one query, never all pairs in memory.

Rows come sorted by query and, within a query, by score. A pair is (i, j) with grade i above grade j; its
margin is f_i - f_j and its weight m_i m_j. A query's sum is its own, so that it is the same wherever others are.
"""

import numpy as np

from anyboost.backends.compiler import kernel
from anyboost.backends.elementary import exp, log1p


@kernel
def pair_weights(grades, mass, starts, weights):
    """Of each query the sum over pairs of m_i m_j; `starts` are the queries' first rows, and the number of rows."""
    for q in range(starts.shape[0] - 1):
        first, last = starts[q], starts[q + 1]
        total = 0.0
        below = 0.0
        order = np.argsort(grades[first:last], kind="mergesort")
        k = 0
        while k < order.shape[0]:
            grade = grades[first + order[k]]
            here = 0.0
            while k < order.shape[0] and grades[first + order[k]] == grade:
                here += mass[first + order[k]]
                k += 1
            total += here * below
            below += here
        weights[q] = total


@kernel
def rank_hinge(scores, grades, mass, starts, levels, values, gradient):
    """Of each query the sum over pairs of m_i m_j (1 - margin)+, of each row that over its pairs of +-m_other.

    For each grade, rows of that grade meet all lower rows of the query in one sweep by score: a pair costs
    where f_i - f_j < 1, so the lower rows that cost row i are those above a point that moves up with f_i.
    """
    gradient[:] = 0.0
    for q in range(starts.shape[0] - 1):
        first, last = starts[q], starts[q + 1]
        value = 0.0
        for level in range(1, levels):
            present = False
            lower_mass = 0.0
            lower_sum = 0.0
            for i in range(first, last):
                if grades[i] == level:
                    present = True
                elif grades[i] < level:
                    lower_mass += mass[i]
                    lower_sum += mass[i] * scores[i]
            if not present or lower_mass == 0.0:
                continue
            # Lower rows costing the current higher row are those from `begin` on.
            begin = first
            for i in range(first, last):
                if grades[i] != level:
                    continue
                while begin < last and (grades[begin] >= level or scores[i] - scores[begin] >= 1.0):
                    if grades[begin] < level:
                        lower_mass -= mass[begin]
                        lower_sum -= mass[begin] * scores[begin]
                    begin += 1
                if begin == last:
                    break
                value += mass[i] * ((1.0 - scores[i]) * lower_mass + lower_sum)
                gradient[i] -= lower_mass
            # The same sweep from the lower rows' side.
            end = first
            higher_mass = 0.0
            for j in range(first, last):
                if grades[j] >= level:
                    continue
                while end < last and (grades[end] != level or scores[end] - scores[j] < 1.0):
                    if grades[end] == level:
                        higher_mass += mass[end]
                    end += 1
                gradient[j] += higher_mass
        values[q] = value


@kernel
def rank_logistic(scores, grades, mass, starts, values, gradient):
    """Of each query the sum over pairs of m_i m_j log(1 + exp(-margin)), of each row that of +-m_other p."""
    gradient[:] = 0.0
    for q in range(starts.shape[0] - 1):
        value = 0.0
        for i in range(starts[q], starts[q + 1]):
            for j in range(starts[q], starts[q + 1]):
                if grades[i] > grades[j]:
                    margin = scores[i] - scores[j]
                    small = exp(-abs(margin))
                    value += mass[i] * mass[j] * (log1p(small) + max(-margin, 0.0))
                    wrong = small / (1.0 + small) if margin > 0 else 1.0 / (1.0 + small)
                    gradient[i] -= mass[j] * wrong
                    gradient[j] += mass[i] * wrong
        values[q] = value


@kernel
def rank_logistic_curvature(scores, grades, mass, starts, curvature):
    """For each row the sum over its pairs of 2 m_other p (1 - p): twice the diagonal, which is above the Hessian."""
    curvature[:] = 0.0
    for q in range(starts.shape[0] - 1):
        for i in range(starts[q], starts[q + 1]):
            for j in range(starts[q], starts[q + 1]):
                if grades[i] > grades[j]:
                    small = exp(-abs(scores[i] - scores[j]))
                    bend = 2.0 * small / ((1.0 + small) * (1.0 + small))
                    curvature[i] += mass[j] * bend
                    curvature[j] += mass[i] * bend
