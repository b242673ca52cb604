"""`anyboost fit`: a table in, a model file out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import Warned, explaining, say

_OTHERS = (".pkl", ".pickle", ".joblib", ".csv", ".tsv", ".parquet", ".arrow", ".html", ".txt")
Output = Annotated[Path, typer.Option("--output", "-o", help="The model file.", metavar="MODEL")]
Loss = Annotated[
    str | None,
    typer.Option(help="A loss by name: absolute, quantile:0.9, poisson, hinge, rank_logistic, ..."),
]
Task = Annotated[
    str | None,
    typer.Option(help="regression, classification or ranking; else told by the loss and the target."),
]
Valid = Annotated[str | None, typer.Option(help="A table that says when to stop.", metavar="FILE")]
Config = Annotated[
    Path | None,
    typer.Option(help="A TOML file of what to fit; the line comes first.", metavar="FILE.toml"),
]
Report = Annotated[Path | None, typer.Option(help="Also write a report on the fit.", metavar="FILE.html")]
OnDisk = Annotated[
    bool | None,
    typer.Option(
        "--on-disk/--in-memory",
        help="Keep the numbers of the table in temporary files; else told by its size.",
        show_default=False,
    ),
]


def command(
    data: options.Tables,
    output: Output,
    target: options.Target = None,
    loss: Loss = None,
    task: Task = None,
    valid: Valid = None,
    config: Config = None,
    report: Report = None,
    weight: options.Weight = None,
    groups: options.Groups = None,
    qid: options.Queries = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    type: options.Kinds = None,
    set: options.Parameters = None,
    on_disk: OnDisk = None,
    format: options.Format = None,
    separator: options.Separator = None,
) -> None:
    """Fit boosted trees, or another learner, to a table, and write the model.

    Rate, rounds and size are found from the data; words are categories, empty cells are missing.

    For example:

        anyboost fit houses.csv --target price -o houses.anyboost

        anyboost fit houses.csv --target price --loss multi_quantile:0.05,0.5,0.95 -o intervals.anyboost

        anyboost fit clicks.parquet --target clicked --ignore id --weight w --valid later.parquet -o clicks.anyboost

        anyboost fit web.tsv.gz --target grade --qid query --set max_iter=300 -o web.anyboost

        zcat big.csv.gz | anyboost fit - --target y --set learner=stump -o stumps.anyboost

        anyboost fit clicks/*.parquet --target clicked --on-disk -o clicks.anyboost

    Then: anyboost predict, explain, report, inspect, convert.
    """
    from anyboost.cli.rows import sources, tables
    from anyboost.cli.shared import settings

    with explaining(TypeError, ImportError):
        named = {"target": target, "task": task, "loss": loss, "weight": weight, "groups": groups}
        asked = settings.gathered(config, set, type, categorical, ignore, qid, **named)
        _check([*sources.named(data, format, separator)[0], config], output, valid, report)
        from anyboost import files  # which imports much: after what is refused without it
        from anyboost.cli.passes import fitting, large
        from anyboost.cli.shared.rounds import followed

        fitting.check(asked)
        with sources.opened(data, format, wanted=asked.reads, separator=separator) as source:
            room = large if _keep_on_disk(source, on_disk, report, valid) else fitting
            task, rows, kinds = fitting.taken(source, asked, room, say)
        model, given, warned = fitting.made(asked, task), rows.given(task), Warned()
        held: Any = None
        if valid is not None:
            told: Any = {"wanted": asked.reads, "told": "the training table holds"}
            told["separator"] = separator if tables.format_of(valid) == "csv" else None
            with sources.opened(valid, **told) as source:
                later = fitting.read(source, asked, kinds)
            held = fitting.rows_of(later, asked, task, rows.names)
            given["valid"] = {"valid": {"X": held.X, "y": held.y, **held.given(task)}}
        with followed() as shown:
            model.set_params(callbacks=[shown])
            warned(partial(model.fit, rows.X, rows.y, **given))
        model.set_params(callbacks=None)
        files.save(model, output)
        _tell(model, output)
        if report is not None:
            seen = rows if held is None else held
            warned(partial(_report, model, report, seen, held is not None, task, asked.target))


def _check(read: list[str | Path | None], output: Path, valid: str | None, report: Path | None) -> None:
    _check_model_name(output)
    if valid is not None:
        if valid == "-":
            raise ValueError("--valid must be a file: standard input can be read once")
        paths.check_input(valid)
    paths.check_apart({"--output": output, "--report": report}, *read, valid)
    if output.suffix.lower() in _OTHERS:
        raise ValueError(
            f"--output: fit writes a model file, and {output} is called otherwise: end its name in .anyboost"
        )
    paths.check_page("--report", report)


def _check_model_name(output: Path) -> None:
    paths.check_model_name("--output", output)
    if output.suffix.lower() in (".onnx", ".json"):
        model = output.with_suffix(".anyboost")
        raise ValueError(
            f"--output: fit writes a model file: name it {model}, then anyboost convert {model} {output}"
        )


def _keep_on_disk(source: Any, wanted: bool | None, report: Path | None, valid: str | None) -> bool:
    """Whether the table goes to files: as is asked, else by its size."""
    from anyboost.cli.passes import large

    reason = large.advised(source) if wanted is None else None
    if reason is not None:
        say(reason)
    chosen = reason is not None or bool(wanted)
    if chosen and report is not None and valid is None:
        raise ValueError(
            "--report looks at rows in memory, and the table is on disk: add --valid FILE with some rows, or use "
            "anyboost report MODEL FILE afterwards"
        )
    return chosen


def _tell(model: Any, output: Path) -> None:
    step = model.steps_[-1] if model.steps_ else None
    loss = "" if step is None else f", loss {step.loss:.6g}"
    scores, n = model.validation_score_, model.ensemble_.n_rounds
    held = (
        f", held out {0.0 - scores[min(model.best_iteration_, len(scores) - 1)]:.6g}" if len(scores) else ""
    )
    rounds = "1 round" if n == 1 else f"{n} rounds"
    typer.echo(f"{type(model).__name__}, {model.loss_} loss, {rounds}{loss}{held}")
    typer.echo(f"{output}: {output.stat().st_size:,} bytes" if output.is_file() else str(output))


def _report(model: Any, path: Path, rows: Any, held_out: bool, task: str, target: str) -> None:
    import shlex
    import sys

    from anyboost import report

    given = {} if rows.groups is None else {"qid" if task == "ranking" else "groups": rows.groups}
    if rows.weight is not None and task != "ranking":
        given["sample_weight"] = rows.weight
    what = "validation rows" if held_out else "training rows"
    line = shlex.join(["anyboost", *sys.argv[1:]])
    title = f"{target} by {type(model).__name__} with the loss {model.loss_}"
    report.write(model, path, rows.X, rows.y, rows=what, command=line, title=title, **given)
    typer.echo(f"{path}: report on the {what}")
