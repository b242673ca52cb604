"""A saved estimator comes back whole: predictions, names, categories, classes, parameters, history."""

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor, losses
from anyboost.cli.inspect import rows
from anyboost.files import container, peek

X, Y = load_diabetes(return_X_y=True, as_frame=True)
IRIS, KINDS = load_iris(return_X_y=True)
SPLIT = {"X_val": X[300:], "y_val": Y[300:]}
COLOR = pd.Categorical(np.array(["red", "green", "blue"])[np.arange(len(Y)) % 3])
TIMES = np.where(np.arange(len(Y)) % 3, Y, -Y)


def models():
    return {
        "plain": BoostingRegressor(max_iter=5).fit(X, Y),
        "array": BoostingRegressor("absolute", max_iter=5, max_depth=3).fit(X.to_numpy(), Y),
        "stopped": BoostingRegressor(
            "huber:30", max_iter=80, early_stopping=True, scoring=["loss", "r2"]
        ).fit(X, Y, **SPLIT),
        "stopped by the training score": BoostingRegressor(
            "quantile", quantile=0.8, max_iter=5, early_stopping=True, validation_fraction=None, scoring="r2"
        ).fit(X, Y),
        "columns": BoostingRegressor(
            learner=ab.weak.Dictionary(), descent=ab.descent.Residual(0.1), max_iter=4
        ).fit(X, Y),
        "offset": BoostingRegressor("poisson", init=1.0, max_iter=4).fit(X, Y, offset=np.full(len(Y), 0.5)),
        "nothing": BoostingRegressor(max_iter=0).fit(X, Y),
        "cox": BoostingRegressor("cox", max_iter=5).fit(X, TIMES),
        "quantiles": BoostingRegressor("multi_quantile:0.1,0.5,0.9", max_iter=4).fit(X, Y),
        "two targets": BoostingRegressor("absolute", max_iter=4).fit(X, np.column_stack([Y, -Y])),
        "sum": BoostingRegressor(0.5 * losses.Absolute() + losses.Squared(), max_iter=3).fit(X, Y),
        "words": BoostingClassifier(max_iter=4).fit(IRIS, np.array(["a", "b", "c"], dtype=object)[KINDS]),
        "numbers": BoostingClassifier("hinge", max_iter=4, class_weight={1: 2.0}).fit(IRIS, KINDS == 1),
        "reals": BoostingClassifier(max_iter=4).fit(IRIS, KINDS * 2.0),
        "ranker": BoostingRanker(max_iter=4).fit(X, Y, qid=np.arange(len(Y)) // 9),
    }


MODELS = models()


def table_of(model):
    return (
        IRIS
        if isinstance(model, BoostingClassifier)
        else X
        if hasattr(model, "feature_names_in_")
        else X.to_numpy()
    )


def methods(model):
    found = [model.predict, getattr(model, "predict_proba", model.predict), model.staged_predict]
    if isinstance(getattr(model, "loss_", None), losses.Cox):
        found.append(model.predict_survival)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_an_estimator_comes_back_whole(name, tmp_path):
    model, path = MODELS[name], tmp_path / "model.safetensors"
    ab.save(model, path)
    again = ab.load(path)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    for ours, theirs in zip(methods(again), methods(model), strict=True):
        for one, other in zip(ours(table_of(model)), theirs(table_of(model)), strict=True):
            np.testing.assert_array_equal(one, other)
    fitted = {key for key in vars(model) if key.endswith("_")} - {"init_"}
    assert {key for key in vars(again) if key.endswith("_")} == fitted
    assert again.steps_ == model.steps_
    assert again.dials_ == model.dials_
    for key in ("train_score_", "n_iter_", "best_iteration_", "n_features_in_", "is_categorical_", "loss_"):
        np.testing.assert_array_equal(getattr(again, key), getattr(model, key))
    if hasattr(model, "classes_"):
        assert again.classes_.tolist() == model.classes_.tolist()
    assert {n: list(f) for n, f in again.validation_scores_.items()} == {
        n: list(f) for n, f in model.validation_scores_.items()
    }
    np.testing.assert_array_equal(again.validation_score_, model.validation_score_)
    second = tmp_path / "again.safetensors"
    ab.save(again, second)
    assert second.read_bytes() == path.read_bytes()
    targets = (IRIS, KINDS > 0) if hasattr(model, "classes_") else (X, TIMES if name == "cox" else Y)
    assert again.fit(*targets, **({"qid": np.arange(len(Y)) // 9} if name == "ranker" else {}))


def test_names_types_and_classes_stand_in_the_header(tmp_path):
    path = tmp_path / "model.safetensors"
    ab.save(BoostingClassifier(max_iter=2).fit(X, np.where(Y > 100, "ill", "well")), path)
    header = peek(path).header["model"]
    assert header["columns"]["names"] == X.columns.tolist()
    assert header["classes"] == {"kind": "text", "values": ["ill", "well"]}
    shown = dict(rows(path, peek(path)))
    assert shown["holds"].startswith("classifier")
    assert shown["classes"] == "ill, well"
    assert shown["columns"].startswith("age, sex, bmi")


def test_what_there_is_none_of_is_none_in_a_file_too(tmp_path):
    path = tmp_path / "model.safetensors"
    ab.save(BoostingRegressor(max_iter=2, early_stopping="auto").fit(X, Y), path)
    again = ab.load(path)
    assert again.validation_scores_ == {}
    assert again.validation_score_.shape == (0,)
    assert again.is_categorical_ is None
    assert again.early_stopping == "auto"


def test_categories_come_back(tmp_path):
    frame, path = X.assign(color=COLOR), tmp_path / "model.safetensors"
    model = BoostingRegressor(max_iter=5).fit(frame, Y + 100 * (COLOR == "green"))
    ab.save(model, path)
    later = frame.assign(color=COLOR.set_categories(["green", "blue", "red", "pink"]))
    np.testing.assert_array_equal(ab.load(path).predict(later), model.predict(frame))


def test_what_cannot_be_saved_says_so(tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(ValueError, match="it starts at the predictions of another estimator, its init"):
        ab.save(BoostingRegressor(init=LinearRegression(), max_iter=1).fit(X, Y), path)
    with pytest.raises(ValueError, match="is not fitted yet"):
        ab.save(BoostingRegressor(), path)
    assert not path.exists()


def test_a_loss_of_ones_own_is_given_again(tmp_path):
    path = tmp_path / "model.safetensors"
    mine = losses.pointwise(lambda f, y: (f - y) ** 2, lambda f, y: 2.0 * (f - y), name="mine")
    model = BoostingRegressor(mine, max_iter=3).fit(X, Y)
    ab.save(model, path)
    np.testing.assert_array_equal(ab.load(path).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="are not in its model file"):
        ab.load(path).fit(X, Y)
    np.testing.assert_array_equal(
        ab.load(path, loss=mine).set_params(loss=mine).fit(X, Y).predict(X), model.predict(X)
    )
    with pytest.raises(ValueError, match="loss must be that of the file"):
        ab.load(path, loss="squared")


def test_functions_of_a_fit_are_left_out(tmp_path):
    path = tmp_path / "model.safetensors"
    model = BoostingRegressor(
        max_iter=3,
        callbacks=[print],
        scoring=lambda model, X, y: 1.0,
        random_state=np.random.RandomState(0),
        monotonic_cst=None,
    )
    ab.save(model.set_params(callbacks=[]).fit(X, Y, **SPLIT), path)
    again = ab.load(path)
    assert (again.callbacks, again.scoring, again.random_state) == (None, "loss", None)


def changed(path, change):
    """The file with its header changed and a right checksum."""
    contents = container.read(path)
    header = json.loads(json.dumps(contents.header))
    change(header["model"])
    tensors = {
        name: np.frombuffer(contents.data, container.DTYPES[t.dtype], int(np.prod(t.shape)), t.begin).reshape(
            t.shape
        )
        for name, t in contents.tensors.items()
    }
    path.write_bytes(container.encode(header, tensors))


def setter(*keys, value):
    def change(model):
        for key in keys[:-1]:
            model = model[key]
        model[keys[-1]] = value

    return change


LIES = {
    "another estimator": setter("estimator", value="BoostingThief"),
    "a ranker with classes": setter("estimator", value="BoostingRanker"),
    "no classes": setter("classes", value=None),
    "three classes": setter("classes", value={"kind": "text", "values": ["a", "b", "c"]}),
    "classes out of order": setter("classes", value={"kind": "text", "values": ["b", "a"]}),
    "classes of two kinds": setter("classes", value={"kind": "text", "values": ["a", 1]}),
    "classes without end": setter("classes", value={"kind": "whole", "values": [1, 2**70]}),
    "a loss of many outputs": setter("loss", value={"class": "Softmax"}),
    "too few names": setter("columns", "names", value=["a"]),
    "a name twice": setter("columns", "names", value=["a"] * 10),
    "a name of half a letter": setter("columns", "names", value=["\ud800", *"bcdefghij"]),
    "a column that is not": setter(
        "columns", "categories", value=[{"column": 10, "levels": [], "rest": False}]
    ),
    "levels out of order": setter(
        "columns", "categories", value=[{"column": 0, "levels": ["b", "a"], "rest": False}]
    ),
    "levels of two kinds": setter(
        "columns", "categories", value=[{"column": 0, "levels": ["a", 1], "rest": False}]
    ),
    "a best round beyond": setter("best_iteration", value=99),
    "a bad parameter": setter("parameters", "learning_rate", value=-1.0),
    "a parameter in depth": setter("parameters", "monotonic_cst", value=[[[[[1]]]]]),
    "an unknown scoring": setter("parameters", "scoring", value="steal"),
    "a nested parameter": setter("parameters", "tol", value={"learner": {"class": "Tree", "x": 1}}),
    "one more entry": setter("more", value=1),
    "one more parameter": setter("parameters", "more", value=1),
    "validation without scores": setter("validation", value=[["valid", "loss"]]),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused(lie, tmp_path):
    path = tmp_path / "model.safetensors"
    ab.save(BoostingClassifier(max_iter=2).fit(X, np.where(Y > 100, "ill", "well")), path)
    changed(path, LIES[lie])
    with pytest.raises(ab.ModelFileError, match="cannot be loaded: "):
        ab.load(path)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_no_entry_of_a_header_can_do_harm(tmp_path):
    path = tmp_path / "model.safetensors"
    model = BoostingClassifier(max_iter=2, class_weight={"ill": 2.0}).fit(X, np.where(Y > 100, "ill", "well"))
    ab.save(model, path)
    original = path.read_bytes()
    header = peek(path).header["model"]
    strange = [None, True, -1, "x", [[]], {"class": "Tree"}, 2**80]

    def places(entry, found=()):
        inner = (
            entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
        )
        return [found] * bool(found) + [
            place for key, value in inner for place in places(value, (*found, key))
        ]

    outcomes = set()
    for place in places(header):
        for value in strange:
            path.write_bytes(original)
            changed(path, setter(*place, value=value))
            with suppress(ab.ModelFileError):
                again = ab.load(path)
                again.predict(
                    X if list(getattr(again, "feature_names_in_", [])) == X.columns.tolist() else X.to_numpy()
                )
                outcomes.add("model")
                continue
            outcomes.add("refused")
    assert outcomes == {"model", "refused"}


def test_a_loss_of_ones_own_is_shown_as_one_would_write_it(tmp_path):
    """Not as addresses of functions, nor as half a sentence in the middle of a model."""

    def value(score, target):
        return (score - target) ** 2

    def slope(score, target):
        return 2.0 * (score - target)

    X = np.arange(40.0)[:, None]
    own = ab.losses.pointwise(value, slope, name="mine")
    model = ab.BoostingRegressor(own, max_iter=2).fit(X, X[:, 0])
    path = tmp_path / "model"
    ab.save(model, path)
    assert repr(model) == "BoostingRegressor(loss=pointwise(value, slope, name='mine'), max_iter=2)"
    assert repr(ab.load(path)) == "BoostingRegressor(loss=AbsentLoss('mine'), max_iter=2)"
    assert repr(ab.load(path, loss=own).loss_) == "pointwise(value, slope, name='mine')"
