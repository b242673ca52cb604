"""The average of experts: as its slow form says, within its bounds on hostile streams, and fair to who joins."""

import numpy as np
import pytest

from anyboost import losses
from anyboost.streams import mixture
from anyboost.streams.mixture import FLOOR, Mixture
from tests.reference import mixing as reference


def full(names, loss=None):
    found = Mixture(list(names), loss)
    for place in range(len(names)):
        found.join(place)
    return found


def probabilities(n, experts, classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(classes), size=(n, experts))


def ones(y):
    return np.ones(len(y))


@pytest.mark.parametrize(("experts", "classes"), [(1, 2), (4, 2), (6, 5)])
def test_classes_are_mixed_as_the_equations_say(experts, classes):
    p = probabilities(300, experts, classes)
    y = np.random.default_rng(1).integers(0, classes, 300)
    found = full("abcdef"[:experts]).learn(p, y, ones(y))
    np.testing.assert_allclose(found, reference.mix_classes(p, y, mixture.class_parts()), rtol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_numbers_are_mixed_as_the_equations_say(scale):
    random = np.random.default_rng(0)
    y = scale * random.uniform(-1, 1, 400)
    forecasts = y[:, None] * [1.0, 0.5, 0.0, -1.0] + scale * random.normal(size=(400, 4))
    found = full("abcd", losses.Squared()).learn(forecasts, y, ones(y))
    expected = reference.mix_numbers(forecasts, y, mixture.number_parts(True))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 * scale)


def hostile(kind, n=800, experts=5, seed=0):
    """Each expert's chance of the label, in a stream whose best expert changes or that punishes the leader."""
    random = np.random.default_rng(seed)
    if kind == "switches":
        best = random.integers(0, experts, 4)[np.arange(n) * 4 // n]
    elif kind == "alternates":
        best = np.arange(n) % experts
    else:
        best = random.integers(0, experts, n)
    return np.where(np.arange(experts) == best[:, None], 0.99, 0.02)


@pytest.mark.parametrize("kind", ["switches", "alternates", "random"])
@pytest.mark.parametrize("switches", [0, 1, 3, 40])
def test_log_loss_stays_within_the_bound_against_switching_experts(kind, switches):
    chance = hostile(kind)
    p = np.stack([1 - chance, chance], axis=2)
    y = np.ones(len(p), dtype=np.int64)
    team = full("abcde")
    answers = team.learn(p, y, ones(y))
    loss = -np.log(answers[:, 1]).sum()
    heard = -np.log((1 - 2 * FLOOR) * chance + FLOOR)
    assert loss - reference.best_sequence(heard, switches) <= team.bound(switches) + 1e-9


@pytest.mark.parametrize(
    "loss", [losses.Squared(), losses.Absolute(), losses.Quantile(0.9), losses.Huber(1.0)]
)
@pytest.mark.parametrize("kind", ["switches", "alternates", "random", "growing"])
@pytest.mark.parametrize("switches", [0, 3])
def test_losses_of_numbers_stay_within_the_bound(loss, kind, switches):
    random = np.random.default_rng(3)
    y = random.uniform(-1, 1, 800)
    if kind == "growing":
        y *= np.arange(800) + 1.0
    good = hostile(kind if kind in ("switches", "alternates") else "random") > 0.5
    forecasts = np.where(good, y[:, None], -np.sign(y)[:, None] * np.abs(y).max())
    team = full("abcde", loss)
    answers = team.learn(forecasts, y, ones(y))
    total = loss.values(answers, y).sum()
    assert total == pytest.approx(team.totals.loss)
    # The comparators are the experts as they are heard: within the range of the labels before the row.
    low, high = np.minimum.accumulate(y), np.maximum.accumulate(y)
    heard = np.clip(forecasts[1:], low[:-1, None], high[:-1, None])
    each = loss.values(heard.ravel(), np.repeat(y[1:], 5)).reshape(heard.shape)
    after_first = total - loss.values(answers[:1], y[:1]).sum()
    assert after_first - reference.best_sequence(each, switches) <= team.bound(switches) + 1e-6


@pytest.mark.parametrize("loss", [losses.Poisson(), losses.Tweedie(1.5), losses.Gamma()])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0, 100.0])
def test_counts_and_amounts_are_mixed_alike_in_any_unit(loss, scale):
    # These losses are below 0 where labels are large; in thousands or in ones, the same experts are believed.
    random = np.random.default_rng(0)
    means = np.exp(random.uniform(0, 2, 800))
    y = random.gamma(2.0, means / 2) if loss.name == "gamma" else random.poisson(means).astype(float)
    forecasts = np.log(means)[:, None] * [1.0, 0.8, 0.0] + 0.3 * random.normal(size=(800, 3))
    team, scaled = full("abc", loss), full("abc", loss)
    answers = team.learn(forecasts, y, ones(y))
    again = scaled.learn(forecasts + np.log(scale), scale * y, ones(y))
    np.testing.assert_allclose(again[1:], answers[1:] + np.log(scale), atol=1e-6)
    found = scaled.regret()
    spread = max(found.experts.values()) - min(found.experts.values())
    assert found.best_expert_regret <= min(found.bound, 0.02 * spread)


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Absolute()])
def test_regret_against_each_expert_is_within_the_bound_also_with_wild_labels(loss):
    random = np.random.default_rng(3)
    y = random.normal(size=800)
    y[[100, 101, 500]] = [1e10, -1e6, 50.0]
    forecasts = y[:, None] * [0.9, 0.0, -1.0] + 0.1 * random.normal(size=(800, 3))
    team = full("abc", loss)
    answers = team.learn(forecasts, y, ones(y))
    found = team.regret()
    assert np.isfinite(answers).all()
    assert found.best_expert_regret <= found.bound
    calm = np.abs(answers - y)[600:]
    assert calm.mean() < 0.3  # the best expert is believed, whatever has been


