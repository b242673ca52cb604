"""The same rows in another order are the same measure, and give the same model, bit for bit."""

import warnings

import numpy as np
import pytest

import anyboost as ab
import fingerprints

# Rows are still drawn by their place
CASES = [name for name, case in fingerprints.CASES.items() if "row_fraction" not in case]
WEIGHTS = {"none": None, "whole": fingerprints.WHOLE, "floats": fingerprints.FLOATS}
ORDER = np.random.default_rng(1).permutation(fingerprints.ROWS)


def bits(run):
    found = fingerprints.fingerprint(run, np.zeros((1, fingerprints.COLUMNS)))
    return found["cuts"], found["values"], run.ensemble.start.tolist(), [step.loss for step in run.steps]


def fitted(X, y, groups, weights, case):
    options = {"rounds": 8, **case, "sample_weight": weights, "random_state": 0}
    if not getattr(case["loss"], "uses_groups", str(case["loss"]).startswith("rank")):
        groups = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these steps are large
        return ab.boost(X, y, groups=groups, **options)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", CASES)
def test_the_order_of_rows_makes_no_difference(name, weights):
    case = dict(fingerprints.CASES[name])
    X, y, groups = fingerprints.data(getattr(case["loss"], "name", case["loss"]), case.pop("missing", False))
    X[:, 0] += np.arange(len(X)) / 2.0**20  # more values than bins
    if case["loss"] == "cox":
        y = np.round(y, 1)  # rows that share a time
        y = np.where(y == 0, 0.1, y)
    mass = WEIGHTS[weights]
    one = fitted(X, y, groups, mass, case)
    other = fitted(X[ORDER], y[ORDER], groups[ORDER], None if mass is None else mass[ORDER], case)
    assert bits(one) == bits(other)


def test_weights_of_many_sizes_add_up_the_same_in_any_order():
    """A plain sum of these depends on their order."""
    random = np.random.default_rng(0)
    weights = 10.0 ** random.uniform(-8, 8, 3000)
    X, y = random.normal(size=(3000, 2)), random.normal(size=3000)
    order = random.permutation(3000)
    for loss in ("squared", ab.losses.CVaR("absolute", 0.7)):
        runs = [
            ab.boost(X[rows], y[rows], loss, ab.weak.Tree(6), rounds=4, sample_weight=weights[rows])
            for rows in (np.arange(3000), order)
        ]
        assert bits_of(runs[0]) == bits_of(runs[1])


def bits_of(run):
    return [fingerprints.walk(tree)[0] for tree in run.ensemble.hypotheses], [step.loss for step in run.steps]
