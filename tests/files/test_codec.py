"""What stands in a file as a class and its parameters: registered classes and no others, each parameter checked."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import anyboost as ab
from anyboost.files import container
from anyboost.files.codec import Codec, Place, Record
from anyboost.files.fields import Fault, Fields, count, flag
from anyboost.files.tensors import POSITIVE, Bits, Counts, Floats, Json, Packed, Tensors, Whole
from files.samples import fit


@dataclass(frozen=True)
class Inner:
    word: str = "a"


@dataclass(frozen=True)
class Outer:
    size: int
    share: float | None = None
    on: bool = False
    numbers: tuple[float, ...] = ()
    inner: Inner = Inner()
    function: Callable[[int], int] | None = None


@dataclass(frozen=True)
class Stranger:
    pass


CODEC = Codec("thing", Outer, inner=Codec("inner thing", Inner))


def test_a_class_comes_back_by_its_constructor():
    thing = Outer(np.int64(3), 0.5, True, (1.0, 2.0), Inner("b"))
    entry = CODEC.encode(thing)
    assert entry == {
        "class": "Outer",
        "size": 3,
        "share": 0.5,
        "on": True,
        "numbers": [1.0, 2.0],
        "inner": {"class": "Inner", "word": "b"},
    }
    found = CODEC.decode(entry)
    assert (found.size, found.share, found.on, found.inner) == (3, 0.5, True, Inner("b"))
    assert list(found.numbers) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"class": "Stranger"}, "its thing is 'Stranger', which this version does not know"),
        ({"class": "Inner"}, "its thing is 'Inner'"),
        ({"class": "os.system"}, "its thing is 'os.system'"),
        ({"inner": {"class": "Outer", "size": 1}}, "its inner thing is 'Outer'"),
        ({"size": "3"}, "'size' is not a finite number"),
        ({"on": 1}, "'on' is not what it has to be"),
        ({"inner": {"class": "Inner", "word": 1}}, "'word' is not what it has to be"),
        ({"numbers": [[1.0], "x"]}, "'numbers' is not a finite number"),
        ({"numbers": None}, "'numbers' is not what it has to be"),
        ({"function": None}, "has 'function', which this version does not know"),
    ],
)
def test_other_classes_and_values_are_refused(changes, words):
    entry = CODEC.encode(Outer(3)) | changes
    with pytest.raises(Fault, match=words):
        CODEC.decode(entry)


def test_what_has_no_place_in_a_file_is_refused():
    """Else it would be gone, without a word, from the model that is loaded."""
    with pytest.raises(ValueError, match="its function has no place in a file"):
        CODEC.encode(Outer(3, function=abs))
    with pytest.raises(ValueError, match=r"thing Stranger\(\) cannot be saved: only Outer can"):
        CODEC.encode(Stranger())


def test_load_is_given_only_what_the_kind_can_use(tmp_path):
    run = fit("absolute", "stump", "naive", 1)
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ab.BoostingRegressor(max_iter=1).fit(X, X[:, 0])
    for kind, given, words in (
        (run, {"models": [1]}, "models belong to an estimator of mirror averaging, and the file holds a run"),
        (run.ensemble, {"descent": "naive"}, "descent belongs to a run, and the file holds an ensemble"),
        (model, {"models": [1]}, "models belong .* and the file holds a regressor: leave models out"),
    ):
        ab.save(kind, tmp_path / "model")
        with pytest.raises(ValueError, match=words):
            ab.load(tmp_path / "model", **given)


class Thing:
    """What a record describes: some attributes of a thing, and one of an attribute."""

    def __init__(self, **changes):
        self.n, self.on, self.rate = 3, True, None
        self.weights, self.shares = np.array([0.5, 2.0, 2.0]), np.array([[0.0, 1.0]] * 3)
        self.places, self.marks = np.array([0, 1, 300]), np.array([False, True, False])
        self.covers, self.names, self.inner = np.array([1.0, 2.5]), ["a", 7], Inner("w")
        self.__dict__.update(changes)


RECORD = Record(
    "own.",
    size=Place(count(1), "n"),
    on=flag,
    rate=Place(count(), default=None),
    weights=Floats("rows", least=POSITIVE, rise=0.0),
    shares=Floats("rows", 2, least=0.0, most=1.0),
    places=Whole("size", below="bound", rise=1),
    marks=Bits("size", sparse=True),
    covers=Counts(None),
    names=Json(lambda value, name: value),
    word=Place(Json(lambda value, name: value), "inner.word"),
)


def part_of(packed, **changes):
    """What a reader gets of it, with other tensors in the place of some."""
    tensors = packed.tensors | {f"own.{name}": array for name, array in changes.items()}
    return Fields(packed.header, "part", Tensors(container.held({}, tensors)))


@pytest.mark.parametrize("changes", [{}, {"marks": np.zeros(3, bool)}, {"rate": 5}, {"covers": np.ones(4)}])
def test_a_record_writes_and_reads_by_one_description(changes):
    thing = Thing(**changes)
    packed = RECORD.pack(thing)
    part = part_of(packed)
    found = RECORD.take(part, bound=301)
    part.done()
    part.tensors.done()
    assert found.pop("word") == "w"
    assert found.keys() == vars(thing).keys() - {"inner"}
    for name, value in found.items():
        np.testing.assert_array_equal(value, getattr(thing, name))
    assert ("rate" in packed.header) == ("rate" in changes)
    assert ("own.marks" in packed.tensors) == ("marks" not in changes)
    assert packed.tensors["own.places"].dtype == np.uint16


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"weights": np.array([0.0, 1.0, 1.0])}, "its tensor 'own.weights' holds a number out of range"),
        ({"weights": np.array([2.0, 1.0, 1.0])}, "its own.weights are not in order"),
        ({"weights": np.array([1.0, np.nan, 1.0])}, "'own.weights' holds a value that is not finite"),
        ({"shares": np.zeros((2, 2))}, "'own.shares' has the wrong type or shape"),
        ({"shares": np.full((3, 2), 1.5)}, "'own.shares' holds a number out of range"),
        ({"places": np.array([0, 1, 2, 3], np.uint8)}, "'own.places' has the wrong type or shape"),
        ({"places": np.array([0, 1, 301], np.uint16)}, "'own.places' holds a number out of range"),
        ({"places": np.array([0, 2, 2], np.uint8)}, "its own.places are not in order"),
        ({"marks": np.array([0b00010000], np.uint8)}, "'own.marks' has bits beyond its end"),
        ({"names": np.array([255], np.uint8)}, "'own.names' is not JSON"),
    ],
)
def test_what_a_record_does_not_describe_is_refused(changes, words):
    """A kernel would read beyond an array, or a model answer nonsense."""
    with pytest.raises(Fault, match=words):
        RECORD.take(part_of(RECORD.pack(Thing()), **changes), bound=301)


def test_what_could_not_be_read_is_not_written():
    with pytest.raises(ValueError, match=r"model cannot be saved: its own\.weights are not finite"):
        RECORD.pack(Thing(weights=np.array([1.0, np.inf, 1.0])))
    with pytest.raises(ValueError, match="holds the index 4294967296, which a model file cannot"):
        RECORD.pack(Thing(places=np.array([0, 1, 2**32])))


def test_parts_join():
    one, other = Packed({"a": 1}, {"x": np.ones(1)}), Packed({"b": 2}, {"y": np.ones(2)})
    joined = one | other.within("inside", "in.")
    assert joined.header == {"a": 1, "inside": {"b": 2}}
    assert list(joined.tensors) == ["x", "in.y"]
