"""`Tracker`: a changing best, with nothing to tune. Fixed shares of many rates are themselves combined.

weights = sum_k p_k theta_k,     theta_k by FixedShare(rate_k, share_k),     p by SecondOrder over their forecasts
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import Loss
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.combining import Combining
from anyboost.mirror.domains import Domain
from anyboost.mirror.schedules import FixedShare, SecondOrder

RATES = (0.3, 1.0, 3.0, 10.0)
SHARES = (1e-4, 1e-3, 1e-2, 0.05)


class Tracker(Combining):
    """Combine M forecasts of a stream whose best combination changes.

    One `FixedShare` for every pair of a rate and a share, all in running units (no bound to know), and over them a
    `SecondOrder` rule: it pays for not knowing the best pair with about the logarithm of their number.

    Parameters
    ----------
    loss : str or Loss, default "squared"
        As in `MirrorAverager`.
    domain : str or Domain, default "simplex"
        As in `MirrorAverager`.
    rates : sequence of float, default (0.3, 1.0, 3.0, 10.0)
        The rates of the grid.
    shares : sequence of float, default (0.0001, 0.001, 0.01, 0.05)
        The shares of the grid.

    Attributes
    ----------
    weights_ : ndarray (M,)
        The mixture of the parts' weights.
    n_rows_ : float
        The weight of all rows so far.
    n_experts_ : int
        M.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> forecasts = np.tile([0.0, 1.0], (400, 1))
    >>> y = np.repeat([0.0, 1.0], 200)
    >>> int(ab.mirror.Tracker().partial_fit(forecasts, y).weights_.argmax())
    1
    """

    def __init__(
        self,
        loss: str | Loss = "squared",
        domain: str | Domain = "simplex",
        rates: Sequence[float] = RATES,
        shares: Sequence[float] = SHARES,
    ) -> None:
        self.rates, self.shares = tuple(map(float, rates)), tuple(map(float, shares))
        rules = [FixedShare(rate, share) for rate, share in product(self.rates, self.shares)]
        if not rules:
            raise ValueError(f"rates and shares must not be empty, got {rates!r} and {shares!r}")
        self.parts = [
            MirrorAverager(loss, domain=domain, schedule=rule, lipschitz="running") for rule in rules
        ]
        self.over = MirrorAverager(self.parts[0].loss, schedule=SecondOrder(), lipschitz="running")
        self.loss, self.domain = self.parts[0].loss, self.parts[0].domain

    @property
    def weights_(self) -> Floats:
        """(M,): the mixture of the parts' weights."""
        return np.einsum("k,km->m", self.over.weights_, [part.weights_ for part in self.parts])

    @property
    def started(self) -> bool:
        """Whether the number of experts is known."""
        return self.over.started

    @property
    def n_rows_(self) -> float:
        """The weight of all rows so far."""
        return self.over.n_rows_

    @property
    def n_experts_(self) -> int:
        """M."""
        return self.parts[0].n_experts_

    def start(self, n_experts: int) -> "Tracker":
        """Fix the number of experts before the first row.

        Parameters
        ----------
        n_experts : int
            M.

        Returns
        -------
        Tracker
            Itself.
        """
        for part in self.parts:
            part.start(n_experts)
        self.over.start(len(self.parts))
        return self

    def predict_then_fit(self, forecasts: Any, y: Any, sample_weight: Any = None) -> Floats:
        scores = [part.predict_then_fit(forecasts, y, sample_weight) for part in self.parts]
        return self.over.predict_then_fit(np.stack(scores, axis=1), y, sample_weight)

    def predict(self, forecasts: Any) -> Floats:
        """Combined scores; before any row, by equal weights of everything.

        Parameters
        ----------
        forecasts : array_like (n, M) or (n, M, K)
            What each expert says of each row, NaN where it sleeps.

        Returns
        -------
        ndarray (n,) or (n, K)
            Raw scores.
        """
        return self.over.predict(np.stack([part.predict(forecasts) for part in self.parts], axis=1))
