"""Everything a report says, as a dict of plain values: what the template shows, and what tests read."""

from typing import Any

from anyboost._version import __version__
from anyboost.boosting import Run
from anyboost.report import answers, data, fit, making, uses
from anyboost.report.parts import needs, number
from anyboost.report.subject import Subject, check

SECTIONS = (
    *(
        answers.scores,
        data.columns,
        fit.rounds,
        fit.certificate,
        making.weights,
        uses.importances,
        uses.shapes,
    ),
    *(answers.calibration, answers.groups, answers.residuals),
    *(making.parameters, making.versions, making.reproduce),
)


def summarize(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    rows: str = "rows given",
    command: str | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """What a report says of a model, as plain values.

    Parameters
    ----------
    model : estimator or Run
        What was fitted.
    X : table or None, default None
        Rows to look at it with, best those it was not fitted to.
    y : array_like or None, default None
        Their targets.
    qid : array_like or None, default None
        Their queries, for a ranker.
    groups : array_like or None, default None
        A label a row, to compare beside the groups that columns make.
    sample_weight : array_like (n,) or None, default None
        Weights of the rows, for scores, coverage and groups.
    rows : str, default "rows given"
        What the rows are: "validation rows", "training rows" or "rows given".
    command : str or None, default None
        The line that made the model, to be shown under how to reproduce it.
    title : str or None, default None
        The heading; None: what the model is, and of which target, where y has a name.

    Returns
    -------
    dict
        "title", "facts" and "sections", each with its "title", "text", "figures", "tables" and "code".

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=5)
    >>> told = ab.report.summarize(run)
    >>> told["title"], told["sections"][0]["title"]
    ('A run with the loss squared', 'The data')
    """
    needs("matplotlib")
    subject = check(model, X, y, qid, groups, rows, command, sample_weight)
    sections = [section(subject) for section in SECTIONS]
    return {
        "title": title or _title(subject),
        "facts": _facts(subject),
        "sections": [section.as_dict() for section in sections if not section.empty],
        "version": __version__,
    }


def _title(subject: Subject) -> str:
    if isinstance(subject.model, Run):
        return f"A run with the loss {subject.loss}"
    name = type(subject.model).__name__
    of_what = name if subject.target is None else f"{subject.target} by {name}"
    return of_what if subject.loss is None else f"{of_what} with the loss {subject.loss}"


def _facts(subject: Subject) -> list[tuple[str, str]]:
    """The first line: how large the model is."""
    found = []
    if subject.ensemble is not None:
        terms = len(subject.ensemble.hypotheses)
        found += [("terms", number(terms)), ("rounds", number(subject.ensemble.n_rounds))]
        found.append(("columns", number(len(subject.column_names))))
    if subject.is_classifier:
        found.append(("classes", number(len(subject.model.classes_))))
    if subject.X is not None:
        found.append((subject.rows, f"{subject.n:,}"))
    return found
