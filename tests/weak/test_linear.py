"""Linear functions: the projection against the normal equations, its bound against a linear program."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Ridge

import anyboost as ab
from anyboost.space import Space
from anyboost.weak import Linear
from anyboost.weak import linear as linear_module
from anyboost.weak.linear import LinearFunction
from lending import lent
from reference import learners as reference


def sample(seed, n, d, outputs, weighted, kind="plain"):
    """Columns on very different scales; some of them repeated, constant, or mostly zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-2, 3, d) + random.integers(-3, 4, d)
    if kind == "dependent":
        X[:, -1] = 3.0
        X[:, 0] = X[:, d // 2]
    if kind == "sparse":
        X[random.random(X.shape) < 0.7] = 0.0
    D = random.normal(size=(n,) if outputs == 1 else (n, outputs))
    return X, D, random.integers(1, 4, n).astype(float) if weighted else None


cases = given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    d=st.integers(1, 6),
    outputs=st.integers(1, 3),
    weighted=st.booleans(),
    kind=st.sampled_from(["plain", "dependent", "sparse"]),
    penalty=st.sampled_from([0.0, 1e-3, 1.0]),
)


@settings(deadline=None, max_examples=150)
@cases
def test_projection_is_weighted_ridge_regression(seed, n, d, outputs, weighted, kind, penalty):
    X, D, weights = sample(seed, n, d, outputs, weighted, kind)
    expected = reference.ridge(X, weights, D, penalty)
    tolerance = 1e-6 * (1 + np.abs(D).max())
    found = Linear(penalty).project(Space(X, weights), D)
    np.testing.assert_allclose(found.values, expected, atol=tolerance)
    np.testing.assert_allclose(found.hypothesis.predict(X), expected, atol=tolerance)
    thin = Linear(penalty).project(Space(sparse.csr_array(X), weights), D)
    np.testing.assert_allclose(thin.values, expected, atol=tolerance)
    np.testing.assert_allclose(thin.hypothesis.predict(sparse.csc_matrix(X)), expected, atol=tolerance)


@settings(deadline=None, max_examples=60)
@cases
def test_what_is_left_is_orthogonal_to_every_column(seed, n, d, outputs, weighted, kind, penalty):
    X, D, weights = sample(seed, n, d, outputs, weighted, kind)
    space = Space(X, weights)
    found = Linear(penalty).project(space, D)
    left = (D - found.values).reshape(n, -1)
    # A penalty leaves of each column what it costs: <left, z> = penalty * b, in terms of Z.
    b = found.hypothesis.weight * np.sqrt(space.weights @ (X - space.weights @ X) ** 2)
    for column, cost in zip(reference.standardized(X, weights).T, (penalty * b).T, strict=True):
        np.testing.assert_allclose((space.weights * column) @ left, cost, atol=1e-9)
    np.testing.assert_allclose(space.weights @ left, 0.0, atol=1e-9)


@settings(deadline=None, max_examples=80)
@cases
def test_support_lies_around_the_linear_program(seed, n, d, outputs, weighted, kind, penalty):
    X, G, weights = sample(seed, n, d, outputs, weighted, kind)
    exact = reference.linear_reach(X, weights, G)
    w = np.ones(n) / n if weights is None else weights / weights.sum()
    for table in (X, sparse.csr_array(X)):
        support = Linear(penalty).support(Space(table, weights), G)
        assert support.lower - 1e-7 <= exact <= support.upper + 1e-7
        assert support.upper <= w @ np.abs(G.reshape(n, -1)).sum(axis=1) + 1e-12


def test_the_bound_is_not_the_trivial_one_and_goes_to_zero_with_the_projection():
    X, G, _ = sample(0, 200, 3, 1, False)
    space = Space(X)
    assert Linear().support(space, G).upper < 0.3 * np.abs(G).mean()
    orthogonal = G - Linear().project(space, G).values
    assert Linear().support(space, orthogonal).upper < 1e-12
    assert Linear().support(space, np.zeros(200)) == (0.0, 0.0)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
