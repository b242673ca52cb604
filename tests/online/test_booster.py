"""What a user relies on: batches are the loop, nothing blows up, bad rows change nothing, files continue."""

import numpy as np
import pytest
import scipy.sparse

import anyboost as ab
from anyboost.online import (
    FeatureStumpLearner,
    HullBooster,
    LinearLearner,
    NetLearner,
    SpanBooster,
    TreeLearner,
)

# Each kind is compiled anew, which takes longer than the tests: one precision will do.
LEARNERS = {
    "plain": LinearLearner(0.02, "plain"),
    "normalised": LinearLearner(),
    "adaptive": LinearLearner(update="adaptive"),
    "stumps": FeatureStumpLearner(),
    "nets": NetLearner(units=4),
    "trees": TreeLearner(max_leaves=4, bins=8, grace=30),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def stream(n=700, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * [1.0, 5.0, 0.2, 1.0]
    y = 2 * X[:, 0] + np.abs(X[:, 3]) + 0.1 * random.normal(size=n) + 7
    return X, y


def same(a, b):
    """The two boosters hold the same numbers."""
    numbers = [
        (a.state.chain, b.state.chain),
        (a.state.labels, b.state.labels),
        (a.state.totals, b.state.totals),
    ]
    numbers += [
        (getattr(a.state.arrays, key), getattr(b.state.arrays, key))
        for key in ("main", "extra", "table", "seen")
    ]
    return all(np.array_equal(*pair) for pair in numbers)


@every_learner
@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
def test_a_batch_is_the_loop_and_sparse_is_dense(learner, make):
    X, y = stream()
    batch, loop, sparse = (make(learner, n_learners=3) for _ in range(3))
    whole = batch.progressive_predict(X, y)
    one_by_one = []
    for row in range(len(y)):
        before = loop.predict(X[row : row + 1])
        one_by_one.append(loop.progressive_predict(X[row : row + 1], y[row : row + 1])[0])
        assert before[0] == one_by_one[-1]
    np.testing.assert_array_equal(whole, one_by_one)
    assert same(batch, loop)
    sparse.partial_fit(scipy.sparse.csr_matrix(X), y)
    assert same(batch, sparse)
    np.testing.assert_array_equal(
        batch.predict(np.asfortranarray(X)), sparse.predict(scipy.sparse.csr_matrix(X))
    )


@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
def test_a_batch_in_mode_offset_is_the_loop(make):
    """Of as many rows as linear learners otherwise learn by all stages at once."""
    X, y = stream()
    batch, loop = (make(n_learners=3, mode="offset") for _ in range(2))
    whole = batch.progressive_predict(X, y)
    one_by_one = [loop.progressive_predict(X[row : row + 1], y[row : row + 1])[0] for row in range(len(y))]
    np.testing.assert_array_equal(whole, one_by_one)
    assert same(batch, loop)
    greedy = make(n_learners=3).progressive_predict(X, y)
    assert np.abs(whole - greedy).max() > 0.1


@every_learner
@pytest.mark.parametrize("mode", ["greedy", "offset"])
def test_every_learner_learns(learner, mode):
    X, y = stream(2000)
    told = SpanBooster(learner, n_learners=5, mode=mode).partial_fit(X, y).regret()
    assert told.rows == 2000
    assert told.loss < 0.6 * told.best_constant_loss
    assert told.best_prefix_loss <= told.loss


@every_learner
def test_rows_of_weight_zero_leave_no_trace(learner):
    X, y = stream(300)
    weights = np.ones(300)
    weights[100:150] = 0.0
    weighted = SpanBooster(learner, n_learners=3).partial_fit(X, y, weights)
    without = SpanBooster(learner, n_learners=3).partial_fit(
        np.delete(X, slice(100, 150), axis=0), np.delete(y, slice(100, 150))
    )
    assert same(weighted, without)


def test_answers_are_zero_before_the_first_row():
    assert SpanBooster().predict(np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert HullBooster(loss="softmax", outputs=3).predict(np.ones((2, 3))).shape == (2, 3)
    X, y = stream(5)
    assert SpanBooster().progressive_predict(X, y)[0] == 0.0


@every_learner
def test_features_may_appear_later_in_sparse_rows(learner):
    X, y = stream(600)
    booster = SpanBooster(learner, n_learners=3)
    booster.partial_fit(scipy.sparse.csr_matrix(X[:300, :2]), y[:300])
    booster.partial_fit(scipy.sparse.csr_matrix(X[300:]), y[300:])
    assert booster.n_features == 4
    assert booster.predict(scipy.sparse.csr_matrix(X[:, :3])).shape == (600,)
    assert booster.predict(scipy.sparse.csr_matrix(np.pad(X, ((0, 0), (0, 2))))).shape == (600,)
    with pytest.raises(ValueError, match="must have the 4 columns"):
        booster.partial_fit(X[:, :3], y)


@every_learner
@pytest.mark.parametrize("what", ["feature", "label", "constant", "zeros", "scale"])
def test_nothing_blows_up_and_the_model_recovers(learner, what):
    X, y = stream(8000, seed=1)
    if what == "feature":
        X[4000, 1] = 1e10
    elif what == "label":
        y[4000] = -1e10
    elif what == "constant":
        X[:, 1] = 1e6
    elif what == "zeros":
        X[2000:5000] = 0.0
    else:
        X[2000:] *= 1000.0
        y[2000:] *= 1000.0
    booster = SpanBooster(learner, n_learners=3)
    if what == "scale" and booster.learner == LEARNERS["plain"]:
        pytest.skip("plain steps are for features of size one")
    answers = booster.progressive_predict(X, y)
    assert np.isfinite(answers).all()
    for array in (booster.state.chain, booster.state.labels, *booster.state.arrays[:2]):
        assert np.isfinite(array).all()
    late = slice(7000, 8000)
    constant = np.mean((y[late] - y[late].mean()) ** 2)
    if not (what == "constant" and learner == LEARNERS["plain"]):
        assert np.mean((answers[late] - y[late]) ** 2) < 0.7 * constant


@every_learner
@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
@pytest.mark.parametrize("zeros", [50_000, pytest.param(1_000_000, marks=pytest.mark.full)])
def test_many_zero_rows_are_recovered_from(learner, make, zeros):
    X, y = stream(5000, seed=1)
    booster = make(learner, n_learners=3).partial_fit(X[:2000], y[:2000])
    silent = booster.progressive_predict(np.zeros((zeros, 4)), np.zeros(zeros))
    assert np.abs(silent[-10_000:]).max() < 0.2
    answers = booster.progressive_predict(X, y)
    for array in (answers, booster.state.chain, booster.state.labels, *booster.state.arrays[:2]):
        assert np.isfinite(array).all()
    late = slice(2000, None)
    assert np.mean((answers[late] - y[late]) ** 2) < 0.5 * y[late].var()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda X, y: X.__setitem__((7, 1), np.nan), "X must be finite, got nan at row 7"),
        (lambda X, y: X.__setitem__((9, 0), -np.inf), "X must be finite, got -inf at row 9"),
        (lambda X, y: y.__setitem__(5, np.inf), "y must be finite, got inf at row 5"),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_bad_row_is_named_and_changes_nothing(change, sentence, sparse):
    X, y = stream(50)
    booster, untouched = (SpanBooster(n_learners=3).partial_fit(X, y) for _ in range(2))
    bad_X, bad_y = X.copy(), y.copy()
    change(bad_X, bad_y)
    with pytest.raises(ValueError, match=sentence):
        booster.partial_fit(scipy.sparse.csr_matrix(bad_X) if sparse else bad_X, bad_y)
    assert same(booster, untouched)


def test_large_finite_numbers_are_not_mistaken_for_infinities():
    X, y = stream(50)
    X[3:5, 0] = 1.7e308
    assert np.isfinite(SpanBooster(n_learners=2).partial_fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_learners": 0}, "n_learners must be at least 1"),
        ({"step": 0.01}, "step must be at least 1/n_learners"),
        ({"mode": "fast"}, "mode must be .greedy. or .offset. or .linear."),
        ({"loss": "cox"}, "loss must be row-wise"),
        ({"learner": 3}, "learner must be one of linear, stumps, net, tree"),
        ({"learner": LinearLearner}, "learner must be a learner, got the class LinearLearner"),
        ({"output_bound": -1}, "output_bound must be positive"),
        ({"forget": 2}, "forget must be between 0 and at most 1"),
    ],
)
def test_bad_arguments_are_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        SpanBooster(**arguments)


def test_bad_targets_are_named():
    X, _ = stream(5)
    booster = SpanBooster(loss="logistic")
    with pytest.raises(ValueError, match=r"y must be -1 or \+1 .* at row 1"):
        booster.partial_fit(X, [1, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="one target a row, got 4 for 5 rows"):
        booster.partial_fit(X, [1, 1, 1, 1])
    assert booster.state is None


def test_forgetting_follows_a_change():
    X, y = stream(6000)
    y[3000:] = 20 - y[3000:]

    def late_loss(forget):
        booster = SpanBooster(LinearLearner(update="adaptive"), n_learners=3, forget=forget)
        return np.mean((booster.progressive_predict(X, y)[3300:] - y[3300:]) ** 2)

    assert late_loss(0.01) < 0.8 * late_loss(0.0)


def test_a_reset_stage_begins_again():
    X, y = stream(500)
    for learner in LEARNERS.values():
        booster = SpanBooster(learner, n_learners=3, prefix="all").partial_fit(X, y)
        before = booster.predict(X)
        booster.reset_stage(0)
        assert np.abs(booster.predict(X) - before).max() > 0.1
        booster.partial_fit(X, y)
    with pytest.raises(ValueError, match="stage must be between 0 and 2"):
        booster.reset_stage(3)


def test_the_best_prefix_answers():
    # A learner that only harms: the chain's first stages are right, the last one is noise.
    class Noisy:
        count = 0

        def start(self, n_features, outputs):
            self.count += 1
            return Linear() if self.count == 1 else Noise()

    class Linear:
        w = 0.0

        def predict(self, x):
            return self.w * x[0]

        def learn(self, x, target, weight):
            self.w += 0.05 * weight * (target - self.w * x[0]) * x[0]

    class Noise:
        random = np.random.default_rng(0)

        def predict(self, x):
            return self.random.normal() * 20

        def learn(self, x, target, weight):
            pass

    X, y = stream(400)
    best, whole = (SpanBooster(Noisy(), n_learners=3, prefix=prefix) for prefix in ("best", "all"))
    best.partial_fit(X, y)
    whole.partial_fit(X, y)
    assert best.regret().best_prefix == 1
    assert best.regret().loss < 0.8 * whole.regret().loss


@every_learner
@pytest.mark.parametrize("make", [SpanBooster, HullBooster])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_file_continues_bit_for_bit(tmp_path, learner, make, loss):
    X, y = stream(400)
    whole = make(learner, n_learners=3, loss=loss).partial_fit(X, y)
    part = make(learner, n_learners=3, loss=loss).partial_fit(X[:150], y[:150])
    ab.save(part, tmp_path / "booster")
    back = ab.load(tmp_path / "booster")
    np.testing.assert_array_equal(back.predict(X), part.predict(X))
    back.partial_fit(X[150:], y[150:])
    assert same(back, whole)
    assert back.regret() == whole.regret()


def test_files_of_boosters_that_have_seen_nothing_of_classes_and_of_own_losses(tmp_path):
    X, y = stream(200)
    ab.save(SpanBooster(n_learners=4), tmp_path / "new")
    assert ab.load(tmp_path / "new").partial_fit(X, y).regret().rows == 200
    classes = HullBooster(loss="softmax", n_learners=2).partial_fit(X, np.arange(200) % 3)
    ab.save(classes, tmp_path / "classes")
    np.testing.assert_array_equal(ab.load(tmp_path / "classes").predict(X), classes.predict(X))
    own = ab.losses.pointwise(lambda f, y: (f - y) ** 4, lambda f, y: 4 * (f - y) ** 3)
    booster = SpanBooster(loss=own, n_learners=2).partial_fit(X, y)
    ab.save(booster, tmp_path / "own")
    np.testing.assert_array_equal(ab.load(tmp_path / "own").predict(X), booster.predict(X))
    with pytest.raises(ValueError, match="not in its model file"):
        ab.load(tmp_path / "own").partial_fit(X, y)
    again = ab.load(tmp_path / "own", loss=own).partial_fit(X, y)
    np.testing.assert_array_equal(again.predict(X), booster.partial_fit(X, y).predict(X))


def test_a_file_that_lies_is_refused(tmp_path):
    from reference.files import join, split

    X, y = stream(50)
    ab.save(SpanBooster(TreeLearner(4, 8), n_learners=2).partial_fit(X, y), tmp_path / "good")
    outer, inner, data = split((tmp_path / "good").read_bytes())
    changes = {
        "n_learners": 3,
        "features": 9,
        "outputs": 2,
        "mode": "fast",
        "step": 7,
        "settings": {},
        "class": "X",
    }
    for key, value in changes.items():
        lying = {**inner, "model": {**inner["model"], key: value}}
        (tmp_path / "bad").write_bytes(join(outer, lying, data))
        with pytest.raises(ab.ModelFileError):
            ab.load(tmp_path / "bad")


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge", "poisson", "softmax"])
def test_the_best_constant_is_the_one_of_hindsight(loss):
    X, score = stream(300)
    kinds = {"logistic": np.where(score > 8, 1.0, -1.0), "softmax": np.digitize(score, [6, 8])}
    y = kinds.get(loss, kinds["logistic"] if loss == "hinge" else np.abs(score))
    booster = SpanBooster(loss=loss, n_learners=2).partial_fit(X, y)
    found = ab.losses.get(loss)
    constant = found.best_constant(y)
    scores = np.broadcast_to(constant, (300, 3) if loss == "softmax" else (300,))
    assert booster.regret().best_constant_loss == pytest.approx(found.values(scores, found.check(y)).sum())


@pytest.mark.parametrize(
    "loss", ["absolute", "quantile:0.9", "huber:0.5", "expectile:0.8", "multi_quantile:0.2,0.7"]
)
def test_the_best_constant_of_other_losses_is_nearly_that_of_hindsight(loss):
    X, y = stream(5000)
    batch, parts = (SpanBooster(loss=loss, n_learners=2) for _ in range(2))
    batch.partial_fit(X, y)
    for begin in range(0, 5000, 77):
        parts.partial_fit(X[begin : begin + 77], y[begin : begin + 77])
    assert batch.regret() == parts.regret()
    found = ab.losses.get(loss)
    best = found.values(
        np.broadcast_to(found.best_constant(y), (5000, *np.shape(found.best_constant(y)))), y
    ).sum()
    assert batch.regret().best_constant_loss == pytest.approx(best, rel=0.01)
    assert batch.state.sketch.points.shape[1] < 512


def test_labels_are_counted_by_mean_and_deviation():
    from anyboost.online import labels

    random = np.random.default_rng(0)
    seen = labels.Labels(*np.zeros(labels.SIZE))
    y = random.normal(size=500) * 3
    for number in y:
        seen = labels.after(seen, number, 1.0, 0.0)
    assert seen.mean == pytest.approx(y.mean())
    assert seen.variance == pytest.approx(y.var())
    assert (seen.low, seen.high) == (y.min(), y.max())
    seen = labels.after(seen, 1e10, 1.0, 0.0)
    assert seen.high < 50
    for _ in range(100):
        for number in random.normal(size=10) * 1e-4:
            seen = labels.after(seen, number, 1.0, 0.0)
    assert labels.reach(seen) < 1e-2
    for number in 1e6 + random.normal(size=40) * 1e4:
        seen = labels.after(seen, number, 1.0, 0.0)
    assert seen.mean == pytest.approx(1e6, rel=0.1)
    assert 1e3 < np.sqrt(seen.variance) < 1e6


def test_read_only_rows_are_learned_by_the_kernels_there_are():
    """Else who holds them, in a file or in a process of joblib, waits for ten seconds of compiling."""
    from anyboost.online.chain import BARE

    X, y = stream(40)
    weights = np.ones(40)
    booster = SpanBooster(LinearLearner(), 3, loss="absolute").partial_fit(X, y, weights)
    answers = booster.predict(X)
    known = len(BARE.learn.signatures), len(BARE.predict.signatures)
    assert all(known)
    for array in (X, y, weights):
        array.flags.writeable = False
    other = SpanBooster(LinearLearner(), 3, loss="absolute").partial_fit(X, y, weights)
    np.testing.assert_array_equal(other.predict(X), answers)
    assert (len(BARE.learn.signatures), len(BARE.predict.signatures)) == known
