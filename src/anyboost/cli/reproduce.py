"""`anyboost reproduce`: a figure or table of a paper, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NAMES = ("online",)  # each a module of anyboost.experiments with `run(quick, output, say)`


def command(
    name: Annotated[str, typer.Argument(help=f"Which experiment: {', '.join(NAMES)}.", show_default=False)],
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rows: to see that it runs, not what comes out.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A folder for the figure, the table and a JSON file.")
    ] = Path("anyboost-reproduce"),
) -> None:
    """Run an experiment of one of the papers and write its figure, its table and its figures as JSON.

    `online`: what online boosting gains over its base learner (Beygelzimer et al. 2015). The data sets come from
    the folder that ANYBOOST_DATA names.
    """
    from importlib import import_module

    if name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not an experiment; use {', '.join(NAMES)}", param_hint="NAME")
    if output.exists() and not output.is_dir():
        raise typer.BadParameter(f"{output} is a file: name a folder", param_hint="--output")
    try:
        import_module(f"anyboost.experiments.{name}").run(quick, output, say=typer.echo)
    except FileNotFoundError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    typer.echo(f"written to {output}")
