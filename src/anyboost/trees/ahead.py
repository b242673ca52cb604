"""Histograms that a growing tree will soon ask for, added up over parts along with one that it asks for now.

A tree is grown a leaf at a time, and each asks for a sum over all parts. But most leaves that gain much are split
sooner or later, whatever their order. So where one has to be waited for, rows are parted and counted for others too.
What is not asked for after all is forgotten: the tree is the same.
"""

from typing import Any

import numpy as np

from anyboost.trees.frontier import Search, Tree
from anyboost.trees.rows import Ground, Rows

_LIKELY = 0.3  # the best leaves that are looked at ahead, as a share of the splits that are left
_MOST_MEMORY = 2**25  # bytes of histograms that are not asked for yet


class Ahead:
    """Rows parted and counted for the children of a leaf that is split, and of those that are likely to be next."""

    def __init__(self, rows: Rows, search: Search, tree: Tree, ground: Ground) -> None:
        self._search, self._tree, self._ground = search, tree, ground
        self._known: dict[
            int, tuple[int, np.ndarray | None]
        ] = {}  # where the right child begins; the lighter one's
        size = tree.slab.shape[1:]
        self._spare: list[np.ndarray] = []
        if ground.apart:
            most = min(len(tree.leaves), _MOST_MEMORY // tree.slab[0].nbytes)
            room = rows.once(("ahead", size, most), lambda: np.zeros((most, *size), dtype=np.int64))
            self._spare = list(room)

    def ask(self) -> None:
        """Have the rows parted of the node that was split last, and counted for the children that wait."""
        tree, state = self._tree, self._tree.state[0]
        number = int(state["parent"])
        if number not in self._known:
            self._count(number)
        middle, sums = self._known.pop(number)
        parent = tree.nodes[number]
        for child, edges in enumerate(((parent["start"], middle), (middle, parent["stop"]))):
            tree.nodes[parent["left"] + child]["start"], tree.nodes[parent["left"] + child]["stop"] = edges
        if sums is not None:
            self._spare.append(sums)
        if not state["waiting"]:
            return
        small, large = tree.nodes[state["small"]], tree.nodes[state["large"]]
        if sums is not None:
            tree.slab[small["slot"]] = sums
        if state["both"]:
            self._ground.histogram(int(large["start"]), int(large["stop"]), tree.slab[large["slot"]])

    def _count(self, number: int) -> None:
        """Part and count what is asked for now, and with it what is likely to be asked for."""
        tree, ranges, counted = self._tree, [], []
        state = tree.state[0]
        wanted = [number, *self._likely()] if state["waiting"] else [number]
        for one in wanted:
            node = tree.nodes[one]
            start, stop = int(node["start"]), int(node["stop"])
            middle = self._ground.partition(int(node["column"]), tree.goes_left[one], start, stop)
            sums = None
            if state["waiting"]:
                sums = self._spare.pop() if self._spare else np.zeros_like(tree.slab[0])
                ranges.append((middle, stop) if self._right_is_lighter(one) else (start, middle))
                counted.append(sums)
            self._known[one] = middle, sums
        if counted:
            self._ground.histograms(ranges, counted)

    def _likely(self) -> list[int]:
        """The leaves that gain most, as far as they will be split, of which nothing is known yet."""
        search, tree, state = self._search, self._tree, self._tree.state[0]
        left = search.max_leaves - int(state["n_leaves"]) - 1  # the last split asks for nothing
        numbers = tree.leaves[: state["n_leaves"]]
        gains = tree.nodes["gain"][numbers]
        best = numbers[np.argsort(-gains, kind="stable")][
            : min(int((gains >= 0.0).sum()), int(_LIKELY * left))
        ]
        likely = [int(one) for one in best if int(one) not in self._known and self._will_ask(int(one))]
        return likely[: max(0, len(self._spare) - 1)]

    def _will_ask(self, number: int) -> bool:
        masses, node = self._masses(number), self._tree.nodes[number]
        return bool(
            node["depth"] + 1 != self._search.max_depth and max(masses) >= 2 * self._search.limits.least
        )

    def _right_is_lighter(self, number: int) -> bool:
        left, right = self._masses(number)
        return right < left

    def _masses(self, number: int) -> tuple[Any, Any]:
        """The masses of both children of a leaf's best cut."""
        left = self._tree.lefts[number, -1]
        return left, self._tree.totals[number, -1] - left
