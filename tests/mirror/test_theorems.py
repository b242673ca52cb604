"""Theorem 1 and (38) in the mean over simulated streams; the estimate for forecast t has seen t - 1 rows."""

import numpy as np
import pytest

from anyboost.mirror import Anytime, Doubling, Entropy, KnownHorizon, MirrorAverager, Simplex
from benchmarks import bound
from reference import mirror as reference

STREAMS = [20, pytest.param(200, marks=pytest.mark.full)]


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("loss", bound.LOSSES)
def test_the_excess_risk_is_under_the_bound(loss, streams):
    for size in bound.SIZES:
        for time in bound.TIMES:
            mean, allowed = bound.excess(loss, size, time, streams)
            L = {"hinge": 1.0, "logistic": 1 / (1 + np.exp(-1)), "exponential": np.e, "squared": 2.0}[loss]
            assert allowed == pytest.approx(2 * L * np.sqrt(np.log(size) * (time + 1)) / time)
            assert -1e-9 <= mean <= allowed


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("loss", bound.LOSSES)
def test_a_known_horizon_has_the_better_constant(loss, streams):
    for size in bound.SIZES:
        for time in bound.TIMES:
            mean, allowed = bound.excess(loss, size, time, streams, known=True)
            _, anytime = bound.excess(loss, size, time, 1)
            assert allowed < anytime / np.sqrt(2)  # (38) against (5): sqrt(2) instead of 2, and no t + 1
            assert -1e-9 <= mean <= allowed


def test_the_excess_falls_with_the_rows():
    early, _ = bound.excess("squared", 100, 10, 20)
    late, _ = bound.excess("squared", 100, 1000, 20)
    assert late < 0.5 * early


def test_bounds_are_proposition_3():
    """The bound of each schedule is (beta_t height + L^2/(2 alpha) sum 1/beta_{i-1})/t for its temperatures."""
    shape = Entropy().shape(30, Simplex(2.0))
    for rule, heat in (
        (Doubling(), lambda i: np.sqrt(2.0 ** np.ceil(np.log2(i + 1)))),
        (KnownHorizon(50), lambda i: np.sqrt(25.0)),
    ):
        for t in (1, 7, 50, 64):
            betas = 3.0 * shape.factor * np.array([heat(i) for i in range(t + 1)])
            exact = (betas[t] * shape.height + 9.0 / (2 * shape.alpha) * np.sum(1 / betas[:t])) / t
            assert rule.bound(t, 3.0, shape) == pytest.approx(exact)
    assert Anytime().bound(7, 3.0, shape) == pytest.approx(2 * 3 * 2 * np.sqrt(np.log(30) * 8) / 7)
    averager = MirrorAverager(schedule="second_order").start(3)
    assert averager.bound() == np.inf


def test_a_known_horizon_as_printed_is_the_same_algorithm():
    """(37) has steps 1/sqrt(t) and no root in the temperature; scaling both leaves every theta where it is."""
    random = np.random.default_rng(0)
    H, y = random.normal(size=(40, 6)), random.normal(size=40)
    averager = MirrorAverager("absolute", schedule=KnownHorizon(40)).partial_fit(H, y)
    beta = 1 / np.sqrt(2 * np.log(6))
    zeta, thetas = np.zeros(6), [np.full(6, 1 / 6)]
    for h, target in zip(H, y, strict=True):
        u = np.sign(thetas[-1] @ h - target) * h
        zeta = zeta + u * min(1.0, 1 / np.abs(u).max()) / np.sqrt(40)
        thetas.append(reference.prox("Entropy", "Simplex", 1.0, zeta, beta))
    np.testing.assert_allclose(averager.weights_, np.mean(thetas, axis=0), rtol=0, atol=1e-12)
