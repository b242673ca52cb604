"""The `anyboost` command.

One file a command: every module of this package is a command, its function `command` does the work, and that
function's docstring is the help. Command modules import the library inside `command`, so that `anyboost --help` stays
instant. What commands are made of is in the packages beside them.

Exit codes: 0, done; 1, it could not be done, and a sentence says why; 2, the command was not understood; 130, stopped
by the user; 143, by SIGTERM.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer import Typer

FIRST = ("fit", "predict", "explain", "report", "cv", "convert", "inspect", "stream", "combine", "demo")
HELP = """Boosting for any convex loss, with any weak learner, and a certificate.

For example:

    anyboost fit houses.csv --target price -o houses.anyboost

    anyboost predict houses.anyboost new.csv -o predicted.csv

    anyboost fit --help

Exit codes: 0, done; 1, it could not be done, and a sentence says why; 2, the line was not understood; 130, stopped by
the user; 143, by SIGTERM.
"""
_NEEDED = ("typer", "rich", "matplotlib", "jinja2")


def main() -> None:
    """Run the command line, or say what to install when its libraries are missing."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        needs = " and ".join(missing)
        print(f'The anyboost command needs {needs}: pip install "anyboost[cli]"', file=sys.stderr)
        raise SystemExit(1)
    build()()


def build() -> Typer:
    """The typer application, with every command module of this package in it."""
    import typer

    from anyboost.cli.shared.sentences import OneSentence

    app = typer.Typer(
        name="anyboost",
        cls=OneSentence,
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        add_completion=False,
        pretty_exceptions_show_locals=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            from anyboost._version import __version__

            typer.echo(f"anyboost {__version__}")
            raise typer.Exit

    version = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version.")
    debug = typer.Option(
        False, "--debug", help="Show where an error came from. May stand anywhere in the line."
    )

    @app.callback()
    def options(version: bool = version, debug: bool = debug) -> None:
        pass

    for name in command_names():
        module = importlib.import_module(f"{__name__}.{name}")
        app.command(name.replace("_", "-"))(module.command)
    return app


def command_names() -> list[str]:
    """The modules of this package that are commands, those of every day first."""
    names = {info.name for info in pkgutil.iter_modules(__path__) if not info.ispkg}
    return [*FIRST, *sorted(names - set(FIRST))]
