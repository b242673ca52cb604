"""`anyboost report`: one page about a model, to be opened anywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import Warned, explaining, say

if TYPE_CHECKING:
    from anyboost.cli.passes.predicting import Answers


def command(
    model: options.Model,
    data: Annotated[
        str | None,
        typer.Argument(help="Rows to look at it with: a table, or - for standard input.", metavar="[DATA]"),
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column of the targets.", metavar="COL")] = None,
    qid: Annotated[
        str | None, typer.Option(help="For rankings, the column of the queries.", metavar="COL")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="A column to compare groups by, beside the model's.", metavar="COL")
    ] = None,
    weight: options.Weight = None,
    ignore: options.IgnoreUnnamed = None,
    training: Annotated[
        bool, typer.Option("--training", help="The rows are those of the fit; the page then says so.")
    ] = False,
    format: options.DataFormat = None,
    separator: options.Separator = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, help="Where the page goes.")
    ] = Path("anyboost-report.html"),
) -> None:
    """Write a report on a model: one HTML file that needs nothing else.

    Without DATA it shows how the fit went, what is proved of the model, what it uses and every parameter; with it also
    what is in the rows, and with their targets scores, calibration or coverage, worst groups and residuals.

    For example:

        anyboost report houses.anyboost

        anyboost report houses.anyboost new.csv --target price -o price.html
    """
    from anyboost.cli.rows import sources

    with explaining(TypeError, ImportError):
        paths.check_model(model)
        paths.check_page("--output", output)
        paths.check_apart({"--output": output}, model, data)
        if data is None and (target or qid or groups or weight):
            raise ValueError(
                "--target, --qid, --groups and --weight name columns of a table: give one after the model file"
            )
        if data is None and training:
            raise ValueError("--training is about the rows of a table: give one after the model file")
        if weight is not None and target is None:
            raise ValueError("--weight weighs scores, which need the targets: add --target COL")
        if data is not None:
            paths.check_input(data)
            sources.named(data, format, separator)
        from anyboost import report  # which imports much: after what is refused without it
        from anyboost.cli.passes.predicting import Wanted
        from anyboost.cli.passes.predicting_online import answers_of
        from anyboost.estimators import BoostingRanker

        answers = answers_of(model, Wanted())
        if weight is not None and isinstance(answers.model, BoostingRanker):
            raise ValueError(f"--weight is for regressors and classifiers, and {model} ranks: leave it out")
        if qid is not None and not isinstance(answers.model, BoostingRanker):
            kind = type(answers.model).__name__
            raise ValueError(
                f"--qid is for rankings, and {model} holds {kind}: use --groups, or leave it out"
            )
        given: dict[str, Any] = {}
        if data is not None:
            apart = {"y": target, "qid": qid, "groups": groups, "sample_weight": weight}
            given = _rows(answers, data, (format, separator), apart, tuple(ignore or ()))
            given["rows"] = "training rows" if training else "rows given"
        name = type(answers.model).__name__
        title = f"{model.name}: {name if target is None else f'{target} by {name}'}"
        Warned()(partial(report.write, answers.model, output, title=title, **given))
        typer.echo(f"Report: {output}")
        if data is not None and target is None:
            say("without --target COL, the column of the targets, the page has no scores of these rows")


def _rows(
    answers: Answers,
    data: str,
    form: tuple[str | None, str | None],
    apart: dict[str, str | None],
    ignore: tuple[str, ...],
) -> dict[str, Any]:
    """The columns that the model asks for, and those that stand apart."""
    from anyboost.cli.passes.fitting import (
        check_domain,
        check_filled,
        check_labels,
        check_numbers,
        check_weights,
    )
    from anyboost.cli.passes.predicting import TOLD
    from anyboost.cli.rows import frames

    types = answers.kinds
    labels = getattr(answers.model, "classes_", None)
    if apart["y"] is not None and labels is not None and labels.dtype.kind in "OUT":
        types[apart["y"]] = "text"  # classes that look like numbers are words where the fit took them so
    columns = [name for name in apart.values() if name is not None]
    format, separator = form
    whole = frames.read(data, format, types, answers.reads(ignore, columns), TOLD, separator)
    if apart["y"] is not None:
        y = whole.column(apart["y"], "--target")
        if labels is None:
            check_numbers(y, apart["y"], "the model predicts numbers: name another column", whole.where)
        check_filled(y, "the target", whole.where)
        if labels is None:
            check_domain(y, apart["y"], getattr(answers.model, "loss_", None), whole.where)
        else:
            check_labels(y, apart["y"], labels, whole.where)
    flags = {"y": "--target", "qid": "--qid", "groups": "--groups", "sample_weight": "--weight"}
    if apart["sample_weight"] is not None:
        check_weights(whole.column(apart["sample_weight"], "--weight"), apart["sample_weight"], whole.where)
    given = {name: whole.column(column, flags[name]) for name, column in apart.items() if column is not None}
    if answers.names is not None:
        return given | {"X": answers.by_name(whole.columns, data)}
    others = (*columns, *ignore)
    left = {name: values for name, values in whole.columns.items() if name not in others}
    if any(values.dtype == object for values in left.values()):
        return given | {"X": frames.to_arrow(left)}
    import numpy as np

    return given | {"X": np.column_stack(list(left.values()))}
