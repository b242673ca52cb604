"""Weak learners by enumeration: thresholds, least-squares stumps and trees, dictionaries, extreme atoms.

A split sends a row left when x <= threshold; a missing value (NaN) goes to either side, both are tried. Among
candidates whose scores are within 1e-9 (relative) of the best, the lowest feature wins, then the lowest
threshold, then the one that sends missing values right. Where the rows at hand have none, they go to the
heavier side, right where both weigh the same.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .losses import EQUAL, normalised

_DUST = 1e-12  # what is left of a sum that is zero


class Stump(NamedTuple):
    """One split, or a constant (feature None, all rows in leaf 0); leaf values are floats or (k,) arrays."""

    feature: int | None
    threshold: float
    left: Any
    right: Any
    values: np.ndarray  # on the rows of X, of the shape of the target
    leaf: np.ndarray  # 0 left, 1 right
    missing_left: bool = False


class Tree(NamedTuple):
    """Nodes in order of creation, root 0; left and right are -1 in a leaf. `value` is every node's mean."""

    feature: list
    threshold: list
    left: list
    right: list
    value: list
    values: np.ndarray
    leaf: np.ndarray  # the node each row ends in
    missing_left: list


class Atom(NamedTuple):
    """A member of a dictionary: h = column outer vector, and c = <h, D>/||h||^2."""

    column: int | None
    vector: Any
    c: float
    values: np.ndarray


def inner(w, a, b) -> float:
    """<a, b> = sum_n w_n <a_n, b_n>."""
    return float(np.sum(np.asarray(w) * np.sum(_matrix(a) * _matrix(b), axis=1)))


def _matrix(D) -> np.ndarray:
    D = np.asarray(D, dtype=float)
    return D[:, None] if D.ndim == 1 else D


def _leaf_value(mean: np.ndarray, D) -> Any:
    return float(mean[0]) if np.ndim(D) == 1 else mean


def thresholds(column, weights=None, max_bins: int = 255) -> list[float]:
    """The candidate thresholds of one column, ascending, from its rows of positive weight.

    Up to max_bins distinct values (NaN not counted): a threshold between any two neighbours. More: the
    weighted quantile bins, where for j = 1 .. max_bins - 1 a cut follows the first value whose cumulated
    weight reaches j/max_bins of the total weight W of the values, less 1e-9 W; equal cuts are one, and a cut
    after the last value is none. A threshold is the midpoint of the value before the cut and the next value
    present. Where a row is NaN, +inf (values left, NaN right) is one more candidate, the last.
    Columns are read as float64, which holds every float32 exactly.
    """
    column = np.asarray(column, dtype=float)
    w = np.ones(len(column)) if weights is None else np.asarray(weights, dtype=float)
    weight_of: dict[float, float] = {}
    has_nan = False
    for x, w_n in zip(column.tolist(), w.tolist(), strict=True):
        if w_n > 0 and math.isnan(x):
            has_nan = True
        elif w_n > 0:
            weight_of[x] = weight_of.get(x, 0.0) + w_n
    values = sorted(weight_of)
    cuts = range(len(values) - 1) if len(values) <= max_bins else _quantile_cuts(values, weight_of, max_bins)
    found = [_midpoint(values[i], values[i + 1]) for i in cuts]
    return [*found, math.inf] if has_nan else found


def _quantile_cuts(values: list[float], weight_of: dict[float, float], max_bins: int) -> list[int]:
    total = math.fsum(weight_of.values())
    cuts: set[int] = set()
    cumulated, i = weight_of[values[0]], 0
    for j in range(1, max_bins):
        while cumulated < j * total / max_bins - 1e-9 * total:
            i += 1
            cumulated += weight_of[values[i]]
        if i < len(values) - 1:
            cuts.add(i)
    return sorted(cuts)


def _midpoint(a: float, b: float) -> float:
    """a + (b - a)/2, or a where rounding or an infinity puts that outside [a, b)."""
    middle = a + (b - a) / 2
    return middle if a <= middle < b else a


def candidate_splits(X, weights=None, max_bins: int = 255):
    """All splits as (features, thresholds, left), by feature and then threshold; left[s, n]: s sends n left.

    A split that leaves one side without a row of positive weight is not a candidate.
    """
    X = np.ascontiguousarray(X, dtype=float)
    w = np.ones(len(X)) if weights is None else np.ascontiguousarray(weights, dtype=float)
    return _candidate_splits(X.shape, X.tobytes(), w.tobytes(), max_bins)


