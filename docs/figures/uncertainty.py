"""The figure of docs/uncertainty.md: `python docs/figures/uncertainty.py` writes uncertainty.svg beside it.

Left, intervals of a generated set whose noise grows; right, what intervals cover of new rows, from docs/coverage.jsonl.
"""

import json
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

import anyboost as ab

HERE = Path(__file__).parent
SHARES = (0.5, 0.8, 0.9, 0.95)
SHOWN = {
    "joint quantiles, cv (default)": ("calibrated (the default)", "tab:blue", "o"),
    "joint quantiles, not calibrated": ("not calibrated", "tab:orange", "x"),
}


def bands(ax: Axes) -> None:
    random = np.random.default_rng(0)
    X = random.uniform(0, 10, (1000, 1))
    y = np.sin(X[:, 0]) + (0.1 + 0.08 * X[:, 0]) * random.normal(size=1000)
    model = ab.BoostingRegressor("multi_quantile:0.05,0.25,0.5,0.75,0.95").fit(X, y)
    line = np.linspace(0, 10, 500)[:, None]
    for coverage, shade in ((0.9, 0.2), (0.5, 0.45)):
        low, high = model.predict_interval(line, coverage).T
        ax.fill_between(line[:, 0], low, high, color="tab:blue", alpha=shade, lw=0, label=f"{coverage:.0%}")
    ax.plot(line, model.predict_quantiles(line, [0.5]), color="tab:blue", lw=1)
    ax.plot(X, y, ".", color="black", ms=1.5, alpha=0.5)
    ax.set(xlabel="x", ylabel="y", title="predict_interval at two coverages")
    ax.legend(frameon=False, loc="lower left")


def covered(ax: Axes) -> None:
    lines = [json.loads(text) for text in (HERE.parent / "coverage.jsonl").read_text().splitlines()]
    for number, (who, (name, color, marker)) in enumerate(SHOWN.items()):
        own = [line for line in lines if line["who"] == who]
        for place, share in enumerate(SHARES):
            sets = {line["set"] for line in own}
            found = [
                np.mean([line["covered"][str(share)] for line in own if line["set"] == each])
                for each in sorted(sets)
            ]
            at = np.full(len(found), place + 0.16 * (2 * number - 1))
            label = name if place == 0 else None
            ax.plot(at, found, marker, color=color, ms=5, alpha=0.7, mfc="none", label=label)
    for place, share in enumerate(SHARES):
        ax.plot([place - 0.4, place + 0.4], [share, share], color="black", lw=1)
    ax.set_xticks(range(len(SHARES)), [f"{share:g}" for share in SHARES])
    ax.set(
        xlabel="coverage asked for",
        ylabel="share of new rows inside",
        title="each mark a set, mean over splits",
    )
    ax.legend(frameon=False, loc="lower right")


def main() -> None:
    plt.switch_backend("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "uncertainty"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    bands(left)
    covered(right)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "uncertainty.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
