"""Leaves with slopes: against an oracle, scikit-learn's Ridge, and in the same bits however the rows lie."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge

import anyboost as ab
import lending
from anyboost.descent import Naive
from anyboost.space import Space
from anyboost.weak import Tree
from parts import in_parts, three

FIELDS = ("node", "feature", "slope", "center", "low", "width")


def table(n=600, missing=0.0, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    X[random.random(size=X.shape) < missing] = np.nan
    known = np.nan_to_num(X)
    y = 2.0 * known[:, 0] + np.where(known[:, 1] > 0, known[:, 2], -known[:, 0]) + 0.3 * random.normal(size=n)
    return X, y


def path_columns(tree):
    """The columns asked about on the way to each node."""
    used = {0: set()}
    for node in np.flatnonzero(tree.feature >= 0):
        for child in (tree.left[node], tree.right[node]):
            used[int(child)] = used[int(node)] | {int(tree.feature[node])}
    return used


def oracle(tree, X, weights, kappa, target, ridge, l2):
    """Values on the rows and, by node, slopes in raw units: a weighted ridge in every leaf, by NumPy."""
    nodes, columns = tree.apply(X), path_columns(tree)
    values, slopes = np.zeros(len(X)), {}
    for node in np.flatnonzero(tree.feature < 0):
        rows = nodes == node
        w, D = weights[rows] * kappa[rows], (weights * target)[rows]
        values[rows] = D.sum() / (w.sum() + l2)
        used = sorted(columns[int(node)])
        if weights[rows].sum() < 5 * (1 + len(used)):
            continue
        part = X[rows][:, used]
        known = ~np.isnan(part)
        means = np.nansum(w[:, None] * part, axis=0) / (w[:, None] * known).sum(axis=0)
        Z = np.where(known, part - means, 0.0)
        C = Z.T @ (w[:, None] * Z)
        C[np.diag_indices(len(used))] *= 1 + ridge + l2 / w.sum()
        slopes[int(node)] = dict(zip(used, np.linalg.solve(C, Z.T @ D), strict=True))
        values[rows] += Z @ np.linalg.solve(C, Z.T @ D)
    return values, slopes


@pytest.mark.parametrize("l2", [0.0, 2.0])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_slopes_are_those_of_a_ridge_in_each_leaf(l2, curved, missing, weighted):
    X, y = table(missing=missing)
    random = np.random.default_rng(1)
    weights = random.integers(1, 4, size=len(X)).astype(float) if weighted else np.ones(len(X))
    kappa = random.uniform(0.05, 1.0, size=len(X)) if curved else np.ones(len(X))
    space = Space(X, weights if weighted else None)
    space = space.curved(kappa) if curved else space
    found = Tree(9, leaf="linear", ridge=0.2, l2=l2).project(space, y)
    tree = found.hypothesis
    values, slopes = oracle(tree, X, weights, kappa, y, 0.2, l2)
    assert len(slopes) > 3
    np.testing.assert_allclose(found.values, values, atol=1e-9)
    np.testing.assert_allclose(tree.predict(X), found.values, atol=1e-12)
    own = tree.slopes
    for node, feature, slope, width in zip(own.node, own.feature, own.slope[:, 0], own.width, strict=True):
        assert slope / width == pytest.approx(slopes[int(node)][int(feature)], rel=1e-7, abs=1e-9)
    assert found.top >= np.abs(found.values).max()


def test_without_cuts_below_it_a_side_is_a_ridge_of_scikit_learn():
    X, y = table()
    found = Tree(2, leaf="linear", ridge=0.5).project(Space(X), y)
    tree, nodes = found.hypothesis, found.hypothesis.apply(X)
    for node in (1, 2):
        x, part = X[nodes == node][:, [tree.feature[0]]], y[nodes == node]
        x = (x - x.mean()) / x.std()
        peer = Ridge(alpha=0.5 * len(x)).fit(x, part)
        np.testing.assert_allclose(found.values[nodes == node], peer.predict(x), atol=1e-9)


def test_vectors_have_slopes_an_output():
    X, y = table()
    Y = np.column_stack([y, X[:, 3], -y])
    joint = Tree(6, leaf="linear").project(Space(X), Y)
    for j in range(3):
        values, _ = oracle(joint.hypothesis, X, np.ones(len(X)), np.ones(len(X)), Y[:, j], 0.01, 0.0)
        np.testing.assert_allclose(joint.values[:, j], values, atol=1e-9)
    kappa = np.random.default_rng(0).uniform(0.1, 1.0, size=Y.shape)
    curved = Tree(6, leaf="linear").project(Space(X).curved(kappa), Y)
    for j in range(3):
        values, _ = oracle(curved.hypothesis, X, np.ones(len(X)), kappa[:, j], Y[:, j], 0.01, 0.0)
        np.testing.assert_allclose(curved.values[:, j], values, atol=1e-9)
    each = Tree(6, leaf="linear", outputs="each").project(Space(X), Y)
    alone = Tree(6, leaf="linear").project(Space(X), np.ascontiguousarray(Y[:, 1]))
    np.testing.assert_array_equal(each.values[:, 1], alone.values)
    np.testing.assert_allclose(each.hypothesis.predict(X), each.values, atol=1e-12)


def same_slopes(one, other):
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one.slopes, name), getattr(other.slopes, name))


@pytest.mark.parametrize("curved", [False, True])
def test_neither_threads_nor_order_nor_parts_matter(curved, monkeypatch):
    from anyboost.trees import linear

    monkeypatch.setattr(linear, "_BLOCK", 50)
    X, y = table(missing=0.05)
    weights = np.random.default_rng(2).uniform(0.1, 2.0, size=len(X))
    kappa = np.random.default_rng(3).uniform(1e-6, 1.0, size=len(X)) if curved else None
    learner = Tree(9, leaf="linear")
    one = learner.project(Space(X, weights).curved(kappa), y)
    order = np.random.default_rng(4).permutation(len(X))
    turned = None if kappa is None else kappa[order]
    other = learner.project(Space(X[order], weights[order], n_threads=3).curved(turned), y[order])
    same_slopes(one.hypothesis, other.hypothesis)
    np.testing.assert_array_equal(one.values[order], other.values)
    bins = Space(X, weights).bins

    def of_part(rows):
        own = rows.own
        here = ab.Binned(X, weights).take(np.arange(len(X))[own])
        space = Space(X[own], weights[own], bins=here.bins, rows=rows)
        return learner.project(space.curved(None if kappa is None else kappa[own]), y[own])

    assert bins is not None
    parts = in_parts(of_part, three(len(X)))
    for part in parts:
        same_slopes(one.hypothesis, part.hypothesis)
    np.testing.assert_array_equal(np.concatenate([part.values for part in parts]), one.values)


def test_weight_two_is_the_row_twice_and_rows_that_are_not_drawn_do_not_count():
    X, y = table(300)
    twice = np.random.default_rng(0).random(300) < 0.4
    learner = Tree(6, leaf="linear")
    weighted = learner.project(Space(X, 1.0 + twice), y)
    repeated = learner.project(Space(np.vstack([X, X[twice]])), np.append(y, y[twice]))
    same_slopes(weighted.hypothesis, repeated.hypothesis)
    drawn = np.sort(np.random.default_rng(1).permutation(300)[:200])
    some = learner.project(lending.lent(Space(X), drawn), y)
    assert set(some.hypothesis.slopes.low) <= set(X[drawn].ravel())


def test_a_timestamp_has_its_slope():
    x = 1.6e9 + np.arange(2000.0)
    y = 3.0 * (x - x[0])
    found = Tree(2, leaf="linear", ridge=0.0).project(Space(x[:, None]), y)
    slopes = found.hypothesis.slopes
    np.testing.assert_allclose(slopes.slope[:, 0] / slopes.width, 3.0, rtol=1e-12)


def test_beyond_its_range_a_leaf_is_flat_unless_asked_and_missing_is_the_mean():
    X, y = np.linspace(0.0, 1.0, 100)[:, None], np.linspace(0.0, 5.0, 100)
    edges = np.array([[-9.0], [0.0], [1.0], [9.0], [np.nan]])
    tree = Tree(2, leaf="linear", ridge=0.0).project(Space(X), y).hypothesis
    low, first, last, high, gone = tree.predict(edges)
    assert (low, high) == (first, last)
    np.testing.assert_allclose([first, last], [0.0, 5.0], atol=1e-9)
    assert gone in tree.value
    tree = Tree(2, leaf="linear", ridge=0.0, extrapolate=True).project(Space(X), y).hypothesis
    np.testing.assert_allclose(tree.predict(edges[:4]), [-45.0, 0.0, 5.0, 45.0], atol=1e-6)


def test_few_rows_and_columns_that_tell_the_same_leave_the_mean():
    X, y = table(40)
    for learner, columns in (
        (Tree(31, leaf="linear"), X),
        (Tree(2, leaf="linear"), np.full((40, 1), np.nan)),
    ):
        found = learner.project(Space(columns), y)
        assert np.array_equal(found.values, Tree(learner.max_leaves).project(Space(columns), y).values)
    X, y = table(400)
    copies = np.column_stack([X[:, 0], X[:, 0] * 2.0, X[:, 1]])
    tree = Tree(8, leaf="linear", ridge=0.0, interactions=((0, 1, 2),)).project(Space(copies), y).hypothesis
    assert np.isfinite(tree.predict(copies)).all()


def test_runs_predict_what_they_reached_and_floors_hold():
    X, y = table(missing=0.05)
    for loss, target in (("squared", y), ("absolute", y), ("logistic", np.sign(y))):
        run = ab.boost(X, target, loss, Tree(8, leaf="linear"), rounds=15)
        np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-9)
        assert run.floor(run.norm) <= run.steps[-1].loss
    memory = ab.boost(X, y, "squared", Tree(8, leaf="linear"), "residual", rounds=15, curvature=False)
    plain = ab.boost(X, y, "squared", Tree(8), "residual", rounds=15)
    assert memory.steps[-1].loss < plain.steps[-1].loss


def by_hand(run, X):
    """The sum, number by number, in the order in which it is written: a tree's value, then its terms."""
    scores = np.zeros((len(X), run.ensemble.outputs))
    for c, tree in zip(run.ensemble.coefficients, run.ensemble.hypotheses, strict=True):
        own, nodes = tree.slopes, tree.apply(X)
        for i, node in enumerate(nodes):
            scores[i] += c * tree.value[node]
            for e in np.flatnonzero(own.node == node):
                x, low, width = X[i, own.feature[e]], own.low[e], own.width[e]
                if np.isnan(x):
                    continue
                x = min(max(x, low), low + width) if own.clamped else x
                scores[i] += (c * own.slope[e] / width) * (x - (low + own.center[e] * width))
    return scores


