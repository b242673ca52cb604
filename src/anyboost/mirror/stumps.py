"""`StumpAverager`: mirror averaging over every threshold of every feature, as functions of both signs.

    h_{j,c}(x) = +1 where x_j > c, -1 where not;     sum |theta| <= radius, entropy over +h and -h

The paper's Remark 3 recommends such a class: symmetric, simple, and large. There are M = 10^5 or 10^6 of them, and
neither memory nor time is spent on the n x M matrix of their values.
"""

from typing import Any, NamedTuple

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.losses import Loss
from anyboost.mirror import schedules, slopes
from anyboost.mirror.averager import step_weights
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
from anyboost.mirror.state import NUMBERS, AveragerSettings

# All is kept as logarithms but the sums of (12).
NODE = np.dtype(
    [
        ("plus", np.float64),  # log sums of the weights of +h and -h in its subtree
        ("minus", np.float64),
        ("shift", np.float64),  # what waits for its children: to add to `plus` and to take from `minus`
        ("late_plus", np.float64),  # and, for the average, the logarithm of a factor of each sign
        ("late_minus", np.float64),
        ("sum", np.float64),  # of the subtree over the average so far
    ]
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
        self._state: Trees | Arrays | None = None

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
        state = self._started()
        theta, total = state.weights(self.radius)
        mean = (total + theta) / (state.numbers["clock"] + 1.0)
        return self.domain.put_back(mean if self.average else theta)

    @property
    def n_rows_(self) -> float:
        """The weight of all rows so far."""
        return 0.0 if self._state is None else float(self._state.numbers["clock"][0])

    @property
    def memory_(self) -> int:
        """Bytes of all that is kept, which is a multiple of the number of stumps."""
        state = self._started()
        return state.thresholds.nbytes + state.learned.nbytes

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
        if self._state is not None:
            raise ValueError("X cannot start it again: its thresholds are set; make a new StumpAverager")
        self._state = self._fresh(*_dictionary(self._table(X), self.max_thresholds))
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
        weights = step_weights(sample_weight, len(targets))
        if self._state is None:
            self._state = self._fresh(*_dictionary(table, self.max_thresholds))
        scores = np.empty(len(targets))
        self._state.learn(
            table, targets, weights, self._terms, AveragerSettings.of(self, self.n_stumps_), scores
        )
        return scores

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
        state = self._started()
        return _step_functions(self._table(X), state.thresholds, state.starts, self.weights_)

    # ----------------------------------------------------------------------------------------------------------------

    def _fresh(self, thresholds: Floats, starts: np.ndarray) -> "Trees | Arrays":
        """Nothing learned of these stumps."""
        kind = Arrays if isinstance(self.schedule, Anytime | Adaptive) else Trees
        return kind.of(thresholds, starts)

    def _started(self) -> "Trees | Arrays":
        if self._state is None:
            raise AttributeError(
                "the averager has no thresholds yet: call start(X) or partial_fit(X, y) first"
            )
        return self._state

    def _table(self, X: Any) -> Floats:
        width = None if self._state is None else len(self._state.starts) - 2
        table = checks.table(X, "X", width).astype(np.float64)
        constant = np.zeros((len(table), 1))
        return np.ascontiguousarray(np.hstack([table, constant]))


class Trees(NamedTuple):
    """Sorted thresholds of every feature, and what has been learned of them: a tree of sums for each."""

    thresholds: Floats  # feature after feature
    starts: np.ndarray  # of each feature's, and the end
    numbers: np.ndarray  # one record of `NUMBERS`
    roots: np.ndarray  # node numbers
    leaves: np.ndarray  # how many each tree has, a power of two
    nodes: np.ndarray  # records of `NODE`, in heap order, a tree after the other

    @classmethod
    def of(cls, thresholds: Floats, starts: np.ndarray) -> "Trees":
        from anyboost.mirror import stump_learning

        leaves = 2 ** np.ceil(np.log2(np.maximum(np.diff(starts), 1))).astype(np.int64)
        ends = np.cumsum(2 * leaves - 1)
        roots = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        trees = cls(thresholds, starts, np.zeros(1, NUMBERS), roots, leaves, np.empty(ends[-1], NODE))
        stump_learning.plant(trees)
        return trees

    @property
    def learned(self) -> Floats:
        """The nodes, a row of plain numbers each, as model files have them."""
        return self.nodes.view(np.float64).reshape(len(self.nodes), -1)

    def weights(self, radius: float) -> tuple[Floats, Floats]:
        """The weights, and their sum over earlier rows."""
        from anyboost.mirror import stump_learning

        theta, total = np.empty(len(self.thresholds)), np.empty(len(self.thresholds))
        stump_learning.read_all(self, radius, theta, total)
        return theta, total

    def learn(
        self, X: Floats, y: Floats, weights: Floats, terms: Floats, settings: AveragerSettings, scores: Floats
    ) -> None:
        from anyboost.mirror import stump_learning

        walk = stump_learning.Walk.of(self.leaves)
        stump_learning.learn_by_trees(X, y, weights, terms, settings, self, walk, scores)


class Arrays(NamedTuple):
    """The same, with plain arrays."""

    thresholds: Floats
    starts: np.ndarray
    numbers: np.ndarray
    learned: Floats  # (3, M): the dual point, the weights, and their sum over earlier rows
    zeta: Floats  # its rows
    theta: Floats
    total: Floats

    @classmethod
    def of(cls, thresholds: Floats, starts: np.ndarray) -> "Arrays":
        learned = np.zeros((3, len(thresholds)))
        return cls(thresholds, starts, np.zeros(1, NUMBERS), learned, *learned)

    def weights(self, _radius: float) -> tuple[Floats, Floats]:
        return self.theta.copy(), self.total

    def learn(
        self, X: Floats, y: Floats, weights: Floats, terms: Floats, settings: AveragerSettings, scores: Floats
    ) -> None:
        from anyboost.mirror import stump_learning

        stump_learning.learn_by_arrays(X, y, weights, terms, settings, self, scores)


def _dictionary(table: Floats, most: int | None) -> tuple[Floats, np.ndarray]:
    """Midpoints between distinct values of every column, -inf for the constant one at the end; where each begins."""
    columns = [_cuts(table[:, j], most) for j in range(table.shape[1] - 1)] + [np.array([-np.inf])]
    starts = np.concatenate([[0], np.cumsum([len(column) for column in columns])]).astype(np.int64)
    return np.concatenate(columns), starts


def _step_functions(X: Floats, thresholds: Floats, starts: np.ndarray, weights: Floats) -> Floats:
    """The sum of one for every feature: the weights below x less those above."""
    scores = np.zeros(len(X))
    for j in range(X.shape[1]):
        own = slice(starts[j], starts[j + 1])
        below = np.concatenate([[0.0], np.cumsum(weights[own])])
        levels = below - (below[-1] - below)
        known = ~np.isnan(X[:, j])
        scores[known] += levels[np.searchsorted(thresholds[own], X[known, j], side="left")]
    return scores


def _cuts(column: Floats, most: int | None) -> Floats:
    """Midpoints of neighboring distinct values, or an even choice of `most` of them."""
    values = np.unique(column[np.isfinite(column)])
    cuts = values[:-1] + 0.5 * (values[1:] - values[:-1])
    if most is not None and len(cuts) > most:
        cuts = cuts[np.linspace(0, len(cuts) - 1, most).round().astype(np.int64)]
    return cuts
