"""Intervals around the answers of a stream model that keep their coverage while the world changes.

Adaptive conformal inference (Gibbs and Candès 2021): beyond either end lies a share a_t / 2 of the last residuals,
and a_t follows what has happened,

    a_{t+1} = a_t + rate (a - missed_t),    so that  |mean of missed - a| <= (max(a, 1 - a) + rate) / (rate T)

for any sequence of labels whatever. In return an interval is infinite where a_t has fallen too low for the residuals
there are, as at the start, and empty where it has risen to one.
"""

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Mapping
from typing import Any

from anyboost import checks


class AdaptiveIntervals:
    """A stream model of numbers with intervals that keep their coverage under drift.

    Parameters
    ----------
    model : object
        With `learn_one(x, y)` and `predict_one(x)`, such as `ab.OnlineBoostingRegressor()` or a regressor of River.
    coverage : float, default 0.9
        The share of labels between the ends.
    rate : float, default 0.01
        How far the level moves with a miss: more follows changes sooner, and makes ends restless.
    window : int, default 1000
        How many of the last residuals ends are taken from.

    Attributes
    ----------
    rows : int
        Rows learnt.
    window : int
        As given.
    covered : float
        The share of their labels that lay between the ends of the time; NaN before the first.

    Examples
    --------
    >>> import anyboost as ab
    >>> model = ab.online.AdaptiveIntervals(ab.OnlineBoostingRegressor(learner="linear"), coverage=0.8)
    >>> for day in range(500):
    ...     model.learn_one({"day": day % 7}, day % 7 + (day * 31 % 11) / 11)
    >>> low, high = model.predict_interval_one({"day": 3})
    >>> low < 3.5 < high, abs(model.covered - 0.8) <= model.off_by_at_most()
    (True, True)
    """

    def __init__(self, model: Any, coverage: float = 0.9, rate: float = 0.01, window: int = 1000) -> None:
        for method in ("learn_one", "predict_one"):
            if not hasattr(model, method):
                raise TypeError(
                    f"model must have {method}, as stream models do, got {type(model).__name__}: try "
                    "ab.OnlineBoostingRegressor()"
                )
        checks.between(coverage, "coverage", 0, 1)
        checks.between(rate, "rate", 0, 1)
        checks.count(window, "window", least=1)
        self.model, self.coverage, self.rate = model, coverage, rate
        self.rows = 0
        self._missed = 0
        self._level = 1.0 - coverage  # a_t
        self._recent: deque[float] = deque(maxlen=window)
        self._sorted: list[float] = []

    @property
    def window(self) -> int:
        """How many of the last residuals ends are taken from."""
        assert self._recent.maxlen is not None
        return self._recent.maxlen

    @property
    def covered(self) -> float:
        """The share of labels that lay between the ends of the time; NaN before the first."""
        return 1.0 - self._missed / self.rows if self.rows else math.nan

    def off_by_at_most(self) -> float:
        """How far `covered` can be from `coverage`, whatever the labels were.

        Returns
        -------
        float
            (max(a, 1 - a) + rate) / (rate rows) with a = 1 - coverage; infinite before the first row.
        """
        most = max(self.coverage, 1.0 - self.coverage) + self.rate
        return most / (self.rate * self.rows) if self.rows else math.inf

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The model's answer.

        Parameters
        ----------
        x : mapping
            Features by name.

        Returns
        -------
        float
            The answer.
        """
        return float(self.model.predict_one(x))

    def predict_interval_one(self, x: Mapping[Any, Any]) -> tuple[float, float]:
        """Ends that the label is expected between: infinite where too little is known, NaN where nothing is left.

        Parameters
        ----------
        x : mapping
            Features by name.

        Returns
        -------
        tuple of float
            Lower and upper end.
        """
        return self._around(self.predict_one(x))

    def learn_one(self, x: Mapping[Any, Any], y: float) -> None:
        """Learn from a row: first whether its interval was right, then the model from it.

        Parameters
        ----------
        x : mapping
            Features by name.
        y : float
            The label.
        """
        label = checks.real(y, "y")
        answer = self.predict_one(x)
        self.model.learn_one(x, y)  # it may refuse the row, and then nothing has changed
        low, high = self._around(answer)
        missed = not low <= label <= high
        self.rows += 1
        self._missed += missed
        self._level += self.rate * (1.0 - self.coverage - missed)
        if len(self._recent) == self._recent.maxlen:
            self._sorted.pop(bisect_left(self._sorted, self._recent[0]))
        self._recent.append(label - answer)
        insort(self._sorted, label - answer)

    def state(self) -> dict[str, Any]:
        """What has happened so far, beside what the model has learnt; for files.

        Returns
        -------
        dict
            What `go_on` takes.
        """
        return {
            "rows": self.rows,
            "missed": self._missed,
            "level": self._level,
            "residuals": list(self._recent),
        }

    def go_on(self, rows: int, missed: int, level: float, residuals: list[float]) -> None:
        """Take up a `state`.

        Parameters
        ----------
        rows : int
            Rows learnt.
        missed : int
            Those whose label was not between the ends.
        level : float
            The share that is to lie beyond the ends.
        residuals : list of float
            The last ones, in their order.
        """
        self.rows, self._missed, self._level = rows, missed, level
        self._recent.extend(residuals)
        self._sorted = sorted(self._recent)

    def _around(self, answer: float) -> tuple[float, float]:
        if self._level >= 1.0:
            return math.nan, math.nan
        n = len(self._sorted)
        # So many residuals may lie beyond either end, the new one among them.
        beyond = math.floor(self._level / 2 * (n + 1))
        if self._level <= 0.0 or beyond == 0:
            return -math.inf, math.inf
        return answer + self._sorted[beyond - 1], answer + self._sorted[n - beyond]
