"""What "auto" stands for: settled by loss and units, shown, and overruled by what is said."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

import anyboost as ab
from anyboost import BoostingClassifier, BoostingRanker, BoostingRegressor
from anyboost.draws import Units
from anyboost.estimators import dials


def table(n=120, seed=0, p=5):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * random.normal(size=n)


def said(model):
    """The model with every dial said."""
    names = set(model.get_params()) & set(model.dials_)
    given = {name: model.dials_[name] for name in names}
    return clone(model).set_params(**given)


SMALL = {"max_leaf_nodes": 4}
FAST = {"max_leaf_nodes": 4, "learning_rate": 0.3}
MODELS = {
    "squared": (BoostingRegressor(**SMALL), lambda y: y),
    "absolute": (BoostingRegressor("absolute", **SMALL), lambda y: y),
    "quantile": (BoostingRegressor("quantile:0.8", **SMALL), lambda y: y),
    "poisson": (BoostingRegressor("poisson", **SMALL), lambda y: np.floor(np.abs(y) * 3)),
    "two classes": (BoostingClassifier(**SMALL), lambda y: y > 0),
    "several classes": (BoostingClassifier(**SMALL), lambda y: np.digitize(y, [-0.5, 0.5])),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_with_nothing_said_is_the_fit_to_all_rows_with_its_dials_said(name):
    model, targets = MODELS[name]
    X, y = table()
    fitted = clone(model).fit(X, targets(y))
    assert fitted.n_iter_ == fitted.ensemble_.n_rounds == fitted.dials_["max_iter"] >= 1
    assert len(fitted.validation_score_) == fitted.n_iter_ + 1
    again = said(fitted).fit(X, targets(y))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.dials_ == fitted.dials_


@pytest.mark.parametrize("name", ["squared", "two classes"])
@pytest.mark.parametrize("n", [60, 600])  # folds, and one part held out
def test_the_model_is_one_of_the_measure(name, n):
    model, targets = MODELS[name]
    X, y = table(n)
    y = targets(y)
    random = np.random.default_rng(3)
    weights = random.integers(0, 3, n)
    rows = random.permutation(np.repeat(np.arange(n), weights))
    model = clone(model).set_params(**FAST)
    weighted, repeated = clone(model).fit(X, y, sample_weight=weights), clone(model).fit(X[rows], y[rows])
    assert weighted.dials_ == repeated.dials_
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_rounds_are_found_by_folds_by_one_part_or_not_at_all():
    X, y = table(600)
    seen = []

    class Counted(BoostingRegressor):
        def _splits(self, rows, *others):
            for kept, watched in super()._splits(rows, *others):
                seen.append((kept.X.shape[0], watched.X.shape[0]))
                yield kept, watched

    Counted(max_leaf_nodes=4).fit(X, y)
    assert seen == [(480, 120)]
    seen.clear()
    Counted(max_leaf_nodes=4).fit(X[:101], y[:101])
    assert sorted(seen) == [(80, 21)] + [(81, 20)] * 4
    seen.clear()
    for given in (
        {"max_iter": 5},
        {"early_stopping": False},
        {"preset": "paper"},
        {"learner": "stump"},
        {"warm_start": True},
    ):
        Counted(max_leaf_nodes=4 if "learner" not in given else 31, **given).fit(X, y)
    Counted(max_leaf_nodes=4).fit(X[:19], y[:19])
    Counted(max_leaf_nodes=4).fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    assert not seen


def test_rounds_found_are_those_where_the_mean_over_folds_is_best():
    X, y = table(200)
    model = BoostingRegressor(max_leaf_nodes=4).fit(X, y)
    units = Units(0, X, y)
    curves = []
    explicit = said(model).set_params(max_iter=dials.SEARCHED, early_stopping=True)
    for held_out in units.folds(dials.FOLDS).astype(bool):
        part = clone(explicit).fit(X[~held_out], y[~held_out], X_val=X[held_out], y_val=y[held_out])
        curves.append(part.validation_score_)
    longest = max(map(len, curves))
    mean = np.mean([np.append(c, np.full(longest - len(c), c[-1])) for c in curves], axis=0)
    # The best by more than `tol`, as everywhere.
    assert mean[model.n_iter_] == pytest.approx(mean.max(), abs=dials.TOL * abs(mean[0]))
    np.testing.assert_allclose(model.validation_score_, mean[: model.n_iter_ + 1])


def test_a_given_set_stops_the_fit_and_nothing_else_is_held_out():
    X, y = table(400)
    given = {"X_val": X[300:], "y_val": y[300:]}
    model = BoostingRegressor().fit(X[:300], y[:300], **given)
    assert model.n_iter_ == model.best_iteration_ + model.dials_["n_iter_no_change"]
    same = said(model).set_params(early_stopping=True).fit(X[:300], y[:300], **given)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    watched = BoostingRegressor(max_iter=7, early_stopping=False).fit(X[:300], y[:300], **given)
    assert watched.ensemble_.n_rounds == 7


@pytest.mark.parametrize("kind", [BoostingRegressor, BoostingClassifier])
def test_the_papers_preset_takes_first_order_steps_on_all_rows(kind):
    X, y = table()
    y = y > 0 if kind is BoostingClassifier else y
    paper = kind(preset="paper").fit(X, y)
    plain = kind(
        learning_rate=0.1, max_iter=100, min_leaf_weight=5.0, l2_regularization=0.0, max_features=1.0,
        subsample=1.0, random_thresholds=False, curvature=False, early_stopping=False,
    ).fit(X, y)  # fmt: skip
    np.testing.assert_array_equal(paper.predict(X), plain.predict(X))
    assert (paper.n_iter_, paper.dials_["curvature"], len(paper.validation_score_)) == (100, False, 0)
    assert kind(preset="paper", max_iter=3).fit(X, y).n_iter_ == 3


def test_few_rounds_take_longer_steps_and_weights_have_units():
    X, y = table(100)
    rates = [
        BoostingRegressor(max_iter=rounds).fit(X, y).dials_["learning_rate"] for rounds in (10, 100, 200)
    ]
    assert rates[:2] == [0.1, 0.1]
    assert rates[2] == 0.05
    light = BoostingRegressor(max_iter=3).fit(X, y, sample_weight=np.full(100, 0.25)).dials_
    heavy = BoostingRegressor(max_iter=3).fit(X, y).dials_
    assert light["min_leaf_weight"] == heavy["min_leaf_weight"] / 4
    assert light["l2_regularization"] == heavy["l2_regularization"] / 4


def test_what_is_said_wins():
    X, y = table(60)
    given = {
        "learning_rate": 0.31, "max_iter": 4, "min_leaf_weight": 3.0, "l2_regularization": 0.5, "max_features": 0.9,
        "subsample": 0.9, "random_thresholds": True, "leaf": "mean", "memory": 0.2, "n_iter_no_change": 3,
        "validation_fraction": 0.3, "outputs": "joint", "curvature": False, "early_stopping": True,
    }  # fmt: skip
    assert BoostingRegressor(**given).fit(X, y).dials_ == given | {"proximal": False}


def test_absolute_errors_take_proximal_gradients():
    X, y = table(60)
    model = BoostingRegressor(loss="absolute", max_iter=3).fit(X, y)
    assert model.dials_["proximal"]
    assert not BoostingRegressor(loss="absolute", leaf="mean", max_iter=3).fit(X, y).dials_["proximal"]
    assert not BoostingRegressor(loss="quantile:0.9", max_iter=3).fit(X, y).dials_["proximal"]


def test_dials_that_had_no_say_are_not_shown():
    X, y = table(60)
    shown = BoostingRegressor(learner="stump", max_iter=2).fit(X, y).dials_
    assert "min_leaf_weight" not in shown
    assert "learning_rate" in shown
    assert "learning_rate" not in BoostingRegressor(descent="naive", max_iter=2).fit(X, y).dials_


def test_callbacks_hear_of_the_fit_alone():
    X, y = table(60)
    heard = []
    model = BoostingRegressor(callbacks=[lambda step, run: heard.append((step.round, len(run.scores)))]).fit(
        X, y
    )
    assert heard == [(number, 60) for number in range(1, model.n_iter_ + 1)]


def test_a_checkpoint_of_a_fit_with_nothing_said_goes_on(tmp_path):
    X, y = table(60)
    path, whole = tmp_path / "run", BoostingRegressor(**FAST).fit(X, y)

    def kill(step, _run):
        if step.round == whole.n_iter_ - 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BoostingRegressor(callbacks=[ab.Checkpoint(path, every_rounds=5), kill], **FAST).fit(X, y)
    resumed = BoostingRegressor(**FAST).fit(X, y, resume=ab.load(path))
    np.testing.assert_array_equal(resumed.predict(X), whole.predict(X))


def test_rankings_hold_out_whole_queries():
    X, y = table(400)
    grades, query = np.digitize(y, [0, 1]), np.arange(400) // 10
    model = BoostingRanker(**SMALL).fit(X, grades, query)
    assert len(model.validation_score_) == model.n_iter_ + 1
    few = BoostingRanker().fit(X, grades, np.arange(400) // 100)
    assert (few.n_iter_, len(few.validation_score_)) == (dials.PLAIN_ROUNDS, 0)


def test_an_estimator_of_an_older_version_keeps_its_parameters():
    """Its defaults were numbers, and there were no random thresholds."""
    from anyboost.files import parameters
    from anyboost.files.fields import Fields

    old = parameters.pack(BoostingRegressor(learning_rate=0.1, max_iter=100, random_thresholds=False))
    assert "random_thresholds" not in old
    assert "preset" not in old
    again = BoostingRegressor(**parameters.unpack(Fields(old, "parameters"), BoostingRegressor))
    assert (again.learning_rate, again.max_iter, again.random_thresholds) == (0.1, 100, False)


def test_leaves_tell_quantiles_from_rows_on_both_sides():
    X, y = table(400)
    found = [
        BoostingRegressor(f"quantile:{level}", max_iter=2).fit(X, y).dials_["min_leaf_weight"]
        for level in (0.5, 0.1, 0.9, 0.001)
    ]
    assert found == pytest.approx([4.0, 20.0, 20.0, 40.0])
    both = BoostingRegressor("multi_quantile:0.1,0.5", max_iter=2).fit(X, y)
    assert both.dials_["min_leaf_weight"] == pytest.approx(20.0)


def test_weights_of_classes_and_units_do_not_hang_on_the_order_of_rows():
    X, y = table(200)
    weights = np.random.default_rng(3).uniform(0.1, 3.0, size=200)
    order = np.random.default_rng(4).permutation(200)
    given = {"class_weight": "balanced", "max_iter": 3}
    one = BoostingClassifier(**given).fit(X, y > 0, sample_weight=weights)
    other = BoostingClassifier(**given).fit(X[order], (y > 0)[order], sample_weight=weights[order])
    assert one.dials_ == other.dials_
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


SHOWN = ("max_features", "learning_rate", "min_leaf_weight")


@pytest.mark.parametrize(
    ("rows", "columns", "weight", "expected"),
    [
        (200, 200, 1.0, (0.5, 0.1, 1.0)),
        (200, 201, 1.0, (1.0, 0.1, 10.0)),  # 20, at most a twentieth of the units
        (600, 601, 1.0, (1.0, 0.1, 20.0)),
        (100, 201, 2.0, (1.0, 0.1, 10.0)),  # 200 units
        (100, 199, 2.0, (0.5, 0.1, 1.0)),
        (200, 201, 0.5, (1.0, 0.1, 5.0)),  # units of half a weight
    ],
)
def test_a_table_is_wide_from_one_column_more_than_its_units(rows, columns, weight, expected):
    X = np.random.default_rng(0).normal(size=(rows, columns))
    weights = np.full(rows, weight)
    model = BoostingRegressor(max_iter=1).fit(X, X[:, 0], sample_weight=weights)
    assert tuple(model.dials_[name] for name in SHOWN) == expected
    explicit = BoostingRegressor(max_iter=1, max_features=0.3, min_leaf_weight=2.0).fit(X, X[:, 0])
    assert (explicit.dials_["max_features"], explicit.dials_["min_leaf_weight"]) == (0.3, 2.0)
    paper = BoostingRegressor(max_iter=1, preset="paper").fit(X, X[:, 0])
    assert paper.dials_["min_leaf_weight"] == 5.0


def wide(kind, rows=120, columns=160):
    random = np.random.default_rng(1)
    X = random.normal(size=(rows + 1000, columns))
    rare = 3.0 * (X[:, 0] > 1.4) + 2.0 * (X[:, 1] < -1.4)
    y = (X[:, :6].sum(axis=1) if kind == "many weak" else rare) + 0.1 * random.normal(size=len(X))
    return X[:rows], y[:rows], X[rows:], y[rows:]


def test_leaves_of_wide_tables_are_chosen_on_rows_held_out():
    """Small leaves learn chance splits, and large ones lose rare groups of rows: neither is always right."""
    chosen = {}
    for kind in ("many weak", "rare"):
        X, y, later, truth = wide(kind)
        model = BoostingRegressor().fit(X, y)
        chosen[kind] = model.dials_["min_leaf_weight"]
        with threadpool_limits(1):
            peer = HistGradientBoostingRegressor().fit(X, y)
        assert model.score(later, truth) > peer.score(later, truth)
        assert len(model.validation_score_) == model.n_iter_ + 1
    assert chosen == {"many weak": 20.0, "rare": 3.0}
