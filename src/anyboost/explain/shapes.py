"""A sum of trees with one or two columns on every path as what it is: a generalized additive model, drawn exactly.

    f(x) = intercept + sum_a f_a(x_a) + sum_{a<b} f_ab(x_a, x_b)

A leaf is a value times what it asks of one column, or of two: all leaves of a column add up to a step curve, all of a
pair to a table. Under the product of the training marginals m (functional ANOVA), means are moved down,

    f_ab <- f_ab - E_a f_ab - E_b f_ab + E f_ab,     f_a <- f_a + E_b f_ab - E f_ab,     intercept <- its mean

so that every term has mean zero along each of its columns, terms are orthogonal, and variances add up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anyboost.ensemble import Ensemble
from anyboost.explain.games import Games, games_of, passed
from anyboost.explain.marginals import Marginal, cells_of, edges_of, trees_with_shapes

_BLOCK = 2**22  # leaves times cells that are looked at together
MOST_CELLS = 2**24  # of a pair


@dataclass(frozen=True, eq=False)
class Shape:
    """What one column, or a pair, adds to the score: a step curve, or a table.

    Cell c of a column of numbers holds edges[c - 1] < x <= edges[c], cell c of categories levels[c]; after them, as
    the last cell of each axis, come missing values.

    Parameters
    ----------
    features : tuple of str
        The column, or the two.
    edges : tuple of (ndarray or None)
        For each column the thresholds between its cells; None for categories.
    bounds : tuple of ((float, float) or None)
        For each column the least and the largest number of the training rows; None for categories.
    levels : tuple of (tuple or None)
        For each column its categories; None for numbers.
    values : ndarray (cells,), (cells, cells), and (..., n_outputs) for several outputs
        What is added in each cell.
    mass : tuple of ndarray (cells,)
        For each column the share of the training rows in each cell.
    share : float
        The term's share of the variances of all terms, over all outputs, under the product of the columns' masses.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> model = ab.BoostingRegressor(max_iter=1, learning_rate=1.0, preset="paper", min_leaf_weight=1).fit(X, y)
    >>> curve = model.shapes()["column 0"]
    >>> curve.values, curve.mass[0].round(2)
    (array([-1.,  2., -1.]), array([0.67, 0.33, 0.  ]))
    """

    features: tuple[str, ...]
    edges: tuple[np.ndarray | None, ...]
    bounds: tuple[tuple[float, float] | None, ...]
    levels: tuple[tuple[str | float, ...] | None, ...]
    values: np.ndarray
    mass: tuple[np.ndarray, ...]
    share: float

    def missing(self, axis: int = 0) -> np.ndarray:
        """What is added where a column is missing.

        Parameters
        ----------
        axis : int, default 0
            Which of the columns.

        Returns
        -------
        ndarray
            A number, or one for each cell of the other column and each output.
        """
        return np.take(self.values, -1, axis=axis)


@dataclass(frozen=True, eq=False)
class Shapes:
    """All terms of a generalized additive model, by falling share of the variance; they are centered.

    Parameters
    ----------
    intercept : float or ndarray (n_outputs,)
        The mean score, under the product of the training marginals.
    terms : tuple of Shape
        The curves and pairs; with the intercept they add up to the raw score.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]], [0.0, 0.0, 3.0]
    >>> shapes = ab.BoostingRegressor(max_iter=5, max_leaf_nodes=2, min_leaf_weight=1).fit(X, y).shapes()
    >>> len(shapes), shapes.terms[0].features, shapes["column 0"].share
    (1, ('column 0',), 1.0)
    """

    intercept: float | np.ndarray
    terms: tuple[Shape, ...]

    def __len__(self) -> int:
        return len(self.terms)

    def __iter__(self) -> Iterator[Shape]:
        return iter(self.terms)

    def __getitem__(self, key: int | str | tuple[str, str]) -> Shape:
        """A term by its place, by the name of its column, or by those of its two."""
        if isinstance(key, int | np.integer):
            return self.terms[key]
        names = {key} if isinstance(key, str) else set(key)
        for term in self.terms:
            if set(term.features) == names:
                return term
        known = ", ".join(" x ".join(term.features) for term in self.terms)
        raise KeyError(f"{' x '.join(sorted(names))} is no term of the model, which has: {known}")


class Axis(NamedTuple):
    """The cells of a column: `points` has a value in each, for every column that the model makes of it."""

    feature: str
    edges: np.ndarray | None
    bounds: tuple[float, float] | None
    levels: tuple[str | float, ...] | None
    points: Mapping[int, np.ndarray]  # (cells + 1,), NaN at last
    mass: np.ndarray  # (cells + 1,)

    @classmethod
    def of_numbers(cls, feature: str, column: int, marginal: Marginal) -> "Axis":
        points = {column: np.append(marginal.edges, [np.inf, np.nan])}
        return cls(feature, marginal.edges, marginal.bounds, None, points, marginal.mass)

    def within(self, edges: np.ndarray) -> tuple["Axis", np.ndarray]:
        """The cells between some of the edges, and in which of them each cell lies."""
        if self.bounds is None:
            return self, np.arange(len(self.mass))
        ((column, points),) = self.points.items()
        place = cells_of(points, edges, len(edges) + 1)
        mass = np.bincount(place, self.mass, minlength=len(edges) + 2)
        return Axis.of_numbers(self.feature, column, Marginal(edges, mass, self.bounds)), place


def shapes_of(ensemble: Ensemble, source: np.ndarray, axes: Mapping[int, Axis]) -> Shapes:
    """The terms of a sum of trees whose table's column c comes from the column source[c], with these cells."""
    used = edges_of(trees_with_shapes(ensemble.hypotheses, source), source)
    if any(column not in axes or not _has(axes[column].edges, edges) for column, edges in used.items()):
        raise ValueError("model has other trees than those that it was fitted with: fit it anew")
    games = games_of(
        list(zip(ensemble.coefficients, ensemble.hypotheses, strict=True)), ensemble.start, source
    )
    count = np.diff(games.players)
    intercept = ensemble.start + games.value[count == 0].sum(axis=0)
    curves = {column: np.zeros((len(axes[column].mass), ensemble.outputs)) for column in used}
    for column in used:
        leaves = np.flatnonzero(count == 1)
        leaves = leaves[games.player[games.players[leaves]] == column]
        curves[column] += _curve(games, leaves, axes[column])
    terms = []
    for (a, b), leaves in _pairs(games, np.flatnonzero(count == 2)).items():
        own, places = zip(
            *(axes[column].within(_edges(games, leaves, column)) for column in (a, b)), strict=True
        )
        table, (first, second), mean = _purified(_table(games, leaves, own, (a, b)), own)
        curves[a] += first[places[0]]
        curves[b] += second[places[1]]
        intercept = intercept + mean
        terms.append((own, table))
    for column, curve in curves.items():
        mean = axes[column].mass @ curve
        intercept = intercept + mean
        terms.append(((axes[column],), curve - mean))
    return _sorted(intercept, terms)