def test_the_regret_against_fixed_weights_is_at_most_the_bound_shown():
    from scipy.optimize import minimize

    random = np.random.default_rng(0)
    y = random.normal(size=500)
    forecasts = y[:, None] + random.normal(size=(500, 4)) * [0.3, 0.5, 1.0, 2.0]
    team = full("abcd", losses.Squared())
    answers = team.learn(forecasts, y, ones(y))
    low, high = np.minimum.accumulate(y)[:-1, None], np.maximum.accumulate(y)[:-1, None]
    heard, rest = np.clip(forecasts[1:], low, high), y[1:]

    def loss_of(weights):
        return ((heard @ weights - rest) ** 2).sum() / 2

    best = minimize(
        loss_of,
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
    )
    assert ((answers[1:] - rest) ** 2).sum() / 2 - best.fun <= team.regret().fixed_weights_bound


def test_regret_adds_up_what_experts_and_answers_lost():
    p = probabilities(200, 3, 2)
    y = np.random.default_rng(1).integers(0, 2, 200)
    team = full("abc")
    answers = team.learn(p, y, ones(y))
    loss = -np.log(answers[np.arange(200), y]).sum()
    own = -np.log((1 - 2 * FLOOR) * p[np.arange(200), :, y] + FLOOR).sum(axis=0)
    found = team.regret()
    assert found.loss == pytest.approx(loss)
    for name, total in zip("abc", own, strict=True):
        assert found.experts[name] == pytest.approx(total - loss)
    assert found.best_expert == "abc"[np.argmin(own)]
    assert found.best_expert_regret == pytest.approx(loss - own.min())


def test_regret_against_switching_experts_is_that_of_the_best_sequence():
    p = probabilities(60, 3, 2)
    y = np.random.default_rng(1).integers(0, 2, 60)
    team = full("abc")
    answers = team.learn(p, y, ones(y))
    loss = -np.log(answers[np.arange(60), y])
    own = -np.log((1 - 2 * FLOOR) * p[np.arange(60), :, y] + FLOOR)
    best = np.full((11, 3), np.inf)  # by switches and the expert at the end
    best[0] = own[0]
    for row in own[1:]:
        before = best.copy()
        for switches in range(11):
            changed = before[switches - 1].min() if switches else np.inf
            best[switches] = np.minimum(before[switches], changed) + row
    found = team.regret()
    for switches in range(1, 11):
        assert found.switching[switches] == pytest.approx(loss.sum() - best[: switches + 1].min())
        assert found.switching[switches] <= team.bound(switches)
    assert found.switching[1] >= found.best_expert_regret


