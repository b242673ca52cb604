"""The online classifier: classes that come as they like, and a third one that turns one booster into three."""

import numpy as np
import pytest

from anyboost.online import SpanBooster, regret
from anyboost.online.classifier import ChainClassifier


def sample(n=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.2 * random.normal(size=n), [-0.5, 0.5])
    return X, y


def dicts(X):
    return [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def test_two_classes_are_one_booster():
    X, y = sample()
    y = y > 0
    model = ChainClassifier().partial_fit(X, y)
    booster = SpanBooster(model.boosters_.members[0][0].learner, loss="logistic")
    booster.partial_fit(X, np.where(y, 1.0, -1.0))
    np.testing.assert_array_equal(model.decision_function(X), booster.predict(X))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-booster.predict(X))))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_third_class_finds_the_first_ones_booster_trained():
    """The copy with labels turned round is the booster that class 0 would have had."""
    X, y = sample()
    two = y != 2
    model = ChainClassifier()
    model.learn_many(dicts(X[two]), y[two])
    first = model.classes_[0]
    model.learn_one({"a": 9.0}, 2)
    own = SpanBooster(model.boosters_.members[0][0].learner, loss="logistic")
    own.learn_many(dicts(X[two]), np.where(y[two] == first, 1.0, -1.0))
    own.learn_one({"a": 9.0}, -1.0)
    np.testing.assert_allclose(
        model.boosters_.scores_row(*model.features_.row({"a": 0.3, "b": 1.0}, False), model.features_.width)[
            0
        ],
        own.predict_one({"a": 0.3, "b": 1.0}),
        rtol=1e-12,
    )


def test_classes_come_as_they_like():
    X, y = sample()
    names = np.array(["low", "middle", "high"])[y]
    model = ChainClassifier()
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    seen = []
    for x, name in zip(dicts(X), names.tolist(), strict=True):
        if name not in seen:
            seen.append(name)
        model.learn_one(x, name)
        chances = model.predict_proba_one(x)
        assert list(chances) == seen
        assert sum(chances.values()) == pytest.approx(1.0)
    right = [model.predict_one(x) == name for x, name in zip(dicts(X), names.tolist(), strict=True)]
    assert np.mean(right) > 0.8


def test_a_class_that_was_not_named_is_refused():
    X, y = sample(50)
    model = ChainClassifier().partial_fit(X[y < 2], y[y < 2], classes=[0, 1])
    with pytest.raises(ValueError, match=r"y holds the class 2 at row 0, and the classes are \[0, 1\]"):
        model.partial_fit(X[y == 2], y[y == 2])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1]


def test_labels_come_back_as_they_came():
    X, y = sample(60)
    for labels in (
        np.array(["a", "b", "c"])[y],
        y,
        y > 0,
        np.array([None, 1.5, "x"], dtype=object)[1 + y // 2],
    ):
        model = ChainClassifier()
        model.learn_many(dicts(X), labels)
        answers = {model.predict_one(x) for x in dicts(X)}
        assert answers <= set(labels.tolist())
        assert {type(answer) for answer in answers} <= {type(label) for label in labels.tolist()}
    with pytest.raises(ValueError, match="y must name a class, got None at row 1"):
        model.learn_many(dicts(X[:2]), np.array([1.5, None], dtype=object))


def test_losses_are_those_of_the_definition():
    X, y = sample(100)
    model = ChainClassifier()
    model.learn_many(dicts(X[:50]), y[:50])
    seen = model.observe(dicts(X), y, learn=False)
    scores = np.array([model._score_one(x) for x in dicts(X)])
    codes = [model.codes_[label] for label in y.tolist()]
    for row, code in enumerate(codes):
        signs = np.where(np.arange(3) == code, 1.0, -1.0)
        assert seen.losses[row] == pytest.approx(np.log1p(np.exp(-signs * scores[row])).mean())


def test_regret_is_the_sum_of_progressive_losses():
    X, y = sample()
    model = ChainClassifier()
    total = sum(model.observe(dicts(X[i : i + 7]), y[i : i + 7]).losses.sum() for i in range(0, 400, 7))
    regret = model.regret()
    assert regret.rows == 400
    assert regret.loss == pytest.approx(total, rel=1e-2)  # a class's first rows count among fewer classes
    shares = np.bincount(y) / 400
    entropy = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).mean()
    assert regret.best_constant_loss == pytest.approx(400 * entropy, rel=1e-6)
    assert regret.loss < regret.best_constant_loss


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "exponential"])
def test_other_two_class_losses(loss):
    X, y = sample()
    model = ChainClassifier(loss=loss, max_iter=3).fit(X, y)
    assert model.score(X, y) > 0.7
    assert hasattr(model, "predict_proba") == (loss != "hinge")
    if loss == "hinge":
        named = ChainClassifier(loss=loss)
        named.learn_many(dicts(X), y)
        with pytest.raises(NotImplementedError, match="the loss hinge gives no probabilities"):
            named.predict_proba_one(dicts(X)[0])
        assert named.predict_one(dicts(X)[0]) in (0, 1, 2)


def test_a_new_class_costs_no_look_at_the_best_constants_of_all_others(monkeypatch):
    """Else the time that classes take grows with their square: of 1000 rows with 200 classes it was three quarters."""
    X = np.random.default_rng(0).normal(size=(90, 2))
    model = ChainClassifier("linear", n_learners=3)
    with monkeypatch.context() as patch:
        patch.setattr(regret, "constant_loss", None)
        for i, x in enumerate(X.tolist()):
            model.learn_one(dict(zip("ab", x, strict=True)), i % 30)
    found, single = model.regret(), [member.booster.regret() for member in model.boosters_.members]
    assert found.best_prefix == max(each.best_prefix for each in single)
    assert found.rows == 90
