"""`anyboost demo`: the reason for this library, in a table and a figure."""

from __future__ import annotations

import math
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

CERTIFIED = "Certified: no sum of stumps of that norm has a training loss under the floor. Gap: loss - floor."


def command(
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Where the figure goes.")
    ] = Path("anyboost-demo.png"),
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Stumps for each method, one a round; 500 unless given.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the stumps.")] = False,
) -> None:
    """Show what projecting the leftovers is worth.

    Fits the multiclass hinge loss with stumps to two data sets, three ways and with the same number of
    stumps each, then prints a table and saves a figure.
    """
    from rich.console import Console

    from anyboost.experiments import contrast, methods

    console = Console()
    paths.check_output(output, paths.PICTURES)
    stumps = methods.stops(rounds or (50 if quick else 500))[-1]
    console.print(f"Multiclass hinge loss, up to {stumps} stumps for each method, steps 1/sqrt(t).")
    curves = _fit_all(contrast.load(), stumps, console)
    contrast.draw(curves, output)
    console.print(_table(curves))
    for line in (*_reading(curves), f"Figure: {output}"):
        console.print(line, soft_wrap=True, highlight=False)


def _fit_all(sets: list[Data], stumps: int, console: Console) -> list[Curve]:
    """Every method on every data set, behind a progress bar over the stumps."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from anyboost.experiments import contrast
    from anyboost.experiments.methods import METHODS

    columns = (TextColumn("{task.description:<18}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bars = {
            (data.name, method): progress.add_task(f"{data.name}, {method}", total=stumps, start=False)
            for data in sets
            for method in METHODS
        }
        for data in sets:  # the numbers of their classes are kernels of their own
            contrast.warm_up(data)
        curves = []
        for data in sets:
            for method in METHODS:
                bar = bars[data.name, method]
                progress.start_task(bar)
                hear = partial(_advance, progress, bar)
                curve = contrast.fit(data, method, stumps, hear)
                progress.update(bar, total=curve.stumps[-1])  # fewer where the loss reached its minimum
                curves.append(curve)
    return curves


def _advance(progress: Progress, bar: TaskID, stumps: int) -> None:
    progress.update(bar, completed=stumps)


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
