"""Projection (3) onto classifiers: stumps against enumeration, estimators against what they are given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import anyboost as ab
import reference
from anyboost.space import Space
from anyboost.weak import Classifier, Stump
from lending import lent


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Tables this small are fitted many times faster without waiting for other BLAS threads."""
    with threadpool_limits(1, user_api="blas"):
        yield


def sample(seed, n, outputs, ties, weighted, missing):
    """Small integers give ties within columns, whole targets between splits and between classes."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, (n, 4)).astype(float) if ties else random.normal(size=(n, 4))
    if missing:
        X[random.random(X.shape) < 0.15] = np.nan
    shape = (n,) if outputs == 1 else (n, outputs)
    D = random.choice([-1.0, 0.0, 1.0], shape) if ties else random.normal(size=shape)
    weights = random.integers(1, 4, n).astype(float) if weighted else None
    return X, D, weights


cases = given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 50),
    outputs=st.integers(1, 4),
    ties=st.booleans(),
    weighted=st.booleans(),
    missing=st.booleans(),
)


@settings(deadline=None, max_examples=200)
@cases
def test_stump_is_the_classifier_furthest_along_the_target(seed, n, outputs, ties, weighted, missing):
    X, D, weights = sample(seed, n, outputs, ties, weighted, missing)
    space = Space(X, weights)
    mine = Classifier().project(space, D)
    value, theirs = reference.project_classifier(X, weights, D)
    tree = mine.hypothesis
    if theirs.feature is None:
        assert tree.feature.tolist() == [-1]
    else:
        assert (tree.feature[0], tree.threshold[0]) == (theirs.feature, theirs.threshold)
    np.testing.assert_allclose(mine.values, theirs.values, atol=1e-12)
    np.testing.assert_array_equal(tree.predict(X), mine.values)
    assert space.inner(mine.values, D) == pytest.approx(value, rel=1e-9, abs=1e-12)


@settings(deadline=None, max_examples=120)
@cases
def test_support_is_the_reach_of_classifiers_and_their_negatives(seed, n, outputs, ties, weighted, missing):
    X, G, weights = sample(seed, n, outputs, ties, weighted, missing)
    space = Space(X, weights)
    value = max(reference.project_classifier(X, weights, sign * G)[0] for sign in (1.0, -1.0))
    support = Classifier().support(space, G)
    assert support.lower == pytest.approx(value, rel=1e-8, abs=1e-12)
    assert value - 1e-15 <= support.upper <= value * (1 + 1e-8) + 1e-9  # the oracle rounds too
    atom = Classifier().extreme(space, G)
    assert space.inner(atom.values, G) == pytest.approx(value, rel=1e-8, abs=1e-12)
    assert np.abs(atom.values).max() == 1
    np.testing.assert_array_equal(atom.hypothesis.predict(X), atom.values)


def test_row_means_of_the_target_do_not_matter_however_large():
    X, D, _ = sample(1, 50, 3, False, False, False)
    shifted = D + 1e6 * np.random.default_rng(2).normal(size=(50, 1))
    one, other = Classifier().project(Space(X), D), Classifier().project(Space(X), shifted)
    np.testing.assert_array_equal(one.values, other.values)
    assert Classifier().support(Space(X), np.ones((50, 3))) == (0.0, 0.0)


@pytest.mark.parametrize("estimator", [None, GaussianNB()])
def test_a_zero_target_gives_the_first_class_and_a_zero_step(estimator):
    X = np.arange(6.0)[:, None]
    for D, first in ((np.zeros(6), np.ones(6)), (np.zeros((6, 3)), np.tile([1, -0.5, -0.5], (6, 1)))):
        np.testing.assert_array_equal(Classifier(estimator).project(Space(X), D).values, first)
        assert Classifier(estimator).support(Space(X), D) == (0.0, 0.0)


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
@pytest.mark.parametrize("outputs", [1, 3])
def test_rows_and_features_sampled_for_a_classifier(estimator, outputs):
    X, D, weights = sample(5, 50, outputs, False, True, False)
    rows, features = np.arange(0, 50, 2), np.array([1, 3])
    space, learner = Space(X, weights), Classifier(estimator)
    mine = learner.project(lent(space, rows, features), D)
    np.testing.assert_array_equal(mine.hypothesis.predict(X), mine.values)
    assert mine.values.shape == D.shape
    # Neither the other rows' targets nor the other columns are seen.
    unseen, muddled = D.copy(), X.copy()
    unseen[1::2] = 7.0
    muddled[:, [0, 2]] = 0.0
    again = learner.project(lent(Space(muddled, weights), rows, features), unseen)
    np.testing.assert_array_equal(again.values, mine.values)


class Family(ClassifierMixin, BaseEstimator):
    """The member of least weighted error of a finite family, each a labeling of the rows 0 .. n-1."""

    def __init__(self, members):
        self.members = members

    def fit(self, X, y, sample_weight):
        errors = [np.sum(sample_weight * (member[X[:, 0].astype(int)] != y)) for member in self.members]
        self.best_ = int(np.argmin(errors))
        return self

    def predict(self, X):
        return self.members[self.best_][X[:, 0].astype(int)]


@settings(deadline=None, max_examples=120)
@given(
    st.integers(0, 10**6),
    st.integers(1, 20),
    st.integers(1, 4),
    st.integers(1, 12),
    st.booleans(),
    st.booleans(),
)
def test_least_error_on_the_copies_is_the_furthest_along_the_target(seed, n, outputs, size, ties, weighted):
    random = np.random.default_rng(seed)
    _, D, weights = sample(seed, n, outputs, ties, weighted, False)
    labels = np.array([1, -1]) if outputs == 1 else np.arange(outputs)
    members = random.choice(labels, (size, n))
    space = Space(np.arange(float(n))[:, None], weights)
    mine = Classifier(Family(members)).project(space, D)
    positions = np.argmax(members[:, :, None] == labels, axis=2)
    reach = [space.inner(reference.codes(outputs)[member].reshape(D.shape), D) for member in positions]
    # Where one class is best in every row the answer is that class, which is at least as good as a member.
    assert space.inner(mine.values, D) >= max(reach) - 1e-12
    if mine.hypothesis.estimator is not None:
        assert space.inner(mine.values, D) == pytest.approx(max(reach), abs=1e-12)


def test_an_estimator_sees_signs_and_weights_and_no_empty_rows():
    seen = {}

    class Spy(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.update(X=X[:, 0], y=y, weight=sample_weight)
            return super().fit(X, y, sample_weight)

    X = np.arange(4.0)[:, None]
    Classifier(Spy()).project(Space(X, np.array([1.0, 1, 2, 1])), np.array([2.0, -1.0, 1.0, 0.0]))
    assert seen["X"].tolist() == [0, 1, 2]
    assert seen["y"].tolist() == [1, -1, 1]
    np.testing.assert_allclose(seen["weight"], [2, 1, 2])  # which adds up to 5, the weight of the rows
    D = np.array([[1.0, -1, 0], [0, 0, -1], [0, 0, 0], [5, 5, 5]])
    Classifier(Spy()).project(Space(X), D)
    assert seen["X"].tolist() == [0, 0, 1, 1]
    assert seen["y"].tolist() == [0, 2, 0, 1]
    np.testing.assert_allclose(seen["weight"], np.array([2, 1, 1, 1]) * 4 / 5)


def test_classes_that_no_row_rewards_keep_their_columns():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    D = np.array([[-1.0, 2, -1, -1], [-1, 2, -1, -1], [-1, -1, -1, 2], [-1, -1, -1, 2]])
    mine = Classifier(DecisionTreeClassifier(max_depth=1)).project(Space(X), D)
    assert mine.hypothesis.estimator.classes_.tolist() == [1, 3]
    assert mine.values.argmax(axis=1).tolist() == [1, 1, 3, 3]
    only = Classifier(GaussianNB()).project(Space(X), np.tile([0.0, 0.0, 1.0], (4, 1)))
    np.testing.assert_array_equal(only.values, np.tile([-0.5, -0.5, 1.0], (4, 1)))
    assert Classifier(GaussianNB()).project(Space(X), np.full(4, -2.0)).values.tolist() == [-1] * 4


@pytest.mark.parametrize("outputs", [1, 2, 4])
def test_support_of_an_estimator_says_what_is_proof_and_what_is_found(outputs):
    X, G, weights = sample(3, 40, outputs, False, True, False)
    space = Space(X, weights)
    learner = Classifier(DecisionTreeClassifier(max_depth=2, random_state=0))
    support = learner.support(space, G)
    anything = np.abs(G.reshape(40, -1) @ reference.codes(outputs).T).max(axis=1)
    assert support.upper == pytest.approx(np.average(anything, weights=weights))
    assert 0 < support.lower <= support.upper
    assert space.inner(learner.extreme(space, G).values, G) == pytest.approx(support.lower)


ESTIMATORS = [
    None,
    *(DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3)),
    LogisticRegression(max_iter=2000),
    GaussianNB(),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_boosting_two_classes(estimator):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = 2.0 * y - 1
    run = ab.boost(X, y, "hinge", Classifier(estimator), ab.descent.Residual(0.3), rounds=20)
    assert run.steps[-1].loss < 0.4 * run.start_loss
    assert all(0 <= step.edge <= 1 for step in run.steps)
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-12)
    assert np.mean(np.sign(run.scores) == y) > 0.93


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_boosting_many_classes(estimator):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    learner = Classifier(estimator)
    run = ab.boost(X, y, "multiclass_hinge", learner, ab.descent.Naive(), rounds=40)
    assert run.steps[-1].loss < 0.5 * run.start_loss
    np.testing.assert_allclose(run.ensemble.predict(X), run.scores, atol=1e-12)
    assert np.mean(run.scores.argmax(axis=1) == y) > 0.8


def test_floor_holds_for_sums_of_stump_classifiers():
    X, y = load_iris(return_X_y=True)
    run = ab.boost(X, y, "multiclass_hinge", "classifier", ab.descent.Residual(0.1), rounds=60)
    random = np.random.default_rng(0)
    atoms = [Classifier().extreme(run.space, random.normal(size=(150, 3))).values for _ in range(200)]
    for radius in (0.5, 2.0):
        floor = run.floor(radius)
        for _ in range(50):
            share = random.dirichlet(np.full(len(atoms), 0.05)) * radius
            assert run.functional.value(run.state.start + np.tensordot(share, atoms, 1)) >= floor
    radius = float(np.abs(run.ensemble.coefficients).sum())
    assert run.steps[-1].loss >= run.floor(radius)


def test_with_one_output_the_stump_classifier_is_the_extreme_stump():
    X, D, weights = sample(8, 50, 1, False, True, False)
    space = Space(X, weights)
    np.testing.assert_array_equal(Classifier().project(space, D).values, Stump().extreme(space, D).values)


class Unweighted(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (KNeighborsClassifier(), ValueError, "estimator KNeighborsClassifier does not take sample_weight"),
        (Unweighted(), ValueError, "estimator Unweighted does not take sample_weight"),
        (LinearRegression(), TypeError, "estimator must be a scikit-learn classifier, got LinearRegression"),
        (DecisionTreeClassifier, TypeError, "estimator must be a scikit-learn classifier"),
        ("tree", TypeError, "estimator must be a scikit-learn classifier, got 'tree'"),
    ],
)
def test_what_cannot_be_weighted_is_refused(estimator, error, words):
    with pytest.raises(error, match=words):
        Classifier(estimator)


def test_by_name():
    assert ab.weak.get("classifier") == Classifier()
    with pytest.raises(ValueError, match="learner 'classifier:3' has parameters that 'classifier' does not"):
        ab.weak.get("classifier:3")


def test_both_signs_project_onto_the_classifiers_and_their_negatives():
    random = np.random.default_rng(0)
    X, D = random.normal(size=(60, 3)), random.normal(size=(60, 4))
    space = Space(X)
    for target in (D, -D):
        found = Classifier(both_signs=True).project(space, target)
        assert space.inner(found.values, target) == pytest.approx(Classifier().support(space, target).lower)
