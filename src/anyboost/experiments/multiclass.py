"""Figure 3 of Grubb and Bagnell: multiclass hinge and stumps on four data sets, by three descents.

Stumps come in two kinds: vectors of K numbers on either side of a cut, fitted by least squares (projection (4)), and
a class on either side, 1 for it and -1/(K-1) for the others, as Theorem 2 has them (projection (3)). Scores start at
0. Each method learns from three quarters of the training rows, in three draws of them. The scale of its steps is the
one with the least hinge loss on the remaining quarter of the first draw. Test rows choose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn import datasets as bundled
from sklearn.model_selection import train_test_split

from anyboost import datasets
from anyboost.boosting import Run
from anyboost.experiments import methods
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.methods import METHODS, STYLES
from anyboost.experiments.style import INK, QUIET, WIDE, short
from anyboost.losses import MulticlassHinge
from anyboost.space import Binned
from anyboost.weak import Classifier, Stump

TITLE = "Multiclass hinge with stumps: where naive boosting goes in circles"
SOURCE = "Grubb and Bagnell (2011), Figure 3"
SAYS = (
    "On connect4 and letter naive descent cycles through the same weak learners and clearly fails to converge. The "
    "others converge at relatively similar rates."
)
SHOWS = (
    "For four data sets and two kinds of stumps: hinge loss and error, on test rows (strong) and training rows "
    "(faint), and the number of different stumps, against the number of stumps taken. Lines are means of three draws "
    "of the training rows, bands their range."
)
DATA = ("connect4", "letter", "pendigits", "satimage")
FAILS = ("connect4", "letter")  # those on which the paper sees naive fail
QUICK_DATA = ("digits", "wine")
LEARNERS = {"vectors": Stump(), "classes": Classifier()}
KINDS = {
    "vectors": "vector regression stumps, projection (4)",
    "classes": "stump classifiers, projection (3)",
}
SCALES, QUICK_SCALES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0), (1.0, 3.0)
DRAWS = 3
THEOREMS = 1.0  # the scale of Theorems 5 and 7
LAST = 100  # stumps at the end, in which to look for a cycle
FAILED = 0.25  # of the best method's fall: less of it is a failure
CYCLE = 0.5
SIMILAR = 2  # times the stumps
HIGHEST = 1.5  # loss in the figure: what some first steps do is cut off
TITLES = ("hinge loss", "error", "different stumps")
HINGE = MulticlassHinge()


class Split(NamedTuple):
    """Rows to learn from and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def cases(quick: bool) -> dict[str, Any]:
    """Every data set with both kinds of stumps and all three methods."""
    return {
        f"{data}, {learner}, {method}": {
            "data": data,
            "learner": learner,
            "method": method,
            **methods.spent(quick, SCALES, QUICK_SCALES),
        }
        for data in (QUICK_DATA if quick else DATA)
        for learner in LEARNERS
        for method in METHODS
    }


def needs(case: dict[str, Any]) -> str | None:
    """The data set that a case is measured on, unless it is bundled."""
    return None if case["data"] in QUICK_DATA else case["data"]


@lru_cache(maxsize=1)
def split(name: str) -> Split:
    """The source's own split where it comes with one; else (connect4, all from OpenML) a fifth of the rows tests."""
    if name in QUICK_DATA:
        return bundled_split(name)
    data = datasets.load(name)
    X, y, parts = data.X, data.y.astype(int), data.split
    if name == "connect4":
        X = np.array([0.0, -1.0, 1.0])[X.astype(int)]  # a cell is empty, the other player's, or one's own
    if parts is None:
        return split_rows(X, y, 0.2)
    return Split(X[parts == 0], y[parts == 0], X[parts == 1], y[parts == 1])


def bundled_split(name: str) -> Split:
    """A data set of scikit-learn; a fifth of the rows tests."""
    X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
    return split_rows(X, y, 0.2)


