"""What `anyboost demo` shows ahead of the three descents: a frame, intervals, one row explained, a stream, a pool.

Nothing has to be downloaded: data are generated, or bundled with scikit-learn. Every figure is of rows that the model
had not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

import anyboost as ab

COVERAGE = 0.9
TOWNS = {"Bern": 220.0, "Chur": 0.0, "Genf": 400.0, "Thun": 90.0}
Tick = Callable[[int], None]  # hears how much of a piece of work is done


class Line(NamedTuple):
    """A line of the demo's table."""

    title: str
    about: str
    found: str


class Houses(NamedTuple):
    """Columns of numbers, with missing values, and of categories, and prices; the first rows train."""

    columns: dict[str, np.ndarray]
    y: np.ndarray
    n_train: int

    @classmethod
    def draw(cls, n_train: int, n_test: int) -> Houses:
        """Prices that depend on all columns, more noisy for large houses."""
        random, n = np.random.default_rng(0), n_train + n_test
        area, age = random.gamma(9.0, 12.0, n), random.uniform(0.0, 90.0, n)
        town = random.choice(list(TOWNS), n)
        y = 5.0 * area - age + np.array([TOWNS[name] for name in town.tolist()])
        y += 0.3 * area * random.normal(size=n)
        age[random.random(n) < 0.1] = np.nan
        return cls({"area": area, "age": age, "town": town}, y, n_train)

    @property
    def train(self) -> tuple[Any, np.ndarray]:
        return self.frame(0, self.n_train), self.y[: self.n_train]

    @property
    def test(self) -> tuple[Any, np.ndarray]:
        return self.frame(self.n_train, len(self.y)), self.y[self.n_train :]

    def frame(self, start: int, stop: int) -> Any:
        """Some rows as a data frame."""
        import pyarrow as pa

        parts = {name: pa.array(values[start:stop]) for name, values in self.columns.items()}
        return pa.table({**parts, "town": parts["town"].dictionary_encode()})


class Overview:
    """Pieces of work, each with its lines of the table; `rounds` and rows say how much."""

    def __init__(self, rounds: int = 60, n_train: int = 800, n_stream: int = 600) -> None:
        self.rounds, self.n_stream = rounds, n_stream
        self.houses = Houses.draw(n_train, 400)

    def intervals(self, tick: Tick) -> list[Line]:
        """Fit quantiles to the frame, and see what they cover."""
        X, y = self.houses.train
        self.model.set_params(callbacks=[lambda step, _run: tick(step.round)])
        self.model.fit(X, y)
        X_new, y_new = self.houses.test
        low, high = self.model.predict_interval(X_new, COVERAGE).T
        middle = self.model.predict(X_new)[:, 1]
        error, plain = np.abs(y_new - middle).mean(), np.abs(y_new - np.median(y)).mean()
        inside = np.mean((low <= y_new) & (y_new <= high))
        return [
            Line(
                "a frame as it is",
                f"{len(y)} rows: numbers, missing values, towns",
                f"mean absolute error {error:.1f} on {len(y_new)} new rows, {plain:.1f} at the median",
            ),
            Line(
                "intervals",
                f"{COVERAGE:.0%} asked",
                f"{inside:.1%} of new rows inside, mean width {(high - low).mean():.0f}",
            ),
        ]

    @cached_property
    def model(self) -> Any:
        """The model that the report is about."""
        return ab.BoostingRegressor("multi_quantile:0.05,0.5,0.95", max_iter=self.rounds)

    def explained(self, tick: Tick) -> list[Line]:
        """The Shapley values of one new row's median."""
        row = self.houses.frame(self.houses.n_train, self.houses.n_train + 1)
        told = self.model.explanation(row)
        tick(1)
        parts = zip(told.feature_names, told.data[0], told.values[0][:, 1].tolist(), strict=True)
        said = ", ".join(f"{name} {_short(value)} {share:+.0f}" for name, value, share in parts)
        score = self.model.predict(row)[0, 1]
        base = float(np.ravel(told.base_values[0])[1])
        return [Line("one row explained", f"{score:.0f}, {base:.0f} of it the base", said)]

    def stream(self, tick: Tick) -> list[Line]:
        """Rows one by one, each predicted before its label is known."""
        model = ab.OnlineBoostingRegressor()
        columns = [values.tolist() for values in self.houses.columns.values()]
        scale = float(self.houses.y.std())
        rows = zip(*columns, (self.houses.y / scale).tolist(), strict=True)
        for done, (area, age, town, label) in enumerate(islice(rows, self.n_stream)):
            x = {"area": area, "age": None if np.isnan(age) else age, "town": town}
            model.predict_one(x)
            model.learn_one(x, label)
            tick(done + 1)
        regret, leader = model.regret(), max(model.weights_.items(), key=lambda pair: pair[1])
        assert regret.best_constant_loss is not None  # numbers have one
        loss, constant = regret.loss / self.n_stream, regret.best_constant_loss / self.n_stream
        return [
            Line(
                "a stream",
                f"{self.n_stream} rows one by one, nothing to tune",
                f"progressive loss {loss:.3f}, best constant {constant:.3f}; '{leader[0]}' leads",
            )
        ]

    def pool(self, tick: Tick) -> list[Line]:
        """Three models of another library, cross-fitted and weighted."""
        from sklearn.datasets import load_diabetes
        from sklearn.linear_model import Ridge
        from sklearn.neighbors import KNeighborsRegressor
        from sklearn.tree import DecisionTreeRegressor

        X, y = load_diabetes(return_X_y=True)
        train, test = slice(0, 300), slice(300, None)
        models = {"ridge": Ridge(0.1), "neighbors": KNeighborsRegressor(20)}
        models["tree"] = DecisionTreeRegressor(random_state=0)
        pool = ab.MirrorAveragingRegressor(list(models.values()), random_state=0).fit(X[train], y[train])
        tick(1)
        error = np.sqrt(np.mean((pool.predict(X[test]) - y[test]) ** 2))
        alone = {
            name: np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2))
            for name, model in zip(models, pool.models_, strict=True)
        }
        best = min(alone, key=lambda name: alone[name])
        weights = ", ".join(
            f"{name} {weight:.2f}" for name, weight in zip(models, pool.weights_, strict=True)
        )
        return [Line("a pool", weights, f"test error {error:.1f}, best alone ({best}) {alone[best]:.1f}")]


def _short(value: Any) -> str:
    return f"{value:.0f}" if isinstance(value, float) and np.isfinite(value) else str(value)
