"""What the three estimators share: parameters in, a table and targets to `boost`, a fitted sum out.

A fit works on values of its own and puts all fitted attributes in place at its end (`fitted`), so that a fit that
fails leaves the estimator as it was, and others can predict meanwhile.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from anyboost import checks, keywords, tables
from anyboost.boosting import Run
from anyboost.draws import Units, unit_counts
from anyboost.ensemble import Ensemble
from anyboost.estimators import marginals, parameters, reading
from anyboost.estimators.callbacks import CallbackSupportMixin, Rounds, with_callbacks
from anyboost.estimators.certified import Certified
from anyboost.estimators.dials import FOLDS, Circumstances, Dials, choose
from anyboost.estimators.explained import Explained
from anyboost.estimators.fitting import Fitting, without_sample
from anyboost.estimators.held_out import CV, SHARE, SPLIT, FoldRun, HeldOut, held_out
from anyboost.estimators.progress import Progress, print_line
from anyboost.estimators.rounds import Sets, fit_parts, search
from anyboost.estimators.rows import Labelled, Targets
from anyboost.estimators.sets import named_sets
from anyboost.fitted import put_in_place
from anyboost.losses import Loss
from anyboost.trees.parts import alone, circle, rows_of, total
from anyboost.watching import Monitor


class BaseBoosting(CallbackSupportMixin, Explained, Certified, BaseEstimator):
    """Parameters and machinery of the boosting estimators."""

    _groups_name = "groups"  # what `fit` calls the labels that tie rows together

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in keywords.ATTRIBUTES]

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
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_leaf_weight = min_leaf_weight
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.random_thresholds = random_thresholds
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_encoding = categorical_encoding
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.outputs = outputs
        self.leaf = leaf
        self.memory = memory
        self.curvature = curvature
        self.preset = preset
        self.learner = learner
        self.descent = descent
        self.init = init
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    @abstractmethod
    def _targets(self, y: Any, sample_weight: np.ndarray | None) -> Targets:
        """The loss and the targets it takes, from what the user calls y."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; names of other libraries are answered with ours.

        Parameters
        ----------
        **params : Any
            Values by name.

        Returns
        -------
        BaseBoosting
            Itself.
        """
        known = self.get_params()
        for name in params:
            if name not in known and name in keywords.OURS:
                raise ValueError(keywords.refusal(name, type(self).__name__, known))
        return super().set_params(**params)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        able = parameters.abilities(self)
        tags.input_tags.allow_nan, tags.input_tags.sparse = able.missing, able.sparse
        tags.target_tags.required = True
        return tags

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        offset: Any,
        valid: Mapping[str, Any],
        resume: Run | None,
    ) -> Self:
        rows, targets, given = reading.read(self, X, y, sample_weight, groups, offset, valid, resume)
        sets, seed, earlier = given.sets, given.seed, given.earlier
        way, apart = self._calibrates_by(targets.loss), None
        if way == SPLIT:
            ((rows, apart),) = self._splits(rows, targets.y, 1, SHARE, seed)
            targets = self._targets(rows.y, rows.sample_weight)
        dials = self._dials(rows, targets, bool(sets))
        if way == CV and dials.folds:
            dials = dials._replace(folds=FOLDS)
        self._check_rounds(dials, earlier)
        progress = self._progress(dials)
        begin, found = partial(given.begin, self, progress), None
        if dials.folds:
            tries = [dials._replace(min_leaf_weight=least) for least in dials.leaves] or [dials]
            fits = [fit_parts(self._parts(rows, targets, seed, one), one, seed, begin) for one in tries]
            first = [next(each) for each in fits]
            best = max(range(len(tries)), key=lambda number: first[number][0].patience.best_score)
            found = search([first[best], *fits[best]])
            dials = tries[best]._replace(max_iter=found.rounds, early_stopping=False)
            self._tell_rounds(progress, found.rounds)
        elif dials.early_stopping and not sets:
            rows, targets, sets = self._held_out(rows, targets, seed, dials)
        shown = self._shown(dials)
        if self.verbose:
            print(f"dials: {', '.join(f'{name} {value}' for name, value in shown.items())}", flush=True)
        fitting, monitor = begin(dials, rows, targets, sets)
        fitted = given.fitted | {"loss_": targets.loss, "dials_": shown} | targets.fitted | fitting.fitted
        if earlier is not None and resume is None:
            earlier = fitting.go_on(earlier)
        narration = Rounds(
            self,
            dials.max_iter - (0 if earlier is None else len(earlier.steps)),
            {"X": X, "y": y, "metadata": {} if sample_weight is None else {"sample_weight": sample_weight}},
            lambda run: fitted | self._attributes(run, monitor, fitting),
        )
        run = fitting.boost(seed, monitor, earlier, narration)
        if progress is not None:
            progress.end()
        fitted |= self._attributes(run, monitor, fitting)
        fitted["_certificate"] = fitting.certificate(run, fitted["ensemble_"].n_rounds)
        if found is not None:
            fitted |= {"validation_scores_": found.values, "validation_score_": found.scores}
        fitted |= self._after(run, fitted["ensemble_"], fitting.rows, fitting.targets)
        if way is not None:
            rounds = fitted["ensemble_"].n_rounds
            if apart is not None:
                parts = [FoldRun(targets, run, fitting.watched("apart", apart, False))]
            else:
                still = dials._replace(max_iter=rounds, early_stopping=False, folds=FOLDS)
                so_far = repeat(None) if found is None else [part.run for part in found.parts]
                folds = fit_parts(self._parts(rows, targets, seed, still), still, seed, begin, so_far)
                parts = [part for _, part in folds]
            fitted |= self._calibrate(way, targets.loss, held_out(parts, rounds, fitting.n_threads))
        fitted["_marginals"] = marginals.measured(fitting, given.columns, fitted["ensemble_"])
        fitted["_continuation"] = (without_sample(run), seed) if self.warm_start else None
        put_in_place(self, fitted)
        narration.end(run)
        return self

    def _dials(self, rows: Labelled, targets: Targets, has_valid: bool) -> Dials:
        """Every dial of the fit."""
        everyone = circle()
        units, unit_weight = rows.X.shape[0], 1.0
        if rows.sample_weight is None:
            units = int(everyone.add(units))
        else:
            own = unit_counts(rows.sample_weight, rows_of(units))
            units = int(everyone.add(own.sum()))
            unit_weight = total(rows.sample_weight) / units
        loss = targets.loss
        outputs = loss.outputs(loss.check(targets.y))
        parts, reweighted = self._count_parts(rows, units), targets.factors is not None
        columns = rows.X.shape[1]
        given = Circumstances(loss, outputs, units, unit_weight, reweighted, has_valid, columns, parts)
        return choose(self, given)

    def _count_parts(self, rows: Labelled, units: int) -> int:
        """Into how many parts the rows may be parted."""
        return units

    def _progress(self, dials: Dials) -> Progress | None:
        """What tells of rounds, where they are wanted; callbacks that do so learn what is coming."""
        own = Progress(print_line, int(self.verbose) if self.verbose > 1 else None) if self.verbose else None
        stops = dials.early_stopping and isinstance(self.max_iter, str)
        for one in (own, *(self.callbacks or ())):
            if isinstance(one, Progress):
                one.plan(None if stops else dials.max_iter, dials.folds + max(0, len(dials.leaves) - 1))
        return own

    def _tell_rounds(self, progress: Progress | None, rounds: int) -> None:
        """Have those that tell of rounds know how many there will be."""
        for one in (progress, *(self.callbacks or ())):
            if isinstance(one, Progress):
                one.rounds = rounds

    def _shown(self, dials: Dials) -> dict[str, Any]:
        """The dials as a fitted estimator has them: those that had a say."""
        unsaid = {"folds", "leaves"}
        if self.learner is not None:
            unsaid |= set(parameters.TREE)
        if self.descent is not None:
            unsaid |= set(parameters.STEP)
        return {name: value for name, value in dials._asdict().items() if name not in unsaid}

    def _check_rounds(self, dials: Dials, earlier: Run | None) -> None:
        if earlier is not None and self.warm_start and len(earlier.steps) > dials.max_iter:
            raise ValueError(
                f"max_iter counts from the first round: the warm start has {len(earlier.steps)}, got {dials.max_iter}"
            )

    def _held_out(
        self, rows: Labelled, targets: Targets, seed: int, dials: Dials
    ) -> tuple[Labelled, Targets, Sets]:
        """Rows to train on, and those that say when to stop: a share that is held out, or all of them."""
        if dials.validation_fraction is None:
            return rows, targets, [("train", rows)]
        return next(self._parts(rows, targets, seed, dials._replace(folds=1)))

    def _parts(
        self, rows: Labelled, targets: Targets, seed: int, dials: Dials
    ) -> Iterator[tuple[Labelled, Targets, Sets]]:
        """Rows to train on and to watch, for each fold."""
        for kept, watched in self._splits(rows, targets.y, dials.folds, dials.validation_fraction, seed):
            if not hasattr(self.init, "fit"):
                kept = replace(kept, given=None)  # a scorer is shown the rows held out, and nobody the others
            yield kept, self._targets(kept.y, kept.sample_weight), [("valid", watched)]

    def _splits(
        self, rows: Labelled, y: np.ndarray, folds: int, share: float | None, seed: int
    ) -> Iterator[tuple[Labelled, Labelled]]:
        """Rows to train on and to watch, drawn by what they hold; a row of weight 2 may be one of each."""
        n_threads = checks.n_threads(self.n_jobs)
        units = Units(seed, rows.X, y, rows.sample_weight, rows.groups, rows.offset, n_threads)
        if folds > 1:
            parts = units.folds(folds, self._strata(y))
        else:
            assert share is not None
            parts = units.held_out(float(share), self._strata(y))[None]
        if not circle().most(parts.any(axis=1)).all():
            raise ValueError(
                f"early_stopping needs two rows or more to split, two of one class, got n_samples={rows.X.shape[0]}: "
                "pass X_val and y_val, or turn it off"
            )
        for watched in parts:
            yield rows.part(units, units.counts - watched, self._lends), rows.part(units, watched)

    @property
    def _lends(self) -> bool:
        """Whether a fit to some rows needs no table of them: trees look at bins, but for linear leaves."""
        return self.learner is None and self.leaf != "linear" and alone()

    def _strata(self, y: np.ndarray) -> np.ndarray | None:
        """What each part must have its share of."""
        return None

    def _attributes(self, run: Run, monitor: Monitor | None, fitting: Fitting) -> dict[str, Any]:
        """The fitted attributes that a run gives."""
        rounds = len(run.steps)
        best, kept, ensemble = rounds, rounds, run.ensemble
        fitted: dict[str, Any] = {"validation_scores_": {}, "validation_score_": np.array([])}
        watched: list[float | None] = [None] * rounds
        if monitor is not None:
            monitor.follow(ensemble)
            best, watched = monitor.patience.best_round, [*monitor.sets[0].losses[1:]]
            kept = rounds if monitor.patience.rounds is None else best
            fitted["validation_scores_"] = {
                name: {measure: np.array(values) for measure, values in found.items()}
                for name, found in monitor.history.items()
            }
            fitted["validation_score_"] = np.array(monitor.scores)
        return fitted | {
            "ensemble_": fitting.model(ensemble, kept),
            "steps_": [step._replace(valid_loss=loss) for step, loss in zip(run.steps, watched, strict=True)],
            "n_iter_": rounds,
            "best_iteration_": best,
            "train_score_": -np.array([run.start_loss, *(step.loss for step in run.steps)]),
        }

    def _calibrates_by(self, loss: Loss) -> str | None:
        """Which rows, not fitted, an estimator learns from how far off its model is: "cv", "split" or None."""
        return None

    def _calibrate(self, way: str, loss: Loss, held: HeldOut) -> dict[str, Any]:
        """Fitted attributes learnt from those rows."""
        return {}

    def _covers_groups(self, loss: Loss) -> bool:
        """Whether groups have a use beside the loss."""
        return False

    def _after(self, run: Run, ensemble: Ensemble, rows: Labelled, targets: Targets) -> dict[str, Any]:
        """Further fitted attributes of a kind of estimator."""
        return {}


class GroupedBoosting(BaseBoosting):
    """Estimators of targets row by row, which may have groups."""

    @keywords.explained
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        offset: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        valid: Mapping[str, Any] | tuple[Any, Any] | None = None,
        resume: Run | None = None,
    ) -> Self:
        """Fit to a table and its targets or labels.

        Parameters
        ----------
        X : table (n, d), sparse matrix or Binned
            A data frame or an array, NaN where missing; a sparse matrix, for learners that take one; or
            `Binned.from_parquet(...)`, which brings targets, weights and groups.
        y : array_like (n,) or (n, k) or None, default None
            Targets, or classes. For "cox": +time of an event, -time last seen without one. None for those of the files.
        sample_weight : array_like (n,) or None, default None
            The measure.
        groups : array_like (n,) or None, default None
            One label a row, for losses that use them.
        offset : array_like or None, default None
            Scores to start from, row by row; `predict` adds them only where given them again.
        X_val : table or None, default None
            The table of a validation set.
        y_val : array_like or None, default None
            Its targets.
        sample_weight_val : array_like or None, default None
            Its weights.
        valid : tuple, mapping or None, default None
            (X, y), or several by name, each (X, y) or a mapping with "X", "y", "sample_weight", "groups", "offset".
        resume : Run or None, default None
            The run of a `Checkpoint` of this same fit, to go on from.

        Returns
        -------
        BaseBoosting
            Itself.
        """
        sets = named_sets(X_val, y_val, sample_weight_val, valid)
        return self._fit(X, y, sample_weight, groups, offset, sets, resume)


keywords.answer_for(BaseBoosting)