@pytest.mark.parametrize("extrapolate", [False, True])
@pytest.mark.parametrize(
    ("loss", "categorical"), [("squared", None), ("squared", [3]), ("softmax", None), ("softmax", [3])]
)
def test_sums_of_trees_are_added_up_in_their_order(loss, categorical, extrapolate):
    # Leaves of 0 to 4 slopes, which kernels fill up with terms that must add nothing
    X, y = table(500, missing=0.05)
    X[:, 3] = np.random.default_rng(0).integers(0, 5, size=500)
    target = np.digitize(y, [-1.0, 1.0]) if loss == "softmax" else y
    learner = Tree(12, leaf="linear", extrapolate=extrapolate)
    run = ab.boost(X, target, loss, learner, Naive(0.3), rounds=4, categorical=categorical, start=0.0)
    counts = [np.bincount(tree.slopes.node, minlength=23) for tree in run.ensemble.hypotheses]
    assert len(set(np.concatenate(counts))) > 3
    far = 3.0 * X[:200]
    far[:, 3] = X[:200, 3]
    assert run.ensemble.predict(far).reshape(200, -1).tobytes() == by_hand(run, far).tobytes()


def test_categories_have_no_slopes():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 6, size=500).astype(float), random.normal(size=500)])
    y = np.array([0.0, 3.0, -1.0, 2.0, 0.5, 1.0])[X[:, 0].astype(int)] + X[:, 1]
    run = ab.boost(X, y, "squared", Tree(8, leaf="linear"), Naive(0.5), rounds=5, categorical=[0])
    assert all(set(tree.slopes.feature) <= {1} for tree in run.ensemble.hypotheses)
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-9)


