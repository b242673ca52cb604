"""`scale` is supplement C.2: the learners' predictions are multiplied by lambda, and the bounds are of that class."""

import math
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
import reference.online as oracle
from anyboost.online import (
    FeatureStumpLearner,
    HullBooster,
    LinearLearner,
    NetLearner,
    SpanBooster,
    TreeLearner,
)
from anyboost.online.regret import bound

SCALES = [0.5, 1.0, 2.0, 3.0, 10.0]
KEPT = Path(__file__).parents[1] / "files" / "kinds_1" / "scaled-span.safetensors"


def stream(n=150, d=3, seed=0):
    """Columns in [-1, 1], and labels in [-2, 2]."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (n, d))
    return X, np.clip(3 * X[:, 0] - 2 * X[:, 1] + 0.3 * random.normal(size=n), -2, 2)


def of_theorem(make, learner, scale, mode="linear", D=1.0, loss="squared"):
    given = {"output_bound": D, "label_bound": 2.0, "start": 0.0, "prefix": "all", "scale": scale}
    return make(learner, 6, loss, mode=mode, **given, **({"step": 0.3} if make is SpanBooster else {}))


@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
@pytest.mark.parametrize("mode", ["linear", "greedy"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("scale", SCALES)
def test_hedge_by_hand_equals_the_booster(make, mode, loss, scale):
    """Hedge knows the bound of its experts, and nothing of lambda: only the booster can scale it."""
    X, y = stream()
    y = y if loss == "squared" else np.sign(y)
    T, d = X.shape
    unit = 4.0 if (mode, loss) == ("greedy", "logistic") else 1.0
    booster = of_theorem(make, oracle.Hedge(1.0, T), scale, mode, loss=loss)
    expected = oracle.boost(
        *(X, y),
        loss=loss,
        hull=make is HullBooster,
        greedy=mode == "greedy",
        N=6,
        eta=0.3,
        D=1.0,
        Y=2.0,
        make=lambda: oracle.HedgeByHand(d, 1.0, T, unit),
        scale=scale,
    )
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(booster.progressive_predict(X, y), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
@pytest.mark.parametrize("mode", ["linear", "greedy"])
@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_plain_gradient_steps_by_hand_equal_the_booster(make, mode, scale):
    X, y = stream()
    booster = of_theorem(make, LinearLearner(0.1, "plain"), scale, mode, D=0.5)
    expected = oracle.boost(
        *(X, y),
        loss="squared",
        hull=make is HullBooster,
        greedy=mode == "greedy",
        N=6,
        eta=0.3,
        D=0.5,
        Y=2.0,
        rate=0.1,
        scale=scale,
    )
    np.testing.assert_allclose(booster.progressive_predict(X, y), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        *(LinearLearner(0.1, update) for update in ("normalised", "adaptive", "invariant")),
        *(FeatureStumpLearner(0.1, centered=centered) for centered in (False, True)),
        *(NetLearner(units=3), TreeLearner(4, 8, grace=20)),
    ],
    ids=lambda learner: f"{type(learner).__name__} {getattr(learner, 'update', '')}",
)
@pytest.mark.parametrize("mode", ["linear", "greedy"])
def test_a_learner_that_reads_its_bound_is_scaled_once(learner, mode):
    """Such a learner answers in units of D, so lambda H with the bound D is H with the bound lambda D, for powers of
    two to the bit."""
    X, y = stream(400)
    scaled = of_theorem(SpanBooster, learner, 2.0, mode, D=0.5).progressive_predict(X, y)
    wider = of_theorem(SpanBooster, learner, 1.0, mode, D=1.0).progressive_predict(X, y)
    assert np.ptp(wider) > 0.1
    np.testing.assert_array_equal(scaled, wider)


@pytest.mark.parametrize("learner", ["plain", "normalised"])
@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
def test_scaled_rows_together_are_the_rows_one_by_one(make, learner):
    """Also where stages learn side by side (greedy, squared loss, many rows)."""
    X, y = stream(300)
    given = {"n_learners": 5, "scale": 2.5}
    whole = make(LinearLearner(0.1, learner), **given)
    answers = whole.progressive_predict(X, y)
    single = make(LinearLearner(0.1, learner), **given)
    expected = [single.progressive_predict(X[i : i + 1], y[i : i + 1])[0] for i in range(len(y))]
    np.testing.assert_array_equal(answers, expected)


def one_expert(lam, N=50, eta=0.02, T=1000, y=10.0, make=SpanBooster):
    """h = 1, and a label that only y h reaches."""
    step = {"step": eta} if make is SpanBooster else {}
    given = {"output_bound": 1.0, "label_bound": y, "start": 0.0, "prefix": "all", "scale": lam}
    booster = make(oracle.Hedge(1.0, T), N, "squared", mode="linear", **given, **step)
    return booster.partial_fit(np.ones((T, 1)), np.full(T, y))


def corollary_2(lam, norm, gain, N=50, eta=0.02, T=1000, Y=10.0, D=1.0):
    """The regret bound of supplement C.2, for half the squared error and Hedge over three experts."""
    B = oracle.ball_radius("squared", eta, N, lam * D, Y)
    W, L, R = max(1.0, norm / lam), B + Y, D * math.sqrt(2 * T * math.log(3))
    return (1 - eta / W) ** N * gain + 3 * eta * B**2 * W * T + L * W * lam * R + 2 * L * B * W * math.sqrt(T)


@pytest.mark.parametrize(("lam", "y", "T"), [(1.0, 10.0, 200), (2.0, 10.0, 200), (100.0, 100.0, 900)])
def test_the_excess_over_the_span_is_within_corollary_2(lam, y, T):
    gain = 0.5 * y * y * T  # of y h over no answer
    booster = one_expert(lam, T=T, y=y)
    allowed = bound(booster, T, norm=y, gain=gain)
    assert allowed == pytest.approx(corollary_2(lam, y, gain, T=T, Y=y))
    assert booster.regret().loss <= allowed
    assert booster.regret().bound == pytest.approx(corollary_2(lam, 1.0, gain, T=T, Y=y))
    # What this would tell: where predictions are not multiplied, they reach eta N D = 1, and lose at least so much.
    assert lam != 100.0 or 0.5 * (y - 1.0) ** 2 * T > allowed


@pytest.mark.parametrize("lam", [2.0, 10.0])
def test_the_excess_over_the_hull_is_within_theorem_2(lam):
    """The comparator is lambda h, of the scaled class."""
    T, N, y = 400, 50, lam
    booster = one_expert(lam, N=N, T=T, y=y, make=HullBooster)
    allowed = 8 * lam**2 * T / N + (lam + y) * lam * math.sqrt(2 * T * math.log(3))
    assert booster.regret().bound == pytest.approx(allowed)
    assert booster.regret().loss <= allowed
    assert lam != 10.0 or 0.5 * (y - 1.0) ** 2 * T > allowed  # as above


def test_a_booster_of_an_older_file_goes_on_by_its_rule_and_has_no_bound(tmp_path):
    """Its learners have learned with D scaled and their answers not; scaled now, they would answer something else."""
    random = np.random.default_rng(8)
    X = random.normal(size=(160, 3)).round(3)
    y = np.clip(X[:, 0] - 0.5 * X[:, 1] + 0.3 * random.normal(size=160), -2, 2).round(3)
    given = {"loss": "squared", "hull": False, "greedy": False, "N": 5, "eta": 0.3, "D": 0.5, "Y": 2.0}
    expected = oracle.boost(X, y, **given, rate=0.1, scale=2.5, of_bound_only=True)
    kept = ab.load(KEPT)  # after 80 of these rows
    assert kept.scale == 2.5
    ab.save(kept, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == KEPT.read_bytes()
    again = ab.load(tmp_path / "again")
    for booster in (kept, again):
        answers = booster.progressive_predict(X[80:], y[80:])
        np.testing.assert_allclose(answers, expected[80:], rtol=0, atol=1e-12)
    assert bound(again, 160, base_regret=1.0) is None
    assert "scale" in again.regret().no_bound
    fresh = SpanBooster(
        LinearLearner(0.1, "plain"), 5, "squared", 0.3, "linear", 0.5, 2.0, scale=2.5, start=0.0
    )
    fresh.prefix = "all"
    assert bound(fresh, 160, base_regret=1.0) is not None


@pytest.mark.parametrize("cut", [1, 60])
def test_a_scaled_booster_goes_on_from_its_file(tmp_path, cut):
    X, y = stream()
    whole = of_theorem(SpanBooster, LinearLearner(0.1, "plain"), 2.5, D=0.5).partial_fit(X[:cut], y[:cut])
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    for booster in (whole, resumed):
        booster.partial_fit(X[cut:], y[cut:])
    np.testing.assert_array_equal(whole.predict(X), resumed.predict(X))
    assert whole.regret() == resumed.regret()
