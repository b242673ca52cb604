"""A model as JSON comes back to the last bit, and no document does more than raise ModelFileError."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from anyboost import files
from export.models import MODELS, fitted
from files.mutations import ODD

KEPT = sorted((Path(__file__).parent.parent / "files").glob("*_1/*.safetensors"))


def _same(model, other):
    (header, tensors), (header_again, tensors_again) = files.packed(model), files.packed(other)
    assert header == header_again
    assert tensors.keys() == tensors_again.keys()
    for name, array in tensors.items():
        assert array.dtype == tensors_again[name].dtype
        assert array.tobytes() == tensors_again[name].tobytes()


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_kind_of_file_comes_back_from_json(path, tmp_path):
    model = ab.load(path)
    ab.export.to_json(model, tmp_path / "model.json")
    _same(model, ab.export.from_json(tmp_path / "model.json"))


@pytest.mark.parametrize("name", MODELS)
def test_estimators_come_back_and_predict_the_same_bits(name, tmp_path):
    model, X = fitted(name)
    ab.export.to_json(model, tmp_path / "model.json")
    again = ab.export.from_json(tmp_path / "model.json")
    _same(model, again)
    np.testing.assert_array_equal(model.predict(X), again.predict(X))


def _document(tmp_path, name):
    model, _ = fitted(name)
    ab.export.to_json(model, tmp_path / "model.json")
    return json.loads((tmp_path / "model.json").read_text())


def _paths(value, path=()):
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from _paths(part, (*path, key))


def _changed(random, document):
    """A document with one thing in it replaced, left out or added."""
    paths = list(_paths(document))
    path = paths[random.integers(1, len(paths))]
    found = copy.deepcopy(document)
    place = found
    for key in path[:-1]:
        place = place[key]
    how = random.integers(4)
    if how == 0 and isinstance(place, dict):
        del place[path[-1]]
    elif how == 1 and isinstance(place, dict):
        place["more"] = 1
    elif how == 2 and isinstance(place[path[-1]], int | float):
        place[path[-1]] = [place[path[-1]] + 1, -1, 10**30, 1e300, 2**31, "nan", "-inf"][random.integers(7)]
    else:
        place[path[-1]] = ODD[random.integers(len(ODD))]
    return found


@pytest.mark.parametrize("name", ["absolute", "categories", "each", "linear leaves", "encoded"])
def test_hostile_documents_raise_one_error(name, tmp_path):
    document = _document(tmp_path, name)
    random, path = np.random.default_rng(5), tmp_path / "changed.json"
    sentences = []
    for _ in range(150):
        path.write_text(json.dumps(_changed(random, document)))
        try:
            model = ab.export.from_json(path)
        except ab.ModelFileError as error:
            sentences.append(str(error))
        else:  # a change that makes another model is none that can be told
            model.ensemble_.predict(np.zeros((3, model.ensemble_.n_features)))
    assert len(sentences) > 50
    assert all(text.startswith(f"{path} cannot be loaded: ") and "\n" not in text for text in sentences)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"nope",
        b"\xff\xfe",
        b'{"format": 1}',
        b'{"format": 1, "format": 1}',
        b'{"format": NaN}',
        b'{"format": 1e999, "kind": "run", "library": "", "model": {}, "tensors": {}}',
        b'{"format": 2, "kind": "run", "library": "", "model": {}, "tensors": {}}',
        b"[" * 100_000,
        b'{"format": ' + b"9" * 10_000 + b"}",
        b'{"format": 1, "kind": "run", "library": "", "model": {}, "tensors": {"scores": {"dtype": "F64", '
        b'"shape": [2147483647, 2147483647], "values": []}}}',
    ],
)
def test_what_is_no_document_raises_the_same_error(text, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(text)
    with pytest.raises(ab.ModelFileError, match="cannot be loaded: "):
        ab.export.from_json(path)


def test_trees_without_end_are_refused(tmp_path):
    document = _document(tmp_path, "absolute")
    root = document["trees"][0]["nodes"][0]
    root["left"], path = 0, tmp_path / "loop.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ab.ModelFileError):
        ab.export.from_json(path)


def test_an_old_file_stays_where_a_model_cannot_be_written(tmp_path):
    path = tmp_path / "model.json"
    path.write_text("old")
    with pytest.raises(TypeError, match="must be of a kind that has a file"):
        ab.export.to_json(object(), path)
    assert path.read_text() == "old"
