"""What all learn alike who combine forecasts of a stream: rows in their order, a batch after the other."""

from abc import ABC, abstractmethod
from typing import Any, Self

from anyboost.checks import Floats


class Combining(ABC):
    """Weights of forecasts that learn from rows in their order."""

    @abstractmethod
    def predict_then_fit(self, forecasts: Any, y: Any, sample_weight: Any = None) -> Floats:
        """The scores that were predicted for each row before it was learned from.

        Parameters
        ----------
        forecasts : array_like (n, M) or (n, M, K)
            What each expert says of each row, NaN where it sleeps.
        y : array_like (n,)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        ndarray (n,) or (n, K)
            Raw scores.
        """

    def partial_fit(self, forecasts: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows in their order. Weight 2 is the row twice, weight 0 no row.

        Parameters
        ----------
        forecasts : array_like (n, M) or (n, M, K)
            What each expert says of each row, NaN where it sleeps.
        y : array_like (n,)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        Self
            Itself.
        """
        self.predict_then_fit(forecasts, y, sample_weight)
        return self
