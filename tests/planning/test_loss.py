"""The planning loss against every path, as a convex functional of L2(P), and in `boost`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anyboost as ab
from anyboost.planning import Demonstration, GridPlanner, LatticePlanner, PathMargin, Planner
from anyboost.space import Space
from reference import planning as brute

quick = settings(deadline=None, max_examples=40)
PLANNERS = {
    "grid": (GridPlanner(diagonal=1.5, least_cost=0.2), brute.king, 1.5),
    "lattice": (LatticePlanner(), brute.forward(1), 1.0),
}
SHAPES = ((3, 3), (2, 4))


def cells_of(shapes):
    return np.array([(k, r, c) for k, shape in enumerate(shapes) for r, c in np.ndindex(*shape)])


class Draw:
    """Two small maps, three demonstrations that are any path, and costs; some costs tie."""

    def __init__(self, seed, kind, weighted=False):
        self.random = random = np.random.default_rng(seed)
        self.planner, step, self.diagonal = PLANNERS[kind]
        self.paths, shown = [], []
        for number in (0, 1, 1):
            shape = SHAPES[number]
            start, goal = (int(random.integers(shape[0])), 0), (int(random.integers(shape[0])), shape[1] - 1)
            paths = brute.all_paths(shape, start, goal, step)
            while not paths:
                goal = (int(random.integers(shape[0])), shape[1] - 1)
                paths = brute.all_paths(shape, start, goal, step)
            self.paths.append(paths)
            shown.append(Demonstration(number, np.array(paths[random.integers(len(paths))])))
        self.shares = np.array([1.0, 2.0, 4.0]) if weighted else np.ones(3)
        self.demonstrations = [d._replace(weight=w) for d, w in zip(shown, self.shares, strict=True)]
        self.y = cells_of(SHAPES)
        self.weights = random.integers(1, 4, len(self.y)).astype(float) if weighted else None
        self.tolerance = int(random.integers(2))
        self.space = Space(np.zeros((len(self.y), 1)), self.weights)
        self.R = PathMargin(self.demonstrations, self.planner, self.tolerance).on(self.y, self.space)

    def scores(self, low):
        values = self.random.uniform(low, low + 3, len(self.y))
        return np.round(values, 0) if self.random.random() < 0.3 else values

    def by_brute_force(self, scores):
        margins = [
            brute.margin(
                {(r, c): f for (k, r, c), f in zip(self.y.tolist(), scores, strict=True) if k == shown.map},
                [tuple(cell) for cell in shown.path.tolist()],
                paths,
                self.tolerance,
                self.diagonal,
                self.planner.least_cost,
            )
            for shown, paths in zip(self.demonstrations, self.paths, strict=True)
        ]
        return float(self.shares @ margins / self.shares.sum())


cases = given(seed=st.integers(0, 10**6), weighted=st.booleans())


@pytest.mark.parametrize("kind", PLANNERS)
@quick
@cases
def test_the_loss_is_the_margin_over_all_paths(kind, seed, weighted):
    draw = Draw(seed, kind, weighted)
    for low in (-2.0, 0.0, 1.2):
        scores = draw.scores(low)
        assert draw.R.value(scores) == pytest.approx(draw.by_brute_force(scores), abs=1e-12)
        assert draw.R.value(scores) >= 0


@pytest.mark.parametrize("kind", PLANNERS)
@quick
@cases
def test_convex_with_subgradients_of_the_weighted_space(kind, seed, weighted):
    draw = Draw(seed, kind, weighted)
    low = -2.0 if kind == "lattice" else 1.2  # a grid: where its floor of 0.2 raises nothing
    f, g = draw.scores(low), np.maximum(draw.scores(low), low)
    f = np.maximum(f, low)
    R = draw.R
    assert R.value(g) >= R.value(f) + draw.space.inner(R.subgradient(f), g - f) - 1e-9
    assert R.value((f + g) / 2) <= (R.value(f) + R.value(g)) / 2 + 1e-9


def test_a_floor_costs_convexity():
    """Two ways around; between a cost at its floor and a high one, the loss is above its chord."""
    shown = Demonstration(0, np.array([[0, 0], [0, 1], [0, 2]]))
    y = cells_of([(2, 3)])
    R = PathMargin([shown], GridPlanner(1.0, least_cost=1.0)).on(y, Space(np.zeros((6, 1))))
    far, near = np.full(6, 1.0), np.full(6, 1.0)
    far[y[:, 1] == 1], near[y[:, 1] == 1] = -9.0, 3.0
    far[1], near[1] = 3.0, 3.0  # the middle of the demonstration
    values = [R.value(far + s * (near - far)) for s in (0.0, 0.5, 1.0)]
    assert values[1] > (values[0] + values[2]) / 2 + 0.1


@pytest.mark.parametrize("kind", PLANNERS)
@quick
@given(seed=st.integers(0, 10**6))
def test_weight_is_multiplicity_and_order_does_not_matter(kind, seed):
    draw = Draw(seed, kind, weighted=True)
    n = len(draw.y)
    scores = draw.scores(1.2)
    many = np.repeat(np.arange(n), draw.weights.astype(int))
    loss = draw.R.loss
    other = loss.on(draw.y[many], Space(np.zeros((len(many), 1))))
    order = draw.random.permutation(n)
    turned = loss.on(draw.y[order], Space(np.zeros((n, 1)), draw.weights[order]))
    assert other.value(scores[many]) == pytest.approx(draw.R.value(scores), abs=1e-12)
    assert turned.value(scores[order]) == pytest.approx(draw.R.value(scores), abs=1e-12)
    gradient = draw.R.subgradient(scores)
    np.testing.assert_allclose(other.subgradient(scores[many]), gradient[many], atol=1e-9)
    np.testing.assert_allclose(turned.subgradient(scores[order]), gradient[order], atol=1e-9)


@pytest.mark.parametrize("kind", PLANNERS)
@quick
@cases
def test_best_constant(kind, seed, weighted):
    draw = Draw(seed, kind, weighted)
    best = draw.R.best_constant()
    least = 1.2 if kind == "grid" else 0.0
    assert best >= least
    for other in draw.random.uniform(least, least + 6, 10):
        assert draw.R.value(np.full(len(draw.y), best)) <= draw.R.value(np.full(len(draw.y), other)) + 1e-5


def test_zero_where_every_other_path_is_dearer_by_what_it_strays():
    shown = Demonstration(0, np.array([[1, 0], [1, 1], [0, 2], [1, 3]]))
    y = cells_of([(3, 4)])
    R = PathMargin([shown], "lattice").on(y, Space(np.zeros((12, 1))))
    scores = np.ones((3, 4))
    scores[shown.path[:, 0], shown.path[:, 1]] = 0
    value, gradient = R.at(scores.ravel())
    assert value == 0
    assert not gradient.any()
    assert R.value(0.9 * scores.ravel()) == pytest.approx(0.2)  # two cells strayed, at 0.9 each


def test_a_cell_without_a_row_is_a_wall():
    shown = Demonstration(4, np.array([[0, 0], [1, 1], [0, 2]]))
    y = cells_of([(2, 3)]) + np.array([4, 0, 0])
    scores = np.array([0.0, -5.0, 0.0, 0.0, 0.0, 0.0])
    for rows, expected in ((np.arange(6), 6.0), (np.delete(np.arange(6), 1), 0.0)):
        R = PathMargin([shown], "lattice").on(y[rows], Space(np.zeros((len(rows), 1))))
        assert R.value(scores[rows]) == expected


def test_a_planner_that_misses_the_demonstration_never_makes_the_loss_negative():
    class Detour(Planner):
        def plan(self, cost, start, goal):
            return np.array([[0, 0], [1, 1], [0, 2]])

    shown = Demonstration(0, np.array([[0, 0], [0, 1], [0, 2]]))
    R = PathMargin([shown], Detour()).on(cells_of([(2, 3)]), Space(np.zeros((6, 1))))
    assert R.at(np.array([0.0, 0, 0, 0, 9.0, 0]))[0] == 0
    assert R.value(np.zeros(6)) == 1


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.zeros(3), r"y must be \(n, 3\)"),
        (np.array([[0, 0, 0.5]]), r"whole numbers from 0 on, got \[0.0, 0.0, 0.5\] at row 0"),
        (np.array([[7, 0, 0]]), "no cell of a map with a demonstration"),
        (np.array([[0, 0, 0], [0, 0, 1]]), r"no row for cell \[0, 2\] of map 0"),
    ],
)
def test_samples_that_do_not_fit(y, words):
    loss = PathMargin([Demonstration(0, np.array([[0, 0], [0, 1], [0, 2]]))], "lattice")
    with pytest.raises(ValueError, match=words):
        loss.on(y, Space(np.zeros((len(y), 1))))


# --- in `boost`, as any other loss


def world(seed=0, maps=4, size=8):
    """Maps of two features; demonstrations avoid cells where the first one is high."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(maps, size, size, 2))
    shown = [
        Demonstration(
            k,
            LatticePlanner().plan(
                np.exp(features[k, :, :, 0]),
                (int(random.integers(size)), 0),
                (int(random.integers(size)), size - 1),
            ),
        )
        for k in range(maps)
    ]
    return features.reshape(-1, 2), cells_of([(size, size)] * maps), shown


