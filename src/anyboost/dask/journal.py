"""The trees of a fit in the order in which they were grown, so that a fit that lost a worker need not grow them again.

A tree's shape and the sums in its leaves are the same for all members and any partition of the rows. Where rows have
come to other workers, a tree that is known is not counted: its rows are sent down it. Everything else, as gradients,
steps and losses, is computed anew, to the same bits.
"""

from collections.abc import Sequence

import numpy as np

from anyboost.trees.grown import Grown, Shape

Kept = tuple  # the fields of a `Grown`, those of each row left out


class Journal:
    """Trees that are known, and those that were grown since.

    Parameters
    ----------
    known : sequence of Kept, default ()
        Those of an earlier attempt.
    """

    def __init__(self, known: Sequence[Kept] = ()) -> None:
        self.kept: list[Kept] = list(known)
        self._next = 0

    def recall(self) -> Grown | None:
        """The next tree, where it is known."""
        if self._next >= len(self.kept):
            return None
        shape, *others = self.kept[self._next]
        self._next += 1
        fields = dict(zip(_SHAPE, shape, strict=True))
        fields["goes_left"] = np.unpackbits(fields["goes_left"], axis=1).view(np.bool_)
        nothing = np.empty(0, dtype=np.int64)
        grown = dict(zip(_GROWN, others, strict=True))
        return Grown(shape=Shape(**fields, starts=nothing, stops=nothing), leaf=nothing, **grown)

    def remember(self, grown: Grown) -> None:
        """Take note of a tree that was grown."""
        shape = grown.shape._replace(goes_left=np.packbits(grown.shape.goes_left, axis=1))
        fields = tuple(np.array(getattr(shape, name)) for name in _SHAPE)
        others = (getattr(grown, name) for name in _GROWN)
        self.kept.append((fields, *(None if part is None else np.array(part) for part in others)))
        self._next = len(self.kept)


# What members share of a tree; the rest is of the rows of each
_SHAPE = ("feature", "bin", "goes_left", "left", "right", "order", "gain", "masses", "leaf_nodes")
_GROWN = ("sums", "weights", "masses", "bounds", "cover")
