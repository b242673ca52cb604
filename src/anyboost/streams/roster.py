"""The experts of a team, in their order: chosen on streams set aside for it (docs/streams.md has the table)."""

from __future__ import annotations

from typing import Any

from anyboost.losses import RowwiseLoss
from anyboost.online.algorithms import SpanBooster
from anyboost.online.linear import LinearLearner
from anyboost.online.stumps import FeatureStumpLearner
from anyboost.online.trees import TreeLearner
from anyboost.streams.experts import ClassChains, NumberChain, Refitted
from anyboost.streams.schedules import RefitSchedule

FIRST = 20  # rows of the first batch fit
CHAINS: dict[str, tuple[Any, int, bool]] = {  # the learner, how many, and whether rows are standardized
    "linear": (LinearLearner(), 20, True),
    "linear, adaptive": (LinearLearner(1.0, "adaptive"), 5, True),
    "linear, slow": (LinearLearner(0.02), 5, False),
    "linear, fast": (LinearLearner(1.0), 5, False),
    "stumps": (FeatureStumpLearner(), 20, False),
    "stumps, plain": (FeatureStumpLearner(centered=False), 20, False),
    "tree": (TreeLearner(), 20, False),
}
ROUNDS = {"max_iter": 40, "learning_rate": 0.15}
FEW_ROUNDS = {"max_iter": 10, "learning_rate": 0.4}
WINDOWS: dict[int, tuple[int, dict[str, Any]]] = {  # rows, how often they are fitted anew, and how
    500: (200, FEW_ROUNDS),
    5000: (2500, ROUNDS),
}
BATCH = {"early_stopping": False, "n_jobs": 1}


def longest_window() -> int:
    """How many of the last rows batch experts need."""
    return max(WINDOWS)


def roster(
    loss: RowwiseLoss, classifies: bool, most_rows: int, seed: int, names: tuple[str, ...] | None = None
) -> list[Any]:
    """New experts; `names` leaves only some of them in."""
    kind = ClassChains if classifies else NumberChain
    found: list[Any] = [
        kind(name, SpanBooster(learner, count, loss, random_state=seed), standardized)
        for name, (learner, count, standardized) in CHAINS.items()
    ]
    batch_loss = None if classifies else loss
    options = BATCH | {"random_state": seed}
    found.append(Refitted("all rows", RefitSchedule(FIRST), options | ROUNDS, batch_loss))
    for window, (every, rounds) in WINDOWS.items():
        if window <= most_rows // 2:
            schedule = RefitSchedule(window, window, every)
            found.append(Refitted(f"last {window}", schedule, options | rounds, batch_loss))
    return [expert for expert in found if names is None or expert.name in names]
