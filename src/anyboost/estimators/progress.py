"""How a fit is going, in lines that become rarer with time: what `verbose` prints, and the command line."""

import time
from collections.abc import Callable
from typing import Any

from anyboost.estimators.dials import FOLDS


def print_line(line: str) -> None:
    """Print a line at once, in notebooks too."""
    print(line, flush=True)


class Progress:
    """A callback of `fit` that tells what is being fitted, the round, the loss and the time left.

    It is told of all fits: those that search for the number of rounds come first, those that calibrate last.

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
        self.fits = self.done = 0  # so far, and the rounds of the latest
        self.round = 0  # the latest
        self.begun = self.due = time.monotonic()
        self.pause = 1.0
        self.last: tuple[int, str] = (0, "")
        self.told = True

    def __call__(self, step: Any, run: Any) -> None:
        """Take in a round."""
        if step.round <= self.round or not self.fits:
            self.begin()
        self.round = step.round
        self.done += 1
        self.show(step.round, self.rounds, self.numbers(step))

    def begin(self) -> None:
        """Take in another fit."""
        if self.fits > self.folds:
            self.end()
        self.fits, self.done, self.begun = self.fits + 1, 0, time.monotonic()

    def end(self) -> None:
        """Tell of the last round of a fit, where no line has."""
        if not self.told:
            self.show(self.last[0], None, self.last[1], due=True)

    def what(self) -> str:
        """What is being fitted."""
        fold = self.fits - self.folds - 1  # after the fit whose model is kept
        if fold < 0:
            part = f", part {self.fits} of {self.folds}" if self.folds > 1 else ""
            return f"trying on rows held out{part}"
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
        spent = now - self.begun
        left = (
            "" if not total or done >= total else f"  about {spent / self.done * (total - done):.0f} s left"
        )
        self.tell(f"{self.what()}: round {done}  {numbers}  {spent:.1f} s{left}")
        self.told = True
