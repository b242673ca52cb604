"""How far from optimal: edge, floor and gap.

Convexity bounds the loss of every function from below by what a run has already computed. With g_t a
subgradient at f_t, weights w_t >= 0 of sum one and G = sum w_t g_t,

    R(f) >= sum_t w_t [R(f_t) - <g_t, f_t - a>] - C max_h |<G, h>|    for every f in a + C conv(+-H),

where a is the start. This holds for any sequence f_t, so for any step, memory, leaf rule or early stop.
"""

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np

# A function G -> (upper bound of max_h |<G, h>|, value that a known atom attains)
Support = Callable[[np.ndarray], tuple[float, float]]
SUMMED = ("step", "uniform", "late")  # weights eta_t, 1 and t
WEIGHTINGS = (*SUMMED, "last")
UNKNOWN_NORM = (
    "norm is not known of this model (its file is of an older version, or it ends before the round that its fit "
    "went on from): give floor and gap a radius"
)


class Witness(NamedTuple):
    """One proof: no f in a + C conv(+-H) has a loss under `intercept - C * reach`.

    Attributes
    ----------
    intercept : float
        What the floor is at C = 0.
    reach : float
        Bounds max_h |<G, h>| from above.
    reach_found : float
        What a known atom attains, or the bound itself where none was looked for.
    weighting : str
        How subgradients are weighted in G.
    rounds : int
        The rounds that it rests on.

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=4)
    >>> all(witness.reach >= witness.reach_found for witness in run.witnesses)
    True
    """

    intercept: float
    reach: float
    reach_found: float
    weighting: str
    rounds: int


def edge(inner: float, hypothesis_norm: float, target_norm: float) -> float:
    """The cosine of the angle between a hypothesis and what it was fitted to; 0 where either vanishes.

    Parameters
    ----------
    inner : float
        Their inner product.
    hypothesis_norm : float
        ||h||.
    target_norm : float
        The norm of what it was fitted to.

    Returns
    -------
    float
        The edge.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.certificates.edge(1.0, 2.0, 1.0)
    0.5
    """
    length = hypothesis_norm * target_norm
    return min(inner / length, 1.0) if length > 0 else 0.0  # rounding may leave it above 1


def floor(witnesses: Iterable[Witness], radius: float, *, estimate: bool = False) -> float:
    """The largest lower bound that the witnesses give at this radius.

    Parameters
    ----------
    witnesses : iterable of Witness
        The proofs.
    radius : float
        C.
    estimate : bool, default False
        Whether the reach that a known atom attains stands in for its upper bound: an estimate of the floor, not a
        certificate.

    Returns
    -------
    float
        The floor; -inf without witnesses.

    Examples
    --------
    >>> import anyboost as ab
    >>> proof = ab.certificates.Witness(1.0, 0.25, 0.25, "last", 1)
    >>> ab.certificates.floor([proof], radius=2.0)
    0.5
    """
    if not isinstance(radius, Real) or not radius >= 0:
        raise ValueError(f"radius must be a number >= 0, got {radius!r}")
    return max(
        (w.intercept - radius * (w.reach_found if estimate else w.reach) for w in witnesses), default=-np.inf
    )


@dataclass(frozen=True)
class Certificate:
    """What is proved of a model: `Run.floor` and `Run.gap`, and those of estimators, without the sample.

    Parameters
    ----------
    loss : float
        The model's, on the training rows.
    norm : float
        The model's size, the sum of |c| max|h| over its terms; NaN where it is not known.
    infimum : float
        What no scores have a smaller loss than on those rows; -inf where nothing is known.
    witnesses : tuple of Witness
        The proofs.

    Examples
    --------
    >>> import anyboost as ab
    >>> proof = ab.certificates.Witness(1.0, 0.25, 0.25, "last", 1)
    >>> known = ab.certificates.Certificate(0.75, 2.0, 0.0, (proof,))
    >>> known.floor(), known.gap(), known.gap(radius=1.0)
    (0.5, 0.25, 0.0)
    """

    loss: float
    norm: float
    infimum: float
    witnesses: tuple[Witness, ...]

    def floor(self, radius: float | None = None, *, estimate: bool = False) -> float:
        """No start + sum c_m h_m with sum |c_m| <= radius, |h_m| <= 1, h_m in H, has a smaller loss.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.
        estimate : bool, default False
            As for the function `floor`.

        Returns
        -------
        float
            The floor, never under the infimum of the loss; -inf where nothing is proved.
        """
        if radius is None:
            if math.isnan(self.norm):
                raise ValueError(UNKNOWN_NORM)
            radius = self.norm
        return max(floor(self.witnesses, radius, estimate=estimate), self.infimum)

    def gap(self, radius: float | None = None) -> float:
        """The loss minus the floor: at most this much could be gained within the radius.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The gap, never negative at the model's own norm or beyond.
        """
        gap = self.loss - self.floor(radius)
        inside = radius is None or radius >= self.norm
        return max(gap, 0.0) if inside else gap  # inside, only rounding is negative


