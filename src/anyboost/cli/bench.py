"""`anyboost bench`: how fast, and how accurate by default, against others, on this machine.

The races are in the folder `benchmarks` of the repository, beside the package and not in it.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from anyboost import saving
from anyboost.cli.shared import paths
from anyboost.cli.shared.console import explaining, fail

NAMES = ("speed", "online", "combine", "accuracy", "streams")
ACCURACY, BOTH = "With accuracy", "With accuracy and streams"
CHECKOUT = Path(__file__).resolve().parents[3]
ELSEWHERE = (
    "anyboost bench needs a checkout of the repository, installed with pip install --editable: the benchmarks are not "
    "part of the package"
)

Name = Annotated[str, typer.Argument(help=f"Which benchmark: {', '.join(NAMES)}.")]
Quick = Annotated[bool, typer.Option("--quick", help="Few rows and rounds: a look, not a result.")]
Repeats = Annotated[int, typer.Option(min=1, help="How often each library has its turn.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "--out",
        "-o",
        help="A JSON file for the figures; for speed, a page of them (.md) goes beside it; for accuracy "
        "and streams, a file of lines (.jsonl) that is added to.",
    ),
]
Sets = Annotated[str, typer.Option(help="Sets, with commas between; all unless given.", rich_help_panel=BOTH)]
Libraries = Annotated[
    str, typer.Option(help="Libraries, with commas between; all unless given.", rich_help_panel=BOTH)
]
Seeds = Annotated[int, typer.Option(min=1, help="Draws of the training rows.", rich_help_panel=ACCURACY)]
Rows = Annotated[
    int | None,
    typer.Option(
        min=100,
        help="The most rows to train on; 20,000, and 50,000 of a stream, unless given.",
        rich_help_panel=BOTH,
    ),
]
Threads = Annotated[int, typer.Option(min=1, help="Threads of every library.", rich_help_panel=ACCURACY)]
Judge = Annotated[bool, typer.Option("--judge", help="The judging sets, once.", rich_help_panel=BOTH)]
Validate = Annotated[
    bool, typer.Option("--validate", help="Leave the test parts alone.", rich_help_panel=ACCURACY)
]
Tuned = Annotated[
    bool, typer.Option("--tuned", help="Each library after a random search.", rich_help_panel=ACCURACY)
]


def command(
    name: Name = "speed",
    quick: Quick = False,
    repeats: Repeats = 5,
    output: Output = None,
    sets: Sets = "",
    libraries: Libraries = "",
    seeds: Seeds = 3,
    rows: Rows = None,
    threads: Threads = 1,
    judge: Judge = False,
    validate: Validate = False,
    tuned: Tuned = False,
) -> None:
    """Race anyboost against its peers on the same work.

    speed: LightGBM, XGBoost, scikit-learn and CatBoost; seconds, their time divided by ours, memory and training
    loss. online: Vowpal Wabbit, River and CapyMOA; examples a second, and progressive losses on streams of
    ANYBOOST_DATA. combine: mirror averaging against NumPy and River, and over stumps by the hundred thousand; steps a
    second. accuracy: test losses of everyone's defaults on sets of ANYBOOST_DATA; a run goes on where the last one
    stopped, and `python -m benchmarks.accuracy --report FILE` has the tables. streams: progressive losses, seconds and
    memory of everyone's defaults, with River, Vowpal Wabbit, CapyMOA and boosters refitted by hand; resumed alike,
    `python -m benchmarks.streams --report FILE`.
    Peers come with `pip install "anyboost[bench]"`; those not installed are named and left out. Needs a checkout of
    the repository.

    For example:

        anyboost bench --quick

        anyboost bench combine -o combine.json

        anyboost bench accuracy --libraries anyboost,lightgbm --seeds 1 -o accuracy.jsonl
    """
    if name not in NAMES:
        raise typer.BadParameter(f"{name!r} is not a benchmark; use {', '.join(NAMES)}", param_hint="NAME")
    paths.check_output(output)
    race = _race(name)
    if hasattr(race, "page") and output is not None and output.suffix == ".md":
        raise typer.BadParameter(
            f"a page goes beside the figures, as {output.name}: end their name in .json",
            param_hint="--output",
        )
    if name in ("accuracy", "streams"):
        given = (output or race.OUT, race.words(sets), race.words(libraries))
        if name == "accuracy":
            plan = race.Comparison(*given, seeds, rows or race.ROWS, threads, judge, validate, tuned)
        else:
            plan = race.Plan(*given, rows or race.ROWS, judge)
        with explaining():
            race.race(race.quick(plan) if quick else plan, say=typer.echo)
        return
    for line in getattr(race, "HEAD", ()):
        typer.echo(line)
    results = race.race(quick, repeats, say=typer.echo)
    if output is not None:
        paths.write_json(output, results)
        if hasattr(race, "page"):
            saving.write(output.with_suffix(".md"), race.page(results).encode())


def _race(name: str) -> Any:
    """The module of a benchmark, from the checkout that this package is in."""
    if not all((CHECKOUT / part).is_file() for part in ("pyproject.toml", f"benchmarks/{name}.py")):
        fail(ELSEWHERE)
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    return importlib.import_module(f"benchmarks.{name}")
