"""The dict of `summarize` as one HTML file that needs nothing else."""

from typing import Any

from anyboost import saving
from anyboost.report.parts import needs
from anyboost.report.summary import summarize

TEMPLATE = "page.html.jinja"
READABLE = 62  # screen pixels an inch of a figure needs at least; a narrower screen scrolls it


def write(
    model: Any,
    path: Any,
    X: Any = None,
    y: Any = None,
    *,
    qid: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    rows: str = "rows given",
    command: str | None = None,
    title: str | None = None,
) -> None:
    """Write a report on a model: one HTML file, to be opened anywhere. An old file at `path` stays whole until then.

    Parameters
    ----------
    model : estimator or Run
        What was fitted.
    path : str or Path
        The file.
    X : table or None, default None
        Rows to look at it with, best those it was not fitted to.
    y : array_like or None, default None
        Their targets: with them come scores, calibration or coverage, worst groups and residuals.
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

    Examples
    --------
    >>> import anyboost as ab
    >>> run = ab.boost([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0], rounds=5)
    >>> ab.report.write(run, "report.html")
    """
    saving.check(path)
    needs("jinja2")
    given = {"qid": qid, "groups": groups, "sample_weight": sample_weight}
    told = summarize(model, X, y, **given, rows=rows, command=command, title=title)
    saving.write(path, render(told).encode())


def render(told: dict[str, Any]) -> str:
    """The page as text."""
    return filled("anyboost.report", **told, readable=READABLE)


def filled(package: str, **told: Any) -> str:
    """The template of a package with what it is to tell, as text."""
    needs("jinja2")
    import jinja2

    rooms = jinja2.Environment(
        loader=jinja2.PackageLoader(package, "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return rooms.get_template(TEMPLATE).render(told)
