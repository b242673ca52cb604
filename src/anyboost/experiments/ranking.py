"""Figure 2 of Grubb and Bagnell: test disagreement against the number of stumps, ranking hinge, three descents.

The data are MQ2008 in its five official folds, each with a part to learn from, a part to choose by and a part to test
on; and those of MSLR-WEB10K, the paper's, where the folder ANYBOOST_DATA has them. Disagreement is the share of pairs
of one query in the wrong order. Scale of steps and number of stumps are chosen for each method by the validation part.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from anyboost import datasets
from anyboost.experiments import methods
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.methods import METHODS, STYLES
from anyboost.experiments.style import INK, QUIET, WIDE, short
from anyboost.metrics import disagreement
from anyboost.space import Binned

TITLE = "Ranking hinge with stumps: fewer pairs in the wrong order"
SOURCE = "Grubb and Bagnell (2011), Figure 2"
SAYS = "Naive descent fails on a loss that is not smooth, and the new algorithms often outperform it."
SHOWS = (
    "Share of test pairs in the wrong order against the number of stumps: mean of the folds, their range, and dots "
    "where validation stops. Below, the training loss and the number of different stumps."
)
PAPERS = "MSLR-WEB10K"
FOLDS = 5
SCALES, QUICK_SCALES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (0.1, 1.0)
TITLES = {
    "test": "test pairs in the wrong order",
    "train_loss": "training loss",
    "distinct": "different stumps",
}
FAILED = 1.5  # times the loss of another method
TUNED_ON = 1000  # queries to learn from at most, while the scale is chosen: all of MQ2008


class Part(NamedTuple):
    """Rows, grades and queries."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


class Fold(NamedTuple):
    """Queries to learn from, to choose by, and to test on."""

    train: Part
    valid: Part
    test: Part


def cases(quick: bool) -> dict[str, Any]:
    """Every fold with every method; only the paper's folds where they are there and MQ2008 is not."""
    papers = [] if quick else [int(folder.name[4:]) for folder in datasets.letor_folds(PAPERS)]
    name = "generated" if quick else "mq2008"
    own = [] if papers and name not in datasets.names() else range(1, FOLDS + 1)
    return {
        f"{data}, fold {fold}, {method}": {
            "data": data,
            "fold": fold,
            "method": method,
            **methods.spent(quick, SCALES, QUICK_SCALES),
        }
        for data, folds in ((name, own), (PAPERS, papers))
        for fold in folds
        for method in METHODS
    }


def needs(case: dict[str, Any]) -> str | None:
    """The data set that a case is measured on; the paper's folds are cases only where they are there."""
    return None if case["data"] in ("generated", PAPERS) else case["data"]


@lru_cache(maxsize=1)
def read(name: str, number: int) -> Fold:
    """A fold of a data set, folds counted from 1."""
    if name == PAPERS:
        paths = {path.name: path for path in datasets.letor_folds(PAPERS)}
        data = datasets.read_letor_fold(paths[f"Fold{number}"])
        among = [[0], [1], [2]]
    else:
        data = generated() if name == "generated" else datasets.load(name)
        # Fold 1 learns from parts 1, 2, 3, chooses by 4 and tests on 5; the next fold begins with part 2.
        turn = [(number - 1 + place) % FOLDS + 1 for place in range(FOLDS)]
        among = [turn[:3], turn[3:4], turn[4:]]
    assert data.qid is not None
    assert data.split is not None
    masks = [np.isin(data.split, which) for which in among]
    return Fold(*(Part(data.X[mask], data.y[mask], data.qid[mask]) for mask in masks))


def generated(queries: int = 100) -> datasets.Dataset:
    """Queries in five parts whose grades follow bent columns, with noise."""
    random, rows, columns = np.random.default_rng(0), 12, 6
    X = random.uniform(size=(queries * rows, columns))
    signal = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 - np.abs(X[:, 2] - 0.4) + random.normal(0.0, 0.3, len(X))
    y = np.digitize(signal, np.quantile(signal, [0.6, 0.9])).astype(float)
    qid = np.repeat(np.arange(queries), rows)
    names = [f"column {place}" for place in range(columns)]
    return datasets.Dataset(X, y, names, np.zeros(columns, dtype=bool), split=qid % FOLDS + 1, qid=qid)


