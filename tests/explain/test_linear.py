"""Shapley values of linear functions, and of sums of them and trees: against all coalitions."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import csr_array

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRegressor
from anyboost.ensemble import Ensemble
from anyboost.explain.explanation import explain, interact
from anyboost.weak import Dictionary, Learner, Linear, Tree
from anyboost.weak.learner import safe_support
from explain.test_shap import brute_force


def table(n=120, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal([0.0, 5.0, -1.0, 0.0], size=(n, 4))
    X[:, 3] = X[:, 0] + 0.5 * X[:, 1]  # of columns that depend on each other, too
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * random.normal(size=n)


def against_rows(predict, row, background):
    """The interventional values by all coalitions: columns left out are as in the background, on average."""

    def worth(kept):
        mixed = background.copy()
        mixed[:, list(kept)] = row[list(kept)]
        return predict(mixed).mean(axis=0)

    return brute_force(worth, len(row))


@pytest.mark.parametrize("learner", ["linear", "dictionary"])
def test_values_are_those_of_all_coalitions_against_background_and_training_rows(learner):
    X, y = table()
    model = BoostingRegressor(learner=learner, max_iter=5).fit(X, y)
    for background, behind in ((X[:15], X[:15]), (None, X)):
        told = model.explanation(X[:4], background)
        for row, values in zip(X[:4], told.values, strict=True):
            np.testing.assert_allclose(values, against_rows(model.predict, row, behind)[0], atol=1e-10)
        np.testing.assert_allclose(
            told.base_values + told.values.sum(axis=1), model.predict(X[:4]), atol=1e-10
        )
        np.testing.assert_allclose(told.base_values, model.predict(behind).mean(), atol=1e-10)
    pairs = model.shap_interaction_values(X[:4])
    np.testing.assert_array_equal(pairs, model.shap_values(X[:4])[:, :, None] * np.eye(4))


def test_the_means_are_those_under_the_weights_and_are_kept_in_files(tmp_path):
    X, y = table()
    weights = np.arange(len(y)) % 3
    model = BoostingRegressor(learner="linear", max_iter=5).fit(X, y, sample_weight=weights)
    copies = np.repeat(X, weights, axis=0)
    np.testing.assert_allclose(model.shap_values(X), model.shap_values(X, copies), atol=1e-10)
    ab.save(model, tmp_path / "model.anyboost")
    np.testing.assert_array_equal(ab.load(tmp_path / "model.anyboost").shap_values(X), model.shap_values(X))
    del model._marginals  # as after loading a file of an older version
    with pytest.raises(ValueError, match=r"older version, .* give background rows"):
        model.shap_values(X)
    model.shap_values(X, X)


def test_several_outputs_and_sparse_tables_are_exact():
    X, y = table()
    X[X < 0.5] = 0.0
    kinds = np.digitize(y, [-1.0, 2.0])
    dense = BoostingClassifier(learner="linear", max_iter=5).fit(X, kinds)
    sparse = BoostingClassifier(learner="linear", max_iter=5).fit(csr_array(X), kinds)
    for background in (None, X[:10]):
        told = sparse.explanation(csr_array(X), None if background is None else csr_array(background))
        assert told.values.shape == (len(X), 4, 3)
        np.testing.assert_array_equal(told.data, X)
        raw = sparse.ensemble_.predict(csr_array(X))
        np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), raw, atol=1e-9)
        np.testing.assert_allclose(told.values, dense.shap_values(X, background), atol=1e-6)


def test_an_encoded_column_is_one_player_of_a_linear_function():
    import pandas as pd

    X, y = table()
    frame = pd.DataFrame({"a": X[:, 0], "kind": pd.Categorical(np.where(X[:, 1] > 5, "u", "v"))})
    kinds = np.digitize(y, [-1.0, 2.0])
    model = BoostingClassifier(learner="linear", max_iter=3, categorical_encoding="target").fit(frame, kinds)
    assert model.ensemble_.n_features > 2
    told = model.explanation(frame[:9])
    assert told.values.shape == (9, 2, 3)
    raw = model.ensemble_.predict(model._table(frame[:9]))
    np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), raw, atol=1e-9)


def mixed():
    """Terms of three classes in one sum."""
    X, y = table()
    parts = [
        ab.boost(X, y, "squared", learner, rounds=2, start=0.0).ensemble
        for learner in ("linear", Tree(4), Dictionary())
    ]
    terms = [pair for part in parts for pair in zip(part.coefficients, part.hypotheses, strict=True)][::-1]
    model = Ensemble(np.array([0.5]), 4)
    for term in terms:
        model.add_round(0.0, [term])
    return X, terms, model


def test_a_sum_of_different_classes_predicts_the_sum():
    X, terms, model = mixed()
    total = 0.5 + sum(c * term.predict(X) for c, term in terms)
    np.testing.assert_allclose(model.predict(X), total, atol=1e-12)
    np.testing.assert_allclose(list(model.staged_predict(X))[-1], total, atol=1e-12)
    with pytest.raises((ValueError, TypeError), match="sparse"):
        model.predict(csr_array(X))


def test_games_of_different_learners_add_up():
    X, _, model = mixed()
    rows, background, source = X[:3], X[20:26], np.arange(4)
    values, base = explain(model, rows, source, background, None, 1)
    assert base == pytest.approx(model.predict(background).mean())
    for row, found in zip(rows, values, strict=True):
        np.testing.assert_allclose(found[:, 0], against_rows(model.predict, row, background)[0], atol=1e-10)
    means = X.mean(axis=0)
    values, base = explain(model, rows, source, None, means, 1)
    np.testing.assert_allclose(base + values.sum(axis=1)[:, 0], model.predict(rows), atol=1e-10)
    pairs = interact(model, rows, source, means, 1)
    np.testing.assert_allclose(pairs.sum(axis=2), values, atol=1e-10)


@dataclass(frozen=True)
class Turns(Learner):
    """Linear functions and trees, by turns: what a learner of one's own may do."""

    seen: list = field(default_factory=list)

    @property
    def takes(self):
        return Linear().takes

    def project(self, space, target):
        self.seen.append(None)
        return (Linear(penalty=0.5) if len(self.seen) % 2 else Tree(4)).project(space, target)

    def support(self, space, target, search=True):
        return safe_support(self, space, target, search)


