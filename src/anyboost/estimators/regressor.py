"""Boosting of numbers: a mean, a median, quantiles, counts, survival, or several targets at once."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from anyboost import checks, keywords, losses, metrics, tables
from anyboost.boosting import Run
from anyboost.ensemble import Ensemble
from anyboost.estimators import parameters, survival
from anyboost.estimators.base import BaseBoosting, GroupedBoosting
from anyboost.estimators.by_group import ByGroup
from anyboost.estimators.intervals import Intervals, levels_of
from anyboost.estimators.rows import Labelled, Targets, one_column
from anyboost.fitted import from_one_fit
from anyboost.losses import Cox, Multioutput, links


class BoostingRegressor(RegressorMixin, Intervals, ByGroup, GroupedBoosting):
    """Boosted trees, or any other weak learner, for any convex loss of real targets.

    The weights are the measure: a row of weight 2 is that row twice, a row of weight 0 is no row. What is drawn is
    drawn by what rows hold, so that this is true of draws too. "auto" is settled by the loss and the rows; `dials_`
    shows how, and docs/estimators.md states the rules.

    Parameters
    ----------
    loss : str or Loss, default "auto"
        "auto" is "squared". A loss of `anyboost.losses` or its name, its parameter after a colon: "absolute",
        "quantile:0.9", "huber:1.5", "poisson", "gamma", "tweedie:1.5", "cox", "multi_quantile:0.05,0.5,0.95";
        names of other libraries are understood: "squared_error", "mse", "l2", "absolute_error", "mae", "l1", "pinball".
        With a y of several columns, the sum over columns.
    quantile : float or None, default None
        The level of loss="quantile", instead of "quantile:0.9".
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
    conformal : str or None, default "auto"
        How `predict_interval` and `predict_quantiles` are calibrated: "cv" by each row as a model of the others saw
        it, in five folds, which cost five more fits (none, where they find the rounds); "split" by a fifth of the
        rows, which are not fitted; None: not. "auto" is "cv" for "multi_quantile" losses (not for a warm start or a
        preset).
    warm_start : bool, default False
        Whether a second `fit`, on the same data and with a larger `max_iter`, goes on where the first one ended.
        `learning_rate` and the size of trees may change in between.
    early_stopping : bool or str, default "auto"
        Whether to stop when the score on the first validation set gets no better, and to keep the best round. "auto"
        does where `fit` is given such a set; without one, and with `max_iter="auto"`, rows held out find the number
        of rounds, and the fit is to all rows. True holds rows out and does not fit them. False holds out none.
    scoring : str, callable, None or list of them, default "loss"
        What to measure on validation sets; the first decides. A scorer of scikit-learn, "concordance", or None for
        `score`.
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
    conformal_ : Conformal or None
        What intervals are calibrated by.
    event_times_ : ndarray
        The times of events, with the loss "cox".
    baseline_hazard_ : ndarray
        Breslow's cumulative hazard after each of them, with the loss "cox".

    Examples
    --------
    >>> import anyboost as ab
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ab.BoostingRegressor("absolute", max_iter=20, max_leaf_nodes=6).fit(X, y)
    >>> model.predict(X[:5]).shape, model.n_iter_
    ((5,), 20)
    >>> model.score(X, y) > 0.4
    True
    """

    @keywords.explained
    def __init__(
        self,
        loss: Any = "auto",
        *,
        quantile: float | None = None,
        learning_rate: float | str = "auto",
        max_iter: int | str = "auto",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_leaf_weight: float | str = "auto",
        l2_regularization: float | str = "auto",
        max_features: float | str = "auto",
        subsample: float | str = "auto",
        random_thresholds: bool | str = "auto",
        max_bins: int = 255,
        categorical_features: Any = tables.FROM_DTYPE,
        categorical_encoding: str = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        outputs: str = "auto",
        leaf: str = "auto",
        memory: Any = "auto",
        curvature: bool | str = "auto",
        preset: str | None = None,
        learner: Any = None,
        descent: Any = None,
        init: Any = None,
        conformal: str | None = "auto",
        warm_start: bool = False,
        early_stopping: bool | str = "auto",
        scoring: Any = "loss",
        validation_fraction: float | str | None = "auto",
        n_iter_no_change: int | str = "auto",
        tol: float | str = "auto",
        callbacks: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(**keywords.shared(BaseBoosting, locals()))
        self.quantile = quantile
        self.conformal = conformal

    @keywords.explained
    @from_one_fit
    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """Predictions on the scale of y.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n,) or (n, k)
            (n, k) for several targets or quantiles.
        """
        return self._predictions(self._raw(X, offset))

    @from_one_fit
    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """Predictions after each round.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        iterator of ndarray
            Predictions, as `predict` gives them.
        """
        return (self._predictions(scores) for scores in self._staged_raw(X, offset))

    @from_one_fit
    def predict_survival(self, X: Any, times: Any = None, offset: Any = None) -> np.ndarray:
        """The chance to be without an event after each of `times`, from the "cox" loss.

        S(t | x) = exp(-H(t) exp(f(x))), with Breslow's baseline H.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        times : array_like or None, default None
            The times; None: those of the events in training, `event_times_`.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n, times)
            The chances.
        """
        check_is_fitted(self)
        if not isinstance(self.loss_, Cox):
            raise TypeError(f'predict_survival needs hazards, and the loss is {self.loss_}: use loss="cox"')
        asked = self.event_times_ if times is None else checks.column(times, "times")
        return survival.chances(self.event_times_, self.baseline_hazard_, asked, self._raw(X, offset))

    @from_one_fit
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient R^2; for quantiles together minus their loss, for "cox" the concordance.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        y : array_like (n,) or (n, k)
            Targets.
        sample_weight : array_like (n,) or None, default None
            Weights of the rows.

        Returns
        -------
        float
            More is better.
        """
        check_is_fitted(self)
        if isinstance(self.loss_, Cox):
            return metrics.concordance(y, self._raw(X))
        if levels_of(self.loss_) is not None:
            return -self.loss_.value(self._raw(X), y, sample_weight)
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _targets(self, y: np.ndarray, sample_weight: np.ndarray | None) -> Targets:
        spec = parameters.quantile_loss(self.loss, self.quantile)
        loss = parameters.find_loss(spec, "squared")
        if loss.domain.classes or not loss.domain.contains(np.array([0.5, 2.0])).all():
            raise ValueError(
                f"loss {loss} is one of classes, and this is a regressor: use BoostingClassifier"
            )
        y = one_column(y)
        if spec == "huber":
            loss = losses.suited(spec, checks.finite(checks.numbers(y, "y"), "y"), sample_weight)
        if y.ndim == 2 and not isinstance(loss, Multioutput | Cox):
            loss = Multioutput(loss)  # type: ignore[arg-type]

        def encode(values: Any) -> np.ndarray:
            return loss.check(one_column(np.asarray(values)))

        return Targets(loss, encode(y), encode, fitted={"conformal_": None})

    def _as_fitted(self, y: Any) -> np.ndarray:
        return self.loss_.check(one_column(np.asarray(y)))

    def _told(
        self, X: Any, offset: Any, scores: np.ndarray, y: Any, groups: np.ndarray, coverage: float
    ) -> dict[str, np.ndarray]:
        predictions, levels = self._predictions(scores), levels_of(self.loss_)
        targets = np.asarray(y, dtype=np.float64)
        if levels is not None:
            middle = int(np.argmin(np.abs(np.array(levels) - 0.5)))
            told = {"bias": predictions[:, middle] - targets}
        else:
            told = {"bias": (predictions - targets).reshape(len(targets), -1).mean(axis=1)}
        if levels is not None or self.conformal_ is not None:
            own = groups if self.conformal_ is not None and self.conformal_.labels else None
            low, high = self.predict_interval(X, coverage, offset, own).T
            told |= {"coverage": (low <= targets) & (targets <= high), "width": high - low}
        return told

    def _response(self, method: str) -> tuple[Callable[[np.ndarray], np.ndarray], bool]:
        checks.choice(method, "response_method", ("auto", "predict"))
        return self._predictions, self.loss_.link_ == links.IDENTITY

    def _predictions(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(self.loss_.link(scores), dtype=np.float64)

    def _after(self, run: Run, ensemble: Ensemble, rows: Labelled, targets: Targets) -> dict[str, Any]:
        if not isinstance(targets.loss, Cox):
            return {}
        scores = run.scores
        if ensemble.n_rounds < run.ensemble.n_rounds:
            scores = run.state.start + ensemble.predict(np.asarray(rows.X)) - ensemble.start
        times, hazard = survival.hazard_of_all(targets.y, scores, rows.sample_weight)
        return {"event_times_": times, "baseline_hazard_": hazard}
