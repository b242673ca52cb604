"""A loss is defined once: the batch pass, streams, averaging and curvature cannot disagree, on any processor."""

import hashlib
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np
import pytest

import anyboost as ab
from anyboost import losses
from anyboost.backends import definitions
from anyboost.losses import RowwiseLoss, domains, links
from anyboost.mirror import slopes
from anyboost.online import SpanBooster
from anyboost.space import Space

# Each loss with targets that it takes
REAL, SIGNS, COUNTS, AMOUNTS = [-1.5, 0.25, 3.0], [-1.0, 1.0], [0.0, 1.0, 5.0], [0.125, 1.0, 7.0]
SCALAR = {
    losses.Squared(): REAL,
    losses.Absolute(): REAL,
    losses.Quantile(0.9): REAL,
    losses.Huber(0.75): REAL,
    losses.Expectile(0.8): REAL,
    losses.Logistic(): SIGNS,
    losses.Hinge(): SIGNS,
    losses.SquaredHinge(): SIGNS,
    losses.Exponential(): SIGNS,
    losses.Poisson(): COUNTS,
    losses.Gamma(): AMOUNTS,
    losses.Tweedie(1.3): COUNTS,
}
VECTOR = [losses.Softmax(), losses.MulticlassHinge(), losses.MultiQuantile([0.1, 0.5, 0.9])]
CURVED = [loss for loss in SCALAR if loss.has_curvature]
FLAT = {"absolute", "quantile", "hinge", "multiclass_hinge", "multi_quantile"}


def points(loss, n=200, reach=4.0):
    """Scores, and targets in turn."""
    random = np.random.default_rng(3)
    return random.uniform(-reach, reach, n), np.resize(SCALAR[loss], n)


def vectors(loss, n=60):
    random = np.random.default_rng(4)
    f = random.normal(scale=3.0, size=(n, 3))
    return f, random.integers(0, 3, n) if loss.domain.classes else random.normal(size=n)


def test_every_loss_of_the_list_is_here():
    defined = {loss.name for loss in losses.LISTED if getattr(loss, "row", None) is not None}
    assert defined == {loss.name for loss in [*SCALAR, *VECTOR]}


def test_numbers_stay_those_of_older_files():
    stored = "squared absolute quantile huber expectile logistic hinge squared_hinge exponential poisson gamma tweedie"
    for number, name in enumerate([*stored.split(), "softmax", "multiclass_hinge", "multi_quantile:.1,.9"]):
        assert losses.get(name).number == number
    assert definitions.ROWS[definitions.OTHER] is None


@pytest.mark.parametrize("loss", SCALAR, ids=str)
def test_batch_streams_and_averaging_agree_to_the_bit(loss):
    from anyboost.losses import numbered

    f, y = points(loss)
    value, slope = losses.get(loss).on(y, Space(f[:, None])).at(f)
    values = [numbered.value(loss.number, loss.parameter, *pair) for pair in zip(f, y, strict=True)]
    online = [numbered.slope(loss.number, loss.parameter, *pair) for pair in zip(f, y, strict=True)]
    terms = slopes.terms(loss)
    mirror = [numbered.slope_of_sum(terms, *pair) for pair in zip(f, y, strict=True)]
    assert value == pytest.approx(np.mean(values), rel=1e-14)
    np.testing.assert_array_equal(loss.values(f, y), values)
    np.testing.assert_array_equal(loss.subgradients(f, y), slope)
    np.testing.assert_array_equal(slope, online)
    np.testing.assert_array_equal(slope, mirror)


@pytest.mark.parametrize("loss", VECTOR, ids=str)
def test_losses_of_several_scores_agree_to_the_bit(loss):
    from anyboost.losses import numbered

    f, y = vectors(loss)
    _, slope = loss.on(y, Space(f), outputs=3).at(f)
    values, online, mirror = loss.values(f, y), np.empty(3), np.empty(3)
    terms = slopes.terms(loss)
    for i in range(len(f)):
        found = numbered.value_and_slopes(
            loss.number, np.atleast_1d(loss.parameter), f[i], float(y[i]), online
        )
        assert found == values[i]
        np.testing.assert_array_equal(online, slope[i])
        if terms is not None:
            numbered.slopes_of_sum(terms, f[i], float(y[i]), mirror)
            np.testing.assert_array_equal(mirror, slope[i])