DESCENTS = {
    "naive": ab.descent.Naive(ab.steps.InverseSqrt(0.02)),
    "repeated": ab.descent.Repeated(ab.steps.InverseSqrt(0.02)),
    "residual": ab.descent.Residual(ab.steps.InverseSqrt(0.02)),
}


@pytest.mark.parametrize("descent", DESCENTS)
def test_every_descent_lowers_it(descent):
    X, y, shown = world()
    run = ab.boost(X, y, PathMargin(shown, "lattice"), "stump", DESCENTS[descent], rounds=12, n_threads=1)
    assert min(step.loss for step in run.steps) < 0.75 * run.start_loss


def test_frank_wolfe_finds_what_a_linear_program_does_and_certifies_it():
    """Costs linear in two features of l1 norm at most C, against the program with a row for every path."""
    X, y, shown = world(seed=1, maps=3, size=5)
    X = X / np.abs(X).max(axis=0)
    radius = 1.5
    best = brute.best_linear_costs(X, y, [(d.map, d.path.tolist()) for d in shown], (5, 5), radius)
    run = ab.boost(
        X, y, PathMargin(shown, "lattice"), "dictionary", ab.descent.Hull(radius), rounds=400, n_threads=1
    )
    assert run.floor(radius) <= best + 1e-9
    assert min(step.loss for step in run.steps) >= best - 1e-9
    assert run.steps[-1].loss == pytest.approx(best, rel=0.02)
    assert run.floor(radius) == pytest.approx(best, rel=0.05)


