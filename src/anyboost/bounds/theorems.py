"""How fast a run must converge: Theorems 3 to 7 of Grubb and Bagnell (2011), and bounds read off the run.

f_0 is the start; round t takes a subgradient g_t at f_{t-1} and a direction h_t to f_t = f_{t-1} - eta_t h_t.

    gamma = the smallest edge of any projection,   rho = sqrt(1 - gamma^2),   G = max_t ||g_t||,
    d = max ||f_t - f*|| over t = 0 .. T-1,        average gap = (1/T) sum_{t=0}^{T-1} R(f_t) - R(f*).

Every bound is an array over T = 1 .. rounds, with gamma and G of the whole run. Three forms:

    "printed"  as the paper states it; docs/theorems.md says which of these are false
    "safe"     what the proof gives in closed form
    "sharp"    the same proof, with its geometric sums left as they stand; never above "safe"

f* need not be optimal: Theorems 4 to 7 and `computable` bound the average gap to any function f*.
"""

from typing import Any, Protocol

import numpy as np

from anyboost import checks
from anyboost.checks import Floats

FORMS = ("printed", "safe", "sharp")
_CLOSE = 1e-9  # relative: recorded steps against the schedule of a theorem
_PRESETS: dict[str, tuple[float, int | None]] = {  # memory, projections (None: t in round t)
    "Naive": (0.0, 1),
    "Repeated": (0.0, None),
    "Residual": (1.0, 1),
}


class Trace(Protocol):
    """What the bounds read of a run."""

    start_loss: float
    steps: list[Any]
    state: Any
    descent: Any
    learner: Any
    loss: Any


def gamma(run: Trace) -> float:
    """The smallest edge over everything the run projected; 1 where it projected nothing.

    A round that found nothing to project sets no edge; a projection that came out zero has edge 0.

    Parameters
    ----------
    run : Run
        A run with `record="full"`.

    Returns
    -------
    float
        gamma.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=4)
    >>> 0 < ab.bounds.gamma(run) <= 1
    True
    """
    _recorded(run)
    edges = [
        shape.edge
        for step, shape in zip(run.steps, run.state.geometry, strict=True)
        if step.gradient_norm > 0 and (shape.direction > 0 or shape.leftover > 0)
    ]
    return float(min(edges, default=1.0))


def gradient_bound(run: Trace) -> float:
    """The largest norm G of a subgradient that the run met.

    Parameters
    ----------
    run : Run
        A run with `record="full"`.

    Returns
    -------
    float
        G.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0]], [0.0, 2.0], "squared", rounds=2)
    >>> ab.bounds.gradient_bound(run)
    1.0
    """
    _recorded(run)
    return float(max((step.gradient_norm for step in run.steps), default=0.0))


def average_gap(run: Trace, optimum: float) -> Floats:
    """The gap (1/T) sum_{t=0}^{T-1} R(f_t) - optimum, which Theorems 4 to 7 and `computable` bound.

    Parameters
    ----------
    run : Run
        A run.
    optimum : float
        The least loss there is.

    Returns
    -------
    ndarray (rounds,)
        The gap for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0]], [0.0, 2.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(0.5), rounds=2)
    >>> ab.bounds.average_gap(run, optimum=0.0)
    array([0.5   , 0.3125])
    """
    before = [run.start_loss, *(step.loss for step in run.steps)][: len(run.steps)]
    return np.cumsum(before) / _rounds(run) - optimum


