"""Losses that couple rows or outputs: against brute force, and as convex functionals of L2(P)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost import losses
from anyboost.losses import risk
from anyboost.space import Space
from reference import coupled, mean_loss, resolve

N_GROUPS = 3


def draw(seed, n, ties, weighted):
    random = np.random.default_rng(seed)
    y = random.integers(0, 4, n).astype(float)
    y[:2] = [0, 1]
    groups = random.integers(0, N_GROUPS, n)
    groups[:2] = 0
    f = random.integers(-2, 3, n) / 2.0 if ties else random.normal(size=n) * 1.5
    weights = random.integers(1, 4, n).astype(float) if weighted else None
    return random, f, y, groups, weights


def space_of(y, weights):
    return Space(np.zeros((len(y), 1)), weights)


cases = given(seed=st.integers(0, 10**6), n=st.integers(2, 25), ties=st.booleans(), weighted=st.booleans())
quick = settings(deadline=None, max_examples=60)


@pytest.mark.parametrize("kind", ["hinge", "logistic"])
@quick
@cases
def test_ranking_equals_all_pairs(kind, seed, n, ties, weighted):
    _, f, y, groups, weights = draw(seed, n, ties, weighted)
    labels = np.array(["b", "c", "a"])[groups]
    loss = losses.RankHinge() if kind == "hinge" else losses.RankLogistic()
    functional = loss.on(y, space_of(y, weights), labels)
    value, gradient = coupled.rank(f, y, weights, groups, kind)
    assert functional.value(f) == pytest.approx(value, abs=1e-12)
    np.testing.assert_allclose(functional.subgradient(f), gradient, atol=1e-10)
    assert functional.best_constant() == 0


@quick
@cases
def test_multi_quantile_equals_its_terms(seed, n, ties, weighted):
    random, _, y, _, weights = draw(seed, n, ties, weighted)
    taus = (0.1, 0.5, 0.8)
    f = random.integers(0, 4, (n, 3)).astype(float) if ties else random.normal(size=(n, 3))
    functional = losses.MultiQuantile(taus).on(y, space_of(y, weights))
    value, gradient = coupled.multi_quantile(f, y, weights, taus)
    assert functional.outputs == 3
    assert functional.value(f) == pytest.approx(value)
    np.testing.assert_allclose(functional.subgradient(f), gradient)
    for k, tau in enumerate(taus):
        assert functional.best_constant()[k] == losses.Quantile(tau).best_constant(y, weights)


@quick
@given(seed=st.integers(0, 10**6), margin=st.sampled_from([0.0, 0.5]))
def test_crossing_penalty(seed, margin):
    f = np.random.default_rng(seed).integers(-2, 3, (7, 4)) / 2.0
    values, gradients = coupled.crossing(f, margin)
    loss = losses.Crossing(margin)
    np.testing.assert_allclose(loss.values(f, np.zeros(7)), values)
    np.testing.assert_allclose(loss.subgradients(f, np.zeros(7)), gradients)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.75, 0.99])
@pytest.mark.parametrize("base", ["absolute", "squared"])
@quick
@cases
def test_cvar_equals_filling_the_tail(base, alpha, seed, n, ties, weighted):
    _, f, y, _, weights = draw(seed, n, ties, weighted)
    functional = losses.CVaR(base, alpha).on(y, space_of(y, weights))
    value_row, _ = resolve(base)
    rows = [value_row(a, b) for a, b in zip(f, y, strict=True)]
    assert functional.value(f) == pytest.approx(coupled.cvar_value(rows, weights, alpha), abs=1e-12)
    factors = functional.factors(np.array(rows))
    assert np.sum(functional.space.weights * factors) == pytest.approx(1.0)
    assert factors.min() >= 0
    assert factors.max() <= 1 / (1 - alpha) + 1e-12
    for tied in np.unique(rows):
        assert np.ptp(factors[np.array(rows) == tied]) == 0  # rows that tie share


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.75, 0.99])
@quick
@cases
def test_the_tail_counted_is_the_tail_sorted(alpha, seed, n, ties, weighted):
    """Of many rows only sums are taken: who counts on a cluster has the bits of who sorts in one place."""
    random, f, y, _, weights = draw(seed, n, ties, weighted)
    loss, space = losses.CVaR("absolute", alpha), space_of(y, weights)
    far = random.choice([0.0, -0.0, 1e300, np.inf], n)
    rows = np.where(random.random(n) < 0.7, np.abs(f - y), far)
    found = loss.on(y, space).factors(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(risk, "FEW", 0)
        np.testing.assert_array_equal(loss.on(y, space).factors(rows), found)


@quick
@cases
def test_worst_group_equals_the_largest_mean(seed, n, ties, weighted):
    _, f, y, groups, weights = draw(seed, n, ties, weighted)
    functional = losses.WorstGroup("absolute").on(y, space_of(y, weights), groups)
    assert functional.value(f) == pytest.approx(coupled.worst_group_value("absolute", f, y, weights, groups))
    means = [
        mean_loss(
            "absolute", f[groups == g], y[groups == g], None if weights is None else weights[groups == g]
        )
        for g in np.unique(groups)
    ]
    np.testing.assert_allclose(functional.means(losses.Absolute().values(f, y)), means)


@quick
@cases
def test_cox_equals_loops_over_risk_sets(seed, n, ties, weighted):
    random, f, _, _, weights = draw(seed, n, ties, weighted)
    times = random.integers(1, 6, n) if ties else random.exponential(size=n) + 0.01
    y = times * np.where(np.append(True, random.random(n - 1) < 0.6), 1, -1)
    functional = losses.Cox().on(y, space_of(y, weights))
    value, gradient = coupled.cox(f, y, weights)
    assert functional.value(f) == pytest.approx(value, abs=1e-12)
    np.testing.assert_allclose(functional.subgradient(f), gradient, atol=1e-10)
    assert functional.value(f + 800) == pytest.approx(value, abs=1e-9)  # far scores do not overflow


FUNCTIONALS = {
    "rank_hinge": lambda y, space, groups: losses.RankHinge().on(y, space, groups),
    "rank_logistic": lambda y, space, groups: losses.RankLogistic().on(y, space, groups),
    "multi_quantile + crossing": lambda y, space, groups: (
        losses.MultiQuantile([0.2, 0.5, 0.9]) + 0.7 * losses.Crossing(0.1)
    ).on(y, space),
    "cvar of absolute": lambda y, space, groups: losses.CVaR("absolute", 0.6).on(y, space),
    "cvar of multiclass hinge": lambda y, space, groups: losses.CVaR("multiclass_hinge", 0.6).on(y, space),
    "worst group of huber": lambda y, space, groups: losses.WorstGroup("huber").on(y, space, groups),
    "cox": lambda y, space, groups: losses.Cox().on(y + 1, space),
    "sum": lambda y, space, groups: (
        losses.WorstGroup("squared") + 2.0 * losses.CVaR("absolute", 0.5) + losses.Squared()
    ).on(y, space, groups),
}


@pytest.mark.parametrize("name", FUNCTIONALS)
@quick
@cases
def test_convex_with_subgradients_of_the_weighted_space(name, seed, n, ties, weighted):
    random, _, y, groups, weights = draw(seed, n, ties, weighted)
    y[:4] = np.arange(4)[: len(y)]
    space = space_of(y, weights)
    R = FUNCTIONALS[name](y, space, groups)
    shape = (n,) if R.outputs == 1 else (n, R.outputs)
    f, g = random.normal(size=(2, *shape)) * 2
    if ties:
        f, g = np.round(f), np.round(g)
    assert R.value(g) >= R.value(f) + space.inner(R.subgradient(f), g - f) - 1e-9
    assert R.value((f + g) / 2) <= (R.value(f) + R.value(g)) / 2 + 1e-9


@pytest.mark.parametrize("name", FUNCTIONALS)
@quick
@cases
def test_weight_is_multiplicity_and_order_does_not_matter(name, seed, n, ties, weighted):
    random, _, y, groups, _ = draw(seed, n, ties, weighted)
    y[:4] = np.arange(4)[: len(y)]
    weights = random.integers(1, 4, n)
    one = FUNCTIONALS[name](y, space_of(y, weights.astype(float)), groups)
    many = np.repeat(np.arange(n), weights)
    other = FUNCTIONALS[name](y[many], space_of(y[many], None), groups[many])
    order = random.permutation(n)
    turned = FUNCTIONALS[name](y[order], space_of(y, weights[order].astype(float)), groups[order])
    f = random.normal(size=(n,) if one.outputs == 1 else (n, one.outputs))
    f = np.round(f) if ties else f
    assert other.value(f[many]) == pytest.approx(one.value(f), abs=1e-10)
    assert turned.value(f[order]) == pytest.approx(one.value(f), abs=1e-10)
    np.testing.assert_allclose(other.subgradient(f[many]), one.subgradient(f)[many], atol=1e-9)
    np.testing.assert_allclose(turned.subgradient(f[order]), one.subgradient(f)[order], atol=1e-9)


@pytest.mark.parametrize("name", ["cvar of absolute", "worst group of huber", "sum"])
@quick
@cases
def test_best_constant_and_leaf_steps_of_coupled_losses(name, seed, n, ties, weighted):
    random, f, y, groups, weights = draw(seed, n, ties, weighted)
    R = FUNCTIONALS[name](y, space_of(y, weights), groups)
    best = R.best_constant()
    value = R.value(np.full(n, best))
    for other in random.normal(size=30) * 3:
        assert value <= R.value(np.full(n, other)) + 1e-9
    leaf = random.integers(0, 2, n)
    shifts = R.best_shifts(f, leaf, 2)
    first = f + shifts[0] * (leaf == 0)
    both = first + shifts[1] * (leaf == 1)
    for other in random.normal(size=20):
        assert R.value(first) <= R.value(f + other * (leaf == 0)) + 1e-9
        assert R.value(both) <= R.value(first + other * (leaf == 1)) + 1e-9


def test_sorted_predictions_never_cross():
    scores = np.random.default_rng(0).normal(size=(50, 3))
    assert np.all(np.diff(losses.MultiQuantile([0.1, 0.5, 0.9]).link(scores), axis=1) >= 0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: losses.MultiQuantile([0.5]), "taus must be two or more increasing levels"),
        (lambda: losses.MultiQuantile([0.9, 0.1]), "taus must be two or more increasing levels"),
        (lambda: losses.MultiQuantile([0.0, 0.5]), "taus must be strictly between 0 and 1"),
        (lambda: losses.Crossing(-1), "margin must not be negative"),
        (lambda: losses.CVaR("absolute", 1.0), "alpha must be at least 0 and below 1"),
        (lambda: losses.CVaR(losses.RankHinge()), "loss must be a row-wise loss"),
        (lambda: losses.MultiQuantile([0.1, 0.9]) + losses.Absolute(), "cannot be added"),
        (
            lambda: losses.RankHinge().on([1.0, 1.0], space_of([1, 1], None)),
            "y has no two rows of different grade",
        ),
        (lambda: losses.RankHinge().on([0, 1], space_of([0, 1], None), [0, 1]), "y has no two rows"),
        (lambda: losses.WorstGroup("absolute").on([0, 1], space_of([0, 1], None)), "groups must be given"),
        (lambda: losses.Cox().on([-1.0, -2.0], space_of([0, 1], None)), "y has no event"),
        (lambda: losses.Cox().on([1.0, 0.0], space_of([0, 1], None)), "y must be .*time.* row 1"),
        (lambda: losses.Cox().on([1.0], space_of([0], None), [1]), "does not use groups"),
        (lambda: losses.Crossing().on([1.0], space_of([0], None)), "has no outputs of its own"),
    ],
)
def test_bad_parameters_and_targets(make, words):
    with pytest.raises(ValueError, match=words):
        make()
