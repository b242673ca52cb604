"""The table of Beygelzimer, Hazan, Kale and Luo (2015, supplement D): what online boosting gains over its base learner.

For ten of its data sets and its three base learners: parameters are chosen on the first half of the rows by
progressive squared loss, and the loss on the other half is reported, learned from scratch. Rows are shuffled once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from anyboost import datasets
from anyboost.online import FeatureStumpLearner, HullBooster, LinearLearner, NetLearner, SpanBooster

N_LEARNERS = 20
STEPS = (0.05, 0.2, 0.5)  # of Algorithm 1
SCALES = (1.0, 2.5)  # of Algorithm 2's class (supplement C.2)
BASES: dict[str, tuple[Callable[[float], Any], tuple[float, ...]]] = {
    "SGD": (lambda rate: LinearLearner(rate), (0.01, 0.03, 0.1, 0.3, 0.7)),
    "stumps": (lambda rate: FeatureStumpLearner(rate), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)),
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


def stream(name: str, most: int | None = None) -> Stream:
    """A data set as the paper has it: categories one-hot, labels in the range its table gives."""
    data = datasets.load(FILES.get(name, name))
    X, y = one_hot(data), data.y
    if name == "shuttle":
        assert data.split is not None
        X, y = X[data.split == 0], y[data.split == 0]
    if name in ("a9a", "bank"):
        y = 2 * y - 1
    elif name in POSITIVE:
        y = np.where(POSITIVE[name](y), 1.0, -1.0)
    elif name == "cal_housing":
        y = np.log(y)
    if name in ("cal_housing", "casp"):
        y = (y - y.min()) / (y.max() - y.min())
    order = np.random.default_rng(0).permutation(len(y))[:most]
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


def candidates(base: str) -> dict[str, list[Callable[[], Any]]]:
    """The boosters that each column of the table chooses from."""
    make, rates = BASES[base]
    return {
        "baseline": [partial(SpanBooster, make(rate), 1, step=1.0) for rate in rates],
        "Algorithm 1": [
            partial(SpanBooster, make(rate), N_LEARNERS, step=step) for rate, step in product(rates, STEPS)
        ],
        "Algorithm 2": [
            partial(HullBooster, make(rate), N_LEARNERS, scale=scale)
            for rate, scale in product(rates, SCALES)
        ],
    }


def progressive_loss(booster: Any, X: Any, y: np.ndarray) -> float:
    """Mean squared error of answers given before each row is learned."""
    return float(np.mean((booster.progressive_predict(X, y) - y) ** 2))


def measure(data: Stream, base: str) -> list[float]:
    """Baseline, Algorithm 1 and Algorithm 2: chosen on the first half, measured on the other."""
    half = len(data.y) // 2
    found = []
    for makers in candidates(base).values():
        tuned = [progressive_loss(make(), data.X[:half], data.y[:half]) for make in makers]
        best = makers[int(np.argmin(tuned))]
        found.append(progressive_loss(best(), data.X[half:], data.y[half:]))
    return found


def gains(losses: Any) -> list[float]:
    """By how many percent Algorithms 1 and 2 lower the baseline's loss."""
    return [100 * (1 - loss / losses[0]) for loss in losses[1:]]


def run(quick: bool, output: Path, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Make online.json, online.md and online.png in the folder `output`."""
    results: dict[str, Any] = {
        "quick": quick,
        "n_learners": N_LEARNERS,
        "losses": {base: {} for base in BASES},
    }
    for name in PAPER:
        data = stream(name, 2000 if quick else None)
        for base in BASES:
            losses = measure(data, base)
            results["losses"][base][name] = losses
            told = ", ".join(f"{gain:+.1f} %" for gain in gains(losses))
            say(f"{base:7s} {name:12s} baseline {losses[0]:.4f}, gains of Algorithms 1 and 2: {told}")
    results["mean_gains"] = {
        base: np.mean([gains(losses) for losses in found.values()], axis=0).tolist()
        for base, found in results["losses"].items()
    }
    for base, (first, second) in results["mean_gains"].items():
        say(f"{base:7s} mean gain: {first:+.1f} % (Algorithm 1), {second:+.1f} % (Algorithm 2)")
    output.mkdir(parents=True, exist_ok=True)
    (output / "online.json").write_text(json.dumps(results, indent=2) + "\n")
    (output / "online.md").write_text("\n".join(table(results)) + "\n")
    draw(results, output / "online.png")
    return results


def table(results: dict[str, Any]) -> list[str]:
    """Markdown: our losses and gains beside the paper's gains."""
    lines = [
        "| base | data | baseline | Algorithm 1 | Algorithm 2 | gain 1 | gain 2 | paper: baseline | gain 1 | gain 2 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for place, (base, found) in enumerate(results["losses"].items()):
        for name, losses in found.items():
            paper = PAPER[name][place]
            cells = [f"{loss:.4f}" for loss in losses] + [f"{gain:+.1f} %" for gain in gains(losses)]
            cells += [f"{paper[0]:.4f}"] + [f"{gain:+.1f} %" for gain in gains(paper)]
            lines.append(f"| {base} | {name} | " + " | ".join(cells) + " |")
        ours = results["mean_gains"][base]
        theirs = np.mean([gains(PAPER[name][place]) for name in found], axis=0)
        cells = ["", "", "", *(f"{g:+.1f} %" for g in ours), "", *(f"{g:+.1f} %" for g in theirs)]
        lines.append(f"| **{base}** | **mean** | " + " | ".join(cells) + " |")
    return lines


def draw(results: dict[str, Any], path: Path) -> None:
    """Gains by data set, ours filled and the paper's open, one panel a base learner."""
    from matplotlib.figure import Figure

    names = list(PAPER)
    figure = Figure(figsize=(10.5, 4.6), layout="constrained")
    axes = figure.subplots(1, len(BASES), sharey=True)
    for place, (panel, (base, found)) in enumerate(zip(axes, results["losses"].items(), strict=True)):
        for which, (color, shift) in enumerate((("#0072B2", 0.14), ("#D55E00", -0.14))):
            ys = np.arange(len(names))[::-1] + shift
            ours = [gains(found[name])[which] for name in names]
            paper = [gains(PAPER[name][place])[which] for name in names]
            panel.plot(paper, ys, "o", mfc="white", mec=color, label=f"Algorithm {which + 1}, the paper")
            panel.plot(ours, ys, "o", color=color, label=f"Algorithm {which + 1}, here")
        panel.axvline(0.0, color="#777777", linewidth=0.8)
        panel.set_title(base, loc="left", fontweight="bold")
        panel.set_xlabel("lower loss than the base learner alone, %")
        panel.set_yticks(np.arange(len(names))[::-1], names)
        panel.grid(axis="y", color="#EEEEEE")
        panel.spines[["top", "right"]].set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, frameon=False)
    figure.savefig(path, dpi=160)
