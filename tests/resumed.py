"""Fits that are stopped, and what has to come out where they go on."""

import numpy as np

import anyboost as ab
import fingerprints
from models import model_of

X, Y, _ = fingerprints.data("squared")
LABELS = np.digitize(Y, np.quantile(Y, [0.3, 0.7])).astype(float)
WATCHED = (X[:60], Y[:60] + 0.5)
ROUNDS, STOP = 9, 5

# What is fitted, and the options that a run to resume brings itself
FITS = {
    "memory and exact leaves": (
        ("absolute", ab.weak.Tree(8, leaf="exact"), ab.descent.Residual(memory=0.5)),
        {},
    ),
    "draws and weights": (
        ("huber:0.5", "tree:6"),
        {"row_fraction": 0.7, "feature_fraction": 0.8, "random_state": 3, "record": "light"},
    ),
    "several outputs, curved": (("softmax", ab.weak.Tree(5, l2=1.0)), {"curvature": True}),
    "atoms": (("absolute", "stump", "hull"), {}),
    "linear leaves": (("squared", ab.weak.Tree(4, leaf="linear")), {}),
    "each output its own": (("softmax", ab.weak.Tree(4, outputs="each")), {}),
}
WEIGHTED = "draws and weights"


def given(name):
    """What has to be given each time: targets and weights."""
    y = LABELS if "outputs" in name or name == "each output its own" else Y
    return y, ({"sample_weight": fingerprints.FLOATS} if name == WEIGHTED else {})


def whole(name):
    how, options = FITS[name]
    y, rows = given(name)
    return ab.boost(X, y, *how, rounds=ROUNDS, **rows, **options)


def stop(step, _):
    return step.round == STOP + 1  # one round more than the file has


def same(run, other):
    assert model_of(run) == model_of(other)
    assert [step._replace(seconds=0.0) for step in run.steps] == [
        step._replace(seconds=0.0) for step in other.steps
    ]
    assert (run.floor(), run.norm) == (other.floor(), other.norm)


def checkpointed(path, name, **more):
    """The run of a file that a fit in one place has written, which then stopped."""
    how, options = FITS[name]
    y, rows = given(name)
    keep = ab.Checkpoint(path, every_rounds=STOP, keep="trees")
    ab.boost(X, y, *how, rounds=ROUNDS, callbacks=[keep, stop], **rows, **options, **more)
    return ab.load(path)
