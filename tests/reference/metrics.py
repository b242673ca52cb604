"""Ranking metrics the slow and obvious way: one query, one row, one pair, one order at a time."""

from itertools import pairwise, permutations, product

import numpy as np


def queries(qid):
    return [np.flatnonzero(qid == label) for label in np.unique(qid)]


def dcg(grades, k):
    return sum((2.0**grade - 1) / np.log2(rank + 1) for rank, grade in enumerate(grades[:k], start=1))


def orders(scores):
    """Every order that sorts the scores from high to low."""
    return [
        order
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def ndcg(y, scores, qid, k=None, empty=None):
    found = []
    for rows in queries(qid):
        best = dcg(sorted(y[rows], reverse=True), k)
        if best == 0:
            if empty is not None:
                found.append(empty)
            continue
        mean = np.mean([dcg(y[rows][list(order)], k) for order in orders(scores[rows])])
        found.append(mean / best)
    return np.mean(found) if found else np.nan


def average_precision(y, scores, qid, k=None, empty=None):
    found = []
    for rows in queries(qid):
        relevant = y[rows] > 0
        if not relevant.any():
            if empty is not None:
                found.append(empty)
            continue
        worst = np.inf
        for order in orders(scores[rows]):
            hits = relevant[list(order)]
            precisions = [
                hits[: rank + 1].mean() for rank in range(len(hits)) if hits[rank] and (k is None or rank < k)
            ]
            worst = min(worst, sum(precisions) / min(relevant.sum(), k or len(hits)))
        found.append(worst)
    return np.mean(found) if found else np.nan


def disagreement(y, scores, qid):
    wrong = [
        (scores[i] < scores[j]) + 0.5 * (scores[i] == scores[j])
        for rows in queries(qid)
        for i, j in product(rows, rows)
        if y[i] > y[j]
    ]
    return np.mean(wrong) if wrong else np.nan


def concordance(y, scores):
    right = []
    for i, j in product(range(len(y)), range(len(y))):
        first = abs(y[i]) < abs(y[j]) or (abs(y[i]) == abs(y[j]) and y[j] < 0)
        if y[i] > 0 and first:
            right.append((scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]))
    return np.mean(right) if right else np.nan


def baseline_hazard(y, scores, weights):
    times = sorted({t for t in y if t > 0})
    total, found = 0.0, []
    for t in times:
        risk = sum(w * np.exp(f) for f, w, other in zip(scores, weights, y, strict=True) if abs(other) >= t)
        total += sum(w for w, other in zip(weights, y, strict=True) if other == t) / risk
        found.append(total)
    return np.array(times), np.array(found)
