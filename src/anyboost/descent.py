"""Restricted gradient descent: the three batch algorithms as one loop with two dials.

    g = a subgradient of R at f
    D = memory * D + g
    repeat:   h = the projection of D onto H,   c = <h, D> / ||h||^2,   D = D - c h
    f = f - eta * (the sum of the c h)

| preset   | memory | projections in round t                          | source      |
|----------|--------|--------------------------------------------------|-------------|
| Naive    | 0      | 1                                                | Algorithm 1 |
| Repeated | 0      | t, or until ||D|| <= tolerance * ||g||           | Algorithm 2 |
| Residual | 1      | 1                                                | Algorithm 3 |

Algorithm 2 as printed subtracts h where it must subtract c h.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from anyboost import checks, steps
from anyboost.certificates import Evidence, edge
from anyboost.ensemble import Ensemble
from anyboost.space import Space
from anyboost.weak import Learner, Projection

if TYPE_CHECKING:
    from anyboost.losses import Functional

THEOREM_STEP = steps.InverseSqrt(1.0)  # that of Theorems 5 and 7
MOST_PROJECTIONS = 1000  # in one round, where only a tolerance is given
ROUNDING = 1e-12  # what is left of a gradient after this is rounding, and not projected again


@dataclass(frozen=True)
class Descent:
    """The loop's dials. `projections=None` means t in round t, or as many as `tolerance` asks for."""

    step: steps.Schedule | float = THEOREM_STEP
    memory: float = 0.0
    projections: int | None = 1
    tolerance: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", steps.get(self.step))
        checks.fraction(self.memory, "memory")
        if self.projections is not None:
            checks.count(self.projections, "projections", least=1)
        if self.tolerance is not None:
            checks.positive(self.tolerance, "tolerance")

    def eta(self, t: int) -> float:
        return self.step(t)  # type: ignore[operator]

    @property
    def relative_error(self) -> float:
        """Repeated projections end where ||D|| is at most this times ||g||."""
        return max(self.tolerance or 0.0, ROUNDING)

    def most_projections(self, t: int) -> int:
        if self.projections is not None:
            return self.projections
        return t if self.tolerance is None else MOST_PROJECTIONS


class Naive(Descent):
    """Algorithm 1: project the gradient, step, forget the rest."""

    def __init__(self, step: steps.Schedule | float = THEOREM_STEP) -> None:
        super().__init__(step)


class Repeated(Descent):
    """Algorithm 2: project what is left over again, t times in round t, before one step.

    With `tolerance`: until ||D|| <= tolerance * ||g||, but at most `projections` (default 1000) times.
    """

    def __init__(
        self,
        step: steps.Schedule | float = THEOREM_STEP,
        projections: int | None = None,
        tolerance: float | None = None,
    ) -> None:
        super().__init__(step, projections=projections, tolerance=tolerance)


class Residual(Descent):
    """Algorithm 3: keep what a projection left over, and project it with the next gradient.

    `memory` under 1 forgets a share of it each round: for rich learners, which overfit with 1.
    """

    def __init__(self, step: steps.Schedule | float = THEOREM_STEP, memory: float = 1.0) -> None:
        super().__init__(step, memory=memory)


def get(descent: str | Descent) -> Descent:
    """The descent itself, or the one a string names: "naive", "repeated", "residual"."""
    if isinstance(descent, Descent):
        return descent
    if not isinstance(descent, str):
        raise TypeError(f'descent must be a Descent or its name, got {descent!r}; try "residual"')
    return checks.named(descent, "descent", {"naive": Naive, "repeated": Repeated, "residual": Residual})


class Step(NamedTuple):
    """One round, as callbacks, reports and certificates see it."""

    round: int
    learners: int  # so far
    loss: float  # after the round's update
    gradient_norm: float  # ||g|| before it
    edge: float  # of the round's first projection
    step_size: float
    coefficient: float  # c of the round's first projection
    valid_loss: float | None
    seconds: float