def theorem_3(run: Trace, optimum: float, form: str = "safe") -> Floats:
    """Theorem 3's bound on R(f_T) - R*, (1 - gamma^2 lambda / Lambda)^T (R(f_0) - R*).

    For Naive(Constant(1 / Lambda)) or Naive(LineSearch()), on smooth and strongly convex losses.

    Parameters
    ----------
    run : Run
        Such a run.
    optimum : float
        R*, the least loss there is.
    form : str, default "safe"
        "safe", which is as "printed"; "sharp" has each round's own edge in place of gamma.

    Returns
    -------
    ndarray (rounds,)
        The bound for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(1.0), rounds=5)
    >>> bound = ab.bounds.theorem_3(run, optimum=0.0)
    >>> all(step.loss <= most for step, most in zip(run.steps, bound))
    True
    """
    strong, smooth = _strong(run, "Theorem 3"), float(run.loss.smoothness)
    if not np.isfinite(smooth):
        raise ValueError(f"Theorem 3 needs a smooth loss, but {run.loss} is not: use Theorem 4 or 6")
    _preset(run, "Theorem 3", "Naive", "Constant", 1 / smooth, searched=True)
    edges: Floats
    if _form(form) == "sharp":
        edges = np.minimum([shape.edge for shape in run.state.geometry], 1.0)  # rounding
    else:
        edges = np.full(len(run.steps), gamma(run))
    return (run.start_loss - optimum) * np.cumprod(1 - edges**2 * (strong / smooth))


def theorem_4(run: Trace, form: str = "safe") -> Floats:
    """Theorem 4's bound on the average gap of Repeated(InverseT(2 / lambda)) on a strongly convex loss.

        printed  G^2 / (lambda T) [1 + ln T + (1 - gamma^2) / gamma^2]
        safe     G^2 / (lambda T) [4 (1 + ln T) + (1 - gamma^2) / gamma^2]
        sharp    G^2 / (lambda T) sum_t [(1 + rho^t)^2 / t + rho^(2t)]

    Parameters
    ----------
    run : Run
        Such a run.
    form : str, default "safe"
        "printed", "safe" or "sharp".

    Returns
    -------
    ndarray (rounds,)
        The bound for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> descent = ab.descent.Repeated(ab.steps.InverseT(2.0))
    >>> run = ab.boost(X, y, "squared", "stump", descent, rounds=5)
    >>> bool((ab.bounds.average_gap(run, 0.0) <= ab.bounds.theorem_4(run)).all())
    True
    """
    strong = _strong(run, "Theorem 4")
    _preset(run, "Theorem 4", "Repeated", "InverseT", 2 / strong)
    T, G, edge, rho = _constants(run)
    if _form(form) == "sharp":
        return _repeated_strong(_etas(run), G * (1 + rho**T), G * rho**T, strong)
    factor = 1 if form == "printed" else 4
    return G**2 / (strong * T) * (factor * (1 + np.log(T)) + _ratio(rho**2, edge**2))


def theorem_5(run: Trace, distance: Any, form: str = "safe") -> Floats:
    """Theorem 5's bound on the average gap of Repeated(InverseSqrt(1)).

    With `distance` d and r = rho / (1 - rho):

        printed  F^2 / (2 sqrt T) + G^2 / sqrt T + 2 F G (1 - gamma^2) / (gamma^2 T), F >= ||f|| the `distance`
        safe     d^2 / (2 sqrt T) + G^2 / sqrt T + (G^2 / T) [r + rho^2 / (2 gamma^2)] + d G r / T
        sharp    d^2 / (2 sqrt T) + G^2 / (2 T) sum_t (1 + rho^t)^2 / sqrt t + (d G / T) sum_t rho^t

    Parameters
    ----------
    run : Run
        Such a run.
    distance : float or array_like (rounds,)
        A bound on ||f_t - f*||, in all rounds or round by round.
    form : str, default "safe"
        "printed", "safe" or "sharp".

    Returns
    -------
    ndarray (rounds,)
        The bound for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> descent = ab.descent.Repeated(ab.steps.InverseSqrt(1.0))
    >>> run = ab.boost(X, y, "absolute", "stump", descent, rounds=5)
    >>> bool((ab.bounds.average_gap(run, 0.0) <= ab.bounds.theorem_5(run, distance=4.0)).all())
    True
    """
    _preset(run, "Theorem 5", "Repeated", "InverseSqrt", 1.0)
    T, G, edge, rho = _constants(run)
    d = _distance(distance, len(T))
    if _form(form) == "sharp":
        return _repeated(_etas(run), G * (1 + rho**T), G * rho**T, d)
    descent = d**2 / (2 * np.sqrt(T)) + G**2 / np.sqrt(T)
    if edge**2 == 0:  # and d may be 0
        return descent + np.inf
    if form == "printed":
        return descent + 2 * d * G * rho**2 / edge**2 / T
    errors = rho * (1 + rho) / edge**2  # rho / (1 - rho), for small gamma too
    return descent + (G**2 * (errors + rho**2 / (2 * edge**2)) + d * G * errors) / T


