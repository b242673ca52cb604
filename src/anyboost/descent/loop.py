"""Restricted gradient descent, one round after another:

    g = a subgradient of R at f
    D = memory * D + g
    repeat:   h = the projection of D onto H,   c = <h, D> / ||h||^2,   D = D - c kappa h
    f = f_0 + (1 - shrink) (f - f_0) - eta * (the sum of the c h)

kappa is 1, and norms are those of L2(P); with the dial `curvature` it is that of the loss at f, row by row, and norms
are those of its metric: then a projection is a step of Newton's. D stays a covector, in units of g: after a projection
<D, h> = 0 whatever curvature the next round has. With the dial `proximal`, g is a subgradient at the proximal point of
f, f - mu g, mu = R(f_0) / sqrt(t): the gradient of R's Moreau envelope, which has no kinks.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anyboost import steps
from anyboost.backends.few import left_to_right
from anyboost.certificates import Evidence, edge
from anyboost.descent.rules import Descent
from anyboost.ensemble import Ensemble
from anyboost.space import Space
from anyboost.weak import AnyProjection, Learner, declared, project

if TYPE_CHECKING:
    from anyboost.losses import Functional


class Step(NamedTuple):
    """One round, as callbacks, reports and certificates see it.

    What a run with `record="light"` leaves out is None.

    Attributes
    ----------
    round : int
        The round, from 1 on.
    learners : int
        How many hypotheses the model has so far.
    loss : float
        The loss after the round's update.
    gradient_norm : float or None
        ||g|| before the update.
    edge : float or None
        That of the round's first projection.
    step_size : float
        eta.
    coefficient : float or None
        c of the round's first projection.
    valid_loss : float or None
        The loss on the set that is watched, where there is one.
    seconds : float
        How long the round took.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=2)
    >>> step = run.steps[-1]
    >>> step.round, step.learners
    (2, 2)
    """

    round: int
    learners: int  # so far
    loss: float  # after the round's update
    gradient_norm: float | None  # ||g|| before it
    edge: float | None  # of the round's first projection
    step_size: float
    coefficient: float | None  # c of the round's first projection
    valid_loss: float | None
    seconds: float


class Geometry(NamedTuple):
    """What the theorems need of a round beyond its Step."""

    edge: float  # the smallest of the round's projections
    direction: float  # ||direction||
    leftover: float  # ||D|| after them


@dataclass
class State:
    """Where a descent stands. `start` is f_0, `residual` is D."""

    start: np.ndarray
    scores: np.ndarray
    residual: np.ndarray
    loss: float
    start_loss: float
    ensemble: Ensemble
    evidence: Evidence
    round: int = 0
    norm: float = 0.0  # sum over terms of |c| max|h|, as they stand
    geometry: list[Geometry] = field(default_factory=list)
    gradient: np.ndarray | None = None  # at `scores`, where it is known
    curvature: np.ndarray | None = None  # the same


class Piece(NamedTuple):
    """coefficient * h."""

    coefficient: float
    h: AnyProjection


@dataclass
class Direction:
    """What a round found: a direction, as a sum of pieces, and what it leaves of D.

    `metric` is the space it was found in; `D_norm` is the norm of D there, None where nobody asks for it.
    """

    metric: Space
    D: np.ndarray
    D_norm: float | None
    pieces: list[Piece] = field(default_factory=list)
    edges: list[float] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)

    def direction(self, L2: Space) -> np.ndarray:
        return -self.take(L2, np.zeros_like(self.D), 1.0)

    def take(self, L2: Space, f: np.ndarray, eta: float) -> np.ndarray:
        """f - eta * direction."""
        for piece in self.pieces:
            f = piece.h.add_to(L2, f, -eta * piece.coefficient)
        return f

    @property
    def size(self) -> float:
        """sum over pieces of |coefficient| max|h|."""
        return left_to_right(abs(piece.coefficient) * piece.h.top for piece in self.pieces)

    def geometry(self) -> Geometry:
        assert self.D_norm is not None
        return Geometry(min(self.edges, default=0.0), self._length(), self.D_norm)

    def _length(self) -> float:
        """||direction||."""
        if len(self.pieces) == 1:
            coefficient, h = self.pieces[0]
            return abs(coefficient) * math.sqrt(h.ray(self.metric, self.D)[1])
        return self.metric.square(self.direction(self.metric)) ** 0.5 if self.pieces else 0.0


# The space that projection k of round t is given: that of the sample, or one it lends
Sampling = Callable[[int, int], Space]


def descend(
    R: "Functional", H: Learner, L2: Space, descent: Descent, state: State, sample: Sampling
) -> Iterator[Step]:
    """Advance `state` by one round for every Step taken from this iterator; it never ends by itself."""
    evidence = state.evidence
    while True:
        began = perf_counter()
        t, f, f0 = state.round + 1, state.scores, state.start

        g, point = descent.look(R, state)
        g_norm = None if evidence.light else L2.norm(g)
        size = L2.largest(g) if g_norm is None else g_norm
        if not math.isfinite(size):
            raise FloatingPointError(
                f"the loss has no finite gradient after round {t - 1}: take smaller steps"
            )
        D = descent.target(R, L2, state, g)
        metric = descent.metric(R, L2, state, D)
        measured = g_norm if D is g and metric is L2 else None if evidence.light else metric.dual_norm(D)
        move = Direction(metric, D, measured)
        if size > 0:  # else f is optimal, and stays
            if descent.atom_size is None:
                _project(R, H, descent, t, f, g, move, sample)
            else:
                _take_atom(H, L2, descent.atom_size, move)
        assert descent.step is not None  # `with_step` has seen to it
        eta = steps.size(descent.step, t, partial(_slope_along, R, L2, f, move))
        if declared(H, "one_sided"):
            eta = max(eta, 0.0)  # a search may end on the other side, where f must not go
        slope = L2.inner(g, point, less=f0) if evidence.due(t) or descent.atom_size is not None else 0.0
        shrink = descent.shrink(eta, slope) if move.pieces and len(state.ensemble) else 0.0

        if evidence.due(t):
            loss = state.loss if point is f else R.value(point)
            evidence.add(t, loss, g, slope, eta, lambda G: H.support(L2, G, search=False), L2.n_threads)
        state.ensemble.add_round(shrink, [(-eta * c, h.hypothesis) for c, h in move.pieces])
        state.scores = move.take(L2, f if shrink == 0 else f0 + (1 - shrink) * (f - f0), eta)
        state.norm = (1 - shrink) * state.norm + abs(eta) * move.size
        state.residual = move.D
        state.loss, state.gradient, state.curvature = R.expand(state.scores, descent.curved)
        if not math.isfinite(state.loss):
            raise FloatingPointError(f"the loss is not finite after round {t}: take smaller steps")
        state.round = t
        edge_found = coefficient = None
        if not evidence.light:
            state.geometry.append(move.geometry())
            edge_found, coefficient = (*move.edges, 0.0)[0], (*move.coefficients, 0.0)[0]
        yield Step(
            t,
            len(state.ensemble),
            state.loss,
            g_norm,
            edge_found,
            eta,
            coefficient,
            None,
            perf_counter() - began,
        )


def _slope_along(R: "Functional", L2: Space, f: np.ndarray, move: Direction) -> Callable[[float], float]:
    """The slope of s -> R(f - s * direction)."""
    direction = move.direction(L2)
    return lambda s: -L2.inner(R.subgradient(f - s * direction), direction)


def _project(
    R: "Functional",
    H: Learner,
    descent: Descent,
    t: int,
    f: np.ndarray,
    g: np.ndarray,
    move: Direction,
    sample: Sampling,
) -> None:
    """Move by projections of D: h nearest to D, c by the ray, D keeps the rest."""
    metric, most = move.metric, descent.most_projections(t)
    enough = 0.0
    if most > 1:
        g_norm = move.D_norm if move.D is g and move.D_norm is not None else metric.dual_norm(g)
        enough = descent.relative_error * g_norm
    for k in range(most):
        if k > 0 and move.D_norm is not None and move.D_norm <= enough:
            break
        h = project(H, sample(t, k).curved(metric.kappa), move.D)
        inner, square = h.ray(metric, move.D)
        if square == 0:
            move.edges.append(0.0)
            break
        c = h.coefficient(inner, square)
        move.pieces.append(Piece(1.0, h.leaf_step(R, f)) if H.exact_leaves else Piece(c, h))
        if H.exact_leaves and k + 1 < most:
            f = move.pieces[-1].h.add_to(metric, f, -1.0)  # the next leaf steps start from where these end
        if move.D_norm is not None:
            move.edges.append(edge(abs(inner), math.sqrt(square), move.D_norm))
        move.coefficients.append(c)
        if descent.memory or k + 1 < most:  # else nobody looks at what is left
            move.D = h.take_off(metric, move.D, c)
        if k + 1 < most:  # what is projected again must have an exact norm
            move.D_norm = metric.dual_norm(move.D)
        elif move.D_norm is not None:
            # c h and what is left are orthogonal, unless h bounds c.
            fall = inner * c if c == inner / square else c * (2 * inner - c * square)
            move.D_norm = math.sqrt(max(move.D_norm**2 - fall, 0.0))


def _take_atom(H: Learner, L2: Space, size: float, move: Direction) -> None:
    """Move along the atom |h| <= 1 furthest along D, at its full size."""
    h = H.extreme(L2, move.D)
    move.pieces.append(Piece(size, h))
    move.coefficients.append(size)
    if move.D_norm is not None:
        inner, square = h.ray(L2, move.D)
        move.edges.append(edge(inner, math.sqrt(square), move.D_norm))
