"""`anyboost predict`: a model file and a table in, a table of predictions out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import Warned, explaining

if TYPE_CHECKING:
    from anyboost.cli.passes.predicting import Columns


def command(
    model: options.Model,
    data: options.Tables,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The table to write; - is standard output.", metavar="OUT")
    ] = "-",
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also the probability of each class.")
    ] = False,
    quantiles: Annotated[
        str | None, typer.Option(help="Also quantiles at these levels, e.g. 0.1,0.5,0.9.", metavar="LEVELS")
    ] = None,
    interval: Annotated[
        float | None, typer.Option(help="Also the ends of an interval of this coverage.", metavar="COVERAGE")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also what each column adds to the raw score.")
    ] = False,
    raw: Annotated[bool, typer.Option("--raw", help="Also raw scores.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column of DATA to copy, e.g. a key; may be repeated.", metavar="COL"),
    ] = None,
    ignore: options.IgnoreUnnamed = None,
    format: options.DataFormat = None,
    separator: options.Separator = None,
    output_format: Annotated[str | None, typer.Option(help="The same, of OUT.")] = None,
) -> None:
    """Predict the rows of a table. It needs the columns of the fit, and may have others; no target.

    Rows are read and written piece by piece, so that the table may be larger than memory.

    For example:

        anyboost predict houses.anyboost new.csv -o predicted.csv

        anyboost predict clicks.anyboost today.parquet --probabilities --keep id -o today-scored.parquet

        anyboost predict intervals.anyboost new.csv --interval 0.9 --quantiles 0.1,0.5,0.9

        zcat new.csv.gz | anyboost predict houses.anyboost - --explain | head

    Columns of OUT: prediction (prediction_LEVEL of joint quantiles, as they were fitted), probability_CLASS,
    quantile_LEVEL (calibrated), low and high, score, base and why_COLUMN.
    """
    from anyboost.cli.rows import frames, sources, writing

    with explaining(TypeError):
        paths.check_model(model)
        named, _ = sources.named(data, format, separator)
        writing.check(output, output_format, model, *named, option="--output-format")
        levels, coverage = _levels(quantiles), _coverage(interval)
        from anyboost.cli.passes.predicting import TOLD, Wanted  # which import much: after what is refused
        from anyboost.cli.passes.predicting_online import answers_of

        answers = answers_of(model, Wanted(probabilities, raw, levels, coverage, explain))
        left, copied, warned = tuple(ignore or ()), tuple(keep or ()), Warned()
        wanted = answers.reads(left, ())
        with (
            writing.TableWriter(output, output_format) as table,
            sources.opened(data, format, True, wanted, TOLD, copied, separator) as source,
        ):
            for X, kept in answers.batches(source, left, copied):
                found = warned(partial(answers.of, X))
                table.write(_apart(kept, found))
            if not table.rows:
                raise frames.no_rows(source)
        table.tell()


def _apart(kept: Columns, found: Columns) -> Columns:
    twice = next((name for name in kept if name in found), None)
    if twice is not None:
        raise ValueError(f"--keep {twice} has the name of a column of answers: rename it in DATA")
    return kept | found


def _levels(text: str | None) -> tuple[float, ...]:
    if text is None:
        return ()
    try:
        levels = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--quantiles must be levels such as 0.1,0.5,0.9, got {text!r}") from None
    if not all(0 < level < 1 for level in levels):
        raise ValueError(f"--quantiles must lie between 0 and 1, got {text!r}")
    return levels


def _coverage(value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        raise ValueError(f"--interval must be a coverage between 0 and 1, such as 0.9, got {value!r}")
    return value
