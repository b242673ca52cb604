"""The seam: rows in three parts, each with a loop of its own, make the trees of rows in one place, to the bit."""

import warnings

import numpy as np
import pytest

import anyboost as ab
import fingerprints
from anyboost import losses
from anyboost.certificates import Evidence
from anyboost.descent import State, descend
from anyboost.draws import Units
from anyboost.ensemble import Ensemble
from anyboost.samples import Sampling
from anyboost.space import Binned, Space
from anyboost.trees.rows import Rows
from losses.registry import Halfway
from parts import in_parts, three

FULL = pytest.mark.full


def of_part(rows, *arrays):
    return [None if array is None else array[rows.own] for array in arrays]


def run_of_part(whole, rows, binned, weights, groups):
    """The steps and the model that a part finds, with the method of a run on all rows."""
    here = binned.take(rows.own)
    y, weights, groups, start = of_part(rows, whole.functional.y, weights, groups, whole.state.start)
    L2 = Space(here.X, weights, bins=here.bins, categorical=here.categorical, rows=rows)
    R = whole.loss.on(y, L2, groups, whole.functional.outputs)
    np.testing.assert_array_equal(np.atleast_1d(R.best_constant()), whole.ensemble.start)
    model = Ensemble(whole.ensemble.start, here.shape[1])
    state = State(
        start, start, np.zeros_like(start), R.value(start), whole.start_loss, model, Evidence(start.shape)
    )
    fractions, units = (whole.options.row_fraction, whole.options.feature_fraction), None
    if fractions[0] < 1.0:
        units = Units(whole.seed, here.X, y, weights, groups, rows=rows)
    sampling = Sampling(L2, units, *fractions, whole.seed)
    progress = descend(R, whole.learner, L2, whole.descent, state, sampling)
    return [next(progress) for _ in whole.steps], state


def trees_of(ensemble):
    for h in ensemble.hypotheses:
        yield from getattr(h, "trees", (h,))


NODES = ("feature", "threshold", "left", "missing_left", "category_sets", "value", "cover", "gain")


@pytest.mark.parametrize(
    "weights", ["floats", *(pytest.param(name, marks=FULL) for name in ("none", "whole"))]
)
@pytest.mark.parametrize("name", fingerprints.CASES)
def test_three_parts_make_the_same_model(name, weights):
    case = dict(fingerprints.CASES[name])
    X, y, groups = fingerprints.data(getattr(case["loss"], "name", case["loss"]), case.pop("missing", False))
    given = {"none": None, "whole": fingerprints.WHOLE, "floats": fingerprints.FLOATS}[weights]
    if given is not None:
        X, y, groups, given = (part[given > 0] for part in (X, y, groups, given))
    binned = Binned(X, given, categorical=case.pop("categorical", ()), max_bins=case.pop("max_bins", 255))
    options = {"rounds": 5, **case, "sample_weight": given, "random_state": 0}
    if not getattr(case["loss"], "uses_groups", str(case["loss"]).startswith("rank")):
        groups = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these steps are large
        whole = ab.boost(binned, y, groups=groups, **{**options, "rounds": 5})
    found = in_parts(lambda rows: run_of_part(whole, rows, binned, given, groups), three(len(X)))
    np.testing.assert_array_equal(np.concatenate([part.scores for _, part in found]), whole.scores)
    for steps, part in found:
        assert [step._replace(seconds=0.0) for step in steps] == [
            step._replace(seconds=0.0) for step in whole.steps
        ]
        assert part.norm == whole.norm
        for one, other in zip(trees_of(part.ensemble), trees_of(whole.ensemble), strict=True):
            for array in NODES:
                np.testing.assert_array_equal(getattr(one, array), getattr(other, array))


MULTICLASS = losses.Softmax() + losses.MulticlassHinge()
LOSSES = [  # one a kind of sum, and the others
    *("absolute", "huber:0.5", "exponential", "poisson", "rank_hinge", "cox", Halfway()),
    losses.MultiQuantile((0.2, 0.7)) + losses.Crossing(0.1),
    losses.CVaR("absolute", 0.8),
    losses.WorstGroup("quantile:0.8"),
    *(
        pytest.param(loss, marks=FULL)
        for loss in (
            *("squared", "quantile:0.9", "expectile:0.8", "multi_quantile:0.1,0.5,0.9", "hinge"),
            *(
                "squared_hinge",
                "multiclass_hinge",
                "logistic",
                "softmax",
                "gamma",
                "tweedie",
                "rank_logistic",
            ),
            MULTICLASS,
            losses.Absolute() + losses.Huber(0.5),
            losses.Multioutput("absolute"),
            losses.CVaR("huber", 0.5) + 0.5 * losses.Squared(),
            losses.WorstGroup("multi_quantile:0.1,0.5"),
            losses.pointwise(lambda f, y: (f - y) ** 4, lambda f, y: 4 * (f - y) ** 3, name="fourth"),
        )
    ),
]


