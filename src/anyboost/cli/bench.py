"""`anyboost bench`: how fast, against others, on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from anyboost.cli import _outputs

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

    from anyboost.files import container

    if name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not a benchmark; use {', '.join(NAMES)}", param_hint="NAME")
    reason = None if output is None else _outputs.refusal(output)
    if reason is not None:
        raise typer.BadParameter(reason, param_hint="--output")
    race = importlib.import_module(f"anyboost.benchmarks.{name}")
    for line in getattr(race, "HEAD", ()):
        typer.echo(line)
    results = race.race(quick, repeats, say=typer.echo)
    if output is not None:
        container.write(output, (json.dumps(results, indent=2) + "\n").encode())
        if hasattr(race, "page"):
            container.write(output.with_suffix(".md"), race.page(results).encode())
