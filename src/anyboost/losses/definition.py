"""The definition of a loss at one row, (score, target) -> value, slope and curvature, and the same for all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

import numpy as np

from anyboost.backends import definitions
from anyboost.checks import Array, Floats
from anyboost.losses.constants import RowConstants


class RowDefinition(RowConstants):
    """l, its slopes and its curvatures: by `row`, or by methods of a class without one."""

    row: ClassVar[Callable[..., Any] | None] = None
    """The definition at one row, compiled on first use: (f, y, parameter) -> value, slope, curvature.

    For several scores: (f, y, parameter, slopes) -> value, with the slopes filled in. A loss without one overrides
    `values` and `subgradients`, or `both`.
    """
    row_curvatures: ClassVar[Callable[..., Any] | None] = None
    """The same for the curvatures of several scores: (f, y, parameter, curvatures) that fills in the last."""

    @property
    def parameter(self) -> Any:
        """What the definition knows of the loss's parameters: the first one."""
        return next((float(getattr(self, name)) for name in getattr(self, "__dataclass_fields__", ())), 0.0)

    @property
    def number(self) -> int:
        """The place of its definition in the list, by which kernels know it."""
        known = self.row is not None and self.row in definitions.ROWS
        return definitions.ROWS.index(self.row) if known else definitions.OTHER

    @property
    def has_curvature(self) -> bool:
        """Whether its functional has a `curvature`: it has no kinks, and its formula gives one."""
        return not self.kinked and (self.row_curvatures if self.vector else self.row) is not None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "row" not in vars(cls) and {"values", "subgradients", "both"} & set(vars(cls)):
            cls.row = None  # it is of another loss then

    def values(self, scores: Floats, y: Array) -> Floats:
        """The loss of every row, l(scores_n, y_n).

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.

        Returns
        -------
        ndarray (n,)
            The losses.
        """
        return self.both(scores, y)[0]

    def subgradients(self, scores: Floats, y: Array) -> Floats:
        """A subgradient of l in the scores of every row.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.

        Returns
        -------
        ndarray
            The subgradients, shaped like `scores`.
        """
        return self.both(scores, y)[1]

    def both(self, scores: Floats, y: Array) -> tuple[Floats, Floats]:
        """The `values` and the `subgradients`, to the bit; a loss whose two share work does it once.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.

        Returns
        -------
        tuple of (ndarray, ndarray)
            Losses and subgradients.
        """
        compute = self.kernel()
        if compute is None:
            own = type(self)
            if own.values is RowDefinition.values or own.subgradients is RowDefinition.subgradients:
                raise TypeError(
                    f"the loss {self.name} is not defined: give its class `row`, or `values` and `subgradients`"
                )
            return self.values(scores, y), self.subgradients(scores, y)
        scores, y = self._arrays(scores, y)
        values, slopes = np.empty(len(scores)), np.empty(scores.shape)
        compute(scores, y, self.parameter, values, slopes)
        return values, slopes

    def curvatures(self, scores: Floats, y: Array) -> Floats:
        """The curvature of l in the scores of every row, where the loss `has_curvature`.

        It is the second derivative, or that of a parabola above the loss with its value and slope at the score where
        the second derivative would mislead. For several scores the diagonal, or a diagonal above the matrix.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.

        Returns
        -------
        ndarray
            The curvatures, shaped like `scores`.
        """
        compute = self.kernel("curvatures")
        if compute is None:
            raise TypeError(f"the loss {self.name} has no curvature: ask `has_curvature` first")
        scores, y = self._arrays(scores, y)
        found = np.empty(scores.shape)
        compute(scores, y, self.parameter, found)
        return found

    def infima(self, y: Array) -> Floats:
        """What the loss of each row is under for no score.

        Parameters
        ----------
        y : ndarray
            Checked targets.

        Returns
        -------
        ndarray (n,)
            The infima.
        """
        return np.full(len(y), self.infimum)

    def kernel(self, asked: str = "both") -> Callable[..., Any] | None:
        """A compiled loop over rows, where there is one.

        Parameters
        ----------
        asked : str, default "both"
            "both", "curvatures" or a "round" (see `rowwise.over_rows`).

        Returns
        -------
        callable or None
            The loop.
        """
        definition = self.row_curvatures if asked == "curvatures" and self.vector else self.row
        if definition is None or (asked == "curvatures" and not self.has_curvature):
            return None
        from anyboost.backends.rowwise import over_rows

        return cast(Callable[..., Any], over_rows(definition, self.vector, asked))

    def _arrays(self, scores: Any, y: Any) -> tuple[Floats, Array]:
        """As kernels take them: in one layout, so that they are compiled for no other."""
        targets = np.int64 if self.domain.classes else np.float64
        return np.require(scores, np.float64, ["C", "W"]), np.require(y, targets, ["C", "W"])

    def verify(self, scores: Floats, y: Array, mean: float, slopes: Floats) -> None:
        """Raise where what `kernel` computed has no meaning; ours always has.

        Parameters
        ----------
        scores : ndarray (n,) or (n, K)
            Raw scores.
        y : ndarray
            Checked targets.
        mean : float
            The mean loss.
        slopes : ndarray
            The subgradients.
        """
