"""Restricted gradient descent: five algorithms as one loop with a few dials.

    g = a subgradient of R at f
    D = memory * D + g
    repeat:   h = the projection of D onto H,   c = <h, D> / ||h||^2,   D = D - c kappa h
    f = f_0 + (1 - shrink) (f - f_0) - eta * (the sum of the c h)

kappa is 1, and norms are those of L2(P); with the dial `curvature` it is that of the loss at f, row by row, and norms
are those of its metric: then a projection is a step of Newton's. D stays a covector, in units of g: after a projection
<D, h> = 0 whatever curvature the next round has. With the dial `proximal`, g is a subgradient at the proximal point of
f, f - mu g, mu = R(f_0) / sqrt(t): the gradient of R's Moreau envelope, which has no kinks.

| preset    | memory | projections in round t                 | shrink                       | source          |
|-----------|--------|----------------------------------------|------------------------------|-----------------|
| Naive     | 0      | 1                                      | 0                            | Algorithm 1     |
| Repeated  | 0      | t, or until ||D|| <= tolerance * ||g|| | 0                            | Algorithm 2     |
| Residual  | 1      | 1                                      | 0                            | Algorithm 3     |
| Shrinking | 0      | the extreme atom of g                  | eta where <g, f - f_0> >= 0  | supplement C.3  |
| Hull      | 0      | radius times the extreme atom of g     | eta = 2 / (t + 1)            | Frank and Wolfe |

Algorithm 2 as printed subtracts h where it must subtract c h.

A descent that is given no step takes one that suits the loss, in its own unit (`Descent.with_step`):

| where                                     | eta                | because                               |
|-------------------------------------------|--------------------|---------------------------------------|
| leaves hold exact steps                   | 1 / sqrt(t)        | a share of a minimizing step descends |
| curvature, no memory                      | 1 / 2              | half of Newton's step                 |
| curvature and memory                      | 0.3 / sqrt(t)      | as below, in units of Newton's step   |
| no memory, gradients Lambda-Lipschitz     | 1 / Lambda         | every round descends (Theorem 3)      |
| memory, squared loss (lambda = Lambda)    | 1 / (lambda t)     | Theorem 6; it is Naive with 1 / Lambda |
| else                                      | a / sqrt(t)        | Theorems 5 and 7                      |

with a = (R(f_0) - inf R) / ||g_0||^2, Polyak's step at the start, and 0.3 of it with memory, where what was left over
adds to what is new. `Shrinking` takes 1 / sqrt(t) of atoms of the size a ||g_0||.
"""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from anyboost import checks, steps
from anyboost.certificates import Evidence, edge
from anyboost.ensemble import Ensemble
from anyboost.space import Space
from anyboost.weak import AnyProjection, Learner, declared, project

if TYPE_CHECKING:
    from anyboost.losses import Functional, Loss

WITH_MEMORY = 0.3  # of Polyak's step, which is for a gradient alone
NEWTON = 0.5  # of Newton's step, which would overshoot where the curvature falls
NEAR = 1e-3  # the share of a step over which a slope is compared
MOST_PROJECTIONS = 1000  # in one round, where only a tolerance is given
ROUNDING = 1e-12  # what is left of a gradient after this is rounding, and not projected again