@pytest.mark.parametrize("loss", [None, losses.Squared(), losses.Absolute()])
def test_a_batch_is_the_loop(loss):
    random = np.random.default_rng(0)
    if loss is None:
        forecasts, y = probabilities(200, 3, 3), random.integers(0, 3, 200)
    else:
        forecasts, y = random.normal(size=(200, 3)), random.normal(size=200)
    forecasts[50:80, 1] = np.nan
    batch, loop = full("abc", loss), full("abc", loss)
    answers = batch.learn(forecasts, y, ones(y))
    one_by_one = [loop.learn(forecasts[i : i + 1], y[i : i + 1], np.ones(1))[0] for i in range(200)]
    assert (answers == np.array(one_by_one)).all()
    for a, b in zip(batch.state, loop.state, strict=True):
        np.testing.assert_array_equal(a, b)
    assert batch.moves == loop.moves


def test_who_joins_late_starts_with_its_share_and_is_judged_from_then_on():
    chance = np.tile([0.6, 0.4, 0.99], (300, 1))
    p = np.stack([1 - chance, chance], axis=2)
    p[:100, 2] = np.nan
    y = np.ones(300, dtype=np.int64)
    team = Mixture(["a", "b", "late"])
    team.join(0), team.join(1)
    team.learn(p[:100], y[:100], np.ones(100))
    before = team.weights
    team.join(2)
    np.testing.assert_allclose(team.weights, [before[0] * 2 / 3, before[1] * 2 / 3, 1 / 3])
    answers = team.learn(p[100:], y[100:], np.ones(200))
    found = team.regret()
    own = -np.log((1 - 2 * FLOOR) * 0.99 + FLOOR) * 200
    assert found.experts["late"] == pytest.approx(own + np.log(answers[:, 1]).sum())
    assert -np.log(answers[:, 1]).sum() - own <= team.bound()
    assert team.moves[-1].leader == "late"
    assert team.moves[-1].row > 100


def test_who_leaves_has_no_say_and_may_come_back():
    p = probabilities(100, 3, 2)
    y = np.zeros(100, dtype=np.int64)
    team, others = full("abc"), full("ab")
    team.leave(2)
    np.testing.assert_allclose(team.weights, [0.5, 0.5, 0.0])
    np.testing.assert_allclose(team.learn(p, y, ones(y)), others.learn(p[:, :2], y, ones(y)), rtol=1e-12)
    team.join(2)
    assert team.weights[2] == pytest.approx(1 / 3)
    team.leave(0), team.leave(1), team.leave(2)
    np.testing.assert_allclose(team.answer(p), 0.5)


@pytest.mark.parametrize("loss", [None, losses.Squared(), losses.Absolute()])
@pytest.mark.parametrize("stint", [1, 2, 5])
@pytest.mark.parametrize("alone", [True, False])
def test_who_comes_and_goes_is_within_the_bound(loss, stint, alone):
    """The first expert is good and leaves as soon as it has weight; while it is away another gets all of it.

    With one average alone, it costs nearly all that the bound allows."""
    experts, rounds = 10, 200
    team = Mixture(list("abcdefghij"), loss)
    if alone:
        cautious = np.flatnonzero(team.parts.boldness == 0)[0]
        team.parts.priors[:] = np.where(np.arange(len(team.parts.priors)) == cautious, 1.0, 1e-300)
        team.parts.priors[-1] = 0.0
    for expert in range(experts):
        team.join(expert)
    own = beside = 0.0

    def learn(right, n, asleep):
        chance = np.where(np.arange(experts) == right, 0.95, 0.02) * np.ones((n, 1))
        y = np.ones(n, dtype=np.int64) if loss is None else np.where(np.arange(n) % 2, 1.0, -1.0)
        if loss is None:
            forecasts = np.stack([1 - chance, chance], axis=2)
        else:
            forecasts = np.where(chance > 0.5, 0.9, -1.0) * y[:, None]
        if asleep:
            forecasts[:, 0] = np.nan
        answers = team.learn(forecasts, y, ones(y))
        if loss is None:
            heard = (1 - 2 * FLOOR) * 0.95 + FLOOR
            return -np.log(heard) * n, -np.log(answers[:, 1]).sum()
        return loss.values(0.9 * y, y).sum(), loss.values(answers, y).sum()

    learn(1, 2, False)  # the range of the labels
    start = team.state.own[0] - team.state.beside[0]
    for number in range(rounds):
        team.join(0)
        found = learn(0, stint, False)
        own, beside = own + found[0], beside + found[1]
        team.leave(0)
        learn(1 + number % 9, 3 * stint, True)
    team.join(0)
    regret = team.regret()
    assert -regret.experts["a"] == pytest.approx(beside - own - start)
    assert -regret.experts["a"] <= team.bound(expert=0)


