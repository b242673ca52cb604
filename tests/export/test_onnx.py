"""An ONNX file in onnxruntime is the model: every decision, and every result within the rounding that is promised."""

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from anyboost.export import onnx_check, onnx_graph, onnx_trees
from anyboost.export.parts import parts_of
from export.models import MODELS, REFUSED, fitted, frame, numbers, table
from export.random_models import random_model

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}


def _run(path, X, dtype):
    """What the file gives for the rows of a table as users have it."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [found.name for found in session.get_inputs()]
    if names == ["X"]:
        given = {"X": np.asarray(X, dtype=dtype)}
    elif isinstance(X, pd.DataFrame):
        given = {
            name: X[[name]].to_numpy(dtype=dtype)
            if X[name].dtype.kind == "f"
            else X[[name]].fillna("").to_numpy(dtype=object)
            for name in names
        }
    else:
        given = {name: X[:, [number]].astype(dtype) for number, name in enumerate(names)}
    outputs = [found.name for found in session.get_outputs()]
    return dict(zip(outputs, session.run(None, given), strict=True))


def _rounded(X, dtype):
    """The table as the file sees it, for the model to see the same."""
    if isinstance(X, pd.DataFrame):
        return X.assign(**{name: X[name].astype(dtype) for name in X if X[name].dtype.kind == "f"})
    return X.astype(dtype).astype(np.float64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [name for name in MODELS if name not in REFUSED | {"coded"}])
def test_the_file_predicts_what_the_model_predicts(name, dtype, tmp_path):
    model, X = fitted(name)
    ab.export.to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    found, shown = _run(tmp_path / "model.onnx", X, dtype), _rounded(X, dtype)
    near = {"rtol": 300 * UNIT[dtype], "atol": 300 * UNIT[dtype]}
    if not hasattr(model, "classes_"):
        assert found["prediction"].shape == model.predict(shown).shape
        np.testing.assert_allclose(found["prediction"], model.predict(shown), **near)
        return
    scores = model._raw(shown)
    np.testing.assert_allclose(found["scores"], scores, **near)
    clear = np.abs(scores) > 1e-5 if scores.ndim == 1 else np.diff(np.sort(scores, axis=1))[:, -1] > 1e-5
    assert (found["label"][clear] == model.predict(shown)[clear]).all()
    assert found["label"].dtype.kind in "Oib"
    try:
        chances = model.predict_proba(shown)
    except AttributeError:
        assert "probabilities" not in found
    else:
        np.testing.assert_allclose(found["probabilities"], chances, **near)


def test_categories_that_are_numbers(tmp_path):
    """A level that float32 has not is one that no float32 input has: it counts as never seen, as in the model."""
    model, X = fitted("coded")
    for dtype in UNIT:
        ab.export.to_onnx(model, tmp_path / "model.onnx", dtype=dtype)
        found = _run(tmp_path / "model.onnx", X, dtype)["prediction"]
        with pytest.warns(UserWarning, match="none of these levels") if dtype == "float32" else _quiet():
            wanted = model.predict(_rounded(X, dtype))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


class _quiet:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def _check(model, dtype, rows):
    parts = parts_of(model)
    made, places = onnx_graph.whole(parts, dtype)
    return onnx_check.check(made, parts, places, dtype, rows)


@pytest.mark.parametrize("seed", range(6))
def test_no_decision_of_random_models_changes(seed):
    for dtype in (np.float32, np.float64):
        assert _check(random_model(seed), dtype, 2_000) > 0


@pytest.mark.full
def test_no_decision_of_two_hundred_random_models_changes():
    tried = [_check(random_model(seed), dtype, 8_000) for seed in range(200) for dtype in UNIT_TYPES]
    print(f"{len(tried) // 2} models, {sum(tried):,} decisions, 0 changed")
    assert min(tried) > 0


UNIT_TYPES = (np.float32, np.float64)


def test_the_check_finds_thresholds_that_were_rounded_to_the_nearest(monkeypatch, tmp_path):
    """What the usual way of rounding would cost is found, and nothing is written."""
    model, _ = fitted("squared")
    monkeypatch.setattr(onnx_trees, "round_down", lambda values, dtype: values.astype(dtype))
    with pytest.raises(RuntimeError, match="to another leaf of tree"):
        ab.export.to_onnx(model, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_the_check_finds_values_that_are_not_the_model(monkeypatch, tmp_path):
    model, _ = fitted("absolute")
    honest = onnx_graph._scores

    def shifted(graph, parts, places, table):
        return graph.node("Mul", honest(graph, parts, places, table), graph.constant(1.001))

    monkeypatch.setattr(onnx_graph, "_scores", shifted)
    with pytest.raises(RuntimeError, match="where the model has"):
        ab.export.to_onnx(model, tmp_path / "model.onnx")


def test_no_leaf_has_the_number_of_its_sibling():
    """onnxruntime 1.23 takes such a node for a leaf, whatever stands on its other side."""
    for name in ("squared", "quantile", "each", "categories"):
        terms = parts_of(fitted(name)[0]).terms
        trees = [onnx_trees.Weighted(term.tree, term.values(0), 0) for term in terms]
        found = onnx_trees.attributes(trees, 1, onnx_trees.Places([], []), np.float32)
        sides = ("nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs")
        true, false, true_leaf, false_leaf = (np.array(found[side]) for side in sides)
        assert not ((true == false) & (true_leaf != false_leaf)).any()


def test_round_down_is_the_largest_that_is_not_above():
    values = np.array([0.1, -0.1, 1e-300, -1e-300, 1e300, -1e300, 0.0, np.inf, -np.inf, 16777217.0])
    found = onnx_trees.round_down(values, np.float32)
    assert found.dtype == np.float32
    assert (found.astype(np.float64) <= values).all()
    with np.errstate(over="ignore"):
        above = np.nextafter(found, np.float32(np.inf)).astype(np.float64)
    assert ((above > values) | (found == np.inf)).all()


def _with_init():
    from sklearn.linear_model import LinearRegression

    X = np.nan_to_num(table())
    return ab.BoostingRegressor(init=LinearRegression(), max_iter=2).fit(X, numbers())


def _own_link():
    loss = ab.losses.pointwise(
        lambda f, y: (f - y) ** 2, lambda f, y: 2.0 * (f - y), name="mine", link=lambda f: 2 * f
    )
    return ab.boost(table(), numbers(), loss, rounds=2)


def _isotonic():
    return ab.BoostingClassifier(calibration="isotonic", max_iter=4).fit(table(), numbers() > 1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: fitted("linear leaves")[0], 'fit it with leaf="mean"'),
        (lambda: ab.boost(np.nan_to_num(table()), numbers(), learner="net", rounds=2), "sum of NetFunction"),
        (_with_init, "its init"),
        (_own_link, "link of its loss mine is a function of your own"),
        (_isotonic, 'calibration="temperature"'),
        (lambda: ab.mirror.MirrorAverager(), "got MirrorAverager"),
        (
            lambda: ab.BoostingRegressor(max_iter=2).fit(frame().rename(columns={"a": "label"}), numbers()),
            "column 'label' has the name of an output",
        ),
    ],
)
def test_what_has_no_place_in_onnx_is_refused_in_a_sentence(make, sentence, tmp_path):
    (tmp_path / "model.onnx").write_text("old")
    with pytest.raises((ValueError, TypeError)) as refused:
        ab.export.to_onnx(make(), tmp_path / "model.onnx")
    assert sentence in str(refused.value)
    assert (tmp_path / "model.onnx").read_text() == "old"


def test_a_file_says_what_it_is(tmp_path):
    model, _ = fitted("logistic")
    ab.export.to_onnx(model, tmp_path / "model.onnx")
    made = onnx.load(tmp_path / "model.onnx")
    told = {entry.key: entry.value for entry in made.metadata_props}
    assert told["anyboost.kind"] == "classifier"
    assert told["anyboost.loss"] == "logistic"
    assert told["anyboost.classes"] == '["no", "yes"]'
    assert made.producer_name == "anyboost"


def test_a_sum_of_nothing_is_its_start(tmp_path):
    model = ab.boost(table(), numbers(), rounds=3).ensemble.truncate(0)
    ab.export.to_onnx(model, tmp_path / "model.onnx")
    found = _run(tmp_path / "model.onnx", table(), np.float32)["prediction"]
    np.testing.assert_allclose(found, model.predict(table()), rtol=1e-6)


def test_an_empty_word_that_is_a_level_stays_one(tmp_path):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"city": random.choice(["Bern", "Chur", None], 200), "size": random.normal(size=200)})
    X = X.assign(city=X["city"].fillna(""))
    y = 2.0 * (X["city"] == "") + X["size"]
    model = ab.BoostingRegressor(max_iter=5, learning_rate=0.5).fit(X, y)
    ab.export.to_onnx(model, tmp_path / "model.onnx")
    found = _run(tmp_path / "model.onnx", X, "float32")["prediction"]
    np.testing.assert_allclose(found, model.predict(_rounded(X, "float32")), rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize(
    ("loss", "rate", "target", "words"),
    [
        ("squared", 0.5, lambda x: np.abs(x) * 1e60, "its scores are as large as .*e.6"),
        ("squared", 1e-20, lambda x: np.sign(x - np.median(x)) * 1e-20, "its scores are no larger than .*e-"),
        ("poisson", 0.5, lambda x: np.exp(80 + 20 * x), "its predictions are as large as .*e.[4-6]"),
    ],
)
def test_numbers_that_float32_has_not_are_refused_towards_float64(
    loss, rate, target, words, verify, tmp_path
):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = ab.BoostingRegressor(loss=loss, max_iter=40, learning_rate=rate).fit(X, target(X[:, 0]))
    path = tmp_path / "model.onnx"
    with pytest.raises(
        ValueError, match=f'^model cannot be exported in float32: {words}.*pass dtype="float64"$'
    ):
        ab.export.to_onnx(model, path, verify=verify)
    assert not path.exists()
    ab.export.to_onnx(model, path, dtype="float64", verify=verify)
    found = _run(path, X, "float64")["prediction"]
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-10)


def test_a_large_bound_alone_is_no_reason_to_refuse(tmp_path):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3))
    model = ab.BoostingRegressor(loss="poisson", max_iter=80, learning_rate=0.5).fit(X, np.exp(60 * X[:, 0]))
    assert parts_of(model).size().max() > 89  # whose exponential float32 has not
    ab.export.to_onnx(model, tmp_path / "model.onnx")
    found = _run(tmp_path / "model.onnx", X, "float32")["prediction"]
    np.testing.assert_allclose(found, model.predict(_rounded(X, "float32")), rtol=1e-3)


@pytest.mark.parametrize("broken", [np.nan, np.inf, 1e30])
def test_a_file_that_answers_nonsense_is_found_out(broken, monkeypatch):
    model, _ = fitted("squared")
    parts, kind = parts_of(model), np.float32
    made, places = onnx_graph.whole(parts, kind)
    wanted = onnx_check._wanted
    monkeypatch.setattr(
        onnx_check,
        "_wanted",
        lambda *given: [
            (name, np.where(value == value[0], broken, value), off) for name, value, off in wanted(*given)
        ],
    )
    with pytest.raises(
        onnx_check.Found, match=r"^prediction is [-\d.]+(e-?\d+)? where the model has (nan|inf|1e\+30)$"
    ):
        onnx_check.check(made, parts, places, kind, rows=50)
