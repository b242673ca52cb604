"""The same rows in another order are the same measure, and give the same model, bit for bit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import anyboost as ab
import fingerprints

LOSSES = [name for name in fingerprints.CASES if name.endswith(", trees") or name in ("cvar", "worst group")]
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
@pytest.mark.parametrize("name", fingerprints.CASES)
def test_the_order_of_rows_makes_no_difference(name, weights):
    check_order(dict(fingerprints.CASES[name]), weights)


@pytest.mark.parametrize(
    "weights", ["floats", *(pytest.param(name, marks=pytest.mark.full) for name in ("none", "whole"))]
)
@pytest.mark.parametrize("name", LOSSES)
def test_the_order_of_rows_makes_no_difference_where_some_are_drawn(name, weights):
    check_order({**fingerprints.CASES[name], "row_fraction": 0.6, "feature_fraction": 0.7}, weights)


def check_order(case, weights):
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


ESTIMATORS = {
    "regressor": (ab.BoostingRegressor("absolute"), lambda y: y),
    "two targets": (ab.BoostingRegressor(), lambda y: np.column_stack([y, np.round(y)])),
    "classifier": (ab.BoostingClassifier(), lambda y: np.where(y > np.median(y), "high", "low")),
    "classes": (ab.BoostingClassifier(), lambda y: np.digitize(y, np.quantile(y, [0.3, 0.6, 0.95]))),
    "ranker": (ab.BoostingRanker(), lambda y: np.digitize(y, [0.0, 1.0])),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_rows_are_held_out_and_drawn_whatever_their_order(kind, weights):
    model, labels = ESTIMATORS[kind]
    model = clone(model).set_params(max_iter=12, early_stopping=True, subsample=0.7, max_features=0.8)
    X, y, groups = fingerprints.data("squared", missing=True)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(
        word=np.array(["b", "a", "c"])[np.arange(len(X)) % 3]
    )
    table["word"] = table["word"].astype("category")
    y, mass = labels(y), WEIGHTS[weights]

    def scores(rows):
        given = {"qid": groups[rows]} if kind == "ranker" else {}
        fitted = clone(model).fit(
            table.iloc[rows], y[rows], sample_weight=None if mass is None else mass[rows], **given
        )
        return fitted._raw(table), fitted.validation_score_

    for one, other in zip(scores(np.arange(len(X))), scores(ORDER), strict=True):
        np.testing.assert_array_equal(one, other)
