"""What people do on an ordinary day, in a process of its own: `python everyday.py FOLDER`, which takes a model file.

Run after `anyboost warmup`, nothing of it should have to be compiled.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

import anyboost as ab


def numbers(rows, columns):
    random = np.random.default_rng(1)
    X = random.normal(size=(rows, columns))
    X[random.random(X.shape) < 0.05] = np.nan
    return X, np.nan_to_num(X[:, 0]) + 0.1 * random.normal(size=rows)


def estimators(folder):
    for rows, columns in ((200, 3), (3_000, 20), (30_000, 10)):
        X, y = numbers(rows, columns)
        X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
        weights = np.random.default_rng(2).random(len(y_train))
        frame = pd.DataFrame(X_train).rename(columns=str)
        for early_stopping in (False, True):
            model = ab.BoostingRegressor(max_iter=5, early_stopping=early_stopping, random_state=0)
            model.set_params(subsample=0.7 if early_stopping else 1.0)
            model.fit(X_train, y_train).predict(X_test)
            model.fit(X_train, y_train, sample_weight=weights)
            model.fit(frame, y_train).predict(frame)
            for classes in (2, 3):
                labels = np.digitize(y_train, np.quantile(y_train, np.arange(1, classes) / classes))
                chosen = ab.BoostingClassifier(max_iter=5, early_stopping=early_stopping, random_state=0)
                chosen.fit(X_train, labels, sample_weight=weights).predict_proba(X_test)
                chosen.fit(frame, np.array(["no", "yes", "perhaps"])[labels]).predict(frame)
        ab.save(model, folder / "model")
        ab.load(folder / "model").predict(frame)
    X, y = numbers(300, 5)
    ranker = ab.BoostingRanker(max_iter=5).fit(X, np.digitize(y, [0.0, 1.0]), qid=np.arange(300) // 10)
    ranker.predict(X)
    frame = pd.DataFrame(X).rename(columns=str)
    frame["color"] = pd.Categorical(np.array(["red", "green", "blue"])[np.arange(300) % 3])
    ab.BoostingRegressor(max_iter=5).fit(frame, y).predict(frame)
    for labels in (y > 0, np.digitize(y, [-0.5, 0.5])):
        ab.BoostingClassifier(max_iter=5).fit(frame, labels).predict_proba(frame)
    for loss in ("absolute", "quantile:0.9"):
        ab.BoostingRegressor(loss, max_iter=5).fit(X, y).predict(X)


def streams():
    X, y = numbers(2_000, 6)
    X = np.nan_to_num(X)
    rows = [dict(zip("abcdef", row, strict=True)) for row in X.tolist()]
    for model, labels in (
        (ab.OnlineBoostingRegressor(), y),
        (ab.OnlineBoostingClassifier(), y > 0),
        (ab.OnlineBoostingClassifier(), np.digitize(y, [-0.5, 0.5])),
    ):
        batches = model.clone()
        more = {"classes": np.unique(labels)} if hasattr(model, "predict_proba_one") else {}
        for begin in range(0, len(y), 500):
            batches.partial_fit(X[begin : begin + 500], labels[begin : begin + 500], **more)
        batches.predict(X)
        for row, label in zip(rows[:50], labels.tolist(), strict=False):
            model.predict_one(row)
            model.learn_one(row, label)


def averages():
    X, y = numbers(500, 4)
    X = np.nan_to_num(X)
    pool = [Ridge(), DecisionTreeRegressor(max_depth=3, random_state=0)]
    ab.MirrorAveragingRegressor(pool, random_state=0).fit(X, y).predict(X)
    ab.mirror.MirrorAverager().partial_fit(X, y).predict(X)
    ab.mirror.Tracker().partial_fit(X, y).predict(X)


if __name__ == "__main__":
    estimators(Path(sys.argv[1]))
    streams()
    averages()
