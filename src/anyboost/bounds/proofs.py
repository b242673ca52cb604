"""The three proofs, given norms (or bounds on them) of the directions, the errors and what is left over.

With the norms that a run met they are the bound that it can compute, `computable`.
"""

from typing import Any

import numpy as np

from anyboost.bounds.admission import admit_projected, admit_schedule, distances, strong_convexity
from anyboost.bounds.trace import Trace, directions, etas, leftovers, upto
from anyboost.checks import Floats


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
    admit_projected(run, name)
    if memory not in (0, 1) or (memory == 1 and run.descent.projections != 1):
        raise ValueError(
            f"{name} needs memory 0, or memory 1 with one projection a round, but the run used {run.descent}"
        )
    eta = etas(run)
    h, rest = directions(run), leftovers(run)  # the latter is ||D||, and ||e|| where memory is 0
    if distance is None:
        strong = strong_convexity(run, f"{name} without distance")
        admit_schedule(run, f"{name} without distance", "InverseT", (1 if memory else 2) / strong)
        return residual(eta, h, rest) if memory else repeated_strong(eta, h, rest, strong)
    if np.any(np.diff(eta) > 0):
        raise ValueError(f"{name} needs a step that never grows, but the run used {run.descent.step}")
    d = distances(distance, len(eta))
    return residual(eta, h, rest, d) if memory else repeated(eta, h, rest, d)


def repeated(eta: Floats, h: Floats, e: Floats, d: Floats) -> Floats:
    return (d**2 / (2 * eta) + np.cumsum(eta * h**2) / 2 + d * np.cumsum(e)) / upto(eta)


def repeated_strong(eta: Floats, h: Floats, e: Floats, strong: float) -> Floats:
    return (np.cumsum(eta * h**2) / 2 + np.cumsum(e**2) / strong) / upto(eta)


def residual(eta: Floats, h: Floats, D: Floats, d: Floats | float = 0.0) -> Floats:
    # Strong convexity with eta_t = 1 / (lambda t) cancels the distances: then this holds with d = 0.
    return (d**2 / (2 * eta) + np.cumsum(eta * h**2) / 2 + eta * D**2 / 2) / upto(eta)