@pytest.mark.parametrize("extrapolate", [False, True])
def test_files_keep_slopes(tmp_path, extrapolate):
    X, y = table(missing=0.05)
    learner = Tree(8, leaf="linear", ridge=0.3, extrapolate=extrapolate)
    run = ab.boost(X, y, "squared", learner, rounds=4)
    ab.save(run, tmp_path / "run.anyboost")
    again = ab.load(tmp_path / "run.anyboost")
    np.testing.assert_array_equal(again.ensemble.predict(2 * X), run.ensemble.predict(2 * X))
    assert again.learner == learner
    for one, other in zip(again.ensemble.hypotheses, run.ensemble.hypotheses, strict=True):
        same_slopes(one, other)


def test_monotone_trees_are_refused_and_leaves_are_shown_with_slopes():
    with pytest.raises(ValueError, match=r'monotone cannot be kept by leaf="linear"'):
        Tree(leaf="linear", monotone=(1, 0))
    X, y = np.linspace(0.0, 1.0, 100)[:, None], np.linspace(0.0, 5.0, 100)
    run = ab.boost(X, y, "squared", Tree(2, leaf="linear", ridge=0.0), Naive(1.0), rounds=1)
    shown = ab.plot.text(run)
    # the first fifty rows: x has the mean 24.5 / 99, y - 2.5 five times that less 2.5
    assert "yes: -1.263 +5 (column 0 - 0.2475)" in shown


