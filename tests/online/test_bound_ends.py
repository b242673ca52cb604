"""The bound on the regret counts weights, and ends with the first row that the theorems do not allow."""

import copy
import math
import pickle

import numpy as np
import pytest

import anyboost as ab
import reference.online as oracle
from anyboost.online import HullBooster, LinearLearner, SpanBooster
from anyboost.online.regret import bound
from reference.files import join, split

T, N = 600, 20


def hull(rows=T, label_bound=1.0):
    """Against the constants in [-1, 1], by Hedge over three of them."""
    given = {"mode": "linear", "output_bound": 1.0, "label_bound": label_bound, "start": 0.0, "prefix": "all"}
    return HullBooster(oracle.Hedge(1.0, rows), N, "squared", **given)


def theorem_2(weight, rows):
    return 8 * weight / N + 2 * math.sqrt(2 * rows * math.log(3))


def against(booster, size, weights):
    """The excess over the best constant in [-1, 1] of labels that are always on the other side of the answer."""
    y = np.empty(len(weights))
    for i, w in enumerate(weights):
        y[i] = -size if booster.predict([[1.0]])[0] >= 0 else size
        booster.partial_fit([[1.0]], y[i : i + 1], [w])
    best = np.clip(np.average(y, weights=weights), -1, 1)
    return booster.regret().loss - 0.5 * float(weights @ (y - best) ** 2)


def test_a_weight_above_one_ends_the_bound():
    """Its loss is steeper than the theorem allows: weights of 100 exceed what the rows alone would have."""
    booster = hull()
    excess = against(booster, 1.0, np.full(T, 100.0))
    assert excess > theorem_2(T, T)
    told = booster.regret()
    assert told.bound is None
    assert "since row 1, which weighs 100" in told.no_bound
    assert bound(booster, T) is None


@pytest.mark.parametrize("make", [HullBooster, SpanBooster])
def test_weights_of_at_most_one_count_as_they_are(make):
    weights = np.random.default_rng(0).uniform(0.0, 1.0, T)
    booster = hull() if make is HullBooster else span()
    excess = against(booster, 1.0, weights)
    allowed = theorem_2(weights.sum(), T)
    if make is SpanBooster:
        B, R = oracle.ball_radius("squared", 0.05, N, 1.0, 1.0), math.sqrt(2 * T * math.log(3))
        allowed = 0.95**N * 0.5 * weights.sum() + 3 * 0.05 * B * B * weights.sum() + (B + 1) * R
        allowed += 2 * (B + 1) * B * math.sqrt(T)
    told = booster.regret()
    assert told.bound == pytest.approx(allowed)
    assert told.no_bound is None
    assert excess <= told.bound


def span():
    given = {"mode": "linear", "output_bound": 1.0, "label_bound": 1.0, "start": 0.0, "prefix": "all"}
    return SpanBooster(oracle.Hedge(1.0, T), N, "squared", 0.05, **given)


def test_a_label_beyond_its_bound_ends_the_bound():
    booster = hull()
    excess = against(booster, 20.0, np.ones(T))
    assert excess > theorem_2(T, T)
    told = booster.regret()
    assert told.bound is None
    assert "since row 1, whose label -20 is beyond label_bound=1.0" in told.no_bound


def test_the_bound_holds_up_to_the_row_that_ends_it():
    X, y, weights = np.ones((9, 1)), np.full(9, 0.5), np.ones(9)
    y[6], weights[2] = 3.0, 0.0  # a row of weight 0 leaves no trace, and is not counted
    booster = hull().partial_fit(X[:6], y[:6], weights[:6])
    assert booster.regret().bound == pytest.approx(theorem_2(5, 5))
    assert "since row 6, whose label 3 " in booster.partial_fit(X[6:], y[6:]).regret().no_bound
    whole = hull().partial_fit(X, y, weights)
    whole.partial_fit(X, y, 7 * weights)  # the first reason stays
    assert "since row 6, whose label 3 " in whole.regret().no_bound


