"""What a fit is given: checked before any work, then read as numbers; validation sets by the columns of training."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from anyboost import checks, tables
from anyboost.boosting import Run
from anyboost.estimators import encoding, measures, parameters
from anyboost.estimators.dials import Dials
from anyboost.estimators.fitting import Fitting
from anyboost.estimators.progress import Progress
from anyboost.estimators.rounds import Sets
from anyboost.estimators.rows import Labelled, Targets
from anyboost.samples import valid_parts, with_own
from anyboost.space import Binned
from anyboost.tables import Columns
from anyboost.trees.parts import as_others
from anyboost.watching import Monitor


class Given(NamedTuple):
    """What a fit is given beside its rows, and what was found in reading them."""

    columns: Columns
    encoded: Sequence[int]  # columns of categories that become numbers
    sets: Sets  # to watch
    scorings: list[Any]
    seed: int
    earlier: Run | None  # the run to go on from
    fitted: dict[str, Any]  # attributes so far

    def begin(
        self,
        model: Any,
        progress: Progress | None,
        dials: Dials,
        rows: Labelled,
        targets: Targets,
        sets: Sets,
    ) -> tuple[Fitting, Monitor | None]:
        """A fit to some of the rows, and what follows it on some sets."""
        names = self.fitted.get("feature_names_in_")
        fitting = Fitting(model, dials, rows, targets, self.columns, self.encoded, names, self.seed, progress)
        known = self.fitted | {"loss_": targets.loss} | targets.fitted | fitting.fitted
        return fitting, fitting.monitor(sets, self.scorings, known)


def read(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    offset: Any,
    valid: Mapping[str, Any],
    resume: Run | None,
) -> tuple[Labelled, Targets, Given]:
    """What the `fit` of an estimator is given: its rows as numbers, the targets, and the rest."""
    scorings, fitted = checked(model, X, y)
    rows, columns = _training_rows(model, X, y, sample_weight, groups, offset)
    targets = model._targets(rows.y, rows.sample_weight)
    names, advice = fitted.get("feature_names_in_"), encoding.advice(targets.loss)
    tables.warn_of_labels(columns, rows.X.shape[0], names)
    columns, encoded = encoding.choose(model.categorical_encoding, columns, targets.loss)
    rows.X, columns = tables.lumped(rows.X, columns, rows.sample_weight, names, advice)
    seed, earlier = _seed(model, resume)
    sets = [(name, _valid_rows(model, name, given, columns)) for name, given in valid.items()]
    fitted |= {"is_categorical_": columns.categorical, "_columns": columns}
    return rows, targets, Given(columns, encoded, sets, scorings, seed, earlier, fitted)


def checked(model: Any, X: Any, y: Any) -> tuple[list[Any], dict[str, Any]]:
    """Check what can be checked before any work; what to measure, and the table's names."""
    parameters.check(model)
    scorings = measures.check_scoring(model.scoring)
    if isinstance(X, Binned):
        return scorings, _names_of_binned(model, X)
    check_kind(X)
    scratch = copy.copy(model)
    validate_data(scratch, X, y, skip_check_array=True)
    names = ("n_features_in_", "feature_names_in_")
    return scorings, {name: getattr(scratch, name) for name in names if hasattr(scratch, name)}


def _names_of_binned(model: Any, X: Binned) -> dict[str, Any]:
    """The names of a table from files; a sentence where the fit asks for what such a table has not."""
    if X.names is None:
        raise TypeError(
            "X is an ab.Binned, which ab.boost takes: give an estimator the table itself, or Binned.from_parquet"
        )
    if not isinstance(model.categorical_features, str):
        raise ValueError(
            "categorical_features are chosen where files are read: leave it out, from_parquet(categorical=...)"
        )
    if shows(model):
        raise ValueError(
            "X comes from files, and an estimator as init, or a scorer as scoring, is shown a table in memory: use "
            "a number, or a metric by its name"
        )
    return {"n_features_in_": len(X.names), "feature_names_in_": np.array(X.names, dtype=object)}


def shows(model: Any) -> bool:
    """Whether anybody is shown the table as it is given."""
    return hasattr(model.init, "fit") or measures.any_scorer(model.scoring)


