"""Theorems 3 to 7, in the forms that the room describes."""

from typing import Any

import numpy as np

from anyboost import checks
from anyboost.bounds.admission import admit_preset, distances, strong_convexity
from anyboost.bounds.proofs import repeated, repeated_strong, residual
from anyboost.bounds.trace import Trace, etas, gamma, gradient_bound, rounds_of
from anyboost.checks import Floats

FORMS = ("printed", "safe", "sharp")


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
    strong, smooth = strong_convexity(run, "Theorem 3"), float(run.loss.smoothness)
    if not np.isfinite(smooth):
        raise ValueError(f"Theorem 3 needs a smooth loss, but {run.loss} is not: use Theorem 4 or 6")
    admit_preset(run, "Theorem 3", "Naive", "Constant", 1 / smooth, searched=True)
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
    strong = strong_convexity(run, "Theorem 4")
    admit_preset(run, "Theorem 4", "Repeated", "InverseT", 2 / strong)
    T, G, edge, rho = _constants(run)
    if _form(form) == "sharp":
        return repeated_strong(etas(run), G * (1 + rho**T), G * rho**T, strong)
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
    admit_preset(run, "Theorem 5", "Repeated", "InverseSqrt", 1.0)
    T, G, edge, rho = _constants(run)
    d = distances(distance, len(T))
    if _form(form) == "sharp":
        return repeated(etas(run), G * (1 + rho**T), G * rho**T, d)
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
    strong = strong_convexity(run, "Theorem 6")
    admit_preset(run, "Theorem 6", "Residual", "InverseT", 1 / strong)
    T, G, edge, rho = _constants(run)
    if _form(form) == "sharp":
        return residual(etas(run), *_residual_norms(G, rho, len(T)))
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
    admit_preset(run, "Theorem 7", "Residual", "InverseSqrt", 1.0)
    T, G, edge, rho = _constants(run)
    d = distances(distance, len(T))
    if _form(form) == "sharp":
        return residual(etas(run), *_residual_norms(G, rho, len(T)), d)
    square = (_ratio(2.0, edge**2) * G) ** 2
    return d**2 / (2 * np.sqrt(T)) + square / np.sqrt(T) + square / (2 * T**1.5)


def _residual_norms(G: float, rho: float, rounds: int) -> tuple[Floats, Floats]:
    """||h_t|| <= ||D + g_t|| <= G s_t and, after the projection, ||D|| <= rho G s_t."""
    s = np.cumsum(rho ** np.arange(rounds))
    return G * s, rho * G * s


def _form(form: str) -> str:
    return checks.choice(form, "form", FORMS)


def _constants(run: Trace) -> tuple[Floats, float, float, float]:
    """T = 1 .. rounds, G, gamma and rho."""
    edge = gamma(run)
    return rounds_of(run), gradient_bound(run), edge, float(np.sqrt(1 - edge**2))


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0 else np.inf
