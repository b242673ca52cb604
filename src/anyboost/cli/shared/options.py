"""Options that several commands have, each said once."""

from pathlib import Path
from typing import Annotated

import typer

Tables = Annotated[
    list[str],
    typer.Argument(
        help="A CSV, TSV, Parquet or Arrow file (.gz and .zst too), several, their folder, or - for standard input.",
        metavar="DATA...",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file.", metavar="MODEL", show_default=False)]
Target = Annotated[str | None, typer.Option(help="The column to predict.", metavar="COL")]
Weight = Annotated[str | None, typer.Option(help="The column of weights.", metavar="COL")]
Ignore = Annotated[
    list[str] | None, typer.Option(help="A column to leave out; may be repeated.", metavar="COL")
]
IgnoreUnnamed = Annotated[
    list[str] | None,
    typer.Option(help="A column to leave out, for models that know no names.", metavar="COL"),
]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of codes, though they look like numbers.", metavar="COL")
]
Kinds = Annotated[
    list[str] | None, typer.Option(help="What a column holds, number or text.", metavar="COL=KIND")
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="The column of groups: of those that the loss has, or that calibrate apart (conformal=cv).",
        metavar="COL",
    ),
]
Queries = Annotated[
    str | None, typer.Option("--qid", help="Of a ranking, the column of the queries.", metavar="COL")
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(help="Any parameter of the estimator; may be repeated.", metavar="NAME=VALUE"),
]
Format = Annotated[str | None, typer.Option(help="csv, tsv, parquet or arrow; else told by the file's name.")]
DataFormat = Annotated[
    str | None, typer.Option(help="Of DATA: csv, tsv, parquet or arrow; else told by its name.")
]
Separator = Annotated[
    str | None, typer.Option(help="What parts the cells of CSV, such as ';'; else a comma.", metavar="SIGN")
]
Results = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A JSON file for the results; - is standard output.", metavar="OUT"),
]
