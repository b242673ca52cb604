"""Pools of models on two real streams, combined as they go: `python -m benchmarks.pools flights elec2`.

Every model forecasts each row before its label is shown; some learn row by row, some are fitted anew every month or
week and sleep before the first time. The pool is then combined in several ways, each of which also sees a row's label
only after its forecast: the best single model (in hindsight), scikit-learn's stacking fitted anew every day or week on
all forecasts so far, River's EWA, and mirror averaging. Needs ANYBOOST_DATA and river; a folder keeps the forecasts.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from anyboost import losses
from anyboost.machine import machine
from anyboost.mirror import MirrorAverager, Octahedron, SecondOrder, Simplex, Tracker
from anyboost.mirror.pool import log_odds
from anyboost.mirror.regret import best_combination, expert_losses, regret
from benchmarks.pool_streams import PoolStream, elec2, flights, periods

RATES = (0.5, 0.05, 0.005)  # of River's EWA: its default, and slower


def mirror(stream: PoolStream, **options: Any) -> np.ndarray:
    """Raw scores, each before its row was learned from."""
    if options == {"tracker": True}:
        return Tracker(stream.loss).predict_then_fit(stream.forecasts, stream.y)
    return MirrorAverager(stream.loss, **{"lipschitz": "running", **options}).predict_then_fit(
        stream.forecasts, stream.y
    )


def stacking(stream: PoolStream) -> np.ndarray:
    """scikit-learn's, with its default final model, fitted at the end of each period to all forecasts so far.

    Sleepers are filled with the mean of the others; in the first period it is that mean.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.ensemble import StackingClassifier, StackingRegressor

    of_classes = isinstance(stream.loss, losses.Logistic)

    class Column(ClassifierMixin if of_classes else RegressorMixin, BaseEstimator):  # type: ignore[misc]
        def __init__(self, column: int = 0) -> None:
            self.column = column
            self.is_fitted_ = True
            self.classes_ = np.array([-1.0, 1.0])

        def fit(self, X: np.ndarray, y: np.ndarray) -> "Column":
            return self

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.sign(X[:, self.column]) if of_classes else X[:, self.column]

        def decision_function(self, X: np.ndarray) -> np.ndarray:
            return X[:, self.column]

    H = _filled(stream.forecasts)
    scores = H.mean(axis=1)
    columns = [(f"model {j}", Column(j)) for j in range(H.shape[1])]
    for number, rows in periods(len(stream.y), stream.ends):
        past = slice(0, rows.start)
        if number == 0 or len(np.unique(stream.y[past])) < 2:
            continue
        kind = StackingClassifier if of_classes else StackingRegressor
        model = kind(columns, cv="prefit").fit(H[past], stream.y[past])
        scores[rows] = model.decision_function(H[rows]) if of_classes else model.predict(H[rows])
    return scores


def river_ewa(stream: PoolStream, rate: float) -> np.ndarray:
    """River's EWARegressor over the same forecasts (probabilities for classes, whose squared error it looks at)."""
    from river import base, ensemble

    class Column(base.Regressor):
        def __init__(self, column: int) -> None:
            self.column = column

        def learn_one(self, x: dict[Any, Any], y: Any) -> None:
            pass

        def predict_one(self, x: dict[Any, Any]) -> float:
            return x[self.column]

    H, y = _filled(stream.forecasts), stream.y
    if isinstance(stream.loss, losses.Logistic):
        H, y = 1 / (1 + np.exp(-H)), (y + 1) / 2
    model = ensemble.EWARegressor([Column(j) for j in range(H.shape[1])], learning_rate=rate)
    out = np.empty(len(y))
    for i, (row, target) in enumerate(zip(H.tolist(), y.tolist(), strict=True)):
        features = dict(enumerate(row))
        # Before the first row its weights add up to the number of models, not to one.
        out[i] = model.predict_one(features) / (len(row) if i == 0 else 1)
        model.learn_one(features, target)
    if isinstance(stream.loss, losses.Logistic):
        return log_odds(np.stack([1 - out, out], axis=1))
    return out


def _filled(H: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(H), np.nanmean(H, axis=1, keepdims=True), H)


OURS: dict[str, dict[str, Any]] = {
    "mirror, tracker": {"tracker": True},
    "mirror, second order": {"schedule": SecondOrder()},
    "mirror, second order, octahedron 2": {"schedule": SecondOrder(), "domain": Octahedron(2.0)},
    "mirror, adaptive, last weights": {"schedule": "adaptive", "average": False},
    "mirror, adaptive, averaged (12)": {"schedule": "adaptive"},
    "mirror, anytime, averaged (12)": {"schedule": "anytime"},
    "mirror, fixed share": {"schedule": "fixed_share:1,0.001"},
}


