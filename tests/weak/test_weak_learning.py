"""Theorems 1 and 2: the edge against the classical weak-learning conditions, for every target.

docs/theorems.md has both, with the sharp form of 2. `edge` is gamma of Definition 1, `advantage` is delta of the
classical conditions, both over all classifiers of a set:

    two classes    delta / sqrt(N) <= gamma <= delta
    K classes      delta / ((K-1) sqrt(N)) <= gamma <= delta,   rows of mean zero

For weights w the 1 / sqrt(N) is sqrt(min_n w_n). In the appendix, the line of Theorem 1 with gamma (1/N)
||w||_1 lost a 1/N on the left.

On one row, with h naming the right class:

    D = (1, -1):      delta = 1, gamma = 1,          printed sqrt(2)
    D = (1, 1, -2):   delta = 1, gamma = 1/2,        printed sqrt(3/2), and 1
    D = (1, -1, 0):   delta = 1, gamma = sqrt(3/4),  printed sqrt(3/2), and 1

The last one attains sqrt(K/(2(K-1))) delta / sqrt(N), the bound for rows with one positive entry.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from anyboost.space import Space
from anyboost.weak import Classifier

SLACK = 1 + 1e-9


def stump_labels(X, classes):
    """Every stump classifier and every constant on the rows of X, as labels 0 .. classes - 1, a line each."""
    _, _, left = reference.candidate_splits(X)
    sides = np.vstack([np.ones((1, len(X)), bool), left])
    return np.array([np.where(side, a, b) for side in sides for a in range(classes) for b in range(classes)])


def edge(labels, D, w):
    """gamma: the largest <D, h>/(||D|| ||h||), from the codes of the labels."""
    outputs = 1 if D.ndim == 1 else D.shape[1]
    H = reference.codes(outputs)[labels].reshape(len(labels), *D.shape)
    lengths = [math.sqrt(reference.inner(w, D, D) * reference.inner(w, h, h)) for h in H]
    return max(reference.inner(w, D, h) / length for h, length in zip(H, lengths, strict=True))


def advantage(labels, D, w):
    """delta: from weighted errors for two classes, from rewards for K."""
    if D.ndim == 1:
        weights = w * np.abs(D)
        error = min(np.sum(weights * (np.where(h == 0, 1, -1) != np.sign(D))) for h in labels)
        return 1 - 2 * error / weights.sum()
    rewards = w[:, None] * D
    chance = rewards.sum() / D.shape[1]
    best = max(np.sum(rewards[np.arange(len(D)), h]) for h in labels)
    return (best - chance) / (rewards.max(axis=1).sum() - chance)


def target(random, n, classes):
    """Rows of mean zero; few of them, of very different lengths, or of few values, at random."""
    D = random.normal(size=n) if classes == 1 else random.normal(size=(n, classes))
    if random.random() < 0.3:
        D = np.where(D > 0, 1.0, -1.0)
    if classes > 1:
        D -= D.mean(axis=1, keepdims=True)  # before scaling: what is zero stays zero
    scale = random.choice([np.ones(n), random.exponential(size=n) ** 4, random.permutation(np.eye(n)[0])])
    return (D.T * scale).T


problems = given(seed=st.integers(0, 10**6), n=st.integers(1, 12), weighted=st.booleans())


def draw(seed, n, classes, weighted):
    random = np.random.default_rng(seed)
    X = random.integers(0, 5, (n, 2)).astype(float)
    D = target(random, n, classes)
    if not np.any(D):
        D = reference.codes(classes)[random.integers(max(classes, 2), size=n)].reshape(D.shape)
    weights = random.exponential(size=n) + 0.1 if weighted else None
    return X, D, weights, reference.normalised(weights, n)


@settings(deadline=None, max_examples=150)
@problems
def test_theorem_1(seed, n, weighted):
    X, D, weights, w = draw(seed, n, 1, weighted)
    labels = stump_labels(X, 2)
    gamma, delta = edge(labels, D, w), advantage(labels, D, w)
    assert gamma * SLACK + 1e-12 >= math.sqrt(w.min()) * delta
    assert delta * SLACK + 1e-12 >= gamma
    ratio = np.sum(w * np.abs(D)) / math.sqrt(reference.inner(w, D, D))
    assert gamma == pytest.approx(delta * ratio, abs=1e-12)
    check_projection(X, D, weights, gamma)


@settings(deadline=None, max_examples=200)
@given(classes=st.integers(2, 5), seed=st.integers(0, 10**6), n=st.integers(1, 12), weighted=st.booleans())
def test_theorem_2(classes, seed, n, weighted):
    X, D, weights, w = draw(seed, n, classes, weighted)
    labels = stump_labels(X, classes)
    gamma, delta = edge(labels, D, w), advantage(labels, D, w)
    assert gamma * SLACK + 1e-12 >= math.sqrt(w.min()) * delta / (classes - 1)
    assert delta * SLACK + 1e-12 >= gamma
    ratio = np.sum(w * D.max(axis=1)) / math.sqrt(reference.inner(w, D, D))
    assert gamma == pytest.approx(math.sqrt(classes / (classes - 1)) * delta * ratio, abs=1e-12)
    check_projection(X, D, weights, gamma)


def check_projection(X, D, weights, gamma):
    """The library's exact stump classifier has the edge found by enumeration."""
    space = Space(X, weights)
    h = Classifier().project(space, D).values
    length = space.norm(D) * space.norm(h)
    assert space.inner(D, h) == pytest.approx(gamma * length, rel=1e-9, abs=1e-12 * length)