def _has(edges: np.ndarray | None, some: np.ndarray) -> bool:
    return edges is None or bool(np.isin(some, edges).all())


def _sorted(intercept: np.ndarray, terms: list[tuple[tuple[Axis, ...], np.ndarray]]) -> Shapes:
    variances = np.array([_variance(axes, values) for axes, values in terms])
    shares = variances / variances.sum() if variances.sum() > 0 else variances
    one = len(intercept) == 1
    shapes = []
    for (axes, values), share in zip(terms, shares.tolist(), strict=True):
        features, edges, bounds, levels, _, mass = zip(*axes, strict=True)
        shown = values[..., 0] if one else values
        shapes.append(Shape(features, edges, bounds, levels, shown, mass, share))
    shapes.sort(key=lambda shape: -shape.share)
    return Shapes(float(intercept[0]) if one else intercept, tuple(shapes))


def _variance(axes: tuple[Axis, ...], values: np.ndarray) -> float:
    """That of a term of mean zero under the product of the marginals, over all outputs."""
    squares = (values**2).sum(axis=-1)
    for axis in reversed(axes):
        squares = squares @ axis.mass
    return float(squares)


def _purified(
    table: np.ndarray, axes: tuple[Axis, ...]
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], np.ndarray]:
    """A pair's table without its means along either column; those, centered; and the mean of all."""
    first = np.tensordot(table, axes[1].mass, axes=(1, 0))
    second = np.tensordot(axes[0].mass, table, axes=(0, 0))
    mean = axes[0].mass @ first
    first, second = first - mean, second - mean
    return table - first[:, None] - second[None] - mean, (first, second), mean


def _pairs(games: Games, leaves: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    """The leaves with two columns, by those, the lower first."""
    entries = games.players[leaves]
    columns = np.sort(np.stack([games.player[entries], games.player[entries + 1]], axis=1), axis=1)
    kinds, kind = np.unique(columns, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    return {(int(a), int(b)): leaves[kind == number] for number, (a, b) in enumerate(kinds)}


def _entries(games: Games, leaves: np.ndarray, column: int) -> np.ndarray:
    """Where each of the leaves says what it asks of the column, which all of them ask about."""
    first = games.players[leaves]
    last = games.players[leaves + 1] - 1
    return np.where(games.player[first] == column, first, last)


def _edges(games: Games, leaves: np.ndarray, column: int) -> np.ndarray:
    """The thresholds that the leaves ask about."""
    tests = np.concatenate(
        [np.arange(games.tests[p], games.tests[p + 1]) for p in _entries(games, leaves, column)]
    )
    ends = np.concatenate([games.low[tests], games.high[tests]])
    return np.unique(ends[np.isfinite(ends)])


def _curve(games: Games, leaves: np.ndarray, axis: Axis) -> np.ndarray:
    """The sum of leaves that ask about one column only, (cells + 1, k)."""
    curve = np.zeros((len(axis.mass), games.value.shape[1]))
    for some in _blocks(leaves, len(axis.mass)):
        curve += passed(games, games.players[some], axis.points).T @ games.value[some]
    return curve


def _table(games: Games, leaves: np.ndarray, axes: tuple[Axis, ...], columns: tuple[int, int]) -> np.ndarray:
    """The sum of leaves that ask about these two columns, (cells + 1, cells + 1, k)."""
    shape = (*(len(axis.mass) for axis in axes), games.value.shape[1])
    if shape[0] * shape[1] > MOST_CELLS:
        raise ValueError(
            f"{axes[0].feature} and {axes[1].feature} have {shape[0]} times {shape[1]} cells, too many to lay out: "
            "merge levels, or fit with max_leaf_nodes=2"
        )
    table = np.zeros(shape)
    for some in _blocks(leaves, max(shape[:2])):
        first, second = (
            passed(games, _entries(games, some, column), axis.points)
            for column, axis in zip(columns, axes, strict=True)
        )
        for k in range(shape[2]):
            table[..., k] += (first * games.value[some, k, None]).T @ second
    return table


def _blocks(leaves: np.ndarray, n_cells: int) -> list[np.ndarray]:
    size = max(1, _BLOCK // n_cells)
    return [leaves[start : start + size] for start in range(0, len(leaves), size)]
