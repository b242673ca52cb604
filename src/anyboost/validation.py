"""`cv`: how many rounds, and how good, by cross-validation of a run.

The table is binned once, for all folds, where the learner looks at bins: a fold's bins have seen where the rows it is
watched on lie, though not their targets. Rows of one query stay in one fold, and classes have the same share in each.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anyboost import checks, losses, tables, weak
from anyboost.boosting import boost
from anyboost.ensemble import Ensemble
from anyboost.losses import Loss
from anyboost.losses.combine import ranks
from anyboost.space import Binned
from anyboost.tables import Columns
from anyboost.watching import best_round


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What `cv` found: losses on each fold, at the start and after each round.

    Attributes
    ----------
    train_losses : ndarray (folds, rounds + 1)
        The loss on the rows that a fold's run was fitted to.
    valid_losses : ndarray (folds, rounds + 1)
        The loss on the fold.
    weights : ndarray (folds,)
        The folds' shares.
    ensembles : list of Ensemble
        The model of each fold.
    mean : ndarray (rounds + 1,)
        The mean validation loss after each round, folds weighted by the weight of their rows.
    std : ndarray (rounds + 1,)
        The standard deviation of the folds' validation losses after each round.
    best_round : int
        The round with the lowest mean validation loss, 0 being the start.
    best_loss : float
        The mean validation loss in that round.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.arange(20.0)[:, None]
    >>> found = ab.cv(X, np.sin(X[:, 0] / 3), rounds=10, folds=4)
    >>> found.valid_losses.shape, found.best_loss == found.mean.min()
    ((4, 11), np.True_)
    """

    train_losses: np.ndarray
    valid_losses: np.ndarray
    weights: np.ndarray
    ensembles: list[Ensemble]

    @property
    def mean(self) -> np.ndarray:
        """The mean validation loss after each round, folds weighted by the weight of their rows."""
        return self.weights @ self.valid_losses

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of the folds' validation losses after each round."""
        return np.sqrt(self.weights @ (self.valid_losses - self.mean) ** 2)

    @property
    def best_round(self) -> int:
        """The round with the lowest mean validation loss, 0 being the start."""
        return best_round(self.mean)

    @property
    def best_loss(self) -> float:
        """The mean validation loss in that round."""
        return float(self.mean[self.best_round])

    def __repr__(self) -> str:
        folds, rounds = self.valid_losses.shape
        return f"CrossValidation({folds} folds, {rounds - 1} rounds: {self.best_loss:.6g} in round {self.best_round})"


def cv(
    X: Any,
    y: Any,
    loss: str | Loss | None = None,
    learner: Any = None,
    descent: Any = None,
    rounds: int = 100,
    *,
    folds: Any = 5,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: int | None = 0,
    **options: Any,
) -> CrossValidation:
    """Run `boost` on all but one fold and watch that one, for each fold.

    Parameters
    ----------
    X : table (n, d), sparse matrix or Binned
        As for `boost`; also a data frame.
    y : array_like (n,) or (n, k)
        Targets.
    loss : str, Loss or None, default None
        As for `boost`.
    learner : str, Learner, estimator or None, default None
        As for `boost`.
    descent : str, Descent or None, default None
        As for `boost`.
    rounds : int, default 100
        How many rounds each fold's run has.
    folds : int, splitter or iterable of pairs, default 5
        How many; or a splitter of scikit-learn; or pairs of row numbers, to train on and to watch.
    sample_weight : array_like (n,) or None, default None
        The measure.
    groups : array_like (n,) or None, default None
        One label a row. Rows of one query stay in one fold; other groups have the same share in each.
    random_state : int or None, default 0
        Seed of the folds and of `boost`'s sampling.
    **options : Any
        Further arguments of `boost` (row_fraction, max_bins, n_threads, ...).

    Returns
    -------
    CrossValidation
        Losses by fold and round, and which round is best.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.arange(40.0)[:, None]
    >>> found = ab.cv(X, np.sin(X[:, 0] / 6), "squared", "stump", rounds=30, folds=4)
    >>> found.mean[found.best_round] < found.mean[0]
    np.True_
    """
    if hasattr(X, "fit"):
        raise TypeError(
            f"X is the estimator {type(X).__name__}: cv runs boost; give estimators to "
            "sklearn.model_selection.cross_val_score"
        )
    chosen = losses.get("squared" if loss is None else loss)
    for name in ("valid", "patience", "resume", "start"):
        if name in options:
            raise ValueError(f"{name} is not for cv, which watches each fold for all rounds: leave it out")
    sparse = weak.takes(weak.get("stump" if learner is None else learner)).sparse
    table, columns, targets, parts = _read(X, y, sample_weight, groups, sparse)
    if loss == "huber":  # one delta for all folds, so that their losses compare
        chosen = losses.suited(loss, chosen.check(targets), parts["sample_weight"])
    data = X if columns is None else _data(table, parts["sample_weight"], columns, sparse, options)
    runs, shares = [], []
    for train, held_out in _pairs(folds, table, targets, parts["groups"], chosen, random_state):
        run = boost(
            data.take(train) if isinstance(data, Binned) else data[train],
            targets[train],
            chosen,
            learner,
            descent,
            rounds,
            **_some(parts, train),
            valid={"X": table[held_out], "y": targets[held_out], **_some(parts, held_out)},
            random_state=random_state,
            **options,
        )
        assert run.watch is not None
        runs.append(run)
        weights = parts["sample_weight"]
        shares.append(float(len(held_out) if weights is None else weights[held_out].sum()))
    return CrossValidation(
        np.array([[run.start_loss, *(step.loss for step in run.steps)] for run in runs]),
        np.array([run.watch.losses for run in runs if run.watch is not None]),
        np.array(shares) / sum(shares),
        [run.ensemble for run in runs],
    )


