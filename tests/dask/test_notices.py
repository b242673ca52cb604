"""What a fit warns of reaches the user at the client, once, in the words of a fit in one place."""

import warnings

import numpy as np
import pandas as pd
import pytest

import anyboost as ab
import fingerprints
from spread import arrays, delayed

X, Y, GROUPS = fingerprints.data("squared")
TOO_FAR = ab.descent.Residual(step=ab.steps.Constant(4.0))


def warned(fit):
    """The sentences that a fit warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in found if one.category is UserWarning]


def test_a_loss_above_its_start(client):
    how = ("squared", "stump", TOO_FAR)
    told = warned(lambda: ab.dask.boost(client, *arrays(X, Y), *how, rounds=3, timeout=60.0))
    assert told == warned(lambda: ab.boost(X, Y, *how, rounds=3))
    assert "take smaller steps" in told[0]


def test_it_is_told_again_to_who_fits_again(client):
    how = ("squared", "stump", TOO_FAR)
    for _ in range(2):
        with pytest.warns(UserWarning, match="take smaller steps"):
            ab.dask.boost(client, *arrays(X, Y), *how, rounds=3, timeout=60.0)


def test_a_worker_in_another_process(processes):
    with pytest.warns(UserWarning, match="take smaller steps"):
        ab.dask.boost(processes, *delayed(X, Y), "squared", "stump", TOO_FAR, rounds=3, timeout=60.0)


def test_a_column_of_many_levels(client):
    rows = np.arange(1200)
    frame = pd.DataFrame({"word": [f"w{k % 600}" for k in rows], "number": rows % 7})
    y = pd.Series(rows % 5)
    given = {"max_iter": 2, "categorical_encoding": "subset"}
    told = warned(lambda: ab.dask.DaskBoostingRegressor(**given, client=client).fit(*delayed(frame, y)))
    assert told == warned(lambda: ab.BoostingRegressor(**given).fit(frame, y))
    assert "has 600 levels" in told[0]


@pytest.mark.parametrize(("mass", "count"), [(0.001, 1), (1.0, 0)])
def test_weights_are_too_light_where_all_are(client, mass, count):
    """Those of one worker may well be."""
    weights = np.full(len(Y), mass)
    weights[: len(Y) // 3] = 0.001
    given = {"max_iter": 2, "min_leaf_weight": 5.0}
    dX, dy, dw = arrays(X, Y, weights)
    told = warned(lambda: ab.dask.DaskBoostingRegressor(**given, client=client).fit(dX, dy, dw))
    assert told == warned(lambda: ab.BoostingRegressor(**given).fit(X, Y, weights))
    assert len(told) == count