@dataclass(frozen=True)
class Descent:
    """The dials of the loop: what a round remembers, how often it projects, and how far it steps.

    `Naive`, `Repeated`, `Residual`, `Shrinking` and `Hull` set them.

    Parameters
    ----------
    step : callable, LineSearch, float or None, default None
        The step of each round, from `anyboost.steps`; a number is a constant step. None: one that suits the loss, by
        the table in `anyboost.descent`.
    memory : float, default 0.0
        The share, in [0, 1], of what earlier projections left over that is projected with the next gradient.
    projections : int or None, default 1
        How many projections a round makes before its step. None: t in round t, or as many as `tolerance` asks for.
    tolerance : float or None, default None
        Project until what is left over is at most this share of the gradient, by their norms.
    curvature : bool or str, default "auto"
        Whether to project in the metric of the loss's curvature. "auto" is up to who runs it: `boost` does not, the
        estimators do where the loss has one.
    proximal : bool, default False
        Whether to take the gradient of the loss's Moreau envelope, mu = R(f_0) / sqrt(t) in round t, for losses that
        have one row by row: near a kink it tells how far the kink is, where a subgradient tells the side alone.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> half = ab.descent.Descent(step=1.0, memory=0.5)
    >>> run = ab.boost(X, y, "squared", "stump", half, rounds=2)
    >>> round(run.steps[-1].loss, 6)
    0.0
    """

    step: steps.StepLike | None = None
    memory: float = 0.0
    projections: int | None = 1
    tolerance: float | None = None
    curvature: bool | str = "auto"
    proximal: bool = False

    def __post_init__(self) -> None:
        if self.step is not None:
            object.__setattr__(self, "step", steps.get(self.step))
        checks.fraction(self.memory, "memory")
        if self.projections is not None:
            checks.count(self.projections, "projections", least=1)
        if self.tolerance is not None:
            checks.positive(self.tolerance, "tolerance")
        check_curvature(self.curvature)
        checks.flag(self.proximal, "proximal")

    @property
    def curved(self) -> bool:
        """Whether it projects in the metric of the loss's curvature."""
        return self.curvature is True

    def with_step(
        self, loss: "Loss", R: "Functional", L2: Space, f0: np.ndarray, exact_leaves: bool
    ) -> "Descent":
        """This descent with a step: its own, else the one that the table above gives for a run from f0.

        Parameters
        ----------
        loss : Loss
            What is minimized.
        R : Functional
            The loss on the sample.
        L2 : Space
            The sample.
        f0 : ndarray
            Scores at the start.
        exact_leaves : bool
            Whether the learner has its leaf values replaced by exact leaf steps.

        Returns
        -------
        Descent
            One that has a step.
        """
        if self.step is not None:
            return self
        if exact_leaves:
            return self.having(step=steps.InverseSqrt(1.0))
        if self.curved:
            return self.having(step=steps.InverseSqrt(WITH_MEMORY) if self.memory else steps.Constant(NEWTON))
        if not self.memory and math.isfinite(loss.smoothness):
            return self.having(step=steps.Constant(1.0 / loss.smoothness))
        if self.memory and loss.strong_convexity == loss.smoothness:
            return self.having(step=steps.InverseT(1.0 / loss.strong_convexity))
        scale, _ = polyak(R, L2, f0)
        return self.having(step=steps.InverseSqrt(scale * (WITH_MEMORY if self.memory else 1.0)))

    def having(self, **fields: Any) -> Self:
        """A copy with other values in some fields.

        Parameters
        ----------
        **fields : Any
            Values by the names of their fields.

        Returns
        -------
        Descent
            The copy.
        """
        other = copy.copy(self)
        for name, value in fields.items():
            object.__setattr__(other, name, value)
        return other

    @property
    def atom_size(self) -> float | None:
        """The size of the extreme atom to step along; None where D is projected instead."""
        return None

    @property
    def relative_error(self) -> float:
        """Repeated projections end where ||D|| is at most this times ||g||."""
        return max(self.tolerance or 0.0, ROUNDING)

    def most_projections(self, t: int) -> int:
        """How many projections round t makes at most.

        Parameters
        ----------
        t : int
            The round, from 1 on.

        Returns
        -------
        int
            Their number.
        """
        if self.projections is not None:
            return self.projections
        return t if self.tolerance is None else MOST_PROJECTIONS

    def look(self, R: "Functional", state: "State") -> tuple[np.ndarray, np.ndarray]:
        """A subgradient of R, and the point it belongs to.

        Parameters
        ----------
        R : Functional
            The loss on the sample.
        state : State
            Where the descent stands.

        Returns
        -------
        tuple of (ndarray, ndarray)
            The subgradient and the point.
        """
        if self.proximal and R.smoothable and state.start_loss > 0:
            mu = state.start_loss / math.sqrt(state.round + 1)
            g = R.envelope_gradient(state.scores, mu)
            return g, state.scores - mu * g
        if state.gradient is None:
            state.gradient = R.subgradient(state.scores)
        return state.gradient, state.scores

    def target(self, R: "Functional", L2: Space, state: "State", g: np.ndarray) -> np.ndarray:
        """What the learner is to approximate: D.

        Parameters
        ----------
        R : Functional
            The loss on the sample.
        L2 : Space
            The sample.
        state : State
            Where the descent stands.
        g : ndarray
            The subgradient of this round.

        Returns
        -------
        ndarray
            D, shaped like scores.
        """
        return L2.scale_and_add(self.memory, state.residual, g) if self.memory else g

    def metric(self, R: "Functional", L2: Space, state: "State", D: np.ndarray) -> Space:
        """The space in which D is projected: L2, or one curved by kappa, raised to |D| / farthest and to the least.

        Parameters
        ----------
        R : Functional
            The loss on the sample.
        L2 : Space
            The sample.
        state : State
            Where the descent stands.
        D : ndarray
            What is to be projected.

        Returns
        -------
        Space
            The sample with its metric.
        """
        if not self.curved:
            return L2
        kappa = R.curvature(state.scores) if state.curvature is None else state.curvature
        assert kappa is not None  # `boost` has asked the loss
        return L2.curved(L2.at_least(kappa, R.least_curvature, D, R.farthest))

    def shrink(self, eta: float, alignment: float) -> float:
        """The share of f - f_0 to take away, given <g, f - f_0>, g being a subgradient at f.

        Parameters
        ----------
        eta : float
            The step of this round.
        alignment : float
            <g, f - f_0>.

        Returns
        -------
        float
            The share, 0 for none.
        """
        return 0.0


