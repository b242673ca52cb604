"""`anyboost stream`: online boosting from a file or a pipe, in one pass."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anyboost.cli.shared import options, paths
from anyboost.cli.shared.console import explaining, fail, say, teller

if TYPE_CHECKING:
    from anyboost.cli.passes.learning import LearningPass
    from anyboost.online.estimators import OnlineBoosting

TASKS = ("regression", "classification")
FIXED = " belongs to the model that --resume names: leave it out"

File = Annotated[
    str,
    typer.Argument(
        help="A CSV, TSV, Parquet, Arrow or VW text file (.gz and .zst too), or - for standard input.",
        metavar="FILE",
    ),
]
Target = Annotated[
    str | None, typer.Option(help="The column to predict. VW's format has its own label.", metavar="COL")
]
Format = Annotated[
    str | None, typer.Option(help="csv, tsv, parquet, arrow or vw; else told by the file's name.")
]
Task = Annotated[
    str | None, typer.Option(help="regression or classification; else told by the target and the loss.")
]
Loss = Annotated[str | None, typer.Option(help="Any row-wise loss, e.g. absolute, quantile:0.9, logistic.")]
Learner = Annotated[
    str | None, typer.Option(help="team (the default), or a chain of: linear, stumps, net or tree.")
]
Learners = Annotated[int | None, typer.Option(min=1, help="How many learners a chain has; 20 unless given.")]
Algorithm = Annotated[str | None, typer.Option(help="Of a chain: span (the default) or hull.")]
Refit = Annotated[
    str | None,
    typer.Option(help="Of the team: rows wait for refits (inline, the default), or background."),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        help="A column of codes, text though it looks like numbers; may be repeated.", metavar="COL"
    ),
]
HashBits = Annotated[
    int | None, typer.Option(min=1, max=30, help="Hash features into 2^N columns: memory stays fixed.")
]
Save = Annotated[Path | None, typer.Option(help="Write the model here, as it goes and at the end.")]
Every = Annotated[int, typer.Option(min=1, help="Examples from one save to the next.")]
Resume = Annotated[Path | None, typer.Option(help="Go on with the model in this file.")]
Again = Annotated[
    bool,
    typer.Option("--again", help="With --resume: learn the same file once more, from its beginning."),
]
Test = Annotated[bool, typer.Option("--test", help="Do not learn: score the examples and print the loss.")]
PredictionsFile = Annotated[
    Path | None,
    typer.Option(
        help="Write the prediction of each example here, made before it is learnt; to - (standard output) or a pipe "
        "as it comes, the table then being on standard error."
    ),
]
Figure = Annotated[
    Path | None,
    typer.Option(help="Draw the loss and the experts' weights by time here, at the end: .png, .svg or .pdf."),
]


def command(
    file: File,
    target: Target = None,
    format: Format = None,
    separator: options.Separator = None,
    task: Task = None,
    loss: Loss = None,
    learner: Learner = None,
    learners: Learners = None,
    algorithm: Algorithm = None,
    refit: Refit = None,
    weight: options.Weight = None,
    ignore: options.Ignore = None,
    text: Text = None,
    hash_bits: HashBits = None,
    save: Save = None,
    every: Every = 100_000,
    resume: Resume = None,
    again: Again = False,
    test: Test = False,
    predictions: PredictionsFile = None,
    figure: Figure = None,
) -> None:
    """Learn from a stream in one pass and bounded memory, and print its progressive loss.

    Each example is scored before it is learnt, so the average loss is an honest one. Lines come at 1, 2, 4, 8, ...
    examples, in Vowpal Wabbit's layout, with the loss of the best constant and of the best expert beside it, and who of
    the team leads (with a chain of learners: of one learner alone).

    For example:

        anyboost stream clicks.csv --target clicked --save clicks.anyboost

        anyboost stream today.csv --target clicked --resume clicks.anyboost --save clicks.anyboost

        anyboost stream today.csv --target clicked --resume clicks.anyboost --test --predictions scored.txt

        tail -f log.csv | anyboost stream - --target delay --loss absolute --predictions -

        anyboost stream train.vw --learner linear --loss logistic --hash-bits 18
    """
    from anyboost.cli.passes.predictions import Predictions
    from anyboost.cli.rows.examples import ExampleSource
    from anyboost.cli.rows.tables import check_separator, format_of

    with explaining():
        _check(file, task, save, predictions, resume, figure)
        form = format_of(file, format)
        check_separator(separator, [form])
        _check_together(form, target, save, resume, again, test)
        left, codes = tuple(ignore or ()), tuple(text or ())
        source = ExampleSource(file, form, target, weight, left, codes, separator=separator)
        chosen = _chosen(
            resume,
            task,
            loss=loss,
            learner=learner,
            n_learners=learners,
            algorithm=algorithm,
            refit=refit,
            hash_bits=hash_bits,
        )
        if resume is not None and not resume.exists() and not Path(f"{resume}.reached").exists():
            raise ValueError(f"{resume} cannot be read: there is no such model file")
        from anyboost.cli.passes.course import Course  # which import much: after what is refused without it
        from anyboost.cli.passes.learning import LearningPass

        if task is not None or loss is not None:
            _model(chosen, task, "regression")  # a wrong option is refused before the file is read
        out = None if predictions is None else Predictions(predictions)
        model, make = None if save is None else str(save), partial(_model, chosen, task)
        stream = LearningPass(
            source, make, teller(predictions), say, test, model, every, out, task is not None
        )
        _prepare(stream, resume, again)
        if figure is not None and stream.position.course is None:
            stream.position.course = Course()
        _run(stream, figure)


def _check(
    file: str,
    task: str | None,
    save: Path | None,
    predictions: Path | None,
    resume: Path | None,
    figure: Path | None,
) -> None:
    if task is not None and task not in TASKS:
        raise ValueError(f"--task must be {' or '.join(TASKS)}, got {task!r}")
    paths.check_input(file)
    paths.check_model_name("--save", save)
    paths.check("--predictions", predictions)
    paths.check("--figure", figure, paths.PICTURES)
    from anyboost.cli.passes.predictions import PART

    # files that a run has beside these
    reached = None if save is None else Path(f"{save}.reached")
    part = None if predictions is None else Path(f"{predictions}{PART}")
    written = {"--predictions": predictions, "--figure": figure}
    paths.check_apart({"--save": save, **written}, file, reached, part)
    paths.check_apart(written, resume)  # --save may name it: the model then goes on in one file
    paths.check_apart({"--save": reached, "--predictions": part}, file, resume)


def _check_together(
    form: str, target: str | None, save: Path | None, resume: Path | None, again: bool, test: bool
) -> None:
    if test and save is not None:
        fail("--save has nothing to save in a --test: leave it out")
    if again and resume is None:
        fail("--again needs a model that has learnt the file before: add --resume MODEL")
    if test and resume is None:
        fail("--test needs a model: add --resume MODEL")
    if form != "vw" and target is None and resume is None:
        fail("--target is missing: name the column to predict")


def _chosen(resume: Path | None, task: str | None, **given: Any) -> dict[str, Any]:
    """What is given of the model's parameters, which one that is resumed has already."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if resume is not None and (chosen or task):
        fail("--" + next(iter(chosen), "task").replace("n_", "").replace("_", "-") + FIXED)
    return chosen


