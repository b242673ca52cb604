"""Categories as numbers: a level becomes what the targets of its rows are like, as the other rows tell it.

    s_l = t + (t_l - t) m_l / (m_l + a),   m_l the weight of level l, t_l its statistic, t that of all rows, a ten units

Training rows are cross-fitted: their units are dealt into folds by their keys, and a unit is told s_l by the other
folds; a later row by all training rows. A row whose units lie in several folds becomes a row for each, as its copies
would be. The loss says which statistic: means, quantiles or shares of classes (`statistics`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from anyboost.backends import mapped
from anyboost.backends.taken import written_out
from anyboost.draws import Units, label_folds, mix
from anyboost.estimators.rows import Labelled, Targets
from anyboost.losses import (
    Absolute,
    Cox,
    CVaR,
    Loss,
    Multioutput,
    MultiQuantile,
    Quantile,
    Sum,
    WorstGroup,
)
from anyboost.losses.combine import CoupledSum, ranks
from anyboost.losses.leaves import Leaves
from anyboost.tables import MOST_LEVELS, Columns
from anyboost.trees.parts import circle

AUTO, SUBSET, TARGET = WAYS = ("auto", "subset", "target")
FOLDS = 5  # that rows are told levels by, whichever find rounds
SMOOTHING = 10.0  # units of the overall statistic that each level begins with
MOST_CLASSES = 10  # the heaviest, whose shares are told
MOST_QUANTILES = 3  # of those fitted together: the lowest, the middle one and the highest
SALT = 0x5EED  # with the seed: folds have nothing to do with the units that are held out


@dataclass(frozen=True, eq=False)
class Statistic:
    """What is told of a level: the mean of some values of its rows, or a quantile of them."""

    words: str
    values: np.ndarray  # of each unit
    level: float | None = None  # of the quantile; None for the mean

    def by(self, leaves: Leaves, some: Any = slice(None)) -> np.ndarray:
        """That of each leaf, in which all units lie, or some."""
        values = self.values[some]
        return leaves.means(values) if self.level is None else leaves.quantiles(values, self.level)


@dataclass(frozen=True, eq=False)
class Encoding:
    """How a table of codes becomes one of numbers: which columns are encoded, and what their levels become.

    An encoded column becomes one for each statistic, in its place; a missing value stays missing.
    """

    n: int  # columns of the table
    words: tuple[str, ...] = ()  # what the statistics are
    # Of each encoded column, (levels + 1, statistics): in the order of its codes, and at last for levels never seen
    values: Mapping[int, np.ndarray] = field(default_factory=dict)

    @cached_property
    def sources(self) -> np.ndarray:
        """The table's column that each column after encoding comes from."""
        widths = [len(self.words) if column in self.values else 1 for column in range(self.n)]
        return np.repeat(np.arange(self.n), widths)

    def encode(self, table: Any) -> Any:
        """A later table, told by all training rows."""
        return self.joined(table, {column: self.told(table[:, column], column) for column in self.values})

    def joined(self, table: Any, told: Mapping[int, np.ndarray]) -> Any:
        """The table with what was `told` of the encoded columns, (n, statistics) each, in their places."""
        if not told:
            return table
        # Column by column: that is how a fit reads it.
        out = mapped.zeros((len(table), len(self.sources)), np.float64, beside=table)
        for column in range(self.n):
            found = told.get(column)
            out[:, self.sources == column] = table[:, [column]] if found is None else found
        return out

    def columns(self, columns: Columns) -> Columns:
        """What the columns are after encoding."""
        levels = {
            place: columns.levels[source]
            for place, source in enumerate(self.sources.tolist())
            if source in columns.levels and source not in self.values
        }
        return Columns(len(self.sources), levels)

    def names(self, names: Iterable[str] | None) -> list[str]:
        """The names of the columns after encoding, from those of the table."""
        own = [f"column {column}" for column in range(self.n)] if names is None else [str(x) for x in names]
        return [
            f"{own[column]} ({word})" if column in self.values else own[column]
            for column in range(self.n)
            for word in (self.words if column in self.values else [""])
        ]

    def told(self, codes: np.ndarray, column: int) -> np.ndarray:
        """What codes of an encoded column become, (n, statistics)."""
        told = self.values[column][_places(codes, -1)]
        told[np.isnan(codes)] = np.nan
        return told


def choose(way: str, columns: Columns, loss: Loss) -> tuple[Columns, tuple[int, ...]]:
    """Which columns are encoded, with the table's columns such that levels never seen are told from missing ones."""
    if way == TARGET and columns.levels and not has_statistic(loss):
        raise ValueError(
            f"categorical_encoding='target' has no statistic of targets for the loss {loss}: use 'subset'"
        )
    least = {AUTO: MOST_LEVELS + 1, TARGET: 0}.get(way)
    if least is None or not has_statistic(loss):
        return columns, ()
    chosen = [column for column, levels in columns.levels.items() if len(levels.values) >= least]
    apart = {column: replace(columns.levels[column], apart=True) for column in chosen}
    return replace(columns, levels={**columns.levels, **apart}), tuple(chosen)


def advice(loss: Loss) -> str:
    """What to do about levels that are too many to be told apart."""
    yourself = "merge levels yourself"
    return f"use categorical_encoding='target', or {yourself}" if has_statistic(loss) else yourself


