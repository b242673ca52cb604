"""A record of what the tree engine made of sixty fits. It is not a truth: nothing says that these models are right.

Other tests say that, with oracles. This record says whether a redesign of the engine changed a model, and which one.
A record is written anew only in the commit of a change that is meant to alter fits, whose message lists the cases.

    python tests/fingerprints.py                  compares all cases with the record, and writes nothing
    python tests/fingerprints.py CASE [CASE ...]  records these cases anew, and leaves the others as they are

Both print which cases differ.

A fingerprint has the digest of all trees' cuts, in the order of a walk from the root, left before right; that of their
leaf values, to the bit; and the scores of some rows, for losses whose exp and log may be computed by other code.
Data come from whole numbers by sums, products and quotients alone, so that they are the same on every machine.
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import anyboost as ab
from anyboost.descent import Descent, Hull, Naive, Repeated, Residual, Shrinking
from anyboost.losses import CVaR, WorstGroup
from anyboost.steps import Constant, InverseSqrt
from anyboost.weak import Stump, Tree

FILE = Path(__file__).parent / "fingerprints.json"
ROWS, COLUMNS, CLASSES, SHOWN = 400, 6, 4, 25
STEP = InverseSqrt(0.5)

# Losses that need exp or log: the same trees, values to 1e-12
TRANSCENDENTAL = ("logistic", "exponential", "softmax", "poisson", "gamma", "tweedie", "rank_logistic", "cox")


def data(loss, missing=False):
    """X, y, groups: y suits the loss."""
    random = np.random.default_rng(7)
    X = random.integers(0, 1000, (ROWS, COLUMNS)) / 1000.0
    X[:, 4] = random.integers(0, 5, ROWS)
    X[:, 5] = random.integers(0, 12, ROWS)
    noise = random.integers(-500, 501, ROWS) / 1000.0
    signal = (
        2.0 * X[:, 0] * X[:, 1] - X[:, 2] + 0.25 * (X[:, 4] == 2) + 0.1 * ((X[:, 5] * 7) % 12) / 12.0 + noise
    )
    if missing:
        X[random.random((ROWS, COLUMNS)) < 0.1] = np.nan
    y = signal
    if loss in ("hinge", "squared_hinge", "logistic", "exponential"):
        y = np.where(signal > np.median(signal), 1.0, -1.0)
    elif loss in ("softmax", "multiclass_hinge"):
        y = np.searchsorted(np.sort(signal)[[100, 200, 300]], signal)
    elif loss in ("poisson", "tweedie"):
        y = np.floor(4.0 * (signal - signal.min()))
    elif loss in ("gamma", "cox"):
        y = signal - signal.min() + 0.125
        y = np.where(np.arange(ROWS) % 5 == 0, -y, y) if loss == "cox" else y
    elif loss in ("rank_hinge", "rank_logistic"):
        y = np.searchsorted(np.sort(signal)[[150, 300]], signal).astype(float)
    return X, y, np.arange(ROWS) // 20


def case(loss, learner=None, descent=None, **options):
    return {"loss": loss, "learner": learner or Tree(8), "descent": descent or Naive(STEP), **options}


WHOLE = (np.arange(ROWS) % 4).astype(float)
FLOATS = 1.0 + (np.arange(ROWS) * 37 % 101) / 103.0
SIGNS = (1, -1, 0, 0, 0, 0)
SETS = ((0, 1), (2, 3), (4, 5))
CATEGORIES = {"categorical": (4, 5)}

CASES = {
    **{
        f"{loss}, trees": case(loss)
        for loss in (
            *("squared", "absolute", "quantile:0.9", "huber:0.5", "expectile:0.8", "hinge", "squared_hinge"),
            *("multiclass_hinge", "multi_quantile:0.1,0.5,0.9", "rank_hinge", *TRANSCENDENTAL),
        )
    },
    **{
        f"{loss}, stumps, residual": case(loss, Stump(), Residual(STEP))
        for loss in ("squared", "absolute", "hinge", "multiclass_hinge", "logistic", "softmax")
    },
    **{
        f"{loss}, exact leaves, memory": case(
            loss, Tree(8, leaf="exact"), Residual(Constant(0.3), memory=0.7)
        )
        for loss in ("squared", "absolute", "quantile:0.9", "huber:0.5", "hinge", "logistic", "poisson")
    },
    "cvar": case(CVaR("absolute", 0.8)),
    "worst group": case(WorstGroup("squared")),
    "by level": case("absolute", Tree(13, growth="depth")),
    "by level, limited": case("squared", Tree(30, max_depth=3, growth="depth")),
    "large tree": case("squared", Tree(63)),
    "l2, least weight": case("squared", Tree(8, l2=3.0, min_leaf_weight=20.0)),
    "l2, exact leaves": case("absolute", Tree(8, leaf="exact", l2=3.0)),
    "repeated": case("absolute", Stump(), Repeated(STEP), rounds=6),
    "repeated, trees, memory": case("hinge", Tree(5), Descent(STEP, memory=0.5, projections=3)),
    "hull": case("hinge", Stump(), Hull(3.0)),
    "shrinking": case("squared", Stump(), Shrinking(InverseSqrt(0.5))),
    "few bins": case("squared", max_bins=7),
    "missing": case("absolute", missing=True),
    "missing, softmax": case("softmax", missing=True),
    "categories": case("squared", **CATEGORIES),
    "categories, stumps": case("absolute", Stump(), Residual(STEP), **CATEGORIES),
    "categories, missing, logistic": case("logistic", missing=True, **CATEGORIES),
    "categories, vectors": case("multiclass_hinge", **CATEGORIES),
    "categories, exact leaves": case("quantile:0.9", Tree(8, leaf="exact"), **CATEGORIES),
    "monotone": case("squared", Tree(8, monotone=SIGNS)),
    "monotone, exact, missing": case("absolute", Tree(8, leaf="exact", monotone=SIGNS), missing=True),
    "monotone, categories": case("logistic", Tree(8, monotone=SIGNS), **CATEGORIES),
    "interactions": case("squared", Tree(8, interactions=SETS)),
    "interactions, monotone": case("hinge", Tree(8, interactions=SETS, monotone=SIGNS)),
    "each": case("multiclass_hinge", Tree(6, outputs="each")),
    "each, exact": case("multi_quantile:0.1,0.5,0.9", Tree(6, leaf="exact", outputs="each")),
    "whole weights": case("absolute", sample_weight=WHOLE),
    "whole weights, categories": case("squared", sample_weight=WHOLE, **CATEGORIES),
    "float weights": case("squared", sample_weight=FLOATS),
    "float weights, cvar": case(CVaR("absolute", 0.8), sample_weight=FLOATS),
    "some rows": case("absolute", row_fraction=0.6),
    "some columns": case("squared", feature_fraction=0.5),
    "some rows and columns, categories": case("hinge", row_fraction=0.7, feature_fraction=0.7, **CATEGORIES),
}


def fit(loss, learner, descent, rounds=12, missing=False, **options):
    X, y, groups = data(getattr(loss, "name", loss), missing)
    if not getattr(loss, "uses_groups", str(loss).startswith("rank")):
        groups = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these steps are large
        run = ab.boost(X, y, loss, learner, descent, rounds, groups=groups, random_state=3, **options)
    return run, X


def walk(tree):
    """The cuts of a tree in the order of a walk from the root, and its leaf values in that order."""
    cuts, values, waiting = [], [], [0]
    while waiting:
        node = waiting.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            cuts.append("leaf")
            values.append(tree.value[node])
            continue
        number = int(tree.category_set[node])
        if number >= 0:
            bits = np.unpackbits(tree.category_sets[number].view(np.uint8), bitorder="little")
            first, size = tree.categories.first[feature], tree.categories.size[feature]
            bins = tree.categories.bins[first : first + size]
            where = "".join(str(bits[bin]) for bin in bins)
        else:
            where = float(tree.threshold[node]).hex()
        cuts.append(f"{feature} {where} {bool(tree.missing_left[node])}")
        waiting += [int(tree.right[node]), int(tree.left[node])]
    return cuts, values


def fingerprint(run, X):
    trees = [tree for h in run.ensemble.hypotheses for tree in getattr(h, "trees", (h,))]
    walks = [walk(tree) for tree in trees]
    cuts = hashlib.sha256("\n".join(cut for cuts, _ in walks for cut in cuts).encode()).hexdigest()
    values = np.concatenate([np.concatenate(values) for _, values in walks] + [run.ensemble.coefficients])
    scores = run.ensemble.predict(X[:SHOWN]).reshape(-1)
    return {
        "trees": len(trees),
        "cuts": cuts[:24],
        "values": hashlib.sha256((values + 0.0).astype("<f8").tobytes()).hexdigest()[:24],
        "scores": [float(score) for score in scores],
    }


def depends_on_the_machine(name):
    """Whether exp, log or a sum of float weights has a part in the numbers, whose last bits differ by processor."""
    return "float weights" in name or any(loss in name for loss in TRANSCENDENTAL)


def differences(name, result, recorded):
    """The parts of a fingerprint in which a fit differs from its record; empty where it is the same model."""
    parts = [part for part in ("trees", "cuts") if result[part] != recorded[part]]
    if not depends_on_the_machine(name):
        return parts + [part for part in ("values", "scores") if result[part] != recorded[part]]
    scores = np.array(result["scores"]), np.array(recorded["scores"])
    same = scores[0].shape == scores[1].shape and np.allclose(*scores, rtol=1e-12, atol=1e-12)
    return parts if same else [*parts, "scores"]


def main(names):
    """Compare all cases with the record, or record the named ones anew; the number of cases that differ."""
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(
            f"no such case: {', '.join(map(repr, unknown))}; the cases are {', '.join(map(repr, CASES))}"
        )
    record = json.loads(FILE.read_text())
    differing = 0
    for name in names or CASES:
        result = fingerprint(*fit(**CASES[name]))
        changed = differences(name, result, record[name]) if name in record else ["not recorded yet"]
        if changed:
            differing += 1
            print(f"{name}: {', '.join(changed)}")
            record[name] = result
    if names and differing:
        kept = {
            name: record[name] for name in CASES if name in record
        }  # in the order of CASES, without old names
        FILE.write_text(json.dumps(kept, indent=0) + "\n")
    print(
        f"{differing} of {len(names or CASES)} differ"
        + (", and are recorded anew" if names and differing else "")
    )
    return differing


if __name__ == "__main__":
    main(sys.argv[1:])