@pytest.mark.parametrize("loss", [*SCALAR, *VECTOR], ids=str)
def test_the_slope_is_the_derivative_of_the_value(loss):
    f, y = vectors(loss) if loss.vector else points(loss)
    h = 1e-6
    for axis in np.eye(3) if loss.vector else [1.0]:
        numeric = (loss.values(f + h * axis, y) - loss.values(f - h * axis, y)) / (2 * h)
        slope = loss.subgradients(f, y) @ axis if loss.vector else loss.subgradients(f, y)
        np.testing.assert_allclose(numeric, slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", CURVED, ids=str)
def test_curvature_is_the_second_derivative_or_above_it(loss):
    f, y = points(loss)
    h = 1e-5
    numeric = (loss.subgradients(f + h, y) - loss.subgradients(f - h, y)) / (2 * h)
    curvature = loss.curvatures(f, y)
    assert (curvature > 0).all()
    above = np.zeros(len(f), dtype=bool)
    if loss.name in ("huber", "squared_hinge"):
        above = numeric < 0.5 * curvature
    np.testing.assert_allclose(curvature[~above], numeric[~above], rtol=1e-4)
    assert (curvature[above] >= numeric[above]).all()


@pytest.mark.parametrize("loss", [losses.Huber(0.75), losses.SquaredHinge()], ids=str)
def test_a_parabola_of_that_curvature_stays_above_the_loss(loss):
    """So a step of the parabola's never makes the loss worse; with a hundredth less of it some would."""
    f, y = points(loss, 20)
    value, slope, curvature = loss.values(f, y), loss.subgradients(f, y), loss.curvatures(f, y)
    apart = np.linspace(-3000, 3000, 60001)[:, None]
    loss_there = loss.values((f + apart).ravel(), np.tile(y, len(apart))).reshape(len(apart), -1)
    room = value + slope * apart + 0.5 * curvature * apart**2 - loss_there
    assert room.min() > -1e-6  # of numbers of some millions
    assert (room - 0.005 * curvature * apart**2).min(axis=0).max() < 0


@pytest.mark.parametrize("loss", [*SCALAR, *VECTOR], ids=str)
def test_who_has_curvature_says_so(loss):
    f, y = vectors(loss) if loss.vector else points(loss)
    on_sample = loss.on(y, Space(f.reshape(len(f), -1)), outputs=3 if loss.vector else None).curvature(f)
    assert loss.has_curvature == (loss.name not in FLAT)
    if loss.has_curvature:
        np.testing.assert_array_equal(on_sample, loss.curvatures(f, y))
    else:
        assert on_sample is None
        with pytest.raises(TypeError, match="no curvature"):
            loss.curvatures(f, y)


def test_softmax_curvature_is_above_the_hessian_also_where_a_row_is_certain():
    f, y = vectors(losses.Softmax())
    p = losses.Softmax().probabilities(f)
    curvature = losses.Softmax().curvatures(f, y)
    np.testing.assert_allclose(curvature, 2 * p * (1 - p), rtol=1e-10)
    for row, diagonal in zip(p, curvature, strict=True):
        assert np.linalg.eigvalsh(np.diag(diagonal) - np.diag(row) + np.outer(row, row)).min() > -1e-12
    certain = losses.Softmax().curvatures(np.array([[80.0, 0.0]]), np.array([0]))
    np.testing.assert_allclose(certain, [[2 * math.exp(-80), 2 * math.exp(-80)]], rtol=1e-12)


def hessian(functional, f, h=1e-5):
    """Of R in the scores, from its gradients: dR/df_n is the weight of n times its gradient."""
    weights = functional.space.weights
    slopes = [
        functional.subgradient(f + h * axis) - functional.subgradient(f - h * axis) for axis in np.eye(len(f))
    ]
    return np.array(slopes) / (2 * h) * weights


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 13.0)], ids=["equal", "weights"])
@pytest.mark.parametrize("name", ["cox", "rank_logistic"])
def test_curvature_of_coupled_rows_is_above_the_hessian(name, weights):
    random = np.random.default_rng(5)
    f = random.normal(size=12)
    y = (
        random.integers(1, 9, 12) * random.choice([1.0, 1.0, -1.0], 12)
        if name == "cox"
        else random.integers(0, 3, 12)
    )
    groups = None if name == "cox" else np.arange(12) // 6
    loss = losses.get(name)
    functional = loss.on(y, Space(f[:, None], weights), groups)
    curvature = functional.curvature(f)
    assert loss.has_curvature
    matrix = hessian(functional, f)
    above = np.diag(functional.space.weights * curvature) - matrix
    assert np.linalg.eigvalsh((above + above.T) / 2).min() > -1e-9
    if name == "cox":
        np.testing.assert_allclose(curvature, functional.subgradient(f) + (y > 0), rtol=1e-12)
    else:
        np.testing.assert_allclose(
            functional.space.weights * curvature, 2 * np.diag(matrix), rtol=1e-5, atol=1e-9
        )


