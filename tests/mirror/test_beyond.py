"""Beyond the paper: experts that sleep or join late, a changing best, rates that need no tuning, and offenders."""

import itertools

import numpy as np
import pytest

from anyboost.mirror import (
    Adaptive,
    Anytime,
    Doubling,
    ExponentiatedGradient,
    FixedShare,
    KnownHorizon,
    MirrorAverager,
    Octahedron,
    SecondOrder,
    Simplex,
    SolidSimplex,
    StumpAverager,
    Tracker,
)
from reference import mirror as reference

DOMAINS = [Simplex(2.0), SolidSimplex(0.5), Octahedron(1.5)]
RULES = [
    Anytime(),
    Doubling(),
    KnownHorizon(500),
    Adaptive(),
    ExponentiatedGradient(0.2),
    FixedShare(0.2, 0.02),
    SecondOrder(),
]


def stream(rows=300, count=5, seed=0):
    random = np.random.default_rng(seed)
    y = np.cumsum(random.normal(size=rows)) * 0.1
    H = y[:, None] + random.normal(size=(rows, count)) * np.linspace(0.2, 1.0, count)
    return H, y


def follow(averager, H, y):
    """The weights before each row and after the last, and the subgradients taken."""
    weights, dual = [averager.last_weights_], []
    for i in range(len(y)):
        f = weights[-1] @ H[i]
        dual.append((f - y[i]) * H[i])
        averager.partial_fit(H[i : i + 1], y[i : i + 1])
        weights.append(averager.last_weights_)
    return np.array(weights), np.array(dual)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0])
def test_fixed_share_is_the_mixture_of_all_sequences(domain, share):
    H, y = stream(rows=5, count=2, seed=3)
    averager = MirrorAverager(domain=domain, schedule=FixedShare(0.7, share), lipschitz=1e6).start(2)
    weights, dual = follow(averager, H, y)
    V = reference.vertices(type(domain).__name__, 2)
    # Rates are in units of 1/L, so 0.7 on L = 1e6 is this on the subgradients themselves.
    mixture = reference.share_by_enumeration(dual @ V.T, 0.7 / 1e6, share)
    np.testing.assert_allclose(weights, domain.radius * mixture @ V, rtol=0, atol=1e-12)


def test_fixed_share_at_a_rate_that_matters():
    H, y = stream(rows=6, count=3, seed=5)
    averager = MirrorAverager(schedule=FixedShare(40.0, 0.1), lipschitz=50.0).start(3)
    weights, dual = follow(averager, H, y)
    assert np.abs(dual).max() < 50.0
    np.testing.assert_allclose(
        weights, reference.share_by_enumeration(dual, 40.0 / 50.0, 0.1), rtol=0, atol=1e-12
    )
    assert np.ptp(weights[-1]) > 0.1


def test_fixed_share_follows_a_changing_best_and_exponentiated_gradient_does_not():
    random = np.random.default_rng(0)
    y = random.normal(size=3000)
    H = np.stack([y + 0.5, y + 1.0, y + 2.0], axis=1)
    H[1500:] = H[1500:, [2, 1, 0]]  # the best and the worst change places
    late = slice(1600, None)
    losses = {}
    for rule in (FixedShare(0.5, 0.01), ExponentiatedGradient(0.5), Anytime()):
        scores = MirrorAverager("absolute", schedule=rule).predict_then_fit(H, y)
        losses[type(rule)] = np.abs(scores - y)[late].mean()
    assert losses[FixedShare] < 0.65
    assert losses[FixedShare] < 0.6 * losses[ExponentiatedGradient]
    assert losses[FixedShare] < 0.6 * losses[Anytime]


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_tracker_mixes_its_parts(domain):
    H, y = stream(rows=200)
    whole, parts = Tracker("absolute", domain), Tracker("absolute", domain)
    np.testing.assert_allclose(whole.predict(H), MirrorAverager(domain=domain).predict(H), rtol=0, atol=1e-12)
    scores = whole.predict_then_fit(H, y)
    pieces = [parts.predict_then_fit(H[a:b], y[a:b]) for a, b in ((0, 1), (1, 50), (50, 200))]
    np.testing.assert_array_equal(scores, np.concatenate(pieces))
    np.testing.assert_allclose(whole.predict(H), H @ whole.weights_, rtol=0, atol=1e-12)
    assert np.abs(whole.weights_).sum() <= domain.radius + 1e-12


