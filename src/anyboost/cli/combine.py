"""`anyboost combine`: a table of forecasts in, one forecast out, with what it cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from anyboost.cli import _outputs


def command(
    file: Annotated[
        str, typer.Argument(help="A CSV, TSV or Parquet file, or - for standard input.", metavar="FILE")
    ],
    target: Annotated[
        str, typer.Option(help="The column to predict; all others are forecasts of it.", metavar="COL")
    ],
    format: Annotated[
        str | None, typer.Option(help="csv, tsv or parquet; else told by the file's name.")
    ] = None,
    loss: Annotated[
        str, typer.Option(help="Any row-wise loss of one score: absolute, logistic, ...")
    ] = "squared",
    rule: Annotated[
        str,
        typer.Option(
            help="tracker (follows a changing best, nothing to tune), second_order, anytime, adaptive, ..."
        ),
    ] = "tracker",
    domain: Annotated[
        str, typer.Option(help="simplex, solid_simplex or octahedron, radius after a colon.")
    ] = "simplex",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Forecasts are probabilities: combine their log odds.")
    ] = False,
    ignore: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; may be repeated.", metavar="COL")
    ] = None,
    switches: Annotated[
        int, typer.Option(min=0, help="Also compare with the best that may switch so often.")
    ] = 10,
    regret: Annotated[
        bool, typer.Option(help="Compare with the best in hindsight (keeps the table in memory).")
    ] = True,
    figure: Annotated[
        Path | None, typer.Option(help="A picture of the weights over time: .png, .svg or .pdf.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="A model file for what was learned.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A JSON file for the results.")
    ] = None,
) -> None:
    """Combine the forecasts in a table, row by row, each row being forecast before its target is looked at.

    An empty cell is a forecast that was not made. Prints the progressive loss at 1, 2, 4, 8, ... rows beside that of
    the best single column so far, the final weights, and the regret: what the best column, the best fixed weights
    and the best sequence of columns would have saved on the same rows.
    """
    from anyboost import files
    from anyboost.cli._combine import Combining
    from anyboost.cli._tables import format_of

    try:
        _check(file, figure, save, output)
        if format_of(file, format) == "vw":
            raise ValueError("combine reads tables with named columns: use csv, tsv or parquet")
        combining = Combining(target, loss, rule, domain, probabilities, tuple(ignore or ()), regret)
        combining.run(file, format, typer.echo)
        results = combining.results(switches if regret else None)
        _print(results)
        if figure is not None:
            combining.draw(figure)
        if save is not None:
            files.save(combining.model, save)
        if output is not None:
            files.container.write(output, (json.dumps(results, indent=2) + "\n").encode())
    except (ValueError, OSError) as error:
        _fail(str(error))


def _check(file: str, figure: Path | None, save: Path | None, output: Path | None) -> None:
    """Refuse before the work what could not be written after it."""
    if file != "-" and not Path(file).is_file():
        raise ValueError(f"{file} cannot be read: there is no such file")
    _outputs.check("--figure", figure, _outputs.PICTURES)
    _outputs.check("--save", save)
    _outputs.check("--output", output)


def _print(results: dict[str, Any]) -> None:
    typer.echo("\nweights")
    for name, weight in sorted(results["weights"].items(), key=lambda pair: -abs(pair[1])):
        typer.echo(f"  {weight:9.5f}  {name}")
    typer.echo(f"\nmean progressive loss {results['loss']:.6f}")
    for name, value in results["regret"].items():
        typer.echo(f"  {value:+.6f} a row against {name}")


def _fail(sentence: str) -> NoReturn:
    typer.echo(sentence, err=True)
    raise typer.Exit(1)
