"""Boosting of classes: any labels, two of them or many."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import column_or_1d

from anyboost import checks, keywords, tables
from anyboost.estimators.base import BaseBoosting, GroupedBoosting
from anyboost.estimators.by_group import ByGroup
from anyboost.estimators.classes import codes_of, targets_of
from anyboost.estimators.held_out import CV, HeldOut
from anyboost.estimators.probabilities import OfProbabilities, gives_probabilities
from anyboost.estimators.rows import Targets
from anyboost.explain import calibration
from anyboost.fitted import from_one_fit
from anyboost.losses import Loss


class BoostingClassifier(ClassifierMixin, ByGroup, GroupedBoosting):
    """Boosted trees, or any other weak learner, for any convex loss of classes.

    Parameters
    ----------
    loss : str or Loss, default "auto"
        "auto" is "logistic" for two classes and "softmax" for more. Also "hinge", "squared_hinge", "exponential",
        "multiclass_hinge" and losses built on these; "log_loss" and "cross_entropy" are "auto", "binary" and
        "multiclass" are "logistic" and "softmax".
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
    class_weight : mapping, str or None, default None
        Weights by class, times the sample weights. "balanced" gives every class the same total weight.
    calibration : str or None, default None
        How probabilities are learnt from raw scores of rows that were not fitted (five more fits; none, where folds
        find the rounds): "temperature", a scale and a shift of each class; "isotonic", any rising function; None: the
        loss's own, where it has some. With it every loss gives probabilities, and `predict` follows them.
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
    classes_ : ndarray
        The labels of rows of positive weight, sorted.
    calibration_ : Calibration or None
        What makes probabilities of raw scores; None: the loss.
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
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ab.BoostingClassifier(max_iter=20).fit(X, y)
    >>> model.predict(X[:3]), model.score(X, y) > 0.9
    (array([0, 0, 0]), True)
    """

    @keywords.explained
    def __init__(
        self,
        loss: Any = "auto",
        *,
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
        class_weight: Any = None,
        calibration: str | None = None,
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
        self.class_weight = class_weight
        self.calibration = calibration

    @keywords.explained
    @from_one_fit
    def predict(self, X: Any, offset: Any = None) -> np.ndarray:
        """The class of each row.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n,)
            Labels.
        """
        return self._labels(self._raw(X, offset))

    @from_one_fit
    def staged_predict(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """The class of each row after each round.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        iterator of ndarray (n,)
            Labels.
        """
        return (self._labels(scores) for scores in self._staged_raw(X, offset))

    @from_one_fit
    def decision_function(self, X: Any, offset: Any = None) -> np.ndarray:
        """Raw scores: (n,) for two classes, positive for the second; (n, classes) for more.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n,) or (n, classes)
            Raw scores.
        """
        return self._decisions(self._raw(X, offset))

    @from_one_fit
    def staged_decision_function(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """Raw scores after each round.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        iterator of ndarray
            Raw scores, as `decision_function` gives them.
        """
        return (self._decisions(scores) for scores in self._staged_raw(X, offset))

    @OfProbabilities
    @keywords.explained
    @from_one_fit
    def predict_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """The probability of each class, for losses that give probabilities.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n, classes)
            Probabilities, in the order of `classes_`.
        """
        return self._probabilities(self._raw(X, offset))

    @OfProbabilities
    @from_one_fit
    def predict_log_proba(self, X: Any, offset: Any = None) -> np.ndarray:
        """The logarithm of the probability of each class.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        ndarray (n, classes)
            Logarithms, in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, offset))

    @OfProbabilities
    @from_one_fit
    def staged_predict_proba(self, X: Any, offset: Any = None) -> Iterator[np.ndarray]:
        """The probability of each class after each round.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        offset : array_like or None, default None
            Scores to add, row by row.

        Returns
        -------
        iterator of ndarray (n, classes)
            Probabilities.
        """
        return (self._probabilities(scores) for scores in self._staged_raw(X, offset))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if self.calibration_ is not None:
            codes = np.argmax(self._probabilities(scores), axis=1)
        else:
            codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[codes]

    def _response(self, method: str) -> tuple[Callable[[np.ndarray], np.ndarray], bool]:
        checks.choice(method, "response_method", ("auto", "predict_proba", "decision_function"))
        if method == "auto":
            method = "predict_proba" if gives_probabilities(self) else "decision_function"
        if method == "decision_function":
            return self._decisions, True
        two = len(self.classes_) == 2
        return (
            lambda scores: self._probabilities(scores)[:, 1:] if two else self._probabilities(scores),
            False,
        )

    def _decisions(self, scores: np.ndarray) -> np.ndarray:
        return scores[:, 1] - scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 2 else scores

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        if self.calibration_ is not None:
            return self.calibration_.probabilities(calibration.by_class(scores))
        return self.loss_.probabilities(scores)

    def _calibrates_by(self, loss: Loss) -> str | None:
        return None if self.calibration is None else CV

    def _calibrate(self, way: str, loss: Loss, held: HeldOut) -> dict[str, Any]:
        assert self.calibration is not None
        codes = held.y if loss.domain.classes else (held.y > 0).astype(np.intp)
        return {"calibration_": calibration.fit(self.calibration, held.scores, codes, held.weights)}

    def _as_fitted(self, y: Any) -> np.ndarray:
        codes = codes_of(column_or_1d(np.asarray(y), warn=True), self.classes_)
        return codes if self.loss_.domain.classes else 2.0 * codes - 1.0

    def _told(
        self, X: Any, offset: Any, scores: np.ndarray, y: Any, groups: np.ndarray, coverage: float
    ) -> dict[str, np.ndarray]:
        codes = codes_of(np.asarray(y), self.classes_)
        wrong = self._labels(scores) != self.classes_[codes]
        if not gives_probabilities(self):
            return {"error": wrong}
        chances = self._probabilities(scores)
        brier = ((chances - np.eye(len(self.classes_))[codes]) ** 2).sum(axis=1)
        return {"error": wrong, "brier": brier, "sureness": chances.max(axis=1) - ~wrong}

    def _targets(self, y: np.ndarray, sample_weight: np.ndarray | None) -> Targets:
        return targets_of(self.loss, self.class_weight, y, sample_weight)

    def _strata(self, y: np.ndarray) -> np.ndarray | None:
        return y
