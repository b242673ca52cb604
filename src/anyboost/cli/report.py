"""`anyboost report`: one page about a model, to be opened anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from anyboost.cli.shared import paths
from anyboost.cli.shared.console import fail


def command(
    model: Annotated[Path, typer.Argument(help="A model file.", show_default=False)],
    data: Annotated[
        str | None,
        typer.Argument(
            help="Rows to look at it with: CSV, TSV or Parquet, or - for standard input.", metavar="[DATA]"
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column of the targets.", metavar="COL")] = None,
    query: Annotated[
        str | None, typer.Option(help="For rankings, the column of the queries.", metavar="COL")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="A column to compare groups by, beside those of the model.", metavar="COL"),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv or parquet; else told by the file's name.")
    ] = None,
    training: Annotated[
        bool,
        typer.Option(
            "--training", help="The rows are those that the model was fitted to; the page then says so."
        ),
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Where the page goes.")
    ] = Path("anyboost-report.html"),
) -> None:
    """Write a report on a model: one HTML file that needs nothing else.

    Without DATA it shows how the fit went, what is proved of the model, what it uses and every parameter; with it also
    what is in the rows, and with their targets scores, calibration or coverage, worst groups and residuals.

        anyboost report model.anyboost

        anyboost report model.anyboost new.csv --target price -o price.html
    """
    from anyboost import files, report

    try:
        paths.check("--output", output)
        if data is None and (target or query or group):
            raise ValueError(
                "--target, --query and --group name columns of DATA: give a table after the model file"
            )
        found = files.load(model)
        given: dict[str, Any] = {}
        if data is not None:
            paths.check_input(data)
            given = _rows(found, data, format, {"y": target, "qid": query, "groups": group})
            given["rows"] = "training rows" if training else "rows given"
        report.write(found, output, title=f"{model.name}: {type(found).__name__}", **given)
    except (ValueError, TypeError, OSError) as error:
        fail(str(error))
    typer.echo(f"Report: {output}")


def _rows(model: Any, data: str, format: str | None, apart: dict[str, str | None]) -> dict[str, Any]:
    """The table, of the model's columns where it knows their names, and what was asked to be split off."""
    table = _frame(data, format)
    given: dict[str, Any] = {}
    for name, column in apart.items():
        if column is not None:
            if column not in table.columns:
                raise ValueError(
                    f"{data} has no column {column!r}: it has {', '.join(map(repr, table.columns))}"
                )
            given[name] = table[column].to_numpy()
    asked = getattr(model, "feature_names_in_", None)
    kept = (
        list(asked) if asked is not None else [name for name in table.columns if name not in apart.values()]
    )
    missing = [name for name in kept if name not in table.columns]
    if missing:
        raise ValueError(f"{data} has no column {missing[0]!r}, which the model asks for")
    given["X"] = table[kept]
    return given


def _frame(data: str, format: str | None) -> Any:
    """A whole table as a data frame, text as categories."""
    import numpy as np

    from anyboost.cli.rows.tables import format_of, read

    try:
        import pandas as pd
    except ImportError:
        raise ValueError("DATA needs pandas: pip install pandas") from None
    if format_of(data, format) == "vw":
        raise ValueError("report reads tables with named columns: use csv, tsv or parquet")
    parts = [batch.columns for batch in read(data, format)]
    if not parts:
        raise ValueError(f"{data} has no rows")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return pd.DataFrame(
        {
            name: pd.Categorical(values) if values.dtype == object else values
            for name, values in columns.items()
        }
    )
