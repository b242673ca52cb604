"""The planner as people use it: maps and paths in, costs and paths out, on tiny maps."""

from contextlib import suppress
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import anyboost as ab
from anyboost.planning import GridPlanner, LatticePlanner, Planner
from anyboost.space import Space
from files import mutations

SIZE = 9


@cache
def world(planner="lattice", maps=8, paths=2):
    """Maps of three features; the first one, where above 0.5, costs much. The last maps are to test on."""
    random = np.random.default_rng(7)
    finder = ab.planning.planners.get(planner)
    features = [random.uniform(0, 1, (SIZE, SIZE + k % 2, 3)) for k in range(maps)]
    costs = [np.where(each[:, :, 0] > 0.5, 3.0, 0.5) for each in features]
    shown = [
        [
            finder.plan(cost, (int(a), 0), (int(b), cost.shape[1] - 1))
            for a, b in random.integers(SIZE, size=(paths, 2))
        ]
        for cost in costs
    ]
    return features, shown, costs


def model(**options):
    given = {"learner": "stump", "planner": "lattice", "max_iter": 30, "n_jobs": 1, "random_state": 0}
    return ab.MaxMarginPlanner(**{**given, **options})


def ends(paths):
    return ([np.array([path[side] for path in several]) for several in paths] for side in (0, -1))


@pytest.mark.parametrize("planner", ["lattice", "grid"])
def test_it_learns_to_avoid_what_the_demonstrations_avoid(planner):
    features, shown, costs = world(planner, maps=30)
    fitted = model(planner=planner)
    assert fitted.fit(features[:22], shown[:22]) is fitted
    constant = clone(fitted).set_params(max_iter=0).fit(features[:22], shown[:22])
    held_out = features[22:], shown[22:]
    found, before = (each.compare(*held_out, costs[22:]) for each in (fitted, constant))
    assert found.loss < 0.95 * before.loss
    assert found.off_path < 0.75 * before.off_path
    assert 1 - 1e-9 <= found.cost_ratio < 1 + 0.5 * (before.cost_ratio - 1)
    assert found.loss == fitted.loss(*held_out)
    assert fitted.score(*held_out) == pytest.approx(1 - found.off_path)
    own = fitted.compare(*held_out).cost_ratio
    assert own <= 1 + 1e-9 if planner == "grid" else np.isnan(own)  # in its own costs nothing is cheaper


@pytest.mark.parametrize("planner", ["lattice", "grid"])
def test_predict_gives_cost_maps_and_cheapest_paths(planner):
    features, shown, _ = world(planner)
    fitted = model(planner=planner).fit(features, shown)
    starts, goals = ends(shown)
    costs, paths = fitted.predict(features, starts, goals)
    for each, cost, several in zip(features, costs, paths, strict=True):
        raw = fitted.ensemble_.predict(each.reshape(-1, 3)).reshape(each.shape[:2])
        np.testing.assert_array_equal(cost, np.maximum(raw, 1 + fitted.planner_.least_cost))
        for path in several:
            np.testing.assert_array_equal(path, fitted.planner_.plan(cost, tuple(path[0]), tuple(path[-1])))
    for cost, other in zip(costs, fitted.predict_costs(features), strict=True):
        np.testing.assert_array_equal(cost, other)
    stacked = (
        [np.stack(several) for several in shown] if planner == "lattice" else shown
    )  # paths are of one length
    assert fitted.loss(features, stacked) == fitted.loss(features, shown)
    one = fitted.plan(features[:1], [starts[0][0]], [goals[0][0]])[0]
    np.testing.assert_array_equal(one, paths[0][0])


def test_the_fit_is_boost_on_cells():
    """One loop: the estimator's rounds are those of `boost` on the planning loss."""
    features, shown, _ = world()
    fitted = model(descent="naive", tolerance=1).fit(features[:6], shown[:6])
    sample = ab.planning.cells(features[:6], shown[:6], "lattice")
    loss = ab.planning.PathMargin(sample.demonstrations, "lattice", tolerance=1)
    run = ab.boost(sample.X, sample.y, loss, "stump", "naive", 30, random_state=0, n_threads=1)
    assert [step.loss for step in fitted.steps_] == [step.loss for step in run.steps]
    assert fitted.loss(features[:6], shown[:6]) == pytest.approx(run.steps[-1].loss)
    assert fitted.n_iter_ == 30
    assert fitted.n_features_in_ == 3


