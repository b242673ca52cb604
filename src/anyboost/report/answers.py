"""How the model does on rows with targets: scores, calibration or coverage, worst groups, and where it is far off."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from anyboost import metrics, plot, tables
from anyboost.losses import Cox, Squared
from anyboost.plot.figures import BLUE
from anyboost.report import pictures
from anyboost.report.parts import Section, number
from anyboost.report.subject import Subject, Values, values_of

COVERAGES = (0.5, 0.8, 0.9, 0.95)
GROUPED = 20_000  # rows that groups are looked for in
COLUMNS = 12  # that groups are made of
LEVELS = 12  # of a column, the most frequent
WORST = 12  # groups, rows or queries shown
FEWEST = 20  # rows of a group
POINTS = 2_000
ROWS = "the first row of the table is row 0"
MEANINGS = {
    "bias": "Bias is the mean of prediction minus target.",
    "brier": "Brier is the mean squared error of the probabilities.",
    "sureness": "Sureness is the mean of the largest probability minus the share that is right: above 0 the model is "
    "surer than it should be, below 0 less sure.",
}


def scores(subject: Subject) -> Section:
    """The usual scores."""
    section = Section("How well it does")
    watched = list(_watched(subject)) if subject.rows != "validation rows" else []
    if watched:
        section.say(f"On rows that it did not learn from, the fit measured {', '.join(watched)}.")
    if not subject.has_targets:
        return section
    if subject.rows == "training rows":
        section.say("The scores are of the rows that the model was fitted to: it does worse on others.")
    found = list(_scores(subject))
    if found and subject.weight is not None:
        section.say("Rows count by their weights.")
    if found:
        section.add_table(["score", "value"], [list(pair) for pair in found])
    return section


def _scores(subject: Subject) -> Iterator[tuple[str, float]]:
    model, y, weight = subject.model, subject.y, subject.weight
    assert y is not None
    given = {} if weight is None else {"sample_weight": weight}
    if subject.is_ranker:
        yield from _ranking(subject)
        return
    if isinstance(subject.loss, Cox):
        yield "concordance", float(model.score(subject.X, y, **given))
        return
    if subject.is_estimator and y.ndim == 1:
        try:
            (whole,) = _lines(model.by_group(subject.X, y, np.zeros(len(y)), **given), "all")
            yield f"loss: {subject.loss}", whole["loss"]
        except TypeError:
            pass  # a loss that rows do not have each by themselves
    if subject.is_classifier:
        from sklearn.metrics import log_loss, roc_auc_score

        yield "share right", float(np.average(subject.predictions == y, weights=weight))
        chances = _chances(subject)
        if chances is not None and set(np.unique(y).tolist()) <= set(np.asarray(model.classes_).tolist()):
            yield "log loss", float(log_loss(y, chances, labels=model.classes_, **given))
            if chances.shape[1] == 2 and len(np.unique(y)) == 2:
                yield "area under the ROC curve", float(roc_auc_score(y, chances[:, 1], **given))
    elif subject.center is not None:
        targets = np.asarray(y, dtype=np.float64)
        off = targets - subject.center
        squares = float(np.average(off**2, weights=weight))
        spread = float(np.average((targets - np.average(targets, weights=weight)) ** 2, weights=weight))
        yield "mean absolute error", float(np.average(np.abs(off), weights=weight))
        yield "root mean squared error", squares**0.5
        if spread > 0:
            yield "R^2", 1.0 - squares / spread
    else:
        yield "score", float(model.score(subject.X, y, **given))


def _watched(subject: Subject) -> Iterator[str]:
    """What the fit found on its validation sets with as many rounds as the model has."""
    for name, found in getattr(subject.model, "validation_scores_", {}).items():
        if name == "train":  # a fit that held nothing out watches the rows that it learns from
            continue
        where = "" if name == "valid" else f" on {name}"
        for scoring, values in found.items():
            value = float(values[min(subject.ensemble.n_rounds, len(values) - 1)])
            yield f"a {scoring}{where} of {number(value)}"
            if scoring == "loss" and isinstance(subject.loss, Squared):
                yield f"a root mean squared error{where} of {number((2.0 * value) ** 0.5)}"


def _ranking(subject: Subject) -> Iterator[tuple[str, float]]:
    y, qid, predicted = subject.y, subject.qid, subject.predictions
    yield "NDCG", metrics.ndcg(y, predicted, qid)
    yield "NDCG@10", metrics.ndcg(y, predicted, qid, k=10)
    yield "MAP", metrics.average_precision(y, predicted, qid)
    yield "pairs in the wrong order", metrics.disagreement(y, predicted, qid)


def _chances(subject: Subject) -> np.ndarray | None:
    try:
        return np.asarray(subject.model.predict_proba(subject.X))
    except (AttributeError, TypeError):  # a loss without probabilities
        return None


def calibration(subject: Subject) -> Section:
    """Whether probabilities come true, or what intervals cover."""
    section = Section("Calibration" if subject.is_classifier else "Coverage")
    if not subject.has_targets or not subject.is_estimator or subject.is_ranker:
        return section
    if subject.is_classifier:
        if _chances(subject) is None:
            section.say(
                f'The loss {subject.loss} gives no probabilities: calibration="temperature" in the fit would.'
            )
            return section
        section.say(
            "Rows in ten bins by the probability of a class. On the line, it comes as often as it is said."
        )
    elif not _coverage(section, subject):
        return section
    section.add_figure(
        lambda ax: plot.calibration(subject.model, subject.X, subject.y, ax=ax),
        (4.2, 4.2),
        "Said and come true",
    )
    return section


def _coverage(section: Section, subject: Subject) -> bool:
    """A line for each coverage that the model can be asked for; whether that is all of them."""
    rows: list[list[Any]] = []
    reason = ""
    for asked in COVERAGES:
        try:
            low, high = subject.model.predict_interval(subject.X, coverage=asked).T
        except TypeError:
            section.say(
                'This model has no intervals: loss="multi_quantile:0.05,0.5,0.95" has, and conformal="cv" adds them '
                "to any other loss of one number a row."
            )
            return False
        except ValueError as error:  # too few rows to calibrate wide ones by
            reason = str(error)
            break
        inside = np.average((low <= subject.y) & (subject.y <= high), weights=subject.weight)
        rows.append([asked, float(inside), float(np.average(high - low, weights=subject.weight))])
    section.say("The share of targets inside the model's intervals, against the share asked for.")
    if reason:
        section.say(f"Wider ones are not to be had: {reason}.")
    if rows:
        section.add_table(["coverage asked", "share inside", "mean width"], rows)
    return not reason


def groups(subject: Subject) -> Section:
    """The groups in which the model's loss is largest: those given, levels of categories, quarters of numbers."""
    section = Section("Worst groups")
    if not subject.has_targets or not subject.is_estimator or subject.is_ranker:
        return section
    part, rows = subject.part(GROUPED)
    assert subject.y is not None
    weights: dict[str, Any] = {}
    if subject.weight is not None:  # a group of rows without weight has no mean
        held = subject.weight[rows] > 0
        part, rows = tables.take(part, np.flatnonzero(held)), rows[held]
        weights = {"sample_weight": subject.weight[rows]}
    labels, least = subject.y[rows], max(FEWEST, len(rows) // 200)
    given = None if subject.groups is None else subject.groups[rows]
    found: list[dict[str, Any]] = []
    try:
        (whole,) = _lines(subject.model.by_group(part, labels, np.zeros(len(rows)), **weights), "all")
        for name, group in _groupings(Subject(subject.model, part), given):
            found += _lines(subject.model.by_group(part, labels, group, **weights), name, least)
    except TypeError as reason:
        section.say(f"Groups cannot be compared: {reason}.")
        return section
    if not found:
        return section
    mean = whole["loss"]
    found.sort(key=lambda line: -line["loss"])
    extra = [name for name in found[0] if name not in ("of", "group", "rows", "weight", "loss")]
    lines = [
        [line["of"], line["group"], line["rows"], line["loss"], line["loss"] / mean if mean else None]
        + [line[name] for name in extra]
        for line in found[:WORST]
    ]
    section.say(
        f"The largest mean losses of {len(found)} groups with at least {least} rows; over all rows it is "
        f"{number(mean)}. Of so many, some are large by chance: look at the number of rows, and at other rows before "
        "acting on one."
    )
    meanings = " ".join(MEANINGS[name] for name in extra if name in MEANINGS)
    if meanings:
        section.say(meanings)
    head = ["by", "group", "rows", "loss", "times all rows", *extra]
    section.add_table(head, lines)
    return section


def _groupings(subject: Subject, given: np.ndarray | None) -> Iterator[tuple[str, np.ndarray]]:
    """Names of groupings, and a label a row; a column that is the one given is not told twice."""
    own = None
    if given is not None:
        own = _spelled(values_of("groups given", given if given.dtype.kind in "biuf" else given.tolist()))
        yield "groups given", own
    columns = list(subject.columns())
    if len(columns) > COLUMNS:
        try:
            order = np.argsort(-subject.model.importances(), kind="stable")[:COLUMNS]
        except (TypeError, ValueError):
            order = np.arange(COLUMNS)
        columns = [columns[at] for at in order.tolist()]
    for column in columns:
        if own is not None and np.array_equal(_spelled(column), own):
            continue
        labels = _labels(column)
        if labels is not None and len(set(labels.tolist())) > 1:
            yield column.name, labels


def _spelled(column: Values) -> np.ndarray:
    """The cells of a column as words."""
    if column.words is not None:
        return np.array(["missing" if word is None else word for word in column.words], dtype=str)
    assert column.numbers is not None
    words = [f"{value:.12g}" for value in column.numbers.tolist()]
    return np.where(column.missing, "missing", np.array(words, dtype=str))


def _labels(column: Values) -> np.ndarray | None:
    """Levels of categories, few numbers as they are, others in quarters."""
    if column.numbers is None:
        words = _spelled(column)
        levels, counts = np.unique(words, return_counts=True)
        kept = set(levels[np.argsort(-counts, kind="stable")[:LEVELS]].tolist())
        return np.array(
            [word if word in kept else "all others" for word in words.tolist()], dtype=object
        ).astype(str)
    held = column.numbers[~column.missing]
    if len(held) == 0:
        return None
    values = np.unique(held)
    if len(values) <= LEVELS:
        said = [number(value) for value in column.numbers.tolist()]
    else:
        cuts = np.unique(np.quantile(held, [0.25, 0.5, 0.75]))
        names = [number(cut) for cut in cuts.tolist()]
        ends = [f"up to {names[0]}", *(f"{a} to {b}" for a, b in pairwise(names)), f"over {names[-1]}"]
        said = [ends[place] for place in np.searchsorted(cuts, column.numbers).clip(0, len(cuts)).tolist()]
    return np.where(column.missing, "missing", np.array(said))


def _lines(found: Any, name: str, least: int = 1) -> list[dict[str, Any]]:
    """The groups of a frame of `by_group` that have enough rows."""
    import narwhals as nw

    lines = nw.from_native(found, eager_only=True).rows(named=True)
    return [{"of": name, **line} for line in lines if line["rows"] >= least]


def residuals(subject: Subject) -> Section:
    """Where the model is far off."""
    titles = {subject.is_classifier: "Mistakes", subject.is_ranker: "Worst queries"}
    section = Section(titles.get(True, "Residuals"))
    if not subject.has_targets:
        return section
    if subject.is_ranker:
        _worst_queries(section, subject)
    elif subject.is_classifier:
        _confusion(section, subject)
    elif subject.center is not None:
        _far_off(section, subject)
    return section


def _far_off(section: Section, subject: Subject) -> None:
    y, said = np.asarray(subject.y, dtype=np.float64), subject.center
    assert said is not None
    off = y - said
    rows = subject.part(POINTS)[1]
    section.say(
        "A residual is the target minus the prediction. Points should lie around the line without a bend."
    )
    section.add_figure(lambda ax: _scatter(ax, said[rows], y[rows]), (4.6, 4.2), "Target by prediction")
    section.add_figure(lambda ax: _bars(ax, off), (6.0, 2.4), "Residuals")
    worst = np.argsort(-np.abs(off), kind="stable")[:WORST]
    lines = [[int(at), float(y[at]), float(said[at]), float(off[at])] for at in worst.tolist()]
    section.add_table(["row", "target", "prediction", "residual"], lines, f"The rows farthest off; {ROWS}")


def _scatter(ax: Any, said: np.ndarray, y: np.ndarray) -> None:
    ax.scatter(said, y, s=8, alpha=0.5, linewidths=0, color=BLUE, rasterized=True)
    ends = [float(min(said.min(), y.min())), float(max(said.max(), y.max()))]
    ax.plot(ends, ends, color="#999999", linewidth=1)
    ax.set(xlabel="prediction", ylabel="target")
    ax.spines[["top", "right"]].set_visible(False)


def _bars(ax: Any, off: np.ndarray) -> None:
    pictures.histogram(ax, off, "residual", bins=40)
    ax.axvline(0.0, color="#999999", linewidth=1)


def _confusion(section: Section, subject: Subject) -> None:
    y, said = np.asarray(subject.y).astype(str), subject.predictions.astype(str)
    labels = [str(label) for label in subject.model.classes_]
    if len(labels) <= LEVELS:
        lines = [
            [label, *(int(((y == label) & (said == other)).sum()) for other in labels)] for label in labels
        ]
        section.add_table(
            ["class", *(f"said {label}" for label in labels)], lines, "Rows by class and answer"
        )
    chances = _chances(subject)
    wrong = np.flatnonzero(y != said)
    if chances is None or len(wrong) == 0:
        return
    sure = chances.max(axis=1)
    worst = wrong[np.argsort(-sure[wrong], kind="stable")[:WORST]]
    lines = [[int(at), str(y[at]), str(said[at]), float(sure[at])] for at in worst.tolist()]
    section.add_table(["row", "class", "said", "probability"], lines, f"The surest mistakes; {ROWS}")


def _worst_queries(section: Section, subject: Subject) -> None:
    if subject.qid is None:
        section.say("All rows were taken as one query: give qid to see which queries are ranked worst.")
        return
    y = np.asarray(subject.y)
    found: list[tuple[float, str, int]] = []
    for query in np.unique(subject.qid).tolist():
        rows = np.flatnonzero(subject.qid == query)
        value = metrics.ndcg(y[rows], subject.predictions[rows])
        if not np.isnan(value):
            found.append((float(value), str(query), len(rows)))
    section.add_table(
        ["NDCG", "query", "rows"], [list(line) for line in sorted(found)[:WORST]], "The queries ranked worst"
    )