class Geometry(NamedTuple):
    """What the theorems need of a round beyond its Step."""

    edge: float  # the smallest of the round's projections
    direction: float  # || sum of the c h ||
    leftover: float  # ||D|| after them


@dataclass
class State:
    """Where a descent stands. `start` is f_0, `residual` is D."""

    start: np.ndarray
    scores: np.ndarray
    residual: np.ndarray
    loss: float
    ensemble: Ensemble
    evidence: Evidence
    round: int = 0
    geometry: list[Geometry] = field(default_factory=list)


class Piece(NamedTuple):
    """What one projection adds to the direction: coefficient * hypothesis, and its values on the sample."""

    coefficient: float
    hypothesis: Any
    values: np.ndarray


Sampling = Callable[[int, int], tuple[np.ndarray | None, np.ndarray | None]]


def descend(
    R: "Functional", H: Learner, L2: Space, descent: Descent, state: State, sample: Sampling
) -> Iterator[Step]:
    """Advance `state` by one round for every Step taken from this iterator; it never ends by itself."""
    while True:
        began = perf_counter()
        t = state.round + 1
        eta = descent.eta(t)
        f, f0 = state.scores, state.start

        g = R.subgradient(f)
        g_norm = L2.norm(g)
        if not math.isfinite(g_norm):
            raise FloatingPointError(
                f"the loss has no finite gradient after round {t - 1}; use a smaller step"
            )
        state.evidence.add(state.loss, g, L2.inner(g, f - f0), eta, lambda G: H.support(L2, G))

        D = descent.memory * state.residual + g if descent.memory else g
        D_norm = L2.norm(D) if descent.memory else g_norm
        direction = np.zeros_like(f)
        edges, coefficients = [], []
        for k in range(descent.most_projections(t)):
            # A zero subgradient: f is optimal, and stays. A small rest: the gradient is projected well enough.
            if g_norm == 0 or (k > 0 and D_norm <= descent.relative_error * g_norm):
                break
            h = H.project(L2, D, *sample(t, k))
            inner, square = L2.inner(h.values, D), L2.inner(h.values, h.values)
            if square == 0:
                break
            c = inner / square
            piece = (
                _leaf_step(R, f - direction, h) if H.exact_leaves else Piece(c, h.hypothesis, c * h.values)
            )
            D = D - c * h.values
            direction += piece.values
            state.ensemble.add(t, -eta * piece.coefficient, piece.hypothesis)
            edges.append(edge(abs(inner), math.sqrt(square), D_norm))
            coefficients.append(c)
            D_norm = L2.norm(D)

        state.scores = f - eta * direction
        state.residual = D
        state.loss = R.value(state.scores)
        if not math.isfinite(state.loss):
            raise FloatingPointError(f"the loss is not finite after round {t}; use a smaller step")
        state.round = state.ensemble.n_rounds = t
        state.geometry.append(Geometry(min(edges, default=0.0), L2.norm(direction), D_norm))
        yield Step(
            t,
            len(state.ensemble),
            state.loss,
            g_norm,
            edges[0] if edges else 0.0,
            eta,
            coefficients[0] if coefficients else 0.0,
            None,
            perf_counter() - began,
        )


def _leaf_step(R: "Functional", scores: np.ndarray, h: Projection) -> Piece:
    # The tree's shape with, in each leaf, the step that minimizes the loss there: any number for one
    # output, a multiple of the leaf's vector for several. Signs: the descent subtracts the direction.
    assert h.leaf is not None
    assert h.leaf_values is not None
    if scores.ndim == 1:
        values = -R.best_shifts(scores, h.leaf, len(h.leaf_values), None)[:, None]
    else:
        multiples = R.best_shifts(scores, h.leaf, len(h.leaf_values), -h.leaf_values)
        values = multiples[:, None] * h.leaf_values
    return Piece(1.0, h.hypothesis.with_leaf_values(values), values[h.leaf].reshape(scores.shape))
