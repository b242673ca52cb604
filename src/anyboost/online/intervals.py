"""Intervals of a stream model that keep their coverage while the world changes.

Adaptive conformal inference (Gibbs and Candès 2021) on a pair of quantiles, or around one answer: each end is an answer
moved by so much that a share a_t / 2 of its last residuals lies beyond, and a_t follows what has happened,

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


class RecentResiduals:
    """The last residuals of one answer, in their order and sorted."""

    def __init__(self, window: int) -> None:
        self.last: deque[float] = deque(maxlen=window)
        self.sorted: list[float] = []

    def add(self, residual: float) -> None:
        """One more; the oldest goes where there are as many as are kept."""
        if len(self.last) == self.last.maxlen:
            self.sorted.pop(bisect_left(self.sorted, self.last[0]))
        self.last.append(residual)
        insort(self.sorted, residual)

    def go_on(self, residuals: list[float]) -> None:
        """Take up those of an earlier time."""
        self.last.extend(residuals)
        self.sorted = sorted(self.last)


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
    ends : tuple of two objects or None, default None
        Stream models, one of a low quantile and one of a high one, which the ends start from: intervals are then wide
        where labels are uncertain. None: both ends start from the answer of `model`.

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

    def __init__(
        self,
        model: Any,
        coverage: float = 0.9,
        rate: float = 0.01,
        window: int = 1000,
        ends: tuple[Any, Any] | None = None,
    ) -> None:
        _check_model(model, "model")
        checks.between(coverage, "coverage", 0, 1)
        checks.between(rate, "rate", 0, 1)
        checks.count(window, "window", least=1)
        if ends is not None:
            if not isinstance(ends, tuple) or len(ends) != 2:
                raise TypeError(
                    "ends must be two stream models, (low, high), or None: try model.with_intervals()"
                )
            for end, name in zip(ends, ("ends[0]", "ends[1]"), strict=True):
                _check_model(end, name)
        self.model, self.coverage, self.rate, self.ends = model, coverage, rate, ends
        self.rows = 0
        self._missed = 0
        self._level = 1.0 - coverage  # a_t
        self._low = RecentResiduals(window)
        self._high = self._low if ends is None else RecentResiduals(window)

    @property
    def window(self) -> int:
        """How many of the last residuals ends are taken from."""
        assert self._low.last.maxlen is not None
        return self._low.last.maxlen

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
        return self._between(*self._starts(x))

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
        starts = self._starts(x)
        self.model.learn_one(x, y)  # it may refuse the row, and then nothing has changed
        for end in self.ends or ():
            end.learn_one(x, y)
        low, high = self._between(*starts)
        missed = not low <= label <= high
        self.rows += 1
        self._missed += missed
        self._level += self.rate * (1.0 - self.coverage - missed)
        self._low.add(label - starts[0])
        if self.ends is not None:
            self._high.add(label - starts[1])

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
            "residuals": list(self._low.last),
            "above": [] if self.ends is None else list(self._high.last),
        }

    def go_on(self, rows: int, missed: int, level: float, residuals: list[float], above: list[float]) -> None:
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
            The last ones, in their order; of the lower end where there are two.
        above : list of float
            Those of the upper end; none where both ends start from one answer.
        """
        self.rows, self._missed, self._level = rows, missed, level
        self._low.go_on(residuals)
        if self.ends is not None:
            self._high.go_on(above)

    def _starts(self, x: Mapping[Any, Any]) -> tuple[float, float]:
        if self.ends is None:
            answer = self.predict_one(x)
            return answer, answer
        low, high = (float(end.predict_one(x)) for end in self.ends)
        return low, high

    def _between(self, low: float, high: float) -> tuple[float, float]:
        if self._level >= 1.0:
            return math.nan, math.nan
        n = len(self._low.sorted)
        # So many residuals may lie beyond either end, the new one among them.
        beyond = math.floor(self._level / 2 * (n + 1))
        if self._level <= 0.0 or beyond == 0:
            return -math.inf, math.inf
        low, high = low + self._low.sorted[beyond - 1], high + self._high.sorted[n - beyond]
        return min(low, high), max(low, high)  # two models may cross


def _check_model(model: Any, name: str) -> None:
    for method in ("learn_one", "predict_one"):
        if not hasattr(model, method):
            raise TypeError(
                f"{name} must have {method}, as stream models do, got {type(model).__name__}: try "
                "ab.OnlineBoostingRegressor()"
            )
