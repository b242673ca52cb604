"""The dials of a descent, and the step of one that is given none, which suits the loss, in its own unit:

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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from anyboost import checks, steps
from anyboost.space import Space

if TYPE_CHECKING:
    from anyboost.descent.loop import State
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
