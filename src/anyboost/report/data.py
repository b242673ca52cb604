"""The table: a line for each column, and the targets."""

from collections import Counter
from typing import Any

import numpy as np

from anyboost.report import pictures
from anyboost.report.parts import Section, number, percent
from anyboost.report.subject import Subject, Values

MOST = 200  # columns that are listed
BINS = 30


def columns(subject: Subject) -> Section:
    """What is in the rows, or, where there are none, which columns the model asks for."""
    section = Section("The data")
    if subject.X is None:
        names, known = subject.column_names, _levels(subject)
        if not names:
            return section
        section.say(
            f"No rows were given with the model. It asks for {len(names)} columns; give a table to see what is in "
            "them, and how well the model does there."
        )
        rows = [
            [name, "categories" if at in known else "numbers", known.get(at)]
            for at, name in enumerate(names[:MOST])
        ]
        section.add_table(["column", "holds", "levels"], rows, _cut(len(names)))
        return section
    found = [_line(column) for column in subject.columns()]
    missing = [line for line in found if line[2]]
    section.say(
        f"{subject.n:,} {subject.rows}, {len(subject.column_names)} columns"
        + (f", {len(missing)} of them with missing values." if found else ", sparse.")
    )
    if found:
        head = ["column", "holds", "missing, %", "distinct", "least", "median", "largest", "most frequent"]
        section.add_table(head, found[:MOST], _cut(len(found)))
    if subject.y is not None:
        _targets(section, subject)
    return section


def _cut(n: int) -> str:
    return f"The first {MOST} of {n} columns." if n > MOST else ""


def _levels(subject: Subject) -> dict[int, int]:
    """How many levels the model knows of each column of categories."""
    known = subject.model._columns if subject.is_estimator else None
    return {} if known is None else {number: len(found.values) for number, found in known.levels.items()}


def _line(column: Values) -> list[Any]:
    missing = column.missing
    lacking = percent(float(missing.mean())) if len(missing) else 0.0
    if column.numbers is not None:
        held = column.numbers[~missing]
        if len(held) == 0:
            return [column.name, "nothing", lacking, 0, None, None, None, None]
        values, times = np.unique(held, return_counts=True)
        often = number(float(values[times.argmax()])) if times.max() > 1 else None
        ends = [float(held.min()), float(np.median(held)), float(held.max())]
        return [column.name, "numbers", lacking, len(values), *ends, often]
    assert column.words is not None
    counts = Counter(word for word in column.words if word is not None)
    top = counts.most_common(1)
    said = f"{top[0][0]} ({percent(top[0][1] / len(column.words))} %)" if top else None
    return [column.name, "categories", lacking, len(counts), None, None, None, said]


def _targets(section: Section, subject: Subject) -> None:
    labels = subject.y
    assert labels is not None
    if subject.is_classifier:
        found, counts = np.unique(labels.astype(str), return_counts=True)
        rows = [
            [label, int(n), percent(n / len(labels))] for label, n in zip(found.tolist(), counts, strict=True)
        ]
        section.add_table(["class", "rows", "share, %"], rows, "Targets")
    elif labels.ndim == 1 and labels.dtype.kind in "biuf":
        values = labels.astype(np.float64)
        section.add_figure(lambda ax: pictures.histogram(ax, values, "target", BINS), (6.0, 2.4), "Targets")
