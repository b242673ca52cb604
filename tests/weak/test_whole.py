"""A tree grown in one call is the tree of one step after the other, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.space import Space
from anyboost.weak import Tree, whole
from lending import lent


def both_ways(monkeypatch, make):
    """What `make()` gives in one call, and step by step."""
    calls = []
    fits = whole.fits
    monkeypatch.setattr(whole, "fits", lambda *given: calls.append(fits(*given)) or calls[-1])
    at_once = make()
    assert all(calls)
    assert calls
    monkeypatch.setattr(whole, "fits", lambda *_: False)
    in_steps = make()
    monkeypatch.setattr(whole, "fits", fits)
    return at_once, in_steps


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_same_tree(data):
    draw = data.draw
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, k = draw(st.integers(2, 300)), draw(st.integers(1, 11)), draw(st.sampled_from([1, 2, 6]))
    X = random.normal(size=(n, p))
    if draw(st.booleans()):
        X = np.round(X)  # many ties
    X[random.random((n, p)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    weights = draw(st.sampled_from([None, random.integers(1, 4, n).astype(float), random.random(n) + 0.01]))
    target = random.normal(size=(n, k) if k > 1 else n)
    if draw(st.booleans()):
        target = np.sign(target)
    tree = Tree(
        max_leaves=draw(st.integers(3, 40)),
        max_depth=draw(st.sampled_from([None, 1, 2, 4])),
        growth=draw(st.sampled_from(["leaf", "depth"])),
        min_leaf_weight=draw(st.sampled_from([0.0, 3.0])),
        l2=draw(st.sampled_from([0.0, 0.7])),
    )
    rows = draw(st.sampled_from([None, np.sort(random.choice(n, (n + 1) // 2, replace=False))]))
    features = draw(st.sampled_from([None, np.sort(random.choice(p, (p + 1) // 2, replace=False))]))
    act = draw(st.sampled_from(["project", "extreme"]))

    def make():
        space = Space(X, weights)
        if act == "extreme":
            return tree.extreme(space, target)
        return tree.project(lent(space, rows, features), target)

    with pytest.MonkeyPatch.context() as patch:
        one, other = both_ways(patch, make)
    np.testing.assert_array_equal(one.leaf, other.leaf)
    np.testing.assert_array_equal(one.leaf_values, other.leaf_values)
    for name in ("feature", "threshold", "left", "right", "missing_left", "value"):
        np.testing.assert_array_equal(getattr(one.hypothesis, name), getattr(other.hypothesis, name))


def test_trees_of_one_sample_do_not_disturb_each_other(monkeypatch):
    """Histograms are kept from tree to tree, also for other numbers of leaves and outputs."""
    random = np.random.default_rng(0)
    X, targets = random.normal(size=(400, 3)), random.normal(size=(6, 400))

    def make():
        space = Space(X)
        trees = (Tree(7), Tree(4), Tree(7, max_depth=2))
        found = [tree.project(space, target).values for target in targets for tree in trees]
        return [*found, Tree(7).project(space, targets.T).values]

    for one, other in zip(*both_ways(monkeypatch, make), strict=True):
        np.testing.assert_array_equal(one, other)
