"""What a command tells people: how far it has come with its pieces of work, and why it ends."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

T = TypeVar("T")
DEBUG = "ANYBOOST_DEBUG"  # set while a command runs with --debug
Show = Callable[[str, float, int], None]  # takes the piece at work, the pieces done (and a share), and all


@contextlib.contextmanager
def showing(console: Console) -> Iterator[Show]:
    """A bar over pieces of work in a terminal; elsewhere a line a piece."""
    if not console.is_terminal:
        yield _lines(console)
        return
    with bars_on(console) as bars:
        tasks: list[Any] = []

        def show(label: str, done: float, total: int) -> None:
            now: dict[str, Any] = {"completed": done, "numbers": f"{int(done)}/{total}"}
            if not tasks:
                # Begun where a stopped run had been, or what was done then would count as fast work.
                tasks.append(bars.add_task(label, total=total, **now))
            bars.update(tasks[0], description=label, **now)

        yield show


def bars_on(console: Console) -> Progress:
    """Bars with words before them, `numbers` and times behind them; nothing is left of them in the end."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[numbers]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)


def _lines(console: Console) -> Show:
    last = ""

    def show(label: str, done: float, total: int) -> None:
        nonlocal last
        if label and label != last:
            console.print(f"{int(done) + 1} of {total}: {label}", markup=False, soft_wrap=True)
        last = label

    return show


def say(sentence: str) -> None:
    """A remark, apart from the results."""
    typer.echo(sentence, err=True)


def standard_output() -> Any:
    """Standard output for bytes; a sentence where a shell has closed it (`>&-`)."""
    if sys.stdout is None:
        raise ValueError("standard output (-) is closed: name a file to write to")
    return sys.stdout.buffer


def teller(output: object) -> Callable[[str], None]:
    """What prints lines beside results: where these go to standard output, that is `say`."""
    return say if str(output) == "-" else typer.echo


class Warned:
    """Has work done whose warnings are said in a sentence each, however often they come."""

    def __init__(self) -> None:
        self.said: set[str] = set()

    def __call__(self, work: Callable[[], T]) -> T:
        """What the work gives."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                return work()
            finally:
                for sentence in (_spoken(one.message) for one in caught if one.category is UserWarning):
                    if sentence not in self.said:
                        self.said.add(sentence)
                        say(sentence)


def _spoken(message: object) -> str:
    """In one line, and without the name that Python has for the table."""
    return re.sub(r" of X\b", "", " ".join(str(message).split()))


def fail(sentence: str, code: int = 1) -> NoReturn:
    """End the command with a sentence that says why, and with --debug also where."""
    if DEBUG in os.environ and sys.exc_info()[0] is not None:
        traceback.print_exc()
    say(" ".join(sentence.split()))
    raise typer.Exit(code)


@contextlib.contextmanager
def explaining(*kinds: type[Exception]) -> Iterator[None]:
    """End the command with the sentence of an error: of a ValueError, an OSError, or of these kinds too."""
    expected: tuple[type[Exception], ...] = (ValueError, OSError, *kinds)
    try:
        yield
    except BrokenPipeError:  # whoever read the output has seen enough
        raise
    except expected as error:
        fail(of_system(error) if isinstance(error, OSError) and error.strerror else str(error))


def of_system(error: OSError) -> str:
    """A sentence about an error of the system, which of a full disk or pipe names no file."""
    names = {None: "a file or standard output", "-": "standard output"}
    return f"{names.get(error.filename, error.filename)} cannot be used: {error.strerror}"
