"""What a user does with `boost`: watch, stop early, start somewhere, sample, look at stages."""

import numpy as np
import pytest

import anyboost as ab
from anyboost.weak import Tree


def data(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * random.normal(size=n)


def test_steps_tell_the_story_of_the_run():
    X, y = data()
    run = ab.boost(X, y, "absolute", "stump", ab.descent.Residual(ab.steps.InverseSqrt(0.2)), 40)
    assert [step.round for step in run.steps] == list(range(1, 41))
    assert run.steps[-1].learners == len(run.ensemble) == 40
    assert run.steps[-1].loss == pytest.approx(np.abs(run.ensemble.predict(X) - y).mean())
    assert run.start_loss == pytest.approx(np.abs(y - np.median(y)).mean())
    assert run.steps[3].step_size == 0.1
    assert all(0 < step.edge <= 1 for step in run.steps)
    assert run.steps[-1].loss < 0.7 * run.start_loss
    assert all(step.valid_loss is None and step.seconds > 0 for step in run.steps)


def test_validation_loss_is_that_of_the_model_so_far():
    X, y = data()
    X_new, y_new = data(seed=1)
    run = ab.boost(X, y, "absolute", Tree(max_leaves=4), ab.descent.Naive(0.3), 15, valid=(X_new, y_new))
    stages = list(run.ensemble.staged_predict(X_new))
    assert len(stages) == 15
    for step, scores in zip(run.steps, stages, strict=True):
        assert step.valid_loss == pytest.approx(np.abs(scores - y_new).mean())
    np.testing.assert_allclose(run.ensemble.truncate(6).predict(X_new), stages[5])
    np.testing.assert_allclose(run.ensemble.truncate(0).predict(X_new), np.median(y))


def test_validation_weights_count():
    X, y = data()
    weights = np.random.default_rng(3).integers(0, 3, len(y))
    run = ab.boost(X, y, rounds=3, valid={"X": X, "y": y, "sample_weight": weights})
    scores = run.ensemble.predict(X)
    assert run.steps[-1].valid_loss == pytest.approx(np.average((scores - y) ** 2 / 2, weights=weights))


def test_early_stopping_keeps_the_best():
    X, y = data(150)
    valid = data(150, seed=1)
    run = ab.boost(X, y, "squared", Tree(max_leaves=15), ab.descent.Naive(0.5), 300, valid=valid, patience=5)
    losses = [step.valid_loss for step in run.steps]
    assert len(run.steps) < 300
    assert run.best_round == int(np.argmin(losses)) + 1 == len(run.steps) - 5
    best = np.mean((run.best.predict(valid[0]) - valid[1]) ** 2) / 2
    assert best == pytest.approx(min(losses))


def test_a_start_no_round_improves_on_is_the_best():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y, y_new = np.sign(X[:, 0]), -np.sign(X[:, 0])
    run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(0.5), 50, valid=(X, y_new), patience=3)
    assert run.best_round == 0
    assert len(run.steps) == 3
    np.testing.assert_allclose(run.best.predict(X), y.mean())


def test_callbacks_see_the_run_and_can_stop_it():
    X, y = data()
    seen = []

    def watch(step, run):
        seen.append((step.round, len(run.ensemble), run.gap(5.0)))
        return step.round == 4

    run = ab.boost(X, y, "absolute", rounds=50, callbacks=[watch])
    assert [entry[0] for entry in seen] == [1, 2, 3, 4]
    assert len(run.steps) == 4


def test_an_offset_is_added_only_where_passed():
    X, y = data()
    offset = 10 * X[:, 2]
    run = ab.boost(X, y + offset, "squared", "tree:8", ab.descent.Naive(0.5), 30, start=offset)
    assert np.mean((run.ensemble.predict(X, offset=offset) - run.scores) ** 2) < 1e-20
    assert np.mean((run.ensemble.predict(X) - y) ** 2) < 0.5
    watched = ab.boost(
        X,
        y + offset,
        "squared",
        "tree:8",
        rounds=3,
        start=offset,
        valid={"X": X, "y": y + offset, "start": offset},
    )
    assert watched.steps[-1].valid_loss == pytest.approx(watched.steps[-1].loss)


