"""The table of Beygelzimer, Hazan, Kale and Luo (2015, supplement D): what online boosting gains over its base learner.

For ten of its data sets and its three base learners: rows are shuffled once. Parameters are chosen on the first half by
progressive squared loss. The loss on the other half is reported, learned from scratch, in three orders of its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from anyboost import datasets
from anyboost.experiments.frame import Claim, Tick, markdown, verdict
from anyboost.experiments.search import GROWTH, Choice, search
from anyboost.experiments.style import short
from anyboost.online import FeatureStumpLearner, HullBooster, LinearLearner, NetLearner, SpanBooster
from anyboost.plot import figures

TITLE = "What online boosting gains over its base learner"
SOURCE = "Beygelzimer, Hazan, Kale and Luo (2015), the table of supplement D"
SAYS = (
    "Boosting lowers the loss of one learner, in the mean of these ten data sets by 21.5 and 16.1 % (stumps, "
    "Algorithms 1 and 2), 5.4 and -0.5 % (nets), 1.4 and 0.3 % (linear learners)."
)
SHOWS = (
    "By how many percent a chain of 20 learners lowers the loss of one, by data set and base learner: Algorithms 1 "
    "and 2 here as filled dots (the mean of three orders of the rows, with their range), in the paper as rings."
)
N_LEARNERS = 20
STEPS = (0.05, 0.2, 0.5)  # of Algorithm 1, which takes steps from 1 / N_LEARNERS to 1
ORDERS = 3
SCALES = (1.0, 2.5)  # of Algorithm 2's class (supplement C.2)
BASES: dict[str, tuple[Callable[[float], Any], tuple[float, ...]]] = {
    "SGD": (lambda rate: LinearLearner(rate), (0.01, 0.03, 0.1, 0.3, 0.7)),
    "stumps": (lambda rate: FeatureStumpLearner(rate, centered=False), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)),
    "nets": (lambda rate: NetLearner(rate=rate), (0.003, 0.01, 0.03, 0.1, 0.3)),
}
# The paper's losses: baseline, Algorithm 1, Algorithm 2.
PAPER = {
    "abalone": ((3.7263, 3.7482, 3.7154), (6.7791, 3.8273, 4.2270), (3.7380, 3.7255, 3.7212)),
    "cal_housing": ((0.0094, 0.0094, 0.0104), (0.0151, 0.0138, 0.0124), (0.0096, 0.0096, 0.0107)),
    "casp": ((0.0632, 0.0631, 0.0630), (0.0741, 0.0741, 0.0742), (0.0639, 0.0632, 0.0631)),
    "a9a": ((0.4261, 0.4283, 0.4249), (0.5749, 0.5074, 0.5758), (0.4256, 0.4266, 0.4246)),
    "adult": ((0.1055, 0.1057, 0.1056), (0.1388, 0.1261, 0.1250), (0.1081, 0.1062, 0.1081)),
    "bank": ((0.2971, 0.2968, 0.2973), (0.3774, 0.3240, 0.3257), (0.2962, 0.2969, 0.2969)),
    "letter": ((0.6441, 0.5698, 0.6108), (0.7420, 0.7087, 0.7168), (0.6542, 0.5729, 0.6108)),
    "shuttle": ((0.1616, 0.1547, 0.1577), (0.8551, 0.3678, 0.4354), (0.0760, 0.0694, 0.0802)),
    "activity": ((0.0334, 0.0337, 0.0316), (0.4492, 0.1454, 0.3141), (0.0192, 0.0143, 0.0186)),
    "covtype": ((0.7256, 0.7270, 0.7286), (0.7910, 0.7986, 0.7911), (0.6807, 0.6465, 0.6757)),
}
FILES = {"activity": "activity_pucrio"}
BUNDLED = ("diabetes", "breast_cancer")  # with scikit-learn, for the quick form
# Which class is +1, where there are more than two; the paper does not say.
POSITIVE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "letter": lambda y: y < 13,  # A to M
    "shuttle": lambda y: y == 0,  # Rad Flow
    "activity": lambda y: y == 0,  # sitting
    "covtype": lambda y: y == 1,  # lodgepole pine
}


class Stream(NamedTuple):
    """Rows in the order in which they come, and their labels."""

    X: Any
    y: np.ndarray


@lru_cache(maxsize=1)
def stream(name: str) -> Stream:
    """A data set as the paper has it: categories one-hot, labels in the range its table gives; rows shuffled."""
    if name in BUNDLED:
        return _shuffled(*_bundled(name))
    data = datasets.load(FILES.get(name, name))
    X, y = one_hot(data), data.y
    if name == "shuttle" and data.split is not None:
        X, y = X[data.split == 0], y[data.split == 0]
    if name in ("a9a", "bank"):
        y = 2 * y - 1
    elif name in POSITIVE:
        y = np.where(POSITIVE[name](y), 1.0, -1.0)
    elif name == "cal_housing":
        y = np.log(y)
    if name in ("cal_housing", "casp"):
        y = (y - y.min()) / (y.max() - y.min())
    return _shuffled(X, y)


def _bundled(name: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn import datasets as bundled

    if name == "diabetes":
        X, y = bundled.load_diabetes(return_X_y=True)
        return X, (y - y.min()) / (y.max() - y.min())
    X, y = bundled.load_breast_cancer(return_X_y=True)
    return X, 2.0 * y - 1


def _shuffled(X: np.ndarray, y: np.ndarray) -> Stream:
    order = np.random.default_rng(0).permutation(len(y))
    X = X[order]
    sparse = np.count_nonzero(X) < 0.5 * X.size
    return Stream(scipy.sparse.csr_matrix(X) if sparse else np.ascontiguousarray(X), y[order])


def one_hot(data: datasets.Dataset) -> np.ndarray:
    """The table with a column for each category."""
    columns = [
        column[:, None] if not categorical else np.eye(int(column.max()) + 1)[column.astype(int)]
        for column, categorical in zip(data.X.T, data.categorical, strict=True)
    ]
    return np.concatenate(columns, axis=1)


def boosters(base: str) -> dict[str, tuple[dict[str, tuple[float, ...]], Callable[..., Any]]]:
    """Of each column of the table: the grid of its parameters, and the booster that they make."""
    make, rates = BASES[base]
    return {
        "baseline": ({"rate": rates}, lambda rate: SpanBooster(make(rate), 1, step=1.0)),
        "Algorithm 1": (
            {"rate": rates, "step": STEPS},
            lambda rate, step: SpanBooster(make(rate), N_LEARNERS, step=step),
        ),
        "Algorithm 2": (
            {"rate": rates, "scale": SCALES},
            lambda rate, scale: HullBooster(make(rate), N_LEARNERS, scale=scale),
        ),
    }


def choose(
    data: Stream, grid: dict[str, Any], make: Callable[..., Any], growth: int, tick: Callable[[], None]
) -> Choice:
    """The parameters with the least progressive loss."""

    def attempt(**parameters: float) -> dict[str, float]:
        tick()
        return {"loss": progressive_loss(make(**parameters), data.X, data.y)}

    return search(grid, attempt, limits={"step": (1 / N_LEARNERS, 1.0)}, growth=growth)


def progressive_loss(booster: Any, X: Any, y: np.ndarray) -> float:
    """Mean squared error of answers given before each row is learned."""
    return float(np.mean((booster.progressive_predict(X, y) - y) ** 2))


def cases(quick: bool) -> dict[str, Any]:
    """A data set and a base learner each."""
    names = BUNDLED if quick else tuple(PAPER)
    growth = 0 if quick else GROWTH
    return {
        f"{name}, {base}": {"data": name, "base": base, "growth": growth} for name in names for base in BASES
    }


def needs(case: dict[str, Any]) -> str | None:
    """The data set that a case is measured on, unless it is bundled."""
    name = case["data"]
    return None if name in BUNDLED else FILES.get(name, name)


def measure(case: dict[str, Any], tick: Tick = lambda _: None) -> dict[str, Any]:
    """Baseline, Algorithm 1 and Algorithm 2: parameters of the first half, and losses on the other in each order."""
    data = stream(case["data"])
    half = len(data.y) // 2
    first, other = Stream(data.X[:half], data.y[:half]), Stream(data.X[half:], data.y[half:])
    columns = boosters(case["base"])
    work, done = sum(np.prod([len(values) for values in grid.values()]) for grid, _ in columns.values()), 0

    def advance() -> None:
        nonlocal done
        done += 1
        tick(min(done / work, 1.0))

    found: dict[str, Any] = {}
    for name, (grid, make) in columns.items():
        choice = choose(first, grid, make, case["growth"], advance)
        found[name] = {
            "losses": [
                progressive_loss(make(**choice.point), *in_order(other, order)) for order in range(ORDERS)
            ],
            "chosen": choice.point,
            "tried": [{key: short(value) for key, value in one.items()} for one in choice.tried],
            "at_end": choice.at_end,
        }
    return found


def in_order(data: Stream, order: int) -> Stream:
    """The rows in another order; order 0 is their own."""
    if order == 0:
        return data
    rows = np.random.default_rng(order).permutation(len(data.y))
    return Stream(data.X[rows], data.y[rows])


def gains(losses: Any) -> list[float]:
    """By how many percent Algorithms 1 and 2 lower the baseline's loss."""
    return [100 * (1 - loss / losses[0]) for loss in losses[1:]]


