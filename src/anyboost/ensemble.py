"""The fitted sum  f = start + sum_m coefficient_m h_m : predict, staged predict, truncate, average."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from anyboost import checks


@dataclass(eq=False)
class Ensemble:
    """A sum of hypotheses; `rounds[m]` is the round that added hypothesis m.

    `start` is the constant the run began at, (k,) or a number. Where the run began at scores given row by
    row, `start` is 0 and `needs_offset` is true: `predict` adds them only where passed as `offset`.
    """

    start: np.ndarray
    n_features: int
    needs_offset: bool = False
    hypotheses: list[Any] = field(default_factory=list)
    coefficients: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    n_rounds: int = 0

    @property
    def outputs(self) -> int:
        return len(self.start)

    def __len__(self) -> int:
        return len(self.hypotheses)

    def add(self, round_number: int, coefficient: float, hypothesis: Any) -> None:
        """Append coefficient * hypothesis, found in the given round."""
        self.hypotheses.append(hypothesis)
        self.coefficients.append(coefficient)
        self.rounds.append(round_number)

    def predict(self, X: Any, offset: np.ndarray | None = None, n_threads: int | None = None) -> np.ndarray:
        """Raw scores at the rows of X, (n,) or (n, k)."""
        table, scores = self._begin(X, offset)
        self._combine(table, slice(None), np.asarray(self.coefficients), scores, n_threads)
        return self._shaped(scores)

    def staged_predict(
        self, X: Any, offset: np.ndarray | None = None, n_threads: int | None = None
    ) -> Iterator[np.ndarray]:
        """Raw scores after each round, from the first to the last."""
        table, scores = self._begin(X, offset)
        ends = np.searchsorted(self.rounds, np.arange(1, self.n_rounds + 1), side="right")
        first = 0
        for end in ends:
            part = slice(first, end)
            self._combine(table, part, np.asarray(self.coefficients[part]), scores, n_threads)
            first = end
            yield self._shaped(scores.copy())

    def advance(self, X: np.ndarray, scores: np.ndarray, first: int, n_threads: int | None = None) -> None:
        """Add hypotheses `first` and later to `scores` (n, k), in place."""
        self._combine(X, slice(first, None), np.asarray(self.coefficients[first:]), scores, n_threads)

    def truncate(self, n_rounds: int) -> "Ensemble":
        """The ensemble as it stood after `n_rounds` rounds."""
        if not 0 <= n_rounds <= self.n_rounds:
            raise ValueError(f"n_rounds must be between 0 and {self.n_rounds}, got {n_rounds!r}")
        end = int(np.searchsorted(self.rounds, n_rounds, side="right"))
        return self._with(self.coefficients[:end], end, n_rounds)

    def averaged(self) -> "Ensemble":
        """The mean of the ensembles before each round, f_0 .. f_{T-1}: what the theorems speak of."""
        total = max(self.n_rounds, 1)
        shares = (self.n_rounds - np.asarray(self.rounds, dtype=float)) / total
        return self._with(
            [c * s for c, s in zip(self.coefficients, shares, strict=True)], None, self.n_rounds
        )

    def copy(self) -> "Ensemble":
        """An ensemble of its own, with the same hypotheses."""
        return self._with(self.coefficients[:], None, self.n_rounds)

    def _with(self, coefficients: list[float], end: int | None, n_rounds: int) -> "Ensemble":
        return Ensemble(
            self.start,
            self.n_features,
            self.needs_offset,
            self.hypotheses[:end],
            coefficients,
            self.rounds[:end],
            n_rounds,
        )

    def _begin(self, X: Any, offset: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        table = checks.table(X, "X", n_features=self.n_features)
        scores = np.empty((len(table), self.outputs))
        scores[:] = self.start
        if offset is not None:
            offset = np.asarray(offset, dtype=np.float64)
            expected = (len(table),) if self.outputs == 1 else (len(table), self.outputs)
            if offset.shape != expected:
                raise ValueError(f"offset must have shape {expected}, got {offset.shape}")
            scores += offset.reshape(scores.shape)
        return table, scores

    def _combine(
        self, X: np.ndarray, part: slice, coefficients: np.ndarray, out: np.ndarray, n_threads: int | None
    ) -> None:
        hypotheses = self.hypotheses[part]
        if hypotheses:
            from anyboost.backends import threads

            type(hypotheses[0]).combine(hypotheses, coefficients, X, out, n_threads or threads.available())

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 0] if self.outputs == 1 else scores