def theorem_6(run: Trace, form: str = "safe") -> Floats:
    """Theorem 6's bound on the average gap of Residual(InverseT(1 / lambda)) on a strongly convex loss.

        printed  2 c^2 G^2 / (lambda T) (1 + ln T + 2 / T),    c = 2 / gamma^2
        safe     c^2 G^2 / (2 lambda T) (1 + ln T + 1 / T)
        sharp    G^2 / (2 lambda T) [sum_t s_t^2 / t + rho^2 s_T^2 / T],    s_t = 1 + rho + ... + rho^(t-1)

    Parameters
    ----------
    run : Run
        Such a run.
    form : str, default "safe"
        "printed", "safe" or "sharp".

    Returns
    -------
    ndarray (rounds,)
        The bound for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> descent = ab.descent.Residual(ab.steps.InverseT(1.0))
    >>> run = ab.boost(X, y, "squared", "stump", descent, rounds=5)
    >>> bool((ab.bounds.average_gap(run, 0.0) <= ab.bounds.theorem_6(run)).all())
    True
    """
    strong = _strong(run, "Theorem 6")
    _preset(run, "Theorem 6", "Residual", "InverseT", 1 / strong)
    T, G, edge, rho = _constants(run)
    if _form(form) == "sharp":
        return _residual(_etas(run), *_residual_norms(G, rho, len(T)))
    square = (_ratio(2.0, edge**2) * G) ** 2
    if form == "printed":
        return 2 * square / (strong * T) * (1 + np.log(T) + 2 / T)
    return square / (2 * strong * T) * (1 + np.log(T) + 1 / T)


def theorem_7(run: Trace, distance: Any, form: str = "safe") -> Floats:
    """Theorem 7's bound on the average gap of Residual(InverseSqrt(1)).

    With `distance` d and c = 2 / gamma^2:

        printed  the same as safe, but with F >= ||f|| the `distance`
        safe     d^2 / (2 sqrt T) + c^2 G^2 / sqrt T + c^2 G^2 / (2 T^(3/2))
        sharp    d^2 / (2 sqrt T) + G^2 / (2 T) [sum_t s_t^2 / sqrt t + rho^2 s_T^2 / sqrt T], s_t of Theorem 6

    Parameters
    ----------
    run : Run
        Such a run.
    distance : float or array_like (rounds,)
        A bound on ||f_t - f*||, in all rounds or round by round.
    form : str, default "safe"
        "printed", "safe" or "sharp".

    Returns
    -------
    ndarray (rounds,)
        The bound for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> descent = ab.descent.Residual(ab.steps.InverseSqrt(1.0))
    >>> run = ab.boost(X, y, "absolute", "stump", descent, rounds=5)
    >>> bool((ab.bounds.average_gap(run, 0.0) <= ab.bounds.theorem_7(run, distance=4.0)).all())
    True
    """
    _preset(run, "Theorem 7", "Residual", "InverseSqrt", 1.0)
    T, G, edge, rho = _constants(run)
    d = _distance(distance, len(T))
    if _form(form) == "sharp":
        return _residual(_etas(run), *_residual_norms(G, rho, len(T)), d)
    square = (_ratio(2.0, edge**2) * G) ** 2
    return d**2 / (2 * np.sqrt(T)) + square / np.sqrt(T) + square / (2 * T**1.5)


