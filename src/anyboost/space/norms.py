"""The inner product of L2(P), its norms and means: the same bits for any order of the rows and for any threads."""

import numpy as np

from anyboost.backends.arrays import by_row
from anyboost.trees.rows import Rows

_NOTED = 3  # arrays whose largest value is remembered: a gradient, a target and a curvature


class Norms:
    """Sums under the masses of rows, in the metric of a curvature where there is one."""

    rows: Rows
    mass: np.ndarray | None
    total: float
    kappa: np.ndarray | None = None
    _scales: dict[str, int]
    _largest: list[tuple[np.ndarray, float]]

    def inner(self, f: np.ndarray, g: np.ndarray, less: np.ndarray | None = None) -> float:
        """The pairing <f, g>, or <f, g - less>, in the same bits for any order of the rows and any number of threads.

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.
        g : ndarray (n,) or (n, k)
            Another.
        less : ndarray or None, default None
            What to take off g.

        Returns
        -------
        float
            sum_n w_n f_n g_n.
        """
        if less is None:
            return self._sum("inner", by_row(f), by_row(g))
        return self._sum("inner of a difference", by_row(f), by_row(g), by_row(less))

    def norm(self, f: np.ndarray, kind: str = "norm") -> float:
        """The norm ||f|| = sqrt(<f, f>).

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.
        kind : str, default "norm"
            Norms asked for in turns are quicker under names of their own.

        Returns
        -------
        float
            The norm.
        """
        return self._sum(kind, by_row(f), by_row(f)) ** 0.5

    def square(self, h: np.ndarray) -> float:
        """The squared norm ||h||^2, in the space's metric.

        Parameters
        ----------
        h : ndarray (n,) or (n, k)
            A function on the rows.

        Returns
        -------
        float
            ||h||^2.
        """
        if self.kappa is None:
            return self._sum("square", by_row(h), by_row(h))
        return self._sum("curved square", by_row(h * self.kappa), by_row(h))

    def dual_norm(self, D: np.ndarray) -> float:
        """The norm of a covector: max <D, h> over ||h|| <= 1, which is ||D|| where there is no curvature.

        Parameters
        ----------
        D : ndarray (n,) or (n, k)
            The covector.

        Returns
        -------
        float
            The norm.
        """
        if self.kappa is None:
            return self.norm(D, "norm of D")
        # Where kappa is zero, so is D.
        quotient = np.divide(D, self.kappa, out=np.zeros_like(D), where=self.kappa > 0)
        return self._sum("norm of D", by_row(D), by_row(quotient)) ** 0.5

    def largest(self, f: np.ndarray) -> float:
        """The largest |f_n|; NaN or infinite where any is.

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.

        Returns
        -------
        float
            max_n |f_n|.
        """
        for known, top in self._largest:
            if known is f:
                return top
        from anyboost.backends.sums import largest

        return largest(f, self.rows)

    def know_largest(self, f: np.ndarray, largest: float) -> None:
        """Take note of max |f|, known from the pass that made it; f must not change.

        Parameters
        ----------
        f : ndarray (n,) or (n, k)
            A function on the rows.
        largest : float
            max_n |f_n|.
        """
        self._largest = [(f, largest), *self._largest[: _NOTED - 1]]

    def mean(self, values: np.ndarray) -> float:
        """The weighted mean sum_n w_n values_n.

        Parameters
        ----------
        values : ndarray (n,)
            One value a row.

        Returns
        -------
        float
            The mean.
        """
        return self._sum("mean", by_row(values), None)

    def _sum(self, kind: str, f: np.ndarray, g: np.ndarray | None, less: np.ndarray | None = None) -> float:
        # Sums of one kind tend to keep their scale from round to round, and knowing it saves a pass.
        guess = self._scales.get(kind, 0)
        value, self._scales[kind] = self.rows.dot(f, g, self.mass, guess, less)
        return value / self.total