def split_rows(X: np.ndarray, y: np.ndarray, tests: float, draw: int = 0) -> Split:
    """Classes have the same share in both parts."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=tests, stratify=y, random_state=draw)
    return Split(X, y, X_test, y_test)


def measure(case: dict[str, Any], tick: Tick) -> dict[str, Any]:
    """One method on one data set: its scale by the first draw of the training rows, and its curves in all draws."""
    data, method, stumps = split(case["data"]), case["method"], case["stumps"]
    options = {"loss": HINGE, "learner": LEARNERS[case["learner"]], "start": 0.0}
    first = training_rows(data, 0)
    binned = Binned(first.X)
    runs = {}

    def attempt(scale: float, tick: Tick) -> dict[str, float]:
        runs[scale] = run = methods.fit(binned, first.y, method, scale, stumps, tick, **options)
        loss, error = losses(run.ensemble.predict(first.X_test), first.y_test)
        found = {"train_loss": run.steps[-1].loss, "loss": loss, "error": error}
        return found | {"distinct": len(set(methods.cuts(run)))}

    choice = methods.best_scale(case, attempt, ("loss",), tick)
    scale = choice.point["scale"]
    curves = [curves_of(runs[scale], method, stumps, first, data)]
    runs.clear()
    rest = methods.share(tick, len(case["scales"]), len(case["scales"]) + 1)
    for draw in range(1, DRAWS):
        own = training_rows(data, draw)
        part = methods.share(rest, draw - 1, DRAWS - 1)
        run = methods.fit(own.X, own.y, method, scale, stumps, part, **options)
        curves.append(curves_of(run, method, stumps, own, data))
    return {
        **{name: case[name] for name in ("data", "learner", "method")},
        "scale": scale,
        "tried": [{name: short(value) for name, value in one.items()} for one in choice.tried],
        "at_end": choice.at_end,
        "constant_loss": short(constant_loss(first.y)),
        "stumps": methods.stops(stumps),
        **{name: [one[name] for one in curves] for name in curves[0]},
    }


def curves_of(run: Run, method: str, stumps: int, own: Split, data: Split) -> dict[str, Any]:
    """Losses, errors and different stumps of a run after 1, 3, 6, 10, ... stumps."""
    train, test = (
        np.array([losses(scores, y) for scores in methods.scores_at_stops(run, X, method, stumps)])
        for X, y in ((own.X, own.y), (data.X_test, data.y_test))
    )
    return {
        "train_loss": short(train[:, 0]),
        "train_error": short(train[:, 1]),
        "test_loss": short(test[:, 0]),
        "test_error": short(test[:, 1]),
        "distinct": methods.distinct_at_stops(run, stumps),
        "last": len(set(methods.cuts(run)[-LAST:])),
    }


def training_rows(data: Split, draw: int) -> Split:
    """The training rows: three quarters to learn from, and one to choose by."""
    return split_rows(data.X, data.y, 0.25, draw)


def constant_loss(y: np.ndarray) -> float:
    """The loss of the best constant: 0, or the unit vector of a class that has more than half of the rows."""
    return min(1.0, 2.0 * (1.0 - float(np.bincount(y).max()) / len(y)))


def losses(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Mean hinge loss, and the share of rows in a wrong class."""
    return float(HINGE.values(scores, y).mean()), float(np.mean(scores.argmax(axis=1) != y))


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: where each method ends."""
    heading = (
        "data | stumps are | method | step | training loss | training error | test loss | test error | "
        f"different stumps | of the last {LAST}"
    )
    rows = []
    for one in results.values():
        cells = [one["data"], one["learner"], one["method"], f"{one['scale']:g}/sqrt(t)"]
        for part in ("train", "test"):
            cells += [
                _range(last_values(one, f"{part}_loss"), ".3f"),
                _range(last_values(one, f"{part}_error"), ".1%"),
            ]
        distinct = _range(last_values(one, "distinct"), ".0f")
        rows.append([*cells, f"{distinct} of {one['stumps'][-1]}", _range(np.array(one["last"]), ".0f")])
    return markdown(heading, rows)


def last_values(one: dict[str, Any], what: str) -> np.ndarray:
    """The last values of a curve, one for each draw."""
    return np.array([curve[-1] for curve in one[what]])


def _range(values: np.ndarray, form: str) -> str:
    """The least and the largest of the draws."""
    low, high = f"{values.min():{form}}", f"{values.max():{form}}"
    return low if low == high else f"{low.removesuffix('%')} to {high}"


@dataclass(frozen=True, eq=False)
class Contrast:
    """The three methods on one data set with one kind of stumps."""

    data: str
    learner: str
    by: dict[str, Any]

    @property
    def stumps(self) -> int:
        return self.by["naive"]["stumps"][-1]

    def fall(self, method: str, scale: float | None = None) -> float:
        """How far a method gets under the loss of the best constant while it is tuned: with its best step, or this."""
        one = self.by[method]
        ends = [tried["train_loss"] for tried in one["tried"] if scale in (None, tried["scale"])]
        return one["constant_loss"] - min(ends)

    def naive_share(self, scale: float | None = None) -> float:
        """Naive's fall over the largest fall of the three."""
        return max(self.fall("naive", scale), 0.0) / max(self.fall(method) for method in METHODS)

    def catches_up(self) -> int | None:
        """After how many stumps residual has the training loss that repeated ends with; None where it never has."""
        curve, goal = self.mean("residual", "train_loss"), self.end("repeated", "train_loss")
        stumps = self.by["residual"]["stumps"]
        reached = [n for n, loss in zip(stumps, curve, strict=True) if loss <= goal]
        return min(reached, default=None)

    def mean(self, method: str, what: str) -> np.ndarray:
        """A curve, in the mean of the draws."""
        return np.mean(self.by[method][what], axis=0)

    def end(self, method: str, what: str) -> float:
        """The last value of a curve, in the mean of the draws."""
        return float(self.mean(method, what)[-1])

    def __str__(self) -> str:
        return f"{self.data} ({self.learner})"


