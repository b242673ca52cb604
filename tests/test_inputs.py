"""Bad input gets a sentence that names the argument and says what to do, before any work."""

import re

import numpy as np
import pytest

import anyboost as ab

X = np.arange(12.0).reshape(6, 2)
Y = np.arange(6.0)
SIGNS = np.array([1, -1, 1, -1, 1, -1])
WEIGHTS = np.ones(6)


def with_value(array, index, value):
    changed = np.array(array, dtype=float)
    changed[index] = value
    return changed


BAD = {
    "nan target": ({"y": with_value(Y, 3, np.nan)}, "y must be finite.*row 3"),
    "infinite target": ({"y": with_value(Y, 2, -np.inf)}, "y must be finite.*row 2"),
    "words as target": ({"y": list("abcdef")}, "y must hold numbers"),
    "two-dimensional target": ({"y": np.c_[Y, Y]}, "y must be one-dimensional"),
    "short target": ({"y": Y[:5]}, "y must have one value for each of the 6 rows of X, got 5"),
    "negative weight": (
        {"sample_weight": with_value(WEIGHTS, 1, -1)},
        "sample_weight must not be negative.*row 1",
    ),
    "zero weights": ({"sample_weight": np.zeros(6)}, "sample_weight is zero for every row"),
    "nan weight": ({"sample_weight": with_value(WEIGHTS, 1, np.nan)}, "sample_weight must be finite.*row 1"),
    "short weights": ({"sample_weight": np.ones(4)}, "sample_weight must have one weight a row"),
    "labels 0 and 1": ({"y": [0, 1, 0, 1, 0, 1], "loss": "hinge"}, r"y must .*-1.*\+1"),
    "negative count": ({"y": with_value(Y, 0, -1), "loss": "poisson"}, "y .*-1.*row 0"),
    "zero for gamma": ({"y": Y, "loss": "gamma"}, "y .*0.*row 0"),
    "half a class": ({"y": with_value(Y, 4, 0.5), "loss": "softmax"}, "y .*0.5.*row 4"),
    "negative class": ({"y": with_value(Y, 4, -2), "loss": "multiclass_hinge"}, "y .*-2.*row 4"),
    "no rows": ({"X": np.empty((0, 2)), "y": []}, "X has no rows"),
    "no columns": ({"X": np.empty((6, 0))}, "X has no columns"),
    "one-dimensional table": (
        {"X": Y},
        r"X must be two-dimensional, got shape \(6,\): pass X.reshape\(-1, 1\)",
    ),
    "words in the table": ({"X": np.array([["a", "b"]] * 6)}, "X must hold numbers"),
    "unknown loss": ({"loss": "squard"}, "loss 'squard' is not known: use 'squared'"),
    "loss of another kind": ({"loss": 3}, "loss must be a name or a loss"),
    "parameter outside": ({"loss": "quantile:1.5"}, "tau must be strictly between 0 and 1, got 1.5"),
    "parameter no number": ({"loss": "quantile:high"}, "has a parameter that is not a number"),
    "unknown learner": ({"learner": "forest"}, "learner 'forest' is not known: use one of .*stump, tree"),
    "learner of another kind": ({"learner": 7}, "learner must be a weak learner or its name, got 7"),
    "unknown descent": ({"descent": "newton"}, "descent 'newton' is not known: use one of hull, naive"),
    "descent of another kind": ({"descent": 1.5}, "descent must be a Descent or its name, got 1.5"),
    "no rounds": ({"rounds": -1}, "rounds must be at least 0, got -1"),
    "half a round": ({"rounds": 2.5}, "rounds must be a whole number, got 2.5"),
    "too many bins": ({"max_bins": 256}, "max_bins must be between 2 and 255, got 256"),
    "no threads": ({"n_threads": 0}, "n_threads must be at least 1, got 0"),
    "empty sample": ({"row_fraction": 0.0}, "row_fraction must be above 0 and at most 1, got 0.0"),
    "too many features": (
        {"feature_fraction": 2.0},
        "feature_fraction must be above 0 and at most 1, got 2.0",
    ),
    "seed": ({"random_state": -3}, "random_state must be at least 0, got -3"),
    "start shape": (
        {"start": np.zeros(5)},
        r"start must be a number or scores of shape \(6,\), got shape \(5,\)",
    ),
    "start nan": ({"start": with_value(Y, 1, np.nan)}, "start must be finite.*row 1"),
    "start vector": (
        {"y": [0, 1, 2, 0, 1, 2], "loss": "softmax", "start": np.zeros(6)},
        r"start must be a number or scores of shape \(6, 3\)",
    ),
    "groups without use": ({"groups": SIGNS}, "groups were given, but the loss squared does not use groups"),
    "short groups": ({"groups": SIGNS[:3]}, "groups must have one label for each of the 6 rows"),
    "valid is not a pair": ({"valid": X}, r"valid must be \(X, y\)"),
    "valid misnamed": ({"valid": {"X": X, "target": Y}}, 'valid needs "X" and "y"'),
    "valid columns": ({"valid": (X[:, :1], Y)}, "valid X must have the 2 columns of X, got 1"),
    "valid class": (
        {"y": [0, 1, 0, 1, 0, 1], "loss": "softmax", "valid": (X, [0, 1, 2, 0, 1, 2])},
        "y holds class 2 at row 2, but there are 2 outputs",
    ),
    "valid start": ({"start": Y, "valid": (X, Y)}, "start is an array, so valid needs its own"),
    "patience alone": ({"patience": 3}, r"patience needs a set to watch: pass valid=\(X, y\)"),
    "patience zero": ({"patience": 0, "valid": (X, Y)}, "patience must be at least 1, got 0"),
    "resume of another kind": ({"resume": "run.npz"}, "resume must be a Run that boost returned, got str"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    options, words = BAD[case]
    rounds = []
    arguments = {"X": X, "y": Y, "callbacks": [lambda step, run: rounds.append(step)], "rounds": 2, **options}
    with pytest.raises((ValueError, TypeError), match=words) as raised:
        ab.boost(**arguments)
    assert rounds == []
    sentence = str(raised.value)
    assert len(sentence) < 250
    assert "\n" not in sentence


def test_sparse_tables_are_refused():
    from scipy.sparse import csr_array

    with pytest.raises(ValueError, match=re.escape("X is a sparse matrix: pass a dense one, X.toarray()")):
        ab.boost(csr_array(X), Y)


def test_resuming_on_other_data_or_with_other_parts_is_refused():
    run = ab.boost(X, Y, "absolute", "stump", "naive", rounds=5, random_state=1)
    for options, words in (
        ({"y": Y + 1}, "resume was run on other data"),
        ({"X": X[:5], "y": Y[:5]}, "resume was run on other data"),
        ({"X": X[::-1]}, "resume was run on other data"),
        ({"loss": "squared"}, "loss is .*Absolute.* in the run to resume"),
        ({"learner": "tree"}, "learner is .*Stump.* in the run to resume"),
        ({"descent": "residual"}, "descent is .*Naive.* in the run to resume"),
        ({"row_fraction": 0.5}, "row_fraction is 1.0 in the run to resume, got 0.5; leave it out"),
        ({"max_bins": 9}, "max_bins is 255 in the run to resume, got 9; leave it out"),
        ({"random_state": 2}, "random_state is 1 in the run to resume, got 2"),
        ({"rounds": 4}, "rounds counts from the first one: the run to resume has 5, got rounds=4"),
        ({"valid": (X, Y)}, "valid must be given again, or left out again"),
    ):
        with pytest.raises(ValueError, match=words):
            ab.boost(**{"X": X, "y": Y, "rounds": 9, "resume": run, **options})


def test_predict_refuses_what_does_not_fit():
    ensemble = ab.boost(X, Y, rounds=3).ensemble
    for wrong, words in (
        (X[:, :1], "X must have the 2 columns of the training data, got 1"),
        (X[0], "X must be two-dimensional"),
    ):
        with pytest.raises(ValueError, match=words):
            ensemble.predict(wrong)
    with pytest.raises(ValueError, match=r"offset must have shape \(6,\), got \(3,\)"):
        ensemble.predict(X, offset=np.zeros(3))
    with pytest.raises(ValueError, match="n_rounds must be between 0 and 3, got 4"):
        ensemble.truncate(4)


def test_lists_frames_integers_and_booleans_are_tables():
    y = [0.0, 1.0, 1.0, 0.0]
    rows = [[0, 1], [1, 0], [1, 1], [0, 0]]
    expected = ab.boost(np.array(rows, dtype=float), y, rounds=4).ensemble.predict(
        np.array(rows, dtype=float)
    )
    for table in (rows, np.array(rows), np.array(rows, dtype=bool), np.array(rows, dtype=np.float32)):
        run = ab.boost(table, y, rounds=4)
        np.testing.assert_array_equal(run.ensemble.predict(table), expected)


def test_one_row_fits():
    run = ab.boost([[1.0]], [3.0], "absolute", rounds=2)
    assert run.ensemble.predict([[5.0]]) == [3.0]