def test_who_comes_late_is_within_the_bound_whatever_averages_were_right_before():
    """While leaders change all the time the largest share is right; the smallest, which is right then, is not heard."""
    team, y = Mixture(list("abc")), np.ones(3000, dtype=np.int64)
    team.parts.priors[:] = [*[0.25] * 4, 0.0]  # no stack, which is better than its experts here
    team.join(0), team.join(1)
    chance = np.where(np.arange(3) == np.arange(3000)[:, None] // 5 % 2, 0.99, 0.01)
    chance[:, 2] = np.nan
    team.learn(np.stack([1 - chance, chance], axis=2), y, ones(y))
    team.join(2)
    chance = np.tile([0.5, 0.5, 0.9], (3000, 1))
    before = team.totals.loss
    team.learn(np.stack([1 - chance, chance], axis=2), y, ones(y))
    regret = team.totals.loss - before + 3000 * np.log((1 - 2 * FLOOR) * 0.9 + FLOOR)
    assert regret == pytest.approx(-team.regret().experts["c"])
    assert regret <= team.bound(expert=2)


def test_who_leaves_without_having_been_judged_comes_back_for_nothing():
    p, y = probabilities(30, 3, 2), np.zeros(30, dtype=np.int64)
    team, never = full("abc"), Mixture(list("abc"))
    team.leave(2)
    for each in (0, 1):
        never.join(each)
    for each in (team, never):
        each.learn(np.where(np.arange(3)[:, None] == 2, np.nan, p), y, ones(y))
        each.join(2)
    assert team.bound(expert=2) == pytest.approx(never.bound(expert=2))
    assert team.bound(expert=0) == pytest.approx(never.bound(expert=0) + np.log(3 / 2))


def test_sleepers_keep_their_weight():
    p = probabilities(50, 3, 2)
    p[:, 1] = np.nan
    team, awake = full("abc"), full("ac")
    y = np.zeros(50, dtype=np.int64)
    before = team.weights[1]
    team.learn(p, y, ones(y))
    # Only the share, which goes to all alike, moves it.
    assert team.weights[1] == pytest.approx(before)
    assert awake.learn(p[:, [0, 2]], y, ones(y)).shape == (50, 2)


def test_a_changed_world_moves_the_lead():
    chance = np.where(np.arange(1000)[:, None] < 500, [0.9, 0.2], [0.2, 0.9])
    p = np.stack([1 - chance, chance], axis=2)
    team = full(["old", "new"])
    answers = team.learn(p, np.ones(1000, dtype=np.int64), np.ones(1000))
    assert (answers[520:, 1] > 0.8).all()  # some rows after the change, the new one is believed
    assert [move.leader for move in team.moves] == ["old", "new"]
    assert 500 < team.moves[-1].row < 600
    assert team.moves[-1].before == "old"


def test_weights_of_rows_beyond_one_have_no_bound():
    team = full("ab")
    team.learn(probabilities(2, 2, 2), np.zeros(2, dtype=np.int64), np.array([1.0, 2.5]))
    assert team.bound() is None


@pytest.mark.parametrize("kind", [None, losses.Poisson()])
def test_a_part_without_a_say_never_speaks_however_far_ahead_it_is(kind):
    """Where scores have a link there is no stack; its past once had the answers divide nothing by nothing."""
    mixed, random = full("ab", kind), np.random.default_rng(0)
    priors = mixed.parts.priors
    priors[:] = np.append(priors[:-1] / priors[:-1].sum(), 0.0)
    said = probabilities(200, 2, 2) if kind is None else random.normal(size=(200, 2))
    y = random.integers(0, 2, 200)
    mixed.learn(said[:100], y[:100], ones(y[:100]))
    mixed.state.past[-1] = -1e9
    assert np.isfinite(mixed.learn(said[100:], y[100:], ones(y[100:]))).all()
    assert np.isfinite(mixed.weights).all()
