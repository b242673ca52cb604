"""Learners by name, and other libraries' as learners: any River regressor, any scikit-learn one with `partial_fit`.

These answer least squares, which is what a stage is asked for: its target is where the loss's quadratic model has its
minimum. They are Python, so a row costs as much as its stages cost there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anyboost import checks
from anyboost.checks import Floats
from anyboost.online.base import CompiledLearner, OnlineLearner
from anyboost.online.linear import LinearLearner
from anyboost.online.nets import NetLearner
from anyboost.online.stumps import FeatureStumpLearner
from anyboost.online.trees import TreeLearner

NAMES: dict[str, Callable[..., Any]] = {
    "linear": LinearLearner,
    "stumps": FeatureStumpLearner,
    "net": NetLearner,
    "tree": TreeLearner,
}


def get(learner: Any) -> Any:
    """A learner from its name, from a model of River's or scikit-learn's, or as it is."""
    if learner is None:
        learner = "linear"
    if isinstance(learner, str):
        return checks.named(learner, "learner", NAMES)
    if isinstance(learner, type):
        raise ValueError(
            f"learner must be a learner, got the class {learner.__name__}: write {learner.__name__}()"
        )
    if isinstance(learner, CompiledLearner | OnlineLearner):
        return learner
    if hasattr(learner, "learn_one") and hasattr(learner, "predict_one"):
        return RiverLearner(learner)
    if hasattr(learner, "partial_fit") and hasattr(learner, "predict"):
        return ScikitLearner(learner)
    raise ValueError(
        f"learner must be one of {', '.join(NAMES)}, a learner of anyboost.online, a River regressor or a scikit-learn "
        f"regressor with partial_fit, got {type(learner).__name__}"
    )


@dataclass(frozen=True, repr=False)
class RiverLearner:
    """Stages that are clones of a River regressor; its features are named by column number."""

    model: Any

    def __post_init__(self) -> None:
        from river.base import Classifier

        if isinstance(self.model, Classifier):  # also at the end of a pipeline
            raise ValueError(
                f"learner must be a regressor, whatever is boosted, got the classifier {type(self.model).__name__}"
            )

    def __repr__(self) -> str:
        return f"RiverLearner({type(self.model).__name__})"

    def start(self, n_features: int, outputs: int) -> RiverStage:
        """A stage of one fresh model an output."""
        return RiverStage([self.model.clone() for _ in range(outputs)])


class RiverStage:
    """One River model an output."""

    def __init__(self, models: list[Any]) -> None:
        self.models = models
        self.takes_weight = "w" in inspect.signature(models[0].learn_one).parameters

    def predict(self, x: Floats) -> Floats:
        row = dict(enumerate(x.tolist()))
        return np.array([float(model.predict_one(row)) for model in self.models])

    def learn(self, x: Floats, target: Any, weight: float) -> None:
        row = dict(enumerate(x.tolist()))
        for model, aim in zip(self.models, np.atleast_1d(target).tolist(), strict=True):
            if self.takes_weight:
                model.learn_one(row, aim, w=weight)
            else:
                _repeat(weight, aim, partial(model.learn_one, row), partial(model.predict_one, row))


@dataclass(frozen=True, repr=False)
class ScikitLearner:
    """Stages that are clones of a scikit-learn regressor with `partial_fit`."""

    model: Any

    def __post_init__(self) -> None:
        from sklearn.base import is_classifier

        if is_classifier(self.model):
            raise ValueError(
                f"learner must be a regressor, whatever is boosted, got the classifier {type(self.model).__name__}"
            )

    def __repr__(self) -> str:
        return f"ScikitLearner({type(self.model).__name__})"

    def start(self, n_features: int, outputs: int) -> ScikitStage:
        """A stage of one fresh model an output."""
        from sklearn.base import clone

        return ScikitStage([clone(self.model) for _ in range(outputs)])


class ScikitStage:
    """One scikit-learn model an output; 0 until it has seen a row."""

    def __init__(self, models: list[Any]) -> None:
        self.models = models
        self.begun = False
        self.width = 0
        self.takes_weight = "sample_weight" in inspect.signature(models[0].partial_fit).parameters

    def predict(self, x: Floats) -> Floats:
        if not self.begun:
            return np.zeros(len(self.models))
        # A model that has fallen out of range answers 0, and is not asked to learn on from there.
        answers = np.array([float(model.predict(self._row(x))[0]) for model in self.models])
        return np.where(np.isfinite(answers), answers, 0.0)

    def learn(self, x: Floats, target: Any, weight: float) -> None:
        row = self._row(x)
        for model, aim in zip(self.models, np.atleast_1d(target).tolist(), strict=True):
            if self.takes_weight:
                model.partial_fit(row, [aim], sample_weight=[weight])
            else:
                _repeat(weight, aim, lambda aim: model.partial_fit(row, [aim]), lambda: model.predict(row)[0])  # noqa: B023
        self.begun = True

    def _row(self, x: Floats) -> Floats:
        if not self.begun:
            self.width = len(x)
        # scikit-learn's models cannot take features that come later: they do not see them.
        return x[None, : self.width]


def _repeat(weight: float, aim: float, learn: Callable[[float], Any], answer: Callable[[], float]) -> None:
    """Weight h for a model without weights: h times; a fraction of a time goes that fraction of the way."""
    for _ in range(int(weight)):
        learn(aim)
    fraction = weight - int(weight)
    if fraction:
        now = float(answer())
        learn(now + fraction * (aim - now))