def test_rows_and_features_that_are_not_drawn_do_not_count(penalty, table):
    X, D, weights = sample(5, 60, 5, 2, True)
    rows, features = np.arange(0, 60, 2), np.array([1, 3])
    space = Space(table(X), weights)
    some = Linear(penalty).project(lent(space, rows, features), D)
    expected = reference.ridge(X[rows][:, features], weights[rows], D[rows], penalty)
    np.testing.assert_allclose(some.values[rows], expected, atol=1e-8)
    assert not some.hypothesis.weight[:, [0, 2, 4]].any()
    all_rows = Linear(penalty).project(lent(space, features=features), D)
    expected = reference.ridge(X[:, features], weights, D, penalty)
    np.testing.assert_allclose(all_rows.values, expected, atol=1e-8)
    np.testing.assert_allclose(all_rows.hypothesis.predict(X), expected, atol=1e-8)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_wide_sparse_tables_are_fitted_without_their_gram_matrix(penalty, monkeypatch):
    monkeypatch.setattr(linear_module, "MOST_COLUMNS", 3)
    monkeypatch.setattr(linear_module, "Span", None)
    X, D, weights = sample(3, 80, 6, 2, True, "sparse")
    space = Space(sparse.csr_array(X), weights)
    np.testing.assert_allclose(
        Linear(penalty).project(space, D).values, reference.ridge(X, weights, D, penalty), atol=1e-6
    )
    rows, features = np.arange(40), np.array([0, 2, 4, 5])
    part = Linear(penalty).project(lent(space, rows, features), D).values[rows]
    expected = reference.ridge(X[rows][:, features], weights[rows], D[rows], penalty)
    np.testing.assert_allclose(part, expected, atol=1e-6)
    support = Linear(penalty).support(space, D)
    assert support.lower - 1e-7 <= reference.linear_reach(X, weights, D) <= support.upper


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("most", [2000, 3])
def test_without_standardizing_it_is_scikit_learn_s_ridge(table, most, monkeypatch):
    monkeypatch.setattr(linear_module, "MOST_COLUMNS", most)
    X, D, weights = sample(9, 60, 5, 2, True)
    weights[0] = 7.0
    theirs = Ridge(alpha=0.5 * weights.sum()).fit(X, D, weights)
    learner = Linear(0.5, standardize=False)
    found = learner.project(Space(table(X), weights), D)
    np.testing.assert_allclose(found.values, theirs.predict(X), atol=1e-6)
    rows, features = np.arange(30), np.array([0, 2, 3])
    theirs = Ridge(alpha=0.5 * weights[rows].sum()).fit(X[rows][:, features], D[rows], weights[rows])
    found = learner.project(lent(Space(table(X), weights), rows, features), D)
    np.testing.assert_allclose(found.values, theirs.predict(X[:, features]), atol=1e-6)
    support = learner.support(Space(table(X), weights), D)
    assert support.lower - 1e-7 <= reference.linear_reach(X, weights, D) <= support.upper + 1e-7


def test_large_means_cost_no_digits():
    """Seconds since 1970, say, which vary by a minute."""
    random = np.random.default_rng(0)
    X = 1.7e9 + random.uniform(0, 60, (200, 1))
    y = 0.5 * (X[:, 0] - 1.7e9)
    for table in (X, X.astype(np.float64, order="F")):
        found = Linear().project(Space(table), y)
        np.testing.assert_allclose(found.values, y, atol=1e-6)
        np.testing.assert_allclose(found.hypothesis.predict(table), y, atol=1e-5)


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1e200, 1.7e308])
def test_columns_too_large_to_be_squared_are_refused(table, size):
    with pytest.raises(ValueError, match="X has values too large to be squared"):
        ab.boost(table(np.array([[size], [-size]])), [0.0, 1.0], learner="linear")