def _read(
    X: Any, y: Any, sample_weight: Any, groups: Any, sparse: bool
) -> tuple[Any, Columns | None, np.ndarray, dict[str, Any]]:
    """The table and its columns (None of one in bins), targets, and what goes with each row."""
    table, columns = (X.X, None) if isinstance(X, Binned) else tables.read(X, sparse=sparse)
    targets = np.asarray(y)
    n = checks.as_many(targets, table.shape[0], "y")
    parts = {"sample_weight": None if sample_weight is None else checks.sample_weight(sample_weight, n)}
    if columns is not None:
        advice = "merge levels yourself, or fit an estimator, which encodes them"
        table, columns = tables.lumped(table, columns, parts["sample_weight"], tables.names_of(X), advice)
    parts["groups"] = None if groups is None else checks.labels(groups, "groups", n)
    return table, columns, targets, parts


def _data(
    table: Any, sample_weight: np.ndarray | None, columns: Columns, sparse: bool, options: dict[str, Any]
) -> Any:
    """The table in bins; columns that hold categories by their type, or by the option `categorical`."""
    if sparse:  # a learner that takes sparse tables looks at no bins
        if columns.levels:
            options.setdefault("categorical", columns.categorical)
        return table
    given = {name: options.pop(name) for name in ("max_bins", "categorical") if options.get(name) is not None}
    if columns.levels:
        given.setdefault("categorical", columns.categorical)
    return Binned(table, sample_weight, n_threads=options.get("n_threads"), **given)


def _some(parts: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {name: values[rows] for name, values in parts.items() if values is not None}


def _pairs(
    folds: Any, X: Any, y: np.ndarray, groups: Any, loss: Loss, seed: int | None
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Row numbers to train on and to watch, a pair a fold."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    if hasattr(folds, "split"):
        return list(folds.split(X, y, groups))
    if isinstance(folds, Iterable):
        pairs = [(np.asarray(train), np.asarray(held_out)) for train, held_out in folds]
        if not pairs:
            raise ValueError("folds is empty: give pairs of row numbers, to train on and to watch")
        return pairs
    checks.count(folds, "folds", least=2, most=X.shape[0])
    count = int(folds)
    if ranks(loss) and groups is not None:
        return list(GroupKFold(count, shuffle=True, random_state=seed).split(X, y, groups))
    if groups is not None:
        return list(StratifiedKFold(count, shuffle=True, random_state=seed).split(X, groups))
    signs = not loss.domain.contains(np.array([0.5])).all()
    if loss.domain.classes or signs:
        return list(StratifiedKFold(count, shuffle=True, random_state=seed).split(X, y))
    return list(KFold(count, shuffle=True, random_state=seed).split(X, y))
