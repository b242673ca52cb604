"""Monotone trees: brute force on grids, over losses, leaf steps, samplings and descents."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
from anyboost.space import Space
from anyboost.weak import Stump, Tree

SIGNS = (1, -1, 0)
REAL = ("squared", "absolute", "quantile:0.9", "huber:0.5", "expectile:0.8")
LOSSES = (*REAL, "poisson", "gamma", "logistic", "hinge", "squared_hinge", "exponential", "softmax")
DESCENTS = {
    "naive": ab.descent.Naive(0.5),
    "residual": ab.descent.Residual(0.3),
    "leaky": ab.descent.Residual(0.5, memory=0.7),
    "repeated": ab.descent.Repeated(0.5, projections=3),
    "search": ab.descent.Residual(ab.steps.LineSearch(1.0)),
    "shrinking": ab.descent.Shrinking(0.5),
    "hull": ab.descent.Hull(3.0),
}


def sample(seed, loss, n=120, missing=False):
    """A target that breaks every order it is asked to keep."""
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n, 3)), 1)
    y = np.sin(3 * X[:, 0]) - X[:, 0] + X[:, 1] * X[:, 2] + random.standard_cauchy(n) / 3
    if missing:
        X[random.random(X.shape) < 0.2] = np.nan
    if loss in ("logistic", "hinge", "squared_hinge", "exponential"):
        y = np.where(y > 0, 1.0, -1.0)
    elif loss == "softmax":
        y = np.digitize(y, [-1, 1]).astype(float)
    elif loss in ("poisson", "gamma"):
        y = np.exp(np.clip(y, -2, 2))
    return X, y


def violations(model, X, signs):
    """Pairs of neighbors on a line through a row, along each ordered column, that are out of order."""
    found = 0
    for j, sign in enumerate(signs):
        if sign:
            grid = np.unique(np.append(X[:, j][~np.isnan(X[:, j])], [-99.0, 99.0, -np.inf, np.inf]))
            rows = np.repeat(X[:25], len(grid), axis=0)
            rows[:, j] = np.tile(grid, 25)
            scores = model.predict(rows).reshape(25, len(grid), -1)
            found += np.count_nonzero(sign * np.diff(scores, axis=1) < 0)
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("leaf", ["mean", "exact"])
def test_no_pair_is_out_of_order(loss, leaf):
    for seed, (row_fraction, l2) in enumerate(itertools.product((1.0, 0.4), (0.0, 3.0))):
        X, y = sample(seed, loss, missing=seed % 2 == 1)
        for growth, descent in (("leaf", "residual"), ("depth", "leaky")):
            tree = Tree(8, leaf=leaf, growth=growth, l2=l2, monotone=SIGNS)
            run = ab.boost(
                X, y, loss, tree, DESCENTS[descent], 6, row_fraction=row_fraction, random_state=seed
            )
            assert violations(run.ensemble, X, SIGNS) == 0
    assert loss not in REAL or run.steps[-1].loss < run.start_loss


@pytest.mark.parametrize("descent", DESCENTS)
@pytest.mark.parametrize("leaf", ["mean", "exact"])
def test_no_descent_turns_a_tree_over(descent, leaf):
    for loss, leaves, outputs in (
        ("absolute", 2, "joint"),
        ("squared", 9, "joint"),
        ("softmax", 6, "joint"),
        ("softmax", 6, "each"),
    ):
        X, y = sample(leaves, loss, missing=True)
        tree = Tree(leaves, leaf=leaf, monotone=SIGNS, outputs=outputs)
        run = ab.boost(X, y, loss, tree, DESCENTS[descent], 6, row_fraction=0.7, random_state=1)
        assert violations(run.ensemble, X, SIGNS) == 0
        assert violations(run.ensemble.averaged(), X, SIGNS) == 0


def test_the_target_is_one_that_breaks_the_order():
    X, y = sample(0, "absolute")
    free = ab.boost(X, y, "absolute", Tree(8), DESCENTS["residual"], 6)
    assert violations(free.ensemble, X, SIGNS) > 0


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 2), st.booleans(), st.booleans())
def test_monotone_stumps_are_the_best_of_all(seed, n, outputs, missing, ties):
    """Against every cut with every pair of signs, or means, that keeps the order."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 6, (n, 2)).astype(float)
    if missing:
        X[random.random(X.shape) < 0.2] = np.nan
    D = random.choice([-1.0, 0.0, 1.0], (n, outputs)) if ties else random.normal(size=(n, outputs))
    D = D[:, 0] if outputs == 1 else D
    T = D.reshape(n, outputs)
    tree, space = Tree(2, monotone=(1, -1)), Space(X)
    reach, fit = np.abs(T.sum(axis=0)).sum(), (T.sum(axis=0) ** 2).sum() / n
    for j, sign in ((0, -1), (1, 1)):  # of h, which is subtracted
        values = np.unique(X[~np.isnan(X[:, j]), j])
        for t, lost in itertools.product([*values[:-1], np.inf], (False, True)):
            left = (X[:, j] <= t) | (lost & np.isnan(X[:, j]))
            if left.all() or not left.any():
                continue
            means, sums = (
                [T[s].mean(axis=0) for s in (left, ~left)],
                [T[s].sum(axis=0) for s in (left, ~left)],
            )
            ordered = t == np.inf or (sign * (means[1] - means[0]) >= 0).all()
            fit = max(fit, sum((s * m).sum() for s, m in zip(sums, means, strict=True)) if ordered else 0.0)
            pairs = [(1, 1), (-1, -1), *([(1, -1), (-1, 1)] if t == np.inf else [(-sign, sign)])]
            reach = max(
                reach,
                sum(max(a * p + b * q for a, b in pairs) for p, q in zip(*sums, strict=True))
                if outputs == 1
                else 0.0,
            )
    found = tree.project(space, D)
    assert space.inner(found.values, D) * n == pytest.approx(fit, abs=1e-9)
    if outputs == 1:
        support = tree.support(space, D)
        assert support.lower * n == pytest.approx(reach, abs=1e-9)
        assert reach <= support.upper * n + 1e-12 <= reach * (1 + 1e-8) + 1e-7
        atom = tree.extreme(space, D)
        assert space.inner(atom.values, D) * n == pytest.approx(reach, abs=1e-9)


def test_a_floor_of_monotone_stumps_is_under_every_monotone_sum():
    X, y = sample(3, "absolute")
    run = ab.boost(X, y, "absolute", Tree(2, monotone=SIGNS), ab.descent.Hull(2.0), 150)
    free = ab.boost(X, y, "absolute", Stump(), ab.descent.Hull(2.0), 150)
    assert run.floor(2.0) <= run.steps[-1].loss
    assert run.gap(2.0) < 0.05 * run.start_loss
    assert free.floor(2.0) <= run.floor(2.0) + 1e-12  # a smaller class has a larger floor
    assert run.floor(2.0) > free.steps[-1].loss  # and here it shows that order has its price


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Tree(monotone=(1, 2)), "monotone must have -1, 0 or 1 for each column, got"),
        (lambda: Tree(monotone=1), "monotone must have -1, 0 or 1 for each column, got 1"),
        (lambda: ab.boost([[1.0]], [1.0], learner=Tree(monotone=(1, 0))), "each of the 1 columns, got 2"),
    ],
)
def test_bad_orders_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
