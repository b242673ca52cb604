"""Teams in files: going on from one equals not having stopped, byte by byte, also in the middle of a refit."""

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
from files import mutations


def sample(n=140, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    rows = [{**dict(zip("abc", row, strict=True)), "color": "rgb"[i % 3]} for i, row in enumerate(X.tolist())]
    return rows, X[:, 0] - X[:, 1] * X[:, 2] + 0.1 * random.normal(size=n)


MODELS = {
    "numbers": (ab.OnlineBoostingRegressor(max_rows_kept=100), lambda y: y),
    "counts": (ab.OnlineBoostingRegressor(loss="poisson"), lambda y: np.abs(y).round()),
    "hashed": (ab.OnlineBoostingRegressor("team", hash_bits=4), lambda y: y),
    "background": (ab.OnlineBoostingRegressor(refit="background"), lambda y: y),
    "two": (ab.OnlineBoostingClassifier(), lambda y: y > 0),
    "three": (
        ab.OnlineBoostingClassifier(refit="background"),
        lambda y: np.array(["low", "mid", "high"])[np.digitize(y, [-1.0, 1.0])],
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "cut", [1, 41, 112]
)  # in the background, a fit begun at row 40 answers from row 44 on
def test_going_on_from_a_file_is_not_stopping(tmp_path, name, cut):
    model, of = MODELS[name]
    rows, y = sample()
    y = of(y)
    whole = model.clone()
    whole.learn_many(rows[:cut], y[:cut])
    whole.predict_one(rows[0], key="late")
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    assert str(resumed.get_params()) == str(whole.get_params())
    for each in (whole, resumed):
        each.learn_many(rows[cut:120], y[cut:120])
        each.learn_one(key="late", y=y[0])
        for x, label in zip(rows[120:], y[120:].tolist(), strict=True):
            each.learn_one({**x, "new": 1.0}, label)
    assert list(whole.predict_many(rows)) == list(resumed.predict_many(rows))
    assert whole.regret() == resumed.regret()
    assert whole.drift_ == resumed.drift_
    for each in ("whole", "resumed"):
        ab.save({"whole": whole, "resumed": resumed}[each], tmp_path / each)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_arrays(tmp_path):
    rows, y = sample()
    X = np.array([[row[name] for name in "abc"] for row in rows])
    whole = ab.OnlineBoostingClassifier().partial_fit(X[:60], y[:60] > 0)
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    for each in (whole, resumed):
        each.partial_fit(X[60:], y[60:] > 0)
    np.testing.assert_array_equal(whole.predict_proba(X), resumed.predict_proba(X))


@pytest.mark.parametrize("options", [{}, {"learner": "linear"}, {"loss": "softmax"}, {"hash_bits": 6}])
def test_a_classifier_that_waits_for_its_first_label_goes_on_from_a_file(tmp_path, options):
    rows, y = sample(60)
    labels = np.where(y > 0, "high", "low")
    whole = ab.OnlineBoostingClassifier(**options)
    whole.predict_one(rows[0], key="late")
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    assert resumed.predict_one(rows[0]) is None
    for each, name in ((whole, "whole"), (resumed, "resumed")):
        if "loss" not in options:  # softmax has to be told its classes by partial_fit, which takes no names
            each.learn_one(key="late", y=labels[0])
            each.learn_many(rows[1:], labels[1:])
        ab.save(each, tmp_path / name)
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_what_waits_may_lack_values_in_any_way(tmp_path):
    model = ab.OnlineBoostingRegressor()
    model.predict_one({"a": float("nan"), "b": pd.NA, "c": None, "d": 1.0}, key="late")
    ab.save(model, tmp_path / "model")
    ab.load(tmp_path / "model").learn_one(key="late", y=1.0)


def test_fewer_may_wait_than_did_when_a_model_is_saved(tmp_path):
    model = ab.OnlineBoostingRegressor()
    model.learn_one({"a": 1.0}, 1.0)
    for key in range(5):
        model.predict_one({"a": 2.0}, key=key)
    model.set_params(max_waiting=2)
    ab.save(model, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    loaded.learn_one(key=3, y=1.0)
    with pytest.raises(ValueError, match="key 2 has no example"):
        loaded.learn_one(key=2, y=1.0)


@pytest.mark.parametrize(
    "changed", [{"learner": "linear"}, {"hash_bits": 4}, {"loss": "absolute", "forget": 0.1}]
)
def test_what_could_not_be_read_back_is_not_saved(tmp_path, changed):
    model = ab.OnlineBoostingRegressor()
    model.learn_one({"a": 1.0}, 1.0)
    model.set_params(**changed)
    with pytest.raises(
        ValueError,
        match=r"cannot be saved: .* now say another model than the one that has learnt: set them back",
    ):
        ab.save(model, tmp_path / "model")


@pytest.mark.parametrize("key", [np.int64(3), np.float64(2.5), np.str_("k")])
def test_a_key_of_numpy_is_the_number_or_text_that_it_shows(tmp_path, key):
    model = ab.OnlineBoostingRegressor()
    model.predict_one({"a": 1.0}, key=key)
    ab.save(model, tmp_path / "model")
    ab.load(tmp_path / "model").learn_one(key=key.item(), y=1.0)
    model.learn_one(key=key, y=1.0)


MUTATIONS = (
    mutations.damage,
    mutations.flip_and_sign,
    mutations.edit_header,
    mutations.edit_header,
    mutations.claim_sizes,
    mutations.swap_tensors,
    mutations.exchange_numbers,
    mutations.retype,
    mutations.spoil_numbers,
    mutations.mangle_json,
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teams")
    rows, y = sample(45)
    blobs = []
    for name in ("numbers", "three"):
        model, of = MODELS[name]
        model = model.clone()
        model.learn_many(rows[:41], of(y)[:41])
        model.predict_one(rows[1], key=7)
        ab.save(model, folder / name)
        blobs.append((folder / name).read_bytes())
    return blobs


@pytest.mark.parametrize("number", range(120))
def test_a_damaged_or_lying_file_is_refused_or_is_a_model(tmp_path, originals, number):
    random = np.random.default_rng(number)
    mutate = MUTATIONS[number % len(MUTATIONS)]
    (tmp_path / "model").write_bytes(mutate(random, originals[number // len(MUTATIONS) % 2]))
    try:
        model = ab.load(tmp_path / "model")
    except ab.ModelFileError:
        return
    rows, y = sample(30)
    numbers = isinstance(model, ab.OnlineBoostingRegressor)
    with np.errstate(all="ignore"):  # a lie may be a huge number
        model.learn_many(rows, y if numbers else np.where(y > 0, "high", "low"))
        assert len(model.predict_many(rows)) == 30
