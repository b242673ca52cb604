"""Write a file of every kind of model but runs: `python keep_kinds.py FOLDER`; later versions must load it.

Next to them goes what each predicts for the same rows. Kinds that come later are added, files are never changed.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import anyboost as ab
from anyboost.mirror import MirrorAverager, StumpAverager, Tracker
from anyboost.online import AdaptiveIntervals, FeatureStumpLearner, HullBooster, LinearLearner, SpanBooster

COLORS = ["blue", "green", "red"]


def table(n, seed):
    """Numbers, some missing, and a column of categories."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    frame.loc[::7, "b"] = np.nan
    frame["color"] = pd.Categorical(random.choice(COLORS, n), categories=COLORS)
    return frame


def forecasts(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3)).round(3)


def models():
    """By name: the model, and the rows that it is asked about."""
    frame, new, X = table(80, 0), table(6, 1), forecasts(80, 2)
    score = frame["a"].to_numpy() + (frame["color"] == "red") + np.nan_to_num(frame["b"].to_numpy())
    names = np.array(["high", "low", "middle"])[np.digitize(score, [-0.5, 0.8])]
    grades = np.digitize(score, [0, 1.0])
    small = {"max_iter": 3, "max_leaf_nodes": 4, "random_state": 0}
    rows = forecasts(6, 3)
    dicts = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    theorem = {"mode": "linear", "output_bound": 0.5, "label_bound": 1.0, "start": 0.0, "prefix": "all"}
    online = ab.OnlineBoostingRegressor(n_learners=3)
    around = AdaptiveIntervals(ab.OnlineBoostingRegressor("linear", n_learners=3), 0.5, window=20)
    for row, y in zip(dicts, score.tolist(), strict=True):
        online.learn_one(row, y)
        around.learn_one(row, y)
    return {
        "regressor": (ab.BoostingRegressor("quantile:0.8", **small).fit(frame, score), new),
        "classifier": (ab.BoostingClassifier(**small).fit(frame, names), new),
        "ranker": (ab.BoostingRanker(**small).fit(X, grades, qid=np.arange(80) // 10), rows),
        "span": (SpanBooster(LinearLearner(), 3).partial_fit(X, score), rows),
        "stumps": (SpanBooster(FeatureStumpLearner(centered=False), 3).partial_fit(X, score), rows),
        "hull": (
            HullBooster(LinearLearner(update="adaptive"), 3, loss="logistic").partial_fit(X, np.sign(score)),
            rows,
        ),
        # In kinds_1 it is older and has other rows (tests/online/test_scale.py): its scale multiplied the bound only.
        "scaled-span": (
            SpanBooster(LinearLearner(update="plain"), 3, scale=2.5, **theorem).partial_fit(X, score),
            rows,
        ),
        "scaled-hull": (
            HullBooster(LinearLearner(update="plain"), 3, scale=2.5, **theorem).partial_fit(X, score),
            rows,
        ),
        "offset-span": (
            SpanBooster(LinearLearner(), 3, mode="offset", offset_step=0.5).partial_fit(X, score),
            rows,
        ),
        "online-regressor": (online, rows),
        "adaptive-intervals": (around, rows),
        "averager": (MirrorAverager().partial_fit(X, score), rows),
        "tracker": (Tracker().partial_fit(X, score), rows),
        "stump-averager": (StumpAverager().partial_fit(X[:12], score[:12]), rows),
        "planner": (planner(), forecasts(20, 4).reshape(4, 5, 3)),
    }


def planner():
    maps = list(forecasts(50, 5).reshape(2, 5, 5, 3))
    shown = [ab.planning.LatticePlanner().plan(np.exp(each[:, :, 0]), (2, 0), (2, 4)) for each in maps]
    return ab.MaxMarginPlanner("stump", planner="lattice", max_iter=3, random_state=0).fit(maps, shown)


def ask(name, model, rows):
    """What a model says about rows of JSON."""
    if name in ("regressor", "classifier"):
        frame = pd.DataFrame(rows)
        frame["color"] = pd.Categorical(frame["color"], categories=COLORS)
        return (model.predict if name == "regressor" else model.predict_proba)(frame.astype({"b": float}))
    if name == "online-regressor":
        return np.array([model.predict_one(dict(zip("abc", row, strict=True))) for row in rows])
    if name == "adaptive-intervals":
        return np.array([model.predict_interval_one(dict(zip("abc", row, strict=True))) for row in rows])
    if name == "planner":
        return model.predict_costs([rows])[0]
    return model.predict(np.array(rows))


def main(folder):
    folder.mkdir(exist_ok=True)
    for name, (model, rows) in models().items():
        path = folder / f"{name}.safetensors"
        if path.exists():
            continue
        ab.save(model, path)
        plain = json.loads(rows.to_json(orient="records")) if hasattr(rows, "to_json") else rows.tolist()
        kept = {"rows": plain, "answers": np.asarray(ask(name, model, plain)).tolist()}
        path.with_suffix(".json").write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