@settings(deadline=None, max_examples=100)
@given(classes=st.integers(2, 5), seed=st.integers(0, 10**6), n=st.integers(1, 12))
def test_rows_with_one_positive_entry_do_better(classes, seed, n):
    random = np.random.default_rng(seed)
    share = random.dirichlet(np.full(classes - 1, 0.3), size=n)
    y = random.integers(classes, size=n)
    D = np.array([np.insert(-row, k, 1.0) for row, k in zip(share, y, strict=True)])
    D *= random.exponential(size=(n, 1)) ** 2
    w = np.full(n, 1 / n)
    labels = stump_labels(random.integers(0, 5, (n, 2)).astype(float), classes)
    gamma, delta = edge(labels, D, w), advantage(labels, D, w)
    assert gamma * SLACK >= math.sqrt(classes / (2 * (classes - 1)) / n) * delta
    assert delta * SLACK >= gamma


@pytest.mark.parametrize("n", [1, 2, 7])
def test_both_inequalities_of_theorem_1_are_attained(n):
    labels, w = np.array([np.zeros(n, int)]), np.full(n, 1 / n)
    lonely = np.eye(n)[0]
    assert advantage(labels, lonely, w) == pytest.approx(1)
    assert edge(labels, lonely, w) == pytest.approx(1 / math.sqrt(n))
    assert edge(labels, np.ones(n), w) == pytest.approx(1) == advantage(labels, np.ones(n), w)


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_both_inequalities_of_theorem_2_are_attained_and_the_printed_one_fails(classes, n):
    labels, w = np.array([np.zeros(n, int)]), np.full(n, 1 / n)
    printed = math.sqrt(classes / (classes - 1) / n)

    worst = np.zeros((n, classes))
    worst[0] = 1.0
    worst[0, -1] = 1.0 - classes
    assert advantage(labels, worst, w) == pytest.approx(1)
    assert edge(labels, worst, w) == pytest.approx(1 / ((classes - 1) * math.sqrt(n)))
    assert edge(labels, worst, w) < 0.8 * printed
    assert (edge(labels, worst, w) < 0.8 / math.sqrt(n)) == (classes > 2)

    hinge = np.zeros((n, classes))
    hinge[0, :2] = 1.0, -1.0
    assert advantage(labels, hinge, w) == pytest.approx(1)
    assert edge(labels, hinge, w) == pytest.approx(printed / math.sqrt(2))

    best = reference.codes(classes)[labels[0]]
    assert edge(labels, best, w) == pytest.approx(1) == advantage(labels, best, w)


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_without_mean_zero_a_classifier_may_have_an_advantage_and_next_to_no_edge(classes):
    random = np.random.default_rng(classes)
    X = random.normal(size=(6, 2))
    D = target(random, 6, classes)
    w = np.full(6, 1 / 6)
    labels = stump_labels(X, classes)
    shifted = D + 1e6
    assert advantage(labels, shifted, w) == pytest.approx(advantage(labels, D, w), rel=1e-6)
    assert advantage(labels, D, w) > 0.1
    assert edge(labels, shifted, w) < 1e-5
    assert edge(labels, np.ones((6, classes)), w) == pytest.approx(0, abs=1e-12)
