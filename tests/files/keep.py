"""Write the files that every later version must load: `python keep.py FOLDER`, once for each format.

Next to each file goes what it predicts, by the plain walk of reference.files.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import anyboost as ab
from files.samples import fit
from reference import files as reference

OFFSET = np.linspace(-1.0, 1.0, 40)
X = np.vstack([np.random.default_rng(8).normal(size=(12, 4)), np.full((1, 4), np.nan), np.zeros((1, 4))])


def models():
    """Every form of hypothesis, one and many outputs, every way a run can have begun."""
    deep = fit("squared", "exact tree", "naive", 6)
    return {
        "absolute-stumps": fit("absolute", "stump", "residual", 5),
        "softmax-trees": fit("softmax", "tree", "repeated", 3),
        "multi-quantile-trees": fit("multi_quantile", "tree", "dials", 3, watch=False),
        "hinge-classifiers": fit("hinge", "classifier", "search", 4),
        "worst-group-hull": fit("worst_group", "stump", "hull", 4),
        "cvar-columns": fit("cvar of a sum", "dictionary", "residual", 4, watch=False),
        "rank-trees": fit("coupled sum", "tree", "shrinking", 3),
        "offset-stumps": fit("huber", "stump", "residual", 3, watch=False, start=OFFSET),
        "pointwise-my-step": fit("pointwise", "stump", "my step", 3),
        "trees": deep.ensemble,
        "nothing": deep.ensemble.truncate(0),
    }


def main(folder):
    folder.mkdir()
    predictions = {}
    for name, model in models().items():
        ab.save(model, folder / f"{name}.safetensors")
        predictions[name] = reference.predict((folder / f"{name}.safetensors").read_bytes(), X).tolist()
    text = json.dumps({"X": X.tolist(), "predictions": predictions}).replace("]], ", "]],\n")
    (folder / "predictions.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
