"""The loop in the metric of the loss, literally: NumPy, plain loops, and nothing of the library.

    D = memory * D + g,   k = max(curvature, least, |D| / farthest) for the round
    repeat:   h = argmin over H of sum w (k h^2 - 2 D h),   c = <D, h> / sum w k h^2,   D = D - c k h
    f = f - eta * (the sum of the c h)

D is a covector, in units of g; `pairing` is <D, h> = sum w D h, ||h||^2 = sum w k h^2 and ||D||*^2 = sum w D^2 / k.
Trees are grown best leaf first, with G = sum w D and H = sum w k in a leaf: its value is G / (H + l2), and it is worth
G^2 / (H + l2), summed over outputs; 0 / 0 is 0. Ties are those of `reference.weak`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import reference
from reference import coupled
from reference.losses import EQUAL
from reference.weak import _leaf_of, _part_values, _sends_missing_left

FARTHEST = 8.0  # where |l'''| <= l''
BENDING = ("logistic", "softmax", "poisson", "gamma", "tweedie", "exponential", "cox", "rank_logistic")


# Curvatures, a row at a time


def _logistic(f, _y):
    small = math.exp(-abs(f))
    return small / (1 + small) ** 2


def _softmax(f, _y):
    """2 p (1 - p), with 1 - p the sum of the others."""
    e = [math.exp(v - max(f)) for v in f]
    return [2 * v * math.fsum(e[:k] + e[k + 1 :]) / math.fsum(e) ** 2 for k, v in enumerate(e)]


CURVATURES: dict[str, Callable] = {
    "squared": lambda f, y: 1.0,
    "huber": lambda f, y, delta=1.0: 1.0 if abs(y - f) <= delta else delta / abs(y - f),
    "logistic": _logistic,
    "exponential": lambda f, y: math.exp(-y * f),
    "poisson": lambda f, y: math.exp(f),
    "gamma": lambda f, y: y * math.exp(-f),
    "tweedie": lambda f, y, p=1.5: (2 - p) * math.exp((2 - p) * f) + (p - 1) * y * math.exp((1 - p) * f),
    "softmax": _softmax,
}


LEAST, LARGEST = 1e-3, {"logistic": 0.25, "softmax": 0.5}  # the largest curvature, where the cap needs help


class Problem(NamedTuple):
    """R on one sample: functions of all scores. `weights` are as given, of any sum."""

    value: Callable
    gradient: Callable
    curvature: Callable
    weights: np.ndarray
    farthest: float
    least: float = 0.0

    def bend(self, f, D, farthest=None):
        """k, under which D is projected."""
        reach = self.farthest if farthest is None else farthest
        return np.maximum(np.maximum(self.curvature(f), self.least), np.abs(D) / reach)


def rowwise(loss: str, y, weights=None) -> Problem:
    """sum_n w_n l(f_n, y_n), of a loss by its name, perhaps with its parameter: "huber:0.7"."""
    y = np.asarray(y)
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    name, _, parameter = loss.partition(":")
    arguments = [float(parameter)] if parameter else []

    def curvature(f):
        rows = [
            CURVATURES[name](row, float(target), *arguments)
            for row, target in zip(f.tolist(), y, strict=True)
        ]
        return np.array(rows)

    return Problem(
        lambda f: reference.mean_loss(loss, f, y, w),
        lambda f: reference.gradient(loss, f, y),
        curvature,
        w,
        FARTHEST if name in BENDING else math.inf,
        LEAST * LARGEST.get(name, 0.0),
    )


def cox(y, weights=None) -> Problem:
    """The curvature is that part of the gradient which does not come from the row's own event."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    return Problem(
        lambda f: coupled.cox(f, y, w)[0],
        lambda f: coupled.cox(f, y, w)[1],
        lambda f: coupled.cox(f, y, w)[1] + (y > 0),
        w,
        FARTHEST,
    )


def rank_logistic(y, groups, weights=None) -> Problem:
    """The curvature is twice the diagonal of the Hessian: each pair bends by p (1 - p) in either score."""
    w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)

    def curvature(f):
        total, partial = 0.0, np.zeros(len(y))
        for i in range(len(y)):
            for j in range(len(y)):
                if groups[i] == groups[j] and y[i] > y[j]:
                    total += w[i] * w[j]
                    partial[[i, j]] += 2 * w[i] * w[j] * _logistic(f[i] - f[j], None)
        return partial / total / (w / w.sum())

    return Problem(
        lambda f: coupled.rank(f, y, w, groups, "logistic")[0],
        lambda f: coupled.rank(f, y, w, groups, "logistic")[1],
        curvature,
        w,
        FARTHEST,
    )