def test_default_steps_are_in_units_of_cost():
    """Longer demonstrations have larger gradients, and get smaller steps."""
    features, shown, _ = world()
    fitted = model(learning_rate=0.6, max_iter=1).fit(features, shown)
    length = np.mean([len(path) for several in shown for path in several])
    assert fitted.steps_[0].step_size == pytest.approx(0.6 / length)


def test_validation_maps_stop_the_fit_and_choose_the_round():
    features, shown, _ = world()
    held_out = (features[6:], shown[6:])
    watched = model(max_iter=40).fit(features[:6], shown[:6], valid=held_out)
    assert watched.steps_[-1].valid_loss == pytest.approx(watched.loss(*held_out))
    stopped = model(max_iter=500, learning_rate=3.0, early_stopping=True, n_iter_no_change=4).fit(
        features[:6], shown[:6], valid={"maps": held_out[0], "demonstrations": held_out[1]}
    )
    assert stopped.n_iter_ < 500
    assert stopped.best_iteration_ == stopped.n_iter_ - 4
    least = min(step.valid_loss for step in stopped.steps_)
    assert stopped.loss(*held_out) == pytest.approx(least)


def test_callbacks_can_stop_it():
    features, shown, _ = world()
    assert model(callbacks=[lambda step, run: step.round == 3]).fit(features, shown).n_iter_ == 3


def test_weights_are_multiplicities_of_demonstrations():
    features, shown, _ = world(maps=3)
    plain = [[several[0], several[1], several[1]] for several in shown]
    repeated = model().fit(features, plain)
    weighted = model().fit(features, shown, sample_weight=[1, 2] * 3)
    np.testing.assert_allclose(
        [step.loss for step in weighted.steps_], [step.loss for step in repeated.steps_], rtol=1e-9
    )
    first = model().fit(features, [several[:1] for several in shown])
    zero = model().fit(features, shown, sample_weight=[3, 0] * 3)
    same = [step.loss for step in zero.steps_], [step.loss for step in first.steps_]
    assert same[0][0] == pytest.approx(same[1][0])


def test_walls_are_walked_around():
    features, _, _ = world(maps=2)
    first = features[0].copy()
    open_cells = np.ones(first.shape[:2], dtype=bool)
    open_cells[:-1, 4] = False
    first[~open_cells] = np.nan  # nobody knows what is inside a wall
    path = GridPlanner().plan(np.where(open_cells, 1.0, np.inf), (0, 0), (0, SIZE - 1))
    fitted = model(planner="grid", max_iter=5).fit([first], [path], passable=[open_cells])
    costs, paths = fitted.predict([first], [(0, 0)], [(0, SIZE - 1)], passable=[open_cells])
    assert np.isinf(costs[0][:-1, 4]).all()
    assert np.isfinite(costs[0][open_cells]).all()
    assert [SIZE - 1, 4] in paths[0].tolist()
    open_cells = open_cells.copy()
    open_cells[-1, 4] = False
    with pytest.raises(ValueError, match=r"goal \(0, 8\) cannot be reached from start \(0, 0\)"):
        fitted.plan([first], [(0, 0)], [(0, SIZE - 1)], passable=[open_cells])


class Forward(Planner):
    """A planner of one's own: the lattice's, with costs counted twice."""

    def plan(self, cost, start, goal):
        return LatticePlanner().plan(2 * cost, start, goal)


def test_a_planner_of_ones_own():
    features, shown, _ = world()
    mine, ours = (model(planner=p).fit(features, shown) for p in (Forward(), "lattice"))
    assert [step.loss for step in mine.steps_] == [step.loss for step in ours.steps_]


def test_scikit_learn_manners():
    given = model(tolerance=2, descent=ab.descent.Naive(0.1))
    copy = clone(given)
    assert copy.get_params()["tolerance"] == 2
    assert repr(copy) == repr(given)
    with pytest.raises(NotFittedError):
        given.predict_costs([np.zeros((2, 2, 1))])
    features, shown, _ = world()
    fitted = model(max_iter=2).fit(features, shown)
    before = vars(fitted).copy()
    with pytest.raises(ValueError, match="max_iter must be"):
        fitted.set_params(max_iter=-1).fit(features, shown)
    assert fitted.steps_ is before["steps_"]


