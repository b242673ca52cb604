"""How a fit is going: a bar with loss and time left on a terminal, elsewhere lines that become rarer with time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console

from anyboost.cli.shared.console import bars_on, say
from anyboost.estimators.dials import FOLDS
from anyboost.estimators.rounds import mean_curve


class Rounds:
    """A callback of `fit`. Fits that look for the number of rounds come first, those that calibrate last."""

    hears_search = True

    def __init__(self, rounds: int | None, searches: bool) -> None:
        self.rounds = rounds  # None where the fit finds them
        self.searches = searches  # on parts of the rows, before it begins
        self.watched: list[list[float]] = []  # of each fit so far
        self.first_rows, self.main = 0, -1  # the number of the fit whose model is kept
        self.round = 0
        self.begun = self.due = time.monotonic()
        self.pause = 1.0
        self.last, self.said = (0, ""), True

    def __call__(self, step: Any, run: Any) -> None:
        if step.round <= self.round or not self.watched:
            self.begin(run.space.n)
        self.round = step.round
        self.watched[-1].append(float("nan") if step.valid_loss is None else step.valid_loss)
        self.show(step.round, self.total(), self.numbers(step))

    def begin(self, rows: int) -> None:
        """Another fit, of so many rows: that of the most is the one whose model is kept."""
        if self.main == len(self.watched) - 1 >= 0:
            self.end()
        self.first_rows = self.first_rows or rows
        if self.main < 0 and (not self.searches or rows > self.first_rows):
            self.main = len(self.watched)
        self.begun = time.monotonic()
        self.watched.append([])

    def total(self) -> int | None:
        """How many rounds this fit will have, where that is known."""
        if self.searches and self.main > 0:
            return int(np.argmin(mean_curve(self.watched[: self.main]))) + 1
        return self.rounds

    def end(self) -> None:
        """The line of the last round, where it was not due."""
        if not self.said:
            self.due = 0.0
            self.show(self.last[0], None, self.last[1])

    def what(self) -> str:
        """What is being fitted."""
        if self.main < 0:
            return "trying on rows held out"
        fold = len(self.watched) - 1 - self.main
        if fold == 0:
            return "fitting"
        # after a search only the folds that ended too early are gone on with
        return "calibrating" if self.searches else f"calibrating, fold {fold} of {FOLDS}"

    def numbers(self, step: Any) -> str:
        valid = "" if step.valid_loss is None else f"  held out {step.valid_loss:.6g}"
        return f"loss {step.loss:.6g}{valid}"

    def show(self, done: int, total: int | None, numbers: str) -> None:
        """A line, where it is due."""
        now, self.said, self.last = time.monotonic(), False, (done, numbers)
        if now < self.due:
            return
        self.due, self.pause = now + self.pause, min(60.0, 1.5 * self.pause)
        spent = now - self.begun
        left = "" if not total or done >= total else f"  about {spent / done * (total - done):.0f} s left"
        say(f"{self.what()}: round {done}  {numbers}  {spent:.1f} s{left}")
        self.said = True


class Bar(Rounds):
    """The same on a terminal."""

    def __init__(self, rounds: int | None, searches: bool, bars: Any) -> None:
        super().__init__(rounds, searches)
        self.bars, self.task, self.shown = bars, None, 0

    def show(self, done: int, total: int | None, numbers: str) -> None:
        if self.shown < len(self.watched):
            if self.task is not None:
                self.bars.remove_task(self.task)
            self.task, self.shown = (
                self.bars.add_task(self.what(), total=total, numbers=""),
                len(self.watched),
            )
        self.bars.update(self.task, completed=done, total=total, numbers=f"round {done}  {numbers}")


@contextlib.contextmanager
def followed(rounds: int | None, searches: bool) -> Iterator[Rounds]:
    """A callback that shows the rounds of a fit, of which there will be so many (None: not known).

    searches : whether the fit looks for their number on parts of the rows, before it is made.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = Rounds(rounds, searches)
        yield lines
        lines.end()
        return
    with bars_on(console) as bars:
        yield Bar(rounds, searches, bars)