def test_a_number_is_a_start_the_model_keeps():
    X, y = data()
    run = ab.boost(X, y, "absolute", rounds=0, start=2.5)
    np.testing.assert_array_equal(run.ensemble.predict(X), np.full(len(y), 2.5))
    vector = ab.boost(X, np.arange(400) % 3, "softmax", rounds=0, start=0.5)
    np.testing.assert_array_equal(vector.ensemble.predict(X), np.full((400, 3), 0.5))


def test_row_sampling_does_not_diverge_with_memory():
    """The coefficient is computed on all rows; from the sample alone the residual would grow without end."""
    X, y = data(300)
    run = ab.boost(
        X,
        y,
        "absolute",
        Tree(max_leaves=31),
        ab.descent.Residual(ab.steps.InverseSqrt(0.1)),
        300,
        row_fraction=0.3,
        random_state=0,
    )
    assert run.steps[-1].loss < 0.5 * run.start_loss
    assert max(step.loss for step in run.steps) < 2 * run.start_loss


def test_feature_sampling_draws_anew_each_round():
    X, y = data()
    run = ab.boost(X, y, rounds=40, feature_fraction=0.2, random_state=0)
    used = {int(tree.feature[0]) for tree in run.ensemble.hypotheses if tree.feature[0] >= 0}
    assert used == {0, 1, 2, 3, 4}


def test_missing_values_are_larger_than_all():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    run = ab.boost(X, [0.0, 0.0, 1.0, 1.0], "squared", "stump", ab.descent.Naive(1.0), 1)
    np.testing.assert_allclose(
        run.ensemble.predict(np.array([[0.0], [99.0], [np.nan]])), [0, 0, 1], atol=1e-12
    )


def test_more_weight_than_another_row_can_show_in_fixed_point():
    X = np.arange(4.0)[:, None]
    run = ab.boost(
        X,
        [1.0, 2.0, 3.0, 4.0],
        "squared",
        "tree:4",
        ab.descent.Naive(1.0),
        3,
        sample_weight=[1e-30, 1, 1, 1e30],
    )
    assert np.isfinite(run.ensemble.predict(X)).all()
    assert run.ensemble.predict(X)[3] == pytest.approx(4.0)


def test_multiclass_scores_have_a_column_a_class():
    X, y = data()
    labels = np.digitize(y, [-0.5, 0.5])
    run = ab.boost(X, labels, "multiclass_hinge", "stump", "residual", 100)
    assert run.ensemble.predict(X).shape == (400, 3)
    assert np.mean(run.ensemble.predict(X).argmax(axis=1) == labels) > 0.7


def test_a_sum_of_losses_runs_in_the_same_loop():
    X, y = data(100)
    loss = 0.5 * ab.losses.Absolute() + ab.losses.Squared()
    run = ab.boost(X, y, loss, Tree(max_leaves=4, leaf="exact"), ab.descent.Naive(0.3), 30)
    assert run.steps[-1].loss < 0.6 * run.start_loss


def test_a_loss_of_ones_own_runs_in_the_same_loop():
    X, y = data(100)

    def value(score, target):
        return abs(score - target) ** 1.5

    def slope(score, target):
        gap = score - target
        return 1.5 * abs(gap) ** 0.5 * (1.0 if gap > 0 else -1.0 if gap < 0 else 0.0)

    loss = ab.losses.pointwise(value, slope)
    run = ab.boost(X, y, loss, Tree(max_leaves=4, leaf="exact"), ab.descent.Naive(0.3), 30)
    assert run.steps[-1].loss < 0.6 * run.start_loss