def check_curvature(curvature: Any) -> bool | str:
    """True, False or "auto", and nothing else."""
    if not isinstance(curvature, bool | np.bool_) and curvature != "auto":
        raise ValueError(f'curvature must be True, False or "auto", got {curvature!r}')
    return curvature if isinstance(curvature, str) else bool(curvature)


class Naive(Descent):
    """Algorithm 1: project the gradient, step, forget the rest.

    Parameters
    ----------
    step : callable, LineSearch, float or None, default None
        The step of each round; see `Descent`.
    curvature : bool or str, default "auto"
        Whether to project in the metric of the loss's curvature; see `Descent`.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(1.0), rounds=1)
    >>> run.ensemble.predict(X)
    array([0., 0., 3.])
    """

    def __init__(self, step: steps.StepLike | None = None, curvature: bool | str = "auto") -> None:
        super().__init__(step, curvature=curvature)


class Repeated(Descent):
    """Algorithm 2: project what is left over again, t times in round t, before one step.

    Parameters
    ----------
    step : callable, LineSearch, float or None, default None
        The step of each round; see `Descent`.
    projections : int or None, default None
        How many projections a round makes. None: t in round t; with `tolerance`, at most 1000.
    tolerance : float or None, default None
        Project until ||D|| <= tolerance * ||g||, but at most `projections` times.
    curvature : bool or str, default "auto"
        Whether to project in the metric of the loss's curvature; see `Descent`.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Repeated(1.0), rounds=3)
    >>> [step.learners for step in run.steps]
    [1, 3, 6]
    """

    def __init__(
        self,
        step: steps.StepLike | None = None,
        projections: int | None = None,
        tolerance: float | None = None,
        curvature: bool | str = "auto",
    ) -> None:
        super().__init__(step, projections=projections, tolerance=tolerance, curvature=curvature)


class Residual(Descent):
    """Algorithm 3: keep what a projection left over, and project it with the next gradient.

    Parameters
    ----------
    step : callable, LineSearch, float or None, default None
        The step of each round; see `Descent`.
    memory : float, default 1.0
        The share of what was left over that is kept, in [0, 1]. Under 1 it is forgotten little by little: for rich
        learners, which overfit with 1.
    curvature : bool or str, default "auto"
        Whether to project in the metric of the loss's curvature; see `Descent`.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> descent = ab.descent.Residual(ab.steps.InverseSqrt(0.5), memory=0.8)
    >>> run = ab.boost(X, y, "absolute", "stump", descent, rounds=20)
    >>> run.steps[-1].loss < run.start_loss
    True
    """

    def __init__(
        self, step: steps.StepLike | None = None, memory: float = 1.0, curvature: bool | str = "auto"
    ) -> None:
        super().__init__(step, memory=memory, curvature=curvature)


@dataclass(frozen=True, init=False)
class Shrinking(Descent):
    """Supplement C.3: step eta along the extreme atom, after shrinking f - f_0 where that helps.

    Parameters
    ----------
    step : callable, float or None, default None
        The step of each round, never more than 1; see `Descent`. Not a `LineSearch`.
    shrinks : bool, default True
        False is the method of Zhang and Yu that C.3 compares itself with.
    unit : float, default 1.0
        The size of an atom, in units of scores. A descent without a step has it from the loss.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", "shrinking", rounds=20)
    >>> run.descent.step, round(run.descent.unit, 6)
    (InverseSqrt(scale=1.0), 0.62361)
    """

    shrinks: bool = True
    unit: float = 1.0

    def __init__(self, step: steps.StepLike | None = None, shrinks: bool = True, unit: float = 1.0) -> None:
        super().__init__(step, curvature=False)
        if isinstance(self.step, steps.LineSearch):
            raise ValueError("step must be a schedule for Shrinking, not a LineSearch; try InverseSqrt(1.0)")
        object.__setattr__(self, "shrinks", bool(shrinks))
        object.__setattr__(self, "unit", checks.positive(unit, "unit"))

    def with_step(
        self, loss: "Loss", R: "Functional", L2: Space, f0: np.ndarray, exact_leaves: bool
    ) -> "Descent":
        if self.step is not None:
            return self
        scale, g_norm = polyak(R, L2, f0)
        return self.having(step=steps.InverseSqrt(1.0), unit=scale * g_norm if g_norm else 1.0)

    @property
    def atom_size(self) -> float:
        return self.unit

    def shrink(self, eta: float, alignment: float) -> float:
        if eta > 1:
            raise ValueError(f"step must be at most 1 for Shrinking, got {eta:g}; use a smaller scale")
        return eta if self.shrinks and alignment >= 0 else 0.0


