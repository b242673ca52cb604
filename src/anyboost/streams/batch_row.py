"""One encoded row for a batch expert: its cells in the table of the trees, and the sum of these, in two calls.

A fitted booster reads tables: codes of categories by their levels, encoded ones by their statistics. Here every text's
cells are looked up once, when the booster begins to answer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.compiler import entry, kernel
from anyboost.checks import Floats
from anyboost.losses import Logistic
from anyboost.streams.layout import Layout
from anyboost.trees.predictor import for_one_row
from anyboost.weak.functions import JoinedTrees


class Cells(NamedTuple):
    """Where the columns of encoded rows go, and what is there in a row that has none of them."""

    places: np.ndarray  # (encoded columns,) the first cell of each; -1: it has none
    texts: np.ndarray  # (encoded columns,) its row of `told`; -1 where it holds numbers
    told: np.ndarray  # (texts, most cells of one) what a text becomes
    counts: np.ndarray  # (texts,) how many cells
    absent: np.ndarray  # (cells,)


def cells_of(layout: Layout, model: Any) -> Cells:
    """Of a layout, in the table of the trees of the booster that was fitted by it."""
    firsts = np.searchsorted(model._sources(), np.arange(layout.width))
    absent = np.full(len(model._sources()), layout.absent)
    known = layout.places >= 0
    places = np.where(known, firsts[layout.places], -1)
    texts = np.full(len(places), -1)
    told: list[Floats] = []
    for place in layout.categorical:
        own = np.flatnonzero(layout.texts & (layout.places == place))
        given = model._cells(place, np.append(own, layout.absent).astype(np.float64))
        absent[firsts[place] : firsts[place] + given.shape[1]] = given[-1]
        texts[own] = np.arange(len(own)) + sum(len(each) for each in told)
        told.append(given[:-1])
    most = max((each.shape[1] for each in told), default=0)
    padded = [np.pad(each, ((0, 0), (0, most - each.shape[1]))) for each in told]
    counts = np.concatenate([np.zeros(0), *(np.full(len(each), each.shape[1]) for each in told)])
    return Cells(
        places.astype(np.int64),
        texts.astype(np.int64),
        np.concatenate([np.zeros((0, most)), *padded]),
        counts.astype(np.int64),
        absent,
    )


@kernel
def fill_cells(cells, columns, values, out):
    """out[0] = the row."""
    for place in range(len(cells.absent)):
        out[0, place] = cells.absent[place]
    for i in range(len(values)):
        if columns[i] < len(cells.places) and cells.places[columns[i]] >= 0:
            place, text = cells.places[columns[i]], cells.texts[columns[i]]
            if text < 0:
                out[0, place] = values[i]
            else:
                for k in range(cells.counts[text]):
                    out[0, place + k] = cells.told[text, k]


class BatchRow:
    """Memory for the answers of one fitted booster to one row."""

    def __init__(self, layout: Layout, model: Any) -> None:
        self.model, self.ensemble = model, model.ensemble_
        self.cells = cells_of(layout, model)
        self.table = np.empty((1, len(self.cells.absent)))
        self.scores = np.empty((1, self.ensemble.outputs))
        self.raw = self.scores[:, 0] if self.ensemble.outputs == 1 else self.scores
        self.fill: Any = None
        self.asked: Any = None
        joined = self.ensemble.as_one()
        self.add, self.given = joined, (self.table, self.scores, 1)
        if isinstance(joined, JoinedTrees):
            trees, self.given = for_one_row(self.table, joined.forest, self.scores)
            self.add = entry(trees, self.given)

    @property
    def is_of_odds(self) -> bool:
        """Whether its score is the log odds of the second of two classes."""
        return self.model.calibration_ is None and isinstance(self.model.loss_, Logistic)

    def scores_of(self, columns: np.ndarray, values: Floats) -> Floats:
        """The raw scores (1,) or (1, K) of the row, in memory that the next call reuses.

        Who learns a row has often asked about it just before: then they are there.
        """
        asked = columns.tobytes(), values.tobytes()
        if asked == self.asked:
            return self.raw
        self.asked = asked
        if self.fill is None:
            self.fill = entry(fill_cells, (self.cells, columns, values, self.table))
        self.fill(self.cells, columns, values, self.table)
        self.scores[:] = self.ensemble.start
        self.add(*self.given)
        return self.raw
