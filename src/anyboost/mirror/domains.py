"""Where weights may lie: three sets of l1 radius lambda, the vertices of which are +-lambda times one function.

simplex  theta >= 0, sum = lambda      solid simplex  theta >= 0, sum <= lambda      octahedron  ||theta||_1 <= lambda
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.mirror.state import OCTAHEDRON, SIMPLEX, SOLID_SIMPLEX


@dataclass(frozen=True)
class Domain:
    """A set of weights; `radius` is lambda."""

    radius: float = 1.0
    code: ClassVar[int]
    signed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checks.positive(self.radius, "radius"))

    def vertices(self, count: int) -> int:
        """How many vertices the set has in `count` dimensions.

        Parameters
        ----------
        count : int
            M.

        Returns
        -------
        int
            Their number.
        """
        return count

    def put_back(self, theta: Floats) -> Floats:
        """The same theta, which is in the set but for rounding, without the rounding.

        Parameters
        ----------
        theta : ndarray (M,)
            Weights.

        Returns
        -------
        ndarray (M,)
            Weights in the set.
        """
        size = float(np.abs(theta).sum())
        return theta * (self.radius / size) if size > self.radius else theta

    def best_vertex(self, slopes: Floats) -> float:
        """The minimum over the set of <slopes, theta>.

        Parameters
        ----------
        slopes : ndarray (M,)
            A linear function of the weights.

        Returns
        -------
        float
            The minimum.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Simplex(Domain):
    """Weights that are not negative and add up to the radius: a weighted mean of the forecasts.

    Parameters
    ----------
    radius : float, default 1.0
        lambda; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(domain=ab.mirror.Simplex())
    >>> averager.start(4).weights_
    array([0.25, 0.25, 0.25, 0.25])
    """

    code = SIMPLEX

    def put_back(self, theta: Floats) -> Floats:
        return theta * (self.radius / float(theta.sum()))

    def best_vertex(self, slopes: Floats) -> float:
        return self.radius * float(slopes.min())


@dataclass(frozen=True)
class SolidSimplex(Domain):
    """Weights that are not negative and add up to the radius or less: forecasts may also be shrunk toward 0.

    Parameters
    ----------
    radius : float, default 1.0
        lambda; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(domain=ab.mirror.SolidSimplex())
    >>> averager.start(4).weights_
    array([0.2, 0.2, 0.2, 0.2])
    """

    code = SOLID_SIMPLEX

    def vertices(self, count: int) -> int:
        return count + 1

    def best_vertex(self, slopes: Floats) -> float:
        return self.radius * min(0.0, float(slopes.min()))


@dataclass(frozen=True)
class Octahedron(Domain):
    """Weights of either sign with sum |theta_j| <= radius: every function and its negative.

    Parameters
    ----------
    radius : float, default 1.0
        lambda; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(domain=ab.mirror.Octahedron(2.0))
    >>> averager.start(4).weights_
    array([0., 0., 0., 0.])
    """

    code = OCTAHEDRON
    signed = True

    def vertices(self, count: int) -> int:
        return 2 * count

    def best_vertex(self, slopes: Floats) -> float:
        return -self.radius * float(np.abs(slopes).max())


NAMED: dict[str, Callable[..., Domain]] = {
    "simplex": Simplex,
    "solid_simplex": SolidSimplex,
    "octahedron": Octahedron,
}


def get(spec: str | Domain) -> Domain:
    """A set from its name, its radius after a colon ("octahedron:5"); a set passes through."""
    return checks.chosen(spec, "domain", Domain, NAMED, "Simplex()")
