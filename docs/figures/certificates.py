"""The figure of docs/certificates.md, of its two examples: `python docs/figures/certificates.py` writes its SVG."""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from sklearn.datasets import load_diabetes

import anyboost as ab

HERE = Path(__file__).parent
PLAIN = {"learning_rate": 0.1, "subsample": 1.0, "max_features": 1.0, "l2_regularization": 0.0}


def learner(ax: Axes) -> None:
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(1000, 5))
    y = 3 * np.sign(X[:, 0]) * np.sign(X[:, 1]) + X[:, 2] + 0.1 * random.normal(size=1000)
    stumps = ab.BoostingRegressor(max_leaf_nodes=2, max_iter=800, **PLAIN).fit(X, y)
    trees = ab.BoostingRegressor(max_leaf_nodes=4, max_iter=200, **PLAIN).fit(X, y)
    floor = stumps.floor(radius=10)
    ax.axhspan(0, floor, color="tab:blue", alpha=0.12, lw=0)
    ax.text(
        790, floor - 0.1, "where no sum of stumps of size 10 can be", ha="right", va="top", color="tab:blue"
    )
    for model, name, color in (
        (stumps, "stumps", "tab:blue"),
        (trees, "trees of four leaves", "tab:orange"),
    ):
        ax.plot(-model.train_score_, color=color, label=name)
    ax.set(xlabel="rounds", ylabel="training loss", ylim=(0, 5), title="The optimizer, or the learner?")
    ax.legend(frameon=False, loc="center right")


def rounds(ax: Axes) -> None:
    X, y = load_diabetes(return_X_y=True)
    asked = [10, 15, 20, 30, 40, 60, 80, 100, 150, 200]
    models = [ab.BoostingRegressor("huber", learner="linear", max_iter=each).fit(X, y) for each in asked]
    loss = [-model.train_score_[-1] for model in models]
    floor = [model.floor() for model in models]
    ax.fill_between(asked, floor, loss, color="tab:green", alpha=0.15, lw=0, label="the gap")
    ax.plot(asked, loss, color="tab:green", label="training loss")
    ax.plot(asked, floor, color="black", lw=1, ls="--", label="floor, at the model's own size")
    ax.set(xlabel="rounds", title="Another hundred rounds?")
    ax.legend(frameon=False, loc="lower right")


def main() -> None:
    plt.switch_backend("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "certificates"
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    learner(left)
    rounds(right)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "certificates.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