def _model(chosen: dict[str, Any], task: str | None, guess: str) -> OnlineBoosting:
    """The estimator of the options; a loss of classes makes it a classifier."""
    from anyboost import losses
    from anyboost.losses import domains
    from anyboost.streams.estimators import OnlineBoostingClassifier, OnlineBoostingRegressor
    from anyboost.streams.front import StreamBoosting

    kind: type[StreamBoosting] = OnlineBoostingRegressor
    asked = losses.get(chosen.get("loss", "squared"))
    domain = asked.domain
    if asked.vector and not domain.classes:
        raise ValueError(
            f"--loss must be a loss of one score, got {asked}: take one stream a level, such as quantile:0.9"
        )
    if (task or guess) == "classification" or domain.classes or domain is domains.SIGNS:
        kind = OnlineBoostingClassifier
    model = kind(**chosen)
    model.check_parameters()
    if "refit" in chosen and not model._is_team():
        raise ValueError("--refit belongs to the team, and a chain has no refits: leave it out")
    return model


def _prepare(stream: LearningPass, resume: Path | None, again: bool) -> None:
    """Load what to go on with, and say what a killed run has lost."""
    if resume is None:
        return
    from anyboost.cli.passes.learning import Reached
    from anyboost.files import load
    from anyboost.online.estimators import OnlineBoosting

    reached = Reached(str(resume)).read()
    if not resume.exists() and reached:
        raise ValueError(
            f"{resume} does not exist: the run was killed before its first save, and {reached} examples were lost"
        )
    model = load(resume)
    if not isinstance(model, OnlineBoosting):
        raise ValueError(f"{resume} holds no model of a stream, it holds {type(model).__name__}")
    stream.resume(model)
    if again:
        stream.position.examples = 0
    say(_resumed(stream, resume, reached))


