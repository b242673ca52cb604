"""`anyboost explain`: which columns a model uses, and what each adds to the answers for some rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import Warned, explaining

if TYPE_CHECKING:
    from anyboost.cli.passes.predicting import Answers
    from anyboost.cli.rows.sources import Source


_SHAPLEY = "a table after the model file shows Shapley values"


def command(
    model: options.Model,
    data: Annotated[
        str | None,
        typer.Argument(help="Rows to explain: a table, or - for standard input.", metavar="[DATA]"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="A table with what each column adds, row by row.", metavar="OUT"),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Without DATA: gain (unless given) or split, what cuts gained or how many there are."
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many columns to print.")] = 20,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="A column of DATA to copy into OUT; may be repeated.", metavar="COL"),
    ] = None,
    ignore: options.IgnoreUnnamed = None,
    format: options.DataFormat = None,
    separator: options.Separator = None,
) -> None:
    """Say which columns a model uses; with rows, how much each column moves their scores.

    What columns add to a raw score are exact Shapley values: with the base they add up to it.

    For example:

        anyboost explain houses.anyboost

        anyboost explain houses.anyboost new.csv

        anyboost explain houses.anyboost new.csv --keep id -o why.csv
    """
    from anyboost.cli.rows import sources, writing

    with explaining(TypeError):
        paths.check_model(model)
        if data is not None:
            paths.check_input(data)
            sources.named(data, format, separator)
        from anyboost.cli.passes.predicting import TOLD, Wanted  # which import much: after what is refused
        from anyboost.cli.passes.predicting_online import answers_of

        if data is None:
            if output is not None or keep:
                raise ValueError("--output and --keep are about rows: give a table after the model file")
            _print(_importances(answers_of(model, Wanted(explain=True)), kind or "gain"), top)
            return
        if kind is not None:
            raise ValueError(
                f"--kind {kind} is about the model alone, and of a table Shapley values are shown: leave one out"
            )
        if output is not None:
            writing.check(output, None, model, data)
        answers = answers_of(model, Wanted(explain=True))
        left, copied, warned = tuple(ignore or ()), tuple(keep or ()), Warned()
        wanted = answers.reads(left, ())
        if output is None:
            with sources.opened(
                data, format, once=True, wanted=wanted, told=TOLD, separator=separator
            ) as source:
                _print(_moved(answers, source, left, warned), top)
            return
        with (
            writing.TableWriter(output) as table,
            sources.opened(data, format, True, wanted, TOLD, copied, separator) as source,
        ):
            for X, kept in answers.batches(source, left, copied):
                table.write(kept | warned(partial(answers.why, X)))
        table.tell()


def _importances(answers: Answers, kind: str) -> dict[str, float]:
    """What the cuts of each column are worth, as the model has it."""
    if kind not in ("gain", "split"):
        raise ValueError(f"--kind must be gain or split, got {kind!r}: {_SHAPLEY}")
    try:
        values = answers.model.importances(kind)
    except TypeError:
        raise ValueError(f"{answers.path} has no cuts, which --kind {kind} goes by: {_SHAPLEY}") from None
    return dict(zip(answers.model._feature_names(), values.tolist(), strict=True))


def _moved(answers: Answers, source: Source, ignore: tuple[str, ...], warned: Warned) -> dict[str, float]:
    """The mean over rows (and outputs) of how far each column moves the score."""
    import numpy as np

    from anyboost.cli.rows import frames

    total: Any = 0.0
    rows = 0
    for X, _ in answers.batches(source, ignore, ()):
        values = np.abs(warned(partial(answers.model.explanation, X)).values)
        total, rows = (
            total + values.reshape(*values.shape[:2], -1).mean(axis=2).sum(axis=0),
            rows + len(values),
        )
    if rows == 0:
        raise frames.no_rows(source)
    return dict(zip(answers.model._feature_names(), (total / rows).tolist(), strict=True))


def _print(found: dict[str, float], top: int) -> None:
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    width = max(len(name) for name in found)
    most = max(ordered[0][1], 1e-300)
    for name, value in ordered[:top]:
        typer.echo(f"{name:<{width}}  {value:12.6g}  {'#' * round(30 * value / most)}".rstrip())
    if len(ordered) > top:
        typer.echo(f"and {len(ordered) - top} more (--top {len(ordered)} shows all)")
