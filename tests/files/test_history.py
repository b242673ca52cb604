"""Nodes keep what training saw of them: the weight under a node, and what its cut gained; files too."""

import numpy as np
import pytest

import anyboost as ab

WEIGHTS = {
    "none": None,
    "whole": np.random.default_rng(1).integers(1, 5, 300).astype(float),
    "floats": np.random.default_rng(1).random(300) + 0.1,
}


def sample():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    X[:, 3] = random.integers(0, 6, 300)
    return X, X[:, 0] + (X[:, 3] == 2) + 0.1 * random.normal(size=300)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("row_fraction", [1.0, 0.5])
def test_cover_is_the_weight_of_all_rows_under_a_node(weights, row_fraction):
    X, y = sample()
    given = WEIGHTS[weights]
    run = ab.boost(
        X, y, "squared", ab.weak.Tree(6), rounds=3, sample_weight=given, row_fraction=row_fraction, categorical=[3]
    )  # fmt: skip
    mass = np.ones(300) if given is None else given
    for tree in run.ensemble.hypotheses:
        assert tree.cover[0] == pytest.approx(mass.sum(), rel=1e-12)
        leaf = tree.apply(X)
        for node in np.flatnonzero(tree.feature < 0):
            assert tree.cover[node] == pytest.approx(mass[leaf == node].sum(), rel=1e-12)
        inner = tree.feature >= 0
        np.testing.assert_allclose(
            tree.cover[inner], tree.cover[tree.left[inner]] + tree.cover[tree.right[inner]], rtol=1e-12
        )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_gains_add_up_to_what_the_tree_took_off_the_distance(weights):
    """With leaf means, ||D||^2 - ||D - h||^2 is the gain of all cuts and of the mean itself."""
    X, y = sample()
    run = ab.boost(X, y, "squared", ab.weak.Tree(7), ab.descent.Naive(1.0), 1, sample_weight=WEIGHTS[weights])
    space, tree = run.space, run.ensemble.hypotheses[0]
    D = run.state.start - y
    h = tree.predict(X)
    fell = space.inner(D, D) - space.inner(D - h, D - h)
    assert tree.gain.sum() + space.mean(D) ** 2 == pytest.approx(fell, rel=1e-8)
    assert (tree.gain[tree.feature >= 0] > 0).all()
    assert not tree.gain[tree.feature < 0].any()


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("outputs", ["one", "each", "joint"])
def test_files_keep_both(weights, outputs, tmp_path):
    X, y = sample()
    if outputs != "one":
        y = np.digitize(y, [-0.5, 0.5])
    learner = ab.weak.Tree(6, outputs="each" if outputs == "each" else "joint")
    loss = "squared" if outputs == "one" else "softmax"
    run = ab.boost(X, y, loss, learner, rounds=3, sample_weight=WEIGHTS[weights], categorical=[3])
    ab.save(run.ensemble, tmp_path / "model")
    again = ab.load(tmp_path / "model")
    for one, other in zip(run.ensemble.hypotheses, again.hypotheses, strict=True):
        for tree, copy in zip(getattr(one, "trees", (one,)), getattr(other, "trees", (other,)), strict=True):
            np.testing.assert_array_equal(tree.gain, copy.gain)
            np.testing.assert_allclose(tree.cover, copy.cover, rtol=1e-14)
            leaves = tree.feature < 0
            np.testing.assert_array_equal(tree.cover[leaves], copy.cover[leaves])
