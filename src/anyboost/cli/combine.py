"""`anyboost combine`: a table of forecasts in, one forecast out, with what it cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import explaining, teller

File = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV, Parquet or Arrow file (.gz and .zst too), or - for standard input.",
        metavar="FILE",
    ),
]
Target = Annotated[
    str, typer.Option(help="The column to predict; all others are forecasts of it.", metavar="COL")
]
Format = Annotated[str | None, typer.Option(help="csv, tsv, parquet or arrow; else told by the file's name.")]
Loss = Annotated[str, typer.Option(help="Any row-wise loss of one score: absolute, logistic, ...")]
Rule = Annotated[
    str,
    typer.Option(
        help="tracker (follows a changing best, nothing to tune), second_order, anytime, adaptive, ..."
    ),
]
Domain = Annotated[str, typer.Option(help="simplex, solid_simplex or octahedron, radius after a colon.")]
Probabilities = Annotated[
    bool, typer.Option("--probabilities", help="Forecasts are probabilities: combine their log odds.")
]
Switches = Annotated[int, typer.Option(min=0, help="Also compare with the best that may switch so often.")]
Regret = Annotated[bool, typer.Option(help="Compare with the best in hindsight (keeps the table in memory).")]
Figure = Annotated[Path | None, typer.Option(help="A picture of the weights over time: .png, .svg or .pdf.")]
Save = Annotated[Path | None, typer.Option(help="A model file for what was learned.")]


def command(
    file: File,
    target: Target,
    format: Format = None,
    separator: options.Separator = None,
    loss: Loss = "squared",
    rule: Rule = "tracker",
    domain: Domain = "simplex",
    probabilities: Probabilities = False,
    ignore: options.Ignore = None,
    switches: Switches = 10,
    regret: Regret = True,
    figure: Figure = None,
    save: Save = None,
    output: options.Results = None,
) -> None:
    """Combine the forecasts in a table, row by row, each row being forecast before its target is looked at.

    An empty cell is a forecast that was not made. Prints the progressive loss at 1, 2, 4, 8, ... rows beside that of
    the best single column so far, the final weights, and the regret: what the best column, the best fixed weights
    and the best sequence of columns would have saved on the same rows.

    For example:

        anyboost combine forecasts.csv --target demand

        anyboost combine forecasts.csv --target demand --loss absolute --figure weights.svg -o combined.json

        anyboost combine chances.parquet --target rained --loss logistic --probabilities --save pool.anyboost
    """
    from anyboost.cli.rows.tables import TABLES, check_separator, format_of

    with explaining():
        paths.check_input(file)
        paths.check("--figure", figure, paths.PICTURES)
        paths.check_model_name("--save", save)
        paths.check("--output", output)
        paths.check_apart({"--figure": figure, "--save": save, "--output": output}, file)
        check_separator(separator, [format_of(file, format, TABLES)])
        from anyboost import files  # which imports much: after what is refused without it
        from anyboost.cli.passes.combining import CombiningPass

        tell = teller(output)
        combining = CombiningPass(target, loss, rule, domain, probabilities, tuple(ignore or ()), regret)
        combining.run(file, format, tell, separator)
        results = combining.results(switches if regret else None)
        _print(results, tell)
        if figure is not None:
            combining.draw(figure)
        if save is not None:
            files.save(combining.model, save)
        if output is not None:
            paths.write_json(output, results)


def _print(results: dict[str, Any], tell: Callable[[str], None]) -> None:
    tell("\nweights")
    for name, weight in sorted(results["weights"].items(), key=lambda pair: -abs(pair[1])):
        tell(f"  {weight:9.5f}  {name}")
    tell(f"\nmean progressive loss {results['loss']:.6f}")
    for name, value in results["regret"].items():
        tell(f"  {value:+.6f} a row against {name}")
