"""Combine any number of forecasts, online, with a bound: proxies x sets x schedules.

averager = MirrorAverager(loss="squared", proxy=Entropy(), domain=Simplex(radius=1.0), schedule=Anytime())
averager.partial_fit(forecasts, y).weights_
"""

from anyboost.mirror import regret
from anyboost.mirror.averager import MirrorAverager
from anyboost.mirror.domains import Octahedron, Simplex, SolidSimplex
from anyboost.mirror.proxies import Entropy, PNorm, PowerDivergence
from anyboost.mirror.schedules import (
    Adaptive,
    Anytime,
    Doubling,
    ExponentiatedGradient,
    FixedShare,
    KnownHorizon,
    SecondOrder,
)
from anyboost.mirror.stumps import StumpAverager
from anyboost.mirror.tracking import Tracker

__all__ = [
    "Adaptive",
    "Anytime",
    "Doubling",
    "Entropy",
    "ExponentiatedGradient",
    "FixedShare",
    "KnownHorizon",
    "MirrorAverager",
    "Octahedron",
    "PNorm",
    "PowerDivergence",
    "SecondOrder",
    "Simplex",
    "SolidSimplex",
    "StumpAverager",
    "Tracker",
    "regret",
]
