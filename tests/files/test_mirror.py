"""Averagers and their estimators come back from their files and go on as if they had never stopped."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

import anyboost as ab
from anyboost.cli.inspect import rows
from anyboost.files import peek
from anyboost.mirror import (
    Adaptive,
    Anytime,
    Doubling,
    ExponentiatedGradient,
    FixedShare,
    KnownHorizon,
    MirrorAverager,
    Octahedron,
    PNorm,
    PowerDivergence,
    SecondOrder,
    SolidSimplex,
    StumpAverager,
    Tracker,
)
from anyboost.mirror.state import NUMBERS
from files import mutations
from reference.files import join, split

AVERAGERS = [
    {},
    {"loss": "quantile:0.9", "proxy": PNorm(1.5), "domain": Octahedron(2.0), "schedule": KnownHorizon(50)},
    {"proxy": PowerDivergence(0.3), "schedule": Adaptive(), "lipschitz": "running"},
    {"domain": SolidSimplex(3.0), "schedule": FixedShare(0.2, 0.05), "output_bound": 3, "label_bound": 2.0},
    {"domain": Octahedron(0.5), "schedule": SecondOrder(), "lipschitz": "running"},
    {"schedule": ExponentiatedGradient(0.3), "average": True},
    {"schedule": Doubling(), "loss": ab.losses.Absolute() + 0.5 * ab.losses.Squared()},
]


def stream(rows=60):
    random = np.random.default_rng(0)
    H = random.normal(size=(rows, 4))
    return H, H[:, 0] + 0.1 * random.normal(size=rows)


@pytest.mark.parametrize("options", AVERAGERS, ids=str)
def test_an_averager_goes_on_from_its_file(tmp_path, options):
    path = tmp_path / "model"
    H, y = stream()
    whole = MirrorAverager(**options).partial_fit(H, y)
    part = MirrorAverager(**options)
    ab.save(part, path)
    assert ab.load(path)._state is None
    part = ab.load(path).partial_fit(H[:30], y[:30])
    ab.save(part, path)
    loaded = ab.load(path)
    for name in (
        "loss",
        "proxy",
        "domain",
        "schedule",
        "lipschitz",
        "output_bound",
        "label_bound",
        "average",
    ):
        assert getattr(loaded, name) == getattr(whole, name)
    loaded.partial_fit(H[30:], y[30:])
    np.testing.assert_array_equal(loaded.weights_, whole.weights_)
    np.testing.assert_array_equal(loaded.predict(H), whole.predict(H))
    assert ("loss", "Squared()") in rows(path, peek(path)) or "loss" in options


def test_a_tracker_goes_on_from_its_file(tmp_path):
    path = tmp_path / "model"
    H, y = stream()
    whole = Tracker("absolute", Octahedron(2.0), shares=(0.01, 0.1)).partial_fit(H, y)
    part = Tracker("absolute", Octahedron(2.0), shares=(0.01, 0.1))
    ab.save(part, path)
    part = ab.load(path).partial_fit(H[:30], y[:30])
    ab.save(part, path)
    loaded = ab.load(path).partial_fit(H[30:], y[30:])
    np.testing.assert_array_equal(loaded.weights_, whole.weights_)
    assert (loaded.rates, loaded.shares) == (whole.rates, whole.shares)
    assert rows(path, peek(path))


@pytest.mark.parametrize("rule", [Doubling(), KnownHorizon(60), Anytime()], ids=repr)
def test_stumps_go_on_from_their_file(tmp_path, rule):
    path = tmp_path / "model"
    X, y = stream()
    X[3, 1] = np.nan
    whole = StumpAverager("huber:0.5", 3.0, rule, label_bound=2.0).start(X).partial_fit(X, y)
    part = StumpAverager("huber:0.5", 3.0, rule, label_bound=2.0)
    ab.save(part, path)
    part = ab.load(path).start(X).partial_fit(X[:30], y[:30])
    ab.save(part, path)
    loaded = ab.load(path).partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(loaded.weights_, whole.weights_)
    np.testing.assert_array_equal(loaded.predict(X), whole.predict(X))
    assert (loaded.label_bound, loaded.lipschitz) == (whole.label_bound, whole.lipschitz)
    assert rows(path, peek(path))


def test_a_loss_of_ones_own_is_asked_for(tmp_path):
    path = tmp_path / "model"
    H, y = stream()
    own = ab.losses.pointwise(lambda f, t: (f - t) ** 2, lambda f, t: 2 * (f - t), name="mine")
    ab.save(MirrorAverager(own).partial_fit(H, y), path)
    loaded = ab.load(path)
    np.testing.assert_array_equal(loaded.predict(H), MirrorAverager(own).partial_fit(H, y).predict(H))
    with pytest.raises(ValueError, match=r"load\(path, loss=\.\.\.\)"):
        loaded.partial_fit(H, y)
    ab.load(path, loss=own).partial_fit(H, y)
    with pytest.raises(ValueError, match="loss must be that of the file"):
        ab.load(path, loss="squared")


@pytest.mark.parametrize("schedule", ["anytime", "tracker"])
@pytest.mark.parametrize("classes", [None, [0, 1], ["no", "yes"], [1.0, 2.0, 9.0]])
def test_estimators_of_columns(tmp_path, classes, schedule):
    path = tmp_path / "model"
    H, y = stream()
    if classes is None:
        model, more = ab.MirrorAveragingRegressor(schedule=schedule, random_state=3), {}
    else:
        model, more = ab.MirrorAveragingClassifier(schedule=schedule, random_state=3), {"classes": classes}
        y = np.array(classes)[np.digitize(y, np.linspace(-0.5, 0.5, len(classes) - 1))]
    with pytest.raises(ValueError, match="before it has learned anything"):
        ab.save(model, path)
    model.fit(H[:30], y[:30]) if classes is None else model.partial_fit(H[:30], y[:30], **more)
    ab.save(model, path)
    loaded = ab.load(path)
    assert (loaded.random_state, loaded.shuffle, loaded.n_features_in_) == (3, True, 4)
    for one in (model, loaded):
        one.partial_fit(H[30:], y[30:])
    np.testing.assert_array_equal(loaded.weights_, model.weights_)
    np.testing.assert_array_equal(loaded.predict(H), model.predict(H), strict=True)
    assert rows(path, peek(path))


def test_models_are_given_back(tmp_path):
    path = tmp_path / "model"
    X, y = stream()
    model = ab.MirrorAveragingRegressor([LinearRegression(), DummyRegressor()], random_state=0).fit(X, y)
    ab.save(model, path)
    loaded = ab.load(path, models=model.models_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    for given in (None, model.models_[:1]):
        with pytest.raises(ValueError, match=r"the 2 fitted models .* load\(path, models=\[\.\.\.\]\)"):
            ab.load(path, models=given)
    ab.save(model.averager_, path)
    with pytest.raises(ValueError, match="models belong to an estimator"):
        ab.load(path, models=model.models_)
    with pytest.raises(ValueError, match="descent belongs to a run"):
        ab.load(path, descent="naive")


@pytest.mark.parametrize("count", [2.0**53 + 2, 1e19, 1e308, -1.0, 0.5])
def test_a_count_that_is_none_is_refused(tmp_path, count):
    """It is an index of a kernel: learning from such a file would write outside of it, and crash."""
    path = tmp_path / "model"
    H, y = stream()
    ab.save(MirrorAverager(schedule=SecondOrder(), lipschitz="running").partial_fit(H, y), path)
    outer, inner, data = split(path.read_bytes())
    begin, end = outer["numbers"]["data_offsets"]
    numbers = np.frombuffer(data[begin:end]).copy()
    numbers.view(NUMBERS)["norms_seen"] = count
    path.write_bytes(join(outer, inner, data[:begin] + numbers.tobytes() + data[end:]))
    with pytest.raises(ab.ModelFileError, match="its counts are not counts"):
        ab.load(path)


@pytest.mark.parametrize("cases", [150, pytest.param(5000, marks=pytest.mark.full)], ids=["some", "many"])
def test_a_file_gone_wrong_is_refused_or_is_a_model(tmp_path, cases):
    H, y = stream()
    labels = np.where(y > 0.3, "up", np.where(y < -0.3, "down", "flat"))
    models = [
        MirrorAverager(schedule=SecondOrder(), lipschitz="running").partial_fit(H, y),
        MirrorAverager(schedule=FixedShare(), domain=Octahedron(2.0)).partial_fit(H, y),
        StumpAverager().partial_fit(H, y),
        StumpAverager(schedule="anytime").partial_fit(H, y),
        ab.MirrorAveragingRegressor(schedule="tracker").partial_fit(H, y),
        ab.MirrorAveragingClassifier().partial_fit(H, labels, classes=["down", "flat", "up"]),
    ]
    path = tmp_path / "model"
    random = np.random.default_rng(0)
    refused, sentences = 0, set()
    for number, model in enumerate(models):
        ab.save(model, path)
        blob = path.read_bytes()
        for _ in range(cases // len(models)):
            change = (mutations.damage, mutations.flip_and_sign, mutations.edit_header)[random.integers(3)]
            path.write_bytes(change(random, blob))
            try:
                found = ab.load(path)
            except ab.ModelFileError as error:
                refused += 1
                sentences.add(str(error))
                continue
            with np.errstate(all="ignore"):
                try:
                    found.predict(H)
                    found.partial_fit(H, labels if number == 5 else y)
                except (ValueError, AttributeError):
                    pass  # a model of other columns or classes than these
    assert refused > cases // 3
    assert not any("\n" in sentence for sentence in sentences)
