"""A file that lies about the training rows of an estimator is refused, or says so where shapes are asked for."""

import json

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from anyboost import BoostingRegressor
from anyboost.files import container

random = np.random.default_rng(0)
X = pd.DataFrame({"size": random.normal(size=200), "kind": pd.Categorical(random.choice(list("abc"), 200))})
Y = X["size"] + (X["kind"] == "a")
MODEL = BoostingRegressor(max_iter=6, max_leaf_nodes=2).fit(X, Y)
EDGES, MASS = (getattr(MODEL._marginals.columns[0], name) for name in ("edges", "mass"))


def changed(tmp_path, entries, tensors):
    """The file of the model with some entries and tensors in place of its own; None takes one away."""
    path = tmp_path / "model"
    ab.save(MODEL, path)
    contents = container.read(path)
    header, kinds = json.loads(json.dumps(contents.header)), container.DTYPES
    header["model"]["marginals"] |= entries
    found = {
        name: np.frombuffer(contents.data, kinds[t.dtype], int(np.prod(t.shape)), t.begin).reshape(t.shape)
        for name, t in contents.tensors.items()
    } | tensors
    path.write_bytes(
        container.encode(header, {name: value for name, value in found.items() if value is not None})
    )
    return path


LIES = {
    "a column that is not": ({"columns": [0, 1, 2]}, {}),
    "a column twice": ({"columns": [0, 0, 1]}, {}),
    "a column less, with its tensors": ({"columns": [0]}, {}),
    "means that are not there": ({"means": True}, {}),
    "means of other columns": ({"means": True}, {"marginal.means": np.zeros(3)}),
    "one more entry": ({"more": 1}, {}),
    "no edges": ({}, {"marginal.0.edges": None}),
    "edges out of order": ({}, {"marginal.0.edges": EDGES[::-1].copy()}),
    "edges for levels": ({}, {"marginal.1.edges": np.zeros(1)}),
    "fewer edges": ({}, {"marginal.0.edges": EDGES[1:]}),
    "shares that are no shares": ({}, {"marginal.0.mass": 2 * MASS}),
    "negative shares": ({}, {"marginal.0.mass": np.append([-1.0, 2.0], np.zeros(len(MASS) - 2))}),
    "one level more": ({}, {"marginal.1.mass": np.full(5, 0.2)}),
    "bounds out of order": ({}, {"marginal.0.bounds": np.array([1.0, 0.0])}),
}


@pytest.mark.parametrize("lie", LIES)
def test_what_cannot_be_is_refused(lie, tmp_path):
    with pytest.raises(ab.ModelFileError, match="cannot be loaded: "):
        ab.load(changed(tmp_path, *LIES[lie]))


def test_what_is_true_is_loaded(tmp_path):
    assert len(ab.load(changed(tmp_path, {}, {})).shapes()) == 2


def test_cells_of_another_model_are_no_shapes(tmp_path):
    gone = dict.fromkeys((f"marginal.1.{name}" for name in ("edges", "mass", "bounds")), None)
    for entries, tensors in (
        ({}, {"marginal.0.edges": EDGES + 1.0}),
        ({"columns": [0]}, gone),
    ):
        model = ab.load(changed(tmp_path, entries, tensors))
        np.testing.assert_array_equal(model.predict(X), MODEL.predict(X))
        with pytest.raises(ValueError, match="other trees than those that it was fitted with"):
            model.shapes()


def test_a_model_without_shapes_has_no_more_in_its_file(tmp_path):
    random = np.random.default_rng(0)
    table = random.normal(size=(200, 4))
    ab.save(BoostingRegressor(max_iter=5).fit(table, table.sum(axis=1)), tmp_path / "model")
    assert "marginals" not in container.read(tmp_path / "model").header["model"]
