"""Methods are compared like with like: after the same number of weak learners, and by the scores they have there."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import anyboost as ab
from anyboost.experiments import methods

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(("asked", "given"), [(1, 1), (2, 1), (3, 3), (54, 45), (55, 55), (500, 496)])
def test_the_numbers_fit_whole_rounds_of_repeated(asked, given):
    assert methods.stops(asked)[-1] == given
    assert methods.stops(10) == [1, 3, 6, 10]


@pytest.mark.parametrize("method", methods.METHODS)
def test_at_every_stop_each_method_has_spent_as_many_stumps(method):
    told = []
    run = methods.fit(X, Y, method, 0.3, 15, told.append, loss="multiclass_hinge", learner="stump")
    rounds = methods.rounds_at_stops(method, 15)
    assert [run.steps[t - 1].learners for t in rounds] == [1, 3, 6, 10, 15]
    assert told[-1] == 1.0
    scores = list(methods.scores_at_stops(run, X, method, 15))
    assert len(scores) == 5
    for t, found in zip(rounds, scores, strict=True):
        np.testing.assert_allclose(found, run.ensemble.truncate(t).predict(X), atol=1e-12)


@pytest.mark.parametrize("method", methods.METHODS)
def test_every_method_takes_the_step_it_is_given(method):
    run = methods.fit(X, Y, method, 0.3, 3, lambda _: None, loss="multiclass_hinge", learner="stump")
    assert [step.step_size for step in run.steps] == pytest.approx(
        [0.3 / t**0.5 for t in range(1, len(run.steps) + 1)]
    )


def test_the_same_cut_counts_once():
    two = np.array([[0.0], [0.0], [1.0], [1.0]])  # there is one cut only
    run = ab.boost(two, [0, 1, 2, 2], "multiclass_hinge", "stump", "residual", rounds=6)
    assert len(methods.cuts(run)) > 1
    assert set(methods.cuts(run)) == {(0, 0.5)}
    assert methods.distinct_at_stops(run, 6) == [1, 1, 1]
    constant = ab.boost(
        np.zeros((4, 1)), [0, 1, 2, 2], "multiclass_hinge", "stump", "residual", rounds=3, start=0.0
    )
    assert set(methods.cuts(constant)) == {(-1, 0.0)}


def test_shares_of_parts_add_up():
    told = []
    methods.share(told.append, 2, 4)(0.5)
    assert told == [0.625]


@pytest.mark.parametrize(
    ("ends", "heights"), [((0.1, 0.5, 0.52), (0.1, 0.5, 0.7)), ((0.2, 0.98, 0.99), (0.2, 0.8, 1.0))]
)
def test_names_at_the_ends_of_curves_do_not_touch(ends, heights):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    axes.set_xlim(1, 10)
    axes.set_ylim(0, 1)
    methods.label_ends(
        axes, {method: [end] for method, end in zip(methods.METHODS, ends, strict=True)}, gap=0.2
    )
    found = {text.get_text(): text.xy[1] for text in axes.texts}
    assert [found[method] for method in methods.METHODS] == pytest.approx(heights)
