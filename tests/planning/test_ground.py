"""The ground to plan on: maps apart, features of their own heights, paths that the hidden cost explains."""

import numpy as np
import pytest

from anyboost.planning import GridPlanner, ground, terrain
from anyboost.planning.planners import get

pytest.importorskip("matplotlib")


def test_areas_are_apart_and_folds_turn():
    heights = ground.elevation()
    assert heights.shape == (344, 403)
    seen = {}
    for fold in range(5):
        parts = terrain(fold)
        counts = [len(part.maps) for part in parts]
        assert counts == [48, 16, 16]
        keys = [{each.tobytes() for each in part.heights} for part in parts]
        assert not keys[0] & keys[1]
        assert not keys[0] & keys[2]
        assert not keys[1] & keys[2]
        seen[fold] = keys
    tested = [key for keys in seen.values() for key in keys[2]]
    assert len(tested) == len(set(tested)) == 80  # every map is tested on once
    assert seen[0][1] == seen[1][2]  # the next band is the one to choose with


def test_features_know_nothing_beyond_the_map():
    heights = ground.elevation()
    part = terrain(2, size=32).test
    for features, height in zip(part.maps[:3], part.heights[:3], strict=True):
        assert features.shape == (32, 32, len(ground.FEATURES))
        assert np.isfinite(features).all()
        np.testing.assert_array_equal(features, ground.features(height))
    assert heights.min() <= part.heights[0].min()


@pytest.mark.parametrize("planner", ["lattice", "grid"])
def test_demonstrations_are_cheapest_under_the_hidden_cost(planner):
    part = terrain(0, paths=2, planner=planner).test
    finder = get(planner)
    for shown, cost in zip(part.demonstrations, part.costs, strict=True):
        assert len(shown) == 2
        for path in shown:
            assert finder.moves(path).all()
            assert (path[0, 1], path[-1, 1]) == (0, 39)
            again = finder.plan(cost, tuple(path[0]), tuple(path[-1]))
            spent = [finder.weights(p) @ cost[p[:, 0], p[:, 1]] for p in (path, again)]
            assert spent[0] == pytest.approx(spent[1])
    assert min(cost.min() for cost in part.costs) > GridPlanner().least_cost


def test_seeds_change_the_paths_and_nothing_else():
    one, same, other = (terrain(1, random_state=seed).test for seed in (0, 0, 5))
    for a, b, c in zip(one.demonstrations, same.demonstrations, other.demonstrations, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
        assert len(c[0]) == len(a[0])
    assert any(
        a[0].tolist() != c[0].tolist() for a, c in zip(one.demonstrations, other.demonstrations, strict=True)
    )
    np.testing.assert_array_equal(one.maps[3], other.maps[3])


def test_water_runs_down_and_none_is_lost():
    height = np.array([[9.0, 8, 7], [9, 5, 6], [3, 9, 9]])
    water = ground.drainage(height)
    np.testing.assert_array_equal(water, [[1, 1, 1], [1, 6, 1], [9, 1, 1]])
    np.testing.assert_array_equal(
        ground.drainage(np.array([[5.0, 4, 3, 3]])), [[1, 2, 3, 1]]
    )  # and stays where it is flat


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fold": 5}, "fold must be between 0 and 4, got 5"),
        ({"size": 7}, "size must be between 8 and 80"),
        ({"paths": 0}, "paths must be at least 1"),
        ({"planner": "car"}, "planner 'car' is not known"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        terrain(**options)
