"""How a fit is going, in lines that become rarer with time: what `verbose` prints, and the command line."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from anyboost.estimators.dials import FOLDS
from anyboost.estimators.rounds import mean_curve


def print_line(line: str) -> None:
    """Print a line at once, in notebooks too."""
    print(line, flush=True)


class Progress:
    """A callback of `fit` that tells what is being fitted, the round, the loss and the time left.

    It hears all fits: those that search for the number of rounds come first, those that calibrate last.

    Parameters
    ----------
    tell : callable
        Takes a line.
    every : int or None, default None
        Tell of the rounds that this number divides, and not by the time that has passed.
    """

    def __init__(self, tell: Callable[[str], Any], every: int | None = None) -> None:
        self.tell, self.every = tell, every
        self.measured: Callable[[], str] | None = None  # the latest scores, in place of the loss held out
        self.plan(None, 0)

    def plan(self, rounds: int | None, folds: int) -> None:
        """Take in that a fit begins: its rounds, None if unknown, and the folds that search for them."""
        self.rounds, self.folds = rounds, folds
        self.watched: list[list[float]] = []  # the losses held out of each fit so far
        self.first_rows, self.main = 0, -1  # the number of the fit whose model is kept
        self.round = 0  # the latest
        self.begun = self.due = time.monotonic()
        self.pause = 1.0
        self.last: tuple[int, str] = (0, "")
        self.told = True

    def __call__(self, step: Any, run: Any) -> None:
        """Take in a round."""
        if step.round <= self.round or not self.watched:
            self.begin(0 if run.space is None else run.space.n)
        self.round = step.round
        self.watched[-1].append(float("nan") if step.valid_loss is None else step.valid_loss)
        self.show(step.round, self.total(), self.numbers(step))

    def begin(self, rows: int) -> None:
        """Take in another fit, of so many rows: that of the most is the one whose model is kept."""
        if self.watched:
            self.end()
        self.first_rows = self.first_rows or rows
        if self.main < 0 and (not self.folds or rows > self.first_rows):
            self.main = len(self.watched)
        self.begun = time.monotonic()
        self.watched.append([])

    def total(self) -> int | None:
        """How many rounds this fit will have, where that is known."""
        if self.folds and self.main > 0:
            return int(np.argmin(mean_curve(self.watched[: self.main]))) + 1
        return self.rounds

    def end(self) -> None:
        """Tell of the last round of a fit, where no line has."""
        if not self.told:
            self.show(self.last[0], None, self.last[1], due=True)

    def what(self) -> str:
        """What is being fitted."""
        if self.main < 0:
            part = f", part {len(self.watched)} of {self.folds}" if self.folds > 1 else ""
            return f"trying on rows held out{part}"
        fold = len(self.watched) - 1 - self.main
        if fold == 0:
            return "fitting"
        # After a search only the folds that ended too early are gone on with.
        return "calibrating" if self.folds else f"calibrating, fold {fold} of {FOLDS}"

    def numbers(self, step: Any) -> str:
        """The losses of a round."""
        held_out = "" if step.valid_loss is None else f"  held out {step.valid_loss:.6g}"
        return f"loss {step.loss:.6g}{held_out if self.measured is None else self.measured()}"

    def show(self, done: int, total: int | None, numbers: str, due: bool = False) -> None:
        """Tell of a round, where a line is due."""
        now, self.told, self.last = time.monotonic(), False, (done, numbers)
        if not (due or (done % self.every == 0 if self.every else now >= self.due)):
            return
        self.due, self.pause = now + self.pause, min(60.0, 1.5 * self.pause)
        spent, rounds = now - self.begun, len(self.watched[-1])
        left = "" if not total or done >= total else f"  about {spent / rounds * (total - done):.0f} s left"
        self.tell(f"{self.what()}: round {done}  {numbers}  {spent:.1f} s{left}")
        self.told = True
