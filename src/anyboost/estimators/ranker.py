"""Boosting of rankings: which rows of a query are to come first."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from anyboost import keywords, metrics
from anyboost.boosting import Run
from anyboost.draws import labels_held_out
from anyboost.estimators import parameters
from anyboost.estimators.base import BaseBoosting
from anyboost.estimators.callbacks import with_callbacks
from anyboost.estimators.rows import Labelled, Targets, one_column
from anyboost.estimators.sets import named_sets
from anyboost.fitted import from_one_fit
from anyboost.trees.parts import distinct


class BoostingRanker(BaseBoosting):
    """Boosted trees, or any other weak learner, for the order of rows within queries.

    Parameters
    ----------
    loss : str or Loss, default "auto"
        "auto" is "rank_logistic". Also "rank_hinge", or another loss that uses queries.
    learning_rate : float or str, default "auto"
        The size of a step.
    max_iter : int or str, default "auto"
        The number of rounds, one tree each; at most so many, where the fit stops early. "auto" finds it (see
        `early_stopping`).
    max_leaf_nodes : int or None, default 31
        The most leaves of a tree; None: any number.
    max_depth : int or None, default None
        The most questions above a leaf; None: any number.
    min_leaf_weight : float or str, default "auto"
        The least total weight of a leaf; with weights of one, the least number of rows.
    l2_regularization : float or str, default "auto"
        What is added to the weight of a leaf, so that its value is smaller.
    max_features : float or str, default "auto"
        The share of columns that each node may be cut along, drawn anew; with a `learner` of your own, each round.
    subsample : float or str, default "auto"
        The share of rows each tree is fitted on, drawn by what they hold, whatever their order; a row of whole weight m
        is drawn as m rows.
    random_thresholds : bool or str, default "auto"
        Whether each node sees one threshold of every column, drawn anew, in place of all; columns of few values and
        categories keep all.
    max_bins : int, default 255
        Most bins a column, 2 to 255.
    categorical_features : str, list of columns or None, default "from_dtype"
        Which columns hold categories. "from_dtype": those that a data frame says are categories or text.
    categorical_encoding : str, default "auto"
        What becomes of categories: "subset", a cut parts any levels from the others, of which 254 are told apart;
        "target", a level becomes a number, what the targets of other rows of it are like. "auto" is "target" for
        columns of more than 254 levels, and "subset" for others.
    monotonic_cst : list, mapping or None, default None
        For each column 1 where predictions must not fall along it, -1 where they must not rise, 0 elsewhere; a mapping
        has them by column.
    interaction_cst : str, list of sets of columns or None, default None
        Which columns may meet on one path of a tree: "no_interactions", "pairwise" or sets.
    outputs : str, default "auto"
        For several scores a row: "joint" is one tree with a vector in each leaf, "each" one tree an output in each
        round.
    leaf : str, default "auto"
        Leaf values: "mean" is the mean gradient, "exact" the step that minimizes the loss in the leaf, "linear" the
        mean and slopes along the columns of numbers that lead to the leaf; "auto" is never "linear".
    memory : float or str, default "auto"
        How much of what a tree missed of the gradient is carried into the next round, in [0, 1].
    curvature : bool or str, default "auto"
        Whether trees are fitted in the metric of the loss's curvature, as Newton's method does. "auto" does where the
        loss has one and leaves are not "exact".
    preset : str or None, default None
        "paper": what is "auto" is as in the papers, first-order steps and no rows held out.
    learner : str, Learner, estimator or None, default None
        Anything of `anyboost.weak`, such as "linear" or "net", or a scikit-learn estimator, instead of a tree with the
        parameters above.
    descent : str, Descent or None, default None
        Anything of `anyboost.descent` instead of steps by `learning_rate` and `memory`.
    init : float, estimator or None, default None
        Where scores start: None is the best constant; a number; or the predictions of an estimator that is fitted
        first, on the training rows of the table as it is given.
    warm_start : bool, default False
        Whether a second `fit`, on the same data and with a larger `max_iter`, goes on where the first one ended.
        `learning_rate` and the size of trees may change in between.
    early_stopping : bool or str, default "auto"
        Whether to stop when the score on the first validation set gets no better, and to keep the best round. "auto"
        does where `fit` is given such a set; without one, and with `max_iter="auto"`, rows held out find the number
        of rounds, and the fit is to all rows. True holds rows out and does not fit them. False holds out none.
    scoring : str, callable, None or list of them, default "loss"
        What to measure on validation sets; the first decides. "ndcg", "map" (with "@10" where only ten ranks count),
        "disagreement", or None for `score`; see `anyboost.metrics` for how a query without a relevant row counts.
    validation_fraction : float, str or None, default "auto"
        The share of rows to hold out for early stopping, where `fit` is given no validation set: of each class, or of
        queries; drawn as for `subsample`. None: hold out none, and stop by the score on the training rows.
    n_iter_no_change : int or str, default "auto"
        How many rounds may pass without a better score before the fit stops.
    tol : float or str, default "auto"
        By how much a score has to be better than the best before it; "auto": by 1e-5 of the score at the start.
    callbacks : list or None, default None
        Functions of (step, run) called after each round, such as `anyboost.Checkpoint`; a true answer stops the fit.
        `step.valid_loss` is the loss on the first validation set, where there is one. scikit-learn's own callbacks are
        set by `set_callbacks`.
    verbose : int, default 0
        1: print what is being fitted, the round, losses and the time left, in lines that become rarer; more: a line
        every so many rounds; 0: none.
    n_jobs : int or None, default None
        How many threads; -1 for all cores, None for as many of them as OMP_NUM_THREADS allows. The model does not
        depend on it.
    random_state : int, RandomState or None, default None
        Seed of what is drawn: rows, columns, rows held out. None is 0: the same fit twice is the same model.

    Attributes
    ----------
    ensemble_ : Ensemble
        The fitted sum.
    dials_ : dict
        What each dial was, "auto" ones included, by name.
    feature_importances_ : ndarray (n_features,)
        What the cuts of each column gained, as shares of one: `importances()`.
    norm_ : float
        The size of the model, the sum of |c| max|h| over its terms: the radius of `floor()` and `gap()`.
    steps_ : list of Step
        One record a round: loss, edge, step size, seconds, and `valid_loss`, the loss on the first validation set.
    n_iter_ : int
        Rounds run.
    best_iteration_ : int
        The round with the best score on the first validation set; without one, the last.
    train_score_ : ndarray (n_iter_ + 1,)
        Minus the training loss, at the start and after each round.
    validation_score_ : ndarray
        The score that decides, at the start and after each round; empty without a validation set. Of rows that were
        held out to find the number of rounds, and fitted then, it is the score before (a mean, of folds).
    validation_scores_ : dict
        By name of set and of score: its values at the start and after each round, as they are.
    is_categorical_ : ndarray of bool or None
        Which columns hold categories; None where none does.
    loss_ : Loss
        What was minimized.
    init_ : estimator
        The fitted `init`, where that is an estimator.
    n_features_in_ : int
        The columns of X.
    feature_names_in_ : ndarray of str
        Their names, where X has them.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y, query = (X[:, 0] > 0).astype(int), np.repeat(np.arange(10), 6)
    >>> model = ab.BoostingRanker(max_iter=10).fit(X, y, qid=query)
    >>> round(model.score(X, y, qid=query), 2)
    1.0
    """

    _groups_name = "qid"

    @keywords.explained
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        qid_val: Any = None,
        sample_weight_val: Any = None,
        valid: Mapping[str, Any] | tuple[Any, Any] | None = None,
        resume: Run | None = None,
    ) -> Self:
        """Fit to a table, the grades of its rows (more is better) and the query each belongs to.

        Parameters
        ----------
        X : table (n, d), sparse matrix or Binned
            A data frame or an array, NaN where missing; a sparse matrix, for learners that take one; or
            `Binned.from_parquet(...)`, which brings grades, queries and weights.
        y : array_like (n,) or None, default None
            Grades; None for those of the files.
        qid : array_like (n,) or None, default None
            The query of each row; None for those of the files. Without files it must be given.
        sample_weight : array_like (n,) or None, default None
            The measure.
        offset : array_like or None, default None
            Scores to start from, row by row; `predict` adds them only where given them again.
        X_val : table or None, default None
            The table of a validation set.
        y_val : array_like or None, default None
            Its grades.
        qid_val : array_like or None, default None
            Its queries; X_val must have them.
        sample_weight_val : array_like or None, default None
            Its weights.
        valid : tuple, mapping or None, default None
            (X, y), or several by name, each (X, y) or a mapping with "X", "y", "sample_weight", "qid", "offset".
        resume : Run or None, default None
            The run of a `Checkpoint` of this same fit, to go on from.

        Returns
        -------
        BoostingRanker
            Itself.
        """
        sets = named_sets(X_val, y_val, sample_weight_val, valid, qid=qid_val)
        return self._fit(X, y, sample_weight, qid, offset, sets, resume)

    @keywords.explained
    @from_one_fit
    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Scores: a row with a higher one comes before others of its query.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n,)
            Scores.
        """
        return self._raw(X, offset)

    @from_one_fit
    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """Scores after each round.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        iterator of ndarray (n,)
            Scores.
        """
        return self._staged_raw(X, offset)

    @from_one_fit
    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """The mean NDCG of the queries; those without a relevant row are left out.

        In a search or a cross-validation `qid` comes by metadata routing, `set_score_request(qid=True)`.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        y : array_like (n,)
            Grades.
        qid : array_like (n,) or None, default None
            The query of each row. It must be given: taking all rows for one query would be another score without a
            word.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows: a query counts by the mean of its rows'.

        Returns
        -------
        float
            The mean, 1 at best.
        """
        if qid is None:
            raise ValueError(
                "qid must be given to score a ranking: pass score(X, y, qid=...), all equal for one query, and in a "
                "cross-validation ask for it by set_score_request(qid=True)"
            )
        return metrics.ndcg(y, self._raw(X), qid, sample_weight=sample_weight)

    def _targets(self, y: np.ndarray, sample_weight: np.ndarray | None) -> Targets:
        loss = parameters.find_loss(self.loss, "rank_logistic")
        if not loss.uses_groups or loss.vector:
            raise ValueError(
                f'loss {loss} does not rank rows of a query: use "rank_logistic" or "rank_hinge"'
            )

        def encode(values: Any) -> np.ndarray:
            return loss.check(one_column(np.asarray(values)))

        return Targets(loss, encode(y), encode)

    def _count_parts(self, rows: Labelled, units: int) -> int:
        return 1 if rows.groups is None else len(distinct(rows.groups)[0])

    def _splits(
        self, rows: Labelled, y: np.ndarray, folds: int, share: float | None, seed: int
    ) -> Iterator[tuple[Labelled, Labelled]]:
        if self._count_parts(rows, 0) < 2:
            raise ValueError(
                "early_stopping needs two queries or more to split: pass qid, or X_val and y_val"
            )
        assert share is not None
        assert rows.groups is not None
        held_out = labels_held_out(seed, rows.groups, float(share))
        yield rows.take(np.flatnonzero(~held_out), self._lends), rows.take(np.flatnonzero(held_out))
