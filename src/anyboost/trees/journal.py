"""The trees of a fit in the order in which they were grown, so that the same fit need not grow them again.

A tree's shape and the sums in its leaves are the same for all parts of the rows, and for any partition of them. Where
rows have come to lie elsewhere, a tree that is known is not counted: its rows are sent down it. Everything else, as
gradients, steps and losses, is computed anew, to the same bits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anyboost.trees.grown import Grown, TreeShape


class KeptTree(NamedTuple):
    """A `Grown` without what it has of each row; `goes_left` has its bits packed."""

    feature: np.ndarray
    bin: np.ndarray
    goes_left: np.ndarray
    left: np.ndarray
    order: np.ndarray
    gain: np.ndarray
    masses: np.ndarray
    leaf_nodes: np.ndarray
    sums: np.ndarray
    weights: np.ndarray
    leaf_masses: np.ndarray
    bounds: np.ndarray | None
    cover: np.ndarray


class Journal:
    """Trees that are known, and those that were grown since.

    Parameters
    ----------
    known : sequence of KeptTree, default ()
        Those of an earlier attempt.
    """

    def __init__(self, known: Sequence[KeptTree] = ()) -> None:
        self.kept: list[KeptTree] = list(known)
        self.place = 0  # of the tree that comes next

    def expect(self, trees: Sequence[KeptTree]) -> None:
        """These come next: where an earlier attempt has got this far, it knows them already."""
        if self.place == len(self.kept):
            self.kept.extend(trees)

    def recall(self) -> Grown | None:
        """The next tree, where it is known."""
        if self.place >= len(self.kept):
            return None
        self.place += 1
        return _grown(self.kept[self.place - 1])

    def remember(self, grown: Grown) -> None:
        """Take note of a tree that was grown."""
        self.kept.append(_kept(grown))
        self.place = len(self.kept)

    def since(self, place: int) -> list[KeptTree]:
        """The trees that have come from one place on."""
        return self.kept[place : self.place]


def _kept(grown: Grown) -> KeptTree:
    shape = grown.shape
    fields: dict[str, Any] = {name: np.array(getattr(shape, name)) for name in _OF_SHAPE}
    return KeptTree(
        **fields,
        goes_left=np.packbits(shape.goes_left, axis=1),
        sums=np.array(grown.sums),
        weights=np.array(grown.weights),
        leaf_masses=np.array(grown.masses),
        bounds=None if grown.bounds is None else np.array(grown.bounds),
        cover=np.array(grown.cover),
    )


def _grown(kept: KeptTree) -> Grown:
    nothing = np.empty(0, dtype=np.int64)
    shape = TreeShape(
        **{name: getattr(kept, name) for name in _OF_SHAPE},
        goes_left=np.unpackbits(kept.goes_left, axis=1).view(np.bool_),
        right=kept.left + (kept.left > 0),
        starts=nothing,
        stops=nothing,
    )
    return Grown(shape, kept.sums, kept.weights, kept.leaf_masses, kept.bounds, nothing, kept.cover)


_OF_SHAPE = ("feature", "bin", "left", "order", "gain", "masses", "leaf_nodes")