@lru_cache(maxsize=16)
def _candidate_splits(shape, X_bytes: bytes, w_bytes: bytes, max_bins: int):
    """The splits, remembered: a descent asks for those of one sample in every round."""
    X, w = np.frombuffer(X_bytes).reshape(shape), np.frombuffer(w_bytes)
    present = w > 0
    features, cuts, left = [], [], []
    for j in range(X.shape[1]):
        missing = np.isnan(X[:, j])
        for t in thresholds(X[:, j], w, max_bins):
            right_first = [X[:, j] <= t] + ([(X[:, j] <= t) | missing] if np.any(missing & present) else [])
            for side in right_first:
                if np.any(side & present) and np.any(~side & present):
                    features.append(j)
                    cuts.append(t)
                    left.append(side)
    return tuple(features), tuple(cuts), np.array(left, dtype=bool).reshape(len(left), len(X))


def _score(w, D, rows, least=0.0, l2=0.0) -> np.ndarray:
    """||S||^2 / (W + l2) of each row set (a boolean matrix, a set a line); -inf where W is 0 or under `least`."""
    S = rows @ (w[:, None] * D)
    W = rows @ w
    good = (W > 0) & (least <= W)
    return np.where(good, np.sum(S * S, axis=1) / np.where(W > 0, W + l2, 1.0), -np.inf)


def _part_values(X, w, features, cuts, left, inside) -> np.ndarray:
    """Which splits have values of their column, not only missing ones, on both sides; +inf need not.

    So the split that parts missing values from all others is always the one at +inf.
    """
    held = ~np.isnan(X[:, list(features)].T) & inside & (w > 0)
    both = np.any(left & held, axis=1) & np.any(~left & held, axis=1)
    return both | np.isinf(np.array(cuts, dtype=float))


def _best_split(w, D, left, inside, least=0.0, l2=0.0, good=True) -> tuple[int | None, float]:
    """The best split of the rows `inside` and its improvement; (None, 0) where none gains more than 1e-9.

    The score of a split is the sum of ||S||^2/(W + l2) over its sides, that of no split ||S||^2/(W + l2).
    `left` is in the order of features and thresholds, so the first of the equals is the one the tie rule wants.
    """
    own = _score(w, D, inside[None, :], l2=l2)[0]
    scores = _score(w, D, left & inside, least, l2) + _score(w, D, ~left & inside, least, l2)
    scores = np.where(good, scores, -np.inf)
    if len(scores) == 0 or scores.max() <= own * (1 + EQUAL):
        return None, 0.0
    best = scores.max()
    first = int(np.argmax(scores >= best * (1 - EQUAL)))
    return first, float(best - own)


def _mean(w, D, rows, l2=0.0) -> np.ndarray:
    return (w * rows) @ D / (np.sum(w * rows) + l2)


def _sends_missing_left(X, w, feature, left, inside) -> bool:
    """Where the split sends missing values: as it does those inside, else to the heavier side."""
    missing = np.isnan(X[:, feature]) & inside & (w > 0)
    if missing.any():
        return bool(left[missing].all())
    return bool(np.sum(w[left & inside]) > np.sum(w[~left & inside]) * (1 + EQUAL))


def _clean(X, weights, D):
    """X, w and D with the targets of absent rows (weight zero) made harmless."""
    X = np.asarray(X, dtype=float)
    w = normalised(weights, len(X))
    return X, w, np.where(w[:, None] > 0, _matrix(D), 0.0)


def project_stump(X, weights, D, max_bins: int = 255) -> Stump:
    """The stump nearest to D, (n,) or (n, k), in L2(P): projection (4), over every candidate split."""
    X, w, T = _clean(X, weights, D)
    features, cuts, left = candidate_splits(X, w, max_bins)
    best, _ = _best_split(w, T, left, np.ones(len(X), bool))
    rows = np.ones(len(X), bool) if best is None else left[best]
    a = _mean(w, T, rows)
    b = a if best is None else _mean(w, T, ~rows)
    values = np.where(rows[:, None], a, b).reshape(np.shape(D))
    feature, cut = (None, math.nan) if best is None else (features[best], cuts[best])
    missing_left = best is not None and _sends_missing_left(X, w, feature, rows, np.ones(len(X), bool))
    sides = np.where(rows, 0, 1)
    return Stump(feature, cut, _leaf_value(a, D), _leaf_value(b, D), values, sides, missing_left)


