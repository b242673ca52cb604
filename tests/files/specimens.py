"""A file of every kind, with what to ask of a model that is loaded in its place."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab
from anyboost.boosting.resuming import without_rows
from anyboost.ensemble import Ensemble
from anyboost.mirror import FixedShare, MirrorAverager, Octahedron, SecondOrder, StumpAverager
from files.keep_kinds import ask
from files.samples import LEARNERS, fit, keep_trees, sample
from reference import files as reference

HERE = Path(__file__).parent
TABLE = np.vstack([sample("real", seed=3)[0][:6], np.full((1, 4), np.nan)])
ELSEWHERE = np.array(["a model of other columns"])  # the answer of a model that these rows do not fit


class Specimen(NamedTuple):
    """The bytes of a file, the answers of the model in it, and a check of what another model answers."""

    blob: bytes
    use: Callable[[Any], np.ndarray]
    check: Callable[[bytes, np.ndarray], None] = lambda blob, found: None


def specimens(folder: Path) -> list[Specimen]:
    """Files made now in `folder`, several losses, learners and descents among them, and those that are kept."""
    found = [_sum(_saved(model, folder)) for model in _sums()]
    found += [_sum(path.read_bytes()) for path in sorted(HERE.glob("format_*/*.safetensors"))]
    functions = sorted(HERE.glob("functions_*/*.safetensors"))
    found += [_sum(path.read_bytes(), smooth=True) for path in functions]
    for path in sorted(HERE.glob("kinds_*/*.safetensors")):
        rows = json.loads(path.with_suffix(".json").read_text())["rows"]
        found.append(Specimen(path.read_bytes(), partial(_answer, path.stem, rows)))
    return found + [Specimen(_saved(model, folder), _go_on) for model in _learners()]


def _saved(model: Any, folder: Path) -> bytes:
    ab.save(model, folder / "specimen")
    return (folder / "specimen").read_bytes()


def _sums() -> list[Any]:
    runs = {
        "run": fit("absolute", "tree", "residual", 4),
        "vector": fit("softmax", "stump", "repeated", 3),
        "atoms": fit("coupled sum", "tree", "hull", 3),
        "mine": fit("pointwise", "stump", "my step", 3),
        "columns": fit("cvar of a sum", "dictionary", "search", 3, watch=False),
        "grown": without_rows(fit("softmax", "ruled tree", "hull", 3, callbacks=[keep_trees])),
    }
    table, y, _ = sample("class")
    table = np.column_stack([table[:, 0], np.abs(table[:, 1]), table[:, 2:]])
    sets = ab.boost(table, y, "softmax", LEARNERS["ruled tree"], rounds=3, categorical=[1])
    return [*runs.values(), sets, runs["run"].ensemble, runs["run"].ensemble.truncate(0)]


def _learners() -> list[Any]:
    """Models that learn on: their state reaches kernels that write."""
    random = np.random.default_rng(0)
    H = random.normal(size=(40, 3))
    y = H[:, 0] + 0.1 * random.normal(size=40)
    labels = np.where(y > 0.3, "up", np.where(y < -0.3, "down", "flat"))
    classifier = ab.OnlineBoostingClassifier(n_learners=3)
    classifier.learn_many(_named(H), labels)
    online: list[Any] = [
        ab.OnlineBoostingRegressor("stumps", algorithm="hull", loss="huber:0.5", n_learners=4),
        ab.OnlineBoostingRegressor("net", n_learners=3, mode="linear", prefix="all"),
        ab.OnlineBoostingRegressor("tree", n_learners=2),
        ab.OnlineBoostingRegressor(hash_bits=5, forget=0.01, output_bound=2.0, label_bound=4.0),
    ]
    for model in online:
        model.learn_many(_named(H), y)
    return [
        *online,
        classifier,
        MirrorAverager(schedule=SecondOrder(), lipschitz="running").partial_fit(H, y),
        MirrorAverager(schedule=FixedShare(), domain=Octahedron(2.0)).partial_fit(H, y),
        StumpAverager(schedule="anytime").partial_fit(H, y),
        ab.MirrorAveragingRegressor(schedule="tracker").partial_fit(H, y),
        ab.MirrorAveragingClassifier().partial_fit(H, labels, classes=["down", "flat", "up"]),
    ]


def _named(rows: Any) -> list[dict[str, float]]:
    return [dict(zip("abc", row, strict=True)) for row in np.asarray(rows).tolist()]


def _sum(blob: bytes, smooth: bool = False) -> Specimen:
    """A sum of functions, which a reader of our own predicts with too; smooth ones take no missing values."""
    X = TABLE[:6] if smooth else TABLE

    def use(model: Any) -> np.ndarray:
        if not isinstance(model, Ensemble):
            assert not np.isnan(model.floor(1.0))
            model = model.ensemble
        return model.predict(np.resize(X, (len(X), model.n_features))).reshape(len(X), -1)

    def check(blob: bytes, found: np.ndarray) -> None:
        inner = reference.split(blob)[1]
        model = inner["model"].get("ensemble", inner["model"])
        with np.errstate(all="ignore"):
            plain = reference.predict(blob, np.resize(X, (len(X), model["features"])))
        # Beyond these, sums in another order differ.
        fair = np.abs(plain) < (1e3 if smooth else 1e300)
        np.testing.assert_allclose(found[fair], plain[fair], rtol=1e-9, atol=1e-6 if smooth else 0.0)

    return Specimen(blob, use, check)


def _answer(name: str, rows: Any, model: Any) -> np.ndarray:
    """What a kept model says of its rows; then it learns from them where it can."""
    try:
        answers = np.asarray(ask(name, model, rows))
        if hasattr(model, "partial_fit"):
            _go_on(model)
    except ValueError:
        return ELSEWHERE
    return answers


def _go_on(model: Any) -> np.ndarray:
    """Answers before and after some rows are learned."""
    H = np.random.default_rng(1).normal(size=(12, 3))
    try:
        if hasattr(model, "learn_one"):
            return _learn_on(model, H)
        labels = (
            model.classes_[np.arange(12) % len(model.classes_)] if hasattr(model, "classes_") else H[:, 0]
        )
        before = model.predict(H)
        return np.concatenate([before, model.partial_fit(H, labels).predict(H)]).astype(str)
    except ValueError:
        return ELSEWHERE


def _learn_on(model: Any, H: np.ndarray) -> np.ndarray:
    before = model.predict_many(_named(H))
    for row, label in zip(_named(H), H[:, 0].tolist(), strict=True):
        model.learn_one(row, next(iter(model.codes_)) if getattr(model, "classifies", False) else label)
    return np.concatenate([before, model.predict_many(_named(H))]).astype(str)