def test_validation_early_stopping_resume_and_files(tmp_path):
    X, y, shown = world(maps=6)
    loss = PathMargin(shown, "lattice")
    train, valid = y[:, 0] < 4, y[:, 0] >= 4
    options = {"valid": (X[valid], y[valid]), "n_threads": 1, "random_state": 0}
    descent = ab.descent.Residual(ab.steps.InverseSqrt(0.02))
    seen = []
    whole = ab.boost(
        X[train], y[train], loss, "stump", descent, 20, callbacks=[lambda s, r: seen.append(s)], **options
    )
    assert [step.valid_loss for step in seen] == [step.valid_loss for step in whole.steps]
    functional = loss.on(y[valid], Space(X[valid]))
    assert whole.steps[-1].valid_loss == functional.value(whole.ensemble.predict(X[valid]))
    stopped = ab.boost(X[train], y[train], loss, "stump", descent, 400, patience=5, **options)
    assert len(stopped.steps) < 400
    assert stopped.best_round == len(stopped.steps) - 5
    half = ab.boost(X[train], y[train], loss, "stump", descent, 10, **options)
    ab.save(half, tmp_path / "half")
    for begun in (half, ab.load(tmp_path / "half", loss=loss)):
        again = ab.boost(X[train], y[train], rounds=20, resume=begun, **options)
        assert [step.loss for step in again.steps] == [step.loss for step in whole.steps]


def test_a_planner_that_goes_elsewhere_is_refused():
    class Lost(Planner):
        def plan(self, cost, start, goal):
            return np.array([start, (0, 1)])

    shown = Demonstration(0, np.array([[0, 0], [0, 1], [0, 2]]))
    R = PathMargin([shown], Lost()).on(cells_of([(2, 3)]), Space(np.zeros((6, 1))))
    with pytest.raises(ValueError, match=r"planner Lost must plan from \(0, 0\) to \(0, 2\), both included"):
        R.value(np.zeros(6))


@pytest.mark.parametrize("options", [{}, {"row_fraction": 0.7, "feature_fraction": 0.5}], ids=["all", "some"])
@pytest.mark.parametrize(
    ("learner", "step"),
    [
        (ab.weak.Tree(max_leaves=3, leaf="exact"), 0.5),
        (ab.weak.Net(hidden=2), 0.02),
        (ab.weak.Linear(), 0.02),
        ("dictionary", 0.02),
        ("tree:3", ab.steps.LineSearch()),
    ],
    ids=["exact leaves", "nets", "linear", "columns", "line search"],
)
def test_any_weak_learner_and_step_lowers_it(learner, step, options):
    X, y, shown = world()
    weights = np.random.default_rng(0).integers(1, 3, len(X))
    loss = PathMargin(shown, "lattice", tolerance=1)
    run = ab.boost(
        X,
        y,
        loss,
        learner,
        ab.descent.Naive(step),
        4,
        sample_weight=weights,
        random_state=0,
        n_threads=1,
        **options,
    )
    assert min(step.loss for step in run.steps) < 0.95 * run.start_loss
