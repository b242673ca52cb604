"""The table that a stream prints as it goes: progressive loss at 1, 2, 4, 8, ... examples, in Vowpal Wabbit's layout.

Progressive loss scores each example before it is learnt, so its average is an honest test loss of one pass.
Columns of the caller's own stand to the right of the ones people know from VW.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

# Heading (two lines), width and number format of VW's columns; text is put left in the first two, right in the rest.
_COLUMNS = (
    ("average", "loss", "<8", ".6f"),
    ("since", "last", "<8", ".6f"),
    ("example", "counter", ">12", "d"),
    ("example", "weight", ">14", ".1f"),
    ("current", "label", ">14", ".4f"),
    ("current", "predict", ">14", ".4f"),
    ("current", "features", ">8", "d"),
)
_OWN_WIDTH = 12


@dataclass
class Tally:
    """What the table has to remember: seven numbers, whatever the length of the stream."""

    rows: int = 0
    weight: float = 0.0
    loss: float = 0.0
    last_weight: float = 0.0  # weight and loss when the last line was printed
    last_loss: float = 0.0
    label: float = 0.0  # weighted sum of labels
    features: int = 0

    def as_dict(self) -> dict[str, float]:
        """For a model file; `Tally(**numbers)` reads it back."""
        return asdict(self)


class ProgressTable:
    """Feed it examples in order and it returns the lines to print, each at its doubling count.

    own : headings of the caller's columns, two words each, e.g. [("constant", "loss"), ("single", "loss")].
    tally : where an earlier table stopped, to go on from there.

        table = ProgressTable(own=[("best", "constant")])
        print(table.heading())
        for rows in table.pieces(len(y)):                # no piece crosses a count at which a line is due
            losses = learn(X[rows], y[rows])
            table.add(losses, label=y[rows.stop - 1], prediction=..., features=...)
            if table.due:
                print(table.line(best_constant_so_far))
    """

    def __init__(self, own: Sequence[tuple[str, str]] = (), tally: Tally | None = None) -> None:
        self.own = tuple(own)
        self.tally = Tally() if tally is None else tally
        self._label: float | str = math.nan
        self._prediction: float | str = math.nan
        self._features = 0
        self._printed = 0

    @property
    def due(self) -> bool:
        """Whether the count of examples is 1, 2, 4, 8, ... and its line has not been made yet."""
        rows = self.tally.rows
        return rows > 0 and rows & (rows - 1) == 0 and rows != self._printed

    @property
    def average(self) -> float:
        """The progressive loss so far; nan before the first example."""
        return self.tally.loss / self.tally.weight if self.tally.weight else math.nan

    def pieces(self, n_rows: int) -> Iterator[slice]:
        """Slices of the next `n_rows` examples that end where a line is due. Add each before taking the next."""
        begin = 0
        while begin < n_rows:
            next_line = 1 << self.tally.rows.bit_length()  # the first power of two above the count
            end = min(n_rows, begin + next_line - self.tally.rows)
            yield slice(begin, end)
            begin = end

    def add(
        self,
        losses: np.ndarray,
        label: float | str,
        prediction: float | str,
        features: int,
        weights: np.ndarray | None = None,
        labels: np.ndarray | None = None,
        all_features: int | None = None,
    ) -> None:
        """Count some examples; label, prediction and features are those of the last of them.

        labels, all_features : of all of them, for the sums that the last lines print.
        """
        tally, losses = self.tally, np.atleast_1d(np.asarray(losses, dtype=np.float64))
        # Added one by one, so that the sums do not depend on how the stream was cut into pieces.
        weights = np.ones(len(losses)) if weights is None else np.atleast_1d(weights)
        for loss, weight in zip(losses.tolist(), weights.tolist(), strict=True):
            tally.loss += weight * loss
            tally.weight += weight
        if labels is not None:
            for value, weight in zip(np.atleast_1d(labels).tolist(), weights.tolist(), strict=True):
                tally.label += weight * value
        tally.features += features * len(losses) if all_features is None else all_features
        tally.rows += len(losses)
        self._label, self._prediction, self._features = label, prediction, features

    def heading(self) -> str:
        """The two lines above the table."""
        own = [(first, second, f">{_OWN_WIDTH}") for first, second in self.own]
        columns = [column[:3] for column in _COLUMNS] + own
        return "\n".join(
            " ".join(f"{names[which]:{names[2]}}" for names in columns).rstrip() for which in (0, 1)
        )

    def line(self, *own: float | str | None) -> str:
        """The line of this count, with the values of the caller's columns (None: unknown)."""
        tally = self.tally
        since = tally.weight - tally.last_weight
        values = (
            self.average,
            (tally.loss - tally.last_loss) / since if since else self.average,
            tally.rows,
            tally.weight,
            self._label,
            self._prediction,
            self._features,
        )
        tally.last_weight, tally.last_loss, self._printed = tally.weight, tally.loss, tally.rows
        texts = [_cell(value, *column[2:]) for value, column in zip(values, _COLUMNS, strict=True)]
        texts += [_cell(value, f">{_OWN_WIDTH}", ".6f") for value in own]
        return " ".join(texts)

    def ending(self) -> list[tuple[str, str]]:
        """The sums under the table, as VW names them."""
        tally = self.tally
        return [
            ("number of examples", str(tally.rows)),
            ("weighted example sum", f"{tally.weight:.6f}"),
            ("weighted label sum", f"{tally.label:.6f}"),
            ("average loss", "n.a." if math.isnan(self.average) else f"{self.average:.6f}"),
            ("total feature number", str(tally.features)),
        ]


def _cell(value: float | str | None, place: str, number: str) -> str:
    """One value in its column."""
    if value is None:
        return f"{'n.a.':{place}}"
    width = int(place[1:])
    text = value[:width] if isinstance(value, str) else _digits(value, width, number)
    return f"{text:{place}}"


def _digits(value: float, width: int, number: str) -> str:
    """The number with as many digits as there is room for: where it is large, fewer decimals, then a power of ten."""
    shorter = [f".{decimals}{form}" for form in "fe" for decimals in range(6, -1, -1)]
    texts = (f"{value:{form}}" for form in (number, *shorter))
    return next(text for text in texts if len(text) <= width)
