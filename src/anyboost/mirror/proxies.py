"""Proxy functions V: what keeps the weights together, and the three constants the bounds are made of.

V is alpha-strongly convex in the l1 norm and at most `height` on the set; theorems speak of height/alpha.

| proxy | V | alpha | height |
|---|---|---|---|
| `Entropy()` (8) | sum theta ln theta + lambda ln(N/lambda), over the N vertices | 1/lambda | lambda ln N |
| `PNorm(p)` (35) | norm_p(theta)^2 / (2 lambda^2), p = 1 + 1/ln M | (p-1) M^(2/p-2)/lambda^2 | 1/2 |
| `PowerDivergence(s)` (36) | C0 + C1 sum theta^(s+1), s = 1/ln M | M^-s | lambda^2 (1 - M^-s)/(s(s+1)) |

On the solid simplex the entropy counts a function that is zero, on the octahedron every function twice, as h and -h.
With two functions the paper's 1/ln M is above 1 and no proxy any more: p is at most 2 and s at most 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.mirror.domains import Domain, Simplex
from anyboost.mirror.state import ENTROPY, P_NORM, POWER


class ProxyShape(NamedTuple):
    """A proxy on one set in M dimensions."""

    alpha: float
    height: float
    exponent: float  # what the kernels need: q of the p-norm, s of the power divergence

    @property
    def factor(self) -> float:
        """1/sqrt(alpha height): beta_0 of (18) for L = 1. A set of one point has no height, and needs no care."""
        return 1.0 / math.sqrt(self.alpha * self.height) if self.height > 0 else 1.0


@dataclass(frozen=True)
class Proxy:
    """A proxy function; `argmin` is what mirror descent asks of it."""

    code: ClassVar[int]

    def check(self, domain: Domain) -> None:
        """Refuse a set on which V is not a proxy.

        Parameters
        ----------
        domain : Domain
            The set.
        """

    def shape(self, count: int, domain: Domain) -> ProxyShape:
        """The constants for `count` functions.

        Parameters
        ----------
        count : int
            M.
        domain : Domain
            The set of weights.

        Returns
        -------
        ProxyShape
            alpha, height and exponent.
        """
        raise NotImplementedError

    def argmin(self, z: Any, beta: float, domain: Domain | None = None) -> Floats:
        """The theta that minimizes <z, theta> + beta V(theta) over the set.

        Parameters
        ----------
        z : array_like (M,)
            The sum of subgradients.
        beta : float
            The temperature; positive.
        domain : Domain or None, default None
            The set of weights; None: `Simplex()`.

        Returns
        -------
        ndarray (M,)
            theta.
        """
        from anyboost.mirror.proximal import prox

        chosen = Simplex() if domain is None else domain
        self.check(chosen)
        point = checks.column(z, "z")
        theta = np.empty(len(point))
        exponent = self.shape(len(point), chosen).exponent
        prox(self.code, chosen.code, chosen.radius, exponent, point, checks.positive(beta, "beta"), theta)
        return theta


@dataclass(frozen=True)
class Entropy(Proxy):
    """Entropy (8): weights are those of a Gibbs distribution; closed form on every set.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.mirror.Entropy().argmin([0.0, 0.0, 1.0], beta=1.0).round(3)
    array([0.422, 0.422, 0.155])
    """

    code = ENTROPY

    def shape(self, count: int, domain: Domain) -> ProxyShape:
        return ProxyShape(1.0 / domain.radius, domain.radius * math.log(domain.vertices(count)), 0.0)


@dataclass(frozen=True)
class PNorm(Proxy):
    """Half the squared p-norm (35); weights can be exactly zero.

    Parameters
    ----------
    p : float or None, default None
        Above 1 and at most 2; None: min(2, 1 + 1/ln M).

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.mirror.PNorm(2.0).argmin([0.0, 0.0, 5.0], beta=1.0).round(3)
    array([0.5, 0.5, 0. ])
    """

    p: float | None = None
    code = P_NORM

    def __post_init__(self) -> None:
        if self.p is not None and not 1 < checks.real(self.p, "p") <= 2:
            raise ValueError(
                f"p must be above 1 and at most 2, got {self.p}: the norm would not be strongly convex"
            )

    def shape(self, count: int, domain: Domain) -> ProxyShape:
        p = self.p if self.p is not None else 1.0 + min(1.0, _inverse_log(count))
        alpha = (p - 1.0) * count ** (2.0 / p - 2.0) / domain.radius**2
        return ProxyShape(alpha, 0.5, p / (p - 1.0))


@dataclass(frozen=True)
class PowerDivergence(Proxy):
    """A divergence from the uniform weights (36), on the simplex.

    Parameters
    ----------
    s : float or None, default None
        Above 0 and at most 1; None: min(1, 1/ln M).

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.mirror.PowerDivergence(1.0).argmin([0.0, 0.0, 1.0], beta=1.0).round(3)
    array([0.5, 0.5, 0. ])
    """

    s: float | None = None
    code = POWER

    def __post_init__(self) -> None:
        if self.s is not None:
            checks.fraction(self.s, "s", zero=False)

    def check(self, domain: Domain) -> None:
        if not isinstance(domain, Simplex):
            raise ValueError(
                f"PowerDivergence (36) is a divergence of weights on the simplex, got the domain {domain!r}: "
                "use Simplex, or the proxy Entropy or PNorm"
            )

    def shape(self, count: int, domain: Domain) -> ProxyShape:
        s = self.s if self.s is not None else min(1.0, _inverse_log(count))
        height = domain.radius**2 * (1.0 - count**-s) / (s * (s + 1.0))
        return ProxyShape(count**-s, height, s)


def _inverse_log(count: int) -> float:
    return 1.0 / math.log(count) if count > 1 else math.inf


NAMED: dict[str, Callable[..., Proxy]] = {
    "entropy": Entropy,
    "p_norm": PNorm,
    "power_divergence": PowerDivergence,
}


def get(spec: str | Proxy) -> Proxy:
    """A proxy from its name, its parameter after a colon ("p_norm:1.5"); a proxy passes through."""
    return checks.chosen(spec, "proxy", Proxy, NAMED, "Entropy()")
