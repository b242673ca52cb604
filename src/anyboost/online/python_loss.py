"""What the chain asks of scores (see `scores`), of a loss that Python runs: one that kernels do not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss
from anyboost.online import one_score, several_scores
from anyboost.online.one_score import OneScore, counted
from anyboost.online.several_scores import SeveralScores

FORMS: dict[type, Any] = {OneScore: one_score, SeveralScores: several_scores}


class PythonLoss:
    """A loss, beside what kernels would be given for it."""

    def __init__(self, loss: RowwiseLoss, known: OneScore | SeveralScores) -> None:
        self.loss, self.known, self.forms = loss, known, FORMS[type(known)]
        self.label_type = np.int64 if loss.domain.classes else np.float64

    def given(self, f: Any, y: float) -> tuple[Floats, np.ndarray]:
        """Scores of one row or of several rows with the same label, as losses take them."""
        scores = np.asarray(f, dtype=np.float64)
        scores = scores.reshape(-1, scores.shape[-1]) if self.loss.vector else scores.reshape(-1)
        return scores, np.full(len(scores), y).astype(self.label_type)

    def values(self, f: Any, y: float) -> Floats:
        return self.loss.values(*self.given(f, y))

    def slopes(self, f: Any, y: float) -> Floats:
        return np.array(self.loss.subgradients(*self.given(f, y)), dtype=np.float64)


def value(scores, f, y):
    return float(scores.values(f, y)[0])


def slope(scores, f, y, times, slopes):
    slopes[:] = scores.slopes(f, y).reshape(-1) * times


def account(scores, chain, now, points, y, tamed, weight, keep, shrink_step):
    f = now.center + points
    losses, tamed_losses, pulls = scores.values(f, y), scores.values(f, tamed), scores.slopes(f[:-1], tamed)
    chain.loss[0] += weight * losses[0]
    for i in range(1, len(f)):
        inner = float(np.dot(pulls[i - 1], points[i - 1]))
        chain.shrink[i], chain.loss[i], chain.score[i] = counted(
            *(inner, losses[i], tamed_losses[i], tamed_losses[0], 1.0),
            *(chain.shrink[i], chain.loss[i], chain.score[i], weight, keep, shrink_step),
        )


def _shared(name: str) -> Any:
    """What does not depend on the loss: as for losses that kernels know."""
    return lambda scores, *given: getattr(scores.forms, name)(scores.known, *given)


see, region, zero, of_stage = _shared("see"), _shared("region"), _shared("zero"), _shared("of_stage")
at, advance, goal, arrive = _shared("at"), _shared("advance"), _shared("goal"), _shared("arrive")
