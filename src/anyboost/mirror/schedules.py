"""Schedules: how fast weights may move. beta_i is the temperature after i rows, beta_0 = L/sqrt(alpha height).

| schedule | temperature | predicts with |
|---|---|---|
| `Anytime()` (17)-(18) | beta_0 sqrt(i + 1) | the average (12) |
| `Doubling()` | beta_0 sqrt(2^k), 2^k the next power of two after i: constant in between | the average |
| `KnownHorizon(rows)` (37) | beta_0 sqrt(rows/2), constant | the average |
| `Adaptive()` | sqrt(sum of squared subgradient norms / (alpha height)): no L to know | the average |
| `ExponentiatedGradient(rate)` (23) | L/rate, constant | the last weights |
| `FixedShare(rate, share)` | L/rate, and after each row a share of all weight is dealt out evenly | the last weights |
| `SecondOrder()` | none: a rate for every expert from its own regrets (Wintenberger 2017) | the last weights |

(37) is written with step sizes 1/sqrt(rows); here steps are 1 and the temperature carries the root, which is the
same algorithm. The last three move weights of vertices and go with Entropy only.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from anyboost import checks
from anyboost.backends.few import left_to_right
from anyboost.mirror.proxies import Entropy, Proxy, ProxyShape
from anyboost.mirror.state import ADAPTIVE, ANYTIME, CONSTANT, DOUBLING, SECOND_ORDER, SHARE


@dataclass(frozen=True)
class Schedule:
    """A schedule; `code` is its rule in the kernels, `averages` whether (12) is what it predicts with."""

    code: ClassVar[int]
    averages: ClassVar[bool] = True
    arrays: ClassVar[int] = 1  # of what is remembered for each function, or vertex
    by_vertex: ClassVar[bool] = False

    def check(self, proxy: Proxy) -> None:
        """Refuse a proxy that the rule has no meaning for.

        Parameters
        ----------
        proxy : Proxy
            The proxy.
        """

    def factor(self, shape: ProxyShape) -> float:
        """The temperature in units of what grows with the rows.

        Parameters
        ----------
        shape : ProxyShape
            The proxy's constants.

        Returns
        -------
        float
            The factor.
        """
        return shape.factor

    @property
    def dealt(self) -> float:
        """The share of all weight that is dealt out evenly after each row."""
        return 0.0

    def bound(self, rows: int, lipschitz: float, shape: ProxyShape) -> float:
        """The theorem's bound on the expected excess loss of the forecast for row `rows`; inf where none is proved.

        Parameters
        ----------
        rows : int
            The number of the row.
        lipschitz : float
            L.
        shape : ProxyShape
            The proxy's constants.

        Returns
        -------
        float
            The bound.
        """
        return math.inf


@dataclass(frozen=True)
class Anytime(Schedule):
    """For any number of rows, (17)-(18): excess <= 2 L sqrt(height/alpha) sqrt(t + 1)/t in the mean (Theorem 2).

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(schedule=ab.mirror.Anytime()).start(10)
    >>> averager.bound(100) > averager.bound(1000)
    True
    """

    code = ANYTIME

    def bound(self, rows: int, lipschitz: float, shape: ProxyShape) -> float:
        return 2.0 * lipschitz * math.sqrt(shape.height / shape.alpha) * math.sqrt(rows + 1.0) / rows


@dataclass(frozen=True)
class Doubling(Schedule):
    """Temperatures (17) that change only at powers of two, for dictionaries where a change costs a pass.

    Proposition 3 asks for temperatures that do not fall, so it holds as it is: with b_i = sqrt(2^k) the excess is at
    most L sqrt(height/alpha) (b_t + sum_i 1/(2 b_{i-1}))/t.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(schedule=ab.mirror.Doubling()).start(10)
    >>> averager.bound(100) > averager.bound(1000)
    True
    """

    code = DOUBLING

    def bound(self, rows: int, lipschitz: float, shape: ProxyShape) -> float:
        heat = [math.sqrt(2.0 ** math.ceil(math.log2(i + 1.0))) for i in range(rows + 1)]
        spread = heat[rows] + left_to_right(0.5 / beta for beta in heat[:rows])
        return lipschitz * math.sqrt(shape.height / shape.alpha) * spread / rows


@dataclass(frozen=True)
class KnownHorizon(Schedule):
    """For a number of rows that is known, (37): excess at row t = rows <= L sqrt(2 height/(alpha t)), (38).

    Parameters
    ----------
    rows : int, default 1000
        How many rows there will be.

    Examples
    --------
    >>> import anyboost as ab
    >>> known = ab.mirror.MirrorAverager(schedule=ab.mirror.KnownHorizon(1000)).start(10)
    >>> known.bound(1000) < ab.mirror.MirrorAverager().start(10).bound(1000)
    True
    """

    rows: int = 1000
    code = CONSTANT

    def __post_init__(self) -> None:
        checks.count(self.rows, "rows", least=1)

    def factor(self, shape: ProxyShape) -> float:
        return shape.factor * math.sqrt(self.rows / 2.0)

    def bound(self, rows: int, lipschitz: float, shape: ProxyShape) -> float:
        """Proposition 3 for constant temperature; at `rows` it is (38).

        Parameters
        ----------
        rows : int
            The number of the row.
        lipschitz : float
            L.
        shape : ProxyShape
            The proxy's constants.

        Returns
        -------
        float
            The bound.
        """
        spread = math.sqrt(shape.height / shape.alpha / 2.0)
        return lipschitz * spread * (math.sqrt(self.rows) / rows + 1.0 / math.sqrt(self.rows))


@dataclass(frozen=True)
class Adaptive(Schedule):
    """Temperatures (17) with the sum of squared norms in place of L^2 i: as fast as the subgradients met so far allow.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(schedule=ab.mirror.Adaptive())
    >>> int(averager.partial_fit([[0.0, 1.0]] * 20, [1.0] * 20).weights_.argmax())
    1
    """

    code = ADAPTIVE


class _OfVertices(Schedule):
    averages = False

    def check(self, proxy: Proxy) -> None:
        if not isinstance(proxy, Entropy):
            raise ValueError(
                f"{type(self).__name__} multiplies weights and goes with Entropy only, got the proxy {proxy!r}: "
                "use Entropy(), or the schedule Anytime, KnownHorizon or Adaptive"
            )


@dataclass(frozen=True)
class ExponentiatedGradient(_OfVertices):
    """Exponentiated gradient (23): theta_i proportional to theta_{i-1} exp(-rate u_i/L), without averaging.

    Parameters
    ----------
    rate : float, default 0.1
        How fast weights move; positive.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(schedule=ab.mirror.ExponentiatedGradient(0.5))
    >>> int(averager.partial_fit([[0.0, 1.0]] * 20, [1.0] * 20).weights_.argmax())
    1
    """

    rate: float = 0.1
    code = CONSTANT

    def __post_init__(self) -> None:
        checks.positive(self.rate, "rate")

    def factor(self, shape: ProxyShape) -> float:
        return 1.0 / self.rate


@dataclass(frozen=True)
class FixedShare(_OfVertices):
    """Exponentiated gradient that can follow a changing best: after each row, a share of all weight is dealt evenly.

    The weights are those of the mixture of all sequences of functions in which each row stays with its function
    but for a probability of `share`, and then draws one of all anew (Herbster and Warmuth 1998).

    Parameters
    ----------
    rate : float, default 0.1
        How fast weights move; positive.
    share : float, default 0.01
        The probability of a change, in [0, 1].

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(schedule=ab.mirror.FixedShare(0.5, 0.05))
    >>> int(averager.partial_fit([[0.0, 1.0]] * 40, [1.0] * 20 + [0.0] * 20).weights_.argmax())
    0
    """

    rate: float = 0.1
    share: float = 0.01
    code = SHARE
    by_vertex = True

    def __post_init__(self) -> None:
        checks.positive(self.rate, "rate")
        checks.fraction(self.share, "share")

    def factor(self, shape: ProxyShape) -> float:
        return 1.0 / self.rate

    @property
    def dealt(self) -> float:
        return self.share


@dataclass(frozen=True)
class SecondOrder(_OfVertices):
    """Bernstein online aggregation: a rate for each function from its own regrets, and none to tune.

    Examples
    --------
    >>> import anyboost as ab
    >>> averager = ab.mirror.MirrorAverager(schedule=ab.mirror.SecondOrder())
    >>> int(averager.partial_fit([[0.0, 1.0]] * 20, [1.0] * 20).weights_.argmax())
    1
    """

    code = SECOND_ORDER
    arrays = 3
    by_vertex = True


NAMED: dict[str, Callable[..., Schedule]] = {
    "anytime": Anytime,
    "doubling": Doubling,
    "known_horizon": KnownHorizon,
    "adaptive": Adaptive,
    "exponentiated_gradient": ExponentiatedGradient,
    "fixed_share": FixedShare,
    "second_order": SecondOrder,
}


def get(spec: Any) -> Schedule:
    """A schedule from its name, parameters after a colon ("fixed_share:0.5,0.01"); a schedule passes through."""
    return checks.chosen(spec, "schedule", Schedule, NAMED, "Anytime()")
