"""Models drawn at random: losses, sizes of trees, missing values, categories, numbers that float32 has not."""

from typing import Any

import numpy as np

import anyboost as ab

SCALES = (1.0, 1e-3, 1e6, 1e-20, 1e30)


def _table(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    X = random.normal(size=(rows, columns)) * random.choice(SCALES, columns)
    for column in range(columns):
        how = random.integers(5)
        if how == 0:
            X[:, column] = random.integers(0, 6, rows)
        elif how == 1:  # values that lie closer to each other than those of float32 do
            X[:, column] = 1.0 + random.normal(size=rows) * 1e-7
        elif how == 2:
            X[:, column] = X[:, column].astype(np.float32)
    X[random.random(X.shape) < random.choice([0.0, 0.2])] = np.nan
    return X


def random_model(seed: int) -> Any:
    """A fitted estimator or a run, the same for the same seed."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(30, 300)), int(random.integers(1, 9))
    X, categorical = _table(random, rows, columns), []
    if random.random() < 0.5:
        categorical = [0]
        X[:, 0] = random.integers(0, int(random.integers(2, 120)), rows)
        X[random.random(rows) < 0.1, 0] = np.nan
    told = np.nan_to_num(X / np.nanmax(np.abs(X) + 1e-300, axis=0))
    y = told @ random.normal(size=columns) + 0.3 * np.sin(7 * told[:, -1]) + 0.1 * random.normal(size=rows)
    dials = {
        "max_iter": int(random.integers(1, 30)),
        "max_leaf_nodes": int(random.choice([2, 4, 31])),
        "max_features": float(random.choice([0.5, 1.0])),
        "random_state": seed,
        "categorical_features": categorical or None,
        "categorical_encoding": str(random.choice(["subset", "target"])),
    }
    how = int(random.integers(6))
    if how == 0:
        codes = np.digitize(y, np.quantile(y, [0.3, 0.7]))
        model = ab.BoostingClassifier(**dials, outputs=str(random.choice(["joint", "each"])))
        return model.fit(X, codes)
    if how == 1:
        loss = str(random.choice(["logistic", "hinge", "exponential", "squared_hinge"]))
        return ab.BoostingClassifier(loss, **dials).fit(X, y > np.median(y))
    if how == 2:
        return ab.BoostingRegressor("multi_quantile:0.2,0.8", conformal=None, **dials).fit(X, y)
    if how == 3:
        codes = np.digitize(y, np.quantile(y, [0.3, 0.7]))
        return ab.BoostingRanker(**dials).fit(X, codes, qid=np.arange(rows) // 10)
    if how == 4:
        learner = ab.weak.Tree(max_leaves=int(random.integers(2, 20)))
        return ab.boost(X, y, "absolute", learner, rounds=dials["max_iter"], categorical=categorical)
    loss = str(random.choice(["squared", "absolute", "huber", "poisson", "quantile:0.3"]))
    return ab.BoostingRegressor(loss, **dials).fit(X, np.abs(y) if loss == "poisson" else y)
