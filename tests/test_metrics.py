"""Ranking metrics are what their slow definitions say, whatever the order of rows, ties and empty queries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from anyboost import metrics
from reference import metrics as reference

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.integers(0, 2)),
    min_size=1,
    max_size=9,
)
DEPTH = st.sampled_from([None, 1, 2, 5])
EMPTY = st.sampled_from([None, 0.0, 1.0])


def columns(rows):
    y, scores, qid = (np.array(column) for column in zip(*rows, strict=True))
    return y.astype(float), scores, qid


@settings(deadline=None)
@given(ROWS, DEPTH, EMPTY)
def test_ndcg_and_map(rows, k, empty):
    y, scores, qid = columns(rows)
    for name in ("ndcg", "average_precision"):
        ours, slow = getattr(metrics, name), getattr(reference, name)
        assert ours(y, scores, qid, k, empty) == pytest.approx(slow(y, scores, qid, k, empty), nan_ok=True)


@settings(deadline=None)
@given(ROWS, st.randoms())
def test_pairs(rows, random):
    y, scores, qid = columns(rows)
    value = metrics.disagreement(y, scores, qid)
    assert value == pytest.approx(reference.disagreement(y, scores, qid), nan_ok=True)
    random.shuffle(rows)
    assert metrics.disagreement(*columns(rows)) == pytest.approx(value, nan_ok=True)
    times = np.where(qid == 0, -1.0, 1.0) * (1 + y)
    assert metrics.concordance(times, scores) == pytest.approx(
        reference.concordance(times, scores), nan_ok=True
    )


def test_ndcg_agrees_with_scikit_learn():
    random = np.random.default_rng(0)
    y, scores = random.integers(0, 4, 50).astype(float), random.integers(0, 9, 50).astype(float)
    gains = 2.0**y - 1  # scikit-learn's gain is the grade itself
    assert metrics.ndcg(y, scores, k=10) == pytest.approx(ndcg_score([gains], [scores], k=10))


def test_a_query_without_a_relevant_row_is_left_out_unless_asked_for():
    y, scores, qid = [1, 0, 0, 0], [1.0, 0.0, 1.0, 0.0], [1, 1, 2, 2]
    for metric in (metrics.ndcg, metrics.average_precision):
        assert metric(y, scores, qid) == 1.0
        assert metric(y, scores, qid, empty=0.0) == 0.5
        assert metric(y, scores, qid, empty=1.0) == 1.0
    assert np.isnan(metrics.ndcg([0, 0], [1, 2]))


def test_many_pairs_do_not_fill_the_memory():
    random = np.random.default_rng(0)
    y = random.normal(size=6000)
    assert metrics.disagreement(y, y) == 0.0
    assert metrics.disagreement(y, -y) == 1.0
    assert metrics.concordance(np.abs(y), -np.abs(y)) == 1.0


def test_metrics_by_name():
    assert metrics.get("ndcg@5").value([2, 0], [0.0, 1.0], None) == metrics.ndcg([2, 0], [0.0, 1.0], k=5)
    assert metrics.get("map").greater_is_better
    assert not metrics.get("disagreement").greater_is_better
    assert metrics.get("accuracy") is None
    assert metrics.get("disagreement@3") is None
    for bad, words in (("ndcg@x", "no whole number after the @"), ("map@0", "k must be at least 1")):
        with pytest.raises(ValueError, match=words):
            metrics.get(bad)
    with pytest.raises(ValueError, match="scores must have one value for each of the 2 rows of y, got 1"):
        metrics.ndcg([1, 0], [1.0])


def test_a_query_counts_by_the_mean_weight_of_its_rows():
    y, scores, qid = [2, 0, 1, 0, 1], [0.1, 0.5, 0.9, 0.8, 0.2], [1, 1, 1, 7, 7]
    first, second = (metrics.ndcg(y[part], scores[part]) for part in (slice(0, 3), slice(3, 5)))
    found = metrics.ndcg(y, scores, qid, sample_weight=[1.0, 2.0, 3.0, 0.0, 1.0])
    assert found == pytest.approx((2.0 * first + 0.5 * second) / 2.5)
    assert np.isnan(metrics.ndcg([0, 1], [1.0, 2.0], [1, 2], sample_weight=[1.0, 0.0]))
    with pytest.raises(ValueError, match="sample_weight"):
        metrics.ndcg(y, scores, qid, sample_weight=[1.0])
