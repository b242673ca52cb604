"""An init estimator sees the table that the user sees: its names, its categories, its kind; and no row too many."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from anyboost import BoostingClassifier, BoostingRegressor

N = 90
RANDOM = np.random.default_rng(0)
COLOR = np.array(["red", "green", "blue"])[np.arange(N) % 3]
SIZE = RANDOM.normal(size=N)
Y = np.where(COLOR == "green", 7.0, 0.0) + SIZE
FRAME = pd.DataFrame({"color": COLOR, "size": SIZE}, index=np.arange(N)[::-1] + 1000)
KINDS = {
    "pandas": FRAME,
    "polars": pl.DataFrame({"color": COLOR, "size": SIZE}),
    "pyarrow": pa.table({"color": COLOR, "size": SIZE}),
}


def encoded(model):
    """A pipeline that can only work where the column `color` still holds its words."""
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["color"]), remainder="passthrough"
    )
    return make_pipeline(columns, model)


class Watcher(RegressorMixin, BaseEstimator):
    """Predicts the mean of y, and remembers what it was shown."""

    def fit(self, X, y, sample_weight=None):
        self.seen_, self.targets_, self.mean_ = X, y, float(np.mean(y))
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        self.asked_ = X
        return np.full(X.shape[0], self.mean_)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_pipeline_on_words_can_be_the_start(kind):
    table = KINDS[kind]
    model = BoostingRegressor(init=encoded(Ridge()), max_iter=0).fit(table, Y)
    alone = encoded(Ridge()).fit(table, Y)
    np.testing.assert_allclose(model.predict(table), alone.predict(table))
    (last,) = BoostingRegressor(init=encoded(Ridge()), max_iter=1).fit(table, Y).staged_predict(table)
    assert np.mean((last - Y) ** 2) < np.mean((alone.predict(table) - Y) ** 2)


def test_a_frozen_model_can_be_the_start():
    frozen = FrozenEstimator(encoded(Ridge()).fit(FRAME, Y))
    model = BoostingRegressor(init=frozen, max_iter=0).fit(FRAME[:60], Y[:60], X_val=FRAME[60:], y_val=Y[60:])
    np.testing.assert_allclose(model.predict(FRAME), frozen.predict(FRAME))
    expected = 0.5 * np.mean((frozen.predict(FRAME[60:]) - Y[60:]) ** 2)
    assert model.validation_scores_["valid"]["loss"][0] == pytest.approx(expected)
    classes = Y > 3
    line = FrozenEstimator(encoded(LogisticRegression()).fit(FRAME, classes))
    model = BoostingClassifier(init=line, max_iter=0).fit(FRAME, classes)
    np.testing.assert_allclose(model.predict_proba(FRAME), line.predict_proba(FRAME), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_the_start_is_fitted_on_the_training_rows_alone(kind):
    """Held-out rows and rows of no weight in the start would make every score on them too good."""
    weights = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
    model = BoostingRegressor(init=Watcher(), max_iter=2, early_stopping=True, random_state=0)
    model.fit(KINDS[kind], Y, sample_weight=weights)
    seen, targets = model.init_.seen_, model.init_.targets_
    assert type(seen) is type(KINDS[kind])
    assert len(targets) == seen.shape[0] == 64  # 72 of weight, 8 of them held out
    assert np.isin(targets, Y[weights > 0]).all()
    place = [Y.tolist().index(target) for target in targets]
    assert list(np.asarray(seen["color"])) == COLOR[place].tolist()
    assert type(model.init_.asked_) is type(KINDS[kind])
    model.predict(KINDS[kind])
    assert model.init_.asked_ is KINDS[kind]


def test_arrays_and_sparse_tables_stay_what_they_are():
    numbers = RANDOM.normal(size=(N, 3))
    weights = np.where(np.arange(N) < 10, 0.0, 1.0)
    model = BoostingRegressor(init=Watcher(), max_iter=1).fit(numbers, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.init_.seen_, numbers[10:])
    model = BoostingRegressor(init=Watcher(), learner="linear", max_iter=1)
    model.fit(csr_array(numbers), Y, sample_weight=weights)
    assert issparse(model.init_.seen_)
    assert model.init_.seen_.shape == (80, 3)