class Evidence:
    """What a run keeps for its floor: weighted sums of subgradients, and witnesses at t = 1, 2, 4, 8, ...

    Early witnesses matter: a run that leaves the ball of radius C only loosens the later ones. A `light` one keeps no
    sums, and its witnesses are gradients of single rounds: they prove less, and cost next to nothing.
    """

    def __init__(self, shape: tuple[int, ...], light: bool = False) -> None:
        self.light = light
        self.rounds = 0
        self.witnesses: list[Witness] = []
        self.shape = shape
        self.weight = np.zeros(3)  # one for each of SUMMED, as in the two below
        self.intercept = np.zeros(3)
        self.last_intercept = 0.0
        self.last_gradient = np.zeros(shape)
        self._sums = np.zeros((3, 0 if light else math.prod(shape)))
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []  # weights and gradients not yet in the sums
        self._n_threads = 1
        self.latest: tuple[int, list[Witness]] | None = None  # the last answer of `current`, and its round

    @property
    def gradient(self) -> np.ndarray:
        """The three weighted sums of subgradients, (3, n * k)."""
        from anyboost.backends.vectors import accumulate

        accumulate(self._waiting, self._sums, self._n_threads)
        self._waiting = []
        return self._sums

    @gradient.setter
    def gradient(self, sums: np.ndarray) -> None:
        self._sums, self._waiting = sums, []

    def due(self, t: int) -> bool:
        """Whether round t is to be added."""
        return not self.light or t & (t - 1) == 0

    def add(
        self,
        t: int,
        loss: float,
        gradient: np.ndarray,
        slope: float,
        step: float,
        support: Support,
        n_threads: int = 1,
    ) -> None:
        """Take in round t: R(f_t), g_t, <g_t, f_t - a> and the step size."""
        self.see(t, loss, gradient, slope)
        if not self.light:
            self._sum_up(np.array([step, 1.0, float(t)]), n_threads)
        if t & (t - 1) == 0:
            self.witnesses += self._look(support)

    def see(self, t: int, loss: float, gradient: np.ndarray, slope: float) -> None:
        """What witnesses of round t alone rest on."""
        self.rounds, self.last_intercept, self.last_gradient = t, loss - slope, gradient

    def _sum_up(self, weights: np.ndarray, n_threads: int) -> None:
        from anyboost.backends.vectors import AT_ONCE

        self.weight += weights
        self.intercept += weights * self.last_intercept
        self._waiting.append((weights, self.last_gradient.reshape(-1)))
        self._n_threads = n_threads
        if len(self._waiting) == AT_ONCE:  # several in one pass over the sums, which are larger than a cache
            _ = self.gradient

    def current(self, support: Support) -> list[Witness]:
        """The witnesses of all rounds so far."""
        if self.rounds == 0:
            return []
        if self.latest is None or self.latest[0] != self.rounds:
            self.latest = (self.rounds, self._look(support))
        return self.latest[1]

    def of_another_class(self) -> "Evidence":
        """The same rounds, for another H: the sums hold for any, what witnesses say of their reach does not."""
        other = deepcopy(self)
        other.witnesses, other.latest = [], None
        return other

    def _look(self, support: Support) -> list[Witness]:
        last = self._witness(self.last_intercept, self.last_gradient, "last", support)
        given = [
            name for name, weight in zip(SUMMED, self.weight, strict=True) if weight > 0
        ]  # none of a light one
        if self.rounds == 1:  # whatever its weight, there is but one gradient
            return [last._replace(weighting=name) for name in given] + [last]
        sums = dict(zip(SUMMED, zip(self.weight, self.intercept, self.gradient, strict=True), strict=True))
        found = []
        for name in given:
            weight, intercept, gradient = sums[name]
            mean = gradient.reshape(self.shape) / weight
            found.append(self._witness(intercept / weight, mean, name, support))
        return [*found, last]

    def _witness(self, intercept: float, gradient: np.ndarray, name: str, support: Support) -> Witness:
        upper, lower = support(gradient)
        return Witness(float(intercept), upper, lower, name, self.rounds)