# Projections


def pairing(w, D, h) -> float:
    """<D, h> of a covector and a function: sum w D h, over rows and outputs."""
    return reference.inner(w, D, h)


def quotient(a, b):
    """a / b, with 0 / 0 = 0."""
    return np.where(np.asarray(a) == 0, 0.0, a / np.where(np.asarray(b) == 0, 1.0, b))


def dual_norm(w, D, k) -> float:
    """||D||* = sqrt(sum w D^2 / k)."""
    return math.sqrt(reference.inner(w, D, quotient(D, k)))


class Each(NamedTuple):
    """A tree an output."""

    trees: list
    values: np.ndarray


@dataclass(frozen=True)
class Trees:
    """Trees grown best leaf first; `min_leaf_weight` and `l2` in units of the weights as given."""

    max_leaves: int = 2
    min_leaf_weight: float = 0.0
    l2: float = 0.0
    outputs: str = "joint"

    @property
    def most(self) -> float:
        """The largest c: that of the ray would undo the penalty."""
        return 1.0 if self.l2 else math.inf

    def project(self, X, weights, D, k):
        if self.outputs == "each" and D.ndim > 1:
            trees = [self.grow(X, weights, D[:, j], k[:, j]) for j in range(D.shape[1])]
            return Each(trees, np.column_stack([tree.values for tree in trees]))
        return self.grow(X, weights, D, k)

    def grow(self, X, weights, D, k) -> reference.Tree:
        w = np.asarray(weights, dtype=float)
        rows = len(w)
        wD, wk = w[:, None] * D.reshape(rows, -1), w[:, None] * k.reshape(rows, -1)
        features, cuts, left = reference.candidate_splits(X, w)
        sides = left.astype(float), 1.0 - left  # a line a cut: which rows go left, and which right
        tree = reference.Tree([], [], [], [], [], np.empty(0), np.empty(0), [])
        inside, offers = [], {}

        def worth(G, H):
            return quotient(G * G, H + self.l2).sum(axis=-1)

        def best_cut(here):
            """What the best cut of a leaf gains, and that cut; None where none gains more than 1e-9 of its worth."""
            own = float(worth(here @ wD, here @ wk))
            both = np.zeros(len(cuts))
            for side in sides:
                W, G, H = side @ (here * w), side @ (here[:, None] * wD), side @ (here[:, None] * wk)
                good = (W > 0) & (self.min_leaf_weight * (1 - EQUAL) <= W)
                both += np.where(good, worth(G, H), -np.inf)
            if np.isnan(X).any():
                both = np.where(_part_values(X, w, features, cuts, left, here), both, -np.inf)
            if len(both) == 0 or both.max() <= own * (1 + EQUAL):
                return None
            return float(both.max() - own), int(np.argmax(both >= both.max() * (1 - EQUAL)))

        def add_leaf(here):
            value = quotient(here @ wD, here @ wk + self.l2)
            for column, entry in zip(
                (tree.feature, tree.threshold, tree.left, tree.right, tree.missing_left, tree.value),
                (None, math.nan, -1, -1, False, float(value[0]) if D.ndim == 1 else value),
                strict=True,
            ):
                column.append(entry)
            inside.append(here)
            offer = best_cut(here)
            if offer is not None:
                offers[len(inside) - 1] = offer
            return len(inside) - 1

        add_leaf(np.ones(rows, dtype=bool))
        while offers and tree.left.count(-1) < self.max_leaves:
            largest = max(gain for gain, _ in offers.values())
            node = min(node for node, (gain, _) in offers.items() if gain >= largest * (1 - EQUAL))
            _, cut = offers.pop(node)
            here, goes = inside[node], left[cut]
            tree.feature[node], tree.threshold[node] = features[cut], cuts[cut]
            tree.missing_left[node] = _sends_missing_left(X, w, features[cut], goes, here)
            tree.left[node] = add_leaf(here & goes)
            tree.right[node] = add_leaf(here & ~goes)
        leaf = _leaf_of(tree, X)
        return tree._replace(leaf=leaf, values=np.array([tree.value[node] for node in leaf]))


@dataclass(frozen=True)
class Lent:
    """Any other learner, by its flat oracle (X, weights, target): it is lent the measure w k and the target D / k."""

    flat: Callable
    most: float = math.inf

    def project(self, X, weights, D, k):
        return self.flat(X, weights * k, quotient(D, k))


# The loop


