"""How a fit is going: a bar with loss and time left on a terminal, elsewhere lines that become rarer with time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console

from anyboost.cli.shared.console import bars_on, say
from anyboost.estimators.rounds import mean_curve


class Rounds:
    """A callback of `fit`. Fits that look for the number of rounds come first, each from round 1 on."""

    hears_search = True

    def __init__(self, rounds: int | None) -> None:
        self.rounds = rounds  # None where the fit looks for them
        self.watched: list[list[float]] = [[]]
        self.begun = self.due = time.monotonic()
        self.pause = 1.0
        self.last, self.said = (0, ""), True

    def __call__(self, step: Any, run: Any) -> None:
        if step.round == 1:
            self.begun = time.monotonic()
            if self.watched[-1]:
                self.watched.append([])
        self.watched[-1].append(float("nan") if step.valid_loss is None else step.valid_loss)
        self.show(step.round, self.total(), self.numbers(step))

    def total(self) -> int | None:
        """How many rounds this fit will have, where that is known."""
        if self.rounds is not None or not np.isnan(self.watched[-1][0]):
            return self.rounds
        curves = self.watched[:-1]
        if not curves:
            return None
        return int(np.argmin(mean_curve(curves))) + 1

    def end(self) -> None:
        """The line of the last round, where it was not due."""
        if not self.said:
            self.due = 0.0
            self.show(self.last[0], None, self.last[1])

    def what(self) -> str:
        """What is being fitted."""
        return "trying on rows held out" if self.total() is None else "fitting"

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

    def __init__(self, rounds: int | None, bars: Any) -> None:
        super().__init__(rounds)
        self.bars, self.task = bars, None

    def show(self, done: int, total: int | None, numbers: str) -> None:
        if self.task is None or done == 1:
            if self.task is not None:
                self.bars.remove_task(self.task)
            self.task = self.bars.add_task(self.what(), total=total, numbers="")
        self.bars.update(self.task, completed=done, total=total, numbers=f"round {done}  {numbers}")


@contextlib.contextmanager
def followed(rounds: int | None) -> Iterator[Rounds]:
    """A callback that shows the rounds of a fit, of which there will be so many (None: not known)."""
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = Rounds(rounds)
        yield lines
        lines.end()
        return
    with bars_on(console) as bars:
        yield Bar(rounds, bars)
