"""Nets: the formula, the search's gradient, the same net twice, and falling losses."""

import numpy as np
import pytest
from scipy import sparse

import anyboost as ab
from anyboost.space import Space
from anyboost.weak import Linear, Net
from anyboost.weak.net import NetFunction, _Search
from anyboost.weak.standard import Standardized
from lending import lent
from reference import learners as reference


def sample(seed, n=80, d=3, outputs=1):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-2, 3, d) + random.integers(-3, 4, d)
    D = random.normal(size=(n,) if outputs == 1 else (n, outputs))
    return X, D, random.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("outputs", [1, 3])
def test_predictions_are_the_formula(outputs):
    X, D, weights = sample(0, outputs=outputs)
    found = Net(hidden=4).project(Space(X, weights), D)
    net = found.hypothesis
    plain = reference.net_values(net.hidden, net.bias, net.output, net.constant, X)
    np.testing.assert_allclose(net.predict(X).reshape(plain.shape), plain, atol=1e-9)
    np.testing.assert_allclose(found.values.reshape(plain.shape), plain, atol=1e-9)
    out = np.zeros((len(X), outputs))
    NetFunction.combine([net, net], np.array([2.0, -0.5]), X, out, 1)
    np.testing.assert_allclose(out, 1.5 * plain, atol=1e-9)


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("outputs", [1, 2])
def test_the_search_knows_its_gradient_and_its_objective(table, outputs):
    X, D, weights = sample(1, n=30, outputs=outputs)
    w = weights / weights.sum()
    T = D.reshape(30, -1).T
    search = _Search(Standardized(table(X), w), w, T, Net(hidden=3, penalty=0.01))
    random = np.random.default_rng(0)
    point = random.normal(size=search._begin(random).size)
    value, gradient = search.look(point)
    for j in range(len(point)):
        ahead, behind = point.copy(), point.copy()
        ahead[j] += 1e-6
        behind[j] -= 1e-6
        slope = (search.look(ahead)[0] - search.look(behind)[0]) / 2e-6
        assert gradient[j] == pytest.approx(slope, abs=1e-7)
    hidden, bias, output, constant = search._parts(point)
    values = reference.net_values(hidden, bias, output, constant, reference.standardized(X, weights))
    centered = (T.T - w @ T.T) / np.sqrt((w @ (T.T - w @ T.T) ** 2).sum())
    objective = (w @ (values - centered) ** 2).sum() + 0.01 * ((hidden**2).sum() + (output**2).sum())
    assert value == pytest.approx(objective / 2, rel=1e-9)


def test_a_net_follows_what_no_linear_function_can():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (500, 2))
    D = np.sign(X[:, 0] * X[:, 1])
    space = Space(X)
    left = D - Net().project(space, D).values
    assert space.norm(left) < 0.5 * space.norm(D - Linear().project(space, D).values)


@pytest.mark.parametrize("descent", ["naive", "residual", "repeated"])
@pytest.mark.parametrize(("loss", "kind"), [("absolute", "real"), ("hinge", "sign"), ("softmax", "class")])
def test_boosting_nets_drives_the_loss_down_and_is_the_same_twice(descent, loss, kind):
    random = np.random.default_rng(1)
    X = random.uniform(-2, 2, (100, 3))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    y = {"real": signal, "sign": np.where(signal > 0, 1.0, -1.0), "class": np.digitize(signal, [-0.5, 0.5])}[
        kind
    ]
    given = {"loss": loss, "learner": Net(max_iter=15), "rounds": 8}
    step = ab.steps.InverseSqrt(3.0 if kind == "class" else 0.6)
    given["descent"] = {
        "naive": ab.descent.Naive(step),
        "residual": ab.descent.Residual(step, memory=0.5),
        "repeated": ab.descent.Repeated(step, projections=2),
    }[descent]
    run = ab.boost(X, y, random_state=0, **given)
    assert run.steps[-1].loss < 0.5 * run.start_loss
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-8)
    same, other = (ab.boost(X, y, random_state=seed, **given | {"rounds": 2}) for seed in (0, 1))
    np.testing.assert_array_equal(run.ensemble.truncate(2).predict(X), same.ensemble.predict(X))
    assert np.abs(same.scores - other.scores).max() > 1e-3