def computable(run: Trace, distance: Any = None) -> Floats:
    """A bound on the average gap from the norms that the run met: it needs neither gamma nor G.

    With e_t = h_t - g_t, and D what is left after round T:

        memory 0, any projections   [d^2 / (2 eta_T) + sum eta_t ||h_t||^2 / 2 + d sum ||e_t||] / T
        memory 1, one projection    [d^2 / (2 eta_T) + sum eta_t ||h_t||^2 / 2 + eta_T ||D||^2 / 2] / T

    for any step that never grows. Without `distance`, where the loss is strongly convex:

        memory 0, InverseT(2 / lambda)   [sum eta_t ||h_t||^2 / 2 + sum ||e_t||^2 / lambda] / T
        memory 1, InverseT(1 / lambda)   [sum eta_t ||h_t||^2 / 2 + ||D||^2 / (2 lambda T)] / T

    Parameters
    ----------
    run : Run
        A run of one of these kinds, with `record="full"`.
    distance : float, array_like (rounds,) or None, default None
        d, a bound on ||f_t - f*||, in all rounds or round by round.

    Returns
    -------
    ndarray (rounds,)
        The bound for T = 1, 2, ...

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> descent = ab.descent.Residual(ab.steps.InverseT(1.0))
    >>> run = ab.boost(X, y, "squared", "stump", descent, rounds=5)
    >>> bool((ab.bounds.average_gap(run, 0.0) <= ab.bounds.computable(run) + 1e-9).all())
    True
    """
    name = "the computable bound"
    memory = run.descent.memory
    _projected(run, name)
    if memory not in (0, 1) or (memory == 1 and run.descent.projections != 1):
        raise ValueError(
            f"{name} needs memory 0, or memory 1 with one projection a round, but the run used {run.descent}"
        )
    eta = _etas(run)
    h, rest = _directions(run), _leftovers(run)  # the latter is ||D||, and ||e|| where memory is 0
    if distance is None:
        strong = _strong(run, f"{name} without distance")
        _schedule(run, f"{name} without distance", "InverseT", (1 if memory else 2) / strong)
        return _residual(eta, h, rest) if memory else _repeated_strong(eta, h, rest, strong)
    if np.any(np.diff(eta) > 0):
        raise ValueError(f"{name} needs a step that never grows, but the run used {run.descent.step}")
    d = _distance(distance, len(eta))
    return _residual(eta, h, rest, d) if memory else _repeated(eta, h, rest, d)


# The three proofs, given norms (or bounds on them) of the directions, the errors and what is left over.


def _repeated(eta: Floats, h: Floats, e: Floats, d: Floats) -> Floats:
    return (d**2 / (2 * eta) + np.cumsum(eta * h**2) / 2 + d * np.cumsum(e)) / _upto(eta)


def _repeated_strong(eta: Floats, h: Floats, e: Floats, strong: float) -> Floats:
    return (np.cumsum(eta * h**2) / 2 + np.cumsum(e**2) / strong) / _upto(eta)


def _residual(eta: Floats, h: Floats, D: Floats, d: Floats | float = 0.0) -> Floats:
    # Strong convexity with eta_t = 1 / (lambda t) cancels the distances: then this holds with d = 0.
    return (d**2 / (2 * eta) + np.cumsum(eta * h**2) / 2 + eta * D**2 / 2) / _upto(eta)


def _residual_norms(G: float, rho: float, rounds: int) -> tuple[Floats, Floats]:
    """||h_t|| <= ||D + g_t|| <= G s_t and, after the projection, ||D|| <= rho G s_t."""
    s = np.cumsum(rho ** np.arange(rounds))
    return G * s, rho * G * s


# What a run must be for a theorem to speak of it.


