"""What is drawn and what is held out depends on the measure alone: not on order, partition, threads or types."""

import numpy as np
import pytest
from scipy import sparse

import anyboost as ab
from anyboost import draws
from anyboost.draws import Units, label_words, labels_held_out, mix
from anyboost.samples import Sampling
from anyboost.space import Space
from anyboost.trees.parts import circle
from anyboost.weak import Dictionary, Estimator, Tree
from lending import lent
from parts import in_circle

N = 500


def table(n=N, copies=True, seed=0):
    """Rows of which some are equal, with both zeros and missing values."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, (n, 3)) / 2.0 if copies else random.normal(size=(n, 3))
    X[random.random((n, 3)) < 0.1] = np.nan
    X[X == 0] = -0.0
    return X, random.integers(0, 2, n).astype(float)


def drawn_by_content(X, y, weights, found):
    """How many units, or how much weight, of each distinct row."""
    rows, of = np.unique(np.column_stack([np.nan_to_num(X, nan=9.0) + 0.0, y]), axis=0, return_inverse=True)
    del rows
    return np.bincount(of.reshape(-1), found if weights is None else found * weights)


def test_who_is_drawn_does_not_hang_on_the_order_of_rows():
    X, y = table()
    order = np.random.default_rng(1).permutation(N)
    weights = np.random.default_rng(2).choice([1.0, 2.0, 3.0, 0.3, 0.7, 2.5], N)
    for given in (None, weights):
        one = Units(3, X, y, given)
        other = Units(3, X[order], y[order], None if given is None else given[order])
        for take in (lambda units: units.drawn(0.4, 7)[0], lambda units: units.held_out(0.2, None)):
            first, second = take(one), take(other)
            assert first.sum() == second.sum()
            np.testing.assert_array_equal(
                drawn_by_content(X, y, one.weights, first),
                drawn_by_content(X[order], y[order], other.weights, second),
            )


def test_rows_without_copies_are_drawn_as_the_rows_they_are():
    X, y = table(copies=False)
    order = np.random.default_rng(1).permutation(N)
    one, other = Units(3, X, y), Units(3, X[order], y[order])
    np.testing.assert_array_equal(one.keys[order], other.keys)
    assert len(np.unique(one.keys)) == N


def test_weight_two_is_the_row_twice():
    X, y = table()
    weights = np.random.default_rng(4).integers(1, 4, N).astype(float)
    weights[:50] = 1.5  # these rows are one unit each
    again = np.repeat(np.arange(N), np.where(weights == 1.5, 1, weights).astype(int))
    apart = np.where(weights == 1.5, 1.5, 1.0)[again]
    one, other = Units(3, X, y, weights), Units(3, X[again], y[again], apart)
    assert sorted(one.keys) == sorted(other.keys)
    for salt in range(3):
        np.testing.assert_array_equal(
            drawn_by_content(X, y, one.weights, one.drawn(0.5, salt)[0]),
            drawn_by_content(X[again], y[again], other.weights, other.drawn(0.5, salt)[0]),
        )


def test_threads_and_types_and_layouts_make_no_difference():
    X, y = table(120_000)
    keys = Units(3, X, y, n_threads=1).keys
    for other in (X.astype(np.float32), np.asfortranarray(X), X + 0.0):
        np.testing.assert_array_equal(Units(3, other, y, n_threads=3).keys, keys)
    units, threaded = Units(3, X, y), Units(3, X, y, n_threads=3)
    for one, other in zip(units.drawn(0.3, 5), threaded.drawn(0.3, 5), strict=True):
        np.testing.assert_array_equal(one, other)


def test_sparse_tables_have_the_keys_of_dense_ones():
    X, y = table()
    X = np.nan_to_num(X)
    thin = sparse.csr_array(X)
    thin.data[:5] = 0.0  # stored zeros
    dense = thin.toarray()
    np.testing.assert_array_equal(Units(3, thin, y).keys, Units(3, dense, y).keys)
    np.testing.assert_array_equal(Units(3, thin.astype(np.float32), y).keys, Units(3, dense, y).keys)


def test_every_part_of_a_row_counts_and_the_weight_does_not():
    X, y = np.ones((4, 2)), np.zeros(4)
    same = Units(0, X, y).keys
    assert len(np.unique(same)) == 4  # four copies of one row
    np.testing.assert_array_equal(Units(0, X, y, np.full(4, 0.5)).keys, same)
    parts = [
        Units(0, X[:, ::-1] * [1.0, 2.0], y),
        Units(0, X, y + 1),
        Units(0, X, np.column_stack([y, y + 1])),
        Units(0, X, y, groups=np.array(["a"] * 4)),
        Units(0, X, y, groups=np.array(["b"] * 4)),
        Units(0, X, y, offset=np.ones(4)),
        Units(1, X, y),
    ]
    assert len({*same.tolist(), *(key for units in parts for key in units.keys.tolist())}) == 32
    swapped = Units(0, np.array([[1.0, 2.0]]), y[:1]).keys[0], Units(0, np.array([[2.0, 1.0]]), y[:1]).keys[0]
    assert swapped[0] != swapped[1]


@pytest.mark.parametrize("fraction", [0.03, 0.5, 0.9])
def test_the_share_drawn_is_the_fraction(fraction):
    X, y = table(20_000, copies=False)
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    units = Units(0, X, y, weights)
    total = weights.sum()
    bound = 5 * np.sqrt(fraction * (1 - fraction) / total)
    draw = [units.drawn(fraction, mix(0, t, k))[0] for t in range(1, 6) for k in range(2)]
    for counts in draw:
        assert abs(counts.sum() / total - fraction) < bound
    # Any two projections share what independent draws would
    both = (draw[0] > 0) & (draw[1] > 0)
    expected = np.mean(draw[0] > 0) * np.mean(draw[1] > 0)
    assert abs(both.mean() - expected) < 5 * np.sqrt(expected / len(y))


def test_small_numbers_and_seeds_side_by_side_are_drawn_apart():
    X, y = np.arange(1000.0)[:, None], np.zeros(1000)
    drawn = np.array([Units(seed, X, y).drawn(0.5, mix(seed, 1, 0))[0] for seed in range(40)])
    correlations = np.corrcoef(drawn)[np.triu_indices(40, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(1000)


def test_one_unit_is_drawn_where_there_would_be_none():
    X, y = table(6)
    for weights in (None, np.array([1.0, 2, 1, 1, 3, 1])):
        units = Units(0, X, y, weights)
        counts, rows = units.drawn(1e-18, 3)
        assert counts.sum() == len(rows) == 1
        assert counts[rows[0]] == 1
        run = ab.boost(X, y, rounds=3, row_fraction=1e-18, sample_weight=weights)
        assert len(run.steps) == 3


def test_units_are_held_out_by_class_up_to_the_share():
    X, y = table()
    labels = np.array(["rare", "often", "always"])[np.searchsorted([3, 100], np.arange(N), side="right")]
    units = Units(0, X, y)
    held = units.held_out(0.1, labels)
    assert held.sum() == 50
    assert held[:3].sum() == 0
    assert held[3:100].sum() == 10
    assert Units(0, X[:2], y[:2]).held_out(0.9).sum() == 1
    assert Units(0, X[:1], y[:1]).held_out(0.5).sum() == 0
    assert Units(0, X[:1], y[:1], np.array([2.0])).held_out(0.5).sum() == 1


@pytest.mark.parametrize("weights", [None, np.arange(N) % 4 + 1.0])
def test_those_held_out_are_of_the_smallest_keys_of_their_class(weights):
    X, _ = table()
    labels = np.random.default_rng(2).choice(["a", "b", "c"], N, p=[0.7, 0.28, 0.02])
    units = Units(5, X, np.zeros(N), weights)
    row = np.repeat(np.arange(N), units.counts)
    expected = np.zeros(N, dtype=np.int64)
    sizes = [np.count_nonzero(labels[row] == label) for label in "abc"]
    for label, count in zip("abc", draws._share_out(0.3, np.array(sizes)), strict=True):
        own = np.flatnonzero(labels[row] == label)
        np.add.at(expected, row[own[np.argsort(units.keys[own])[:count]]], 1)
    np.testing.assert_array_equal(units.held_out(0.3, labels), expected)
    assert expected.sum() == int(np.ceil(0.3 * len(row)))


@pytest.mark.parametrize("size", [2, 3, 7])
def test_parts_of_a_sample_draw_and_hold_out_what_the_whole_does(size):
    """Equal rows in several parts are copies of each other; and no part is sent all rows."""
    X, y = table(copies=True)
    weights = np.where(np.arange(N) % 3, 1.0 + np.arange(N) % 2, 1.5)
    whole = Units(3, X, y, weights)
    edges = np.linspace(0, N, size + 1).astype(int)
    largest = []

    def part(place):
        gather = circle().gather
        circle().gather = lambda values: largest.append(len(values)) or gather(values)
        own = slice(edges[place], edges[place + 1])
        units = Units(3, X[own], y[own], weights[own])
        return units.drawn(0.4, 9)[0], units.held_out(0.2, y[own])

    drawn, held_out = (np.concatenate(found) for found in zip(*in_circle(part, size), strict=True))
    for found, expected in ((drawn, whole.drawn(0.4, 9)[0]), (held_out, whole.held_out(0.2, y))):
        one, other = (drawn_by_content(X, y, whole.weights, drawn) for drawn in (found, expected))
        np.testing.assert_array_equal(one, other)
    assert max(largest) <= 2  # the classes


def test_queries_are_held_out_by_their_labels_alone():
    names = np.array([f"query {i}" for i in range(40)])
    held = dict(zip(names, labels_held_out(0, names, 0.25), strict=True))
    assert sum(held.values()) == 10
    again = np.random.default_rng(0).permutation(np.repeat(names, 3))
    assert all(held[name] == out for name, out in zip(again, labels_held_out(0, again, 0.25), strict=True))
    assert (label_words(np.array([1, 2, 0])) == label_words(np.array([1.0, 2.0, -0.0]))).all()
    assert len(np.unique(label_words(np.array([0.5, 1.0, 2.0**60, 2.0**61])))) == 4


def test_a_sample_too_heavy_for_units_is_drawn_by_rows(monkeypatch):
    monkeypatch.setattr(draws, "MOST_UNITS", 1000)
    X, y = table(100)
    units = Units(0, X, y, np.full(100, 50.0))
    assert len(units.keys) == 100
    counts, rows = units.drawn(0.5, 1)
    assert counts.max() == 1
    assert len(rows) == counts.sum()


def sampled_spaces(weights, fraction=0.6):
    X, y = table(copies=False)
    space = Space(np.nan_to_num(X), weights)
    sampling = Sampling(space, Units(0, space.X, y, weights), fraction, 1.0, 0)
    return space, [sampling(t, 0) for t in range(1, 4)]


def test_a_space_that_is_lent_has_the_weights_of_what_was_drawn():
    floats = np.random.default_rng(0).random(N) + 0.1
    for weights in (None, np.full(N, 2.0), np.arange(N) % 3 + 1.0, np.arange(N) % 3 / 7 + 1 / 7, floats):
        space, spaces = sampled_spaces(weights)
        given = np.ones(N) if weights is None else weights
        for part in spaces:
            assert part.weights.sum() == pytest.approx(1.0)
            np.testing.assert_array_equal(np.flatnonzero(part.mass), part.drawn)
            mass, unit = part.fixed_mass
            drawn = mass * part.weight_unit  # as given
            np.testing.assert_allclose(drawn, part.mass * part.weight_unit / unit, rtol=1e-6)
            assert (drawn <= given * (1 + 1e-6)).all()
            assert part.whole == (weights is not floats)
            assert part.full is space
            assert part.bins is space.bins
            assert part.total == pytest.approx(part.mass.sum())


def test_a_lent_measure_is_that_of_its_rows_alone():
    """Means, sums and learners' views are those of a space that has only the rows drawn."""
    X, y = table(copies=False)
    X = np.round(np.nan_to_num(X), 1)
    for weights in (None, np.arange(N) % 3 + 1.0, np.random.default_rng(0).random(N) + 0.1):
        space, rows = Space(X, weights), np.arange(0, N, 3)
        learner = Dictionary()
        learner.project(space, y - 0.5)  # views of the whole measure are not those of the part
        part = lent(space, rows)
        alone = Space(X[rows], None if weights is None else weights[rows])
        assert part.mean(y) == pytest.approx(alone.mean(y[rows]), rel=1e-12)
        assert part.norm(y) == pytest.approx(alone.norm(y[rows]), rel=1e-12)
        one, other = learner.project(part, y - 0.5), learner.project(alone, y[rows] - 0.5)
        np.testing.assert_allclose(one.values[rows], other.values, rtol=1e-12)
        tree = Tree(4, min_leaf_weight=20.0, l2=2.0)
        one, other = tree.project(part, y), tree.project(alone, y[rows])
        np.testing.assert_allclose(one.values[rows], other.values, rtol=1e-6)


