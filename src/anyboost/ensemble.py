"""The fitted sum  f = start + sum_m coefficient_m h_m : predict, staged predict, truncate, average."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.backends import threads
from anyboost.backends.arrays import as_scores
from anyboost.backends.pickles import Together, apart, together


@dataclass(eq=False)
class Ensemble:
    """A sum of hypotheses, start + sum of coefficient times hypothesis.

    Parameters
    ----------
    start : ndarray (k,)
        The constant the run began at; 0 where it began at scores given row by row.
    n_features : int
        The columns that it takes.
    needs_offset : bool, default False
        Whether the run began at scores given row by row: `predict` adds them only where passed as `offset`.
    hypotheses : list of Hypothesis, default []
        The terms.
    added : list of float, default []
        With what coefficient each was added.
    rounds : list of int, default []
        The round that added each.
    shrinks : list of float, default []
        The share of f - start that round t took away before it added anything, at t - 1.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> model = ab.boost(X, y, "squared", "stump", ab.descent.Naive(0.5), rounds=2).ensemble
    >>> len(model), model.start, model.predict(X)
    (2, array([1.]), array([0.25, 0.25, 2.5 ]))
    """

    start: np.ndarray
    n_features: int
    needs_offset: bool = False
    hypotheses: list[Any] = field(default_factory=list)
    added: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    shrinks: list[float] = field(default_factory=list)
    _joined: tuple[tuple[int, int], Any] | None = field(default=None, repr=False)  # as it stood at that size

    @property
    def outputs(self) -> int:
        """How many scores a row has."""
        return len(self.start)

    @property
    def n_rounds(self) -> int:
        """How many rounds it has."""
        return len(self.shrinks)

    @property
    def coefficients(self) -> np.ndarray:
        """The coefficients of the hypotheses as the ensemble stands: what was added, shrunk since."""
        kept = 1.0 - np.asarray(self.shrinks, dtype=float)
        later = np.append(np.cumprod(kept[::-1])[::-1], 1.0)  # later[t]: the product over rounds t + 1 ..
        return np.asarray(self.added, dtype=float) * later[np.asarray(self.rounds, dtype=int)]

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self) | {"_joined": None}  # joined again where it is needed: a pickle holds no function
        # Classes of users may be pickled by value, which only their own pickler knows.
        if all(
            type(one).__module__.startswith("anyboost.") and hasattr(one, "join") for one in self.hypotheses
        ):
            state["hypotheses"] = together(self.hypotheses)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        terms = state["hypotheses"]
        vars(self).update(state, hypotheses=apart(terms) if isinstance(terms, Together) else terms)

    def add_round(self, shrink: float, pieces: list[tuple[float, Any]]) -> None:
        """One round: shrink f - start, then add coefficient * hypothesis for each piece.

        Parameters
        ----------
        shrink : float
            The share of f - start to take away.
        pieces : list of (float, Hypothesis)
            Coefficients and hypotheses.
        """
        self.shrinks.append(shrink)
        for coefficient, hypothesis in pieces:
            self.hypotheses.append(hypothesis)
            self.added.append(coefficient)
            self.rounds.append(self.n_rounds)

    def predict(self, X: Any, offset: np.ndarray | None = None, n_threads: int | None = None) -> np.ndarray:
        """Raw scores at the rows of X.

        Parameters
        ----------
        X : array_like (n, d)
            The table.
        offset : ndarray or None, default None
            Scores to add, row by row.
        n_threads : int or None, default None
            None for all cores.

        Returns
        -------
        ndarray (n,) or (n, k)
            Raw scores.
        """
        table, scores = self._begin(X, offset)
        self.add_to(scores, table, n_threads or threads.available())
        return as_scores(scores)

    def add_to(self, scores: np.ndarray, table: np.ndarray, n_threads: int) -> None:
        """Add all but the start to scores at the rows of a table that needs no check, in place.

        Parameters
        ----------
        scores : ndarray (n, k)
            The scores to change.
        table : ndarray (n, d)
            Floats, row by row.
        n_threads : int
            How many threads to use.
        """
        if self.hypotheses:
            self.as_one()(table, scores, n_threads)

    def staged_predict(
        self, X: Any, offset: np.ndarray | None = None, n_threads: int | None = None
    ) -> Iterator[np.ndarray]:
        """Raw scores after each round, from the first to the last.

        Parameters
        ----------
        X : array_like (n, d)
            The table.
        offset : ndarray or None, default None
            Scores to add, row by row.
        n_threads : int or None, default None
            None for all cores.

        Returns
        -------
        iterator of ndarray
            Raw scores, (n,) or (n, k).
        """
        table, start = self._begin(X, offset)
        scores = start.copy()
        for t in range(1, self.n_rounds + 1):
            self.advance(t, table, start, scores, n_threads)
            yield as_scores(scores.copy())

    def advance(
        self, t: int, X: np.ndarray, start: np.ndarray, scores: np.ndarray, n_threads: int | None = None
    ) -> None:
        """Take scores from before round t to after it, in place.

        Parameters
        ----------
        t : int
            The round, from 1 on.
        X : ndarray (n, d)
            The table.
        start : ndarray (n, k)
            The scores at the start.
        scores : ndarray (n, k)
            The scores to change.
        n_threads : int or None, default None
            None for all cores.
        """
        if self.shrinks[t - 1]:
            scores -= self.shrinks[t - 1] * (scores - start)
        part = slice(*np.searchsorted(self.rounds, [t, t + 1]))
        self._combine(X, part, np.asarray(self.added[part]), scores, n_threads)

    def truncate(self, n_rounds: int) -> "Ensemble":
        """The ensemble as it stood after `n_rounds` rounds.

        Parameters
        ----------
        n_rounds : int
            How many rounds to keep.

        Returns
        -------
        Ensemble
            The earlier sum.
        """
        if not 0 <= n_rounds <= self.n_rounds:
            raise ValueError(f"n_rounds must be between 0 and {self.n_rounds}, got {n_rounds!r}")
        end = int(np.searchsorted(self.rounds, n_rounds, side="right"))
        return self._with(self.added[:end], self.shrinks[:n_rounds])

    def averaged(self) -> "Ensemble":
        """The mean of the ensembles before each round, f_0 .. f_{T-1}: what the theorems speak of.

        Returns
        -------
        Ensemble
            The mean.
        """
        total = self.n_rounds
        share = np.zeros(total + 1)  # of what round r adds: the mean over t < T of what is left of it at t
        for r in range(total - 1, 0, -1):
            share[r] = 1 / total + (1 - self.shrinks[r]) * share[r + 1]
        return self._with([c * share[r] for c, r in zip(self.added, self.rounds, strict=True)], [0.0] * total)

    def copy(self) -> "Ensemble":
        """An ensemble of its own, with the same hypotheses.

        Returns
        -------
        Ensemble
            The copy.
        """
        return self._with(self.added[:], self.shrinks[:])

    def _with(self, added: list[float], shrinks: list[float]) -> "Ensemble":
        end = len(added)
        return Ensemble(
            self.start,
            self.n_features,
            self.needs_offset,
            self.hypotheses[:end],
            added,
            self.rounds[:end],
            shrinks,
        )

    def _begin(self, X: Any, offset: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        sparse = hasattr(X, "tocsr") and all(getattr(part, "sparse", False) for part in self.hypotheses)
        table = checks.table(X, "X", n_features=self.n_features, sparse=sparse)
        n = table.shape[0]
        scores = np.empty((n, self.outputs))
        scores[:] = self.start
        if offset is not None:
            offset = np.asarray(offset, dtype=np.float64)
            expected = (n,) if self.outputs == 1 else (n, self.outputs)
            if offset.shape != expected:
                raise ValueError(f"offset must have shape {expected}, got {offset.shape}")
            scores += offset.reshape(scores.shape)
        return table, scores

    def as_one(self) -> Any:
        """The sum of all hypotheses as one function, joined once where their class can.

        Returns
        -------
        callable
            Takes a table, scores to which it adds, in place, and how many threads to use.
        """
        size = len(self.hypotheses), self.n_rounds
        if self._joined is None or self._joined[0] != size:
            sums = [_joined(*part) for part in _by_class(self.hypotheses, self.coefficients)]

            def add(X: np.ndarray, out: np.ndarray, n_threads: int) -> None:
                for one in sums:
                    one(X, out, n_threads)

            self._joined = size, sums[0] if len(sums) == 1 else add
        return self._joined[1]

    def _combine(
        self, X: np.ndarray, part: slice, coefficients: np.ndarray, out: np.ndarray, n_threads: int | None
    ) -> None:
        for kind, hypotheses, own in _by_class(self.hypotheses[part], coefficients):
            kind.combine(hypotheses, own, X, out, n_threads or threads.available())


def _by_class(hypotheses: list[Any], coefficients: np.ndarray) -> list[tuple[Any, list[Any], np.ndarray]]:
    """The terms of a sum, those of one class together, in the order in which classes come."""
    found: dict[type, list[int]] = {}
    for number, hypothesis in enumerate(hypotheses):
        found.setdefault(type(hypothesis), []).append(number)
    return [
        (kind, [hypotheses[number] for number in numbers], coefficients[numbers])
        for kind, numbers in found.items()
    ]


def _joined(kind: Any, parts: list[Any], coefficients: np.ndarray) -> Any:
    if hasattr(kind, "join"):
        return kind.join(parts, coefficients)
    return lambda X, out, n_threads: kind.combine(parts, coefficients, X, out, n_threads)
