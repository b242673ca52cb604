"""`anyboost bench`: how fast, against others, on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

NAMES = ("speed", "online", "combine")


def command(
    name: Annotated[str, typer.Argument(help=f"Which benchmark: {', '.join(NAMES)}.")] = "speed",
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rows and rounds: a look, not a result.")
    ] = False,
    repeats: Annotated[int, typer.Option(min=1, help="How often each library has its turn.")] = 5,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A JSON file for the figures; for speed, a page of them (.md) goes beside it.",
        ),
    ] = None,
) -> None:
    """Race anyboost against its peers on the same work.

    speed: LightGBM, XGBoost, scikit-learn and CatBoost; seconds, their time divided by ours, memory and training
    loss. online: Vowpal Wabbit, River and CapyMOA; examples a second, and progressive losses on streams of
    ANYBOOST_DATA. combine: mirror averaging against NumPy and River, and over stumps by the hundred thousand; steps a
    second.
    Peers come with `pip install "anyboost[bench]"`; those not installed are named and left out.
    """
    import importlib

    if name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not a benchmark; use {', '.join(NAMES)}", param_hint="NAME")
    if output is not None and not output.parent.is_dir():
        raise typer.BadParameter(f"no such folder, create it first: {output.parent}", param_hint="--output")
    race = importlib.import_module(f"anyboost.benchmarks.{name}")
    for line in getattr(race, "HEAD", ()):
        typer.echo(line)
    results = race.race(quick, repeats, say=typer.echo)
    if output is not None:
        output.write_text(json.dumps(results, indent=2) + "\n")
        if hasattr(race, "page"):
            output.with_suffix(".md").write_text(race.page(results))