@dataclass(frozen=True, init=False)
class Hull(Descent):
    """Frank-Wolfe over f_0 + radius * conv(+-H): the best sum of that size, and a tight floor for it.

    A loss with kinks needs help, for plain subgradients stall: it is `proximal`; for a loss that couples rows, and has
    no envelope row by row, the atom is that of sum_s s g_s.

    Parameters
    ----------
    radius : float, default 1.0
        The size of the sum: its coefficients, of atoms |h| <= 1, add up to this at most.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Hull(radius=1.5), rounds=100)
    >>> round(run.norm, 6), 0 <= run.gap(1.5) < 0.01
    (1.5, True)
    """

    radius: float = 1.0

    def __init__(self, radius: float = 1.0) -> None:
        super().__init__(steps.FrankWolfe(), curvature=False, proximal=True)
        object.__setattr__(self, "radius", checks.positive(radius, "radius"))

    @property
    def atom_size(self) -> float:
        return self.radius

    def target(self, R: "Functional", L2: Space, state: "State", g: np.ndarray) -> np.ndarray:
        return g if R.smoothable or not R.kinked else state.residual + (state.round + 1) * g

    def shrink(self, eta: float, alignment: float) -> float:
        return eta


def polyak(R: "Functional", L2: Space, f0: np.ndarray) -> tuple[float, float]:
    """Polyak's step at f_0, (R(f_0) - inf R) / ||g_0||^2, and ||g_0||; 1 where f_0 is optimal.

    Where inf R is not known, the least loss along the gradient stands in. Where R is smooth, the step is at most
    Newton's along the gradient: the infimum of a loss may lie far beyond where its slope is still the same (Cox).
    """
    loss, g = R.at(f0)
    g_norm = L2.norm(g)
    if not 0 < g_norm < math.inf:
        return 1.0, 0.0

    def slope(s: float) -> float:
        return -L2.inner(R.subgradient(f0 - s * g), g)

    least = R.infimum if math.isfinite(R.infimum) else R.value(f0 - steps.LineSearch().search(slope) * g)
    scale = (loss - least) / g_norm**2
    if not 0 < scale < math.inf:
        return 1.0, g_norm
    if not R.kinked:
        near = NEAR * scale
        bend = (slope(near) + g_norm**2) / near  # the second derivative along g
        scale = min(scale, g_norm**2 / bend) if bend > 0 else scale
    return scale, g_norm


PRESETS = {"naive": Naive, "repeated": Repeated, "residual": Residual, "shrinking": Shrinking, "hull": Hull}


def get(descent: str | Descent) -> Descent:
    """The descent itself, or the one a string names.

    Parameters
    ----------
    descent : str or Descent
        A descent, or "naive", "repeated", "residual", "shrinking" or "hull".

    Returns
    -------
    Descent
        The descent.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.descent.get("residual")
    Residual(step=None, memory=1.0, projections=1, tolerance=None, curvature='auto', proximal=False)
    """
    if isinstance(descent, Descent):
        return descent
    if not isinstance(descent, str):
        raise TypeError(f'descent must be a Descent or its name, got {descent!r}; try "residual"')
    return checks.named(descent, "descent", PRESETS)


def stands_for(spec: str | Descent, descent: Descent) -> bool:
    """Whether `spec` is this descent, or one without a step, or of curvature "auto", that became it in a run."""
    given = get(spec)
    if given.curvature == "auto":
        given = given.having(curvature=descent.curvature)
    if given.step is None:
        undecided = ("step", "unit") if hasattr(given, "unit") else ("step",)
        given = given.having(**{name: getattr(descent, name, None) for name in undecided})
    return repr(given) == repr(descent)


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
class Move:
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
        return sum(abs(piece.coefficient) * piece.h.top for piece in self.pieces)

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
        move = Move(metric, D, measured)
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


def _slope_along(R: "Functional", L2: Space, f: np.ndarray, move: Move) -> Callable[[float], float]:
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
    move: Move,
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


def _take_atom(H: Learner, L2: Space, size: float, move: Move) -> None:
    """Move along the atom |h| <= 1 furthest along D, at its full size."""
    h = H.extreme(L2, move.D)
    move.pieces.append(Piece(size, h))
    move.coefficients.append(size)
    if move.D_norm is not None:
        inner, square = h.ray(L2, move.D)
        move.edges.append(edge(inner, math.sqrt(square), move.D_norm))