def test_every_projection_has_random_numbers_of_its_own_and_a_resumed_run_the_same():
    X, y, _ = sample(3)
    given = {"loss": "absolute", "learner": Net(max_iter=1), "random_state": 5, "row_fraction": 0.8}
    whole = ab.boost(X, y, rounds=6, **given)
    first, second = whole.ensemble.hypotheses[:2]
    assert np.abs(first.hidden - second.hidden).max() > 1e-3
    part = ab.boost(X, y, rounds=2, **given)
    resumed = ab.boost(X, y, rounds=6, resume=part)
    np.testing.assert_array_equal(resumed.scores, whole.scores)


def test_units_of_the_columns_do_not_matter():
    X, D, weights = sample(4)
    net = Net(max_iter=5)
    one = net.project(Space(X, weights), D)
    other = net.project(Space(1e3 * X + 7, weights), D)
    np.testing.assert_allclose(one.values, other.values, atol=1e-6)
    longer = net.project(Space(X, weights), 1e6 * D)
    np.testing.assert_allclose(1e6 * one.values, longer.values, rtol=1e-6)


def test_weight_two_is_the_row_twice_and_sparse_is_dense():
    X, D, weights = sample(5)
    again = np.repeat(np.arange(len(X)), weights.astype(int))
    net = Net(max_iter=5)
    one = net.project(Space(X, weights), D).hypothesis.predict(X)
    other = net.project(Space(X[again]), D[again]).hypothesis.predict(X)
    np.testing.assert_allclose(one, other, atol=1e-6)
    thin = net.project(Space(sparse.csr_array(X), weights), D)
    np.testing.assert_allclose(thin.values, one, atol=1e-6)
    np.testing.assert_allclose(thin.hypothesis.predict(sparse.csc_array(X)), one, atol=1e-6)


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_array])
def test_rows_and_features_that_are_not_drawn_do_not_count(table):
    X, D, weights = sample(6, d=4, outputs=2)
    rows, features = np.arange(0, 80, 2), np.array([1, 3])
    found = Net().project(lent(Space(table(X), weights), rows, features), D)
    muddled, unseen = X.copy(), D.copy()
    muddled[1::2], unseen[1::2] = 9.0, 9.0
    muddled[:, [0, 2]] = 1.0
    again = Net().project(lent(Space(table(muddled), weights), rows, features), unseen)
    np.testing.assert_array_equal(found.values[rows], again.values[rows])
    assert not found.hypothesis.hidden[:, [0, 2]].any()


def test_nothing_to_follow_and_nothing_to_see():
    X, D, _ = sample(7)
    constant = Net().project(Space(X), np.full(80, 3.0))
    np.testing.assert_allclose(constant.values, 3.0, atol=1e-9)
    blind = Net().project(Space(np.ones((80, 2))), D)
    np.testing.assert_allclose(blind.values, D.mean(), atol=1e-6)
    assert np.isfinite(Net().project(Space(X[:1]), D[:1]).values).all()


def test_support_says_what_is_proof_and_what_is_found():
    X, G, weights = sample(8, outputs=2)
    support = Net().support(Space(X, weights), G)
    assert support.upper == pytest.approx(np.average(np.abs(G).sum(axis=1), weights=weights))
    assert 0 < support.lower < support.upper
    assert Net().support(Space(X, weights), G, search=False).lower == support.upper


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"X": np.full((3, 2), np.nan)},
            r"X has a missing value \(NaN\) at row 0, column 0, which learner Net",
        ),
        ({"categorical": [0]}, "learner Net cannot take the categorical columns 0"),
        ({"descent": "hull"}, "descent Hull steps along extreme atoms, which learner Net has no way to find"),
    ],
)
def test_impossible_pairs_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        ab.boost(**{"X": np.eye(3), "y": np.arange(3.0), "learner": "net", **arguments})


def test_infinity_at_prediction_is_refused():
    run = ab.boost(np.eye(3), np.arange(3.0), learner="net", rounds=2, random_state=0)
    with pytest.raises(ValueError, match="X has inf at row 0, column 1, which this model cannot take"):
        run.ensemble.predict(np.array([[0.0, np.inf, 0.0]]))


def test_names_and_parameters():
    assert ab.weak.get("net") == Net(hidden=5)
    assert ab.weak.get("net:8") == Net(hidden=8)
    for bad, words in (
        ({"hidden": 0}, "hidden"),
        ({"penalty": -1.0}, "penalty"),
        ({"max_iter": 0}, "max_iter"),
    ):
        with pytest.raises(ValueError, match=f"{words} must"):
            Net(**bad)
    with pytest.raises(TypeError, match="learner Net has no way to find its extreme atom"):
        Net().extreme(Space(np.eye(3)), np.ones(3))