def project_tree(
    X,
    weights,
    D,
    max_leaves: int = 31,
    max_depth: int | None = None,
    max_bins: int = 255,
    min_leaf_weight: float = 0.0,
    l2: float = 0.0,
) -> Tree:
    """Best-first growth of a least-squares tree; thresholds are those of the whole columns.

    Each time the leaf whose best split improves most is split. Improvements within 1e-9 (relative) of the
    largest are equal, and the oldest leaf (the lowest node number) goes first. A split appends its left and
    then its right child. The root has depth 0, and a leaf at max_depth is not split. Growth ends where no
    split gains more than 1e-9 of its leaf's own score.

    No side of a split weighs less than `min_leaf_weight`, in units of the weights given (1 a row for None);
    in the same units W, a leaf's value is S / (W + l2).
    """
    total = float(len(X) if weights is None else np.sum(weights))
    least, l2 = min_leaf_weight / total * (1 - EQUAL), l2 / total
    X, w, T = _clean(X, weights, D)
    features, cuts, left = candidate_splits(X, w, max_bins)
    tree = Tree([], [], [], [], [], np.empty(0), np.empty(0), [])
    inside, depths = [], []
    offers = {}  # leaf -> (improvement of its best split, that split)

    def add_leaf(rows, depth):
        node = len(inside)
        inside.append(rows)
        depths.append(depth)
        tree.feature.append(None)
        tree.threshold.append(math.nan)
        tree.left.append(-1)
        tree.right.append(-1)
        tree.missing_left.append(False)
        tree.value.append(_leaf_value(_mean(w, T, rows, l2), D))
        good = _part_values(X, w, features, cuts, left, rows)
        split, improvement = _best_split(w, T, left, rows, least, l2, good)
        if split is not None and (max_depth is None or depth < max_depth):
            offers[node] = (improvement, split)
        return node

    add_leaf(np.ones(len(X), bool), 0)
    while offers and tree.left.count(-1) < max_leaves:
        largest = max(improvement for improvement, _ in offers.values())
        node = min(node for node, (improvement, _) in offers.items() if improvement >= largest * (1 - EQUAL))
        _, split = offers.pop(node)
        tree.feature[node], tree.threshold[node] = features[split], cuts[split]
        tree.missing_left[node] = _sends_missing_left(X, w, features[split], left[split], inside[node])
        tree.left[node] = add_leaf(inside[node] & left[split], depths[node] + 1)
        tree.right[node] = add_leaf(inside[node] & ~left[split], depths[node] + 1)
    tree = tree._replace(leaf=_leaf_of(tree, X))
    return tree._replace(values=np.array([tree.value[i] for i in tree.leaf]).reshape(np.shape(D)))


def _leaf_of(tree: Tree, X) -> np.ndarray:
    found = []
    for row in np.asarray(X, dtype=float):
        node = 0
        while tree.left[node] != -1:
            x = row[tree.feature[node]]
            goes_left = tree.missing_left[node] if math.isnan(x) else x <= tree.threshold[node]
            node = tree.left[node] if goes_left else tree.right[node]
        found.append(node)
    return np.array(found)


def predict_tree(tree: Tree, X) -> np.ndarray:
    return np.array([tree.value[i] for i in _leaf_of(tree, X)])


def predict_stump(stump: Stump, X) -> np.ndarray:
    X = np.asarray(X, dtype=float)
    if stump.feature is None:
        return np.array([stump.left for _ in X])
    column = X[:, stump.feature]
    left = np.where(np.isnan(column), stump.missing_left, column <= stump.threshold)
    return np.array([stump.left if side else stump.right for side in left])


def extreme_stump(X, weights, G, max_bins: int = 255) -> tuple[float, Stump]:
    """max over vector stumps with |h_k(x)| <= 1 of <G, h>, and a stump that attains it.

    The value of a split is ||P_left||_1 + ||P_right||_1 with P the sums of w_n G_n, of the constant ||P||_1;
    leaf vectors are the signs of P (0 where P is 0). The constant is the answer unless a split exceeds it by
    more than 1e-9 (relative).
    """
    X, w, T = _clean(X, weights, G)
    features, cuts, left = candidate_splits(X, w, max_bins)
    P_left, P_right = left @ (w[:, None] * T), ~left @ (w[:, None] * T)
    P = w @ T
    sums = np.abs(P_left).sum(axis=1) + np.abs(P_right).sum(axis=1)
    constant = float(np.abs(P).sum())
    if len(sums) == 0 or sums.max() <= constant * (1 + EQUAL):
        a = b = np.sign(P)
        value, rows, feature, cut = constant, np.ones(len(X), bool), None, math.nan
    else:
        s = int(np.argmax(sums >= sums.max() * (1 - EQUAL)))
        a, b = np.sign(P_left[s]), np.sign(P_right[s])
        value, rows, feature, cut = float(sums.max()), left[s], features[s], cuts[s]
    values = np.where(rows[:, None], a, b).reshape(np.shape(G))
    return value, Stump(feature, cut, _leaf_value(a, G), _leaf_value(b, G), values, np.where(rows, 0, 1))


