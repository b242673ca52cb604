"""What `fit` and `cv` share: a table and what is asked of it, as an estimator and the rows to fit it to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from anyboost import losses
from anyboost.cli.rows import disguises, frames
from anyboost.cli.rows.cells import TableError, Where, check_column, check_complete, good_weights
from anyboost.cli.rows.frames import Whole
from anyboost.cli.rows.sources import Source
from anyboost.cli.shared.settings import FitRequest
from anyboost.estimators import BoostingClassifier, BoostingRanker, BoostingRegressor, parameters
from anyboost.losses import domains

ESTIMATORS: dict[str, Any] = {
    "regression": BoostingRegressor,
    "classification": BoostingClassifier,
    "ranking": BoostingRanker,
}
NEEDS = "{task} needs numbers: use --task classification, or another column"
_SHOWN = 8
_NEARLY_ALL = 0.75  # of the rows of a small table, in which as many words are no classes
_FEW_CLASSES, _MOST_CLASSES = (
    20,
    1000,
)  # that a target of words may have, where nobody said that they are classes


@dataclass(frozen=True)
class TrainingRows:
    """A table as `fit` takes it; one on disk brings the others in X."""

    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None
    groups: np.ndarray | None

    @property
    def names(self) -> list[str]:
        """The columns of X."""
        return list(getattr(self.X, "column_names", None) or self.X.names)

    def given(self, task: str) -> dict[str, Any]:
        """What `fit` is given beside X and y."""
        found = {"sample_weight": self.weight, "qid" if task == "ranking" else "groups": self.groups}
        return {name: value for name, value in found.items() if value is not None}

    def take(self, rows: np.ndarray) -> TrainingRows:
        """Some of the rows."""
        weight, groups = (None if part is None else part[rows] for part in (self.weight, self.groups))
        return TrainingRows(self.X.take(rows), None if self.y is None else self.y[rows], weight, groups)


def task_of(asked: FitRequest) -> str | None:
    """The task, where it is said or the loss tells it."""
    if asked.task is not None or asked.loss is None:
        return asked.task
    loss = losses.get(asked.loss)
    if loss.domain.classes or loss.domain is domains.SIGNS:
        return "classification"
    ranks = loss.uses_groups and isinstance(loss, losses.RankHinge | losses.RankLogistic)
    return "ranking" if ranks else "regression"


def check(asked: FitRequest) -> None:
    """Refuse what no table could make right, before one is read."""
    task = task_of(asked)
    if task is not None:
        made(asked, task)
        return
    refusals = []
    for one in ESTIMATORS:
        try:
            made(asked, one)
            return
        except ValueError as error:
            refusals.append(error)
    raise refusals[0]


def made(asked: FitRequest, task: str) -> Any:
    """The estimator that is asked for; a ValueError where it cannot be."""
    given = dict(asked.parameters)
    if asked.loss is not None:
        given["loss"] = asked.loss
    try:
        model = ESTIMATORS[task](**given)
        parameters.check(model)
        if asked.loss is not None:
            losses.get(asked.loss)
    except TypeError as error:
        said = str(error).replace("has no argument", "has no parameter", 1)
        names = ", ".join(ESTIMATORS[task]().get_params())
        raise ValueError(re.sub(r"help\(\w+\) lists what it has$", f"it has {names}", said)) from None
    return model


class Taken(NamedTuple):
    """A table, taken for what it is."""

    task: str
    rows: TrainingRows
    kinds: dict[str, str]  # what its columns hold


def taken(source: Source, asked: FitRequest, room: Any, say: Callable[[str], None]) -> Taken:
    """The rows of a source, for the task that is asked for or that the target suggests; `say` hears what that is.

    room : how the table is read: this module, or `large`, which keeps it in files.
    """
    known = task_of(asked)
    whole = room.read(source, asked)
    task = known or room.guess(asked, whole)
    model = made(asked, task)
    check_groups(model, asked, task)
    check_learner(model, whole, asked)
    rows = room.rows_of(whole, asked, task)
    for line in described(whole, asked, task, guessed=known is None):
        say(line)
    return Taken(task, rows, whole.kinds)


def check_groups(model: Any, asked: FitRequest, task: str) -> None:
    """A sentence where groups are given to a fit that has no use for them, or a ranking has none."""
    if task == "ranking":
        if asked.groups is None:
            raise ValueError("--qid is missing: name the column of queries, all equal for one query")
        return
    if asked.groups is None:
        return
    usual = "squared" if task == "regression" else "logistic"
    loss = losses.get(asked.loss or usual)
    if not (loss.uses_groups or model._covers_groups(loss)):
        calibrates = ", or add --set conformal=cv, which calibrates each group apart" * (task == "regression")
        raise ValueError(
            f"--groups {asked.groups}: {task} with the loss {loss} has no use for groups: leave it out"
            f"{calibrates}; queries of a ranking are --qid"
        )


def check_learner(model: Any, whole: Any, asked: FitRequest) -> None:
    """A sentence about the first column of words, or the first missing cell, that the learner cannot take."""
    able, who = parameters.abilities(model), f"--set learner={asked.parameters.get('learner')}"
    apart = asked.apart()
    words = [name for name, kind in whole.kinds.items() if kind == "text" and name not in apart]
    if words and not able.categories:
        raise TableError(
            f"column {words[0]!r} holds words, which {who} cannot take: --ignore {words[0]} leaves it out, and "
            "learner=tree takes it"
        )
    if not able.missing and isinstance(whole, Whole):
        left = {name: values for name, values in whole.columns.items() if name not in apart}
        check_complete(left, f"{who}, unlike learner=tree,", whole.where)


def guess(asked: FitRequest, whole: Whole) -> str:
    """The task that the target suggests: words and pairs of whole numbers are classes."""
    values = whole.columns[asked.target]
    if values.dtype == object:
        check_words(asked, first_words(values.tolist()), len(values))
        return "classification"
    found = np.unique(values[~np.isnan(values)])
    return "classification" if len(found) == 2 and is_whole(found) else "regression"


def first_words(words: Iterable[str | None], before: Iterable[str] = ()) -> dict[str, None]:
    """The different ones in their order, one more than classes may be at most."""
    found = dict.fromkeys(before)
    for word in words:
        if len(found) > _MOST_CLASSES:
            break
        if word is not None:
            found[word] = None
    return found


def check_words(asked: FitRequest, words: Collection[str], rows: int) -> None:
    """A sentence where words are no classes: numbers in some dress, or too many of them."""
    if asked.types.get(asked.target) == "text":  # --type takes numbers as words
        return
    too_many = len(words) > _FEW_CLASSES and 2 * len(words) > min(rows, 2 * _MOST_CLASSES)
    if too_many or (len(words) > 2 and len(words) > _NEARLY_ALL * rows):
        many = f"{len(words)}" if len(words) <= _MOST_CLASSES else f"more than {_MOST_CLASSES:,}"
        raise TableError(
            f"--target {asked.target!r} holds {many} different words in {rows:,} rows, "
            f"such as {next(iter(words))!a}: write plain numbers, or say --task classification"
        )
    dress = disguises.of_words(words)
    if dress is not None:
        raise TableError(f"--target {asked.target!r} holds {dress}")


def read(source: Source, asked: FitRequest, kinds: dict[str, str] | None = None) -> Whole:
    """The table, of columns that are all there; `kinds` are those of a table that was read before."""
    whole = frames.of_source(source, {**(kinds or {}), **asked.types})
    check_columns(asked, list(whole.columns), whole.path)
    return whole


def check_columns(asked: FitRequest, names: Sequence[str], path: str) -> None:
    """A sentence where columns that are asked for are not there, or none is left to predict from."""
    wanted = [("--ignore", name) for name in asked.ignore] + [("--type", name) for name in asked.types]
    groups = "--qid" if task_of(asked) == "ranking" else "--groups"
    wanted += [("--target", asked.target), ("--weight", asked.weight or ""), (groups, asked.groups or "")]
    for option, name in wanted:
        if name:
            check_column(name, option, names, path)
    if not set(names) - set(asked.apart()):
        raise TableError(f"{path} has no columns left to predict from")


def rows_of(whole: Whole, asked: FitRequest, task: str, columns: list[str] | None = None) -> TrainingRows:
    """The rows of a table for a task; of a later table, those `columns`."""
    apart = asked.apart()
    X = frames.to_arrow({name: values for name, values in whole.columns.items() if name not in apart})
    if columns is not None:
        lost = next((name for name in columns if name not in X.column_names), None)
        if lost is not None:
            raise TableError(f"{whole.path} has no column {lost!r}, which the training table has")
        X = X.select(columns)
    weight = groups = None
    if asked.weight is not None:
        weight = whole.columns[asked.weight]
        check_weights(weight, asked.weight, whole.where)
    if asked.groups is not None:
        groups = _labels(whole.columns[asked.groups], f"--groups {asked.groups}", whole.where)
    return TrainingRows(X, _targets(whole.columns[asked.target], asked, task, whole.where), weight, groups)


def check_weights(weight: np.ndarray, name: str, where: Where) -> None:
    """A sentence about the first weight that is none."""
    _, error = good_weights(weight, name, where)
    if error is not None:
        raise error


def _targets(y: np.ndarray, asked: FitRequest, task: str, where: Where) -> np.ndarray:
    if task == "classification":
        check_classes(y, asked, where)
        return _labels(y, "the target", where)
    check_numbers(y, asked.target, NEEDS.format(task=task), where)
    check_filled(y, "the target", where)
    check_domain(y, asked.target, loss_of(asked, task), where)
    return y


def loss_of(asked: FitRequest, task: str) -> losses.Loss | None:
    """The loss of a regression, where it is said and is one of numbers."""
    if asked.loss is None or task != "regression":
        return None
    loss = losses.get(asked.loss)
    return None if loss.domain.classes or loss.domain is domains.SIGNS else loss


def check_domain(y: np.ndarray, target: str, loss: losses.Loss | None, where: Where) -> None:
    """A sentence about the first number that the loss does not take."""
    if loss is None:
        return
    outside = ~np.asarray(loss.domain.contains(y), dtype=bool)
    if outside.any():
        row = int(np.argmax(outside))
        raise TableError(
            f"{where(row)}: --target {target!r} holds {y[row]:.12g}, and it must be {loss.domain.words} for the loss "
            f"{loss}: {loss.domain.advice}"
        )


def check_labels(y: np.ndarray, target: str, classes: np.ndarray, where: Where) -> None:
    """A sentence about the first label that is none of the classes of a model."""
    known = set(classes.tolist())
    row = next((row for row, label in enumerate(y.tolist()) if label not in known), None)
    if row is not None:
        label = repr(y[row]) if y.dtype == object else f"{y[row]:.12g}"
        shown = ", ".join(map(str, classes[:_SHOWN].tolist())) + (", ..." if len(classes) > _SHOWN else "")
        raise TableError(
            f"{where(row)}: --target {target!r} holds {label}, which is none of the model's classes ({shown}): name "
            "another column, or drop that row"
        )


def check_numbers(y: np.ndarray, target: str, reason: str, where: Where) -> None:
    """A sentence about the first word of targets that are to be numbers, for a reason."""
    if y.dtype == object:
        row = next(i for i, word in enumerate(y.tolist()) if word is not None)
        raise TableError(f"{where(row)}: --target {target!r} holds the word {y[row]!a}, and {reason}")


def check_classes(y: np.ndarray, asked: FitRequest, where: Where) -> None:
    """A sentence about the first number that names no class."""
    if y.dtype != object and not is_whole(y):
        row = int(np.argmax(y != np.round(y)))
        check_filled(y[: row + 1], "the target", where)
        raise TableError(
            f"{where(row)}: --target {asked.target!r} holds {y[row]:g}, and classes are words or whole numbers: use "
            f"--task regression, or --type {asked.target}=text, which takes numbers as words"
        )


def is_whole(values: np.ndarray) -> bool:
    """Whether numbers are whole; none that is missing is."""
    return bool((values == np.round(values)).all())


def check_filled(values: np.ndarray, what: str, where: Where) -> None:
    """A sentence about the first value that is missing."""
    words = values.dtype == object
    missing = np.array([value is None for value in values.tolist()]) if words else np.isnan(values)
    if missing.any():
        raise TableError(f"{where(int(np.argmax(missing)))}: {what} is missing; fill it in or drop the row")


def _labels(values: np.ndarray, what: str, where: Where) -> np.ndarray:
    """Words as they are, whole numbers without their point."""
    check_filled(values, what, where)
    if values.dtype == object:
        return values.astype(str)
    return values.astype(np.int64) if is_whole(values) else values


def described(whole: Any, asked: FitRequest, task: str, guessed: bool) -> list[str]:
    """What the table was taken for, in lines."""
    apart = set(asked.apart())
    kinds = {name: kind for name, kind in whole.kinds.items() if name not in apart}
    words = [name for name, kind in kinds.items() if kind == "text"]
    levels = whole.levels
    shown = ", ".join(f"{name} ({_counted(levels[name], 'level')})" for name in words[:_SHOWN])
    more = f" and {len(words) - _SHOWN} more" if len(words) > _SHOWN else ""
    lines = [
        f"{_counted(len(whole), 'row')}; {_counted(len(kinds) - len(words), 'column')} of numbers"
        + (f", {len(words)} of words: {shown}{more}" if words else "")
        + " (--type COL=text or COL=number overrides)",
        f"task: {task}"
        + (", told by the target (--task overrides)" if guessed else ", told by --qid" * asked.by_queries),
    ]
    lines += [f"{whole.cells[name]}, so it holds words" for name in words[:_SHOWN] if name in whole.cells]
    lines += [
        f"column {name!r} holds dates, which are words like others: a day that is not in these rows tells nothing, so "
        f"write numbers of them, such as the year and the days since one of them, or --ignore {name}"
        for name in words
        if disguises.are_dates(whole.samples.get(name, ()))
    ]
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
