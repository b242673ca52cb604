"""`StumpAverager`: mirror averaging over every threshold of every feature, as functions of both signs.

    h_{j,c}(x) = +1 where x_j > c, -1 where not;     sum |theta| <= radius, entropy over +h and -h

The paper's Remark 3 recommends such a class: symmetric, simple, and large. There are M = 10^5 or 10^6 of them, and
neither memory nor time is spent on the n x M matrix of their values.
"""

from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses import Loss
from anyboost.mirror import schedules, slopes
from anyboost.mirror.averager import BETA, CLOCK, MOST_WEIGHT, N_NUMBERS
from anyboost.mirror.domains import Octahedron
from anyboost.mirror.proxies import Entropy
from anyboost.mirror.schedules import (
    Adaptive,
    Anytime,
    Doubling,
    ExponentiatedGradient,
    KnownHorizon,
    Schedule,
)


class StumpAverager:
    """Learn a weighted sum of stumps from a stream, row by row, with O(M) memory.

    Thresholds lie between neighboring values of the first table it is given: by `start`, or by the first
    `partial_fit`. A constant is one more stump. A missing value (NaN) silences the stumps of its feature.

    Parameters
    ----------
    loss : str or Loss, default "squared"
        A row-wise loss of one output that compiled code knows, or its name.
    radius : float, default 1.0
        lambda; the sum of all |weights| is at most this, and so is every |prediction|.
    schedule : str or Schedule, default "doubling"
        `Doubling()`, `KnownHorizon(rows)` and `ExponentiatedGradient(rate)` have stretches of constant
        temperature and take O(features log M) a row; `Anytime()` and `Adaptive()` take O(M).
    max_thresholds : int or None, default None
        At most so many for a feature, evenly spread over its sorted values; None: all.
    lipschitz : float, str or None, default None
        As in `MirrorAverager`, with forecasts of size one.
    label_bound : float or None, default None
        What |y| does not exceed.
    average : bool or None, default None
        As in `MirrorAverager`.

    Attributes
    ----------
    weights_ : ndarray (M,)
        Weight of h less weight of -h.
    thresholds_ : ndarray (M,)
        Thresholds, feature after feature; the last one, -inf, is the constant.
    features_ : ndarray (M,)
        The column each threshold is of; the constant's is the number of columns.
    n_stumps_ : int
        M: how many stumps there are, each counted once for both signs.
    n_rows_ : float
        The weight of all rows so far.
    memory_ : int
        Bytes of all that is kept.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> model = ab.mirror.StumpAverager("squared", radius=1.0).partial_fit(X, np.sign(X[:, 0]))
    >>> model.n_stumps_, np.sign(model.predict([[-0.5], [0.5]]))
    (200, array([-1.,  1.]))
    """

    def __init__(
        self,
        loss: str | Loss = "squared",
        radius: float = 1.0,
        schedule: str | Schedule = "doubling",
        *,
        max_thresholds: int | None = None,
        lipschitz: float | str | None = None,
        label_bound: float | None = None,
        average: bool | None = None,
    ) -> None:
        self.loss = slopes.get(loss)
        terms = slopes.terms(self.loss)
        if terms is None or self.loss.vector:
            raise ValueError(
                f"loss must be one of the library's with one output, got {self.loss}: use MirrorAverager for others"
            )
        self._terms = terms
        self.domain, self.proxy, self.schedule = Octahedron(radius), Entropy(), schedules.get(schedule)
        if not isinstance(
            self.schedule, Doubling | KnownHorizon | ExponentiatedGradient | Anytime | Adaptive
        ):
            raise ValueError(f"schedule {self.schedule!r} is not made for stumps: use Doubling()")
        self.radius = self.domain.radius
        if max_thresholds is not None:
            checks.count(max_thresholds, "max_thresholds", least=1)
        self.max_thresholds = max_thresholds
        if lipschitz is not None and label_bound is not None:
            raise ValueError(f"lipschitz is {lipschitz!r} and a bound is given too: leave one of them out")
        self.label_bound = label_bound
        self.lipschitz = self._longest(lipschitz)
        self.average = self.schedule.averages if average is None else bool(average)
        self._forest: Forest | None = None

    def _longest(self, given: float | str | None) -> float:
        """L, or 0 for a running scale: stumps are bounded by one, so L is known unless it grows with the labels."""
        if isinstance(given, str):
            checks.choice(given, "lipschitz", ("running",))
            return 0.0
        if given is not None:
            return checks.positive(given, "lipschitz")
        if self.label_bound is not None:
            bound = checks.positive(self.label_bound, "label_bound")
            return slopes.lipschitz(self.loss, 1.0, bound, self.radius)
        try:
            return slopes.lipschitz(self.loss, 1.0, None, self.radius)
        except ValueError:
            return 1.0

    @property
    def _by_trees(self) -> bool:
        return not isinstance(self.schedule, Anytime | Adaptive)

    # ----------------------------------------------------------------------------------------------------------------

    @property
    def n_stumps_(self) -> int:
        """How many stumps there are, each counted once for both signs."""
        return len(self._started().thresholds)

    @property
    def thresholds_(self) -> Floats:
        """(M,): thresholds, feature after feature; the last one, -inf, is the constant."""
        return self._started().thresholds.copy()

    @property
    def features_(self) -> np.ndarray:
        """(M,): the column each threshold is of; the constant's is the number of columns."""
        return np.repeat(np.arange(len(self._started().starts) - 1), np.diff(self._started().starts))

    @property
    def weights_(self) -> Floats:
        """(M,): weight of h less weight of -h."""
        forest = self._started()
        _, theta, total = forest.gather(self.radius)
        clock = float(forest.numbers[CLOCK])
        return self.domain.put_back((total + theta) / (clock + 1.0) if self.average else theta)

    @property
    def n_rows_(self) -> float:
        """The weight of all rows so far."""
        return 0.0 if self._forest is None else float(self._forest.numbers[CLOCK])

    @property
    def memory_(self) -> int:
        """Bytes of all that is kept, which is a multiple of the number of stumps."""
        forest = self._started()
        learned = (forest._nodes,) if forest.by_trees else forest._arrays
        return sum(part.nbytes for part in (forest.thresholds, *learned))

    def start(self, X: Any) -> "StumpAverager":
        """Take the thresholds from these rows, without learning from them.

        Parameters
        ----------
        X : array_like (n, d)
            The rows.

        Returns
        -------
        StumpAverager
            Itself.
        """
        if self._forest is not None:
            raise ValueError("X cannot start it again: its thresholds are set; make a new StumpAverager")
        self._forest = Forest.of(self._table(X), self.max_thresholds, self._by_trees)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "StumpAverager":
        """Learn from rows in their order. Weight 2 is the row twice, weight 0 no row.

        Parameters
        ----------
        X : array_like (n, d)
            The rows.
        y : array_like (n,)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        StumpAverager
            Itself.
        """
        self.predict_then_fit(X, y, sample_weight)
        return self

    def predict_then_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """The scores that were predicted for each row before it was learned from.

        Parameters
        ----------
        X : array_like (n, d)
            The rows.
        y : array_like (n,)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        ndarray (n,)
            Raw scores.
        """
        targets = self.loss.check(y)
        table = self._table(X)
        if len(table) != len(targets):
            raise ValueError(f"X must have one row for each y, got {len(table)} rows for {len(targets)}")
        weights = checks.sample_weight(sample_weight, len(targets))
        if weights.max() > MOST_WEIGHT:
            raise ValueError(f"sample_weight must be at most {MOST_WEIGHT:g}: divide all weights by a number")
        if self._forest is None:
            self._forest = Forest.of(table, self.max_thresholds, self._by_trees)
        codes = np.array([0, self.domain.code, self.schedule.code, self.average], dtype=np.int64)
        factor = self.schedule.factor(self.proxy.shape(self.n_stumps_, self.domain))
        dials = np.array([self.radius, 0.0, self.lipschitz, factor, 0.0])
        return self._forest.walk(table, targets, weights, self._terms, codes, dials)

    def predict(self, X: Any) -> Floats:
        """Raw scores; before any row, 0.

        Parameters
        ----------
        X : array_like (n, d)
            The rows.

        Returns
        -------
        ndarray (n,)
            Raw scores.
        """
        forest = self._started()
        return forest.predict(self._table(X), self.weights_)

    # ----------------------------------------------------------------------------------------------------------------

    def _started(self) -> "Forest":
        if self._forest is None:
            raise AttributeError(
                "the averager has no thresholds yet: call start(X) or partial_fit(X, y) first"
            )
        return self._forest

    def _table(self, X: Any) -> Floats:
        width = None if self._forest is None else len(self._forest.starts) - 2
        table = checks.table(X, "X", width).astype(np.float64)
        constant = np.zeros((len(table), 1))
        return np.ascontiguousarray(np.hstack([table, constant]))


