"""`anyboost demo`: what the library does, and the reason for it: two tables, a figure, and a report to open."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anyboost.cli.shared import paths
from anyboost.cli.shared.console import explaining

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from anyboost.experiments.contrast import Curve, Data
    from anyboost.experiments.overview import Line, Overview

    Behind = Callable[
        [str, int], AbstractContextManager[Callable[[int], None]]
    ]  # gives what hears how much is done

CERTIFIED = (
    "Floor: certified, no sum of stumps of norm {0} or less has a smaller training loss, whoever finds it."
)


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

    For example:

        anyboost demo

        anyboost demo --rounds 100 -o descents.svg --report demo.html
    """
    from rich.console import Console

    from anyboost import report as reports
    from anyboost.experiments import contrast, methods
    from anyboost.experiments.overview import Overview

    console = Console()
    paths.check_output(output, paths.PICTURES)
    reason = paths.refusal(report)
    if reason is not None:
        raise typer.BadParameter(reason, param_hint="--report")
    with explaining():
        paths.check_apart({"--output": output, "--report": report})
    stumps = methods.stops(rounds or (50 if quick else 500))[-1]
    overview = Overview(rounds=10, n_train=200, n_stream=60) if quick else Overview()
    with _bars(console) as behind:
        lines = _look_around(overview, behind)
        with behind("report", 1):
            reports.write(overview.model, report, *overview.houses.test, title="anyboost demo")
        curves = _descend(contrast.load(), stumps, behind)
    contrast.draw(curves, output)
    console.print(_overview_table(lines))
    console.print(f"Three descents, multiclass hinge loss, up to {stumps} stumps each, steps 1/sqrt(t).")
    console.print(_table(curves))
    for sentence in (*_reading(curves), f"Figure: {output}", f"Report: {report}"):
        console.print(sentence, soft_wrap=True, highlight=False)


@contextmanager
def _bars(console: Console) -> Iterator[Behind]:
    """A way to put work behind a bar of its own; where there is no terminal, behind a line."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        @contextmanager
        def behind(title: str, total: int) -> Iterator[Callable[[int], None]]:
            bar = progress.add_task(title, total=total)
            if not console.is_terminal:
                console.print(title)
            yield lambda done: progress.update(bar, completed=done)
            progress.update(bar, completed=total)

        yield behind


def _look_around(overview: Overview, behind: Behind) -> list[Line]:
    """Every line of the first table."""
    work = [
        ("frame, intervals", overview.rounds, overview.intervals),
        ("explained row", 1, overview.explained),
        ("stream", overview.n_stream, overview.stream),
        ("pool", 1, overview.pool),
    ]
    found: list[Line] = []
    for title, total, piece in work:
        with behind(title, total) as tick:
            found += piece(tick)
    return found


def _descend(sets: list[Data], stumps: int, behind: Behind) -> list[Curve]:
    """Every method on every data set."""
    from anyboost.experiments import contrast
    from anyboost.experiments.methods import METHODS

    curves: list[Curve] = []
    for data in sets:
        contrast.warm_up(data)  # the numbers of their classes are kernels of their own
        for method in METHODS:
            with behind(f"{data.name}, {method}", stumps) as tick:
                curves.append(contrast.fit(data, method, stumps, tick))
    return curves


def _overview_table(lines: list[Line]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("what", no_wrap=True)
    table.add_column("of what", overflow="fold")
    table.add_column("what came out", overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table


def _table(curves: list[Curve]) -> Table:
    from rich import box
    from rich.table import Table

    from anyboost.experiments.contrast import RADIUS

    table = Table(
        box=box.SIMPLE_HEAD, caption=CERTIFIED.format(RADIUS), caption_justify="left", padding=(0, 1)
    )
    for heading in ("data", "method"):
        table.add_column(heading, no_wrap=True)
    for heading in ("stumps", "loss", "test error", "norm", "floor", "s"):
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