def test_one_step_of_squared_loss_is_least_squares():
    X, y, weights = sample(1, 100, 4, 1, True)
    run = ab.boost(X, y, learner="linear", descent=ab.descent.Residual(1.0), rounds=1, sample_weight=weights)
    np.testing.assert_allclose(run.scores, reference.ridge(X, weights, y, 0.0), atol=1e-9)
    twice = ab.boost(
        X, y, sample_weight=weights, resume=run, rounds=2
    )  # whose floor knows the gradient there
    assert -1e-12 < twice.gap(radius=100.0) < 1e-12
    halves = ab.boost(X, y, learner="linear", descent=ab.descent.Naive(0.5), rounds=8, sample_weight=weights)
    left = [step.loss - run.steps[0].loss for step in halves.steps]
    np.testing.assert_allclose(np.array(left[1:]) / left[:-1], 0.25, rtol=1e-6)


@pytest.mark.parametrize("tau", [0.5, 0.8])
def test_floor_and_loss_close_in_on_the_linear_program(tau):
    X, D, _ = sample(2, 120, 3, 1, False)
    y = Linear().project(Space(X), D).values * 3 + D
    least, best = reference.best_linear(X, y, tau)
    descent = ab.descent.Naive(ab.steps.InverseSqrt(2.0))
    run = ab.boost(X, y, f"quantile:{tau}", "linear", descent, rounds=600)
    radius = np.abs(best - run.state.start).max()
    assert run.floor(radius) <= least + 1e-12
    assert least <= min(step.loss for step in run.steps) <= least * 1.01
    assert run.floor(radius) >= least * 0.97


def test_a_penalized_fit_is_not_stretched_back():
    X, y, _ = sample(4, 80, 3, 1, False)
    run = ab.boost(X, y, learner=Linear(1.0), descent=ab.descent.Naive(1.0), rounds=2, start=0.0)
    assert [step.coefficient for step in run.steps] == [1.0, 1.0]
    first = reference.ridge(X, None, y, 1.0)
    np.testing.assert_allclose(run.scores, first + reference.ridge(X, None, y - first, 1.0), atol=1e-9)


def test_the_table_is_taken_apart_once_a_run(monkeypatch):
    calls = []
    svd = scipy.linalg.svd
    monkeypatch.setattr(
        scipy.linalg, "svd", lambda *given, **options: calls.append(1) or svd(*given, **options)
    )
    X, y, _ = sample(4, 80, 3, 1, False)
    run = ab.boost(X, y, "absolute", "linear", rounds=30)
    run.floor(1.0)
    assert len(calls) == 1


def test_a_sum_of_linear_functions_predicts_as_one(monkeypatch):
    X, y, _ = sample(6, 80, 4, 1, False)
    run = ab.boost(X, y, "absolute", "linear", ab.descent.Naive(0.5), rounds=20, valid=(X, y))
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-10)
    np.testing.assert_allclose(run.watch.scores[:, 0], run.scores, atol=1e-10)
    *_, last = run.ensemble.staged_predict(X)
    np.testing.assert_allclose(last, run.scores, atol=1e-10)
    products = []
    predict = LinearFunction.predict
    monkeypatch.setattr(LinearFunction, "predict", lambda self, X: products.append(1) or predict(self, X))
    np.testing.assert_allclose(run.ensemble.copy().predict(X), run.scores, atol=1e-10)
    assert len(products) == 1


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_matrix])
def test_weight_two_is_the_row_twice(table):
    X, y, weights = sample(7, 60, 3, 1, True)
    weights[::7] = 0.0
    again = np.repeat(np.arange(60), weights.astype(int))
    given = {"loss": "absolute", "learner": Linear(0.1), "rounds": 10}
    one = ab.boost(table(X), y, sample_weight=weights, **given)
    other = ab.boost(table(X[again]), y[again], **given)
    np.testing.assert_allclose(one.ensemble.predict(X), other.ensemble.predict(X), atol=1e-9)
    assert one.steps[-1].loss == pytest.approx(other.steps[-1].loss)