class Round(NamedTuple):
    g: np.ndarray
    scores: np.ndarray  # before the round, as is the loss
    loss: float
    D: np.ndarray  # before its first projection
    k: np.ndarray  # the curvature that the round uses
    eta: float
    hypotheses: list
    coefficients: list
    edges: list  # <D, h> / (||h|| ||D||*) of each projection


class Run(NamedTuple):
    rounds: list
    start: np.ndarray
    scores: np.ndarray
    residual: np.ndarray  # D
    losses: list  # after each round

    @property
    def trace(self) -> list:
        """What `reference.floor_from_trace` takes."""
        return [(r.g, r.scores, r.loss) for r in self.rounds]


def descend(
    X,
    problem: Problem,
    learner: Any,
    start,
    rounds: int,
    eta: Callable[[int], float],
    memory: float = 0.0,
    projections: Callable[[int], int] = lambda t: 1,
    tolerance: float | None = None,
    farthest: float | None = None,
) -> Run:
    """From scores `start`, (n,) or (n, k). `projections(t)` times in round t, or until ||D||* <= tolerance ||g||*."""
    w = reference.normalised(problem.weights, len(X))
    f = np.array(start, dtype=float)
    D = np.zeros_like(f)
    run = Run([], f, f, D, [])
    for t in range(1, rounds + 1):
        g = problem.gradient(f)
        D = memory * D + g
        k = problem.bend(f, D, farthest)
        done = Round(g, f, problem.value(f), D, k, eta(t), [], [], [])
        direction = np.zeros_like(f)
        for number in range(projections(t)):
            small = tolerance is not None and dual_norm(w, D, k) <= tolerance * dual_norm(w, g, k)
            if not g.any() or (number > 0 and small):
                break
            found = learner.project(X, problem.weights, D, k)
            h = found.values
            square = pairing(w, k * h, h)
            if square == 0:
                done.edges.append(0.0)
                break
            c = min(pairing(w, D, h) / square, learner.most)
            done.edges.append(abs(pairing(w, D, h)) / (math.sqrt(square) * dual_norm(w, D, k)))
            done.hypotheses.append(found)
            done.coefficients.append(c)
            D = D - c * k * h
            direction = direction + c * h
        f = f - eta(t) * direction
        run.rounds.append(done)
        run.losses.append(problem.value(f))
    return run._replace(scores=f, residual=D)


def psi(r: float) -> float:
    """(e^r - 1 - r) / r^2: l(f + d) <= l + l' d + psi(|d|) l'' d^2 where |l'''| <= l''; 1/2 at 0."""
    return 0.5 + r / 6 + r * r / 24 if r < 1e-3 else (math.expm1(r) - r) / (r * r)


def walk(tree, X) -> tuple[list, list]:
    """The cuts of an oracle's tree as (feature, the rows there that go left), and its values; left before right."""
    return _walk(
        X,
        lambda node: None if tree.left[node] == -1 else (tree.feature[node], tree.threshold[node]),
        lambda node: tree.missing_left[node],
        lambda node: (tree.left[node], tree.right[node]),
        lambda node: tree.value[node],
    )


def walk_function(tree, X) -> tuple[list, list]:
    """The same of a tree of the library."""
    return _walk(
        X,
        lambda node: None if tree.feature[node] < 0 else (int(tree.feature[node]), tree.threshold[node]),
        lambda node: bool(tree.missing_left[node]),
        lambda node: (int(tree.left[node]), int(tree.right[node])),
        lambda node: tree.value[node],
    )


def walk_predictor(predictor, X) -> tuple[list, list]:
    """The same of a tree of HistGradientBoosting."""
    nodes = predictor.nodes
    return _walk(
        X,
        lambda node: (
            None
            if nodes["is_leaf"][node]
            else (int(nodes["feature_idx"][node]), nodes["num_threshold"][node])
        ),
        lambda node: bool(nodes["missing_go_to_left"][node]),
        lambda node: (int(nodes["left"][node]), int(nodes["right"][node])),
        lambda node: nodes["value"][node],
    )


def _walk(X, cut, missing_left, children, value) -> tuple[list, list]:
    cuts: list = []
    values: list = []
    waiting = [(0, np.arange(len(X)))]
    while waiting:
        node, rows = waiting.pop()
        found = cut(node)
        if found is None:
            values.append(np.atleast_1d(value(node)))
            continue
        feature, threshold = found
        x = X[rows, feature]
        goes = np.where(np.isnan(x), missing_left(node), x <= threshold)
        cuts.append((feature, tuple(rows[goes].tolist())))
        left, right = children(node)
        waiting += [(right, rows[~goes]), (left, rows[goes])]
    return cuts, np.array(values)