def by_base(results: dict[str, Any]) -> dict[str, dict[str, np.ndarray]]:
    """base -> data set -> losses: a row for each order; columns are the baseline, Algorithm 1 and Algorithm 2."""
    sorted_out: dict[str, dict[str, np.ndarray]] = {base: {} for base in BASES}
    for label, found in results.items():
        name, _, base = label.partition(", ")
        sorted_out[base][name] = np.array([column["losses"] for column in found.values()]).T
    return sorted_out


def gains_by_order(losses: np.ndarray) -> np.ndarray:
    """The gains of Algorithms 1 and 2 in each order."""
    return np.array([gains(row) for row in losses])


def mean_gains(found: dict[str, Any]) -> np.ndarray:
    """The gains of Algorithms 1 and 2 in the mean over data sets, in each order."""
    return np.mean([gains_by_order(losses) for losses in found.values()], axis=0)


def in_paper(base: str, names: Any) -> dict[str, Any]:
    """The paper's losses, of one order, for those of the data sets that it has."""
    place = list(BASES).index(base)
    return {name: np.array([PAPER[name][place]]) for name in names if name in PAPER}


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: our losses and gains beside the paper's gains."""
    heading = "base | data | baseline | Algorithm 1 | Algorithm 2 | gain 1 | gain 2 | paper: baseline | gain 1 | gain 2"
    rows = []
    for base, found in by_base(results).items():
        paper = in_paper(base, found)
        for name, losses in found.items():
            cells = [f"{loss:.4f}" for loss in losses.mean(axis=0)] + _percents(gains_by_order(losses))
            theirs = (
                [f"{paper[name][0][0]:.4f}", *_percents(gains_by_order(paper[name]))]
                if name in paper
                else [""] * 3
            )
            rows.append([base, name, *cells, *theirs])
        theirs = _percents(mean_gains(paper)) if paper else ["", ""]
        means = _percents(mean_gains(found))
        rows.append([f"**{base}**", "**mean**", "", "", "", *means, "", *theirs])
    return markdown(heading, rows)


