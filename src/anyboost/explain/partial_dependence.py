"""Partial dependence: what a sum of functions says where some columns have the values of a grid, and rows the others.

At a point g of the grid a leaf of value v is reached by a row with the share b, 1 or 0, that its tests of the other
columns leave: of a row of a table, or of the training rows by the cover of the nodes. The tests of the grid's columns
make a box of the grid, and a box is the cumulative sum of its corners:

    f(g, row) = sum over leaves of v b(row) 1[g in box] = cumulative sum over g of sum over leaves of v b(row) corners

A row costs the corners of the leaves, and no tree is walked at any point. Linear functions are added in closed form.
Other functions are asked at every point.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from anyboost import checks
from anyboost.ensemble import Ensemble
from anyboost.explain import linear
from anyboost.explain.games import Games, games_of, passed
from anyboost.explain.importances import trees_of
from anyboost.explain.linear import Line
from anyboost.explain.shap import reached

_NUMBERS = 2**22  # that are held at once, about


class Grid(NamedTuple):
    """Columns of the user's table, and for each the points of its axis: the values of the model's columns for it."""

    columns: tuple[int, ...]
    points: tuple[Mapping[int, np.ndarray], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(next(iter(axis.values()))) for axis in self.points)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


def scores(
    ensemble: Ensemble, source: np.ndarray, X: np.ndarray, grid: Grid, n_threads: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """The raw scores (rows, *grid, k) of some rows after others."""
    boxes = Boxes.of(ensemble, source, grid, False)
    most = grid.size * ensemble.outputs * (1 if boxes is not None else X.shape[1])
    for rows in _portions(len(X), most if boxes is None else max(most, boxes.n_leaves)):
        if boxes is None:
            yield rows, _asked_everywhere(ensemble, X[rows], grid, n_threads)
        else:
            yield rows, boxes.scores(X[rows], n_threads)


def mean_scores(
    ensemble: Ensemble, source: np.ndarray, X: np.ndarray, shares: np.ndarray, grid: Grid, n_threads: int
) -> np.ndarray:
    """The mean raw scores (*grid, k) over rows of these shares."""
    boxes = Boxes.of(ensemble, source, grid, False)
    if boxes is not None:
        return boxes.mean_scores(X, shares, n_threads)
    total = np.zeros((*grid.shape, ensemble.outputs))
    for rows, found in scores(ensemble, source, X, grid, n_threads):
        total += np.tensordot(shares[rows], found, axes=1)
    return total


def scores_by_cover(
    ensemble: Ensemble, source: np.ndarray, grid: Grid, means: np.ndarray | None
) -> np.ndarray:
    """The raw scores (*grid, k) where rows go both ways at other cuts, in the shares of the training rows."""
    boxes = Boxes.of(ensemble, source, grid, True)
    if boxes is None:
        raise TypeError(
            'method="recursion" needs trees with constant leaves, or linear functions, and the model has others: use '
            'method="brute"'
        )
    return boxes.scores_by_cover(means)


class Boxes:
    """The leaves of a sum of trees as boxes of a grid, and its linear functions."""

    def __init__(
        self, games: Games, line: Line | None, start: np.ndarray, source: np.ndarray, grid: Grid
    ) -> None:
        self.games, self.line, self.start, self.grid = games, line, start, grid
        self.others = ~np.isin(games.player, grid.columns)  # players that the grid does not decide on
        self.other_columns = np.flatnonzero(~np.isin(source, grid.columns))
        self.corners = _corners(games, grid)
        self.n_leaves = len(games.value)

    @classmethod
    def of(cls, ensemble: Ensemble, source: np.ndarray, grid: Grid, by_cover: bool) -> "Boxes | None":
        """The boxes of a sum; None where it has other functions."""
        terms = list(zip(ensemble.coefficients, ensemble.hypotheses, strict=True))
        lines = [term for term in terms if linear.is_linear(term[1])]
        rest = [term for term in terms if not linear.is_linear(term[1])]
        for _, function in rest:
            trees = trees_of(function)
            if trees is None or any(tree.slopes is not None for tree in trees):
                return None
            if by_cover and any(tree.cover is None for tree in trees):
                raise ValueError(
                    "model comes from a file of an older version, whose trees do not know how many rows went each "
                    'way: fit it anew, or use method="brute"'
                )
        line = linear.line_of(lines, ensemble.outputs, ensemble.n_features) if lines else None
        return cls(games_of(rest, ensemble.start, source, by_cover), line, ensemble.start, source, grid)

    def scores(self, X: np.ndarray, n_threads: int) -> np.ndarray:
        """(rows, *grid, k)"""
        return self._at_points(reached(self.games, X, self.others, n_threads), self._line_of(X))

    def mean_scores(self, X: np.ndarray, shares: np.ndarray, n_threads: int) -> np.ndarray:
        """(*grid, k)"""
        share = np.zeros((self.n_leaves, 1))
        for rows in _portions(len(X), self.n_leaves):
            share[:, 0] += reached(self.games, X[rows], self.others, n_threads) @ shares[rows]
        return self._at_points(share, shares[None] @ self._line_of(X))[0]

    def scores_by_cover(self, means: np.ndarray | None) -> np.ndarray:
        """(*grid, k)"""
        share = np.ones((self.n_leaves, 1))
        leaf = np.repeat(np.arange(self.n_leaves), np.diff(self.games.players))
        np.multiply.at(share[:, 0], leaf[self.others], self.games.weight[self.others])
        if self.line is None:
            return self._at_points(share, np.zeros((1, len(self.start))))[0]
        if means is None:
            raise ValueError(
                "model comes from a file of an older version, which does not know the means of the training rows: "
                'fit it anew, or use method="brute"'
            )
        return self._at_points(share, self._line_of(means[None]))[0]

    def _at_points(self, share: np.ndarray, of_lines: np.ndarray) -> np.ndarray:
        """The scores (rows, *grid, k), from shares of leaves, (leaves, rows), and what lines say of rows, (rows, k)."""
        shape, rows = self.grid.shape, share.shape[1]
        found = np.empty((rows, *shape, len(self.start)))
        for output, start in enumerate(self.start.tolist()):
            own = self.corners.multiply(self.games.value[:, output, None]).tocsr()
            sums = (own.T @ share).T.reshape(rows, *shape)
            for axis in range(len(shape)):
                np.cumsum(sums, axis=axis + 1, out=sums)
            found[..., output] = sums + start
        found += of_lines.reshape(rows, *(1,) * len(shape), -1)
        for place, points in enumerate(self.grid.points):
            if self.line is not None:
                values = np.stack(list(points.values()), axis=1)
                checks.finite_table(values, "the grid")
                added = values @ self.line.weight[:, list(points)].T
                found += np.expand_dims(added, [axis for axis in range(len(shape)) if axis != place])
        return found

    def _line_of(self, X: np.ndarray) -> np.ndarray:
        """What linear functions say of rows without the columns of the grid, (rows, k)."""
        if self.line is None:
            return np.zeros((len(X), len(self.start)))
        checks.finite_table(X, "X")
        return X[:, self.other_columns] @ self.line.weight[:, self.other_columns].T + self.line.constant


def _corners(games: Games, grid: Grid) -> csr_array:
    """(leaves, points): the numbers whose cumulative sums along all axes are 1 in a leaf's box and 0 outside."""
    n_leaves, corners = len(games.value), None
    leaf = np.repeat(np.arange(n_leaves), np.diff(games.players))
    for column, points, size in zip(grid.columns, grid.points, grid.shape, strict=True):
        inside = np.ones((n_leaves, size))
        entries = np.flatnonzero(games.player == column)
        if len(entries):
            inside[leaf[entries]] = passed(games, entries, points)
        inside[:, 1:] = np.diff(inside, axis=1)
        own = csr_array(inside)
        corners = own if corners is None else _products(corners, own)
    assert corners is not None
    return corners