def _preset(
    run: Trace, theorem: str, preset: str, schedule: str, scale: float, searched: bool = False
) -> None:
    """Refuse other descents and steps; an exact line search does at least as well as a fixed step."""
    _projected(run, theorem)
    descent = run.descent
    wanted = f"{preset}({schedule}({scale:.6g}))"
    if 0 < descent.memory < 1:
        raise ValueError(
            f"{theorem} is about {wanted}; a memory strictly between 0 and 1, here {descent.memory:g}, has "
            "no theorem: use run.floor, which certifies any run"
        )
    single = descent.tolerance is None or descent.projections == 1
    if not single or (descent.memory, descent.projections) != _PRESETS[preset]:
        raise ValueError(f"{theorem} is about {wanted}, but the run used {descent}")
    if not (searched and hasattr(descent.step, "search") and descent.step.scale == 1):
        _schedule(run, theorem, schedule, scale)


def _schedule(run: Trace, theorem: str, schedule: str, scale: float) -> None:
    power = {"Constant": 0.0, "InverseSqrt": 0.5, "InverseT": 1.0}[schedule]
    if not np.allclose(_etas(run), scale / _rounds(run) ** power, rtol=_CLOSE, atol=0):
        raise ValueError(
            f"{theorem} needs the step {schedule}({scale:.6g}), but the run used {run.descent.step}"
        )


def _projected(run: Trace, theorem: str) -> None:
    """Refuse directions that are not sums of exact ray projections in L2(P)."""
    _recorded(run)
    if run.descent.curved:
        raise ValueError(
            f"{theorem} is about projections in L2(P), and this run projected in the metric of its loss's curvature: "
            "use curvature=False, or run.floor, which certifies any run"
        )
    if run.descent.atom_size is not None:
        raise ValueError(f"{theorem} is about projections, but the run used {run.descent}: use Naive")
    if run.descent.proximal:
        raise ValueError(
            f"{theorem} is about gradients at f, and this run took them elsewhere: use proximal=False"
        )
    if run.learner.exact_leaves:
        raise ValueError(f'{theorem} is about projections, and leaf="exact" steps past them: use leaf="mean"')


def _recorded(run: Trace) -> None:
    """Refuse a run that has no norms and edges."""
    if len(run.state.geometry) < len(run.steps):
        raise ValueError('bounds need the norms and edges of every round: run with record="full"')


def _strong(run: Trace, theorem: str) -> float:
    strong = float(run.loss.strong_convexity)
    if strong <= 0:
        raise ValueError(
            f"{theorem} needs a strongly convex loss, but {run.loss} is not: add a multiple of Squared(), or "
            "use a bound that takes a distance"
        )
    return strong


def _form(form: str) -> str:
    return checks.choice(form, "form", FORMS)


def _distance(distance: Any, rounds: int) -> Floats:
    values = checks.numbers(distance, "distance")
    if values.shape not in ((1,), (rounds,)) or not np.all((values >= 0) & (values < np.inf)):
        raise ValueError(
            f"distance must be a number >= 0, or one for each of the {rounds} rounds, got {distance!r}"
        )
    return values


def _constants(run: Trace) -> tuple[Floats, float, float, float]:
    """T = 1 .. rounds, G, gamma and rho."""
    edge = gamma(run)
    return _rounds(run), gradient_bound(run), edge, float(np.sqrt(1 - edge**2))


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else np.inf


def _etas(run: Trace) -> Floats:
    return np.array([step.step_size for step in run.steps])


def _directions(run: Trace) -> Floats:
    return np.array([shape.direction for shape in run.state.geometry])


def _leftovers(run: Trace) -> Floats:
    return np.array([shape.leftover for shape in run.state.geometry])


def _rounds(run: Trace) -> Floats:
    return _upto(run.steps)


def _upto(rounds: Any) -> Floats:
    return np.arange(1.0, len(rounds) + 1)
