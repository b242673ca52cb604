"""The loop, literally; exact leaf steps; and the floor by its definition.

D = memory * D + g; repeatedly h = project(D), c = <h, D>/||h||^2, D -= c h, direction += c h;
f -= eta * direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .losses import VECTOR_LOSSES, gradient, mean_loss, minimise_on_line, normalised
from .weak import _ray, inner


class Run(NamedTuple):
    start_loss: float
    losses: list  # after each round's update
    edges: list  # of each round's first projection: |<h, D>|/(||h|| ||D||), as c h may point against h
    coefficients: list  # a list of c a round
    hypotheses: list  # a list of what `project` returned a round
    etas: list
    scores: np.ndarray  # after the last round
    start: np.ndarray  # f_0 on the rows
    trace: list  # (g_t, f_t, R(f_t)) before each update, t = 1 .. T
    leftover: np.ndarray  # D after the last round


def descend(
    X,
    y,
    weights,
    loss,
    project: Callable,
    kind: str = "naive",
    memory: float = 1.0,
    eta: Callable[[int], float] = lambda t: 1 / math.sqrt(t),
    rounds: int = 50,
    start: Any = 0.0,
    projections: Callable[[int], int] = lambda t: t,
    tolerance: float | None = None,
    exact_leaves: bool = False,
) -> Run:
    """Run "naive", "repeated" or "residual" from `start`: a number, a (k,) vector or scores on the rows.

    `project(X, w, D)` returns anything with `values` on the rows (project_stump, project_dictionary
    with X the matrix of functions, a lambda around project_tree). `memory` is used by "residual" only,
    `projections` and `tolerance` by "repeated" only: it projects projections(t) times, and stops sooner
    where ||D|| <= tolerance ||g||. The edge is 0 where D or h is zero. A zero gradient gives a zero step
    whatever D holds: f is optimal there.

    With `exact_leaves` (one projection a round, `project` returning `leaf`) f moves by eta times the step
    that minimises the loss in each leaf, and D still loses c h; predict_run does not know such steps.
    """
    keeps = {"naive": 0.0, "repeated": 0.0, "residual": memory}[kind]
    if exact_leaves and kind == "repeated":
        raise ValueError("exact leaf steps are defined for one projection a round")
    y = np.asarray(y)
    w = normalised(weights, len(y))
    f = _scores(start, y, loss)
    run = Run(mean_loss(loss, f, y, w), [], [], [], [], [], f, f.copy(), [], f)
    D = np.zeros_like(f)
    for t in range(1, rounds + 1):
        g = gradient(loss, f, y)
        run.trace.append((g, f.copy(), mean_loss(loss, f, y, w)))
        D = keeps * D + g
        direction = np.zeros_like(f)
        coefficients, hypotheses = [], []
        if not g.any():
            run.edges.append(0.0)
        for k in range((projections(t) if kind == "repeated" else 1) if g.any() else 0):
            if k > 0 and tolerance is not None and inner(w, D, D) <= tolerance**2 * inner(w, g, g):
                break
            found = project(X, w, D)
            h = np.asarray(found.values, dtype=float)
            if k == 0:
                lengths = math.sqrt(inner(w, h, h) * inner(w, D, D))
                run.edges.append(abs(inner(w, h, D)) / lengths if lengths > 0 else 0.0)
            c = _ray(w, h, D)
            D = D - c * h
            direction = direction + c * h
            coefficients.append(c)
            hypotheses.append(found)
        if exact_leaves and hypotheses:
            steps = exact_leaf_steps(loss, f, y, w, found.leaf)
            direction = -np.array([steps[leaf] for leaf in found.leaf.tolist()])
        f = f - eta(t) * direction
        run.coefficients.append(coefficients)
        run.hypotheses.append(hypotheses)
        run.etas.append(eta(t))
        run.losses.append(mean_loss(loss, f, y, w))
    return run._replace(scores=f, leftover=D)


def _scores(start, y, loss) -> np.ndarray:
    """`start` on the rows: (n,), or (n, k) for a vector loss (k from `start`, else from the labels)."""
    start = np.asarray(start, dtype=float)
    n = len(y)
    if start.ndim == 2 or (loss not in VECTOR_LOSSES and start.shape == (n,)):
        return start.copy()
    if loss in VECTOR_LOSSES:
        k = start.shape[0] if start.ndim == 1 else int(np.max(y)) + 1
        return np.ones((n, k)) * start
    return np.full(n, float(start))


def predict_run(run: Run, X, predict_one: Callable, start: Any = 0.0):
    """start - sum_t eta_t sum_k c_tk h_tk(x), with predict_one(h, X) e.g. predict_stump."""
    total = np.asarray(start, dtype=float)
    for eta, coefficients, hypotheses in zip(run.etas, run.coefficients, run.hypotheses, strict=True):
        for c, h in zip(coefficients, hypotheses, strict=True):
            total = total - eta * c * predict_one(h, X)
    return total


def exact_leaf_steps(loss, f, y, w, leaf) -> dict[int, float]:
    """For each leaf, the step s that minimises its rows' loss at f + s: the midpoint of the minimisers.

    Scalar losses. A leaf without a row of positive weight steps 0.
    """
    f, y, w, leaf = (np.asarray(v) for v in (f, y, w, leaf))
    steps = {}
    for one in sorted(set(leaf.tolist())):
        rows = (leaf == one) & (w > 0)
        steps[one] = minimise_on_line(loss, f[rows], y[rows], w[rows]) if rows.any() else 0.0
    return steps


def floor_from_trace(trace, etas, weights, start, radius: float, extreme: Callable, details: bool = False):
    """The floor over start + radius conv(+-H): the best of four weightings, each at t = 1, 2, 4, .. and at T.

    For a weighting v of rounds 1 .. t, of sum one, with G = sum v_s g_s, it is

        sum v_s [R(f_s) - <g_s, f_s - start>] - radius max_h |<G, h>|

    `extreme(w, G)` gives that maximum, e.g. lambda w, G: extreme_stump(X, w, G)[0]. The weightings are
    "steps" (the etas), "uniform", "linear" (s), and "last" (s = t only). With `details`, also the floor
    of each (weighting, t).
    """
    T = len(trace)
    w = normalised(weights, len(trace[0][0]))
    snapshots = sorted({2**i for i in range(T.bit_length()) if 2**i <= T} | {T})
    tangents = [loss - inner(w, g, f - np.asarray(start, dtype=float)) for g, f, loss in trace]
    found = {}
    for t in snapshots:
        for name, v in {
            "steps": [float(eta) for eta in etas[:t]],
            "uniform": [1.0] * t,
            "linear": [float(s) for s in range(1, t + 1)],
            "last": [0.0] * (t - 1) + [1.0],
        }.items():
            if sum(v) <= 0:
                continue
            v = [value / sum(v) for value in v]
            G = sum(v_s * g for v_s, (g, _, _) in zip(v, trace, strict=False))
            plain = math.fsum(v_s * tangent for v_s, tangent in zip(v, tangents, strict=False))
            found[name, t] = plain - radius * extreme(w, G)
    best = max(found.values())
    return (best, found) if details else best
