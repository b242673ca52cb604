"""How a fit is going: a bar with loss and time left on a terminal, elsewhere lines that become rarer with time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from rich.console import Console

from anyboost.cli.shared.console import bars_on, say
from anyboost.estimators.progress import Progress


class Bar(Progress):
    """The same on a terminal."""

    def __init__(self, bars: Any) -> None:
        super().__init__(say)
        self.bars, self.task, self.shown = bars, None, 0

    def show(self, done: int, total: int | None, numbers: str, due: bool = False) -> None:
        if self.shown < self.fits:
            if self.task is not None:
                self.bars.remove_task(self.task)
            self.task = self.bars.add_task(self.what(), total=total, numbers="")
            self.shown = self.fits
        self.bars.update(self.task, completed=done, total=total, numbers=f"round {done}  {numbers}")


@contextlib.contextmanager
def followed() -> Iterator[Progress]:
    """A callback that shows the rounds of a fit."""
    console = Console(stderr=True)
    if not console.is_terminal:
        lines = Progress(say)
        yield lines
        lines.end()
        return
    with bars_on(console) as bars:
        yield Bar(bars)
