"""`anyboost demo`: what the library does, and the reason for it: two tables, a figure, and a report to open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anyboost.cli.shared import paths

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from anyboost.experiments.contrast import Curve, Data
    from anyboost.experiments.tour import Station, Tour

    Work = Callable[[Callable[[int], None]], object]  # hears of how much is done by calling what it is given

CERTIFIED = "Certified: no sum of stumps of that norm has a training loss under the floor. Gap: loss - floor."


def command(
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Where the figure goes.")
    ] = Path("anyboost-demo.png"),
    report: Annotated[Path, typer.Option(dir_okay=False, help="Where the report goes.")] = Path(
        "anyboost-report.html"
    ),
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Stumps for each descent, one a round; 500 unless given.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the work.")] = False,
) -> None:
    """Show what the library does.

    A data frame with categories, intervals and what they cover, one row explained, a stream, a pool of models: a
    table, and a report on the model. Then three descents with the same stumps, by the multiclass hinge loss on two
    data sets: a table with certificates, and a figure.
    """
    from rich.console import Console

    from anyboost import report as reports
    from anyboost.experiments import contrast, methods
    from anyboost.experiments.tour import Tour

    console = Console()
    paths.check_output(output, paths.PICTURES)
    reason = paths.refusal(report)
    if reason is not None:
        raise typer.BadParameter(reason, param_hint="--report")
    stumps = methods.stops(rounds or (50 if quick else 500))[-1]
    tour = Tour(rounds=10, n_train=200, n_stream=60) if quick else Tour()
    with _bars(console) as do:
        stations = _go_round(tour, do)
        do("report", 1, lambda _: reports.write(tour.model, report, *tour.houses.test, title="anyboost demo"))
        curves = _descend(contrast.load(), stumps, do)
    contrast.draw(curves, output)
    console.print(_stations_table(stations))
    console.print(f"Three descents, multiclass hinge loss, up to {stumps} stumps each, steps 1/sqrt(t).")
    console.print(_table(curves))
    for line in (*_reading(curves), f"Figure: {output}", f"Report: {report}"):
        console.print(line, soft_wrap=True, highlight=False)


@contextmanager
def _bars(console: Console) -> Iterator[Callable[[str, int, Work], object]]:
    """A way to do work behind a bar of its own; where there is no terminal, behind a line."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def do(title: str, total: int, work: Work) -> object:
            bar = progress.add_task(title, total=total)
            if not console.is_terminal:
                console.print(title)
            found = work(partial(_advance, progress, bar))
            progress.update(bar, completed=total)
            return found

        yield do


def _go_round(tour: Tour, do: Callable[[str, int, Work], object]) -> list[Station]:
    """Every station of the tour."""
    work: list[tuple[str, int, Callable[..., list[Station]]]] = [
        ("frame, intervals", tour.rounds, tour.intervals),
        ("explained row", 1, tour.explained),
        ("stream", tour.n_stream, tour.stream),
        ("pool", 1, tour.pool),
    ]
    found: list[Station] = []
    for title, total, station in work:
        do(title, total, lambda tick, station=station: found.extend(station(tick)))  # type: ignore[misc]
    return found


def _descend(sets: list[Data], stumps: int, do: Callable[[str, int, Work], object]) -> list[Curve]:
    """Every method on every data set."""
    from anyboost.experiments import contrast
    from anyboost.experiments.methods import METHODS

    curves: list[Curve] = []
    for data in sets:
        contrast.warm_up(data)  # the numbers of their classes are kernels of their own
        for method in METHODS:
            do(
                f"{data.name}, {method}",
                stumps,
                lambda tick, data=data, method=method: curves.append(  # type: ignore[misc]
                    contrast.fit(data, method, stumps, tick)
                ),
            )
    return curves


def _advance(progress: Progress, bar: TaskID, done: int) -> None:
    progress.update(bar, completed=done)


def _stations_table(stations: list[Station]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("what", no_wrap=True)
    table.add_column("of what", overflow="fold")
    table.add_column("what came out", overflow="fold")
    for station in stations:
        table.add_row(*station)
    return table


def _table(curves: list[Curve]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, caption=CERTIFIED, caption_justify="left", padding=(0, 1))
    for heading in ("data", "method"):
        table.add_column(heading, no_wrap=True)
    for heading in ("stumps", "loss", "test error", "norm", "floor", "gap", "s"):
        table.add_column(heading, justify="right")
    for curve in curves:
        table.add_row(
            curve.data,
            curve.method,
            f"{curve.stumps[-1]}",
            f"{curve.loss[-1]:z.4f}",
            f"{curve.test_error[-1]:.1%}",
            f"{curve.norm:.1f}",
            f"{math.floor(1000 * curve.floor) / 1000:.3f}",  # a bound that is rounded up is no longer certified
            f"{math.ceil(1000 * curve.gap) / 1000:.3f}",
            f"{curve.seconds:.2f}",
            end_section=curve.method == "residual",
        )
    return table


def _reading(curves: list[Curve]) -> list[str]:
    """What the table says, in two sentences."""
    naive = [curve for curve in curves if curve.method == "naive"]
    residual = [curve for curve in curves if curve.method == "residual"]
    few = ", ".join(f"{curve.distinct} different on {curve.data}" for curve in naive)
    return [
        f"Naive boosting keeps returning to the same stumps ({few}): its loss ends at {_losses(naive)}.",
        f"Residual descent carries over what a stump missed: with no more stumps, {_losses(residual)}.",
    ]


def _losses(curves: list[Curve]) -> str:
    return " and ".join(f"{curve.loss[-1]:z.3f}" for curve in curves)
