"""A sum of trees as games of its columns: what every leaf asks of each of them.

A leaf is reached by the rows that pass all tests on the way to it. Tests of one player, a column or the columns that
stand for one, count together: the player is passed or not. A row that leaves a player out goes both ways, in the shares
of the training rows, so that it passes this player with a weight, the product of the shares on the way.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.compiler import bare
from anyboost.explain.importances import trees_of
from anyboost.trees.table import BINS, MISSING, Categories
from anyboost.weak.functions import TreeFunction, shared_categories


class Games(NamedTuple):
    """Leaves of all trees.

    The players of leaf l are players[l] .. players[l + 1], and the tests of player p tests[p] .. tests[p + 1].
    """

    players: np.ndarray
    value: np.ndarray  # (leaves, k)
    player: np.ndarray  # who it is
    weight: np.ndarray
    tests: np.ndarray
    column: np.ndarray
    low: np.ndarray  # numbers pass that are above this, or any for NaN,
    high: np.ndarray  # and not above that
    missing: np.ndarray  # whether a missing value passes
    number: np.ndarray  # of a set of categories; -1 for numbers
    sets: np.ndarray  # (sets, 256): which bins pass
    categories: Categories
    constant: np.ndarray  # (k,): the sum where all players are left out

    @property
    def most_players(self) -> int:
        return int(np.diff(self.players).max(initial=0))


class Room(NamedTuple):
    """Where the leaves of one tree are written; joined, those of all trees."""

    sizes: np.ndarray  # (leaves,): players of each
    player: np.ndarray
    weight: np.ndarray
    owner: np.ndarray  # the place among the tree's players of the one whose test it is
    column: np.ndarray
    low: np.ndarray
    high: np.ndarray
    missing: np.ndarray
    number: np.ndarray
    sets: np.ndarray


@bare
def _count(feature, parent, category_set):
    # Questions on the ways to all leaves, and those about categories.
    questions, of_categories = 0, 0
    for node in range(feature.shape[0]):
        above = parent[node] if feature[node] < 0 else -1
        while above >= 0:
            questions += 1
            of_categories += category_set[above] >= 0
            above = parent[above]
    return questions, of_categories


@bare
def _write(feature, threshold, left, missing_left, category_set, bits, cover, parent, source, room):
    # All leaves of a tree, in the order of their nodes; how many players, tests and sets there are.
    players, tests, sets, leaf = 0, 0, 0, 0
    for node in range(feature.shape[0]):
        if feature[node] >= 0:
            continue
        first, first_test, child = players, tests, node
        while parent[child] >= 0:
            above = parent[child]
            column, goes_left = feature[above], left[above] == child
            p = first
            while p < players and room.player[p] != source[column]:
                p += 1
            if p == players:
                room.player[p], room.weight[p] = source[column], 1.0
                players += 1
            room.weight[p] *= cover[child] / cover[above] if cover[above] > 0.0 else 0.0
            t = first_test
            while t < tests and room.column[t] != column:
                t += 1
            number = category_set[above]
            if t == tests:
                room.owner[t], room.column[t] = p, column
                room.low[t], room.high[t], room.missing[t], room.number[t] = np.nan, np.inf, True, -1
                tests += 1
                if number >= 0:
                    room.number[t] = sets
                    for entry in range(256):
                        room.sets[sets, entry] = True
                    sets += 1
            if number >= 0:
                for entry in range(256):
                    inside = (bits[number, entry >> 5] >> np.uint32(entry & 31)) & np.uint32(1) != 0
                    room.sets[room.number[t], entry] &= inside == goes_left
            else:
                room.missing[t] &= missing_left[above] == goes_left
                if goes_left:
                    room.high[t] = min(room.high[t], threshold[above])
                elif not threshold[above] <= room.low[t]:
                    room.low[t] = threshold[above]
            child = above
        room.sizes[leaf] = players - first
        leaf += 1
    return players, tests, sets


def games_of(
    terms: Sequence[tuple[float, Any]], start: np.ndarray, source: np.ndarray, by_cover: bool = True
) -> Games:
    """The games of start + sum of coefficient times tree, in which column c is of the player source[c].

    Where a background stands for those who are absent, and not the cover of nodes (`by_cover`), trees need not know it.
    """
    trees = [(c, *own) for c, term in terms for own in _trees(term, by_cover)]
    rooms = [_room(0, 0, 0), *(_leaves(tree, source) for _, tree, _ in trees)]
    values = np.zeros((sum(len(room.sizes) for room in rooms), len(start)))
    first = 0
    for coefficient, tree, output in trees:
        own = tree.value[tree.feature < 0]
        values[first : first + len(own), output] = coefficient * own
        first += len(own)
    players, tests, sets = (np.array([len(getattr(room, name)) for room in rooms]) for name in _LENGTHS)
    joined = {name: np.concatenate([getattr(room, name) for room in rooms]) for name in Room._fields}
    owner = joined["owner"] + np.repeat(np.cumsum(players) - players, tests)
    number = joined["number"] + np.repeat(np.cumsum(sets) - sets, tests) * (joined["number"] >= 0)
    edges = np.append(0, np.cumsum(joined["sizes"]))
    order = np.argsort(owner, kind="stable")  # tests of one player side by side
    left_out = np.array([np.prod(joined["weight"][a:b]) for a, b in pairwise(edges)])
    nothing = np.zeros(len(source), dtype=np.int64)
    categories = shared_categories([tree for _, tree, _ in trees])
    if categories is None:
        categories = Categories(nothing - 1, nothing, np.zeros(0, dtype=np.uint8))
    return Games(
        players=edges,
        value=values,
        **{name: joined[name] for name in ("player", "weight", "sets")},
        tests=np.append(0, np.cumsum(np.bincount(owner, minlength=len(joined["player"])))),
        **{name: joined[name][order] for name in ("column", "low", "high", "missing")},
        number=number[order],
        categories=categories,
        constant=start + left_out @ values,
    )


_LENGTHS = ("player", "column", "sets")
_KINDS: dict[str, Any] = dict.fromkeys(("weight", "low", "high"), np.float64) | {"missing": np.bool_}


def _room(leaves: int, tests: int, sets: int) -> Room:
    """Room for so many leaves, and for as many players as tests."""
    found = {name: np.empty(tests, dtype=_KINDS.get(name, np.int64)) for name in Room._fields}
    found["sizes"], found["sets"] = np.empty(leaves, dtype=np.int64), np.empty((sets, BINS), dtype=np.bool_)
    return Room(**found)


def _leaves(tree: TreeFunction, source: np.ndarray) -> Room:
    parent = np.full(len(tree.feature), -1)
    inner = np.flatnonzero(tree.feature >= 0)
    parent[tree.left[inner]] = parent[tree.right[inner]] = inner
    most, most_sets = _count(tree.feature, parent, tree.category_set)
    room = _room(len(tree.feature) - len(inner), most, most_sets)
    nodes = (tree.feature, tree.threshold, tree.left, tree.missing_left, tree.category_set)
    cover = np.ones(len(parent)) if tree.cover is None else tree.cover
    players, tests, sets = _write(*nodes, tree.category_sets, cover, parent, source, room)
    counts = (None, players, players, *(tests,) * 6, sets)
    return Room(*(part[:count] for part, count in zip(room, counts, strict=True)))


def passed(games: Games, entries: np.ndarray, points: Mapping[int, np.ndarray]) -> np.ndarray:
    """1 for the points that pass all tests of an entry, 0 for the others: (entries, points).

    All entries are of one player, and `points` has the values of each of its columns.
    """
    sizes = games.tests[entries + 1] - games.tests[entries]
    starts = np.cumsum(sizes) - sizes
    tests = np.repeat(games.tests[entries] - starts, sizes) + np.arange(sizes.sum())
    good = np.empty((len(tests), len(next(iter(points.values())))), dtype=np.bool_)
    for column in np.unique(games.column[tests]).tolist():
        own = games.column[tests] == column
        good[own] = _asked(games, tests[own], column, points[column])
    return np.logical_and.reduceat(good, starts, axis=0).astype(np.float64)


def _asked(games: Games, tests: np.ndarray, column: int, points: np.ndarray) -> np.ndarray:
    """Which points pass each of these tests, all of one column: (tests, points)."""
    numbers = games.number[tests]
    if numbers[0] >= 0:
        return games.sets[numbers][:, _bins(games, column, points)]
    low, high = games.low[tests, None], games.high[tests, None]
    return np.where(np.isnan(points), games.missing[tests, None], ~(points <= low) & (points <= high))


def _bins(games: Games, column: int, codes: np.ndarray) -> np.ndarray:
    """The bins of category codes."""
    first, size, bins = games.categories
    known = codes < size[column]  # no NaN is
    found = np.full(len(codes), MISSING)
    found[known] = bins[first[column] + codes[known].astype(np.intp)]
    return found


def _trees(term: Any, by_cover: bool) -> list[tuple[TreeFunction, slice]]:
    """The trees of a term, with the outputs that each is of."""
    trees = trees_of(term)
    if trees is None:
        raise TypeError(
            f"model is a sum of {type(term).__name__}, and Shapley values are computed of trees and linear functions: "
            "use a model-agnostic explainer, such as shap.PermutationExplainer, on its predict"
        )
    for tree in trees:
        if tree.slopes is not None:
            raise TypeError(
                'model has trees of leaf="linear", of which Shapley values are not computed: fit it with another '
                "leaf, or use a model-agnostic explainer on its predict"
            )
        if by_cover and tree.cover is None:
            raise ValueError(
                "model comes from a file of an older version, whose trees do not know how many rows went each way: "
                "fit it anew, or give background rows"
            )
    if isinstance(term, TreeFunction):
        return [(term, slice(None))]
    return [(tree, slice(j, j + 1)) for j, tree in enumerate(trees)]