def test_a_tracker_needs_no_tuning():
    """Within a little of the best pair of rate and share, which is another in each stream."""
    random = np.random.default_rng(0)
    for every in (40, 400, 10_000):
        y = random.normal(size=2000)
        good = (np.arange(2000) // every) % 4
        H = y[:, None] + np.where(np.arange(4) == good[:, None], 0.2, 1.5) * random.normal(size=(2000, 4))
        tracker = Tracker()
        scores = tracker.predict_then_fit(H, y)
        losses = [
            np.mean((part.predict_then_fit(H, y) - y) ** 2)
            for part in (MirrorAverager(schedule=p.schedule, lipschitz="running") for p in tracker.parts)
        ]
        assert np.mean((scores - y) ** 2) < 1.1 * min(losses)
        assert np.mean((scores - y) ** 2) < 0.7 * np.median(losses) or every == 10_000


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_second_order_follows_its_oracle(domain):
    H, y = stream(rows=120)
    averager = MirrorAverager(domain=domain, schedule=SecondOrder(), lipschitz=1e9).start(5)
    weights, dual = follow(averager, H, y)
    theirs = reference.second_order(dual, type(domain).__name__, domain.radius)
    np.testing.assert_allclose(weights, theirs, rtol=0, atol=1e-11)


def test_second_order_needs_no_rate():
    """Regret within a small multiple of sqrt(ln M sum of squared regrets), whatever the scale of the losses."""
    for seed, scale in itertools.product(range(5), (1e-3, 1.0, 1e4)):
        H, y = stream(rows=2000, seed=seed)
        averager = MirrorAverager("absolute", schedule=SecondOrder(), lipschitz=1e12)
        scores = averager.predict_then_fit(scale * H, scale * y)
        slopes = np.sign(scores - scale * y)
        regrets = slopes[:, None] * (scores[:, None] - scale * H)
        for r in regrets.T:
            allowed = 4 * np.sqrt(np.log(5) * np.sum(r**2)) + 10 * np.log(5) * np.abs(r).max()
            assert r.sum() <= allowed


def test_scale_does_not_matter_to_a_running_scale():
    H, y = stream()
    for rule in (Adaptive(), SecondOrder(), Anytime()):
        one = MirrorAverager(schedule=rule, lipschitz="running").partial_fit(H, y)
        for scale in (1e-6, 1e5):
            other = MirrorAverager(schedule=rule, lipschitz="running").partial_fit(scale * H, scale * y)
            np.testing.assert_allclose(one.weights_, other.weights_, rtol=0, atol=1e-9)


# Sleeping and joining -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_a_sleeper_is_judged_by_what_was_said_without_it(rule, domain):
    """Writing down the stand-in forecast by hand gives the same weights."""
    random = np.random.default_rng(1)
    H, y = stream(rows=40)
    H = np.where(random.random(H.shape) < 0.3, np.nan, H)
    H[np.isnan(H).all(axis=1), 0] = 0.0
    options = {"domain": domain, "schedule": rule, "lipschitz": 3.0, "average": False}
    dozing, awake = MirrorAverager(**options).start(5), MirrorAverager(**options).start(5)
    for i in range(len(y)):
        score = dozing.predict(H[i : i + 1])
        stand_in = score[0] / domain.radius if isinstance(domain, Simplex) else 0.0
        row = np.where(np.isnan(H[i]), stand_in, H[i])[None]
        np.testing.assert_allclose(awake.predict(row), score, rtol=0, atol=1e-12)
        dozing.partial_fit(H[i : i + 1], y[i : i + 1])
        awake.partial_fit(row, y[i : i + 1])
        np.testing.assert_allclose(dozing.last_weights_, awake.last_weights_, rtol=0, atol=1e-12)


def test_an_expert_that_wakes_up_can_win():
    H, y = stream(rows=4000)
    H[:2000, 0] = np.nan  # the best one
    for rule in RULES:
        averager = MirrorAverager("absolute", schedule=rule, average=False).partial_fit(H, y)
        assert averager.weights_.argmax() == 0


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
@pytest.mark.parametrize("rule", [KnownHorizon(300), ExponentiatedGradient(0.3)], ids=repr)
def test_joining_late_is_having_slept_so_far(rule, domain):
    H, y = stream(rows=60)
    dozing = np.where((np.arange(60)[:, None] < 30) & (np.arange(5) >= 3), np.nan, H)
    asleep = MirrorAverager(domain=domain, schedule=rule, average=False).partial_fit(dozing, y)
    if isinstance(domain, Octahedron | SolidSimplex) or isinstance(rule, KnownHorizon):
        # The shares at the start, or the rate, depend on how many experts there are: join gets them right from
        # then on, so the paths differ a little before.
        joined = MirrorAverager(domain=domain, schedule=rule, average=False).partial_fit(H[:30, :3], y[:30])
        joined.join(2).partial_fit(H[30:], y[30:])
        assert np.abs(joined.weights_ - asleep.weights_).max() < 0.1 * domain.radius
        return
    # On the simplex the first thirty rows' mixture does not know of those who sleep: exactly the same.
    joined = MirrorAverager(domain=domain, schedule=rule, average=False).partial_fit(H[:30, :3], y[:30])
    joined.join(2).partial_fit(H[30:], y[30:])
    np.testing.assert_allclose(joined.weights_, asleep.weights_, rtol=0, atol=1e-12)


def test_late_joiners_count_in_the_average_from_then_on():
    H, y = stream(rows=200)
    averager = MirrorAverager("absolute").partial_fit(H[:50, 1:], y[:50])
    averager.join().partial_fit(np.roll(H[50:], -1, axis=1), y[50:])
    assert averager.n_experts_ == 5
    assert averager.weights_.sum() == pytest.approx(1.0, abs=1e-12)
    assert averager.weights_[4] > 0.1
    with pytest.raises(ValueError, match="column of NaN from the start"):
        MirrorAverager(schedule="second_order").partial_fit(H, y).join()


# Offenders ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("lipschitz", [1.0, "running"])
@pytest.mark.parametrize("loss", ["squared", "absolute", "poisson"])
@pytest.mark.parametrize("when", [0, 100])
def test_one_forecast_of_ten_million_does_not_win(rule, lipschitz, loss, when):
    H, y = stream(rows=1500)
    y = np.abs(y)
    H = np.abs(H)
    clean = MirrorAverager(loss, schedule=rule, lipschitz=lipschitz).partial_fit(H, y).weights_
    H[when, 4] = 1e7  # by the worst expert
    averager = MirrorAverager(loss, schedule=rule, lipschitz=lipschitz)
    averager.partial_fit(H[: when + 1], y[: when + 1])
    assert np.isfinite(averager.weights_).all()
    assert averager.weights_[4] <= 0.2 + 1e-9 if when == 0 else averager.weights_[4] <= averager.weights_[0]
    averager.partial_fit(H[when + 1 :], y[when + 1 :])
    weights = averager.weights_
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert weights[4] <= clean[4] + 0.02
    assert weights.argmax() == clean.argmax()  # and it still learns who is good


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("lipschitz", [1.0, "running"])
def test_one_loss_of_a_trillion_does_not_decide(rule, lipschitz):
    H, y = stream(rows=1500)
    clean = MirrorAverager(schedule=rule, lipschitz=lipschitz).partial_fit(H, y).weights_
    y = y.copy()
    y[100] = 1.5e6  # half its square is over 1e12
    weights = MirrorAverager(schedule=rule, lipschitz=lipschitz).partial_fit(H, y).weights_
    assert np.isfinite(weights).all()
    assert weights.argmax() == clean.argmax() == 0
    assert np.abs(weights - clean).sum() < 0.5


def test_an_infinite_slope_is_a_direction():
    H = np.array([[800.0, -1.0, 0.0], [-800.0, 1.0, 0.0]])
    for rule in RULES:
        averager = MirrorAverager("exponential", schedule=rule).partial_fit(H, [-1.0, 1.0])
        assert np.isfinite(averager.weights_).all()
        assert averager.weights_.argmin() == 0
    X = np.arange(6.0)[:, None]
    stumps = StumpAverager("exponential", 900.0, lipschitz=1.0).partial_fit(
        X, np.array([1, 1, 1, -1, -1, -1.0])
    )
    assert np.isfinite(stumps.weights_).all()


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_a_running_scale_follows_a_lasting_change(scale):
    H, y = stream(rows=6000)
    H[3000:] *= scale
    y[3000:] *= scale
    H[3000:] = H[3000:, ::-1]  # the best is now the last
    averager = MirrorAverager("absolute", schedule=SecondOrder(), lipschitz="running")
    averager.partial_fit(H[:3000], y[:3000])
    assert averager.weights_.argmax() == 0
    averager.partial_fit(np.tile(H[3000:], (3, 1)), np.tile(y[3000:], 3))
    assert averager.weights_.argmax() == 4