def test_sums_and_columns_bend_as_their_parts_do():
    f, y = points(losses.Squared())
    mixed = 2.0 * losses.Squared() + losses.Huber(0.75)
    np.testing.assert_allclose(mixed.curvatures(f, y), 2.0 + losses.Huber(0.75).curvatures(f, y))
    assert not (losses.Squared() + losses.Absolute()).has_curvature
    table, targets = f.reshape(-1, 2), y.reshape(-1, 2)
    several = losses.Multioutput("huber:0.75")
    np.testing.assert_array_equal(
        several.curvatures(table, targets).ravel(), losses.Huber(0.75).curvatures(f, y)
    )
    coupled = losses.RankLogistic() + 3.0 * losses.Squared()
    grades = np.arange(len(f)) % 3
    parts = [
        loss.on(grades, Space(f[:, None])).curvature(f) for loss in (losses.RankLogistic(), losses.Squared())
    ]
    np.testing.assert_allclose(coupled.on(grades, Space(f[:, None])).curvature(f), parts[0] + 3.0 * parts[1])
    for flat in (losses.RankHinge(), losses.CVaR("squared"), losses.RankLogistic() + losses.RankHinge()):
        assert not flat.has_curvature
        assert flat.on(grades.astype(float), Space(f[:, None])).curvature(f) is None


@pytest.mark.parametrize(
    ("loss", "b", "L"),
    [
        *[("squared", b, b + 2) for b in (0.5, 3)],
        *[("logistic", b, 1 / (1 + math.exp(-b))) for b in (0.5, 3)],
        *[("exponential", b, math.exp(b)) for b in (0.5, 3)],
        *[("poisson", b, max(math.exp(b), 2)) for b in (0.5, 3)],
        ("absolute", 1, 1),
        ("quantile:0.9", 1, 0.9),
        ("huber:0.5", 1, 0.5),
        ("hinge", 1, 1),
        ("squared_hinge", 3, 4),
        ("expectile:0.9", 3, 1.8 * 5),
    ],
)
def test_constants_in_a_ball_are_those_of_the_table(loss, b, L):
    """beta_b, L_b and eps_b, from the definition: labels lie in [-2, 2] or in the loss's domain within that."""
    found = losses.get(loss)
    domain = {domains.SIGNS: SIGNS, domains.NONNEGATIVE: [0.0, 2.0]}.get(found.domain, [-2.0, 0.0, 2.0])
    f = np.linspace(-b, b, 4001)
    y = np.repeat(domain, len(f))
    f = np.tile(f, len(domain))
    slope = found.subgradients(f, y)
    assert found.steepest(b, 2.0) == pytest.approx(L)
    assert np.abs(slope).max() <= L * (1 + 1e-12)
    ends = np.abs(f) == b
    assert found.shortfall(b, 2.0) == pytest.approx(max(0.0, (-slope * np.sign(f))[ends].max()), abs=1e-12)
    if found.has_curvature:
        assert found.curvatures(f, y).max() <= found.smoothness_within(b) * (1 + 1e-12)


# A loss of one's own, as a user or a new file of the library would write it: nothing else is touched.


def bend(f, y):
    """A helper beside the definition."""
    return math.sqrt(1.0 + (f - y) * (f - y))


@dataclass(frozen=True)
class PseudoHuber(RowwiseLoss):
    """scale (sqrt(1 + (f - y)^2) - 1)."""

    scale: float = 2.0
    link_ = links.IDENTITY
    infimum = 0.0

    @property
    def smoothness(self):
        return self.scale

    @staticmethod
    def row(f, y, scale):
        root = bend(f, y)
        return scale * (root - 1.0), scale * (f - y) / root, scale / (root * root * root)


