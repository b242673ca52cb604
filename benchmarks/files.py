"""Size and time of a model file, ours against LightGBM's text: `python -m benchmarks.files`.

LightGBM fits 1,000 trees of 31 leaves. The same trees, node for node, become an ensemble; both are saved and
loaded, and must predict the same. Needs lightgbm.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import anyboost as ab
from anyboost.ensemble import Ensemble
from anyboost.weak.functions import TreeFunction
from benchmarks.timing import median_seconds


def as_tree(structure: dict[str, Any]) -> TreeFunction:
    """A tree of LightGBM's `dump_model` as one of ours; a split's children are numbered one after the other."""
    nodes, children = [structure], []
    for node in nodes:  # grows while it is walked
        splits = "split_feature" in node
        children.append(len(nodes) if splits else 0)
        nodes += [node["left_child"], node["right_child"]] if splits else []
    left = np.array(children, dtype=np.int32)
    return TreeFunction(
        feature=np.array([node.get("split_feature", -1) for node in nodes], dtype=np.int32),
        threshold=np.array([node.get("threshold", 0.0) for node in nodes]),
        left=left,
        right=np.where(left > 0, left + 1, 0).astype(np.int32),
        missing_left=np.array([node.get("default_left", False) for node in nodes]),
        category_set=np.full(len(nodes), -1, dtype=np.int32),
        category_sets=np.empty((0, 8), dtype=np.uint32),
        value=np.array([[node.get("leaf_value", 0.0)] for node in nodes]),
    )


def as_ensemble(booster: Any, n_features: int) -> Ensemble:
    trees = [as_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    count = len(trees)
    return Ensemble(
        np.zeros(1), n_features, False, trees, [1.0] * count, list(range(1, count + 1)), [0.0] * count
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trees", type=int, default=1_000)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    import lightgbm as lgb

    random = np.random.default_rng(0)
    X = random.normal(size=(options.rows, options.columns))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2 + random.normal(size=options.rows)
    settings = {"num_leaves": options.leaves, "learning_rate": 0.05, "verbose": -1, "num_threads": 2}
    booster = lgb.train(settings, lgb.Dataset(X, y), options.trees)
    ensemble = as_ensemble(booster, options.columns)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Path(folder) / "ours.safetensors", Path(folder) / "theirs.txt"
        figures = {
            "leaves": sum(tree.n_leaves for tree in ensemble.hypotheses),
            "save_s": median_seconds(lambda: ab.save(ensemble, ours), options.repeats),
            "load_s": median_seconds(lambda: ab.load(ours), options.repeats),
            "lightgbm_save_s": median_seconds(lambda: booster.save_model(theirs), options.repeats),
            "lightgbm_load_s": median_seconds(lambda: lgb.Booster(model_file=theirs), options.repeats),
            "bytes": ours.stat().st_size,
            "lightgbm_bytes": theirs.stat().st_size,
        }
        np.testing.assert_array_equal(ab.load(ours).predict(X), ensemble.predict(X))
        np.testing.assert_allclose(ensemble.predict(X), lgb.Booster(model_file=theirs).predict(X), atol=1e-9)
    figures["size_ratio"] = figures["bytes"] / figures["lightgbm_bytes"]
    print(f"{options.trees} trees, {figures['leaves']} leaves, the same predictions")
    for name, prefix in (("anyboost", ""), ("lightgbm", "lightgbm_")):
        print(
            f"{name}: {figures[prefix + 'bytes']:>9,} bytes, saved in {figures[prefix + 'save_s']:.4f} s, "
            f"loaded in {figures[prefix + 'load_s']:.4f} s"
        )
    print(f"size, anyboost / lightgbm: {figures['size_ratio']:.3f}")
    if options.output:
        options.output.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
