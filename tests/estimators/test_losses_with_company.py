"""Losses that need more than a row: groups, tails, quantiles together, survival, rankings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor, metrics
from anyboost.estimators.survival import baseline_hazard
from anyboost.losses import Crossing, CVaR, MultiQuantile, WorstGroup
from reference import metrics as reference

X, Y = load_diabetes(return_X_y=True)


def test_groups_at_fit_for_the_worst_group():
    # One group is small and different: the mean forgets it, the worst group does not.
    random = np.random.default_rng(0)
    groups = np.where(random.random(600) < 0.05, "few", "many")
    features = np.column_stack([random.normal(size=600), groups == "few"])
    y = np.where(groups == "few", -5.0, 1.0) * features[:, 0]
    losses = {}
    for loss in (ab.losses.Squared(), WorstGroup("squared")):
        given = {"groups": groups} if loss.uses_groups else {}
        model = BoostingRegressor(loss, max_iter=15, max_leaf_nodes=4).fit(features, y, **given)
        rows = 0.5 * (model.predict(features) - y) ** 2
        losses[loss.name] = [rows[groups == name].mean() for name in ("few", "many")]
    assert max(losses["worst_group"]) < max(losses["squared"])
    watched = BoostingRegressor(WorstGroup("squared"), max_iter=3).fit(
        features, y, groups=groups, valid={"same": {"X": features, "y": y, "groups": groups}}
    )
    np.testing.assert_allclose(watched.validation_scores_["same"]["loss"], -watched.train_score_, rtol=1e-9)


def test_the_worst_group_of_classes():
    groups = np.arange(len(Y)) % 3
    model = BoostingClassifier(WorstGroup("logistic"), max_iter=10).fit(X, np.median(Y) < Y, groups=groups)
    assert model.train_score_[-1] > model.train_score_[0]
    assert model.predict_proba(X).shape == (len(Y), 2)


def test_the_tail_of_a_loss():
    plain = BoostingRegressor("absolute", max_iter=30, max_leaf_nodes=6).fit(X, Y)
    tail = BoostingRegressor(CVaR("absolute", 0.9), max_iter=30, max_leaf_nodes=6).fit(X, Y)

    def worst_tenth(model):
        return np.sort(np.abs(model.predict(X) - Y))[-len(Y) // 10 :].mean()

    assert worst_tenth(tail) < worst_tenth(plain)


@settings(deadline=None, max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    leaf=st.sampled_from(["auto", "mean", "exact"]),
    rate=st.sampled_from([0.1, 1.0]),
    crossing=st.booleans(),
    subsample=st.sampled_from([1.0, 0.5]),
)
@pytest.mark.full
def test_quantiles_cross_at_no_row(seed, leaf, rate, crossing, subsample):
    random = np.random.default_rng(seed)
    features = random.normal(size=(80, 3))
    y = features[:, 0] * random.normal(size=80)
    loss = MultiQuantile(np.arange(1, 10) / 10)
    loss = loss + Crossing() if crossing else loss
    model = BoostingRegressor(
        loss, max_iter=8, leaf=leaf, learning_rate=rate, subsample=subsample, random_state=0, conformal=None
    )
    model.fit(features, y)
    for table in (features, 10 * random.normal(size=(100, 3)), np.full((1, 3), np.nan)):
        quantiles = model.predict(table)
        assert quantiles.shape == (len(table), 9)
        assert (np.diff(quantiles, axis=1) >= 0).all()
        for stage in model.staged_predict(table):
            assert (np.diff(stage, axis=1) >= 0).all()
        interval = model.predict_interval(table, coverage=0.8)
        # The level (1 - 0.8) / 2 is not quite 0.1
        np.testing.assert_allclose(interval, quantiles[:, [0, 8]], rtol=1e-12, atol=1e-12)


@pytest.mark.full
def test_intervals_cover_what_they_say():
    random = np.random.default_rng(0)
    features = random.uniform(-1, 1, (4000, 1))
    y = features[:, 0] + (0.2 + features[:, 0] ** 2) * random.normal(size=4000)
    model = BoostingRegressor("multi_quantile:0.05,0.5,0.95", max_iter=60, max_leaf_nodes=6)
    model.fit(features[:2000], y[:2000])
    low, high = model.predict_interval(features[2000:]).T
    assert np.mean((low <= y[2000:]) & (y[2000:] <= high)) == pytest.approx(0.9, abs=0.04)
    assert model.score(features[2000:], y[2000:]) == pytest.approx(
        -model.loss_.value(model.predict(features[2000:]), y[2000:]), rel=1e-6
    )


def survival_sample(n=600, seed=0):
    random = np.random.default_rng(seed)
    features = random.normal(size=(n, 2))
    event, censored = random.exponential(np.exp(-features[:, 0])), random.exponential(2.0, n)
    return features, np.where(event <= censored, event, -censored), event


def test_survival_curves_from_cox():
    features, y, event = survival_sample()
    model = BoostingRegressor("cox", max_iter=30, max_leaf_nodes=4).fit(features[:400], y[:400])
    later = features[400:]
    assert model.score(later, y[400:]) > 0.65
    curves = model.predict_survival(later)
    assert curves.shape == (200, len(model.event_times_))
    assert (np.diff(curves, axis=1) <= 0).all()
    assert ((curves >= 0) & (curves <= 1)).all()
    # The curves are those of the truth: the share of rows without an event, censored or not.
    for time in (0.2, 0.7, 1.5):
        mean = model.predict_survival(later, [time]).mean()
        assert mean == pytest.approx((event[400:] > time).mean(), abs=0.08)
    assert (model.predict_survival(later, [1e-9]) == 1.0).all()
    stopped = BoostingRegressor("cox", max_iter=200, early_stopping=True, random_state=0).fit(features, y)
    assert stopped.best_iteration_ < stopped.n_iter_
    assert ((stopped.predict_survival(later) >= 0) & (stopped.predict_survival(later) <= 1)).all()


@settings(deadline=None)
@given(st.integers(0, 10**6))
def test_the_baseline_hazard_is_breslows(seed):
    random = np.random.default_rng(seed)
    y = random.integers(1, 6, 12) * random.choice([-1.0, 1.0], 12)
    y[0] = 3.0
    scores, weights = random.normal(size=12), random.integers(1, 4, 12).astype(float)
    times, hazard = baseline_hazard(y, scores, weights)
    slow_times, slow_hazard = reference.baseline_hazard(y, scores, weights)
    np.testing.assert_array_equal(times, slow_times)
    np.testing.assert_allclose(hazard, slow_hazard)
    order = random.permutation(12)
    again = baseline_hazard(y[order], scores[order], weights[order])[1]
    np.testing.assert_array_equal(hazard, again)


def ranking_sample(n_queries=40, seed=0):
    random = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 10)
    features = random.normal(size=(len(qid), 4))
    shift = random.normal(size=n_queries)[qid]  # what only queries differ in must not matter
    grades = np.digitize(
        features[:, 0] + 0.5 * features[:, 1] ** 2 + 0.2 * random.normal(size=len(qid)), [0.5, 1.5]
    )
    features[:, 3] += shift
    return features, grades, qid


@pytest.mark.parametrize("loss", ["auto", "rank_logistic", "rank_hinge"])
def test_a_ranker_learns_the_order_within_queries(loss):
    features, grades, qid = ranking_sample()
    later, later_grades, later_qid = ranking_sample(seed=1)
    model = BoostingRanker(loss, max_iter=40, max_leaf_nodes=6).fit(features, grades, qid=qid)
    scores = model.predict(later)
    assert metrics.disagreement(later_grades, scores, later_qid) < 0.15
    assert (
        model.score(later, later_grades, qid=later_qid)
        == metrics.ndcg(later_grades, scores, later_qid)
        > 0.85
    )
    assert metrics.average_precision(later_grades, scores, later_qid) > 0.8
    order = np.random.default_rng(0).permutation(len(qid))
    shuffled = BoostingRanker(loss, max_iter=40, max_leaf_nodes=6)
    shuffled.fit(features[order], grades[order], qid=np.array([f"query {label}" for label in qid[order]]))
    np.testing.assert_allclose(shuffled.predict(later), scores, atol=1e-8)


def test_ranking_metrics_stop_a_ranker():
    features, grades, qid = ranking_sample()
    later, later_grades, later_qid = ranking_sample(15, seed=1)
    model = BoostingRanker(
        max_iter=60, scoring=["ndcg@5", "map", "disagreement", "loss"], early_stopping=True
    )
    model.fit(features, grades, qid, X_val=later, y_val=later_grades, qid_val=later_qid)
    found = model.validation_scores_["valid"]
    scores = model.predict(later)
    best = model.best_iteration_
    assert found["ndcg@5"][best] == pytest.approx(metrics.ndcg(later_grades, scores, later_qid, k=5))
    assert found["map"][best] == pytest.approx(metrics.average_precision(later_grades, scores, later_qid))
    assert found["disagreement"][best] == pytest.approx(metrics.disagreement(later_grades, scores, later_qid))
    by_pairs = BoostingRanker(max_iter=20, scoring="disagreement")
    by_pairs.fit(features, grades, qid, valid={"late": {"X": later, "y": later_grades, "qid": later_qid}})
    assert by_pairs.best_iteration_ == np.argmin(by_pairs.validation_scores_["late"]["disagreement"])


def test_a_ranker_of_one_query_ranks_all_rows():
    model = BoostingRanker(max_iter=20).fit(X, Y, qid=np.zeros(len(Y)))
    assert metrics.disagreement(Y, model.predict(X)) < 0.3
