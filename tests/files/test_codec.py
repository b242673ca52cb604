"""What stands in a file as a class and its parameters: registered classes and no others, each parameter checked."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import anyboost as ab
from anyboost.files.codec import Codec
from anyboost.files.fields import Fault
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
