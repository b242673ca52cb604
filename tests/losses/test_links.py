"""Links: what users see. Scores become means and labels in range, and probabilities that add up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost import losses
from losses.registry import CASES, CLASSES, best_constant, constant_scores, sample, scores

every_loss = pytest.mark.parametrize("case", CASES, ids=str)
PROBABLE = [case for case in CASES if case.loss.link_.probabilities is not None]
LOG = [case for case in CASES if case.loss.link_.predict is losses.Poisson.link_.predict]
N = 6


@every_loss
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_predictions_are_what_targets_may_be(case, data):
    f = data.draw(scores(case, N))
    predicted = case.loss.link(f)
    assert predicted.shape == (N,)
    if case.loss.link_ is not losses.Squared.link_:
        case.loss.check(predicted)
    else:
        np.testing.assert_array_equal(predicted, f)


@pytest.mark.parametrize("case", LOG, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_log_link_predicts_the_mean(case, data):
    y, w = data.draw(sample(case, N))
    predicted = case.loss.link(best_constant(case, y, w))
    assert predicted == pytest.approx(np.average(y, weights=w))


@pytest.mark.parametrize("case", PROBABLE, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=st.data(), far=st.sampled_from([1.0, 100.0]))
def test_probabilities_add_up_and_agree_with_the_labels(case, data, far):
    f = data.draw(scores(case, N)) * far
    p = case.loss.probabilities(f)
    assert p.shape == (N, CLASSES if case.vector else 2)
    assert np.all((p >= 0) & (p <= 1))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    label = case.loss.link(f)
    chosen = label if case.vector else (label > 0).astype(int)
    np.testing.assert_allclose(p[np.arange(N), chosen], p.max(axis=1), rtol=1e-12)


@pytest.mark.parametrize("case", PROBABLE, ids=str)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_probabilities_of_the_best_constant_are_the_shares(case, data):
    y, w = data.draw(sample(case, N))
    p = case.loss.probabilities(constant_scores(best_constant(case, y, w), 1))[0]
    labels = range(CLASSES) if case.vector else (-1, 1)
    np.testing.assert_allclose(p, [np.average(y == label, weights=w) for label in labels], atol=1e-9)


@pytest.mark.parametrize("case", [case for case in CASES if case not in PROBABLE], ids=str)
def test_other_losses_name_one_that_has_probabilities(case):
    with pytest.raises(TypeError, match=r"use (logistic|softmax)"):
        case.loss.probabilities(np.zeros((2, 2)))


def test_ties_go_to_the_first_class():
    assert losses.Logistic().link([0.0]).tolist() == [-1]
    assert losses.Softmax().link([[1.0, 2.0, 2.0]]).tolist() == [1]
