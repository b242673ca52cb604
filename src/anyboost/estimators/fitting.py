"""One fit: the method, the start and the validation sets that the parameters ask for, and the call of `boost`."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from anyboost import checks, metrics, tables, weak
from anyboost import descent as descents
from anyboost.backends.arrays import by_row
from anyboost.boosting import Run, boost, fits
from anyboost.certificates import Certificate
from anyboost.ensemble import Ensemble
from anyboost.estimators import measures, parameters
from anyboost.estimators.callbacks import Rounds
from anyboost.estimators.dials import TOL, Dials
from anyboost.estimators.encoding import cross_fit
from anyboost.estimators.measures import WatchedSet
from anyboost.estimators.progress import Progress
from anyboost.estimators.rows import Labelled, Targets, raw_scores_of
from anyboost.space import Space
from anyboost.tables import Columns
from anyboost.watching import LOSS, Monitor, Patience, WatchedMeasure

# Fields of a tree that are the same in all rounds, and the parameters they come from
OF_TREES = {
    "leaf": "leaf",
    "growth": "learner",
    "monotone": "monotonic_cst",
    "interactions": "interaction_cst",
    "outputs": "outputs",
    "node_features": "max_features",
    "node_thresholds": "random_thresholds",
}


class Fitting:
    """One fit: what goes into `boost`."""

    def __init__(
        self,
        estimator: Any,
        dials: Dials,
        rows: Labelled,
        targets: Targets,
        columns: Columns,
        encoded: Sequence[int],
        names: Sequence[str] | None,
        seed: int,
        progress: Progress | None = None,
    ) -> None:
        self.estimator, self.dials, self.progress = estimator, dials, progress
        self.n_threads = checks.n_threads(estimator.n_jobs)
        self.given, self.given_weights = rows, targets.weigh(targets.y, rows.sample_weight)
        self.encoding, rows, targets = cross_fit(rows, targets, encoded, columns, seed, self.n_threads)
        self.rows, self.targets, self.columns = rows, targets, self.encoding.columns(columns)
        loss = targets.loss
        self.y = loss.check(targets.y)
        self.outputs = loss.outputs(self.y)
        self.groups = self._groups(rows)
        sources = self.encoding.sources.tolist()
        self.learner, self.descent = parameters.method(
            estimator, dials, loss, self.outputs, columns, sources, None if names is None else list(names)
        )
        self.weights = targets.weigh(targets.y, rows.sample_weight)
        if self.weights is not None:
            parameters.warn_of_light_rows(estimator, dials, self.weights)
        self.intercept = np.zeros(self.outputs)
        self.norms: dict[int, float] = {0: 0.0}  # of the model after each round
        self.fitted: dict[str, Any] = {"_encoding": self.encoding}
        self.start = self._start()

    def _groups(self, rows: Labelled) -> np.ndarray | None:
        """The groups of rows as the loss uses them."""
        estimator, loss = self.estimator, self.targets.loss
        if loss.uses_groups or rows.groups is None:
            return rows.groups
        if not estimator._covers_groups(loss):
            raise ValueError(
                f"{estimator._groups_name} were given, but the loss {loss.name} does not use them: leave them out"
            )
        return None

    def _start(self) -> Any:
        """Where the descent starts: None, a number, or scores row by row (with the constant that suits them)."""
        init, rows, offset = self.estimator.init, self.rows, self.rows.offset
        if init is None and offset is None:
            return None
        n = rows.X.shape[0]
        shape = (n,) if self.outputs == 1 else (n, self.outputs)
        if offset is not None and offset.shape != shape:
            raise ValueError(f"offset must have shape {shape}, got {offset.shape}")
        if init is None and offset is not None:
            return offset + self._best_shift(offset)
        if not hasattr(init, "fit"):
            self.intercept = np.full(self.outputs, float(init))
            return float(init) if offset is None else offset + float(init)
        fitted = clone(init)
        weighted = self.weights is not None and has_fit_parameter(fitted, "sample_weight")
        fitted.fit(rows.given, rows.y, **({"sample_weight": self.weights} if weighted else {}))
        self.fitted["init_"] = fitted
        scores = raw_scores_of(fitted, rows.given, n, self.outputs)
        return scores if offset is None else scores + offset

    def _best_shift(self, offset: np.ndarray) -> Any:
        if self.outputs > 1:
            return 0.0
        space = Space(self.rows.X, self.weights, n_threads=self.n_threads)
        functional = self.targets.loss.on(self.y, space, self.groups)
        functional.best_constant()  # refuses targets that no constant suits, with an offset as without
        one_leaf = np.zeros(space.n, dtype=np.int32)
        self.intercept = np.asarray(functional.best_shifts(offset, one_leaf, 1), dtype=np.float64)
        return float(self.intercept[0])

    def monitor(
        self, sets: list[tuple[str, Labelled]], scorings: list[Any], fitted: dict[str, Any]
    ) -> Monitor | None:
        """What follows the sets; the loss is measured on the first of them, and on all where it is asked for."""
        if not sets:
            return None
        estimator = self.estimator
        everywhere = any(isinstance(what, str) for _, what in scorings)
        watched = [
            self.watched(name, rows, everywhere or number == 0) for number, (name, rows) in enumerate(sets)
        ]

        def stage(watched: WatchedSet, ensemble: Ensemble) -> Any:
            return estimator._stage(fitted | {"ensemble_": self.model(ensemble, watched.rounds)}, watched)

        def measure(name: str, what: Any) -> WatchedMeasure:
            if isinstance(what, str):
                return LOSS
            if isinstance(what, metrics.Metric):
                return measures.of_metric(name, what)
            scorer = what or (lambda model, X, y, **given: model.score(X, y, **given))
            queries = "qid" if what is None and estimator._groups_name == "qid" else None
            return measures.of_scorer(name, scorer, watched, stage, queries)

        rounds = self.dials.n_iter_no_change if self.dials.early_stopping else None
        automatic = isinstance(estimator.tol, str)
        patience = Patience(rounds, 0.0 if automatic else float(estimator.tol), TOL if automatic else 0.0)
        return Monitor(watched, self.n_threads, patience, [measure(*scoring) for scoring in scorings])

    def watched(self, name: str, rows: Labelled, measured: bool) -> WatchedSet:
        """Rows that follow the fit; their loss is taken if they are `measured`."""
        # The training rows, where they are watched, are as they are fitted.
        rows = self.rows if rows is self.given else replace(rows, X=self.encoding.encode(rows.X))
        X, functional = tables.contiguous(rows.X), None
        try:
            y = self.targets.encode(rows.y)
            if measured:
                space = Space(X, self.targets.weigh(y, rows.sample_weight), n_threads=self.n_threads)
                functional = self.targets.loss.on(y, space, self._groups(rows), outputs=self.outputs)
        except ValueError as error:
            raise ValueError(f"validation set {name!r}: {error}") from None
        weak.admit_values(self.learner, X, f"X of the validation set {name!r}")
        n, start = X.shape[0], rows.offset
        if (self.rows.offset is None) != (start is None):
            raise ValueError(
                f"offset must be given for the training rows and the validation set {name!r}, or for none"
            )
        if start is not None:
            start = by_row(start) + self.intercept
        if "init_" in self.fitted:
            began = raw_scores_of(self.fitted["init_"], rows.given, n, self.outputs).reshape(n, -1)
            start = began if start is None else start + began
        return WatchedSet(
            functional,
            X,
            start,
            name=name,
            given=rows.given,
            labels=rows.y,
            sample_weight=rows.sample_weight,
            groups=rows.groups,
        )

    def model(self, ensemble: Ensemble, rounds: int) -> Ensemble:
        """The sum after so many rounds, as a fitted estimator has it."""
        kept = ensemble.truncate(rounds)
        if kept.needs_offset:  # it began at the offset plus a constant, and the constant is the model's
            kept.start, kept.needs_offset = self.intercept, False
        return kept

    def go_on(self, run: Run) -> Run:
        """The run that a warm start goes on from, with the rate and the size of trees that are asked for now.

        Other data are refused, and other changes, for what is true of the whole model would be lost with them.
        """
        for name, first, second in self._fixed(run):
            if repr(first) != repr(second):
                raise ValueError(
                    f"warm_start goes on from a fit whose {name} is {first!r}, and now it is {second!r}: "
                    "set it back, or set warm_start=False"
                )
        space = Space(self.rows.X, self.weights, n_threads=self.n_threads)
        same = tuple(self.columns.levels) == run.options.categorical
        if not same or not fits(run.state, space, self.targets.loss.on(self.y, space, self.groups)):
            raise ValueError(
                "warm_start goes on from a fit to other data: pass the X, y and sample_weight of that fit, or set "
                "warm_start=False"
            )
        if repr(self.learner) != repr(run.learner):
            evidence = run.state.evidence.of_another_class()
            state = replace(run.state, evidence=evidence)
            run = replace(
                run, learner=self.learner, state=state, trees=None
            )  # which another learner has grown
        same = descents.stands_for(self.descent, run.descent)
        return run if same else replace(run, descent=self.descent, trees=None)

    def _fixed(self, run: Run) -> list[tuple[str, Any, Any]]:
        """The parameters that a warm start cannot change, as they were and as they are."""
        estimator, options, learner, descent = self.estimator, run.options, self.learner, self.descent
        found: list[tuple[str, Any, Any]] = [("loss", run.loss, self.targets.loss)]
        if estimator.descent is not None and not descents.stands_for(descent, run.descent):
            found.append(("descent", run.descent, descent))
        if type(run.learner) is type(learner) is weak.Tree:
            found += [
                (name, getattr(run.learner, part), getattr(learner, part)) for part, name in OF_TREES.items()
            ]
        else:
            found.append(("learner", run.learner, learner))
        if estimator.descent is None:
            found.append(("memory", run.descent.memory, descent.memory))
            found.append(("curvature", run.descent.curved, descent.curved))
            found.append(("descent", run.descent.having(step=descent.step), descent))
        return [
            *found,
            ("subsample", options.row_fraction, self.dials.subsample),
            ("max_features", options.feature_fraction, self._feature_fraction),
            ("max_bins", options.max_bins, int(estimator.max_bins)),
        ]

    @property
    def _table(self) -> Any:
        """The table, with the bins that it came with, where the fit would make the same."""
        binned = self.rows.binned
        if binned is None or binned.X is not self.rows.X or binned.max_bins != self.estimator.max_bins:
            return self.rows.X
        return binned if binned.sample_weight is self.weights else self.rows.X

    @property
    def _feature_fraction(self) -> float:
        """The share of columns that a round looks at: trees of the estimator's own draw theirs for each node."""
        return self.dials.max_features if self.estimator.learner is not None else 1.0

    def boost(
        self, seed: int, monitor: Monitor | None, earlier: Run | None = None, narration: Rounds | None = None
    ) -> Run:
        """The run; callbacks are called after each round, in searches only those that show progress."""
        estimator = self.estimator
        callbacks: list[Any] = [lambda step, run: self.norms.update({step.round: run.state.norm})]
        if self.progress is not None:
            several = monitor is not None and sum(map(len, monitor.history.values())) > 1
            self.progress.measured = monitor.line if monitor is not None and several else None
            callbacks.append(self.progress)
        heard = list(estimator.callbacks or ())
        if narration is None:
            heard = [one for one in heard if isinstance(one, Progress)]
        callbacks += heard
        if narration is not None and narration.heard:
            callbacks.append(narration)
        return boost(
            self._table,
            self.y,
            self.targets.loss,
            self.learner,
            self.descent,
            rounds=self.dials.max_iter,
            start=self.start,
            sample_weight=self.weights,
            groups=self.groups,
            valid=monitor,
            callbacks=callbacks,
            resume=earlier,
            row_fraction=self.dials.subsample,
            feature_fraction=self._feature_fraction,
            max_bins=int(estimator.max_bins),
            categorical=self.columns.categorical,
            record="light",
            n_threads=self.n_threads,
            random_state=seed,
        )

    def certificate(self, run: Run, rounds: int) -> Certificate:
        """What is proved of the model after so many rounds."""
        loss = run.steps[rounds - 1].loss if rounds else run.start_loss
        norm = run.state.norm if rounds == len(run.steps) else self.norms.get(rounds, math.nan)
        return Certificate(loss, norm, run.infimum, tuple(run.prove(search=False)))


def without_sample(run: Run) -> Run:
    """The run as a file would bring it back: `boost` is given the sample again."""
    run.witnesses  # noqa: B018 - needs the sample, and is kept
    return replace(run, space=None, functional=None)
