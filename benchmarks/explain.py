"""What Shapley values cost: `python -m benchmarks.explain`.

100 trees of 31 leaves, 10,000 rows of 20 columns, one thread: our path-dependent values beside the compiled code of
the package shap on the same trees, rebuilt, and LightGBM's `pred_contrib` on trees of its own as large. Medians of
calls that take turns.
"""

from functools import partial
from typing import Any

import numpy as np

import anyboost as ab
from anyboost.ensemble import Ensemble
from benchmarks.timing import interleaved

ROWS, COLUMNS, TREES, LEAVES, TURNS = 10_000, 20, 100, 31, 5


def as_shap_takes_it(ensemble: Ensemble) -> dict[str, Any]:
    """A sum of trees of one output and of numbers without holes as the package shap takes one."""
    trees = []
    for coefficient, tree in zip(ensemble.coefficients, ensemble.hypotheses, strict=True):
        leaf = tree.feature < 0
        left, right = np.where(leaf, -1, tree.left), np.where(leaf, -1, tree.right)
        trees.append(
            {
                "children_left": left,
                "children_right": right,
                "children_default": right,
                "feature": tree.feature,
                "threshold": tree.threshold,
                "value": np.where(leaf[:, None], coefficient * tree.value, 0.0),
                "node_sample_weight": tree.cover,
            }
        )
    return {
        "trees": trees,
        "base_offset": ensemble.start[0],
        "internal_dtype": np.float64,
        "input_dtype": np.float64,
        "tree_output": "raw_value",
        "objective": "squared_error",
    }


def main() -> None:
    import lightgbm
    import shap

    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3:].sum(axis=1) / 4 + 0.1 * random.normal(size=ROWS)
    ours = ab.BoostingRegressor(max_iter=TREES, max_leaf_nodes=LEAVES, learning_rate=0.1, n_jobs=1).fit(X, y)
    rebuilt = shap.TreeExplainer(as_shap_takes_it(ours.ensemble_), feature_perturbation="tree_path_dependent")
    theirs = lightgbm.LGBMRegressor(n_estimators=TREES, num_leaves=LEAVES, n_jobs=1, verbose=-1).fit(X, y)
    apart = np.abs(rebuilt.shap_values(X[:100]) - ours.shap_values(X[:100])).max()
    found = interleaved(
        {
            "anyboost": partial(ours.shap_values, X),
            "shap, the same trees": partial(rebuilt.shap_values, X, check_additivity=False),
            "LightGBM, its own trees": partial(theirs.predict, X, pred_contrib=True),
        },
        TURNS,
    )
    leaves = np.mean([tree.n_leaves for tree in ours.ensemble_.hypotheses])
    print(f"{len(ours.ensemble_)} trees of {leaves:.1f} leaves, {ROWS} rows of {COLUMNS} columns; ", end="")
    print(f"ours and shap's differ by {apart:.1e}\n\n| | seconds | ours / theirs |\n|---|---|---|")
    for name, seconds in found.items():
        print(f"| {name} | {seconds:.3f} | {found['anyboost'] / seconds:.2f} |")


if __name__ == "__main__":
    main()