def measure(case: dict[str, Any], tick: Tick) -> dict[str, Any]:
    """One method on one fold: scale and number of stumps by the validation part, then the test part."""
    fold, method, stumps = read(case["data"], case["fold"]), case["method"], case["stumps"]
    inner, parts = some_queries(fold.train, TUNED_ON), len(case["scales"]) + 1
    binned = Binned(inner.X)

    def attempt(scale: float, tick: Tick) -> dict[str, float]:
        run = _fit(binned, inner, method, scale, stumps, tick)
        lowest = min(_curve(run, fold.valid, method, stumps))
        return {"train_loss": run.steps[-1].loss, "disagreement": lowest}

    # Naive's order is often the same with several steps.
    choice = methods.best_scale(case, attempt, ("disagreement", "train_loss"), tick)
    scale = choice.point["scale"]
    run = _fit(fold.train.X, fold.train, method, scale, stumps, methods.share(tick, parts - 1, parts))
    valid, test = _curve(run, fold.valid, method, stumps), _curve(run, fold.test, method, stumps)
    stop = int(np.argmin(valid))
    return {
        **{name: case[name] for name in ("data", "fold", "method")},
        "scale": scale,
        "tried": [{name: short(value) for name, value in one.items()} for one in choice.tried],
        "at_end": choice.at_end,
        "stumps": methods.stops(stumps),
        "train_loss": short([run.steps[t - 1].loss for t in methods.rounds_at_stops(method, stumps)]),
        "valid": short(valid),
        "test": short(test),
        "distinct": methods.distinct_at_stops(run, stumps),
        "stopped_at": methods.stops(stumps)[stop],
        "stopped": short(test[stop]),
    }


def some_queries(part: Part, most: int) -> Part:
    """The rows of the first so many queries."""
    known, first = np.unique(part.qid, return_index=True)
    kept = known[np.argsort(first)][:most]
    return Part(*(values[np.isin(part.qid, kept)] for values in part))


def _fit(X: Any, part: Part, method: str, scale: float, stumps: int, tick: Tick) -> Any:
    return methods.fit(
        X, part.y, method, scale, stumps, tick, loss="rank_hinge", learner="stump", groups=part.qid
    )


def _curve(run: Any, part: Part, method: str, stumps: int) -> list[float]:
    """Disagreement on a part after 1, 3, 6, 10, ... stumps."""
    staged = methods.scores_at_stops(run, part.X, method, stumps)
    return [disagreement(part.y, scores, part.qid) for scores in staged]


class Folds(NamedTuple):
    """The results on all folds of one data set, by method and in the same order."""

    data: str
    by: dict[str, list[dict[str, Any]]]

    @property
    def title(self) -> str:
        """The data set's name as its authors write it."""
        return {"mq2008": "MQ2008"}.get(self.data, self.data)

    @property
    def stumps(self) -> list[int]:
        return self.by["naive"][0]["stumps"]

    def curves(self, method: str, what: str) -> np.ndarray:
        """A curve a fold, (folds, stops)."""
        return np.array([one[what] for one in self.by[method]])

    def stopped(self, method: str) -> np.ndarray:
        """test disagreement at the number of stumps that validation chose, a fold each."""
        return np.array([one["stopped"] for one in self.by[method]])

    def stop(self, method: str) -> tuple[float, float]:
        """Where validation stops, a point for all folds: the mean number of stumps, on their axis, and disagreement."""
        numbers = np.array([one["stopped_at"] for one in self.by[method]])
        return float(np.exp(np.log(numbers).mean())), float(self.stopped(method).mean())


