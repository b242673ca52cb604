"""The oracles themselves: were one of them wrong, every comparison with it would be worth nothing."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

import reference as ref

REGRESSION = ["squared", "absolute", "quantile:0.8", "huber:0.7", "expectile:0.8"]
COUNTS = ["poisson", "gamma", "tweedie:1.3"]
SIGNS = ["logistic", "hinge", "squared_hinge", "exponential"]
VECTORS = ["softmax", "multiclass_hinge"]


def label(rng, loss):
    if loss in VECTORS:
        return float(rng.integers(0, 3))
    if loss in SIGNS:
        return float(rng.choice([-1, 1]))
    return float(rng.exponential() + 0.1) if loss in COUNTS else float(rng.normal())


def sample(seed=0, n=24, d=3, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, d)).astype(float) if ties else rng.normal(size=(n, d))
    y = np.sign(X[:, 0] - X[:, 0].mean()) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y, rng.uniform(0.2, 2.0, n)


def signs(y):
    return np.where(y > 0, 1.0, -1.0)


# Losses


@pytest.mark.parametrize("loss", REGRESSION + COUNTS + SIGNS + VECTORS)
def test_subgradients_are_derivatives_and_support_the_loss(loss):
    value, subgradient = ref.resolve(loss)
    rng = np.random.default_rng(1)
    for _ in range(200):
        y = label(rng, loss)
        f, other = rng.normal(size=(2, 3)) * 1.5 if loss in VECTORS else rng.normal(size=2) * 1.5
        g = np.array(subgradient(f.tolist(), y))
        for k in range(np.size(f)):
            e = 1e-6 * (np.eye(3)[k] if loss in VECTORS else 1.0)
            slope = (value((f + e).tolist(), y) - value((f - e).tolist(), y)) / 2e-6
            assert slope == pytest.approx(g.ravel()[k], abs=1e-4)
        tangent = value(f.tolist(), y) + np.sum(g * (other - f))
        assert value(other.tolist(), y) >= tangent - 1e-12


def test_all_names_are_here():
    assert set(ref.LOSSES) == {name.partition(":")[0] for name in REGRESSION + COUNTS + SIGNS + VECTORS}


def test_values_by_hand():
    def value(loss, f, y):
        return ref.resolve(loss)[0](f, y)

    assert value("squared", 1.0, 4.0) == 4.5
    assert value("quantile:0.9", 1.0, 3.0) == pytest.approx(1.8)
    assert value("quantile:0.9", 3.0, 1.0) == pytest.approx(0.2)
    assert value("quantile", 3.0, 1.0) == value("absolute", 3.0, 1.0) / 2
    assert value("expectile:0.9", 1.0, 3.0) == pytest.approx(3.6)
    assert value("expectile", 1.0, 3.0) == value("squared", 1.0, 3.0)
    assert value("huber:0.5", 0.0, 2.0) == pytest.approx(0.875)
    assert value("poisson", math.log(2), 3.0) == pytest.approx(2 - 3 * math.log(2))
    assert value("gamma", math.log(2), 3.0) == pytest.approx(1.5 + math.log(2))
    assert value("tweedie:1.5", math.log(4), 3.0) == pytest.approx(3 + 4)
    assert value("logistic", 800.0, -1.0) == pytest.approx(800.0)
    assert value("squared_hinge", 0.0, -1.0) == 0.5
    assert value("softmax", [0.0, 0.0], 1) == pytest.approx(math.log(2))
    assert value("multiclass_hinge", [0.5, 0.0, 3.0], 0) == pytest.approx(3.5)
    assert value("multiclass_hinge", [2.0, 0.0, 1.0], 0) == 0.0


def test_kinks():
    def at(loss, f, y):
        return ref.resolve(loss)[1](f, y)

    assert at("absolute", 2.0, 2.0) == 0
    assert at("quantile:0.9", 2.0, 2.0) == 0
    assert at("hinge", 1.0, 1) == 0
    assert at("hinge", -1.0, -1) == 0
    assert at("multiclass_hinge", [0.0, 0.0, 0.0], 0) == [-1, 1, 0]
    assert at("multiclass_hinge", [0.0, 0.0, 0.0], 2) == [1, 0, -1]
    assert at("multiclass_hinge", [1.0, 0.0, 0.0], 0) == [0, 0, 0]
    assert at("multiclass_hinge", [0.0, 0.0, 1.0], 2) == [1, 0, -1]


def test_best_constants_by_hand():
    y, w = [0.0, 1.0, 5.0, 9.0], [1.0, 1.0, 1.0, 1.0]
    assert ref.best_constant("squared", y, [1, 1, 0, 2]) == pytest.approx(19 / 4)
    assert ref.best_constant("absolute", y, w) == pytest.approx(3.0)
    assert ref.best_constant("absolute", y, [1, 1, 0, 1]) == pytest.approx(1.0)
    assert ref.best_constant("absolute", y, [0.1, 0.2, 0.3, 0]) == pytest.approx(3.0)
    assert ref.best_constant("quantile:0.25", y, w) == pytest.approx(0.5)
    assert ref.best_constant("huber:1", [0.0, 10.0]) == pytest.approx(5.0)
    assert ref.best_constant("logistic", [1, 1, 1, -1]) == pytest.approx(math.log(3))
    assert ref.best_constant("hinge", [1, 1, -1]) == pytest.approx(1.0)
    assert ref.best_constant("hinge", [1, -1, -1]) == pytest.approx(-1.0)
    assert ref.best_constant("hinge", [1, -1, 1, -1], [0.1, 0.1, 0.2, 0.2]) == pytest.approx(0.0)
    assert ref.best_constant("hinge", [1, 1]) == pytest.approx(1.0)
    assert ref.best_constant("poisson", [1.0, 4.0]) == pytest.approx(math.log(2.5))
    assert ref.best_constant("gamma", [1.0, 4.0]) == pytest.approx(math.log(2.5))
    assert ref.best_constant("tweedie:1.3", [0.0, 4.0]) == pytest.approx(math.log(2))
    assert ref.best_constant("multiclass_hinge", [0, 1, 2, 2]).tolist() == [0, 0, 0]
    assert ref.best_constant("multiclass_hinge", [0, 1, 2, 2, 2]).tolist() == [0, 0, 1]


@pytest.mark.parametrize("p", [(0.4, 0.35, 0.25), (0.6, 0.3, 0.1), (0.5, 0.5, 0.0)])
def test_multiclass_constant_is_a_linear_program_s(p):
    """Over all constant vectors: min sum_y p_y r_y, r_y >= 1{k != y} + c_k - c_y."""
    A, b = [], []
    for y, k in itertools.product(range(3), range(3)):
        line = np.zeros(6)
        line[k] += 1
        line[y] -= 1
        line[3 + y] = -1
        A.append(line)
        b.append(-float(k != y))
    exact = linprog([0, 0, 0, *p], A_ub=A, b_ub=b, bounds=[(-9, 9)] * 3 + [(0, None)] * 3).fun
    c = ref.best_constant("multiclass_hinge", [0, 1, 2], p)
    assert ref.mean_loss("multiclass_hinge", [c] * 3, [0, 1, 2], p) == pytest.approx(exact)


# Thresholds


def test_thresholds_are_midpoints_of_present_values():
    assert ref.thresholds([3.0, 1.0, 1.0, 2.0]) == [1.5, 2.5]
    assert ref.thresholds([3.0, 1.0, 1.0, 2.0], [1, 1, 1, 0]) == [2.0]
    assert ref.thresholds([3.0, math.nan, 1.0]) == [2.0, math.inf]
    assert ref.thresholds([3.0, math.nan, 1.0], [1, 0, 1]) == [2.0]
    assert ref.thresholds([-math.inf, 0.0, math.inf]) == [-math.inf, 0.0]
    assert ref.thresholds([-1e308, 1.7e308]) == [-1e308]
    above = math.nextafter(1.0, 2.0)
    assert ref.thresholds([1.0, above]) == [1.0]
    assert ref.thresholds([above, math.nextafter(above, 2.0)]) == [above]
    assert ref.thresholds([7.0, 7.0]) == []


def test_many_values_get_weighted_quantile_bins():
    x = np.arange(12.0)
    assert ref.thresholds(x, max_bins=4) == [2.5, 5.5, 8.5]
    assert ref.thresholds(x[:4], max_bins=4) == [0.5, 1.5, 2.5]
    doubled = np.where(x < 6, 2.0, 1.0)  # W = 18, cuts where the weight reaches 4.5, 9, 13.5
    assert ref.thresholds(x, doubled, max_bins=4) == [2.5, 4.5, 7.5]
    twice = np.repeat(x, doubled.astype(int))
    assert ref.thresholds(twice, max_bins=4) == ref.thresholds(x, doubled / 7, max_bins=4)
    for scale in (0.1, 1 / 3, 1 / 7, 1e-5, 3e7):  # the sums round, the bins do not move
        assert ref.thresholds(x, np.full(12, scale), max_bins=4) == [2.5, 5.5, 8.5]
        assert ref.thresholds(x, np.full(12, scale), max_bins=6) == [1.5, 3.5, 5.5, 7.5, 9.5]
    heavy = np.where(x == 0, 100.0, 1.0)
    assert ref.thresholds(x, heavy, max_bins=4) == [0.5]
    assert ref.thresholds(x, np.where(x == 11, 100.0, 1.0), max_bins=4) == []
    third = ref.thresholds(np.append(x, math.nan), max_bins=3)
    assert third == [3.5, 7.5, math.inf]


# Projections


def squared_errors(X, w, D):
    """(error, feature, threshold) of every partition, by fitting each side and measuring the distance."""
    T = D.reshape(len(D), -1)
    for j in range(X.shape[1]):
        values = sorted(set(X[:, j]))
        for a, b in itertools.pairwise(values):
            left = X[:, j] <= a
            fit = np.zeros_like(T)
            for side in (left, ~left):
                fit[side] = np.average(T[side], axis=0, weights=w[side])
            yield float(np.sum(w[:, None] * (T - fit) ** 2)), j, (a + b) / 2


@pytest.mark.parametrize("outputs", [None, 3])
@pytest.mark.parametrize("ties", [False, True])
def test_stump_is_the_nearest_of_all_partitions(ties, outputs):
    for seed in range(10):
        X, _, w = sample(seed, ties=ties)
        D = np.random.default_rng(seed + 50).normal(size=(24,) if outputs is None else (24, outputs))
        found = ref.project_stump(X, w, D)
        error, feature, threshold = min(squared_errors(X, w, D))
        assert (found.feature, found.threshold) == (feature, pytest.approx(threshold))
        T = (D - found.values).reshape(24, -1)
        assert np.sum(w[:, None] * T**2) == pytest.approx(error)
        np.testing.assert_array_equal(found.values, ref.predict_stump(found, X))


def test_ties_go_to_the_lowest_feature_then_the_lowest_threshold():
    x = np.array([0.0, 1.0, 2.0, 3.0])
    D = np.array([1.0, -1.0, 1.0, -1.0])  # cuts after 0 and after 2 are equal
    X = np.column_stack([np.ones(4), x, x])
    for w in (np.ones(4), np.full(4, 0.1), np.full(4, 1 / 3)):
        found = ref.project_stump(X, w, D)
        assert (found.feature, found.threshold) == (1, 0.5)
        assert ref.extreme_stump(X, w, D)[1][:2] == (1, 0.5)
    nearly = D + np.array([0, 0, 0, -1e-12])
    assert ref.project_stump(X, None, nearly).threshold == 0.5
    assert ref.project_stump(X, None, D + np.array([0, 0, 0, -1e-6])).threshold == 2.5


def test_no_split_where_none_gains_and_missing_values_go_right():
    X = np.array([[1.0], [2.0], [math.nan], [math.nan]])
    constant = ref.project_stump(X, None, np.full(4, 0.1))
    assert constant.feature is None
    np.testing.assert_allclose(constant.values, 0.1)
    missing = ref.project_stump(X, None, np.array([1.0, 1.0, 4.0, 4.0]))
    assert (missing.feature, missing.threshold, missing.left, missing.right) == (0, math.inf, 1.0, 4.0)
    grouped = ref.project_stump(X, None, np.array([1.0, 4.0, 4.0, 4.0]))
    assert (grouped.threshold, grouped.right) == (1.5, 4.0)
    assert ref.predict_stump(grouped, [[math.nan], [0.0]]).tolist() == [4.0, 1.0]


def test_zero_weight_is_absence_and_weight_two_is_the_row_twice():
    X, y, _ = sample(3, ties=True)
    w = np.random.default_rng(3).integers(0, 3, 24).astype(float)
    rows = np.repeat(np.arange(24), w.astype(int))
    a, b = ref.project_stump(X, w, y), ref.project_stump(X[rows], None, y[rows])
    assert a[:2] == b[:2]
    np.testing.assert_allclose([a.left, a.right], [b.left, b.right])
    s, t = ref.project_tree(X, w, y, 6), ref.project_tree(X[rows], None, y[rows], 6)
    assert (s.feature, s.left, s.right) == (t.feature, t.left, t.right)
    np.testing.assert_array_equal(s.threshold, t.threshold)


def test_tree_of_two_leaves_is_the_stump_and_of_many_the_data():
    X, y, w = sample(4)
    stump, tree = ref.project_stump(X, w, y), ref.project_tree(X, w, y, 2)
    np.testing.assert_allclose(tree.values, stump.values)
    assert (tree.feature[0], tree.threshold[0]) == stump[:2]
    np.testing.assert_allclose(ref.project_tree(X, w, y, 24).values, y)
    np.testing.assert_allclose(ref.project_tree(X, w, y, 24, max_depth=1).values, stump.values)
    vector = ref.project_tree(X, w, np.column_stack([y, -2 * y]), 7)
    np.testing.assert_allclose(vector.values[:, 1], -2 * vector.values[:, 0])
    np.testing.assert_allclose(vector.values[:, 0], ref.project_tree(X, w, y, 7).values)
    np.testing.assert_array_equal(vector.values, ref.predict_tree(vector, X))


def test_tree_takes_the_best_leaf_first():
    """Each leaf more is the one split, of all leaves and partitions, that lowers the squared error most."""
    X, y, w = sample(5)
    for leaves in range(2, 8):
        before, after = ref.project_tree(X, w, y, leaves - 1), ref.project_tree(X, w, y, leaves)
        best = math.inf
        for leaf in set(before.leaf):
            rows = before.leaf == leaf
            rest = np.sum(w[~rows] * (y - before.values)[~rows] ** 2)
            errors = [e for e, _, _ in squared_errors(X[rows], w[rows], y[rows])]
            best = min([best, *(rest + e for e in errors)])
        assert np.sum(w * (y - after.values) ** 2) == pytest.approx(best)


def test_equal_leaves_are_split_oldest_first_and_thresholds_are_global():
    x = np.arange(8.0)
    D = np.array([0.0, 1.0, 10.0, 11.0, 100.0, 101.0, 110.0, 111.0])
    tree = ref.project_tree(x[:, None], None, D, 3)
    assert (tree.left, tree.right) == ([1, 3, -1, -1, -1], [2, 4, -1, -1, -1])
    assert ref.project_tree(x[:, None], None, D + 1e-11 * (D == 111), 3).left == tree.left
    assert ref.project_tree(x[:, None], None, D + 1e-3 * (D == 111), 3).left == [1, -1, 3, -1, -1]
    X = np.column_stack([[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 1.0, 1.0]])
    gap = ref.project_tree(X, None, np.array([0.0, 9.0, 5.0, 0.0, 9.0]), 3)
    assert all(t % 1 == 0.5 for t in gap.threshold if not math.isnan(t))


@pytest.mark.parametrize("outputs", [None, 2])
def test_no_stump_of_height_one_beats_the_extreme(outputs):
    X, _, w = sample(6, ties=True)
    rng = np.random.default_rng(6)
    G = rng.normal(size=(24,) if outputs is None else (24, outputs))
    value, stump = ref.extreme_stump(X, w, G)
    p = w / w.sum()
    assert np.abs(stump.values).max() <= 1
    assert ref.inner(p, G, stump.values) == pytest.approx(value)
    _, _, left = ref.candidate_splits(X, w)
    k = outputs or 1
    best = max(abs(ref.inner(p, G, np.tile(u, (24, 1)))) for u in itertools.product([-1, 1], repeat=k))
    for side in left:
        for u in itertools.product([-1, 1], repeat=2 * k):
            best = max(best, ref.inner(p, G, np.where(side[:, None], u[:k], u[k:])))
    assert value == pytest.approx(best)
    assert ref.extreme_stump(X, w, np.abs(G))[1].feature is None


def test_dictionary_projects_on_the_nearest_ray():
    rng = np.random.default_rng(7)
    B, D, w = rng.normal(size=(10, 4)), rng.normal(size=10), rng.uniform(0.5, 2, 10)
    p = w / w.sum()
    errors = []
    for b in B.T:
        c = np.sum(w * b * D) / np.sum(w * b * b)
        errors.append(ref.inner(p, D - c * b, D - c * b))
    atom = ref.project_dictionary(B, w, D)
    assert atom.column == int(np.argmin(errors))
    assert ref.inner(p, D - atom.c * atom.values, D - atom.c * atom.values) == pytest.approx(min(errors))
    assert ref.project_dictionary(B[:, [0, 0, 1, 1]], w, B[:, 1] * 3).column == 2
    V = rng.normal(size=(10, 3))
    vector = ref.project_dictionary(B, w, V)
    residual = V - vector.c * vector.values
    assert all(ref.inner(p, B[:, vector.column], residual[:, k]) == pytest.approx(0) for k in range(3))
    value, extreme = ref.extreme_dictionary(B, w, V)
    assert np.abs(extreme.values).max() == pytest.approx(1)
    assert ref.inner(p, V, extreme.values) == pytest.approx(value)
    for b, s in itertools.product(B.T, itertools.product([-1, 1], repeat=3)):
        assert ref.inner(p, V, np.outer(b / np.abs(b).max(), s)) <= value + 1e-12


# The loop


def test_two_points_by_hand():
    """R = (2|f1| + |f2|)/3, h the two coordinates, from (1.05, 1), step 1/2: naive never sees f2."""
    B, y, w = np.eye(2), np.zeros(2), [2.0, 1.0]

    def run(kind, rounds):
        return ref.descend(
            B,
            y,
            w,
            "absolute",
            ref.project_dictionary,
            kind,
            eta=lambda _: 0.5,
            rounds=rounds,
            start=[1.05, 1.0],
        )

    naive = run("naive", 40)
    assert naive.start_loss == pytest.approx(3.1 / 3)
    np.testing.assert_allclose(naive.edges, math.sqrt(2 / 3))
    assert naive.scores[1] == 1.0
    assert naive.losses[:3] == pytest.approx([2.1 / 3, 1.1 / 3, 1.9 / 3])
    # residual: D = (1, 1) takes f1; D = (1, 2) takes f2 by 2 steps; D = (2, 0), as f2 = 0, takes f1 by 2.
    residual = run("residual", 3)
    assert [h[0].column for h in residual.hypotheses] == [0, 1, 0]
    assert residual.coefficients == [[1.0], [2.0], [2.0]]
    np.testing.assert_allclose(residual.scores, [-0.45, 0.0])
    np.testing.assert_allclose(residual.edges, [math.sqrt(2 / 3), 2 / math.sqrt(6), 1.0])
    # repeated: f1; then both, f1 first: (0.05, 0.5); then both and a third projection that has nothing left.
    repeated = run("repeated", 3)
    assert repeated.coefficients == [[1.0], [1.0, 1.0], [1.0, 1.0, 0.0]]
    np.testing.assert_allclose(repeated.scores, [-0.45, 0.0], atol=1e-15)


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic", "hinge", "multiclass_hinge"])
def test_the_loop_keeps_its_books(loss):
    X, y, w = sample(8, ties=True)
    y = {"logistic": signs(y), "hinge": signs(y), "multiclass_hinge": np.digitize(y, [0, 1])}.get(loss, y)
    p = w / w.sum()
    runs = {
        kind: ref.descend(X, y, w, loss, ref.project_stump, kind, rounds=8, eta=lambda t: 0.5 / math.sqrt(t))
        for kind in ("naive", "repeated", "residual")
    }
    for kind, run in runs.items():
        assert len(run.losses) == len(run.edges) == len(run.trace) == 8
        np.testing.assert_allclose(ref.predict_run(run, X, ref.predict_stump), run.scores, atol=1e-12)
        assert run.losses[-1] == pytest.approx(ref.mean_loss(loss, run.scores, y, w))
        assert run.losses[:-1] == [loss_before for _, _, loss_before in run.trace[1:]]
        assert run.losses[0] == runs["naive"].losses[0]
        assert [len(c) for c in run.coefficients] == (list(range(1, 9)) if kind == "repeated" else [1] * 8)
        for (g, _, _), edge in zip(run.trace, run.edges, strict=True):
            assert 0 < edge <= 1 + 1e-12
            if kind != "residual":  # ||D - c h||^2 = (1 - edge^2) ||D||^2
                h = ref.project_stump(X, w, g).values
                left = ref.inner(p, g - h, g - h)
                assert left == pytest.approx((1 - edge**2) * ref.inner(p, g, g), abs=1e-12)
    residual = runs["residual"]
    spent = sum(c[0] * h[0].values for c, h in zip(residual.coefficients, residual.hypotheses, strict=True))
    np.testing.assert_allclose(sum(g for g, _, _ in residual.trace), spent + residual.leftover, atol=1e-12)
    forgetful = ref.descend(
        X, y, w, loss, ref.project_stump, "residual", memory=0.0, rounds=8, eta=lambda t: 0.5 / math.sqrt(t)
    )
    assert forgetful.losses == runs["naive"].losses


def test_repeated_stops_at_the_tolerance():
    X, y, _ = sample(9)
    run = ref.descend(
        X,
        y,
        None,
        "squared",
        ref.project_stump,
        "repeated",
        projections=lambda _: 99,
        tolerance=0.5,
        rounds=3,
    )
    for (g, _, _), coefficients, hypotheses in zip(run.trace, run.coefficients, run.hypotheses, strict=True):
        D, sizes = g, []
        for c, h in zip(coefficients, hypotheses, strict=True):
            D = D - c * h.values
            sizes.append(math.sqrt(np.sum(D**2) / np.sum(g**2)))
        assert sizes[-1] <= 0.5
        assert all(size > 0.5 for size in sizes[:-1])


def test_exact_leaf_steps_beat_a_grid():
    rng = np.random.default_rng(10)
    leaf = rng.integers(0, 2, 21)
    for loss in REGRESSION + COUNTS + SIGNS:
        f, w = rng.normal(size=21), rng.uniform(0.5, 2, 21)
        y = np.array([label(rng, loss) for _ in range(21)])
        for one, step in ref.exact_leaf_steps(loss, f, y, w, leaf).items():
            rows = leaf == one

            def total(s, rows=rows, loss=loss, f=f, y=y, w=w):
                return ref.mean_loss(loss, f[rows] + s, y[rows], w[rows])

            assert all(total(step) <= total(s) + 1e-12 for s in np.linspace(step - 2, step + 2, 401))
    f = np.array([0.0, 1.0, 0.0, 0.0])
    y = np.array([3.0, 2.0, 8.0, 4.0])
    assert ref.exact_leaf_steps("absolute", f, y, np.ones(4), [0, 0, 0, 1]) == pytest.approx({0: 3.0, 1: 4.0})
    assert ref.exact_leaf_steps("absolute", f, y, np.ones(4), [0] * 4)[0] == pytest.approx(3.5)


def test_exact_leaves_move_by_the_median_and_remember_by_least_squares():
    X, y, _ = sample(11)
    run = ref.descend(
        X, y, None, "absolute", ref.project_stump, "residual", eta=lambda _: 1.0, rounds=1, exact_leaves=True
    )
    stump = run.hypotheses[0][0]
    for one in (0, 1):
        rows = stump.leaf == one
        np.testing.assert_allclose(run.scores[rows], np.median(y[rows]))
    np.testing.assert_allclose(run.leftover, run.trace[0][0] - run.coefficients[0][0] * stump.values)


# Optima and the floor


@pytest.mark.parametrize("loss", ["absolute", "quantile:0.8", "hinge"])
def test_linear_program_is_the_loss_at_its_solution_and_beats_a_grid(loss):
    X = np.array([[0.0], [0.0], [1.0], [1.0], [1.0]])
    y = np.array([0.3, 1.4, -0.7, 2.0, 0.1])
    y = signs(y) if loss == "hinge" else y
    w = np.array([1.0, 2.0, 1.0, 0.5, 1.5])
    for radius, start in ((0.0, 0.4), (0.6, 0.0), (1.5, -0.5), (10.0, np.array([0.1, 0.0, 0.2, 0.5, -1.0]))):
        best = ref.optimum_stumps(X, y, w, loss, radius, start)
        assert best.value == pytest.approx(ref.mean_loss(loss, best.scores, y, w), abs=1e-9)
        assert best.norm <= radius + 1e-9
        grid = math.inf
        for constant in np.linspace(-radius, radius, 41):
            rest = radius - abs(constant)
            for c in np.linspace(-rest, rest, 41):
                f = start + constant + c * np.where(X[:, 0] < 0.5, 1.0, -1.0)
                grid = min(grid, ref.mean_loss(loss, f, y, w))
        assert grid - 0.05 * radius - 1e-9 <= best.value <= grid + 1e-9


def test_vector_program_equals_the_program_over_all_extreme_stumps():
    """The same hull written out: a weight for every split and every pair of sign vectors."""
    X, y, w = sample(12, n=9, d=2, ties=True)
    labels = np.digitize(y, [0.0])
    p = w / w.sum()
    _, _, left = ref.candidate_splits(X, w)
    atoms = [np.zeros((9, 2)), *(np.tile(u, (9, 1)) for u in itertools.product([-1, 1], repeat=2))]
    for side in left:
        atoms += [np.where(side[:, None], u[:2], u[2:]) for u in itertools.product([-1, 1], repeat=4)]
    for radius, start in ((0.3, 0.0), (1.0, 0.0), (0.4, np.array([0.5, -0.2]))):
        A, b = [], []
        a = np.zeros(2) + start
        for i, k in itertools.product(range(9), range(2)):
            m = labels[i]
            A.append(np.concatenate([[radius * (h[i, k] - h[i, m]) for h in atoms], -np.eye(9)[i]]))
            b.append(-float(k != m) - a[k] + a[m])
        ones = np.concatenate([np.ones(len(atoms)), np.zeros(9)])[None]
        cost = np.concatenate([np.zeros(len(atoms)), p])
        exact = linprog(cost, A_ub=A, b_ub=b, A_eq=ones, b_eq=[1.0]).fun
        best = ref.optimum_vector_stumps(X, labels, 2, w, radius, start)
        assert best.value == pytest.approx(exact, abs=1e-9)
        assert best.value == pytest.approx(
            ref.mean_loss("multiclass_hinge", best.scores, labels, w), abs=1e-9
        )
        assert 0 < best.value < ref.mean_loss("multiclass_hinge", [a] * 9, labels, w)
        assert best.norm <= radius + 1e-9


def test_floor_of_one_round_by_hand():
    """|f - 2| and |f| at f = 0 on two points, start 0: R = 1, g = (-1, 0), one atom a point."""
    run = ref.descend(
        np.eye(2), [2.0, 0.0], None, "absolute", ref.project_dictionary, eta=lambda _: 1.0, rounds=1
    )
    floor, parts = ref.floor_from_trace(
        run.trace,
        run.etas,
        None,
        0.0,
        0.5,
        lambda w, G: ref.extreme_dictionary(np.eye(2), w, G)[0],
        details=True,
    )
    assert floor == pytest.approx(1 - 0.5 * 0.5)  # and the optimum over that ball is |0.5 - 2| / 2 = 0.75
    assert set(parts) == {(name, 1) for name in ("steps", "uniform", "linear", "last")}


@pytest.mark.parametrize("loss", ["absolute", "quantile:0.8", "hinge", "multiclass_hinge"])
@pytest.mark.parametrize("kind", ["naive", "residual"])
def test_floor_is_below_the_optimum_and_not_far(loss, kind):
    X, y, w = sample(13, d=2, ties=True)
    start = 0.2
    y = {"hinge": signs(y), "multiclass_hinge": np.digitize(y, [0, 1])}.get(loss, y)
    run = ref.descend(
        X, y, w, loss, ref.project_stump, kind, rounds=300, start=start, eta=lambda t: 0.5 / math.sqrt(t)
    )
    for radius in (0.5, 3.0):
        floor, parts = ref.floor_from_trace(
            run.trace, run.etas, w, start, radius, lambda w, G: ref.extreme_stump(X, w, G)[0], details=True
        )
        if loss == "multiclass_hinge":
            best = ref.optimum_vector_stumps(X, y, 3, w, radius, start)
        else:
            best = ref.optimum_stumps(X, y, w, loss, radius, start)
        assert floor == max(parts.values())
        assert {t for _, t in parts} == {1, 2, 4, 8, 16, 32, 64, 128, 256, 300}
        assert floor <= best.value + 1e-9
        if kind == "residual":
            assert floor >= best.value - 0.15 * radius