def test_bins_made_ahead_and_runs_that_go_on_give_the_same_bits(tmp_path):
    X, y = table(missing=0.05)
    learner = Tree(6, leaf="linear")
    whole = ab.boost(X, y, "absolute", learner, rounds=6)
    binned = ab.boost(ab.Binned(X), y, "absolute", learner, rounds=6)
    ab.boost(X, y, "absolute", learner, rounds=3, callbacks=[ab.Checkpoint(tmp_path / "run", every_rounds=3)])
    resumed = ab.boost(X, y, rounds=6, resume=ab.load(tmp_path / "run"))
    for run in (binned, resumed):
        assert run.ensemble.predict(X).tobytes() == whole.ensemble.predict(X).tobytes()
        same_slopes(run.ensemble.hypotheses[-1], whole.ensemble.hypotheses[-1])


def test_estimators_have_them_with_all_that_trees_have():
    X, y = table()
    model = ab.BoostingRegressor(
        leaf="linear", max_iter=4, learning_rate=0.1, max_leaf_nodes=6, interaction_cst=[[0, 1], [2, 3]]
    ).fit(X, y)
    trees = model.ensemble_.hypotheses
    for tree in trees:
        for node in np.unique(tree.slopes.node):
            columns = set(tree.slopes.feature[tree.slopes.node == node])
            assert columns <= {0, 1} or columns <= {2, 3}
    leaves = model.apply(X)
    assert leaves.shape == (len(X), 4)
    assert all((tree.feature[leaves[:, t]] < 0).all() for t, tree in enumerate(trees))
    words = [text.get_text() for text in ab.plot.tree(model).texts]
    assert any(" (column 0 - " in each or " (column 1 - " in each for each in words)
    warm = ab.BoostingRegressor(**model.get_params() | {"warm_start": True, "max_iter": 2}).fit(X, y)
    assert warm.set_params(max_iter=4).fit(X, y).predict(X).tobytes() == model.predict(X).tobytes()
    with pytest.raises(ValueError, match=r'monotonic_cst cannot be kept by leaf="linear"'):
        ab.BoostingRegressor(leaf="linear", monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    with pytest.raises(TypeError, match=r"Use '.toarray\(\)'"):
        ab.BoostingRegressor(leaf="linear").fit(csr_matrix(X), y)
    with pytest.raises(TypeError, match="fit it with another leaf, or use a model-agnostic explainer"):
        model.shap_values(X)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-300, 1e-140, 1e300])
def test_columns_of_any_unit_have_finite_slopes(unit):
    """By so small a range a slope is beyond all floats: the fit ended with the advice to take smaller steps."""
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=300), unit * random.integers(0, 4, 300)])
    y = X[:, 0] + (X[:, 1] > unit)
    model = ab.BoostingRegressor(max_iter=20, leaf="linear").fit(X, y)
    assert model.score(X, y) > 0.9