def _training_rows(
    model: Any, X: Any, y: Any, sample_weight: Any, groups: Any, offset: Any
) -> tuple[Labelled, Columns]:
    y, sample_weight, groups = with_own(X, y, sample_weight, groups)
    labels = np.asarray(y)
    if labels.ndim == 0:
        raise ValueError(f"y must have one value a row, got {y!r}")
    check_queries(model, groups)
    weights = None if sample_weight is None else checks.sample_weight(sample_weight, len(labels))
    if isinstance(X, Binned):
        assert X.columns is not None
        rows = _rows(model, X, X.X, labels, weights, groups, offset, "")
        return replace(rows, binned=X), X.columns
    table, columns = tables.read(
        X,
        categorical=model.categorical_features,
        sample_weight=weights,
        sparse=parameters.abilities(model).sparse,
    )
    return _rows(model, X, as_others(table), labels, weights, groups, offset, ""), columns


def _rows(
    model: Any, X: Any, table: Any, labels: np.ndarray, weights: Any, groups: Any, offset: Any, prefix: str
) -> Labelled:
    n = checks.as_many(labels, table.shape[0], f"{prefix}y")
    if weights is not None:
        weights = checks.sample_weight(weights, n, f"{prefix}sample_weight")
    if groups is not None:
        groups = checks.labels(groups, f"{prefix}{model._groups_name}", n)
    if offset is not None:
        offset = checks.finite(checks.numbers(offset, f"{prefix}offset"), f"{prefix}offset")
        if offset.ndim == 0 or len(offset) != n:
            raise ValueError(
                f"{prefix}offset must have one score a row, got shape {offset.shape} for {n} rows"
            )
    rows = Labelled(table, labels, weights, groups, offset, X if shows(model) else None)
    return rows if weights is None or weights.all() else rows.take(np.flatnonzero(weights))


def _seed(model: Any, resume: Run | None) -> tuple[int, Run | None]:
    """The seed of the fit, and the run to go on from."""
    if resume is not None:
        if not isinstance(resume, Run):
            raise TypeError(f"resume must be a Run, e.g. anyboost.load(path), got {type(resume).__name__}")
        return resume.seed, resume
    continuation = getattr(model, "_continuation", None)
    if model.warm_start and continuation is not None:
        run, seed = continuation
        return seed, run
    if model.random_state is None:
        return 0, None  # the same fit twice is the same model
    if isinstance(model.random_state, int | np.integer) and not isinstance(model.random_state, bool):
        return checks.seed(model.random_state), None
    try:
        return int(check_random_state(model.random_state).randint(2**31)), None
    except ValueError as refused:
        raise ValueError(f"random_state: {refused}; give a whole number, None or a RandomState") from None


def _valid_rows(model: Any, name: str, given: Any, columns: Columns) -> Labelled:
    prefix = f"valid {name!r}: " if name != "valid" else "valid "
    others = ("sample_weight", model._groups_name, "offset")
    given = valid_parts(given, prefix, others)
    check_queries(model, given.get("qid"), prefix)
    sparse = parameters.abilities(model).sparse
    check_kind(given["X"], f"{prefix}X")
    table, _ = tables.read(given["X"], columns, name=f"{prefix}X", sparse=sparse)
    if table.shape[1] != columns.n:
        raise ValueError(f"{prefix}X must have the {columns.n} columns of X, got {table.shape[1]}")
    weights, groups, offset = (given.get(other) for other in others)
    labels = np.asarray(given["y"])
    return _rows(model, given["X"], tables.contiguous(table), labels, weights, groups, offset, prefix)


def check_queries(model: Any, groups: Any, prefix: str = "") -> None:
    """Refuse a ranking without queries: all rows as one query would be another model without a word."""
    if groups is None and model._groups_name == "qid":
        how = "add it to the validation set" if prefix else "pass fit(X, y, qid=...)"
        routed = "" if prefix else ", and in a cross-validation ask for it by set_fit_request(qid=True)"
        raise ValueError(
            f"{prefix}qid must be given to fit a ranking: {how}, the query of each row, all equal for one query{routed}"
        )


def check_kind(X: Any, name: str = "X") -> None:
    """Refuse what is no table for an estimator."""
    if isinstance(X, Binned):
        raise TypeError(f"{name} is an ab.Binned, which ab.boost takes: give an estimator the table itself")
    tables.check_kind(X)