def compare(stream: PoolStream) -> dict[str, Any]:
    """Mean progressive loss of everyone on the rows where all models are awake, and curves at doubling counts."""
    awake = np.flatnonzero(~np.isnan(stream.forecasts).any(axis=1))
    table = expert_losses(stream.forecasts, stream.y, stream.loss)
    scores: dict[str, np.ndarray] = {name: mirror(stream, **options) for name, options in OURS.items()}
    began = perf_counter()
    mirror(stream, **OURS["mirror, tracker"])
    ours_seconds = perf_counter() - began
    scores["uniform mean"] = _filled(stream.forecasts).mean(axis=1)
    scores["scikit-learn stacking"] = stacking(stream)
    for rate in RATES:
        scores[f"River EWA, rate {rate}"] = river_ewa(stream, rate)
    rows = {f"model: {name}": table[:, j] for j, name in enumerate(stream.names)}
    rows |= {name: stream.loss.values(score, stream.y) for name, score in scores.items()}
    best = best_combination(stream.forecasts[awake], stream.y[awake], stream.loss, Simplex())
    found = regret(
        scores["mirror, tracker"][awake],
        stream.forecasts[awake],
        stream.y[awake],
        stream.loss,
        switches=(1, 10, 100),
    )
    marks = np.unique(np.append(2 ** np.arange(4, np.log2(len(awake)), 0.25), len(awake)).astype(int))
    result: dict[str, Any] = {
        "rows": len(stream.y),
        "rows compared": len(awake),
        "loss": str(stream.loss),
        "machine": machine(),
        "seconds of the tracker": ours_seconds,
        "final": {name: float(values[awake].mean()) for name, values in rows.items()},
        "best fixed weights in hindsight": {
            "loss": best.loss,
            "gap": best.gap,
            "weights": best.weights.tolist(),
        },
        "regret of the tracker, a row": {
            "best model": found.single / len(awake),
            "best weights": found.combination / len(awake),
            **{f"best with {k} switches": value / len(awake) for k, value in found.switching.items()},
        },
        "marks": marks.tolist(),
        "curves": {
            name: (np.cumsum(values[awake]) / np.arange(1, len(awake) + 1))[marks - 1].tolist()
            for name, values in rows.items()
        },
    }
    if isinstance(stream.loss, losses.Logistic):
        every = {f"model: {name}": stream.forecasts[:, j] for j, name in enumerate(stream.names)} | scores
        result["errors"] = {
            name: float(np.mean((score[awake] > 0) != (stream.y[awake] > 0))) for name, score in every.items()
        }
    return result


STREAMS: dict[str, Callable[[int | None], PoolStream]] = {"flights": flights, "elec2": elec2}


def kept(name: str, folder: Path | None, rows: int | None) -> PoolStream:
    """The stream with its forecasts, from the folder where they were computed before."""
    path = None if folder is None else folder / f"{name}-{rows}.npz"
    if path is not None and path.is_file():
        with np.load(path) as data:
            loss = losses.get(str(data["loss"]))
            assert isinstance(loss, losses.RowwiseLoss)
            return PoolStream(data["names"].tolist(), data["forecasts"], data["y"], data["ends"], loss)
    stream = STREAMS[name](rows)
    if path is not None:
        np.savez(path, **{**stream._asdict(), "names": np.array(stream.names), "loss": str(stream.loss)})
    return stream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("streams", nargs="+", choices=sorted(STREAMS))
    parser.add_argument("--rows", type=int, help="only the first rows")
    parser.add_argument("--keep", type=Path, help="a folder for the models' forecasts")
    parser.add_argument("--output", type=Path, default=Path(), help="a folder for the figures and JSON files")
    options = parser.parse_args()
    for name in options.streams:
        result = compare(kept(name, options.keep, options.rows))
        (options.output / f"mirror-{name}.json").write_text(json.dumps(result, indent=2) + "\n")
        draw(result, options.output / f"mirror-{name}.svg")
        print(f"{name}: mean {result['loss']} loss of {result['rows compared']} rows")
        for label, value in sorted(result["final"].items(), key=lambda pair: pair[1]):
            error = f", error {result['errors'][label]:.4f}" if "errors" in result else ""
            print(f"  {value:.5f}  {label}{error}")


def draw(result: dict[str, Any], path: Path) -> None:
    """Progressive loss from the first thousand rows on: models grey, ways to combine them in color."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.subplots()
    marks = np.array(result["marks"])
    late = marks >= min(1000, marks[-1] // 4)
    curves = {name: np.array(curve)[late] for name, curve in result["curves"].items()}
    single = [name for name in curves if name.startswith("model: ")]
    best = min(single, key=lambda name: result["final"][name])
    for name in single:
        if name != best:
            axes.plot(marks[late], curves[name], color="#BBBBBB", linewidth=1.0)
    ewa = min((name for name in curves if name.startswith("River")), key=lambda name: result["final"][name])
    shown = {
        best: ("#555555", "--"),
        ewa: ("#D55E00", "-"),
        "scikit-learn stacking": ("#0072B2", "-"),
        "mirror, anytime, averaged (12)": ("#009E73", "-"),
        "mirror, tracker": ("#000000", "-"),
    }
    for name, (color, style) in shown.items():
        label = f"{name} ({result['final'][name]:.4f})"
        axes.plot(marks[late], curves[name], color=color, linestyle=style, linewidth=2.0, label=label)
    heights = np.concatenate([curves[name] for name in shown])
    room = heights.max() - heights.min()
    axes.set_xscale("log")
    axes.set_ylim(heights.min() - 0.05 * room, heights.max() + 0.6 * room)
    axes.set_xlabel("rows")
    axes.set_ylabel(f"mean progressive loss ({result['loss']})")
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
