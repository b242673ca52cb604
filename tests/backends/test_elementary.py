"""exp, log and log1p: right to the last place, and the same bytes whatever processor they are compiled for."""

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import mpmath
import numba
import numpy as np
import pytest

from anyboost.backends import elementary
from anyboost.backends.simd import WIDTH, load, store

random = np.random.default_rng(0)
POINTS = {
    "exp": np.concatenate(
        [
            random.uniform(-1, 1, 1500),
            random.uniform(-40, 40, 1500),
            random.uniform(-745, 709.7, 1500),
            1e-5 * random.normal(size=500),
        ]
    ),
    "log": np.concatenate(
        [
            random.uniform(0.5, 2, 1500),
            10.0 ** random.uniform(-307, 308, 1500),
            1 + 1e-4 * random.normal(size=1500),
            2.0**-1060 * random.uniform(1, 100, 500),
        ]
    ),
    "log1p": np.concatenate(
        [
            random.uniform(-0.99, 2, 1500),
            10.0 ** random.uniform(-20, 308, 1500),
            1e-4 * random.normal(size=1500),
            10.0 ** random.uniform(-15, -1, 500) - 1,
        ]
    ),
}
PLACES = {
    "exp": 0.95,
    "log": 0.85,
    "log1p": 0.95,
}  # units in the last place; half a unit is the best there is


def whole(name):
    scalar = getattr(elementary, name)

    @numba.njit(error_model="numpy")
    def over(x):
        found = np.empty(len(x))
        for row in range(len(x)):
            found[row] = scalar(x[row])
        return found

    return over


@pytest.mark.parametrize("name", POINTS)
def test_right_to_the_last_place(name):
    found, worst = whole(name)(POINTS[name]), 0.0
    with mpmath.workprec(200):
        for x, ours in zip(POINTS[name].tolist(), found.tolist(), strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(x))
            worst = max(worst, float(abs(mpmath.mpf(ours) - exact) / math.ulp(float(exact))))
    assert worst < PLACES[name]


@pytest.mark.parametrize(
    ("name", "points"),
    [
        (
            "exp",
            [
                0.0,
                -0.0,
                np.inf,
                -np.inf,
                np.nan,
                1e3,
                -1e3,
                709.782712893384,
                709.79,
                -745.13,
                -745.2,
                5e-324,
            ],
        ),
        ("log", [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, 1.7e308]),
        ("log1p", [0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, 5e-324, 1e-300, 1.7e308]),
    ],
)
def test_at_the_ends_of_the_range(name, points):
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(np.array(points))
    found = whole(name)(np.array(points))
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(expected[:2]))


@pytest.mark.parametrize("name", POINTS)
def test_lanes_have_the_bits_of_numbers(name):
    function = getattr(elementary, name)

    @numba.njit(error_model="numpy")
    def side_by_side(x):
        found = np.empty(len(x))
        for row in range(0, len(x), WIDTH):
            store(found, 0, row, function(load(x, 0, row)))
        return found

    edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e3, -1e3, -745.13, -1.0, 1.0, 5e-324, 1.7e308]
    points = np.concatenate([edges, POINTS[name]])
    found, alone = side_by_side(points), whole(name)(points)
    nan = np.isnan(alone)
    np.testing.assert_array_equal(nan, np.isnan(found))
    np.testing.assert_array_equal(found[~nan].view(np.int64), alone[~nan].view(np.int64))


@pytest.mark.parametrize("name", POINTS)
def test_they_grow_with_their_argument(name):
    """A slope of a convex loss that fell by a last bit would mislead a search."""
    points = np.sort(POINTS[name])
    near = np.sort(np.concatenate([points, np.nextafter(points, np.inf)]))
    assert (np.diff(whole(name)(near)) >= 0).all()


def digest():
    found = [whole(name)(POINTS[name]) for name in POINTS]
    return hashlib.sha256(np.concatenate(found).tobytes()).hexdigest()


@pytest.mark.parametrize("setting", [{"NUMBA_CPU_NAME": "generic"}, {"NUMBA_OPT": "0"}], ids=str)
def test_the_same_bytes_on_another_processor(setting):
    """Without AVX, and without an optimizer that might fuse or reorder."""
    command = "from backends.test_elementary import digest; print(digest())"
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, **setting, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest()