def test_sparse_and_dense_runs_agree_and_the_user_s_matrix_is_left_alone():
    X, y, weights = sample(8, 90, 5, 1, True, "sparse")
    thin = sparse.coo_array(X).tocsr()
    before = thin.copy()
    given = {"loss": "huber", "learner": "linear", "rounds": 15, "sample_weight": weights}
    given |= {"row_fraction": 0.7, "feature_fraction": 0.6, "random_state": 3}
    one, other = ab.boost(X, y, valid=(X, y), **given), ab.boost(thin, y, valid=(thin, y), **given)
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-8)
    assert one.watch.losses[-1] == pytest.approx(other.watch.losses[-1])
    assert (thin != before).nnz == 0
    resumed = ab.boost(thin, y, sample_weight=weights, valid=(thin, y), resume=other, rounds=20)
    whole = ab.boost(thin, y, valid=(thin, y), **{**given, "rounds": 20})
    np.testing.assert_array_equal(resumed.scores, whole.scores)


def test_entries_given_twice_are_added_up():
    twice = sparse.csr_array(
        (np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    run = ab.boost(twice, [0.0, 1.0], learner="linear", descent=ab.descent.Naive(1.0), rounds=1)
    np.testing.assert_allclose(
        run.ensemble.predict(np.array([[3.0, 0.0], [0.0, 5.0]])), [0.0, 1.0], atol=1e-12
    )
    assert twice.nnz == 3


HOLE = np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": HOLE}, r"X has a missing value \(NaN\) at row 1, column 0, which learner Linear cannot take"),
        ({"X": sparse.csr_array(HOLE)}, "at row 1, column 0, which learner Linear cannot take: fill it in"),
        ({"X": np.where(np.isnan(HOLE), np.inf, HOLE)}, "X has inf at row 1, column 0"),
        (
            {"valid": (np.diag([1.0, np.nan, 1.0]), np.zeros(3))},
            r"valid X has a missing value \(NaN\) at row 1, column 1",
        ),
        ({"categorical": [1]}, "learner Linear cannot take the categorical columns 1: encode them first"),
        (
            {"descent": "hull"},
            "descent Hull steps along extreme atoms, which learner Linear has no way to find",
        ),
        ({"descent": "shrinking"}, "descent Shrinking steps along extreme atoms"),
        ({"X": sparse.csr_array(np.eye(3)), "learner": "tree"}, r"X is a sparse matrix: pass a dense one"),
        ({"X": sparse.csr_array(np.eye(3) * 1j)}, "X must hold numbers, got a sparse matrix of complex128"),
    ],
)
def test_impossible_pairs_are_refused(arguments, words):
    rounds = []
    given = {"X": np.eye(3), "y": np.arange(3.0), "learner": "linear", **arguments}
    with pytest.raises(ValueError, match=words) as raised:
        ab.boost(**given, callbacks=[lambda step, run: rounds.append(step)])
    assert len(str(raised.value)) < 250
    assert not rounds


def test_missing_values_at_prediction_are_refused():
    run = ab.boost(np.eye(3), np.arange(3.0), learner="linear", rounds=2)
    with pytest.raises(ValueError, match=r"X has a missing value \(NaN\) at row 1, column 2"):
        run.ensemble.predict(np.array([[0.0, 0, 0], [0, 0, np.nan]]))


def test_names_and_parameters():
    assert ab.weak.get("linear") == Linear()
    assert ab.weak.get("linear:0.5") == Linear(penalty=0.5)
    with pytest.raises(ValueError, match="penalty must not be negative, got -1"):
        Linear(-1)
    with pytest.raises(ValueError, match="standardize must be True or False, got 2"):
        Linear(standardize=2)
    with pytest.raises(TypeError, match="learner Linear has no way to find its extreme atom"):
        Linear().extreme(Space(np.eye(3)), np.ones(3))