@pytest.mark.parametrize("copied", ["file", "pickle", "copy"])
@pytest.mark.parametrize("ended", [False, True])
def test_an_end_survives_files_and_pickles(tmp_path, copied, ended):
    X, y = np.ones((8, 1)), np.full(8, 0.5)
    y[3] = -2.0 if ended else 0.5
    given = {"mode": "linear", "output_bound": 1.0, "label_bound": 1.0, "start": 0.0, "prefix": "all"}
    booster = SpanBooster(LinearLearner(0.1, "plain"), 5, "squared", 0.3, **given).partial_fit(X, y)
    if copied == "file":
        ab.save(booster, tmp_path / "model")
        again = ab.load(tmp_path / "model")
    else:
        again = pickle.loads(pickle.dumps(booster)) if copied == "pickle" else copy.deepcopy(booster)
    assert again.regret() == booster.regret()
    assert (bound(again, 8, base_regret=1.0) is None) is ended
    again.partial_fit(X, np.abs(y) / 2)
    assert (bound(again, 16, base_regret=1.0) is None) is ended
    assert ("since row 4, whose label -2 " in again.regret().no_bound) is ended


def test_an_older_file_does_not_tell_and_has_no_bound(tmp_path):
    X, y = np.ones((8, 1)), np.full(8, 0.5)
    given = {"mode": "linear", "output_bound": 1.0, "label_bound": 1.0, "start": 0.0, "prefix": "all"}
    booster = SpanBooster(LinearLearner(0.1, "plain"), 5, "squared", 0.3, **given).partial_fit(X, y)
    ab.save(booster, tmp_path / "new")
    outer, header, data = split((tmp_path / "new").read_bytes())
    del header["model"]["lapse"]
    (tmp_path / "old").write_bytes(join(outer, header, data))
    model = ab.load(tmp_path / "old")
    assert bound(model, 8, base_regret=1.0) is None
    assert "older file" in model.regret().no_bound
    ab.save(model, tmp_path / "again")
    assert "lapse" not in ab.files.peek(tmp_path / "again").header["model"]


def test_an_older_pickle_goes_on_and_has_no_bound():
    """It kept five sums, and not what ended the bound."""
    X, y = np.ones((8, 1)), np.full(8, 0.5)
    given = {"mode": "linear", "output_bound": 1.0, "label_bound": 1.0, "start": 0.0, "prefix": "all"}
    booster = SpanBooster(LinearLearner(0.1, "plain"), 5, "squared", 0.3, **given).partial_fit(X, y)
    booster.state.totals = booster.state.totals[:5]
    again = pickle.loads(pickle.dumps(booster)).partial_fit(X, y)
    assert again.regret().rows == 16
    assert bound(again, 16, base_regret=1.0) is None
    assert "older file" in again.regret().no_bound


@pytest.mark.parametrize("update", ["plain", "adaptive"])
def test_the_end_is_the_same_by_rows_and_by_batches(update):
    """Also where stages learn side by side, in vectors."""
    X, y = np.random.default_rng(0).normal(size=(300, 3)), np.full(300, 0.5)
    weights = np.ones(300)
    y[250], weights[251] = 4.0, 2.0
    made = [SpanBooster(LinearLearner(0.1, update), 5, label_bound=1.0) for _ in range(3)]
    made[0].partial_fit(X, y, weights)
    for i in range(300):
        made[1].partial_fit(X[i : i + 1], y[i : i + 1], weights[i : i + 1])
        made[2].learn_one(dict(enumerate(X[i].tolist())), y[i], w=weights[i])
    for booster in made:
        assert booster.state.totals[-3:].tolist() == [251.0, 2.0, 4.0]


def test_a_learner_that_begins_again_ends_the_bound():
    booster = hull().partial_fit(np.ones((5, 1)), np.full(5, 0.5))
    booster.reset_stage(2)
    assert booster.regret().bound is None
    assert "since row 6, before which learner 2 began again" in booster.regret().no_bound


def test_every_booster_without_a_bound_says_why():
    given = {"mode": "linear", "output_bound": 1.0, "label_bound": 1.0, "start": 0.0, "prefix": "all"}
    for change, words in (
        ({"mode": "greedy"}, "mode"),
        ({"output_bound": None}, "output_bound"),
        ({"label_bound": None}, "label_bound"),
        ({"start": None}, "start"),
        ({"forget": 0.1}, "forget"),
        ({"prefix": "best"}, "prefix"),
        ({"loss": "absolute"}, "absolute"),
        ({"learner": "linear"}, "regret_bound"),
    ):
        chosen = {"learner": oracle.Hedge(1.0, 5), **given, **change}
        told = HullBooster(**chosen).partial_fit([[0.1]], [0.2]).regret()
        assert told.bound is None
        assert words in told.no_bound
    model = ab.OnlineBoostingClassifier("linear", n_learners=2).partial_fit([[0.1], [0.2], [0.3]], [0, 1, 2])
    assert "each class" in model.regret().no_bound
