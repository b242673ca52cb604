"""What intervals cover, how wide they are, and how good the distributions behind them: docs/uncertainty.md.

Ten sets, named ahead of any measurement; 20 splits of each, at most 2,000 rows to train and 4,000 to test. Resumable: a
line a fit. `python -m benchmarks.coverage --out FILE [--peers]`, then `--report FILE`. Ours hold out other rows in each
split, by its number as the seed: what a row holds decides its fold, so that with one seed all splits would share them.

Score: twice the mean pinball loss over nine levels, an estimate of the CRPS, over the standard deviation of y, as
widths are. Groups: fifths of the rows by the column of numbers that has most values.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks import accuracy_sets

SETS = (
    *(
        "abalone",
        "ames",
        "cal_housing",
        "diamonds",
        "wine_quality",
        "judge/airfoil",
        "judge/communities_crime",
    ),
    *("diabetes", "generated: wide on one side", "generated: skewed"),
)
SHARES = (0.5, 0.8, 0.9, 0.95)
LEVELS = (0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975)
SPLITS, PEER_SPLITS = 20, 5
TRAIN, TEST = 2_000, 4_000
Quantiles = Callable[[Any, np.ndarray, Any, int], np.ndarray]


def load(name: str) -> tuple[Any, np.ndarray]:
    """A frame and its targets."""
    import pandas as pd

    if name == "diabetes":
        from sklearn.datasets import load_diabetes

        return load_diabetes(return_X_y=True, as_frame=True)
    if name.startswith("generated"):
        random = np.random.default_rng(0)
        X = random.normal(size=(6_000, 8))
        mean = X[:, 0] + np.sin(2 * X[:, 1])
        if name.endswith("skewed"):
            y = mean + np.exp(0.5 * X[:, 2]) * random.gamma(1.0, 1.0, 6_000)
        else:
            y = mean + (0.2 + 2.0 * (X[:, 2] > 0)) * random.normal(size=6_000)
        return pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]), y
    data = accuracy_sets.load(name)
    return accuracy_sets.frame(data, np.arange(len(data.y))), np.asarray(data.y, dtype=np.float64)


def ours(loss: str, conformal: str | None) -> Quantiles:
    def predict(X: Any, y: np.ndarray, new: Any, seed: int) -> np.ndarray:
        import anyboost as ab

        model = ab.BoostingRegressor(loss, conformal=conformal, n_jobs=1, random_state=seed)
        return model.fit(X, y).predict_quantiles(new, LEVELS)

    return predict


def coded(frame: Any) -> np.ndarray:
    """Categories as numbers, missing values as the least: for those who take no others."""
    columns = [
        frame[name].cat.codes if frame[name].dtype == "category" else frame[name] for name in frame.columns
    ]
    return np.nan_to_num(np.column_stack(columns).astype(np.float64), nan=-1.0)


def mapie_on_lightgbm(X: Any, y: np.ndarray, new: Any, _: int = 0) -> np.ndarray:
    """CV+ of five folds, at the defaults of both; the median is the model's own answer."""
    from lightgbm import LGBMRegressor
    from mapie.regression import CrossConformalRegressor

    shares = [round(1 - 2 * level, 3) for level in LEVELS if level < 0.5]
    base = LGBMRegressor(n_jobs=1, verbose=-1)
    model = CrossConformalRegressor(base, confidence_level=shares, method="plus", cv=5).fit_conformalize(
        coded(X), y
    )
    middle, ends = model.predict_interval(coded(new))
    return np.column_stack([*ends[:, 0, :].T, middle, *ends[:, 1, ::-1].T])


def catboost_quantiles(X: Any, y: np.ndarray, new: Any, _: int = 0) -> np.ndarray:
    from catboost import CatBoostRegressor, Pool

    names = [name for name in X.columns if X[name].dtype == "category"]

    def pool(frame: Any, labels: Any = None) -> Any:
        frame = frame.copy()
        for name in names:
            frame[name] = frame[name].cat.add_categories("missing").fillna("missing").astype(str)
        return Pool(frame, labels, cat_features=names)

    loss = f"MultiQuantile:alpha={','.join(map(str, LEVELS))}"
    model = CatBoostRegressor(
        loss_function=loss, verbose=0, thread_count=1, random_seed=0, allow_writing_files=False
    )
    return np.sort(model.fit(pool(X, y)).predict(pool(new)), axis=1)


def ngboost_normal(X: Any, y: np.ndarray, new: Any, _: int = 0) -> np.ndarray:
    from ngboost import NGBRegressor

    found = NGBRegressor(verbose=False, random_state=0).fit(coded(X), y).pred_dist(coded(new))
    return np.column_stack([found.ppf(level) for level in LEVELS])


JOINT = "multi_quantile:0.05,0.25,0.5,0.75,0.95"
OURS: dict[str, Quantiles] = {
    "joint quantiles, cv (default)": ours(JOINT, "cv"),
    "joint quantiles, split": ours(JOINT, "split"),
    "joint quantiles, not calibrated": ours(JOINT, None),
    "squared, cv": ours("squared", "cv"),
}
PEERS: dict[str, Quantiles] = {
    "MAPIE (CV+) on LightGBM": mapie_on_lightgbm,
    "CatBoost MultiQuantile": catboost_quantiles,
    "NGBoost, normal": ngboost_normal,
}


