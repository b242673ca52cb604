"""The bound of an averager ends with the first row that the theorems do not allow, and `no_bound_` says why."""

import copy
import pickle

import numpy as np
import pytest

import anyboost as ab
from anyboost import losses
from anyboost.mirror import MirrorAverager
from reference.files import join, split

BOUNDS = {"output_bound": 1.0, "label_bound": 1.0}


def stream(rows=40, experts=3):
    random = np.random.default_rng(0)
    H = np.where(random.random((rows, experts)) < 0.5, -1.0, 1.0)
    return H, H[:, 0].copy()


def changed(what):
    """A stream whose row 31 has something that the theorems do not allow, and the words for it."""
    H, y, weights, given, words = *stream(), np.ones(40), BOUNDS, "?"
    if what == "forecast":
        H[30, 1], words = -3.0, "since row 31, with a forecast of size 3, beyond output_bound=1.0"
    elif what == "label":
        y[30], words = 5.0, "since row 31, whose label 5 is beyond label_bound=1.0"
    elif what == "weight":
        weights[30], words = 2.5, "since row 31, which weighs 2.5"
    else:
        y[30], given = -8.0, {"lipschitz": 2.0}
        words = "since row 31, with a subgradient of length"
    return H, y, weights, given, words


WHAT = ["forecast", "label", "weight", "slope"]


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("batch", [1, 7, 40])
@pytest.mark.parametrize("own", [False, True])
def test_a_row_that_the_theorem_does_not_allow_ends_the_bound(what, batch, own):
    """Theorem 2 needs E |u|^2 <= L^2 for independent rows: its assumption (32)."""
    H, y, weights, given, words = changed(what)
    loss = losses.pointwise(lambda f, y: 0.5 * (f - y) ** 2, lambda f, y: f - y) if own else "squared"
    if own and "lipschitz" not in given:
        given = {"lipschitz": 2.0}
        if what != "weight":
            words = "since row 31, with a subgradient of length" if what == "label" else None
    averager = MirrorAverager(loss, **given)
    for start in range(0, 30, batch):
        rows = slice(start, min(start + batch, 30))
        averager.partial_fit(H[rows], y[rows], weights[rows])
    shape = averager.proxy.shape(3, averager.domain)
    assert averager.bound() == averager.schedule.bound(31, 2.0, shape)
    assert averager.no_bound_ is None
    if words is None:
        return
    averager.partial_fit(H[30:], y[30:], weights[30:])
    assert averager.bound() == averager.bound(10) == np.inf
    assert words in averager.no_bound_
    assert words in averager.partial_fit(9 * H, 9 * y, 9 * weights).no_bound_  # the first reason stays


def test_an_ended_bound_was_false():
    """Labels beyond their bound, drawn from one distribution: the excess of what the rows taught is over the bound."""
    random = np.random.default_rng(1)
    rows = 200
    y = np.where(random.random(rows) < 0.5, -1.0, 1.0)
    H = np.column_stack([0.9 * y, -0.9 * y])
    y[::20] *= -1e4  # nine in ten rows say the first expert, and the mean over all the second
    averager = MirrorAverager("squared", output_bound=0.9, label_bound=1.0).partial_fit(H, y)
    L = 0.9 * (0.9 + 1.0)
    said = averager.schedule.bound(rows + 1, L, averager.proxy.shape(2, averager.domain))
    risk = [0.5 * np.mean((H @ theta - y) ** 2) for theta in (averager.weights_, [1.0, 0.0], [0.0, 1.0])]
    assert risk[0] - min(risk[1:]) > said
    assert averager.bound() == np.inf


@pytest.mark.parametrize("outputs", [1, 3])
def test_allowed_rows_leave_the_bound(outputs):
    H, y = stream()
    H[3, 1] = np.nan  # asleep
    weights = np.tile([1.0, 0.25, 0.0, 0.5], 10)
    y[2] = 99.0  # of weight 0
    if outputs == 3:
        H, y = np.repeat(H[:, :, None], 3, axis=2) * [1.0, 0.5, -1.0], np.arange(40) % 3
        averager = MirrorAverager("softmax", lipschitz=10.0)
    else:
        averager = MirrorAverager("squared", **BOUNDS)
    averager.partial_fit(H, y, weights)
    assert averager.no_bound_ is None
    assert np.isfinite(averager.bound())
    H[0, 0] = 2.0 if outputs == 1 else [-50.0, 50.0, 0.0]
    averager.partial_fit(H, y)
    assert averager.bound() == np.inf


@pytest.mark.parametrize("what", [*WHAT, "nothing"])
@pytest.mark.parametrize("copied", ["file", "pickle", "copy", "join"])
def test_an_end_survives(tmp_path, what, copied):
    H, y, weights, given, _ = (*stream(), None, BOUNDS, "") if what == "nothing" else changed(what)
    averager = MirrorAverager("squared", **given).partial_fit(H, y, weights)
    if copied == "file":
        ab.save(averager, tmp_path / "model")
        again = ab.load(tmp_path / "model")
    elif copied == "join":
        again = copy.deepcopy(averager).join(2)
    else:
        again = pickle.loads(pickle.dumps(averager)) if copied == "pickle" else copy.deepcopy(averager)
    assert again.no_bound_ == averager.no_bound_
    assert (again.no_bound_ is None) is (what == "nothing")
    again.partial_fit(np.zeros((2, again.n_experts_)), [0.5, 0.5])
    assert again.no_bound_ == averager.no_bound_


def test_an_older_file_does_not_tell_and_has_no_bound(tmp_path):
    H, y = stream()
    ab.save(MirrorAverager("squared", **BOUNDS).partial_fit(H, y), tmp_path / "new")
    outer, header, data = split((tmp_path / "new").read_bytes())
    begin, end = outer["lapses"]["data_offsets"]
    del outer["lapses"]
    for name, entry in outer.items():
        if name != "__metadata__":
            entry["data_offsets"] = [at - (end - begin) * (at >= end) for at in entry["data_offsets"]]
    (tmp_path / "old").write_bytes(join(outer, header, data[:begin] + data[end:]))
    model = ab.load(tmp_path / "old")
    assert model.bound() == np.inf
    assert "older file" in model.no_bound_
    ab.save(model, tmp_path / "again")
    assert "lapses" not in ab.files.peek(tmp_path / "again").tensors


def test_an_averager_without_a_theorem_says_so():
    H, y = stream()
    for given, words in (
        ({"lipschitz": "running"}, "running"),
        ({"average": False}, "average"),
        ({"schedule": "adaptive"}, "Adaptive"),
        ({"schedule": "second_order"}, "average"),
    ):
        averager = MirrorAverager("squared", **given).partial_fit(H, y)
        assert averager.bound() == np.inf
        assert words in averager.no_bound_


def test_each_class_of_an_estimator_keeps_its_end(tmp_path):
    """Columns of forecasts are weighted for each class by an averager of its own."""
    H, _ = stream()
    model = ab.MirrorAveragingClassifier(schedule="anytime", output_bound=1.0, shuffle=False)
    model.fit(H, np.arange(40) % 3)
    assert [each.no_bound_ for each in model.averagers_] == [None] * 3
    H[5, 0] = 7.0
    model.partial_fit(H, np.arange(40) % 3)
    ab.save(model, tmp_path / "model")
    for each in (*model.averagers_, *ab.load(tmp_path / "model").averagers_):
        assert "since row 46, with a forecast of size 7" in each.no_bound_
