"""What a loss is never under: floors rest on it, so it must be below every value, and near the best ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyboost.losses import Cox, CVaR, Multioutput, RankHinge, RankLogistic, WorstGroup, pointwise
from anyboost.space import Space
from losses.registry import CASES, CLASSES

KNOWN = [case for case in CASES if "log_cosh" not in str(case)]
ROWS = 8


def drawn(case, data):
    y = np.array(data.draw(st.lists(case.targets, min_size=ROWS, max_size=ROWS)))
    shape = (ROWS, CLASSES) if case.vector else (ROWS,)
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    return y, random.uniform(-case.reach, case.reach, shape), random.uniform(0.1, 3.0, ROWS)


@pytest.mark.parametrize("case", KNOWN, ids=str)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_no_score_is_under_it(case, data):
    y, scores, weights = drawn(case, data)
    infima = case.loss.infima(y)
    assert np.isfinite(infima).all()
    values = case.loss.values(scores, y)
    assert (values >= infima - 1e-9 * (1 + np.abs(values))).all()
    space = Space(np.zeros((ROWS, 1)), weights)
    for loss in (case.loss, CVaR(case.loss, 0.6)):
        R = loss.on(y, space, outputs=CLASSES if case.vector else None)
        assert R.value(scores) >= R.infimum - 1e-9 * (1 + abs(R.value(scores)))
    worst = WorstGroup(case.loss).on(y, space, np.arange(ROWS) % 3, CLASSES if case.vector else None)
    assert worst.value(scores) >= worst.infimum - 1e-9 * (1 + abs(worst.value(scores)))


@pytest.mark.parametrize(
    "case", [case for case in KNOWN if not case.vector and "+" not in str(case)], ids=str
)
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_a_row_alone_comes_near_it(case, data):
    """Sums aside, whose terms need not agree on the best score."""
    target = np.array([data.draw(case.targets)])
    grid = np.linspace(-200, 40, 480_001)
    with np.errstate(over="ignore"):
        least = case.loss.values(grid, np.full(len(grid), target[0])).min()
    assert least == pytest.approx(case.loss.infima(target)[0], abs=1e-3)


def test_losses_of_pairs_columns_and_hazards():
    random = np.random.default_rng(0)
    space = Space(np.zeros((20, 1)), random.integers(1, 4, 20).astype(float))
    y = random.integers(0, 3, 20).astype(float)
    for loss in (RankHinge(), RankLogistic()):
        assert loss.on(y, space, np.arange(20) // 10).infimum == 0
    assert Multioutput("poisson").infima(np.array([[1.0, 0.0], [2.0, 3.0]])) == pytest.approx(
        [1.0, 2 - 2 * np.log(2) + 3 - 3 * np.log(3)]
    )
    times = np.array([3.0, 1.0, 1.0, -2.0, 5.0, -1.0, 4.0])
    R = Cox().on(times, Space(np.zeros((7, 1)), np.array([1.0, 2, 3, 1, 1, 2, 1])))
    scores = np.where(times > 0, -300.0 * times, -3000.0)  # each event far above all that comes later
    assert R.value(scores) == pytest.approx(R.infimum, abs=1e-9)
    assert all(R.value(random.normal(size=7) * 9) >= R.infimum for _ in range(50))


def test_a_loss_of_one_s_own_says_what_it_knows():
    own = pointwise(lambda f, y: (f - y) ** 2, lambda f, y: 2 * (f - y))
    space = Space(np.zeros((2, 1)))
    assert own.on([1.0, 2.0], space).infimum == -np.inf
    told = pointwise(lambda f, y: (f - y) ** 2, lambda f, y: 2 * (f - y), infimum=0.0)
    assert told.on([1.0, 2.0], space).infimum == 0.0
    with pytest.raises(ValueError, match="infimum must be a number"):
        pointwise(lambda f, y: 0.0, lambda f, y: 0.0, infimum=np.nan)