def cross_fit(
    rows: Labelled, targets: Targets, chosen: Sequence[int], columns: Columns, seed: int, n_threads: int = 1
) -> tuple[Encoding, Labelled, Targets]:
    """The encoding that training rows tell, and these rows, with their targets, as the others tell them."""
    if not chosen:
        return Encoding(columns.n), rows, targets
    rows = replace(rows, X=written_out(rows.X))
    units = Units(mix(seed, SALT), rows.X, targets.y, rows.sample_weight, rows.groups, rows.offset, n_threads)
    rows, targets, fold, count = _dealt(rows, targets, units, seed)
    encoding, told = _tell(rows, targets, chosen, columns, fold, count)
    return encoding, replace(rows, X=encoding.joined(rows.X, told)), targets


def _dealt(
    rows: Labelled, targets: Targets, units: Units, seed: int
) -> tuple[Labelled, Targets, np.ndarray, np.ndarray]:
    """Rows of which each has all its units in one fold, that fold, and how many units there are."""
    if rows.groups is not None and ranks(targets.loss):
        # Rows of a query are compared with each other, so none of them may tell another.
        return rows, targets, label_folds(mix(seed, SALT), rows.groups, FOLDS), units.counts
    counts = units.folds(FOLDS)
    if not circle().most(counts.any()):  # a single unit
        counts[0] = units.counts
    row, fold = np.nonzero(counts.T)
    count = counts[fold, row]
    if len(row) > len(rows.y):
        rows, targets = rows.take(row), replace(targets, y=targets.y[row])
    if units.weights is not None:
        rows = replace(rows, sample_weight=count * units.weights[row])
    return rows, targets, fold, count


def _tell(
    rows: Labelled,
    targets: Targets,
    chosen: Sequence[int],
    columns: Columns,
    fold: np.ndarray,
    count: np.ndarray,
) -> tuple[Encoding, dict[int, np.ndarray]]:
    """The encoding, and of each encoded column what the other folds tell the rows."""
    # Unit by unit: three times a number is rounded, and would not be its sum with itself.
    copies = np.repeat(np.arange(len(count)), count)
    weights = targets.weigh(targets.y, None if rows.sample_weight is None else rows.sample_weight / count)
    weights = np.ones(len(copies)) if weights is None else weights[copies]
    told_of = statistics(targets, copies, weights)
    everyone = Leaves.one(weights)
    priors = np.array([each.by(everyone)[0] for each in told_of])
    added = SMOOTHING * (float(everyone.masses()[0]) / int(circle().add(len(copies))))

    def smoothed(leaf: np.ndarray, n: int, some: np.ndarray) -> np.ndarray:
        leaves = Leaves(leaf[some], n, weights[some])
        masses = leaves.masses()
        own = np.stack([each.by(leaves, some) for each in told_of], axis=1)
        return priors + (own - priors) * (masses / (masses + added))[:, None]

    values: dict[int, np.ndarray] = {}
    told: dict[int, np.ndarray] = {}
    for column in chosen:
        n = len(columns.levels[column].values) + 1
        place = _places(rows.X[:, column], n)
        leaf, turn = place[copies], fold[copies]
        given = leaf < n
        values[column] = smoothed(leaf, n, given)
        told[column] = np.full((len(place), len(told_of)), np.nan)
        for number in range(FOLDS):
            own = (fold == number) & (place < n)
            told[column][own] = smoothed(leaf, n, given & (turn != number))[place[own]]
    return Encoding(columns.n, tuple(each.words for each in told_of), values), told


def _places(codes: np.ndarray, missing: int) -> np.ndarray:
    """Codes as whole numbers; `missing` where there is none."""
    return np.where(np.isnan(codes), missing, codes).astype(np.intp)


def has_statistic(loss: Loss) -> bool:
    """Whether targets of the loss have a statistic; times that are seen in part have none."""
    return not isinstance(_simple(loss), Cox)


def statistics(targets: Targets, copies: np.ndarray, weights: np.ndarray) -> list[Statistic]:
    """What is told of a level: by units, which are copies of rows and have these weights."""
    loss, y = _simple(targets.loss), targets.y[copies]
    if isinstance(loss, Multioutput):
        return [_of_numbers(loss.loss, column, f"y {number}") for number, column in enumerate(y.T)]
    if isinstance(loss, MultiQuantile):
        taus = loss.taus
        if len(taus) > MOST_QUANTILES:
            taus = (taus[0], taus[len(taus) // 2], taus[-1])
        return [_quantile(y, tau, "y") for tau in taus]
    classes = targets.fitted.get("classes_")
    if classes is None:
        return [_of_numbers(loss, y, "y")]
    if not loss.domain.classes:
        return [_share(y > 0, classes[1])]
    masses = Leaves(y, len(classes), weights).masses()
    heaviest = np.sort(np.argsort(-masses, kind="stable")[:MOST_CLASSES])
    # The share of the first of two classes says nothing beside that of the second
    return [_share(y == code, classes[code]) for code in heaviest.tolist()[len(classes) == 2 :]]


def _simple(loss: Any) -> Any:
    """A loss that others are made of: of a sum the first term, of a risk that of its rows."""
    if isinstance(loss, Sum | CoupledSum):
        return _simple(loss.terms[0][1])
    return _simple(loss.loss) if isinstance(loss, CVaR | WorstGroup) else loss


def _of_numbers(loss: Any, y: np.ndarray, name: str) -> Statistic:
    loss = _simple(loss)
    if isinstance(loss, Absolute | Quantile):
        return _quantile(y, 0.5 if isinstance(loss, Absolute) else loss.tau, name)
    return Statistic(f"mean of {name}", y)


def _quantile(y: np.ndarray, level: float, name: str) -> Statistic:
    return Statistic(f"median of {name}" if level == 0.5 else f"{level:g} quantile of {name}", y, level)


def _share(has: np.ndarray, label: Any) -> Statistic:
    return Statistic(f"share of {label}", has.astype(np.float64))