def contrasts(results: dict[str, Any]) -> list[Contrast]:
    """Results by data set and kind of stumps."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in results.values():
        found.setdefault((one["data"], one["learner"]), {})[one["method"]] = one
    return [Contrast(data, learner, by) for (data, learner), by in found.items()]


def claims(results: dict[str, Any]) -> list[Claim]:
    """What section 5 says of Figure 3, and the introduction of all experiments."""
    every = contrasts(results)
    hard = [one for one in every if one.data in FAILS] or every
    return [_fails(hard, every), _cycles(hard), _similar_rates(hard), _outperform(every)]


def outcome(results: dict[str, Any]) -> str:
    """Test errors where the paper sees naive fail."""
    every = contrasts(results)
    ends = [
        f"{one} " + ", ".join(f"{one.end(method, 'test_error'):.0%}" for method in METHODS)
        for one in [one for one in every if one.data in FAILS] or every
    ]
    return f"Test error of naive, repeated and residual after {every[0].stumps} stumps: {'; '.join(ends)}."


def _fails(hard: list[Contrast], every: list[Contrast]) -> Claim:
    shares = {one: (one.naive_share(THEOREMS), one.naive_share()) for one in every}
    return Claim(
        "Naive descent clearly fails to converge on connect4 and letter",
        verdict([share < FAILED for one in hard for share in shares[one]]),
        f"We compare how far {hard[0].stumps} stumps get below the training loss of the best constant. Of the best "
        "method's fall naive reaches, with steps 1/sqrt(t) and with its best scale: "
        + ", ".join(f"{one} {first:.0%} and {best:.0%}" for one, (first, best) in shares.items())
        + f". Failing means under {FAILED:.0%}.",
    )


def _cycles(hard: list[Contrast]) -> Claim:
    last = {one: [np.mean(one.by[method]["last"]) for method in ("naive", "residual")] for one in hard}
    return Claim(
        "There naive cycles through the same weak learners",
        verdict([naive <= CYCLE * residual for naive, residual in last.values()]),
        f"Different stumps among the last {LAST}, naive's and residual's: "
        + ", ".join(f"{one} {naive:.0f} and {residual:.0f}" for one, (naive, residual) in last.items())
        + f". A cycle has at most {CYCLE:.0%} of residual's.",
    )


def _similar_rates(hard: list[Contrast]) -> Claim:
    """Both must get down where naive does not; at similar rates, where residual is not far ahead of repeated."""
    down = [one.fall(method) > 2 * one.fall("naive") for one in hard for method in METHODS[1:]]
    ahead = {one: one.catches_up() for one in hard}
    similar = all(n is None or n * SIMILAR >= one.stumps for one, n in ahead.items())
    return Claim(
        "There repeated and residual approach optimal training performance at relatively similar rates",
        verdict([all(down) and similar, any(down)]),
        f"They lower the training loss more than twice as much as naive in {sum(down)} of {len(down)} cases. Residual "
        f"reaches the loss that repeated has after {hard[0].stumps} stumps after "
        + ", ".join(f"{n or 'more'} on {one}" for one, n in ahead.items())
        + f". Similar means {hard[0].stumps // SIMILAR} or more.",
    )


def _outperform(every: list[Contrast]) -> Claim:
    better = {
        method: sum(one.end(method, "test_error") < one.end("naive", "test_error") for one in every)
        for method in METHODS[1:]
    }
    return Claim(
        "The new algorithms often outperform the existing one",
        verdict([count > len(every) / 2 for count in better.values()]),
        f"After {every[0].stumps} stumps the test error is lower than naive's "
        + ", ".join(f"in {count} of {len(every)} cases with {method}" for method, count in better.items())
        + ".",
    )


def draw(results: dict[str, Any]) -> Any:
    """A row for each data set and kind of stumps: loss, error, different stumps."""
    from matplotlib.figure import Figure

    every = contrasts(results)
    kinds = [kind for kind in KINDS if any(one.learner == kind for one in every)]
    figure = Figure(figsize=(WIDE, 0.6 + 1.55 * len(every)), layout="constrained")
    for part, kind in zip(figure.subfigures(len(kinds), 1, squeeze=False)[:, 0], kinds, strict=True):
        own = [one for one in every if one.learner == kind]
        part.suptitle(KINDS[kind], x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK)
        panels = part.subplots(len(own), 3, sharex=True, squeeze=False)
        for row, one in zip(panels, own, strict=True):
            _draw_row(row, one)
        for panel, words in zip(panels[0], TITLES, strict=True):
            panel.set_title(words, loc="left", fontsize=9.5, color=INK)
        for panel in panels[-1]:
            panel.set_xlabel("stumps", color=INK)
        panels[0, 0].annotate(
            "faint: training", (0.04, 0.06), xycoords="axes fraction", fontsize=8, color=QUIET
        )
    return figure


def _draw_row(row: Any, one: Contrast) -> None:
    for method, result in one.by.items():
        style = STYLES[method]
        faint = style | {"alpha": 0.3, "linewidth": 1.2}
        for panel, what in zip(row, ("loss", "error"), strict=False):
            panel.plot(result["stumps"], one.mean(method, f"train_{what}"), **faint)
            _draw_mean(panel, result["stumps"], result[f"test_{what}"], style)
        _draw_mean(row[2], result["stumps"], result["distinct"], style)
    for panel in row:
        methods.finish(panel, one.stumps, (1, 10, 100, 1000))
    row[0].set_ylim(0.0, HIGHEST)
    row[1].set_ylim(bottom=0.0)
    methods.percent_axis(row[1])
    methods.count_axis(row[2])
    row[0].set_ylabel(one.data, fontweight="bold", color=INK)
    methods.label_ends(row[2], {method: one.mean(method, "distinct") for method in one.by})


def _draw_mean(panel: Any, stumps: list[int], curves: Any, style: dict[str, Any]) -> None:
    """The mean of the draws, and a band of their range."""
    values = np.array(curves)
    panel.fill_between(stumps, values.min(0), values.max(0), color=style["color"], alpha=0.18, linewidth=0)
    panel.plot(stumps, values.mean(0), **style)