def test_the_ray_of_a_tree_is_by_the_measure_that_is_asked_for():
    X, y = table()
    space = Space(X)
    part = lent(space, np.arange(0, N, 2))
    h = Tree(4).project(part, y)
    for measure in (space, part):
        found = h.ray(measure, y)
        assert found[0] == pytest.approx(measure.inner(h.values, y))
        assert found[1] == pytest.approx(measure.inner(h.values, h.values))


def test_a_guest_without_weights_has_a_row_as_often_as_it_was_drawn():
    from sklearn.neighbors import KNeighborsRegressor

    X, y = table(copies=False)
    X = np.nan_to_num(X)
    sampled = {"rounds": 3, "row_fraction": 0.5, "learner": Estimator(KNeighborsRegressor(4))}
    heavy = ab.boost(X, y, sample_weight=np.full(N, 2.0), **sampled)
    twice = ab.boost(np.repeat(X, 2, axis=0), np.repeat(y, 2), **sampled)
    np.testing.assert_allclose(heavy.ensemble.predict(X), twice.ensemble.predict(X))


def test_a_learner_of_the_old_kind_is_given_the_space_and_the_target():
    """One that takes rows and features, and looks at neither."""

    class Old(Tree):
        def project(self, space, target, rows=None, features=None):
            assert rows is None
            assert features is None
            return super().project(space, target)

    X, y = table()
    sampled = {"rounds": 4, "row_fraction": 0.5, "feature_fraction": 0.5}
    one, other = ab.boost(X, y, learner=Old(4), **sampled), ab.boost(X, y, learner=Tree(4), **sampled)
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("learner", ["tree:6", "linear", "dictionary", ab.weak.Net(max_iter=5)], ids=str)
def test_a_model_of_drawn_rows_takes_weights_for_copies(learner):
    X, y = table()
    X = np.nan_to_num(X)
    weights = np.random.default_rng(4).integers(0, 4, N).astype(float)
    again = np.random.default_rng(5).permutation(np.repeat(np.arange(N), weights.astype(int)))
    options = {"rounds": 6, "row_fraction": 0.6, "feature_fraction": 0.7, "learner": learner}
    one = ab.boost(X, y, "absolute", sample_weight=weights, **options)
    other = ab.boost(X[again], y[again], "absolute", **options)
    np.testing.assert_allclose(one.ensemble.predict(X), other.ensemble.predict(X), rtol=1e-6, atol=1e-6)


