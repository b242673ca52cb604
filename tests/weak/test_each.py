"""One tree an output: what each output's own tree would be, and certificates that add up."""

import itertools

import numpy as np
import pytest

import anyboost as ab
import reference
from anyboost.space import Space
from anyboost.weak import Stump, Tree


def data(n=150, k=3):
    random = np.random.default_rng(2)
    X = random.normal(size=(n, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2, np.linspace(-0.5, 1.5, k - 1)).astype(float)


def test_every_output_has_the_tree_it_would_have_alone():
    X, _ = data()
    D = np.random.default_rng(0).normal(size=(150, 3))
    space = Space(X)
    found = Tree(5, outputs="each").project(space, D)
    for j in range(3):
        np.testing.assert_array_equal(found.values[:, j], Tree(5).project(space, D[:, j]).values)
    np.testing.assert_array_equal(found.hypothesis.predict(X), found.values)
    inner, square = found.ray(space, D)
    assert inner == pytest.approx(space.inner(found.values, D))
    assert square == pytest.approx(space.inner(found.values, found.values))
    joint = Tree(5).project(space, D)
    assert inner > joint.ray(space, D)[0]  # a richer class


@pytest.mark.parametrize("leaf", ["mean", "exact"])
@pytest.mark.parametrize("descent", ["naive", "residual", "repeated", "hull"])
def test_the_model_is_its_scores(leaf, descent):
    X, y = data()
    tree = Tree(4, leaf=leaf, outputs="each")
    run = ab.boost(X, y, "softmax", tree, descent, 8, row_fraction=0.8, random_state=0)
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-12)
    *_, last = run.ensemble.staged_predict(X)
    np.testing.assert_allclose(last, run.scores, atol=1e-12)
    assert run.steps[-1].loss < run.start_loss


def test_exact_leaf_steps_go_from_output_to_output_and_lower_the_loss():
    X, y = data()
    for loss in ("softmax", "multiclass_hinge"):
        tree = Tree(6, leaf="exact", outputs="each")
        run = ab.boost(X, y, loss, tree, ab.descent.Naive(1.0), 6)
        losses = [run.start_loss, *(step.loss for step in run.steps)]
        assert all(b <= a + 1e-12 for a, b in itertools.pairwise(losses))
        assert losses[-1] < 0.7 * losses[0]


def test_the_reach_is_the_sum_over_outputs():
    X, _ = data()
    G = np.random.default_rng(1).normal(size=(150, 3))
    support = Tree(2, outputs="each").support(Space(X), G)
    value = sum(reference.extreme_stump(X, None, G[:, j])[0] for j in range(3))
    assert support.lower == pytest.approx(value)
    assert value <= support.upper <= value * (1 + 1e-8) + 1e-8
    assert Stump().support(Space(X), G).lower < support.lower
    atom = Tree(2, outputs="each").extreme(Space(X), G)
    assert Space(X).inner(atom.values, G) == pytest.approx(value)


def test_one_output_is_a_joint_tree():
    X, y = data()
    one = ab.boost(X, y, "squared", Tree(5, outputs="each"), rounds=4)
    other = ab.boost(X, y, "squared", Tree(5), rounds=4)
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("curvature", [False, True])
@pytest.mark.parametrize("leaf", ["mean", "exact"])
def test_trees_grown_at_the_same_time_are_those_grown_in_turn(curvature, leaf):
    random = np.random.default_rng(4)
    X = random.normal(size=(700, 5))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + random.normal(size=700), [-1, 0, 1, 2, 3])

    def scores(n_threads):
        descent = ab.descent.Residual(0.3, memory=0.5, curvature=curvature)
        learner = ab.weak.Tree(6, leaf=leaf, outputs="each")
        return ab.boost(X, y, "softmax", learner, descent, 5, n_threads=n_threads).ensemble.predict(X)

    alone = scores(1)
    for n_threads in (2, 3, 4):  # six trees a round: at the same time for up to three threads
        np.testing.assert_array_equal(scores(n_threads), alone)
