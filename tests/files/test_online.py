"""Online models in files: continuing from one equals not having stopped, bit for bit; a bad one is refused."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import anyboost as ab
from anyboost.online import FeatureStumpLearner, HullBooster, LinearLearner, NetLearner, SpanBooster
from files import mutations
from reference.files import join, split


def sample(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = X[:, 0] - X[:, 1] + 0.1 * random.normal(size=n)
    return X, y


def dicts(X):
    return [{**dict(zip("abc", row, strict=True)), "color": "rgb"[i % 3]} for i, row in enumerate(X.tolist())]


MODELS = {
    "regressor": ab.OnlineBoostingRegressor(),
    "hull": ab.OnlineBoostingRegressor("stumps", algorithm="hull", loss="huber:0.5", n_learners=4),
    "net": ab.OnlineBoostingRegressor(NetLearner(units=3), n_learners=3, mode="linear", prefix="all"),
    "adaptive": ab.OnlineBoostingRegressor(LinearLearner(update="adaptive"), n_learners=3),
    "hashed": ab.OnlineBoostingRegressor(hash_bits=5, forget=0.01, output_bound=2.0, label_bound=4.0),
    "tree": ab.OnlineBoostingRegressor(ab.online.TreeLearner(max_leaves=4, bins=8, grace=20), n_learners=2),
    "offset": ab.OnlineBoostingRegressor("linear", n_learners=3, mode="offset", offset_step=0.5),
    "two": ab.OnlineBoostingClassifier(n_learners=5),
    "three": ab.OnlineBoostingClassifier(loss="squared_hinge", n_learners=5),
}


def labels(name, y):
    if name == "two":
        return y > 0
    return np.digitize(y, [-1.0, 1.0]) if name == "three" else y


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("cut", [1, 50])
def test_going_on_from_a_file_is_not_stopping(tmp_path, name, cut):
    X, y = sample()
    y = labels(name, y)
    whole = MODELS[name].clone()
    whole.learn_many(dicts(X)[:cut], y[:cut])
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    assert str(resumed.get_params()) == str(whole.get_params())
    for model in (whole, resumed):
        model.learn_many(dicts(X)[cut:100], y[cut:100])
        for x, label in zip(dicts(X)[100:], y[100:].tolist(), strict=True):
            model.learn_one({**x, "late": 1.0}, label)
    ab.save(whole, tmp_path / "whole")
    ab.save(resumed, tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()
    assert list(whole.predict_many(dicts(X))) == list(resumed.predict_many(dicts(X)))
    assert whole.regret() == resumed.regret()


@pytest.mark.parametrize("loss", ["softmax", "multiclass_hinge"])
def test_vector_losses_and_arrays(tmp_path, loss):
    X, y = sample()
    y = np.digitize(y, [-1.0, 1.0])
    whole = ab.OnlineBoostingClassifier(loss=loss, n_learners=4).partial_fit(
        X[:60], y[:60], classes=[0, 1, 2]
    )
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    for model in (whole, resumed):
        model.partial_fit(X[60:], y[60:])
    np.testing.assert_array_equal(whole.decision_function(X), resumed.decision_function(X))
    assert whole.regret() == resumed.regret()


def test_names_of_a_data_frame_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = sample()
    frame = pandas.DataFrame(X, columns=list("abc"))
    ab.save(ab.OnlineBoostingRegressor().fit(frame, y), tmp_path / "model")
    model = ab.load(tmp_path / "model")
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.n_iter_ == 1
    assert len(model.predict(frame)) == len(X)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
@pytest.mark.parametrize("learner", [LinearLearner(), FeatureStumpLearner()])
def test_boosters(tmp_path, make, learner):
    X, y = sample()
    arrays, named, blank = (
        make(learner, n_learners=4),
        make(learner, n_learners=4),
        make(learner, n_learners=4),
    )
    arrays.partial_fit(X[:60], y[:60])
    named.learn_many(dicts(X)[:60], y[:60])
    for booster, learn in ((arrays, "arrays"), (named, "named"), (blank, "arrays")):
        ab.save(booster, tmp_path / "model")
        resumed = ab.load(tmp_path / "model")
        for each in (booster, resumed):
            if learn == "arrays":
                each.partial_fit(X[60:], y[60:])
            else:
                each.learn_many(dicts(X)[60:], y[60:])
        assert booster.regret() == resumed.regret()
        ab.save(booster, tmp_path / "whole")
        ab.save(resumed, tmp_path / "resumed")
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    river = pytest.importorskip("river")
    from river import drift, linear_model

    assert river
    X, y = sample(20)
    with pytest.raises(ValueError, match="it has learnt nothing yet"):
        ab.save(ab.OnlineBoostingRegressor(), tmp_path / "model")
    for model, reason in (
        (ab.OnlineBoostingRegressor(linear_model.LinearRegression(), n_learners=2), "RiverLearner.* cannot be saved"),
        (ab.OnlineBoostingRegressor(drift=drift.ADWIN()), "River's drift detectors"),
        (ab.OnlineBoostingRegressor(loss=ab.losses.pointwise(lambda f, y: abs(f - y), np.subtract)), "is your own"),
    ):  # fmt: skip
        model.fit(X, y)
        with pytest.raises(ValueError, match=reason):
            ab.save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("online")
    X, y = sample(40)
    blobs = []
    for name in ("hull", "net", "hashed", "three", "tree"):
        model = MODELS[name].clone()
        model.learn_many(dicts(X), labels(name, y))
        if name == "hull":
            model._stream = {
                "target": "y",
                "kinds": {"a": "number"},
                "tally": dict.fromkeys(("weight", "loss", "last_weight", "last_loss", "label"), 0.5)
                | {"rows": 3, "features": 4},
                "weight": None,
                "ignore": ["id"],
                "examples": 3,
                "source": {"bytes": 3, "sha256": "00"},
            }
        ab.save(model, folder / name)
        blobs.append((folder / name).read_bytes())
    return blobs


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


@pytest.mark.parametrize("number", range(200))
def test_a_damaged_or_lying_file_is_refused_or_is_a_model(tmp_path, originals, number):
    random = np.random.default_rng(number)
    blob = originals[random.integers(len(originals))]
    path = tmp_path / "model"
    path.write_bytes(MUTATIONS[number % len(MUTATIONS)](random, blob))
    try:
        model = ab.load(path)
    except ab.ModelFileError:
        return
    X, y = sample(10, seed=1)
    with np.errstate(all="ignore"):
        model.predict_many(dicts(X))
        model.learn_one(dicts(X)[0], next(iter(model.codes_)) if model.classifies else y[0])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda m: m["boosters"][0].update(features=7), "wrong type or shape"),
        (lambda m: m["boosters"][0].update(n_learners=3), "wrong type or shape"),
        (lambda m: m["boosters"][0]["learner"].update({"class": "Ghost"}), "learner is 'Ghost'"),
        (lambda m: m["boosters"][0].update({"class": "Ghost"}), "it is a 'Ghost'"),
        (lambda m: m.update(boosters=[]), "it has no booster"),
        (lambda m: m["stream"].update(kinds={"a": "ghost"}), "'kinds' is not what it has to be"),
        (lambda m: m["stream"].update(kinds={"a": []}), "'kinds' is not what it has to be"),
        (lambda m: m["stream"].update(examples=-1), "'examples' is not what it has to be"),
        (lambda m: m["parameters"].update(n_learners="x"), "its header says n_learners"),
        (lambda m: m["parameters"].update(n_learners=10**400), "'n_learners' is not a finite number"),
        (lambda m: m.update(ghost=1), "'ghost', which this version does not know"),
    ],
)
def test_lies_are_told_apart(tmp_path, originals, change, reason):
    outer, header, data = split(originals[0])
    change(header["model"])
    path = tmp_path / "model"
    path.write_bytes(join(outer, header, data))
    with pytest.raises(ab.ModelFileError, match=reason):
        ab.load(path)


def test_stumps_of_older_files_stay_plain_and_go_on_as_before(tmp_path):
    kept = Path(__file__).parent / "kinds_1" / "stumps.safetensors"
    model = ab.load(kept)
    assert model.learner == FeatureStumpLearner(centered=False)
    ab.save(model, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == kept.read_bytes()
    X = np.random.default_rng(2).normal(size=(80, 3)).round(3)
    rest = np.random.default_rng(5).normal(size=(40, 3))
    ab.save(SpanBooster(FeatureStumpLearner(), 3).partial_fit(X, X[:, 0]), tmp_path / "new")
    new = ab.load(tmp_path / "new")
    assert new.learner == FeatureStumpLearner()
    for each in (model, new):
        each.partial_fit(rest, rest[:, 0])
    assert np.isfinite(model.predict(rest)).all()
    assert not np.array_equal(model.predict(rest), new.predict(rest))


def test_pickles_of_versions_without_mode_offset_are_saved(tmp_path):
    X, y = sample()
    model = ab.OnlineBoostingRegressor("linear", n_learners=3).partial_fit(X, y)
    ab.save(model, tmp_path / "now")
    for thing in (model, model.booster_):
        del thing.__dict__["offset_step"]
    earlier = pickle.loads(pickle.dumps(model))
    assert earlier.get_params() == model.get_params()
    ab.save(earlier, tmp_path / "earlier")
    assert (tmp_path / "earlier").read_bytes() == (tmp_path / "now").read_bytes()