# --- model files


@pytest.mark.parametrize("planner", ["grid", LatticePlanner(2), GridPlanner(1.0, 0.3)], ids=str)
def test_a_planner_comes_back_from_its_file(tmp_path, planner):
    features, shown, _ = world("lattice")
    valid = None if planner == "grid" else (features[6:], shown[6:])
    fitted = model(planner=planner, max_iter=6, descent=ab.descent.Naive(0.01)).fit(
        features[:6], shown[:6], valid=valid
    )
    ab.save(fitted, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    assert repr(loaded.get_params()) == repr(fitted.get_params())
    assert loaded.steps_ == fitted.steps_
    assert loaded.planner_ == fitted.planner_
    starts, goals = ends(shown)
    for one, other in zip(
        fitted.predict(features, starts, goals), loaded.predict(features, starts, goals), strict=True
    ):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert loaded.loss(features, shown) == fitted.loss(features, shown)


def test_what_a_file_cannot_hold(tmp_path):
    features, shown, _ = world()
    with pytest.raises(ValueError, match="its planner is Forward"):
        ab.save(model(planner=Forward(), max_iter=1).fit(features, shown), tmp_path / "model")
    ab.save(model(max_iter=1).fit(features, shown), tmp_path / "model")
    with pytest.raises(ValueError, match="descent belongs to a run"):
        ab.load(tmp_path / "model", descent="naive")


@pytest.mark.parametrize("cases", [100, pytest.param(5000, marks=pytest.mark.full)], ids=["some", "many"])
def test_a_file_gone_wrong_is_refused_or_is_a_model(tmp_path, cases):
    features, shown, _ = world()
    path = tmp_path / "model"
    ab.save(model(max_iter=3).fit(features, shown), path)
    blob, random = path.read_bytes(), np.random.default_rng(0)
    refused, sentences = 0, set()
    for _ in range(cases):
        change = (mutations.damage, mutations.flip_and_sign, mutations.edit_header)[random.integers(3)]
        path.write_bytes(change(random, blob))
        try:
            found = ab.load(path)
        except ab.ModelFileError as error:
            refused += 1
            sentences.add(str(error))
            continue
        with np.errstate(all="ignore"), suppress(ValueError):  # a model of another number of features
            found.predict_costs(features)
    assert refused > cases // 3
    assert not any("\n" in sentence for sentence in sentences)


def test_inspect_shows_it(tmp_path):
    from anyboost.cli.inspect import rows
    from anyboost.files import peek

    features, shown, _ = world()
    ab.save(model(max_iter=3).fit(features, shown), tmp_path / "model")
    lines = dict(rows(tmp_path / "model", peek(tmp_path / "model")))
    assert lines["holds"].startswith("planner")
    assert lines["features"] == "3"


# --- the figure


def test_the_figure_shows_both_paths_on_the_map_and_on_the_costs():
    features, shown, _ = world()
    fitted = model().fit(features, shown)
    figure = ab.plot.paths(fitted, features[0], shown[0])
    left, right = figure.axes[:2]
    assert [line.get_label() for line in left.lines] == ["demonstrated"] * 2 + ["planned"] * 2
    planned = fitted.plan(features[:1], [[p[0] for p in shown[0]]], [[p[-1] for p in shown[0]]])[0]
    for ax in (left, right):
        for line, path in zip(ax.lines, [*shown[0], *planned], strict=True):
            np.testing.assert_array_equal(line.get_xydata(), path[:, ::-1])
    np.testing.assert_array_equal(right.images[0].get_array(), fitted.predict_costs(features[:1])[0])
    single = ab.plot.paths(fitted, features[0], shown[0][0], terrain=features[0][:, :, 1], name="height")
    assert single.axes[0].get_title("left") == "height"
    assert len(single.axes[0].lines) == 2


# --- what is refused


def good():
    return [np.zeros((3, 4, 2)), np.zeros((4, 4, 2))], [[(0, 0), (1, 1), (1, 2)], [(3, 0), (2, 1)]]


def changed(which, number, value):
    parts = good()
    parts[which][number] = value
    return parts


nan = np.zeros((3, 4, 2))
nan[2, 1, 0] = np.nan
REFUSALS = {
    "no maps": (([], []), "maps is empty"),
    "one array": (
        (np.zeros((3, 4)), []),
        r"map 0 must be an array \(rows, columns, features\), got shape \(4,\)",
    ),
    "a number": ((3, [[(0, 0), (0, 1)]]), "maps must be a list"),
    "words": (changed(0, 1, [[["a"]]]), "map 1 must hold numbers"),
    "flat map": (changed(0, 0, np.zeros((3, 4))), r"map 0 must be an array .* got shape \(3, 4\)"),
    "other features": (
        changed(0, 1, np.zeros((4, 4, 5))),
        "map 1 must have 2 features like the others, got 5",
    ),
    "not finite": (changed(0, 0, nan), r"map 0 must be finite, got \[nan, 0.0\] at cell \(2, 1\)"),
    "fewer demonstrations": ((good()[0], good()[1][:1]), "each of the 2 maps, got 1"),
    "no demonstrations": ((good()[0], []), "demonstrations is empty"),
    "an empty path": (changed(1, 0, []), r"demonstration of map 0 must be an array of cells"),
    "one cell": (changed(1, 1, [(0, 0)]), "demonstration of map 1 has 1 cells: a path needs two"),
    "three numbers": (
        changed(1, 1, [(0, 0, 1), (0, 1, 1)]),
        r"array of cells \(length, 2\), got shape \(2, 3\)",
    ),
    "half cells": (changed(1, 1, [(0, 0), (0.5, 1)]), "demonstration of map 1 must hold whole numbers"),
    "off the map": (
        changed(1, 0, [(2, 2), (3, 3)]),
        r"demonstration of map 0 leaves the map, which has 3 rows and 4 columns, at cell \(3, 3\)",
    ),
    "off the other side": (changed(1, 0, [(0, 0), (-1, 1)]), r"leaves the map, .* at cell \(-1, 1\)"),
    "a jump": (
        changed(1, 1, [(0, 0), (0, 1), (2, 2)]),
        r"map 1 jumps from cell \(0, 1\) to \(2, 2\), which is no move",
    ),
    "standing still": (changed(1, 1, [(0, 0), (0, 0)]), r"jumps from cell \(0, 0\) to \(0, 0\)"),
    "one bad path of two": (
        changed(1, 1, [[(0, 0), (0, 1)], [(0, 0), (3, 3)]]),
        r"demonstration of map 1 jumps from cell \(0, 0\) to \(3, 3\)",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_maps_and_demonstrations_are_refused_before_any_work(case, monkeypatch):
    (maps, shown), words = REFUSALS[case]
    monkeypatch.setattr("anyboost.planning.estimator.boost", lambda *_, **__: pytest.fail("work was done"))
    for planner in ("grid", "lattice"):
        with pytest.raises(ValueError, match=words):
            model(planner=planner).fit(maps, shown)
    with pytest.raises(ValueError, match="^valid .*" + words):
        model().fit(*good(), valid=(maps, shown))


OPTIONS = {
    "planner": ({"planner": "car"}, {}, "planner 'car' is not known"),
    "learner": ({"learner": "bush"}, {}, "learner 'bush' is not known"),
    "descent": ({"descent": "steep"}, {}, "descent 'steep' is not known"),
    "tolerance": ({"tolerance": -1}, {}, "tolerance must be at least 0, got -1"),
    "rate": ({"learning_rate": 0.0}, {}, "learning_rate must be positive"),
    "no maps to watch": ({"early_stopping": True}, {}, "early_stopping needs maps to watch"),
    "weights": ({}, {"sample_weight": [1.0]}, "sample_weight must have one weight"),
    "masks": ({}, {"passable": [None]}, "passable must have one mask a map, got 1 for 2"),
    "mask shape": ({}, {"passable": [np.ones((2, 2), bool), None]}, "passable of map 0 must be truth values"),
    "no way": ({}, {"passable": [np.zeros((3, 4), bool), None]}, "passable of map 0 has no cell"),
    "through a wall": (
        {},
        {"passable": [np.arange(12).reshape(3, 4) != 5, None]},
        r"demonstration of map 0 enters cell \(1, 1\), a wall",
    ),
    "valid names": ({}, {"valid": {"maps": 1}}, 'valid needs "maps" and "demonstrations"'),
    "valid features": (
        {},
        {"valid": ([np.zeros((3, 4, 1))], [[(0, 0), (0, 1)]])},
        "valid map 0 must have 2 features",
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_parameters_are_refused_before_any_work(case, monkeypatch):
    parameters, arguments, words = OPTIONS[case]
    monkeypatch.setattr("anyboost.planning.estimator.boost", lambda *_, **__: pytest.fail("work was done"))
    with pytest.raises(ValueError, match=words):
        model(**parameters).fit(*good(), **arguments)


@pytest.mark.parametrize(
    ("starts", "goals", "words"),
    [
        ([(0, 0)], [(0, 1)], "starts must have one cell, or several, for each of the 2 maps, got 1"),
        ([(0, 0), (4, 0)], [(0, 1), (0, 1)], r"start of map 1 leaves the map"),
        ([(0, 0), (0, 0)], [(0, 1), (0, 1.5)], "goal of map 1 must be the row and column of a cell"),
        ([(0, 0), [(0, 0)]], [(0, 1), (0, 1)], "starts and goals of map 1 must be as many"),
        ([(0, 1), (0, 0)], [(0, 0), (0, 1)], r"goal \(0, 0\) cannot be reached from start \(0, 1\)"),
    ],
)
def test_ends_that_cannot_be(starts, goals, words):
    maps, shown = good()
    fitted = model(max_iter=1).fit(maps, shown)
    with pytest.raises(ValueError, match=words):
        fitted.predict(maps, starts, goals)
    with pytest.raises(ValueError, match="map 0 must have 2 features like the others, got 3"):
        fitted.predict_costs([np.zeros((2, 2, 3))])
    with pytest.raises(ValueError, match="costs must have a map of costs for each map"):
        fitted.compare(maps, shown, [np.ones((3, 4))])
    with pytest.raises(ValueError, match="costs of map 1 must be positive"):
        fitted.compare(maps, shown, [np.ones((3, 4)), np.zeros((4, 4))])


def test_a_cell_of_the_space_is_a_cell_of_a_map():
    sample = ab.planning.cells(*good(), "lattice", first=5)
    assert len(sample.X) == len(sample.y) == 3 * 4 + 4 * 4
    assert sample.y[0].tolist() == [5, 0, 0]
    assert sample.y[-1].tolist() == [6, 3, 3]
    assert [shown.map for shown in sample.demonstrations] == [5, 6]
    loss = ab.planning.PathMargin(sample.demonstrations, "lattice")
    assert loss.on(sample.y, Space(sample.X)).value(np.zeros(len(sample.X))) >= 0


def test_nets_are_the_default_and_a_seed_makes_them_the_same(tmp_path):
    features, shown, _ = world()
    one, same = (
        ab.MaxMarginPlanner(planner="lattice", max_iter=4, n_jobs=1, random_state=3).fit(features, shown)
        for _ in range(2)
    )
    assert type(one.ensemble_.hypotheses[0]).__name__ == "NetFunction"
    assert one.ensemble_.hypotheses[0].output.shape[-1] == 5
    assert [step.loss for step in one.steps_] == [step.loss for step in same.steps_]
    ab.save(one, tmp_path / "model")
    loaded = ab.load(tmp_path / "model")
    for cost, again in zip(one.predict_costs(features), loaded.predict_costs(features), strict=True):
        np.testing.assert_array_equal(cost, again)


def test_costs_of_walls_do_not_matter_and_free_paths_have_no_ratio():
    random = np.random.default_rng(0)
    where, path = random.normal(size=(4, 5, 2)), np.array([(2, column) for column in range(5)])
    model = ab.MaxMarginPlanner("stump", planner="lattice", max_iter=0).fit([where], [path])
    assert np.isfinite(model.score([where], [path]))  # all costs are 0
    ok = np.ones((4, 5), dtype=bool)
    ok[0, 2] = False
    costs = np.where(ok, 1.0, np.nan)
    assert model.compare([where], [path], [costs], passable=[ok]).cost_ratio == 1.0
    with pytest.raises(ValueError, match="one weight a demonstration, got 1 weights for 2 demonstrations"):
        ab.MaxMarginPlanner("stump").fit([where], [[path, path]], sample_weight=[1.0])
