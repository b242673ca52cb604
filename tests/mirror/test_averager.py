"""The averager is the paper's algorithm: it follows the oracle, stays in its set, and batches are the loop."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
from anyboost import losses
from anyboost.mirror import (
    Adaptive,
    Anytime,
    Doubling,
    Entropy,
    ExponentiatedGradient,
    FixedShare,
    KnownHorizon,
    MirrorAverager,
    Octahedron,
    PNorm,
    PowerDivergence,
    SecondOrder,
    Simplex,
    SolidSimplex,
)
from mirror.pairs import PAIRS
from reference import mirror as reference

RULES = [Anytime(), Doubling(), KnownHorizon(60), Adaptive(), ExponentiatedGradient(0.3)]
ALL_RULES = [*RULES, FixedShare(0.3, 0.05), SecondOrder()]


def exponent_of(proxy):
    return getattr(proxy, "p", None) or getattr(proxy, "s", None)


def temperature(rule, proxy, domain, count, L):
    """beta after i rows, from the paper and the docstring of `schedules`."""
    alpha, height = reference.constants(
        type(proxy).__name__, type(domain).__name__, domain.radius, count, exponent_of(proxy)
    )
    unit = 1 / np.sqrt(alpha * height)
    return {
        Anytime: lambda i, norms: L * unit * np.sqrt(i + 1),
        Doubling: lambda i, norms: L * unit * np.sqrt(2 ** np.ceil(np.log2(i + 1))),
        KnownHorizon: lambda i, norms: L * unit * np.sqrt(getattr(rule, "rows", 0) / 2),
        Adaptive: lambda i, norms: unit * np.sqrt(np.sum(np.square(norms))),
        ExponentiatedGradient: lambda i, norms: L / getattr(rule, "rate", 1),
    }[type(rule)]


def stream(count=7, rows=60, seed=0, asleep=0.0):
    random = np.random.default_rng(seed)
    H = random.normal(size=(rows, count))
    y = 0.6 * H[:, 0] + 0.3 * H[:, -1] + 0.2 * random.normal(size=rows)
    if asleep:
        H = np.where(random.random(H.shape) < asleep, np.nan, H)
        H[:, 2] = np.where(np.isnan(H).all(axis=1), 0.1, H[:, 2])
    return H, y


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize(
    ("proxy", "domain"), PAIRS, ids=lambda part: part.__name__ if isinstance(part, type) else repr(part)
)
@pytest.mark.parametrize("asleep", [0.0, 0.4])
def test_every_proxy_set_and_schedule_follows_the_oracle(proxy, domain, rule, asleep):
    if isinstance(rule, ExponentiatedGradient) and not isinstance(proxy, Entropy):
        return
    chosen = domain(1.5)
    H, y = stream(asleep=asleep)
    weights = np.tile([1.0, 0.0, 2.0, 1.0, 0.5, 2.25], 10)
    averager = MirrorAverager("squared", proxy, chosen, rule, lipschitz=2.0, average=True)
    ours = averager.predict_then_fit(H, y, weights)
    beta = temperature(rule, proxy, chosen, H.shape[1], 2.0)

    names = {"proxy": type(proxy).__name__, "domain": domain.__name__, "radius": 1.5}
    theirs, last, mean = reference.average(
        H, y, lambda f, t: f - t, **names, beta=beta, L=2.0, weights=weights, exponent=exponent_of(proxy)
    )
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(averager.last_weights_, last, rtol=0, atol=1e-12)
    np.testing.assert_allclose(averager.weights_, mean, rtol=0, atol=1e-12)


def assert_in(domain, theta):
    size = np.abs(theta).sum()
    if not isinstance(domain, Octahedron):
        assert theta.min() >= -1e-12
    if isinstance(domain, Simplex):
        assert size == pytest.approx(domain.radius, rel=0, abs=1e-12)
    assert size <= domain.radius + 1e-12


@pytest.mark.parametrize("count", [1, 2, 3, 50, 1000])
def test_weights_stay_in_the_set_and_start_at_the_proxys_minimum(count):
    H, y = stream(count, rows=300)
    for (proxy, kind), rule in itertools.product(PAIRS, ALL_RULES):
        if not isinstance(proxy, Entropy) and rule.code in (4, 5):
            continue
        if isinstance(rule, ExponentiatedGradient) and not isinstance(proxy, Entropy):
            continue
        domain = kind(2.0)
        averager = MirrorAverager("squared", proxy, domain, rule).start(count)
        V = reference.vertices(kind.__name__, count)
        start = 2.0 * V.mean(axis=0) if isinstance(proxy, Entropy) or kind is Simplex else np.zeros(count)
        np.testing.assert_allclose(averager.weights_, start, rtol=0, atol=1e-15)
        np.testing.assert_allclose(averager.predict(H[:5]), H[:5] @ start, rtol=0, atol=1e-12)
        for rows in (slice(0, 1), slice(1, 300)):
            averager.partial_fit(H[rows], y[rows])
            assert_in(domain, averager.weights_)
            assert_in(domain, averager.last_weights_)


def test_before_any_row_it_predicts_with_the_start():
    H, _ = stream()
    np.testing.assert_allclose(MirrorAverager().predict(H), H.mean(axis=1), atol=1e-15)
    assert not MirrorAverager(domain="octahedron").predict(H).any()
    with pytest.raises(AttributeError, match="has seen no row"):
        _ = MirrorAverager().weights_


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("lipschitz", [1.0, "running"])
def test_batches_are_the_loop_bit_for_bit(rule, lipschitz):
    H, y = stream(rows=90, asleep=0.2)
    weights = np.tile([1.0, 2.5, 0.0], 30)
    cuts = [0, 1, 2, 9, 40, 41, 90]
    models = [MirrorAverager("huber:0.5", schedule=rule, lipschitz=lipschitz) for _ in range(3)]
    whole = models[0].predict_then_fit(H, y, weights)
    parts = [
        models[1].predict_then_fit(H[a:b], y[a:b], weights[a:b] if weights[a:b].any() else None)
        for a, b in itertools.pairwise(cuts)
        if weights[a:b].any()
    ]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    for i in np.flatnonzero(weights):
        models[2].partial_fit(H[i : i + 1], y[i : i + 1], weights[i : i + 1])
    for model in models[1:]:
        np.testing.assert_array_equal(models[0].weights_, model.weights_)
        np.testing.assert_array_equal(models[0].last_weights_, model.last_weights_)
    doubled = MirrorAverager("huber:0.5", schedule=rule, lipschitz=lipschitz)
    doubled.partial_fit(H, y, np.full(90, 2.0))
    repeated = MirrorAverager("huber:0.5", schedule=rule, lipschitz=lipschitz)
    repeated.partial_fit(np.repeat(H, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_array_equal(doubled.weights_, repeated.weights_)


@pytest.mark.parametrize("domain", [Simplex(), SolidSimplex(), Octahedron()], ids=repr)
@pytest.mark.parametrize("count", [3, 4, 8, 13, 40])
def test_results_do_not_depend_on_where_arrays_lie(domain, count):
    """Compiled sums over arrays that are close in memory once took another order than over ones that are not."""
    H, y = stream(count, rows=40)
    apart = MirrorAverager(domain=domain).partial_fit(H, y)
    for gap in range(6):
        room = np.zeros(4 * (count + gap) + 40 * count)
        close = MirrorAverager(domain=domain).start(count)
        state, begin = close._state, 0
        for name in ("memory", "theta", "total"):
            own = room[begin : begin + count].reshape(getattr(state, name).shape)
            own[...] = getattr(state, name)
            state = state._replace(**{name: own})
            begin += count + gap
        close._state = state
        forecasts = room[begin : begin + 40 * count].reshape(40, count)
        forecasts[...] = H
        close.partial_fit(forecasts, y)
        np.testing.assert_array_equal(close.weights_, apart.weights_)
        np.testing.assert_array_equal(close.predict(forecasts), apart.predict(H))


ROWWISE = [
    *(losses.Squared(), losses.Absolute(), losses.Quantile(0.8), losses.Huber(0.5), losses.Expectile(0.3)),
    *(losses.Poisson(), losses.Gamma(), losses.Tweedie(1.4)),
    *(losses.Logistic(), losses.Hinge(), losses.SquaredHinge(), losses.Exponential()),
    0.5 * losses.Absolute() + losses.Squared(),
    losses.pointwise(lambda f, y: (f - y) ** 4, lambda f, y: 4 * (f - y) ** 3, name="fourth"),
]


def targets(loss, signal):
    words = loss.domain.words
    if "-1" in words:
        return np.where(signal > 0, 1.0, -1.0)
    return np.exp(signal) if "larger" in words else signal


@pytest.mark.parametrize("loss", ROWWISE, ids=str)
def test_every_rowwise_loss_drives_it(loss):
    H, y = stream()
    y = targets(loss, y)
    averager = MirrorAverager(loss, lipschitz=3.0)
    ours = averager.predict_then_fit(H, y)

    def slope(f, target):
        return float(loss.subgradients(np.array([f]), np.array([target]))[0])

    beta = temperature(Anytime(), Entropy(), Simplex(), H.shape[1], 3.0)
    theirs, _, mean = reference.average(H, y, slope, beta=beta, L=3.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(averager.weights_, mean, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "loss",
    [losses.Softmax(), losses.MulticlassHinge(), losses.MultiQuantile((0.2, 0.5, 0.9))],
    ids=str,
)
def test_losses_of_several_outputs_share_one_weight_an_expert(loss):
    random = np.random.default_rng(3)
    H = random.normal(size=(50, 4, 3))
    H[random.random((50, 4)) < 0.2] = np.nan
    H[:, 0] = np.where(np.isnan(H).all(axis=(1, 2))[:, None], 0.5, H[:, 0])
    y = random.integers(0, 3, 50)
    averager = MirrorAverager(loss, lipschitz=1.5)
    ours = averager.predict_then_fit(H, y)
    theta = np.full(4, 0.25)
    thetas, zeta = [theta], np.zeros(4)
    for i in range(50):
        on = ~np.isnan(H[i]).any(axis=1)
        for weights, found in ((np.mean(thetas, axis=0), ours[i]), (theta, None)):
            f = weights[on] @ H[i][on] / weights[on].sum()
            if found is not None:
                np.testing.assert_allclose(found, f, rtol=0, atol=1e-12)
        filled = np.where(on[:, None], H[i], f)
        u = filled @ loss.subgradients(f[None], y[i : i + 1])[0]
        u *= min(1.0, 1.5 / max(np.abs(u).max(), 1e-300))
        zeta = zeta + u
        beta = 1.5 / np.sqrt(np.log(4)) * np.sqrt(i + 2)
        theta = reference.prox("Entropy", "Simplex", 1.0, zeta, beta)
        thetas.append(theta)
    np.testing.assert_allclose(averager.weights_, np.mean(thetas, axis=0), rtol=0, atol=1e-12)


@given(st.integers(0, 2**31), st.sampled_from(ROWWISE[:-1]))
@settings(max_examples=30, deadline=None)
def test_compiled_slopes_are_the_losses_own(seed, loss):
    from anyboost.losses.numbered import slope_of_sum
    from anyboost.mirror import slopes

    random = np.random.default_rng(seed)
    f = random.normal(scale=3.0)
    y = float(targets(loss, np.array([random.normal()]))[0])
    own = loss.subgradients(np.array([f]), np.array([y]))[0]
    assert slope_of_sum(slopes.terms(loss), f, y) == pytest.approx(own, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("loss", ROWWISE[:12], ids=str)
@pytest.mark.parametrize("domain", [Simplex(2.0), Octahedron(0.5)], ids=repr)
def test_no_subgradient_exceeds_the_bound_that_follows_from_the_bounds(loss, domain):
    random = np.random.default_rng(0)
    K, Y = 1.5, 2.0
    L = MirrorAverager(loss, domain=domain, output_bound=K, label_bound=Y).lipschitz
    longest = 0.0
    for _ in range(4000):
        theta = domain.radius * random.dirichlet(np.full(3, 0.1)) * (random.choice([-1, 1], 3))
        theta = np.abs(theta) if isinstance(domain, Simplex) else theta
        h = K * random.choice([-1, 1], 3)
        signal = np.array([random.choice([-Y, Y])])
        y = np.minimum(targets(loss, np.log(Y) * signal / Y), Y) if "larger" in loss.domain.words else signal
        y = np.sign(signal) if "-1" in loss.domain.words else y
        u = loss.subgradients(np.array([theta @ h]), y)[0] * h
        longest = max(longest, np.abs(u).max())
    assert longest <= L * (1 + 1e-12)
    assert longest >= 0.5 * L  # and it is no larger than it has to be


REFUSED = [
    ({"proxy": PowerDivergence(), "domain": Octahedron()}, "PowerDivergence .* use Simplex"),
    ({"proxy": PowerDivergence(), "domain": SolidSimplex()}, "PowerDivergence .* use Simplex"),
    ({"proxy": PNorm(), "schedule": ExponentiatedGradient()}, "goes with Entropy only"),
    ({"proxy": PNorm(), "schedule": SecondOrder()}, "goes with Entropy only"),
    ({"proxy": "p_norm:3"}, "p must be above 1 and at most 2, got 3"),
    ({"proxy": "power_divergence:2"}, "s must be above 0 and at most 1, got 2"),
    ({"loss": losses.CVaR(losses.Squared(), 0.5)}, "couples rows"),
    ({"domain": "cube"}, "domain 'cube' is not known"),
    ({"domain": "simplex:0"}, "radius must be positive, got 0"),
    ({"schedule": "known_horizon:0"}, "rows must be at least 1, got 0"),
    ({"schedule": 0.1}, r"try Anytime\(\)"),
    ({"lipschitz": "walking"}, "lipschitz must be 'running'"),
    ({"lipschitz": 2.0, "output_bound": 1.0}, "leave one of them out"),
    ({"output_bound": 1.0}, "label_bound must be given"),
    ({"label_bound": 1.0}, "label_bound needs output_bound"),
]


@pytest.mark.parametrize(("options", "sentence"), REFUSED)
def test_a_pair_that_makes_no_sense_is_refused_at_once(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        MirrorAverager(**options)


def test_bad_rows_are_refused_and_change_nothing():
    H, y = stream()
    averager = MirrorAverager().partial_fit(H, y)
    before = averager.weights_
    for forecasts, target, weight, sentence in (
        (np.where(np.arange(7) == 3, np.inf, H), y, None, "got inf at row 0"),
        (np.full_like(H, np.nan), y, None, "no number at row 0"),
        (H[:, :3], y, None, "the 7 experts of earlier rows, got 3"),
        (H[:10], y, None, "got 10 rows for 60"),
        (H[0], y, None, r"shape \(n, M\)"),
        (H, np.where(np.arange(60) == 7, np.nan, y), None, "got nan at row 7"),
        (H, y, np.full(60, -1.0), "must not be negative"),
        (H, y, np.full(60, 1e9), "must be at most 1e"),
    ):
        with pytest.raises(ValueError, match=sentence):
            averager.partial_fit(forecasts, target, weight)
        np.testing.assert_array_equal(averager.weights_, before)

    def fails_at_three(f, target):
        return np.where(target == 3.0, np.nan, f - target)

    own = losses.pointwise(lambda f, t: (f - t) ** 2 / 2, fails_at_three)
    averager = MirrorAverager(own).partial_fit(H, y)
    before = averager.weights_
    with pytest.raises(ValueError, match="NaN"):
        averager.partial_fit(H, np.where(np.arange(60) == 30, 3.0, y))
    np.testing.assert_array_equal(averager.weights_, before)


def test_names_stand_for_objects():
    averager = MirrorAverager("quantile:0.9", "p_norm:1.5", "octahedron:3", "known_horizon:50")
    assert (averager.proxy, averager.domain, averager.schedule) == (
        PNorm(1.5),
        Octahedron(3),
        KnownHorizon(50),
    )
    assert averager.loss == losses.Quantile(0.9)
    assert ab.mirror.MirrorAverager is MirrorAverager
