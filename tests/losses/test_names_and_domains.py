"""Names, parameters and targets: every mistake gets one sentence that says what to do."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import anyboost as ab
from anyboost import checks, losses
from anyboost.losses.names import NAMED, OTHER_NAMES
from losses.registry import CASES, CLASSES

every_loss = pytest.mark.parametrize("case", CASES, ids=str)


class Measure:
    weights = np.ones(1)

    def mean(self, values):
        return float(np.mean(values))


@pytest.mark.parametrize("name", NAMED)
def test_every_name_makes_its_loss(name):
    loss = losses.get("multi_quantile:0.1,0.9" if name == "multi_quantile" else name)
    assert loss.name == name
    assert losses.get(loss) is loss
    assert losses.get(str(loss)) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss


def test_every_loss_of_one_score_or_of_classes_is_in_the_registry():
    """A row-wise loss that the shared checks do not see is a loss nobody tests."""
    joint = {"crossing", "multi_quantile"}  # several scores a row that are no classes: in test_coupled.py
    named = {name for name in NAMED if name not in joint and _rowwise(name)}
    assert named <= {case.loss.name for case in CASES}


def _rowwise(name):
    return isinstance(losses.get(name), losses.RowwiseLoss)


@pytest.mark.parametrize(("other", "ours"), OTHER_NAMES.items())
def test_names_of_other_libraries_are_known(other, ours):
    assert losses.get(other) == losses.get(ours)


def test_a_name_of_another_library_takes_its_parameter():
    assert losses.get("pinball:0.9") == losses.Quantile(0.9)
    assert ab.boost([[0.0], [1.0]], [0.0, 1.0], loss="mae", rounds=1).loss == losses.Absolute()


def test_parameters_follow_a_colon():
    assert losses.get("quantile") == losses.Quantile(0.5)
    assert losses.get("quantile:0.9") == losses.Quantile(tau=0.9)
    assert losses.get("huber:2") == losses.Huber(2.0)
    assert losses.get("tweedie:1.3").power == 1.3
    assert losses.Quantile(0.9) != losses.Quantile(0.8)
    assert losses.MulticlassHinge().name == "multiclass_hinge"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("quartile", "use 'quantile'.*multiclass_hinge"),
        ("absolute_eror", "use 'absolute_error'"),
        ("log_loss", "does not say of how many classes: use 'logistic' for two"),
        ("cross_entropy", "'softmax' for more"),
        ("lambdamart", "is not here: use 'rank_logistic' or 'rank_hinge'"),
        ("quantile:high", "not a number"),
        ("quantile:0.1,0.2", "does not take"),
        ("squared:2", "does not take"),
        ("quantile:1.2", "strictly between 0 and 1"),
        (losses.Squared, r"Squared\(\)"),
        (3, "multiclass_hinge"),
    ],
)
def test_bad_names_are_refused(spec, words):
    with pytest.raises(ValueError, match=words):
        losses.get(spec)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: losses.Quantile(1.2), "tau must be strictly between 0 and 1, got 1.2"),
        (lambda: losses.Quantile(0), "tau must be strictly between 0 and 1, got 0"),
        (lambda: losses.Expectile(1), "tau must be strictly between 0 and 1, got 1"),
        (lambda: losses.Huber(0), "delta must be positive, got 0"),
        (lambda: losses.Huber(float("nan")), "delta must be finite, got nan"),
        (lambda: losses.Huber("wide"), "delta must be a number, got 'wide'"),
        (lambda: losses.Tweedie(2), "power must be strictly between 1 and 2, got 2"),
    ],
)
def test_bad_parameters_are_refused_at_construction(make, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        make()


@every_loss
@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan], "y must be finite, got nan at row 1"),
        ([1.0, 1.0, np.inf], "y must be finite, got inf at row 2"),
        ([], "y is empty"),
        ([[1.0], [1.0]], r"y must be one-dimensional, got shape \(2, 1\): pass y.ravel"),
        (["one", "two"], "y must hold numbers"),
        ([None, 1.0], "y must"),
        ([1 + 1j], "y must hold numbers"),
    ],
    ids=str,
)
def test_targets_no_loss_takes(case, y, words):
    for act in (case.loss.check, case.loss.best_constant, lambda y: case.loss.on(y, Measure())):
        with pytest.raises(ValueError, match=words):
            act(y)


@pytest.mark.parametrize(
    ("name", "y", "words"),
    [
        ("poisson", [1, -2], "0 or larger for the loss poisson, got -2 at row 1"),
        ("tweedie", [-0.5], "0 or larger"),
        ("gamma", [1, 0], "larger than 0 for the loss gamma, got 0 at row 1"),
        ("logistic", [1, 0], r"-1 or \+1 for the loss logistic, got 0 at row 1: map the two classes"),
        ("hinge", [0.5], r"-1 or \+1"),
        ("squared_hinge", [2], r"-1 or \+1"),
        ("exponential", [-2], r"-1 or \+1"),
        ("softmax", [0, -1], "a class number .* got -1 at row 1: number the classes from 0"),
        ("multiclass_hinge", [0, 1.5], "a class number .* got 1.5 at row 1"),
    ],
)
def test_targets_outside_the_domain(name, y, words):
    with pytest.raises(ValueError, match=f"^y must be {words}"):
        losses.get(name).check(y)


def test_times_and_events_in_two_columns_say_how_to_write_them():
    with pytest.raises(ValueError, match=r"the loss cox.* np.where\(event, time, -time\)"):
        losses.Cox().check([[3.0, 1.0], [2.0, 0.0]])


@every_loss
def test_checked_targets_are_contiguous_and_of_one_kind(case):
    y = case.loss.check(np.ones(6, dtype=np.float32)[::2])
    assert y.dtype == (np.int64 if case.vector else np.float64)
    assert y.flags.c_contiguous
    assert y.tolist() == [1, 1, 1]
    assert case.loss.outputs(y) == (2 if case.vector else 1)


@every_loss
def test_groups_are_refused_where_they_mean_nothing(case):
    with pytest.raises(ValueError, match="does not use groups"):
        case.loss.on([1.0], Measure(), groups=[0])


@every_loss
def test_outputs_must_fit(case):
    outputs = 1 if case.vector else 2
    with pytest.raises(ValueError, match="outputs"):
        case.loss.on([1.0], Measure(), outputs=outputs)
    if case.vector:
        assert case.loss.on([1.0], Measure(), outputs=CLASSES).outputs == CLASSES


@every_loss
def test_value_checks_scores_and_weights(case):
    good = np.zeros((2, 2)) if case.vector else np.zeros(2)
    y = [1.0, 1.0]
    with pytest.raises(ValueError, match="scores must have shape"):
        case.loss.value(good[:1], y)
    with pytest.raises(ValueError, match="scores must have shape"):
        case.loss.value(good[..., None], y)
    for weights, words in (
        ([1.0], "one weight a row, got 1 weights for 2 rows"),
        ([1.0, -1.0], "must not be negative, got -1.0 at row 1"),
        ([0.0, 0.0], "zero for every row"),
        ([1.0, np.nan], "must be finite, got nan at row 1"),
    ):
        with pytest.raises(ValueError, match=f"sample_weight .*{words}"):
            case.loss.value(good, y, weights)
        with pytest.raises(ValueError, match=f"sample_weight .*{words}"):
            case.loss.best_constant(y, weights)


def test_checks_of_numbers():
    assert checks.positive(np.float32(2), "step") == 2
    for bad in (True, "2", None, [2]):
        with pytest.raises(ValueError, match="step must be a number"):
            checks.positive(bad, "step")
    assert checks.sample_weight(None, 3).tolist() == [1, 1, 1]


def test_importing_losses_is_light():
    code = (
        "import sys, anyboost.losses; print([m for m in ('numba', 'sklearn', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