def _percents(gained: np.ndarray) -> list[str]:
    """The mean of the orders, and how far it is to the farthest."""
    means, away = gained.mean(axis=0), np.abs(gained - gained.mean(axis=0)).max(axis=0)
    if len(gained) == 1:
        return [f"{mean:+.1f} %" for mean in means]
    return [f"{mean:+.1f} ± {far:.1f} %" for mean, far in zip(means, away, strict=True)]


def claims(results: dict[str, Any]) -> list[Claim]:
    """What the paper's table says of each base learner, in the mean over data sets."""
    sorted_out = by_base(results)
    ours = {base: mean_gains(found).mean(axis=0) for base, found in sorted_out.items()}
    others = np.maximum(ours["SGD"], ours["nets"])
    said = {
        "stumps": (
            "Stumps, the weakest learners, gain by both algorithms, and more than the others",
            [gain > max(0.0, other) for gain, other in zip(ours["stumps"], others, strict=True)],
        ),
        "nets": ("Small nets gain by Algorithm 1", [ours["nets"][0] > 0]),
        "SGD": ("Linear learners gain little, less than 2 %", [0 <= gain < 2 for gain in ours["SGD"]]),
    }
    made = []
    for base, (says, held) in said.items():
        because = "Mean gain {:+.1f} % with Algorithm 1, {:+.1f} % with Algorithm 2.".format(*ours[base])
        paper = in_paper(base, sorted_out[base])
        if paper:
            because += " In the paper {:+.1f} % and {:+.1f} %.".format(*mean_gains(paper)[0])
        made.append(Claim(says, verdict(held), because))
    return made


def outcome(results: dict[str, Any]) -> str:
    """The mean gains."""
    parts = [
        "{}: {:+.1f} and {:+.1f} %".format(base, *mean_gains(found).mean(axis=0))
        for base, found in by_base(results).items()
    ]
    return f"Mean gains of Algorithms 1 and 2. {'; '.join(parts)}."


def draw(results: dict[str, Any]) -> Any:
    """Gains by data set, ours filled and the paper's open, one panel a base learner."""
    from matplotlib.figure import Figure

    sorted_out = by_base(results)
    names = list(next(iter(sorted_out.values())))
    places = np.arange(len(names))[::-1]
    figure = Figure(figsize=(5.6, 1.6 + 0.66 * len(names)), layout="constrained")
    panels = figure.subplots(len(BASES), 1)
    for panel, (base, found) in zip(panels, sorted_out.items(), strict=True):
        paper = in_paper(base, names)
        for which, (color, shift) in enumerate(((figures.BLUE, 0.16), (figures.ORANGE, -0.16))):
            ours = np.array([gains_by_order(found[name])[:, which] for name in names])
            theirs = [gains(paper[name][0])[which] if name in paper else np.nan for name in names]
            said = f"Algorithm {which + 1}"
            panel.plot(theirs, places + shift, "o", mfc="white", mec=color, label=f"{said}, the paper")
            panel.hlines(places + shift, ours.min(axis=1), ours.max(axis=1), color=color, linewidth=1.4)
            panel.plot(ours.mean(axis=1), places + shift, "o", color=color, label=f"{said}, here")
        panel.axvline(0.0, color="#777777", linewidth=0.8)
        panel.set_title(base, loc="left", fontweight="bold")
        panel.set_yticks(places, names)
        panel.xaxis.set_major_formatter("{x:g} %")
        panel.grid(axis="y", color="#EEEEEE")
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel("loss lower than that of one learner, by")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=2, frameon=False)
    return figure