class Forest:
    """Sorted thresholds of every feature, and what has been learned: trees of sums, or plain arrays."""

    def __init__(self, thresholds: Floats, starts: np.ndarray, by_trees: bool) -> None:
        self.thresholds, self.starts, self.by_trees = thresholds, starts, by_trees
        self.numbers = np.zeros(N_NUMBERS)
        counts = np.diff(starts)
        self.leaves = 2 ** np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
        self.roots = np.concatenate([[0], np.cumsum(2 * self.leaves - 1)[:-1]]).astype(np.int64)
        self.put(np.zeros(len(thresholds)), np.zeros(len(thresholds)), np.zeros(len(thresholds)))

    @classmethod
    def of(cls, table: Floats, most: int | None, by_trees: bool) -> "Forest":
        """Midpoints between the distinct values of every column, and -inf for the constant column at the end."""
        columns = [_cuts(table[:, j], most) for j in range(table.shape[1] - 1)] + [np.array([-np.inf])]
        starts = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
        return cls(np.concatenate(columns), starts, by_trees)

    def put(self, zeta: Floats, theta: Floats, total: Floats) -> None:
        """Set what has been learned."""
        if not self.by_trees:
            self._arrays = zeta, theta, total
            return
        from anyboost.backends import mirror_stumps

        self._nodes = np.empty((int(np.sum(2 * self.leaves - 1)), mirror_stumps.N_COLUMNS))
        mirror_stumps.plant(self.roots, self.leaves, self.starts, zeta, total, self._beta, self._nodes)

    def gather(self, radius: float) -> tuple[Floats, Floats, Floats]:
        """The dual point, the weights and their sum over earlier rows, for every stump."""
        if not self.by_trees:
            return self._arrays
        from anyboost.backends import mirror_stumps

        zeta, theta, total = (np.empty(len(self.thresholds)) for _ in range(3))
        places = (self.roots, self.leaves, self.starts, self._beta, radius)
        mirror_stumps.harvest(*places, self._nodes, zeta, theta, total)
        return zeta, theta, total

    @property
    def _beta(self) -> float:
        return float(self.numbers[BETA]) or 1.0

    def walk(
        self, X: Floats, y: Floats, weights: Floats, terms: Floats, codes: np.ndarray, dials: Floats
    ) -> Floats:
        from anyboost.backends import mirror_stumps

        scores = np.empty(len(y))
        given = (X, y, weights, terms, codes, dials, self.numbers, self.thresholds, self.starts)
        if self.by_trees:
            mirror_stumps.walk_trees(*given, self.roots, self.leaves, self._nodes, scores)
        else:
            mirror_stumps.walk_all(*given, *self._arrays, scores)
        return scores

    def predict(self, X: Floats, weights: Floats) -> Floats:
        """A step function for every feature: the weights below x less those above."""
        scores = np.zeros(len(X))
        for j in range(X.shape[1]):
            own = slice(self.starts[j], self.starts[j + 1])
            below = np.concatenate([[0.0], np.cumsum(weights[own])])
            levels = below - (below[-1] - below)
            known = ~np.isnan(X[:, j])
            scores[known] += levels[np.searchsorted(self.thresholds[own], X[known, j], side="left")]
        return scores


def _cuts(column: Floats, most: int | None) -> Floats:
    """Midpoints of neighboring distinct values, or an even choice of `most` of them."""
    values = np.unique(column[np.isfinite(column)])
    cuts = values[:-1] + 0.5 * (values[1:] - values[:-1])
    if most is not None and len(cuts) > most:
        cuts = cuts[np.linspace(0, len(cuts) - 1, most).round().astype(np.int64)]
    return cuts
