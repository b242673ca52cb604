"""What the model uses: importances, Shapley values, and, where it is a sum of curves, the curves."""

from typing import Any

import numpy as np

from anyboost import plot
from anyboost.explain.shapes import Shapes
from anyboost.plot.figures import BLUE, ORANGE
from anyboost.report import pictures
from anyboost.report.parts import Section, percent
from anyboost.report.subject import Subject

TOP = 12  # columns in figures
CURVES = 6
EXPLAINED = 500  # rows whose Shapley values are looked at
POINTS = 0.32  # half the height of a column's points


def importances(subject: Subject) -> Section:
    """How much each column is used, by its cuts and by its Shapley values."""
    section = Section("What the model uses")
    if not subject.is_estimator:
        return section
    model, names = subject.model, subject.column_names
    found: dict[str, np.ndarray] = {}
    for kind in ("gain", "split"):
        try:
            found[kind] = model.importances(kind)
        except (TypeError, ValueError) as reason:
            if kind == "gain":
                section.say(f"The columns have no importances by cuts: {reason}.")
    values, rows = _shapley(subject, section)
    if values is not None:
        found["shap"] = np.abs(values).mean(axis=0).sum(axis=1)
    if not found:
        return section
    by = "shap" if "shap" in found else next(iter(found))
    order = np.argsort(-found[by], kind="stable")
    if "gain" in found:
        size = (6.0, 1.0 + 0.28 * min(TOP, len(names)))
        section.add_figure(lambda ax: plot.importances(model, top=TOP, ax=ax), size, "Importances by gain")
    if values is not None:
        part, shown = subject.part(EXPLAINED)[0], order[:TOP]
        ranks = _ranks(Subject(model, part), len(names))
        size = (6.0, 1.0 + 0.34 * len(shown))
        section.add_figure(lambda ax: _points(ax, values, ranks, shown, names), size, "Shapley values")
        section.say(
            f"Each point of the second figure is one of {rows} rows: how much the column adds to its raw score"
            + (" (of all classes or outputs, the one it moves most)" if values.shape[2] > 1 else "")
            + ", blue where the column is low, orange where it is high, gray for categories."
        )
    several = values is not None and values.shape[2] > 1
    size_of = f"mean size of Shapley values{', added over outputs' if several else ''}"
    titles = {"gain": "share of gain", "split": "share of cuts", "shap": size_of}
    lines = [[names[at], *(float(values[at]) for values in found.values())] for at in order.tolist()]
    section.add_table(["column", *(titles[kind] for kind in found)], lines)
    return section


def _shapley(subject: Subject, section: Section) -> tuple[np.ndarray | None, int]:
    """(rows, columns, outputs) of some rows, and how many rows."""
    if subject.X is None:
        return None, 0
    part, rows = subject.part(EXPLAINED)
    try:
        values = subject.model.shap_values(part)
    except (TypeError, ValueError) as reason:
        section.say(f"There are no Shapley values: {reason}.")
        return None, 0
    return values.reshape(*values.shape[:2], -1), len(rows)


def _ranks(subject: Subject, n_columns: int) -> list[np.ndarray | None]:
    """From 0 for the least number of a column to 1 for the largest; None for categories."""
    found: list[np.ndarray | None] = []
    for column in subject.columns():
        if column.numbers is None:
            found.append(None)
            continue
        order = np.searchsorted(np.sort(column.numbers), column.numbers) / max(1, len(column.numbers) - 1)
        found.append(np.where(column.missing, np.nan, np.minimum(order, 1.0)))
    return found or [None] * n_columns


def _points(ax: Any, values: np.ndarray, ranks: list[Any], shown: np.ndarray, names: list[str]) -> None:
    """A line of points for each column, spread so that they can be told apart."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("low to high", [BLUE, "#BBBBBB", ORANGE])
    most = np.take_along_axis(values, np.abs(values).argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    spread = np.random.default_rng(0).uniform(-POINTS, POINTS, len(values))
    for place, column in enumerate(shown.tolist()):
        rank = ranks[column]
        style = {"color": "#999999"} if rank is None else {"c": rank, "cmap": colors, "vmin": 0, "vmax": 1}
        ax.scatter(
            most[:, column],
            place + spread,
            s=7,
            alpha=0.8,
            linewidths=0,
            rasterized=True,
            plotnonfinite=True,
            **style,
        )
    ax.axvline(0.0, color="#777777", linewidth=0.8, zorder=0)
    ax.set_yticks(range(len(shown)), [names[column] for column in shown.tolist()])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlabel("added to the raw score")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def shapes(subject: Subject) -> Section:
    """The curves of an additive model."""
    section = Section("Shape curves")
    if not subject.is_estimator:
        return section
    try:
        found = subject.model.shapes()
    except (TypeError, ValueError) as reason:
        section.say(f"This model is no sum of curves that could be drawn: {reason}.")
        return section
    curves = list(found)
    if not curves:
        return section
    section.say(
        "The model is the sum of these curves and pairs, exactly: what each column adds to the raw score, above the "
        "distribution of the training rows. All curves have one scale; in the titles, shares of the variance."
    )
    limits = _limits(found)
    for curve in curves[:CURVES]:
        section.figures.append(_curve(subject.model, found, curve, limits))
    rows = [[" x ".join(curve.features), percent(curve.share)] for curve in curves]
    section.add_table(["term", "share of the variance, %"], rows)
    return section


def _limits(found: Shapes) -> tuple[float, float]:
    single = [curve.values for curve in found if len(curve.features) == 1]
    low = min((float(values.min()) for values in single), default=0.0)
    high = max((float(values.max()) for values in single), default=0.0)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _curve(model: Any, found: Shapes, curve: Any, limits: tuple[float, float]) -> dict[str, Any]:
    from matplotlib import pyplot

    name = curve.features[0] if len(curve.features) == 1 else curve.features
    figure = plot.shapes(found if not hasattr(model, "classes_") else model, [name])
    try:
        if len(curve.features) == 1:
            figure.axes[0].set_ylim(limits)
        return pictures.saved(figure, " x ".join(curve.features))
    finally:
        pyplot.close(figure)
