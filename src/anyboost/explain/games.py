"""A sum of trees as games of its columns: what every leaf asks of each of them.

A leaf is reached by the rows that pass all tests on the way to it. Tests of one player, a column or the columns that
stand for one, count together: the player is passed or not. A row that leaves a player out goes both ways, in the shares
of the training rows, so that it passes this player with a weight, the product of the shares on the way.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost.trees.table import BINS
from anyboost.weak.each import EachFunction
from anyboost.weak.functions import TreeFunction, shared_categories


class Games(NamedTuple):
    """Leaves of all trees; those without tests are constants, and in `constant` alone.

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
    categories: tuple[np.ndarray, np.ndarray, np.ndarray]  # see `trees.table.Categories`
    constant: np.ndarray  # (k,): the sum where all players are left out

    @property
    def most_players(self) -> int:
        return int(np.diff(self.players).max(initial=0))


class _Test(NamedTuple):
    low: float = np.nan
    high: float = np.inf
    missing: bool = True
    passes: np.ndarray | None = None  # (256,) of bins, for categories

    def side(self, tree: TreeFunction, node: int, left: bool) -> "_Test":
        """This test and that of a split, on one of its sides."""
        number = tree.category_set[node]
        if number >= 0:
            words = tree.category_sets[number].astype("<u4")
            goes_left = np.unpackbits(words.view(np.uint8), bitorder="little").astype(np.bool_)
            own = goes_left if left else ~goes_left
            return self._replace(passes=own if self.passes is None else self.passes & own)
        threshold = float(tree.threshold[node])
        missing = self.missing and bool(tree.missing_left[node]) == left
        if left:
            return self._replace(high=min(self.high, threshold), missing=missing)
        low = threshold if np.isnan(self.low) else max(self.low, threshold)
        return self._replace(low=low, missing=missing)


class _Way(NamedTuple):
    """From the root to a node."""

    node: int
    tests: dict[int, _Test]  # by column
    weights: dict[int, float]  # by player


def games_of(terms: Sequence[tuple[float, Any]], start: np.ndarray, source: np.ndarray) -> Games:
    """The games of start + sum of coefficient times tree, in which column c is of the player source[c]."""
    trees = [(c, tree, j) for c, term in terms for tree, j in _trees(term)]
    outputs = len(start)
    constant = start.astype(np.float64)
    leaves: list[tuple[np.ndarray, _Way]] = []
    for coefficient, tree, output in trees:
        for way in _ways(tree, source):
            value = np.zeros(outputs)
            value[output] = coefficient * tree.value[way.node]
            constant = constant + value * float(np.prod(list(way.weights.values())))
            if way.weights:
                leaves.append((value, way))
    categories = shared_categories([tree for _, tree, _ in trees])
    return _flat(leaves, outputs, source, constant, categories)


def _trees(term: Any) -> list[tuple[TreeFunction, slice]]:
    """The trees of a term, with the outputs that each is of."""
    if isinstance(term, EachFunction):
        found = [(tree, slice(j, j + 1)) for j, tree in enumerate(term.trees)]
    elif isinstance(term, TreeFunction):
        found = [(term, slice(None))]
    else:
        raise TypeError(
            f"model is a sum of {type(term).__name__}, and Shapley values are computed of trees: "
            "use a model-agnostic explainer, such as shap.PermutationExplainer, on its predict"
        )
    for tree, _ in found:
        if tree.slopes is not None:
            raise TypeError(
                'model has trees of leaf="linear", of which Shapley values are not computed: fit it with another '
                "leaf, or use a model-agnostic explainer on its predict"
            )
        if tree.cover is None:
            raise ValueError(
                "model comes from a file of an older version, whose trees do not know how many rows went each way: "
                "fit it anew, or give background rows"
            )
    return found


def _ways(tree: TreeFunction, source: np.ndarray) -> list[_Way]:
    """The ways to all leaves, from left to right."""
    assert tree.cover is not None
    found, open_ways = [], [_Way(0, {}, {})]
    while open_ways:
        node, tests, weights = open_ways.pop()
        column = int(tree.feature[node])
        if column < 0:
            found.append(_Way(node, tests, weights))
            continue
        player = int(source[column])
        for child, left in ((int(tree.right[node]), False), (int(tree.left[node]), True)):
            share = float(tree.cover[child] / tree.cover[node]) if tree.cover[node] > 0 else 0.0
            own = {column: tests.get(column, _Test()).side(tree, node, left)}
            open_ways.append(_Way(child, tests | own, weights | {player: weights.get(player, 1.0) * share}))
    return found


def _flat(
    leaves: list[tuple[np.ndarray, _Way]],
    outputs: int,
    source: np.ndarray,
    constant: np.ndarray,
    categories: Any,
) -> Games:
    players, tests = [0], [0]
    player: list[int] = []
    weight: list[float] = []
    column: list[int] = []
    test: list[_Test] = []
    for _, way in leaves:
        for own, share in way.weights.items():
            mine = [c for c in way.tests if source[c] == own]
            player.append(own)
            weight.append(share)
            column += mine
            test += [way.tests[c] for c in mine]
            tests.append(len(column))
        players.append(len(player))
    sets = [each.passes for each in test if each.passes is not None]
    is_set = np.array([each.passes is not None for each in test], dtype=np.bool_)
    nothing = np.zeros(len(source), dtype=np.int64)
    return Games(
        np.array(players),
        np.array([value for value, _ in leaves]).reshape(len(leaves), outputs),
        np.array(player, dtype=np.int64),
        np.array(weight, dtype=np.float64),
        np.array(tests),
        np.array(column, dtype=np.int64),
        np.array([each.low for each in test], dtype=np.float64),
        np.array([each.high for each in test], dtype=np.float64),
        np.array([each.missing for each in test], dtype=np.bool_),
        np.where(is_set, np.cumsum(is_set) - 1, -1),
        np.array(sets, dtype=np.bool_).reshape(len(sets), BINS),
        (nothing - 1, nothing, np.zeros(0, dtype=np.uint8)) if categories is None else tuple(categories),
        constant,
    )