def codes(outputs: int) -> np.ndarray:
    """What a classifier may be at a row, by line: +1 and -1, or 1 on class k and -1/(K-1) elsewhere."""
    if outputs == 1:
        return np.array([[1.0], [-1.0]])
    return (outputs * np.eye(outputs) - 1.0) / (outputs - 1)


def project_classifier(X, weights, D, max_bins: int = 255) -> tuple[float, Stump]:
    """max over stump classifiers of <D, h>, and the classifier: every split with every class on either side.

    Of splits within 1e-9 (relative) of the best the first; a constant unless one exceeds it by more.
    Of classes of a side that are as close, the one listed first in `codes`.
    """
    X, w, T = _clean(X, weights, D)
    features, cuts, left = candidate_splits(X, w, max_bins)
    code = codes(T.shape[1])
    rewards = w[:, None] * (T @ code.T)  # (n, classes): what a row gives where h is that class there
    whole = rewards.sum(axis=0)
    value, rows, feature, cut = float(whole.max()), np.ones(len(X), bool), None, math.nan
    pairs = (left @ rewards)[:, :, None] + (~left @ rewards)[:, None, :]
    best = pairs.max(axis=(1, 2), initial=-np.inf)
    if len(best) and best.max() > value * (1 + EQUAL) + _DUST:
        s = int(np.argmax(best >= best.max() * (1 - EQUAL)))
        value, rows, feature, cut = float(best.max()), left[s], features[s], cuts[s]
    a, b = (code[_first_class(rewards[side].sum(axis=0))] for side in (rows, ~rows))
    values = np.where(rows[:, None], a, b).reshape(np.shape(D))
    return value, Stump(feature, cut, _leaf_value(a, D), _leaf_value(b, D), values, np.where(rows, 0, 1))


def _first_class(rewards: np.ndarray) -> int:
    return int(np.argmax(rewards >= rewards.max() * (1 - EQUAL) - _DUST))


def project_dictionary(B, weights, D) -> Atom:
    """The column b of B with the largest Euclidean norm over outputs of <b, D_k>/||b||.

    Scores within 1e-9 (relative) of the largest are equal, and the lowest column wins; columns of norm
    zero are no candidates. For a target (n,), h = b and c = <b, D>/||b||^2. For (n, k), h = b outer v with
    v_k = <b, D_k>/||b||^2, so that c = 1 (0 where v = 0).
    """
    B, w, T = _clean(B, weights, D)
    norms = np.array([math.sqrt(inner(w, b, b)) for b in B.T])
    scores = [np.linalg.norm((w * b) @ T) / s if s > 0 else -1.0 for b, s in zip(B.T, norms, strict=True)]
    if max(scores) < 0:
        return Atom(None, 0.0 if np.ndim(D) == 1 else np.zeros(T.shape[1]), 0.0, np.zeros(np.shape(D)))
    j = next(i for i, s in enumerate(scores) if s >= max(scores) * (1 - EQUAL))
    v = (w * B[:, j]) @ T / norms[j] ** 2
    if np.ndim(D) == 1:
        return Atom(j, 1.0, float(v[0]), B[:, j].copy())
    return Atom(j, v, float(np.any(v != 0)), np.outer(B[:, j], v))


def extreme_dictionary(B, weights, G) -> tuple[float, Atom]:
    """max_j sum_k |<b_j, G_k>| / max|b_j|, over atoms b_j/max|b_j| outer signs; and the atom.

    The maximum of |b_j| runs over the rows of positive weight; columns that are zero there are no candidates.
    Of equals (within 1e-9, relative) the lowest column.
    """
    B, w, T = _clean(B, weights, G)
    heights = np.abs(B[w > 0]).max(axis=0)
    dots = B.T @ (w[:, None] * T)
    sums = np.array([np.abs(d).sum() / m if m > 0 else -1.0 for d, m in zip(dots, heights, strict=True)])
    if sums.max() < 0:
        return 0.0, Atom(None, np.zeros(T.shape[1]), 0.0, np.zeros(np.shape(G)))
    j = int(np.argmax(sums >= sums.max() * (1 - EQUAL)))
    h = np.outer(B[:, j] / heights[j], np.sign(dots[j])).reshape(np.shape(G))
    return float(sums.max()), Atom(j, np.sign(dots[j]), _ray(w, h, G), h)


def _ray(w, h, D) -> float:
    """c = <h, D>/||h||^2, 0 where ||h|| = 0."""
    length = inner(w, h, h)
    return inner(w, h, D) / length if length > 0 else 0.0