def _products(first: csr_array, second: csr_array) -> csr_array:
    """All products of a number of a row of the first and one of that row of the second, in their order."""
    counts = np.diff(second.indptr)
    row = np.repeat(np.arange(first.shape[0]), np.diff(first.indptr))
    partners = counts[row]
    one = np.repeat(np.arange(first.nnz), partners)
    other = np.arange(len(one)) - np.repeat(np.cumsum(partners) - partners, partners)
    other += second.indptr[row[one]]
    width = second.shape[1]
    return csr_array(
        (
            first.data[one] * second.data[other],
            first.indices[one].astype(np.int64) * width + second.indices[other],
            np.append(0, np.cumsum(np.diff(first.indptr) * counts)),
        ),
        shape=(first.shape[0], first.shape[1] * width),
    )


def _asked_everywhere(ensemble: Ensemble, X: np.ndarray, grid: Grid, n_threads: int) -> np.ndarray:
    """(rows, *grid, k) of any functions, which predict all rows at some points at a time."""
    found = np.empty((len(X), grid.size, ensemble.outputs))
    place = np.unravel_index(np.arange(grid.size), grid.shape)
    for some in _portions(grid.size, X.size):
        table = np.repeat(X, some.stop - some.start, axis=0).reshape(len(X), -1, X.shape[1])
        for axis, points in zip(place, grid.points, strict=True):
            for column, values in points.items():
                table[:, :, column] = values[axis[some]]
        answers = ensemble.predict(table.reshape(-1, X.shape[1]), None, n_threads)
        found[:, some] = answers.reshape(len(X), -1, ensemble.outputs)
    return found.reshape(len(X), *grid.shape, ensemble.outputs)


def _portions(n: int, each: int) -> list[slice]:
    """Slices of 0 .. n, each with about as many numbers as are held at once."""
    size = max(1, _NUMBERS // max(1, each))
    return [slice(start, stop) for start, stop in pairwise([*range(0, n, size), n])]