def test_resuming_draws_the_same_with_an_offset_too():
    X, y = table()
    options = {"row_fraction": 0.5, "start": np.arange(N) / N}
    whole = ab.boost(X, y, "absolute", "tree:4", rounds=6, **options)
    part = ab.boost(X, y, "absolute", "tree:4", rounds=2, **options)
    resumed = ab.boost(X, y, resume=part, rounds=6)
    np.testing.assert_array_equal(resumed.scores, whole.scores)


def test_folds_hold_out_every_unit_once_but_for_a_class_of_one():
    X, y = np.arange(23.0)[:, None], np.repeat([0.0, 1.0, 2.0], [15, 7, 1])
    weights = np.where(np.arange(23) == 3, 3.0, 1.0)
    folds = Units(1, X, y, weights).folds(4, y)
    np.testing.assert_array_equal(folds.sum(axis=0), np.where(y == 2, 0, weights))
    assert np.ptp(folds[:, y < 2].sum(axis=1)) <= 2
    for kind in (0.0, 1.0):
        assert np.ptp(folds[:, y == kind].sum(axis=1)) <= 1
    order = np.random.default_rng(0).permutation(23)
    again = Units(1, X[order], y[order], weights[order]).folds(4, y[order])
    np.testing.assert_array_equal(again, folds[:, order])
