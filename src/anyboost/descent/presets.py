"""The algorithms of the papers, as dials of one loop:

| preset    | memory | projections in round t                 | shrink                       | source          |
|-----------|--------|----------------------------------------|------------------------------|-----------------|
| Naive     | 0      | 1                                      | 0                            | Algorithm 1     |
| Repeated  | 0      | t, or until ||D|| <= tolerance * ||g|| | 0                            | Algorithm 2     |
| Residual  | 1      | 1                                      | 0                            | Algorithm 3     |
| Shrinking | 0      | the extreme atom of g                  | eta where <g, f - f_0> >= 0  | supplement C.3  |
| Hull      | 0      | radius times the extreme atom of g     | eta = 2 / (t + 1)            | Frank and Wolfe |

Algorithm 2 as printed subtracts h where it must subtract c h.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from anyboost import checks, steps
from anyboost.descent.rules import Descent, polyak
from anyboost.space import Space

if TYPE_CHECKING:
    from anyboost.descent.loop import State
    from anyboost.losses import Functional, Loss


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
        Project until ||D|| <= tolerance * ||g||, but at most `projections` times. `bounds.plan_repeated` goes from an
        accuracy of the model to a tolerance.
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