def test_a_learner_may_give_functions_of_different_classes(tmp_path):
    X, y = table()
    run = ab.boost(X, y, "squared", Turns(), ab.descent.Naive(0.5), rounds=4, valid=(X, y))
    assert len({type(term) for term in run.ensemble.hypotheses}) == 2
    assert run.steps[-1].valid_loss == pytest.approx(run.steps[-1].loss)
    assert ((run.ensemble.predict(X) - y) ** 2).mean() / 2 == pytest.approx(run.steps[-1].loss)
    model = BoostingRegressor(learner=Turns(), max_iter=4, early_stopping=False).fit(X, y)
    for background in (None, X[:20]):
        told = model.explanation(X, background)
        np.testing.assert_allclose(told.base_values + told.values.sum(axis=1), model.predict(X), atol=1e-10)
    with pytest.raises(ValueError, match=r"sum of LinearFunction, TreeFunction; .* one kind in a sum"):
        ab.save(model, tmp_path / "model")


def test_a_sum_of_nothing_has_values_of_zero():
    X, _ = table()
    values, base = explain(Ensemble(np.array([2.0]), 4), X, np.arange(4), None, None, 1)
    assert not values.any()
    assert base.tolist() == [2.0]


def test_missing_values_are_refused_where_the_function_takes_none():
    X, y = table()
    model = BoostingRegressor(learner="linear", max_iter=2).fit(X, y)
    holes = X[:3].copy()
    holes[1, 2] = np.nan
    with pytest.raises(ValueError, match="X has a missing value"):
        model.shap_values(holes)
    with pytest.raises(ValueError, match="background has a missing value"):
        model.shap_values(X[:3], holes)
