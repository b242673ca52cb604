"""The combining benchmarks' own arithmetic and our lanes of them; times are never judged here."""

import numpy as np
import pytest

from anyboost import losses
from benchmarks import combine, pool_streams, pools


def test_everyone_in_the_race_computes_the_same():
    H, y = combine.pool(300)
    ours = combine.ours(H, y)
    np.testing.assert_allclose(combine.keeps_history(H, y), ours, atol=1e-12)
    np.testing.assert_allclose(combine.running_sums(H, y), ours, atol=1e-12)


def test_stumps_are_timed_on_all_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    found = combine.stumps(X, np.sign(X[:, 0]), "doubling", 2)
    assert (found["stumps"], found["rows"]) == (3 * 199 + 1, 200)
    assert found["steps a second"] > 0
    assert found["progressive loss"] < 0.5


def small_stream(of_classes):
    random = np.random.default_rng(0)
    y = random.normal(size=300)
    H = y[:, None] + random.normal(size=(300, 3)) * [0.3, 1.0, 2.0]
    H[:50, 2] = np.nan
    if of_classes:
        y = np.where(y > 0, 1.0, -1.0)
    loss = losses.Logistic() if of_classes else losses.Squared()
    return pool_streams.PoolStream(["a", "b", "c"], H, y, np.array([100, 200]), loss)


@pytest.mark.parametrize("of_classes", [False, True])
def test_a_pool_is_compared_on_the_rows_where_all_are_awake(tmp_path, of_classes):
    pytest.importorskip("river")
    stream = small_stream(of_classes)
    found = pools.compare(stream)
    assert found["rows compared"] == 250
    own = stream.loss.values(stream.forecasts[50:, 0], stream.y[50:]).mean()
    assert found["final"]["model: a"] == pytest.approx(own)
    assert found["curves"]["model: a"][-1] == pytest.approx(own)
    ours = pools.mirror(stream, **pools.OURS["mirror, tracker"])
    assert found["final"]["mirror, tracker"] == pytest.approx(
        stream.loss.values(ours[50:], stream.y[50:]).mean()
    )
    assert ("errors" in found) == of_classes
    pools.draw(found, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 1000


def test_models_forecast_before_they_see_the_label():
    y = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    np.testing.assert_allclose(pool_streams._running_mean(y), [0, 1, 0.5, 1 / 3, 0.5])
    np.testing.assert_allclose(pool_streams._moving_mean(y, 0.5), [0, 0.5, 0.25, 0.125, 0.5625])
    shares = pool_streams._persistence(y)
    changed = pool_streams._persistence(np.array([1.0, 0.0, 0.0, 1.0, 0.0]))
    np.testing.assert_array_equal(shares, changed)

    class Mean:
        def fit(self, X, y):
            self.mean = y.mean()
            return self

        def predict(self, X):
            return np.full(len(X), self.mean)

    found = pool_streams._refitted(Mean, y[:, None], y, np.array([2, 4]))
    np.testing.assert_allclose(found, [np.nan, np.nan, 0.5, 0.5, 0.5])
    found = pool_streams._refitted(Mean, y[:, None], y, np.array([2, 4]), window=1)
    np.testing.assert_allclose(found, [np.nan, np.nan, 0.5, 0.5, 0.5])