def by_data(results: dict[str, Any]) -> list[Folds]:
    """Results by data set."""
    found: dict[str, dict[str, list[Any]]] = {}
    for one in results.values():
        found.setdefault(one["data"], {}).setdefault(one["method"], []).append(one)
    return [Folds(data, by) for data, by in found.items()]


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: each fold and the mean of the folds."""
    heading = (
        "data | fold | method | step | stumps by validation | test disagreement there | with all stumps | "
        "training loss | different stumps"
    )
    rows = []
    for own in by_data(results):
        for method in METHODS:
            for one in own.by[method]:
                scale = f"{one['scale']:g}/sqrt(t)"
                cells = [own.data, str(one["fold"]), method, scale, str(one["stopped_at"])]
                cells += [f"{one['stopped']:.4f}", f"{one['test'][-1]:.4f}", f"{one['train_loss'][-1]:.3f}"]
                rows.append([*cells, f"{one['distinct'][-1]} of {own.stumps[-1]}"])
        for method in METHODS:
            ends = (own.stopped(method), own.curves(method, "test")[:, -1])
            cells = [own.data, "**mean**", method, "", "", *(f"{end.mean():.4f}" for end in ends)]
            cells.append(f"{own.curves(method, 'train_loss')[:, -1].mean():.3f}")
            rows.append([*cells, f"{own.curves(method, 'distinct')[:, -1].mean():.0f} of {own.stumps[-1]}"])
    return markdown(heading, rows)


def claims(results: dict[str, Any]) -> list[Claim]:
    """What the abstract and the introduction say of the experiments; section 5 only says what Figure 2 plots."""
    return [
        claim
        for own in by_data(results)
        for claim in (_converges(own), _stopped(own), _at_equal_numbers(own))
    ]


def outcome(results: dict[str, Any]) -> str:
    """Training losses in the end, and test disagreement where validation stops."""
    parts = []
    for own in by_data(results):
        losses = ", ".join(
            f"{method} {own.curves(method, 'train_loss')[:, -1].mean():.2f}" for method in METHODS
        )
        stopped = ", ".join(f"{method} {own.stopped(method).mean():.3f}" for method in METHODS)
        parts.append(
            f"{own.title}, mean of the folds. Training loss: {losses}. Test disagreement: {stopped}."
        )
    return " ".join(parts)


def _converges(own: Folds) -> Claim:
    ends = {
        method: np.array([min(tried["train_loss"] for tried in one["tried"]) for one in own.by[method]])
        for method in METHODS
    }
    return Claim(
        f"{own.title}: on a loss that is not smooth naive descent fails to converge, and the new algorithms do not",
        verdict([bool((ends["naive"] > FAILED * ends[method]).all()) for method in METHODS[1:]]),
        f"Lowest training loss after {own.stumps[-1]} stumps with any of the steps: "
        + ", ".join(f"{method} {ends[method].min():.3f} to {ends[method].max():.3f}" for method in METHODS)
        + ". Naive's is at least "
        + " and ".join(f"{min(ends['naive'] / ends[method]):.2f} times {method}'s" for method in METHODS[1:])
        + f". Failing means {FAILED:g} times in every fold.",
    )


def _stopped(own: Folds) -> Claim:
    ends = {method: own.stopped(method) for method in METHODS}
    return Claim(
        f"{own.title}: the new algorithms often outperform the existing one (each stopped where validation says)",
        verdict([bool((ends[method] < ends["naive"]).mean() > 0.5) for method in METHODS[1:]]),
        "Test disagreement, mean of the folds: "
        + ", ".join(f"{method} {ends[method].mean():.4f}" for method in METHODS)
        + ". "
        + " ".join(f"{method.capitalize()} is lower in {_wins(ends, method)}." for method in METHODS[1:]),
    )


def _at_equal_numbers(own: Folds) -> Claim:
    naive = own.curves("naive", "test")
    shares = {method: float((own.curves(method, "test") < naive).mean()) for method in METHODS[1:]}
    ends = {method: own.curves(method, "test")[:, -1].mean() for method in METHODS}
    return Claim(
        f"{own.title}: the new algorithms often outperform the existing one (at equal numbers, none stopped)",
        verdict([share > 0.5 for share in shares.values()]),
        "Of all folds and numbers of stumps, "
        + ", ".join(f"{method} is lower in {share:.0%}" for method, share in shares.items())
        + f". Test disagreement after {own.stumps[-1]} stumps: "
        + ", ".join(f"{method} {end:.4f}" for method, end in ends.items())
        + ".",
    )


def _wins(ends: dict[str, np.ndarray], method: str) -> str:
    return f"{int((ends[method] < ends['naive']).sum())} of {len(ends[method])} folds"


def draw(results: dict[str, Any]) -> Any:
    """test disagreement large, training loss and different stumps small; lines are means, bands the folds' range."""
    from matplotlib.figure import Figure

    every = by_data(results)
    figure = Figure(figsize=(WIDE, 6.4 * len(every)), layout="constrained")
    for part, own in zip(figure.subfigures(len(every), 1, squeeze=False)[:, 0], every, strict=True):
        panels = part.subplot_mosaic([["test", "test"], ["train_loss", "distinct"]], height_ratios=(3, 2))
        for what, panel in panels.items():
            _draw_curves(panel, own, what)
        methods.count_axis(panels["distinct"])
        _finish_test(panels["test"], own)
    return figure


def _draw_curves(panel: Any, own: Folds, what: str) -> None:
    for method in METHODS:
        curves, color = own.curves(method, what), STYLES[method]["color"]
        panel.fill_between(own.stumps, curves.min(0), curves.max(0), color=color, alpha=0.13, linewidth=0)
        panel.plot(own.stumps, curves.mean(0), **STYLES[method])
    methods.finish(panel, own.stumps[-1])
    panel.set_title(TITLES[what], loc="left", fontsize=9.5, color=INK)
    panel.set_xlabel("stumps", color=INK)


def _finish_test(panel: Any, own: Folds) -> None:
    for method in METHODS:
        panel.plot(
            *own.stop(method), "o", color=STYLES[method]["color"], markersize=8, markeredgecolor="white"
        )
    panel.set_title(f"{own.title}: {TITLES['test']}", loc="left", fontsize=11, color=INK)
    words = f"lines: mean of {len(own.by['naive'])} folds\nbands: their range\ndots: where validation stops"
    panel.text(0.99, 0.99, words, transform=panel.transAxes, ha="right", va="top", fontsize=9, color=QUIET)
    methods.percent_axis(panel)
    methods.label_ends(panel, {method: own.curves(method, "test").mean(0) for method in METHODS}, gap=0.07)