def split(name: str, number: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    order = accuracy_sets.generator(name, "coverage", number).permutation(n)
    cut = min(TRAIN, n * 3 // 4)
    return order[:cut], order[cut : cut + TEST]


def measure(name: str, number: int, who: str, predict: Quantiles) -> dict[str, Any]:
    X, y = load(name)
    train, test = split(name, number, len(y))
    labels, truth = np.asarray(y, dtype=np.float64)[train], np.asarray(y, dtype=np.float64)[test]
    began = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = predict(X.iloc[train], labels, X.iloc[test], number)
    seconds = process_time() - began
    ends = {share: [_place((1 - share) / 2), _place((1 + share) / 2)] for share in SHARES}
    inside = {share: (found[:, a] <= truth) & (truth <= found[:, b]) for share, (a, b) in ends.items()}
    off = truth[:, None] - found
    pinball = np.maximum(np.array(LEVELS) * off, (np.array(LEVELS) - 1) * off)
    numbers = X.select_dtypes("number")
    column = max(numbers.columns, key=lambda each: numbers[each].nunique())
    fifths = np.array_split(np.argsort(numbers[column].to_numpy()[test], kind="stable"), 5)
    return {
        "set": name,
        "split": number,
        "who": who,
        "rows": len(train),
        "covered": {str(share): float(hits.mean()) for share, hits in inside.items()},
        "worst_group": float(min(inside[0.9][part].mean() for part in fifths)),
        "width": float((found[:, ends[0.9][1]] - found[:, ends[0.9][0]]).mean() / truth.std()),
        "score": float(2 * pinball.mean() / truth.std()),
        "crossed": float((np.diff(found, axis=1) < 0).any(axis=1).mean()),
        "seconds": seconds,
    }


def _place(level: float) -> int:
    return LEVELS.index(round(level, 3))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []


def run(path: Path, sets: tuple[str, ...], splits: int, peers: bool) -> None:
    """All fits that the file has not."""
    done = {(line["set"], line["split"], line["who"]) for line in lines(path)}
    work = [(name, number, who) for name in sets for number in range(splits) for who in OURS]
    if peers:
        work += [
            (name, number, who)
            for name in sets
            for number in range(min(PEER_SPLITS, splits))
            for who in PEERS
        ]
    for name, number, who in work:
        if (name, number, who) in done:
            continue
        line = measure(name, number, who, (OURS | PEERS)[who])
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        print(f"{name}, split {number}, {who}: {line['covered']['0.9']:.3f} of 0.9", flush=True)


def report(found: list[dict[str, Any]]) -> str:
    """Means over sets of means over splits; then each set of ours by default."""
    rows = [
        "| | "
        + " | ".join(f"{share:g}" for share in SHARES)
        + " | worst fifth at .9 | width | score | time |"
    ]
    rows.append("|---" * (len(SHARES) + 5) + "|")
    for who in (*OURS, *PEERS):
        own = [line for line in found if line["who"] == who]
        if own:
            rows.append(f"| {who} | " + " | ".join(_cells(own, found)) + " |")
    rows += [
        "",
        "| set | rows | splits | " + " | ".join(f"{share:g}" for share in SHARES) + " | worst fifth at .9 |",
    ]
    rows.append("|---" * (len(SHARES) + 4) + "|")
    first = next(iter(OURS))
    for name in SETS:
        own = [line for line in found if line["who"] == first and line["set"] == name]
        if own:
            cells = [_of_set([line["covered"][str(share)] for line in own], share) for share in SHARES]
            worst = np.mean([line["worst_group"] for line in own])
            rows.append(f"| {name} | {own[0]['rows']} | {len(own)} | {' | '.join(cells)} | {worst:.3f} |")
    return "\n".join(rows)


def _cells(own: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[str]:
    def mean(of: Callable[[dict[str, Any]], float]) -> float:
        names = {line["set"] for line in own}
        return float(np.mean([np.mean([of(line) for line in own if line["set"] == name]) for name in names]))

    def ratio(key: str) -> str:
        """Over ours by default, on the same sets and splits."""
        base = {(line["set"], line["split"]): line[key] for line in found if line["who"] == next(iter(OURS))}
        pairs = [
            (line["set"], line[key] / base[line["set"], line["split"]])
            for line in own
            if (line["set"], line["split"]) in base
        ]
        logs = [
            np.mean([np.log(value) for name, value in pairs if name == each])
            for each in {name for name, _ in pairs}
        ]
        return f"{np.exp(np.mean(logs)):.3g}"

    def covered(share: float) -> str:
        return f"{mean(lambda line: line['covered'][str(share)]):.3f}"

    return [
        *map(covered, SHARES),
        f"{mean(lambda line: line['worst_group']):.3f}",
        ratio("width"),
        ratio("score"),
        ratio("seconds"),
    ]


def _of_set(values: list[float], share: float) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    held = abs(np.mean(values) - share) <= 0.01 + 2 * error
    return f"{np.mean(values):.3f}" + ("" if held else " *")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--quick", action="store_true", help="diabetes and two splits: a look, not a result")
    given = parser.parse_args()
    if given.report is not None:
        print(report(lines(given.report)))
        return
    if given.out is None:
        parser.error("--out FILE or --report FILE")
    sets = ("diabetes",) if given.quick else tuple(given.sets.split(","))
    run(given.out, sets, 2 if given.quick else given.splits, given.peers)


if __name__ == "__main__":
    main()
