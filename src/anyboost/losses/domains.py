"""What a loss's targets may be: a domain knows its words, its test and its advice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anyboost import checks
from anyboost.checks import Floats

LARGEST = 1e100  # squares of targets, and sums of them, must be finite
# The search for best constants and leaf steps tells numbers apart down to 2^-100, about 1e-30, and squares of smaller
# numbers vanish.
SMALLEST = 1e-24


def are_tiny(largest: float) -> bool:
    """Whether targets of this largest size are too small to be fitted; zeros are not."""
    return 0.0 < largest < SMALLEST


@dataclass(frozen=True)
class Domain:
    """The set of targets a loss accepts.

    Parameters
    ----------
    words : str
        Completes "y must be ...".
    contains : callable
        Takes finite float64 targets and gives one bool a row.
    advice : str, default "change or drop that row"
        What to do with a target outside.
    classes : bool, default False
        Whether targets are class numbers 0 .. k-1 (kept as int64).

    Examples
    --------
    >>> import anyboost as ab
    >>> shares = ab.losses.Domain("between 0 and 1", lambda y: (y >= 0) & (y <= 1))
    >>> shares.check([0.2, 1.0], "mine")
    array([0.2, 1. ])
    """

    words: str
    contains: Callable[[Floats], npt.NDArray[np.bool_]]
    advice: str = "change or drop that row"
    classes: bool = False

    def check(self, y: Any, loss: str) -> npt.NDArray[Any]:
        """Contiguous targets inside the domain, or a sentence about the first one outside.

        Parameters
        ----------
        y : array_like
            Targets.
        loss : str
            The loss's name, for the sentence.

        Returns
        -------
        ndarray
            float64, or int64 for classes.
        """
        targets = checks.column(y, "y")
        if np.abs(targets).max(initial=0.0) > LARGEST:
            row = int(np.argmax(np.abs(targets)))
            raise ValueError(
                f"y must be at most {LARGEST:g} in size, got {targets[row]:.12g} at row {row}: divide y by a "
                "number, or drop that row"
            )
        inside = np.asarray(self.contains(targets), dtype=bool)
        if not inside.all():
            row = int(np.argmin(inside))
            raise ValueError(
                f"y must be {self.words} for the loss {loss}, got {targets[row]:.12g} at row {row}: "
                + self.advice
            )
        return targets.astype(np.int64) if self.classes else targets


def _anything(y: Floats) -> npt.NDArray[np.bool_]:
    return np.ones(y.shape, dtype=bool)


def _nonnegative(y: Floats) -> npt.NDArray[np.bool_]:
    return y >= 0


def _positive(y: Floats) -> npt.NDArray[np.bool_]:
    return y > 0


def _signs(y: Floats) -> npt.NDArray[np.bool_]:
    return np.abs(y) == 1


def _nonzero(y: Floats) -> npt.NDArray[np.bool_]:
    return y != 0


def _class_numbers(y: Floats) -> npt.NDArray[np.bool_]:
    return (y >= 0) & (y == np.floor(y)) & (y < 2**31)


REALS = Domain("a real number", _anything)
NONNEGATIVE = Domain("0 or larger", _nonnegative, "drop that row, or use squared or absolute")
POSITIVE = Domain("larger than 0", _positive, "drop that row, or use tweedie, which allows 0")
SIGNS = Domain("-1 or +1", _signs, "map the two classes to -1 and +1")
SIGNED_TIMES = Domain(
    "+time for an event, -time for a row seen without one", _nonzero, "give it a time above 0"
)
CLASSES = Domain("a class number 0, 1, ..., k-1", _class_numbers, "number the classes from 0", classes=True)
