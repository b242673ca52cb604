"""With nothing said of the step, a run ends well below its start, in any unit of y, and says so where it does not."""

import numpy as np
import pytest
from sklearn import datasets

import anyboost as ab
from anyboost.descent import Naive, Repeated, Residual, Shrinking
from anyboost.losses import CVaR, Huber, Logistic, Squared, WorstGroup, pointwise
from anyboost.space import Space
from anyboost.steps import Constant, InverseSqrt, InverseT
from anyboost.weak import Tree

DESCENTS = ("naive", "repeated", "residual", "shrinking")
NUMBERS = (
    *("squared", "absolute", "quantile:0.9", "huber", "expectile:0.9", "poisson", "gamma", "tweedie:1.5"),
    *("multi_quantile:0.1,0.5,0.9", "cox", "rank_hinge", "rank_logistic"),
)
SIGNS = ("logistic", "hinge", "squared_hinge", "exponential")
CLASSES = ("softmax", "multiclass_hinge")
COUPLED = (CVaR("squared", 0.8), CVaR("absolute", 0.8), WorstGroup("squared"), WorstGroup("absolute"))


def _numbers(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y if y.ndim == 1 else y[:, 0]


CASES = [
    *((name, loss) for name in ("diabetes", "linnerud") for loss in (*NUMBERS, *COUPLED)),
    *((name, loss) for name in ("iris", "wine", "breast_cancer", "digits") for loss in (*SIGNS, *CLASSES)),
]


@pytest.mark.parametrize("descent", DESCENTS)
@pytest.mark.parametrize(("name", "loss"), CASES, ids=str)
def test_a_run_with_nothing_said_ends_well_below_its_start(name, loss, descent):
    X, y = _numbers(name)
    if loss in SIGNS:
        y = np.where(y == 0, 1.0, -1.0)
    coupled = str(loss).startswith(("rank", "WorstGroup"))
    rounds = 10 if descent == "repeated" else 40
    run = ab.boost(
        X, y, loss, descent=descent, rounds=rounds, groups=np.arange(len(y)) // 10 if coupled else None
    )
    left = (run.steps[-1].loss - run.infimum) / (run.start_loss - run.infimum)
    assert left < 0.95, f"{left:.3f} of what could be gained is left"


@pytest.mark.parametrize("descent", DESCENTS)
@pytest.mark.parametrize("loss", ["squared", "absolute", "quantile:0.9", "expectile:0.9", "huber"])
def test_the_unit_of_y_makes_no_difference(loss, descent):
    X, y = _numbers("diabetes")
    courses = []
    for unit in (1e-6, 1.0, 1e6):
        run = ab.boost(X, unit * y, loss, descent=descent, rounds=15)
        courses.append([step.loss / run.start_loss for step in run.steps])
    np.testing.assert_allclose(courses[0], courses[1], rtol=1e-9)
    np.testing.assert_allclose(courses[2], courses[1], rtol=1e-9)


def test_the_step_taken_is_that_of_the_table():
    X, y = _numbers("diabetes")

    def taken(loss, descent, **given):
        return ab.boost(X, y, loss, descent=descent, rounds=1, **given).descent.step

    assert taken("squared", "naive") == Constant(1.0)
    assert taken("expectile:0.9", "repeated") == Constant(1 / 1.8)
    assert taken("squared", "residual") == InverseT(1.0)
    assert taken("absolute", "residual", learner=Tree(4, leaf="exact")) == InverseSqrt(1.0)
    median = np.median(y)
    assert taken("absolute", "naive").scale == pytest.approx(np.abs(y - median).mean())  # |g| = 1
    assert taken("absolute", "residual").scale == pytest.approx(0.3 * np.abs(y - median).mean())
    assert taken("poisson", "naive").scale == pytest.approx(
        np.mean(y * np.log(y / y.mean())) / y.var()  # half the deviance over ||exp(f) - y||^2
    )


def test_squared_residual_descent_is_naive_descent():
    """Theorem 6's 1/t undoes what memory adds: D is t times the gradient."""
    X, y = _numbers("diabetes")
    runs = [ab.boost(X, y, descent=descent, rounds=30) for descent in ("naive", "residual")]
    np.testing.assert_allclose(runs[0].scores, runs[1].scores, rtol=1e-9)


def test_a_loss_of_unknown_infimum_gets_a_step_too():
    X, y = _numbers("diabetes")
    own = pointwise(lambda f, y: abs(f - y) - 7.0, lambda f, y: np.sign(f - y))
    run = ab.boost(X, y, own, rounds=30)
    known = ab.boost(X, y, "absolute", rounds=30)
    assert run.steps[-1].loss + 7.0 < 0.8 * known.start_loss


def test_an_explicit_step_is_the_one_taken():
    """Also the one that used to be the default: a study that names its step keeps its numbers."""
    X, y = _numbers("diabetes")
    y = (y - y.mean()) / y.std()
    for preset in (Naive, Repeated, Residual, Shrinking):
        run = ab.boost(X, y, "absolute", descent=preset(InverseSqrt(1.0)), rounds=5)
        np.testing.assert_array_equal([step.step_size for step in run.steps], 1 / np.arange(1, 6) ** 0.5)
        if preset is Shrinking:
            assert run.descent.unit == 1.0


def test_a_run_that_ends_above_its_start_warns():
    X, y = _numbers("diabetes")
    with pytest.warns(UserWarning, match=r"ended at .* above the .* it started at: take smaller steps"):
        ab.boost(X, y, descent=Residual(InverseSqrt(1.0)), rounds=200)
    with pytest.warns(UserWarning, match="take a smaller radius"):
        ab.boost(X, y / y.std(), descent=ab.descent.Hull(1000.0), rounds=2)


def test_a_run_is_resumed_by_the_descent_that_it_was_given(tmp_path):
    X, y = _numbers("diabetes")
    for descent in DESCENTS:
        whole = ab.boost(X, y, "absolute", descent=descent, rounds=6)
        half = ab.boost(X, y, "absolute", descent=descent, rounds=3)
        ab.save(half, tmp_path / "half.safetensors")
        for earlier in (half, ab.load(tmp_path / "half.safetensors")):
            again = ab.boost(X, y, "absolute", descent=descent, rounds=6, resume=earlier)
            assert again.descent == whole.descent
            np.testing.assert_array_equal(again.scores, whole.scores)
    with pytest.raises(ValueError, match=r"descent is Shrinking.* in the run to resume"):
        ab.boost(X, y, "absolute", descent="naive", rounds=6, resume=half)


def test_an_estimator_keeps_a_descent_without_a_step(tmp_path):
    X, y = _numbers("diabetes")
    model = ab.BoostingRegressor("absolute", descent="residual", max_iter=5).fit(X, y)
    other = ab.BoostingRegressor("absolute", descent=Residual(), max_iter=5).fit(X, y)
    ab.save(other, tmp_path / "model.safetensors")
    loaded = ab.load(tmp_path / "model.safetensors")
    assert loaded.descent == Residual()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_huber_by_name_takes_its_delta_from_the_data(tmp_path):
    X, y = _numbers("diabetes")
    run = ab.boost(X, y, "huber", rounds=3)
    far = np.sort(np.abs(y - np.median(y)))
    assert run.loss == Huber(far[int(0.9 * len(y))])  # row 397.8 of 442, counted from 0: no midpoint
    assert ab.boost(X, y, Huber(), rounds=1).loss == Huber(1.0)
    assert ab.boost(X, y, "huber:2", rounds=1).loss == Huber(2.0)
    twice = ab.boost(
        np.vstack([X, X[:50]]), np.append(y, y[:50]), "huber", sample_weight=np.ones(492), rounds=1
    )
    weighted = ab.boost(X, y, "huber", sample_weight=np.append(np.full(50, 2.0), np.ones(392)), rounds=1)
    assert twice.loss == weighted.loss
    ab.save(run, tmp_path / "run.safetensors")
    again = ab.boost(X, y, "huber", rounds=5, resume=ab.load(tmp_path / "run.safetensors"))
    assert again.loss == run.loss


@pytest.mark.parametrize(("y", "delta"), [([3.0] * 19 + [5.0], 0.1), ([3.0] * 20, 1.0)])
def test_huber_has_a_delta_where_most_targets_are_equal(y, delta):
    assert Huber.suited_to(np.array(y)).delta == pytest.approx(delta)


def test_huber_regression_in_thousands_learns():
    X, y = _numbers("diabetes")
    model = ab.BoostingRegressor("huber", max_iter=50).fit(X, 1000 * y)
    assert model.score(X, 1000 * y) > 0.7
    assert model.loss_.delta == pytest.approx(1000 * Huber.suited_to(y).delta)


def test_polyak_is_bounded_by_newton_along_the_gradient():
    """Cox's infimum lies log n below; a step that aims at it would diverge."""
    from anyboost.descent import polyak

    X, y = _numbers("diabetes")
    space = Space(X)
    R = ab.losses.Cox().on(y, space)
    scale, norm = polyak(R, space, np.zeros(len(y)))
    assert scale < 0.5 * (R.value(np.zeros(len(y))) - R.infimum) / norm**2
    optimal = Squared().on(np.ones(5), Space(X[:5]))
    assert polyak(optimal, Space(X[:5]), np.ones(5)) == (1.0, 0.0)
    assert Logistic().infimum == 0
