"""Intervals on streams: a theorem bounds what they cover, for any labels; ends are quantiles of recent residuals."""

import math

import numpy as np
import pytest

import anyboost as ab
from anyboost.online.intervals import AdaptiveIntervals


class Echo:
    """Answers what it is told to."""

    def __init__(self, answer=lambda x: 0.0):
        self.answer, self.seen = answer, []

    def predict_one(self, x):
        return self.answer(x)

    def learn_one(self, x, y):
        self.seen.append(y)


def labels(kind, n, intervals):
    """Row by row; the adversary looks at the interval and puts the label outside, or inside, as it likes."""
    random = np.random.default_rng(0)
    for t in range(n):
        high = intervals.predict_interval_one({})[1]
        if kind == "outside":
            yield high + 1.0 if math.isfinite(high) else 1e6
        elif kind == "inside":
            yield 0.0
        elif kind == "growing":
            yield random.normal() * 1.01**t
        else:  # the noise changes its size
            yield random.normal() * (10.0 if (t // 300) % 2 else 1.0)


@pytest.mark.parametrize("kind", ["outside", "inside", "growing", "changing"])
@pytest.mark.parametrize("rate", [0.01, 0.1])
@pytest.mark.parametrize(
    "ends", [None, (Echo(lambda x: -1.0), Echo(lambda x: 1.0)), (Echo(lambda x: 1.0), Echo(lambda x: -1.0))]
)
def test_the_long_run_coverage_is_bounded_for_any_labels(kind, rate, ends):
    intervals = AdaptiveIntervals(Echo(), coverage=0.8, rate=rate, window=100, ends=ends)
    for y in labels(kind, 2000, intervals):
        intervals.learn_one({}, y)
    assert intervals.off_by_at_most() == pytest.approx((0.8 + rate) / (rate * 2000))
    assert abs(intervals.covered - 0.8) <= intervals.off_by_at_most()


def test_ends_are_quantiles_of_the_last_residuals():
    intervals = AdaptiveIntervals(Echo(lambda x: x["at"]), coverage=0.8, rate=1e-9, window=50)
    random = np.random.default_rng(1)
    residuals = random.normal(size=200)
    for residual in residuals:
        intervals.learn_one({"at": 3.0}, 3.0 + residual)
    low, high = intervals.predict_interval_one({"at": 3.0})
    last = np.sort(residuals[-50:])
    # A tenth beyond either end, of 50 and the new one: the fifth from outside
    assert low == pytest.approx(3.0 + last[4])
    assert high == pytest.approx(3.0 + last[-5])


def test_each_of_two_ends_is_its_answer_and_a_quantile_of_its_own_residuals():
    ends = Echo(lambda x: x["at"] - 1.0), Echo(lambda x: 2.0 * x["at"])
    intervals = AdaptiveIntervals(Echo(), coverage=0.8, rate=1e-9, window=50, ends=ends)
    labels = 3.0 + np.random.default_rng(1).normal(size=200)
    for label in labels:
        intervals.learn_one({"at": 3.0}, label)
    low, high = intervals.predict_interval_one({"at": 7.0})
    last = np.sort(labels[-50:])
    assert low == pytest.approx(6.0 + last[4] - 2.0)
    assert high == pytest.approx(14.0 + last[-5] - 6.0)
    assert ends[0].seen == ends[1].seen == labels.tolist()


@pytest.mark.parametrize("learner", [None, "linear"])
def test_a_pair_of_quantiles_is_wide_where_labels_are_uncertain(learner):
    random = np.random.default_rng(3)
    model = ab.OnlineBoostingRegressor(learner).with_intervals(coverage=0.9)
    inside, width = {0: [], 1: []}, {0: [], 1: []}
    for t in range(2500):
        loud = t % 2
        x = {"loud": loud, "a": random.normal()}
        y = x["a"] + (5.0 if loud else 0.5) * random.normal()
        low, high = model.predict_interval_one(x)
        if t >= 1000:
            inside[loud].append(low <= y <= high)
            width[loud].append(high - low)
        model.learn_one(x, y)
    # One width for all would cover nearly every quiet row, and 0.8 of the loud ones
    assert np.mean(inside[0]) == pytest.approx(0.9, abs=0.05)
    assert np.mean(inside[1]) == pytest.approx(0.9, abs=0.05)
    assert np.median(width[1]) > 4 * np.median(width[0])


def test_real_coverage_under_drift_is_close():
    random = np.random.default_rng(2)
    model = AdaptiveIntervals(ab.OnlineBoostingRegressor(learner="linear"), coverage=0.9, rate=0.02)
    inside = []
    for t in range(3000):
        x = {"a": random.normal(), "b": random.normal()}
        y = (x["a"] if t < 1500 else -2 * x["a"]) + (1 + 2 * (t > 1500)) * random.normal()
        low, high = model.predict_interval_one(x)
        inside.append(low <= y <= high)
        model.learn_one(x, y)
    assert model.covered == np.mean(inside)
    assert abs(np.mean(inside[:1500]) - 0.9) < 0.03
    assert abs(np.mean(inside[1500:]) - 0.9) < 0.03


def test_before_anything_is_known_ends_are_infinite():
    intervals = AdaptiveIntervals(Echo())
    assert intervals.predict_interval_one({}) == (-math.inf, math.inf)
    assert math.isnan(intervals.covered)
    assert intervals.off_by_at_most() == math.inf


def test_a_refused_row_changes_nothing():
    intervals = AdaptiveIntervals(ab.OnlineBoostingRegressor(learner="linear"))
    intervals.learn_one({"a": 1.0}, 2.0)
    with pytest.raises(ValueError, match="a"):
        intervals.learn_one({"a": math.inf}, 2.0)
    with pytest.raises((TypeError, ValueError), match="y must be"):
        intervals.learn_one({"a": 1.0}, "two")
    assert intervals.rows == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"coverage": 1.0}, "coverage must be"),
        ({"rate": 0.0}, "rate must be"),
        ({"window": 0}, "window must be"),
        ({"model": object()}, "model must have learn_one"),
        ({"ends": (Echo(), object())}, r"ends\[1\] must have learn_one"),
        ({"ends": (Echo(),)}, "ends must be two stream models"),
    ],
)
def test_bad_arguments_are_refused(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        AdaptiveIntervals(**{"model": Echo()} | given)


@pytest.mark.parametrize("pair", [False, True])
def test_going_on_from_a_file_is_not_stopping(tmp_path, pair):
    random = np.random.default_rng(0)
    stream = [({"a": a, "b": b}, 2 * a + random.normal()) for a, b in random.normal(size=(150, 2)).tolist()]
    whole = ab.OnlineBoostingRegressor("linear").with_intervals(0.7, rate=0.05, window=40, pair=pair)
    for x, y in stream[:70]:
        whole.learn_one(x, y)
    ab.save(whole, tmp_path / "model")
    resumed = ab.load(tmp_path / "model")
    for x, y in stream[70:]:
        assert whole.predict_interval_one(x) == resumed.predict_interval_one(x)
        for model in (whole, resumed):
            model.learn_one(x, y)
    ab.save(whole, tmp_path / "whole")
    ab.save(resumed, tmp_path / "resumed")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "resumed").read_bytes()
    assert (whole.covered, whole.off_by_at_most()) == (resumed.covered, resumed.off_by_at_most())


def test_a_model_of_another_library_stays_out_of_files(tmp_path):
    with pytest.raises(ValueError, match="around one of the class Echo, and a file holds online models"):
        ab.save(AdaptiveIntervals(Echo()), tmp_path / "model")
    assert not (tmp_path / "model").exists()
