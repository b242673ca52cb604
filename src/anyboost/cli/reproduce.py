"""`anyboost reproduce`: the figures and tables of the papers, on this machine."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from anyboost.cli.shared.console import say, showing

if TYPE_CHECKING:
    from rich.console import Console

PAGE = "reproduced.html"
COLORS = {"reproduced": "green", "partly": "yellow", "not reproduced": "red"}


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="Which experiment; without one they are listed.", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help=f"Every experiment, and one page of all: {PAGE}.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Small and without data sets: to see that it runs, not what comes out."),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what the folder has finished results of.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A folder for figures, tables and JSON; anyboost-reproduce unless given (-quick if quick).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run an experiment of one of the papers: its figure, its table, and what became of its claims.

    Data sets come from the folder that ANYBOOST_DATA names, or else from OpenML. A run that was stopped goes on
    where it was, and finished results of this version are used again.

    For example:

        anyboost reproduce

        anyboost reproduce rates --quick

        anyboost reproduce --all -o results
    """
    from rich.console import Console

    from anyboost.experiments import frame

    console = Console(highlight=False)
    if name is None and not everything:
        _list(console)
        return
    if name is not None and everything:
        raise typer.BadParameter("give a name or --all, not both", param_hint="NAME")
    if name is not None and name not in frame.NAMES:
        known = ", ".join(frame.NAMES)
        raise typer.BadParameter(f"{name!r} is not an experiment; use {known}", param_hint="NAME")
    if output is None:
        output = Path("anyboost-reproduce-quick" if quick else "anyboost-reproduce")
    names = frame.NAMES if name is None else (name,)
    _check(output, names, quick)
    missed = _missing(output, names, quick, fresh)
    possible = [each for each in names if each not in missed]
    if fresh:
        _forget(output, possible)
    try:
        for each in possible:
            try:
                _tell(console, _record(console, each, quick, output))
            except FileNotFoundError as error:  # a data set that has gone since
                _miss(missed, each, error)
    except KeyboardInterrupt:
        _stop(name or "--all", quick, output)
    if everything:
        from anyboost.experiments import page

        page.write(output / PAGE, names, quick, output, missed)
        console.print(f"the page is {output / PAGE}", soft_wrap=True)
    if missed:
        raise typer.Exit(1)
    console.print(f"written to {output}", soft_wrap=True)


def _record(console: Console, name: str, quick: bool, output: Path) -> dict[str, Any]:
    """The results of an experiment: those that are there, else measured now."""
    from anyboost.experiments import frame

    console.print(f"[bold]{name}[/bold]: {frame.named(name).TITLE}", soft_wrap=True)
    record = frame.reuse(name, quick, output)
    if record is not None:
        used = f"finished results in {output / name}.json are used; --fresh measures again"
        console.print(used, soft_wrap=True)
        return record
    with showing(console) as show:
        return frame.run(name, quick, output, show)


def _missing(output: Path, names: Sequence[str], quick: bool, fresh: bool) -> dict[str, str]:
    """The experiments that lack data sets, with a sentence each, which is also printed: before any of them begins."""
    from anyboost.experiments import frame

    missed: dict[str, str] = {}
    for name in names:
        try:
            frame.check_data(name, quick, output, fresh)
        except FileNotFoundError as error:
            _miss(missed, name, error)
    return missed


def _miss(missed: dict[str, str], name: str, error: FileNotFoundError) -> None:
    missed[name] = str(error)
    say(f"{name}: {error}")


def _forget(output: Path, names: Sequence[str]) -> None:
    for name in names:
        for ending in ("json", "part"):
            (output / f"{name}.{ending}").unlink(missing_ok=True)


def _stop(what: str, quick: bool, output: Path) -> NoReturn:
    """One line that says how to go on."""
    words = ["anyboost", "reproduce", what, *(["--quick"] if quick else []), "--output", str(output)]
    say(f"stopped; what was measured is kept, go on with: {shlex.join(words)}")
    raise typer.Exit(130) from None


def _list(console: Console) -> None:
    from anyboost.experiments import frame

    for name in frame.NAMES:
        console.print(f"{name:<12}{frame.named(name).TITLE}", soft_wrap=True)
    console.print("\nanyboost reproduce NAME runs one of them, --all every one.", soft_wrap=True)


def _check(output: Path, names: tuple[str, ...], quick: bool) -> None:
    """Refuse a folder that is a file or closed, and a quick run over the results of a full one."""
    from anyboost.experiments import frame

    place = next(place for place in (output, *output.absolute().parents) if place.exists())
    if not place.is_dir():
        raise typer.BadParameter(f"{place} is a file: name a folder", param_hint="--output")
    if not os.access(place, os.W_OK | os.X_OK):
        raise typer.BadParameter(
            f"nothing may be written in {place}: name another folder", param_hint="--output"
        )
    for name in names:
        record = frame.found(name, output)
        if quick and record is not None and not record.get("quick"):
            reason = (
                f"{output / name}.json holds a full run, which a quick one would replace: name another folder"
            )
            raise typer.BadParameter(reason, param_hint="--output")


def _tell(console: Console, record: dict[str, Any]) -> None:
    """The table, and the claims with their verdicts."""
    from rich.markdown import Markdown

    from anyboost.experiments import frame

    lines = frame.named(record["experiment"]).table(record["results"])
    if console.is_terminal:
        console.print(Markdown("\n".join(lines)))
    else:
        console.print("\n".join(lines), markup=False, soft_wrap=True)
    console.print()
    if record["quick"]:
        console.print("A quick run shows that it works; what it says of the claims means nothing:")
    for claim in record["claims"]:
        verdict = claim["verdict"]
        console.print(f"[{COLORS[verdict]}]{verdict}[/]: ", end="")
        console.print(f"{claim['says']}\n    {claim['because']}", markup=False, soft_wrap=True)
    console.print()
