"""The booster: what its two rules, `algorithms`, share.

A row passes through a chain of learners, and each learns from what the ones before it left; `chain` has the equations.
This module checks what comes in, and hands encoded rows to the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from anyboost import checks, losses
from anyboost.backends import threads
from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss
from anyboost.online import adapters, rows
from anyboost.online.base import CompiledLearner
from anyboost.online.dataframes import like_rows
from anyboost.online.features import Features
from anyboost.online.front import NamedFront, check_targets
from anyboost.online.regret import Regret, needs_sketch
from anyboost.online.rows import Table, one_row
from anyboost.online.settings import compiled_loss
from anyboost.online.state import ChainState, CompiledState, InterpretedState

MODES = ("greedy", "offset", "linear")


class OnlineBooster(NamedFront):
    """What `SpanBooster` and `HullBooster` share: a chain of learners that learns rows in order.

    `hash_bits` may be set before the first example, to hash names into 2**hash_bits columns.

    Parameters
    ----------
    learner : learner of `anyboost.online`, any `OnlineLearner`, or None, default None
        What the chain is made of; None: `LinearLearner()`.
    n_learners : int, default 20
        N, the length of the chain.
    loss : str or Loss, default "squared"
        A row-wise loss or its name. The bound of the theorem needs a smooth one.
    mode : {"greedy", "offset", "linear"}, default "greedy"
        "greedy": each learner fits the loss on top of what the learners before it predict after they have learned the
        row. "offset": on top of what they predicted before it, with a step of its own (supplement C.1). "linear": it
        gets the slope there as a linear loss, as in the theorems; it needs learners that have regret for those.
    output_bound : float or None, default None
        D, the bound on learners' answers; None follows the labels seen so far.
    label_bound : float or None, default None
        Y, the bound on labels; None follows those seen so far. A label beyond it ends the bound on the regret.
    scale : float, default 1.0
        lambda, by which learners' predictions are multiplied, and so the class they compete with (supplement C.2).
    offset_step : float or None, default None
        alpha of mode "offset": learner i fits the loss at y_{i-1} + alpha h. None: the smallest step of the chain.
    start : float or None, default None
        The score y_0 before the first learner; None follows the labels, for squared loss their mean.
    prefix : {"best", "all"}, default "best"
        "best" answers with the prefix of the chain whose loss so far is least, "all" with the whole chain.
    forget : float, default 0.0
        By how much statistics are discounted a row; 0.001 looks about 1000 rows back.
    outputs : int or None, default None
        The number of scores a row, for losses of classes.
    random_state : int, default 0
        Seed of learners that begin at random.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] - 2 * X[:, 1]
    >>> booster = ab.online.HullBooster().partial_fit(X, y)
    >>> bool(np.abs(booster.predict(X) - y).mean() < 0.5)
    True
    """

    _hull = False
    hash_bits: int | None = None
    offset_step: float | None = None  # of boosters that an earlier version has pickled
    features: Features | None = None

    def __init__(
        self,
        learner: Any = None,
        n_learners: int = 20,
        loss: Any = "squared",
        mode: str = "greedy",
        output_bound: float | None = None,
        label_bound: float | None = None,
        *,
        scale: float = 1.0,
        offset_step: float | None = None,
        start: float | None = None,
        prefix: str = "best",
        forget: float = 0.0,
        outputs: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.learner = adapters.get(learner)
        self.n_learners = checks.count(n_learners, "n_learners", least=1)
        self.loss = _rowwise(loss)
        self.mode = checks.choice(mode, "mode", MODES)
        self.offset_step = (
            None if offset_step is None else checks.between(offset_step, "offset_step", 1e-9, 1e9)
        )
        if offset_step is not None and self.mode != "offset":
            raise ValueError(
                f"offset_step belongs to mode 'offset', got {offset_step} with mode {mode!r}: leave it out"
            )
        self.output_bound = None if output_bound is None else checks.positive(output_bound, "output_bound")
        self.label_bound = None if label_bound is None else checks.positive(label_bound, "label_bound")
        self.scale = checks.positive(scale, "scale")
        self.start = None if start is None else checks.real(start, "start")
        self.prefix = checks.choice(prefix, "prefix", ("best", "all"))
        self.forget = checks.fraction(forget, "forget")
        self.outputs = None if outputs is None else checks.count(outputs, "outputs", least=1)
        self.random_state = checks.seed(random_state)
        self.n_features = 0
        self.state: ChainState | None = None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, n_threads: int | None = None) -> Self:
        """Learn rows in order. A batch gives the model of its rows one by one, bit for bit.

        Parameters
        ----------
        X : array_like or sparse matrix (n, d)
            The rows; a sparse matrix may have more columns than those before it.
        y : array_like (n,)
            Their targets.
        sample_weight : array_like (n,) or None, default None
            A row of weight 0 is answered and leaves no trace.
        n_threads : int or None, default None
            None for all cores, of which large batches use a few. The model does not depend on it.

        Returns
        -------
        OnlineBooster
            Itself.
        """
        for _ in self._learn(rows.read(X, self.n_features), y, sample_weight, n_threads):
            pass
        return self

    def progressive_predict(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_threads: int | None = None
    ) -> Floats:
        """Learn like `partial_fit`, and tell each row's score as it was before that row was learned.

        Parameters
        ----------
        X : array_like or sparse matrix (n, d)
            The rows.
        y : array_like (n,)
            Their targets.
        sample_weight : array_like (n,) or None, default None
            Their weights.
        n_threads : int or None, default None
            None for all cores.

        Returns
        -------
        ndarray (n,) or (n, k)
            The scores.
        """
        table = rows.read(X, self.n_features)
        return np.concatenate(list(self._learn(table, y, sample_weight, n_threads)))

    def _learn(
        self, table: Table, y: Any, sample_weight: Any, n_threads: int | None = None
    ) -> Iterator[Floats]:
        """Check all labels, then learn the rows; gives their scores, some thousands at a time."""
        n_threads = checks.workers(n_threads)
        targets = self.loss.check(y)
        if len(targets) != table.n:
            raise ValueError(f"y must have one target a row, got {len(targets)} for {table.n} rows")
        weights = None if sample_weight is None else rows.weights(sample_weight, table.n)
        return self._learn_checked(table, targets, weights, n_threads)

    def _learn_checked(
        self, table: Table, targets: np.ndarray, weights: Floats | None, n_threads: int
    ) -> Iterator[Floats]:
        """The same where nothing is left to check."""
        state, sketches = self._ready(table, targets), needs_sketch(self.loss)
        for part, y_part, w_part in rows.portions(table, targets, weights):
            answers = state.learn(part, y_part, w_part, n_threads)
            if sketches:
                state.sketch.add(y_part, w_part)
            yield answers

    def predict(self, X: Any) -> Floats:
        """Raw scores; 0 before the first row was learned.

        Parameters
        ----------
        X : array_like or sparse matrix (n, d)
            The rows.

        Returns
        -------
        ndarray (n,) or (n, k)
            The scores, of k outputs.
        """
        return self._scores(rows.read(X, self.n_features))

    def regret(self) -> Regret:
        """Cumulative losses so far, in memory that does not grow with the stream.

        Returns
        -------
        Regret
            The losses.
        """
        if self.state is None:
            return Regret(0, 0.0, 0.0, 0.0, 0.0, self.n_learners, None, "no row has been learned")
        return self.state.regret()

    def reset_stage(self, stage: int) -> None:
        """Let one learner of the chain begin again.

        Parameters
        ----------
        stage : int
            Its place, 0 .. n_learners - 1.
        """
        checks.count(stage, "stage", 0, self.n_learners - 1)
        if self.state is not None:
            self.state.reset(stage)

    def steps(self) -> Floats:
        """eta_i of every stage.

        Returns
        -------
        ndarray (n_learners,)
            The steps.
        """
        raise NotImplementedError

    def _ready(self, table: Table, targets: Any) -> ChainState:
        """The state, begun or grown to the table's width."""
        outputs = self._outputs(targets)
        if self.state is None:
            self.state = self._begin(table.width, outputs)
        elif table.width > self.n_features:
            self.state.grow(table.width)
        self.n_features = table.width
        return self.state

    def _outputs(self, targets: Any) -> int:
        if not self.loss.vector:
            return 1
        if self.state is not None:
            return self.loss._fitting_outputs(targets, self.state.outputs)
        return self.loss._fitting_outputs(targets, self.outputs)

    def _begin(self, n_features: int, outputs: int) -> ChainState:
        known = isinstance(self.learner, CompiledLearner) and compiled_loss(self.loss)
        return (CompiledState if known else InterpretedState)(self, n_features, outputs)

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The score of one dict of features.

        Parameters
        ----------
        x : mapping
            Names and values.

        Returns
        -------
        float or ndarray (k,)
            The score, or one an output.
        """
        return self._score_one(x)

    def predict_many(self, X: Any) -> Any:
        """The scores of a data frame or list of dicts.

        Parameters
        ----------
        X : data frame or list of dicts
            The rows.

        Returns
        -------
        Series or ndarray
            The scores: a series where X is a data frame.
        """
        scores = self._score_many(X)
        return like_rows(X, scores, "score") if scores.ndim == 1 else scores

    def _named(self) -> Features:
        if self.features is None:
            if self.state is not None:
                raise ValueError(
                    "this booster has learnt from arrays, whose columns have no names: use partial_fit and predict"
                )
            self.features = Features(self.hash_bits)
        return self.features

    def _check_targets(self, y: np.ndarray, w: Any, n_rows: int) -> None:
        check_targets(self.loss, y, w, n_rows)

    def _rows_begun(self) -> int:
        return 0 if self.state is None else self.state.rows

    def _learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, y: Any, w: float) -> Any:
        """Learn one encoded row; returns its score from before."""
        if width == self.n_features and self.state is not None:
            answer = self.state.learn_one(columns, values, y, w)
            if answer is not None:
                return answer
        return self._learn_rows(one_row(columns, values, width), np.array([y]), [w])[0]

    def _learn_rows(self, table: Table, y: np.ndarray, w: Any) -> Floats:
        """Learn encoded rows; returns their scores from before."""
        wide = rows.check_finite(table)._replace(width=max(table.width, self.n_features))
        return np.concatenate(list(self._learn(wide, y, w)))

    def _learn_checked_rows(self, table: Table, targets: np.ndarray, weights: Floats) -> Floats:
        """The same where another has checked rows, targets and weights."""
        wide = table._replace(width=max(table.width, self.n_features))
        return np.concatenate(list(self._learn_checked(wide, targets, weights, threads.available())))

    def _score_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> Any:
        if self.state is not None and width <= self.n_features:  # no column lies beyond the arrays
            answer = self.state.predict_one(columns, values)
            if answer is not None:
                return answer
        return self._score_rows(one_row(columns, values, width))[0]

    def _score_rows(self, table: Table) -> Floats:
        """The scores of encoded rows."""
        return self._scores(rows.check_finite(table))

    def _scores(self, table: Table) -> Floats:
        """The scores of checked rows."""
        if self.state is None:
            return np.zeros(table.n if not self.loss.vector else (table.n, self.outputs or 1))
        return self.state.predict(table.within(self.n_features))


def _rowwise(loss: Any) -> RowwiseLoss:
    found = losses.get(loss)
    if not isinstance(found, RowwiseLoss):
        raise ValueError(
            f"loss must be row-wise, got {found}: rows of a stream come one by one, and this loss couples them"
        )
    return found
