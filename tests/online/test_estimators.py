"""The two faces of online boosting: scikit-learn's checks, River's checks, and one model whatever the face."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from anyboost.online import HullBooster, LinearLearner, SpanBooster
from anyboost.online.classifier import ChainClassifier
from anyboost.online.estimators import ChainRegressor

CHECKED = [
    ChainRegressor(),
    ChainRegressor(algorithm="hull", loss="huber"),
    ChainClassifier(),
]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def river_checks():
    if find_spec("river") is None:
        return
    from river import checks

    for model in (
        ChainRegressor(),
        ChainRegressor(hash_bits=12),
        ChainClassifier(),
    ):
        for number, check in enumerate(checks.yield_checks(model)):
            yield pytest.param(
                model, check, id=f"{type(model).__name__}-{model.hash_bits}-{check.__name__}-{number}"
            )


@pytest.mark.parametrize(("model", "check"), list(river_checks()))
def test_river_checks(model, check):
    check(model.clone())


def regression(n=300, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    return X, X @ [1.0, -2.0, 0.5, 0.0] + np.sin(3 * X[:, 0]) + 0.1 * random.normal(size=n)


def classes(n=300, seed=0):
    X, y = regression(n, seed)
    return X, np.digitize(y, [-1.0, 1.0])


def dicts(X, names="abcd"):
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def same(first, second):
    """Whether two models say the same of everything, bit for bit."""
    X = dicts(np.random.default_rng(9).normal(size=(50, 4)))
    answer = "predict_proba_one" if hasattr(first, "predict_proba_one") else "predict_one"
    assert [getattr(first, answer)(x) for x in X] == [getattr(second, answer)(x) for x in X]
    assert first.regret() == second.regret()


@pytest.mark.parametrize("cuts", [[], [7, 8, 100], list(range(0, 300, 13))])
@pytest.mark.parametrize("learner", ["linear", "stumps", "net", "tree"])
@pytest.mark.parametrize("make", [ChainRegressor, ChainClassifier])
def test_a_batch_is_the_loop(make, learner, cuts):
    pandas = pytest.importorskip("pandas")
    X, y = (classes if make is ChainClassifier else regression)()
    loop, lists, tables = (make(learner, n_learners=5) for _ in range(3))
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        loop.learn_one(x, label)
    for begin, end in zip([0, *cuts], [*cuts, len(X)], strict=True):
        lists.learn_many(dicts(X)[begin:end], y[begin:end])
        tables.learn_many(pandas.DataFrame(X[begin:end], columns=list("abcd")), pandas.Series(y[begin:end]))
    same(loop, lists)
    same(loop, tables)


@pytest.mark.parametrize("learner", ["linear", "stumps", "net", "tree"])
@pytest.mark.parametrize("make", [ChainRegressor, ChainClassifier])
def test_a_batch_is_the_loop_where_names_and_classes_come_late(make, learner):
    pandas = pytest.importorskip("pandas")
    X, y = (classes if make is ChainClassifier else regression)(80)
    X = [{**x, f"new{i % 40}": 1.0, "color": f"c{i % 7}"} for i, x in enumerate(dicts(X))]
    names = list(dict.fromkeys(name for x in X for name in x))
    X = [{name: x[name] for name in names if name in x} for x in X]
    loop, batch = make(learner, n_learners=5), make(learner, n_learners=5)
    for x, label in zip(X, y.tolist(), strict=True):
        loop.learn_one(x, label)
    batch.learn_many(X[:3], y[:3])
    batch.learn_many(X[3:], y[3:])
    same(loop, batch)
    table = make(learner, n_learners=5)
    table.learn_many(pandas.DataFrame([[x.get(name) for name in names] for x in X], columns=names), y)
    assert table.features_.names == loop.features_.names
    same(loop, table)


@pytest.mark.parametrize("make", [ChainRegressor, ChainClassifier])
def test_arrays_sparse_matrices_and_dicts_give_one_model(make):
    X, y = (classes if make is ChainClassifier else regression)()
    known = {"classes": [0, 1, 2]} if make is ChainClassifier else {}
    arrays, rows = make().partial_fit(X[:100], y[:100], **known), make()
    arrays.partial_fit(sparse.csr_matrix(X[100:]), y[100:])
    for row, label in zip(X, y, strict=True):
        rows.partial_fit(row[None], [label], **known)
    np.testing.assert_array_equal(arrays.predict(X), rows.predict(X))
    assert arrays.regret() == rows.regret()
    if make is ChainRegressor:
        named = make()
        named.learn_many(dicts(X), y)
        np.testing.assert_array_equal(named.predict_many(dicts(X)), arrays.predict(X))


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_boosters_have_the_same_front_end(loss):
    X, y = regression(600)
    for make in (SpanBooster, HullBooster):
        one, many, arrays = (make(LinearLearner(), loss=loss) for _ in range(3))
        assert one.predict_one({"a": 1.0}) == 0.0
        for x, label in zip(dicts(X), y.tolist(), strict=True):
            one.learn_one(x, label)
        many.learn_many(dicts(X), y)
        arrays.partial_fit(X, y)
        expected = arrays.predict(X)
        np.testing.assert_array_equal(many.predict_many(dicts(X)), expected)
        assert [one.predict_one(x) for x in dicts(X)] == expected.tolist()
        assert one.regret() == many.regret() == arrays.regret()
        with pytest.raises(ValueError, match="this booster has learnt from arrays"):
            arrays.learn_one({"a": 1.0}, 0.0)


def test_weights_on_both_faces():
    X, y = regression(50)
    w = np.random.default_rng(1).integers(0, 3, 50).astype(float)
    arrays, named, loop = (ChainRegressor() for _ in range(3))
    arrays.partial_fit(X, y, sample_weight=w)
    named.learn_many(dicts(X), y, w)
    for x, label, weight in zip(dicts(X), y.tolist(), w.tolist(), strict=True):
        loop.learn_one(x, label, w=weight)
    kept = ChainRegressor()
    kept.learn_many(dicts(X[w > 0]), y[w > 0], w[w > 0])
    same(named, loop)
    same(named, kept)
    np.testing.assert_array_equal(arrays.predict(X), named.predict_many(dicts(X)))


def test_features_may_appear_and_disappear():
    X, y = regression(400)
    model = ChainRegressor()
    for row, label in zip(X, y, strict=True):
        x = dict(zip("abcd", row.tolist(), strict=True))
        gone = "abcd"[len(y) % 4]
        model.learn_one({name: value for name, value in x.items() if name != gone}, label)
    for i in range(100):  # one new name after another
        model.learn_one({f"new{i}": 1.0, "a": X[i, 0]}, y[i])
    assert model.features_.names[-1] == "new99"
    assert np.isfinite(model.predict_one({"never": 1.0, "a": 0.5}))
    assert "never" not in model.features_.names


def test_hashed_features_are_named_ones_in_other_columns():
    X, y = regression()
    named, hashed = ChainRegressor(), ChainRegressor(hash_bits=16)
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        named.learn_one(x, label)
        hashed.learn_one(x, label)
    predictions = [model.predict_many(dicts(X)) for model in (named, hashed)]
    np.testing.assert_allclose(*predictions, rtol=1e-9)
    assert hashed.booster_.n_features == 2**16
    assert hashed.features_.names == []


REFUSED = [
    ({"a": np.inf, "z": 1.0}, 1.0, 1.0, "x\\['a'\\] must be finite"),
    ({"z": 1.0}, np.nan, 1.0, "y must"),
    ({"z": 1.0}, 1.0, -1.0, "sample_weight must not be negative"),
    ({"z": 1.0}, 1.0, np.inf, "sample_weight must be finite"),
]


@pytest.mark.parametrize("learnt", [0, 20])
@pytest.mark.parametrize(("x", "label", "weight", "reason"), REFUSED)
@pytest.mark.parametrize("make", [ChainRegressor, ChainClassifier])
def test_a_refused_example_leaves_no_trace(make, x, label, weight, reason, learnt):
    X, y = (classes if make is ChainClassifier else regression)()
    model, other = make(), make()
    for each in (model, other):
        each.learn_many(dicts(X[:learnt]), y[:learnt])
    before = pickle.dumps(model)
    for refuse in (
        lambda: model.learn_one(x, label, weight),
        lambda: model.learn_many([{"a": 1.0}, x], [1.0, label], [1.0, weight]),
    ):
        with pytest.raises(ValueError, match=reason):
            refuse()
        if learnt:
            assert pickle.dumps(model) == before
    model.learn_many(dicts(X[learnt:]), y[learnt:])
    other.learn_many(dicts(X[learnt:]), y[learnt:])
    same(model, other)


def test_the_two_faces_are_kept_apart():
    X, y = regression(20)
    named, arrays = ChainRegressor(), ChainRegressor()
    named.learn_many(dicts(X), y)
    arrays.partial_fit(X, y)
    with pytest.raises(ValueError, match="has learnt from named features: use learn_many"):
        named.partial_fit(X, y)
    with pytest.raises(ValueError, match="has learnt from named features: use learn_many"):
        named.predict(X)
    with pytest.raises(ValueError, match="has learnt from arrays, whose columns have no names"):
        arrays.learn_one({"a": 1.0}, 1.0)
    named.fit(X, y)  # which starts anew
    np.testing.assert_array_equal(named.predict(X), arrays.predict(X))


def test_names_of_a_data_frame_carry_over_to_dicts():
    pandas = pytest.importorskip("pandas")
    X, y = regression(50)
    model = ChainRegressor().partial_fit(pandas.DataFrame(X, columns=list("abcd")), y)
    expected = model.predict(pandas.DataFrame(X, columns=list("abcd")))
    assert [model.predict_one(x) for x in dicts(X)] == expected.tolist()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"loss": "logistic"}, "loss logistic is for classes: use OnlineBoostingClassifier"),
        ({"loss": "cox"}, "couples rows"),
        ({"loss": "sqared"}, "loss 'sqared' is not known"),
        ({"algorithm": "spam"}, "algorithm must be 'span' or 'hull', got 'spam'"),
        ({"algorithm": "hull", "step": 0.5}, "step belongs to 'span', got 0.5"),
        ({"n_learners": 0}, "n_learners must be at least 1"),
        ({"learner": "forest"}, "learner 'forest' is not known: use one of linear, net, stumps, tree"),
        ({"learner": 3}, "learner must be one of .* got int"),
        ({"hash_bits": 40}, "hash_bits must be between 1 and 30, got 40"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"drift": 3}, "drift must be a River drift detector, got int"),
    ],
)
def test_wrong_parameters_are_refused_before_any_work(options, reason):
    X, y = regression(10)
    for work in ("fit", "partial_fit", "learn_many"):
        model = ChainRegressor(**options)
        with pytest.raises(ValueError, match=reason):
            getattr(model, work)(dicts(X) if work == "learn_many" else X, y)


def test_passes_of_fit_are_calls_of_partial_fit():
    X, y = regression()
    often, called = ChainRegressor(max_iter=3).fit(X, y), ChainRegressor()
    for _ in range(3):
        called.partial_fit(X, y)
    np.testing.assert_array_equal(often.predict(X), called.predict(X))
    assert often.n_iter_ == 3
