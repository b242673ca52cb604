"""Planners against every path of a tiny map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.planning import GridPlanner, LatticePlanner, Planner, planners
from reference import planning as brute

quick = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 10**6)


def with_walls(random, shape, start, goal, share):
    cost = random.integers(1, 5, shape) / 2.0 if random.random() < 0.5 else random.uniform(0.1, 2.0, shape)
    walls = random.random(shape) < share
    walls[start] = walls[goal] = False
    return np.where(walls, np.inf, cost), [tuple(cell) for cell in np.argwhere(walls).tolist()]


def assert_cheapest(planner, cost, start, goal, paths, diagonal=1.0):
    """The plan is one of all paths, and none of them is cheaper; where there is none, it says so."""
    if not paths:
        with pytest.raises(ValueError, match="cannot be reached"):
            planner.plan(cost, start, goal)
        return
    path = planner.plan(cost, start, goal)
    assert [tuple(cell) for cell in path.tolist()] in paths
    assert planner.moves(path).all()
    spent = planner.weights(path) @ cost[path[:, 0], path[:, 1]]
    assert spent == pytest.approx(min(brute.path_cost(other, cost, diagonal) for other in paths))


@pytest.mark.parametrize("diagonal", [1.0, np.sqrt(2), 3.0])
@quick
@given(seed=seeds, rows=st.integers(1, 3), columns=st.integers(2, 3))
def test_no_path_of_a_grid_is_cheaper(diagonal, seed, rows, columns):
    random = np.random.default_rng(seed)
    start, goal = (int(random.integers(rows)), 0), (int(random.integers(rows)), columns - 1)
    cost, walls = with_walls(random, (rows, columns), start, goal, 0.2)
    paths = brute.all_paths((rows, columns), start, goal, brute.king, walls)
    planner = GridPlanner(diagonal)
    assert_cheapest(planner, cost, start, goal, paths, diagonal)
    for path in paths[:5]:
        np.testing.assert_allclose(planner.weights(np.array(path)), brute.path_weights(path, diagonal))


@pytest.mark.parametrize("reach", [1, 2])
@quick
@given(seed=seeds, rows=st.integers(1, 4), columns=st.integers(2, 5))
def test_no_path_of_a_lattice_is_cheaper_whatever_the_signs(reach, seed, rows, columns):
    random = np.random.default_rng(seed)
    first = int(random.integers(columns - 1))
    start, goal = (int(random.integers(rows)), first), (int(random.integers(rows)), columns - 1)
    cost, walls = with_walls(random, (rows, columns), start, goal, 0.2)
    cost = cost - 1.2  # more negative ones than not
    paths = brute.all_paths((rows, columns), start, goal, brute.forward(reach), walls)
    assert_cheapest(LatticePlanner(reach), cost, start, goal, paths)


def test_what_a_move_is():
    path = np.array([[0, 0], [1, 1], [1, 1], [1, 3], [0, 2]])
    assert GridPlanner().moves(path).tolist() == [True, False, False, True]
    assert LatticePlanner().moves(path).tolist() == [True, False, False, False]
    assert LatticePlanner(reach=2).moves(np.array([[0, 0], [2, 1], [5, 2]])).tolist() == [True, False]


def test_a_path_of_one_cell_stays_where_it_is():
    for planner in (GridPlanner(), LatticePlanner()):
        assert planner.plan(np.ones((2, 2)), (1, 1), (1, 1)).tolist() == [[1, 1]]


def test_goals_that_cannot_be_reached():
    with pytest.raises(ValueError, match=r"goal \(0, 0\) cannot be reached from start \(0, 2\)"):
        LatticePlanner().plan(np.ones((1, 3)), (0, 2), (0, 0))
    with pytest.raises(ValueError, match=r"goal \(3, 1\) cannot be reached from start \(0, 0\)"):
        LatticePlanner().plan(np.ones((4, 2)), (0, 0), (3, 1))
    walled = np.ones((3, 3))
    walled[:, 1] = np.inf
    with pytest.raises(ValueError, match=r"goal \(0, 2\) cannot be reached"):
        GridPlanner().plan(walled, (0, 0), (0, 2))


def test_names_and_bad_parameters():
    assert planners.get("grid") == GridPlanner()
    assert planners.get("lattice:2") == LatticePlanner(2)
    with pytest.raises(ValueError, match="planner 'road' is not known"):
        planners.get("road")
    with pytest.raises(ValueError, match="planner must be a Planner"):
        planners.get(3)
    with pytest.raises(ValueError, match="least_cost must be positive, got 0"):
        GridPlanner(least_cost=0)
    with pytest.raises(ValueError, match="reach must be at least 1"):
        LatticePlanner(0)
    with pytest.raises(ValueError, match="cost must be positive for GridPlanner, got -1"):
        GridPlanner().plan(np.full((2, 2), -1.0), (0, 0), (1, 1))


def test_a_planner_of_ones_own_needs_one_method():
    class Straight(Planner):
        def plan(self, cost, start, goal):
            return np.array([[start[0], column] for column in range(start[1], goal[1] + 1)])

    path = Straight().plan(np.ones((2, 3)), (1, 0), (1, 2))
    assert Straight().moves(path).all()
    assert Straight().weights(path).tolist() == [1, 1, 1]
    assert planners.get(Straight()).least_cost == -np.inf


class Wanderer(Planner):
    """Gives the path it was made with, whatever is asked."""

    def __init__(self, path):
        self.given = path

    def plan(self, cost, start, goal):
        return self.given


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ([(0, 0), (0, 3)], r"from \(0, 0\) to \(0, 3\), which its `moves` says is no move"),
        ([(0, 0), (1, 1), (1, 2), (0, 3)], r"through the wall at \(1, 2\)"),
        ([(0, 0), (-1, 1), (-1, 2), (0, 3)], r"\(-1, 1\), which is off the map"),
        ([(0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.0, 3.0)], "whole numbers"),
    ],
)
def test_a_planner_that_plans_no_path_is_told(path, words):
    cost = np.ones((2, 4))
    cost[1, 2] = np.inf
    with pytest.raises(ValueError, match=words):
        Wanderer(path).path(cost, (0, 0), (0, 3))


def test_a_path_takes_a_map_of_lists():
    cost = [[1.0, 9.0, 1.0], [1.0, 1.0, 1.0]]
    for planner in (GridPlanner(), LatticePlanner()):
        found = planner.path(cost, (0, 0), (0, 2))
        np.testing.assert_array_equal(found, planner.path(np.array(cost), (0, 0), (0, 2)))