def _resumed(stream: LearningPass, resume: Path, reached: int) -> str:
    """What the model has learnt, where it goes on, and how many examples a kill has cost."""
    said = f"{resume}: {stream.saved} examples learnt"
    lost = max(0, reached - stream.saved)
    if lost:
        said += f"; {lost} more were taken after its last save and lost when the run was killed"
    passed = stream.position.examples
    if not stream.test and passed:
        said += f"; going on in {stream.source.path} after its first {passed} examples"
    elif lost:
        said += ", send them again if you have them"
    return said


def _run(stream: LearningPass, figure: Path | None) -> None:
    """Learn, and tell the sums, of what was learnt before an error too."""
    with _signals(stream):
        try:
            with _progress(stream):
                stream.run()
        except (ValueError, OSError):
            if stream.begun:
                _finish(stream, figure)
            raise
        _finish(stream, figure)
    if stream.stopped_by:
        raise typer.Exit(128 + stream.stopped_by)


@contextlib.contextmanager
def _signals(stream: LearningPass) -> Any:
    """Stop between examples, and save, where a user or the system asks to end."""
    before = {number: signal.signal(number, stream.stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _progress(stream: LearningPass) -> Iterator[None]:
    """In a terminal, a line under the table: how many examples, how fast, their loss and who leads."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    from rich.live import Live

    begun, before = time.monotonic(), stream.position.tally.rows
    with Live(
        console=console,
        transient=True,
        refresh_per_second=4,
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    ) as live:

        def show() -> None:
            rows = stream.table.tally.rows
            speed = (rows - before) / max(time.monotonic() - begun, 1e-9)
            parts = [f"{rows:,} examples", f"{speed:,.0f} a second", f"loss {stream.table.average:.6f}"]
            beside = stream.beside()
            live.update(" · ".join([*parts, f"{beside[2]} leads"] if len(beside) > 2 else parts))

        stream.watch = show
        yield


def _finish(stream: LearningPass, figure: Path | None) -> None:
    """The sums under the table, and the figure."""
    lines = stream.table.ending()
    beside = stream.beside()
    if beside:
        team = len(beside) > 2
        names = ("best constant's loss", "best expert's loss" if team else "single learner's loss", "leader")
        lines[-1:-1] = [
            (name, "n.a." if value is None else value if isinstance(value, str) else f"{value:.6f}")
            for name, value in zip(names, beside, strict=False)
        ]
    if stream.save_path is not None:
        lines.append(("saved", f"{stream.saved} examples in {stream.save_path}"))
    course = stream.position.course
    if figure is not None and course is not None and course.points:
        course.draw(figure, f"{stream.position.target}: {stream.table.tally.rows:,} examples")
        lines.append(("figure", str(figure)))
    stream.echo("\nfinished run")
    for name, value in lines:
        stream.echo(f"{name} = {value}")
