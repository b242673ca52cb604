"""What a fitted sum of trees is, in bytes."""

import numpy as np

NODES = ("feature", "threshold", "left", "missing_left", "category_sets", "value", "cover", "gain")


def model_of(run):
    """The bytes of all that `run.ensemble` holds."""
    trees = [tree for h in run.ensemble.hypotheses for tree in getattr(h, "trees", (h,))]
    arrays = [run.ensemble.start, run.ensemble.coefficients]
    for tree in trees:
        arrays += [getattr(tree, name) for name in NODES]
        if tree.slopes is not None:
            arrays += [np.asarray(part) for part in tree.slopes]
        if tree.categories is not None:
            arrays += list(tree.categories)
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