def looks(R, scores, leaf, directions):
    """What is asked of a functional: first what is the same in all parts, then what each row has."""
    value, gradient = R.at(scores)
    shifts = R.best_shifts(scores, leaf, len(directions), directions if scores.ndim > 1 else None)
    curvature = R.curvature(scores)
    envelope = R.envelope_gradient(scores, 0.3) if R.smoothable else gradient
    same = value, R.value(scores), R.infimum, R.best_constant(), shifts
    return same, (gradient, gradient if curvature is None else curvature, envelope)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_losses_of_parts_are_those_of_all(loss):
    loss = losses.get(loss)
    X, y, groups = fingerprints.data("softmax" if loss is MULTICLASS else loss.name)
    y = np.column_stack([y, y * y]) if isinstance(loss, losses.Multioutput) else y
    order = np.argsort(X[:, 0] + y.reshape(len(y), -1)[:, 0], kind="stable")[
        ::3
    ]  # targets differ from part to part
    X, y, weights = X[order], loss.check(y[order]), fingerprints.FLOATS[order]
    groups = groups[order] // 5 if loss.uses_groups else None
    random = np.random.default_rng(2)
    outputs = loss.outputs(y)
    scores = random.normal(size=len(y) if outputs == 1 else (len(y), outputs))
    leaf = np.searchsorted([0.1, 0.5, 0.8], X[:, 1]) + (
        np.arange(len(y)) < 9
    )  # some have no row in some parts
    directions = random.normal(size=(5, outputs))
    same, own = looks(loss.on(y, Space(X, weights), groups), scores, leaf, directions)

    def look(rows):
        own_X, own_y, own_weights, own_groups, *given = of_part(rows, X, y, weights, groups, scores, leaf)
        R = loss.on(own_y, Space(own_X, own_weights, rows=rows), own_groups, outputs)
        return looks(R, *given, directions)

    found = in_parts(look, three(len(y)))
    for part, _ in found:
        for one, other in zip(part, same, strict=True):
            np.testing.assert_array_equal(one, other)
    for number, of_all in enumerate(own):
        np.testing.assert_array_equal(np.concatenate([part[number] for _, part in found]), of_all)


@pytest.mark.parametrize("fraction", [0.5, 1e-9, 1.0 - 1e-9])
@pytest.mark.parametrize(
    "weights", ["mixed", *(pytest.param(kind, marks=FULL) for kind in ("none", "whole"))]
)
def test_draws_of_parts_are_those_of_all(weights, fraction):
    random = np.random.default_rng(4)
    n = 200
    X, y = random.integers(0, 3, (n, 3)) / 2.0, random.integers(0, 2, n).astype(float)
    kinds = {"none": None, "whole": [1.0, 2.0, 3.0], "mixed": [1.0, 2.0, 0.3, 0.7, 2.5]}[weights]
    given = None if kinds is None else random.choice(kinds, n)
    given = (
        given if given is None else np.where(np.arange(n) < 30, 1.0, given)
    )  # a part whose rows are one unit each

    def draw(X, y, given, rows=None):
        space = Space(X, given, rows=rows)
        units = Units(3, X, y, given, rows=rows)
        drawn = [Sampling(space, units, fraction, 1.0, 3)(t, 0).measure for t in range(4)]
        same = [(one.whole, one.total, one.unit, one.drawn is None) for one in drawn]
        return same, np.array([one.mass for one in drawn]), units.keys

    same, masses, keys = draw(X, y, given)
    found = in_parts(lambda rows: draw(*of_part(rows, X, y, given), rows), three(n))
    assert all(part[0] == same for part in found)
    np.testing.assert_array_equal(np.concatenate([part[1] for part in found], axis=1), masses)
    np.testing.assert_array_equal(np.concatenate([part[2] for part in found]), keys)


def test_quantiles_of_parts_are_those_of_all():
    random = np.random.default_rng(0)
    n, leaves = 400, 5
    values, weights = random.normal(size=n).round(1), random.integers(0, 3, n).astype(float)
    leaf = random.integers(0, leaves, n)
    whole = Rows(n).quantiles(values, weights, leaf, leaves, 0.5)
    for part in in_parts(
        lambda rows: rows.quantiles(*of_part(rows, values, weights, leaf), leaves, 0.5), (0, 150, n)
    ):
        np.testing.assert_array_equal(part, whole)


@pytest.mark.parametrize("memory", [1, 2**24])
def test_little_memory_for_histograms_makes_the_same_tree(memory, monkeypatch):
    random = np.random.default_rng(5)
    X, target = random.normal(size=(500, 11)), random.normal(size=500)
    X[:, 2] = random.integers(0, 9, 500)
    tree = ab.weak.Tree(31)
    usual = tree.project(Space(X, categorical=(2,)), target)
    monkeypatch.setattr("anyboost.trees.grower.MOST_MEMORY", memory)
    scarce = tree.project(Space(X, categorical=(2,)), target)
    np.testing.assert_array_equal(usual.leaf, scarce.leaf)
    np.testing.assert_array_equal(usual.leaf_values, scarce.leaf_values)