def test_a_new_loss_is_one_class():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = X[:, 0] + 0.1 * random.normal(size=300)
    loss = PseudoHuber(3.0)
    same = losses.pointwise(
        lambda f, y: 3.0 * (math.sqrt(1.0 + (f - y) * (f - y)) - 1.0),
        lambda f, y: 3.0 * (f - y) / math.sqrt(1.0 + (f - y) * (f - y)),
        lambda f, y: 3.0 / math.sqrt(1.0 + (f - y) * (f - y)) ** 3,
        smoothness=3.0,
        infimum=0.0,
    )
    f = random.normal(size=300)
    for name in ("values", "subgradients", "curvatures"):
        np.testing.assert_allclose(getattr(loss, name)(f, y), getattr(same, name)(f, y), rtol=1e-14)
    for learner in (ab.weak.Stump(), ab.weak.Tree(8, leaf="exact")):
        ours, users = (ab.boost(X, y, own, learner, rounds=5) for own in (loss, same))
        np.testing.assert_allclose(ours.ensemble.predict(X), users.ensemble.predict(X), rtol=1e-10)
        assert ours.steps[-1].loss < 0.5 * ours.start_loss
    assert loss.number == definitions.OTHER
    assert len(SpanBooster(loss=loss).progressive_predict(X[:40], y[:40])) == 40
    assert ab.mirror.MirrorAverager(loss).partial_fit(X[:40], y[:40]).weights_.sum() == pytest.approx(1.0)


def test_a_loss_that_says_what_its_values_are_is_not_computed_by_another_definition():
    class Doubled(losses.Squared):
        def values(self, scores, y):
            return (scores - y) ** 2

        def subgradients(self, scores, y):
            return 2.0 * (scores - y)

    f, y = np.array([1.0, 2.0]), np.zeros(2)
    value, slope = Doubled().on(y, Space(f[:, None])).at(f)
    assert (value, slope.tolist()) == (2.5, [2.0, 4.0])
    assert Doubled().number == definitions.OTHER
    assert Doubled().on(y, Space(f[:, None])).curvature(f) is None  # that of Squared would not be its own


def test_a_loss_without_a_definition_is_told_so():
    class Nothing(RowwiseLoss):
        def values(self, scores, y):
            return np.zeros(len(y))

    with pytest.raises(TypeError, match="the loss nothing is not defined: give its class `row`"):
        Nothing().subgradients(np.zeros(2), np.zeros(2))


def test_exp_and_log_of_numbers_have_the_bits_of_compiled_ones():
    from anyboost.losses import elementary

    random = np.random.default_rng(6)
    x = np.concatenate(
        [random.uniform(-745, 709, 300), random.normal(size=300), [0.0, -800.0, 800.0, -1e9, 1e300]]
    )
    np.testing.assert_array_equal(elementary.exp_each(x), [elementary.exp_of(float(one)) for one in x])
    x = np.abs(x[x != 0]) * 10.0 ** random.uniform(-300, 300, len(x) - 1)
    np.testing.assert_array_equal(elementary.log_each(x), [elementary.log_of(float(one)) for one in x])
    sums = elementary.accumulated_logs(np.array([-np.inf, 1.0, -np.inf, 700.0, 700.0]))
    np.testing.assert_allclose(
        sums, np.logaddexp.accumulate([-np.inf, 1.0, -np.inf, 700.0, 700.0]), rtol=1e-15
    )


def test_logistic_is_right_to_the_last_places():
    f = np.concatenate([np.linspace(-700, 700, 57), np.linspace(-3, 3, 60)])
    values, slope = losses.Logistic().both(f, np.ones(len(f)))
    with mpmath.workprec(2500):
        exact = [
            (mpmath.log1p(mpmath.exp(-x)), -1 / (1 + mpmath.exp(x))) for x in map(mpmath.mpf, f.tolist())
        ]
    np.testing.assert_allclose(values, [float(value) for value, _ in exact], rtol=1e-15)
    np.testing.assert_allclose(slope, [float(slope) for _, slope in exact], rtol=1e-15)


def digest():
    """All that losses compute, links and best constants too."""
    found = []
    for loss in [*SCALAR, *VECTOR]:
        f, y = vectors(loss) if loss.vector else points(loss)
        found += [*loss.both(f, y), np.atleast_1d(loss.best_constant(y)), loss.link(f)]
        found += [loss.curvatures(f, y)] if loss.has_curvature else []
        found += [loss.probabilities(f)] if loss.link_.probabilities else []
        found += [] if loss.vector else [loss.best_shifts(f, y, np.ones(len(f)), np.arange(len(f)) % 7, 7)]
    f = points(losses.Squared())[0]
    for loss, y in ((losses.Cox(), f), (losses.RankLogistic(), np.arange(len(f)) % 4)):
        functional = loss.on(y, Space(f[:, None]))
        found += [np.array([functional.value(f)]), functional.subgradient(f), functional.curvature(f)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in found)).hexdigest()


@pytest.mark.parametrize(
    "setting",
    [{"NUMBA_CPU_NAME": "generic"}, {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"}],
    ids=str,
)
def test_the_same_bytes_on_another_processor(setting):
    command = "from losses.test_one_definition import digest; print(digest())"
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", command],
        env={**os.environ, **setting, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest()
