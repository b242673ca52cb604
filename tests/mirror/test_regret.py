"""Regret is exact: dynamic programming against trying all, convex programs against a certificate and each other."""

import numpy as np
import pytest

from anyboost import losses
from anyboost.mirror import MirrorAverager, Octahedron, Simplex, SolidSimplex
from anyboost.mirror.regret import best_combination, best_switching, expert_losses, regret
from reference import mirror as reference


@pytest.mark.parametrize("switches", [0, 1, 2, 3, 6])
def test_best_with_switches_is_found_by_trying_all(switches):
    random = np.random.default_rng(switches)
    for _ in range(5):
        table = random.random((7, 3))
        total, path = best_switching(table, switches)
        assert total == pytest.approx(reference.best_switching(table, switches), abs=1e-12)
        assert table[np.arange(7), path].sum() == pytest.approx(total, abs=1e-12)
        assert np.count_nonzero(np.diff(path)) <= switches


LOSSES = [
    losses.Squared(),
    losses.Absolute(),
    losses.Quantile(0.8),
    losses.Huber(0.5),
    losses.Logistic(),
    losses.Hinge(),
    losses.Exponential(),
    losses.Absolute() + losses.Quantile(0.3),
    0.2 * losses.Absolute() + losses.Squared(),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("domain", [Simplex(1.0), SolidSimplex(0.7), Octahedron(1.5)], ids=repr)
def test_the_best_combination_is_certified_and_nothing_beats_it(loss, domain):
    random = np.random.default_rng(1)
    H = random.normal(size=(60, 4))
    y = H @ [0.5, -0.4, 0.3, 0.0] + 0.3 * random.normal(size=60)
    y = np.where(y > 0, 1.0, -1.0) if "-1" in loss.domain.words else y
    best = best_combination(H, y, loss, domain)
    assert best.loss == pytest.approx(loss.value(H @ best.weights, y), rel=1e-12)
    assert best.gap <= 1e-6 * best.loss
    V = reference.vertices(type(domain).__name__, 4)
    for shares in random.dirichlet(np.full(len(V), 0.4), size=400):
        theta = domain.radius * V.T @ shares
        assert loss.value(H @ theta, y) >= best.loss - best.gap - 1e-12
    assert np.abs(best.weights).sum() <= domain.radius + 1e-9


def test_regret_adds_up():
    random = np.random.default_rng(2)
    H = random.normal(size=(50, 3))
    y = np.concatenate([H[:25, 0], H[25:, 2]])
    weights = random.integers(1, 4, 50).astype(float)
    predictions = MirrorAverager("absolute").predict_then_fit(H, y, weights)
    found = regret(predictions, H, y, "absolute", switches=(0, 1), sample_weight=weights)
    table = np.abs(H - y[:, None])
    total = weights @ np.abs(predictions - y)
    assert found.loss == pytest.approx(total)
    assert found.single == pytest.approx(total - (weights @ table).min())
    assert found.best_expert == (weights @ table).argmin()
    assert found.switching[0] == pytest.approx(found.single)
    assert found.switching[1] == pytest.approx(total)  # one switch is enough to lose nothing
    assert found.combination >= found.single - 1e-9
    np.testing.assert_allclose(expert_losses(H, y, losses.Absolute()), table)


def test_sleepers_are_compared_where_they_were_awake():
    H = np.array([[1.0, 0.0], [np.nan, 0.0], [1.0, 0.0]])
    y = np.array([1.0, 1.0, 1.0])
    behind = expert_losses(H, y, losses.Absolute())
    np.testing.assert_array_equal(behind, [[0, 1], [np.nan, 1], [0, 1]])
    found = regret([0.5, 0.5, 0.5], H, y, "absolute", switches=[1])
    assert (found.single, found.best_expert) == (1.0, 0)
    assert np.isnan([found.combination, found.switching[1]]).all()
    with pytest.raises(ValueError, match="leave out experts that sleep"):
        best_combination(H, y)


def test_several_outputs():
    random = np.random.default_rng(0)
    H = random.normal(size=(40, 3, 4))
    y = H[:, 1].argmax(axis=1)
    best = best_combination(3.0 * H, y, "softmax")
    assert best.gap <= 1e-6 * best.loss
    assert best.weights[1] > 0.9
