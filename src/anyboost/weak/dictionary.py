"""A fixed set of functions: each column of X, or of a list of functions of X, is a hypothesis.

With k outputs a hypothesis is a column times any vector of k numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from anyboost.backends.arrays import as_scores
from anyboost.space import Space
from anyboost.weak.learner import Learner, Support
from anyboost.weak.projections import Projection

_TIE = 1e-9
Functions = Sequence[Callable[[np.ndarray], np.ndarray]]


@dataclass(frozen=True, eq=False)
class ColumnFunction:
    """x -> (column of the dictionary at x) * vector."""

    column: int
    vector: np.ndarray
    functions: Functions | None = None

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""
        column = X[:, self.column] if self.functions is None else self.functions[self.column](X)
        values = np.asarray(column, dtype=np.float64)[:, None] * self.vector
        return as_scores(values)

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times column at the rows of X; each column is evaluated once."""
        vectors: dict[int, np.ndarray] = {}
        for part, coefficient in zip(parts, coefficients, strict=True):
            vectors[part.column] = vectors.get(part.column, 0.0) + coefficient * part.vector
        for column, vector in vectors.items():
            out += cls(column, vector, parts[0].functions).predict(X).reshape(out.shape)


class _Columns(NamedTuple):
    """The dictionary on a sample: values, and the largest absolute ones."""

    values: np.ndarray
    tops: np.ndarray


@dataclass(frozen=True)
class Dictionary(Learner):
    """A fixed set of functions: the columns of X, or callables.

    Parameters
    ----------
    functions : sequence of callables or None, default None
        Each maps X to one value a row; None: the columns of X.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> powers = ab.weak.Dictionary([lambda X: X[:, 0], lambda X: X[:, 0] ** 2])
    >>> descent = ab.descent.Repeated(1.0)
    >>> run = ab.boost(X, [0.0, 2.0, 6.0], "squared", powers, descent, rounds=20, start=0.0)
    >>> run.steps[-1].loss < 1e-4
    True
    """

    functions: Functions | None = None

    def __post_init__(self) -> None:
        if self.functions is not None:
            object.__setattr__(self, "functions", tuple(self.functions))

    def project(self, space: Space, target: np.ndarray) -> Projection:
        """The column whose ray comes nearest to `target` (projections (3) and (4) agree here).

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection
            h on the sample.
        """
        columns = self._columns(space)
        dots = self._dots(space, target)
        squares = space.once((self, "squares"), lambda space: _squares(space, columns.values))
        squares = np.where(squares > 0, squares, np.inf)
        lengths = np.sqrt((dots * dots).sum(axis=1) / squares)
        if space.features is not None:
            lengths[np.setdiff1d(np.arange(len(lengths)), space.features)] = -1.0
        best = _first_best(lengths)
        vector = np.ones(1) if target.ndim == 1 else dots[best] / squares[best]
        return self._on_sample(space, best, vector, target.shape)

    def extreme(self, space: Space, target: np.ndarray) -> Projection:
        """The atom, a column scaled to |h| <= 1 on the sample times signs, furthest along `target`.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        Projection
            h on the sample.
        """
        dots = self._dots(space, target)
        best = _first_best(self._reach(space, dots))
        top = self._columns(space).tops[best]
        return self._on_sample(space, best, np.sign(dots[best]) / (top or 1.0), target.shape)

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom can reach along `target`. Exact: the dictionary is finite.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Not used: both bounds are exact.

        Returns
        -------
        Support
            Both bounds.
        """
        from anyboost.backends.sums import sum_bits

        value = float(self._reach(space, self._dots(space, target)).max())
        top = float(np.abs(_weighted(space, target)).max(initial=0.0))
        rounding = target.size / space.total * top * 2.0 ** -sum_bits(space.n)
        return Support(value + rounding, value)

    def _columns(self, space: Space) -> _Columns:
        return space.once(self, self._evaluate, of_table=True)

    def _evaluate(self, space: Space) -> _Columns:
        if self.functions is None:
            values = np.asfortranarray(space.X, dtype=np.float64)
        else:
            values = np.empty((space.n, len(self.functions)), order="F")
            for column, function in enumerate(self.functions):
                values[:, column] = function(space.X)
        if not np.all(np.isfinite(values)):
            raise ValueError(
                "X gives a Dictionary non-finite values; use functions that are finite on every row"
            )
        return _Columns(values, np.abs(values).max(axis=0))

    def _dots(self, space: Space, target: np.ndarray) -> np.ndarray:
        from anyboost.backends.dictionary import column_dots

        columns = self._columns(space)
        weighted = _weighted(space, target)
        return column_dots(columns.values, weighted, columns.tops, space.n_threads) / space.total

    def _reach(self, space: Space, dots: np.ndarray) -> np.ndarray:
        tops = self._columns(space).tops
        return np.abs(dots).sum(axis=1) / np.where(tops > 0, tops, np.inf)

    def _on_sample(self, space: Space, column: int, vector: np.ndarray, shape: tuple[int, ...]) -> Projection:
        values = self._columns(space).values[:, column, None] * vector
        return Projection(ColumnFunction(column, vector, self.functions), values.reshape(shape))


def _squares(space: Space, values: np.ndarray) -> np.ndarray:
    """The squared norm of each column."""
    return np.array([space.inner(column, column) for column in values.T])


def _weighted(space: Space, target: np.ndarray) -> np.ndarray:
    rows = target.reshape(space.n, -1)
    return rows if space.mass is None else rows * space.mass[:, None]


def _first_best(lengths: np.ndarray) -> int:
    # Equal within the tie tolerance: the lowest column.
    return int(np.argmax(lengths >= lengths.max() * (1.0 - _TIE)))
