"""The figures of docs/explain.md, of its houses: `python docs/figures/explain.py` writes explain-*.svg beside it."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import anyboost as ab

HERE = Path(__file__).parent


def houses() -> tuple[pd.DataFrame, pd.Series]:
    random = np.random.default_rng(0)
    X = pd.DataFrame({"rooms": random.integers(1, 8, 2000), "age": random.uniform(0, 90, 2000)})
    X["district"] = pd.Categorical(random.choice(["north", "south", "port"], 2000))
    y = 30 * X["rooms"] - 0.4 * X["age"] + 50 * (X["district"] == "port") + random.normal(size=2000) * 5
    X.loc[random.random(2000) < 0.1, "age"] = np.nan
    y += np.where(X["district"] == "north", 0.5 * (X["age"].fillna(45) - 45), 0)
    return X, y


def save(name: str) -> None:
    plt.savefig(HERE / f"explain-{name}.svg", metadata={"Date": None})
    plt.close()


def main() -> None:
    plt.switch_backend("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "explain"
    X, y = houses()
    model = ab.BoostingRegressor(max_iter=300, max_leaf_nodes=3).fit(X, y)
    ab.plot.shapes(model, ["rooms", "age", "district", ("age", "district")])
    save("shapes")
    ab.plot.why(model, X[1:2])
    save("why")


if __name__ == "__main__":
    main()
