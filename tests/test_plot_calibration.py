"""Figures of calibration and of groups: what is drawn is what was measured."""

import matplotlib as mpl
import numpy as np
import pytest

import anyboost as ab

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    mpl.pyplot.close("all")


def rows(n=600):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    return X, X[:, 0] + random.normal(size=n)


def drawn(ax):
    return ax.lines[1].get_xdata(), ax.lines[1].get_ydata()


def test_probabilities_are_drawn_against_what_came():
    X, y = rows()
    model = ab.BoostingClassifier(max_iter=10).fit(X[:400], y[:400] > 0)
    said, came = drawn(ab.plot.calibration(model, X[400:], y[400:] > 0, bins=4))
    p = model.predict_proba(X[400:])[:, 1]
    parts = np.array_split(np.argsort(p, kind="stable"), 4)
    np.testing.assert_allclose(said, [p[part].mean() for part in parts])
    np.testing.assert_allclose(came, [(y[400:][part] > 0).mean() for part in parts])


def test_intervals_are_drawn_against_what_lay_inside():
    X, y = rows()
    model = ab.BoostingRegressor(conformal="split", max_iter=10).fit(X[:400], y[:400])
    said, came = drawn(ab.plot.calibration(model, X[400:], y[400:]))
    low, high = model.predict_interval(X[400:], said[10]).T
    assert came[10] == pytest.approx(((low <= y[400:]) & (y[400:] <= high)).mean())


def test_groups_are_bars():
    X, y = rows()
    model = ab.BoostingRegressor(max_iter=5).fit(X, y)
    found = model.by_group(X, y, np.digitize(X[:, 1], [-1, 1]))
    ax = ab.plot.by_group(found, "bias")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], found["bias"])
    with pytest.raises(ValueError, match="with a column 'coverage'"):
        ab.plot.by_group(found, "coverage")


def test_a_model_of_neither_is_refused():
    X, y = rows(60)
    ranker = ab.BoostingRanker(max_iter=2).fit(X, y > 0, qid=np.repeat(range(6), 10))
    with pytest.raises(TypeError, match="model must give probabilities or intervals"):
        ab.plot.calibration(ranker, X, y)
