"""The two algorithms of Beygelzimer et al. as boosters: against the span of the learners, and against their hull."""

from __future__ import annotations

from typing import Any

import numpy as np

from anyboost import checks, keywords
from anyboost.checks import Floats
from anyboost.online.booster import OnlineBooster


class SpanBooster(OnlineBooster):
    """Online boosting against the span of the learners (Algorithm 1): step eta, learnt shrinkage, ball of radius B.

    Parameters
    ----------
    learner : learner of `anyboost.online`, any `OnlineLearner`, or None, default None
        What the chain is made of; None: `LinearLearner()`.
    n_learners : int, default 20
        N, the length of the chain.
    loss : str or Loss, default "squared"
        A row-wise loss or its name. The bound of the theorem needs a smooth one.
    step : float or None, default None
        eta, between 1/N and 1; None: 0.2, or 1/N where that is more.
    mode : {"greedy", "offset", "linear"}, default "greedy"
        "greedy": each learner fits the loss on top of what the learners before it predict after they have learned the
        row. "offset": on top of what they predicted before it, with a step of its own (supplement C.1). "linear": it
        gets the slope there as a linear loss, as in the theorems; it needs learners that have regret for those.
    output_bound : float or None, default None
        D, the bound on learners' answers; None follows the labels seen so far.
    label_bound : float or None, default None
        Y, the bound on labels; None follows those seen so far. A label beyond it ends the bound on the regret.
    scale : float, default 1.0
        lambda, by which learners' predictions are multiplied, and so the class they compete with (supplement C.2).
    offset_step : float or None, default None
        alpha of mode "offset": learner i fits the loss at y_{i-1} + alpha h. None: the smallest step of the chain.
    start : float or None, default None
        The score y_0 before the first learner; None follows the labels, for squared loss their mean.
    prefix : {"best", "all"}, default "best"
        "best" answers with the prefix of the chain whose loss so far is least, "all" with the whole chain.
    forget : float, default 0.0
        By how much statistics are discounted a row; 0.001 looks about 1000 rows back.
    outputs : int or None, default None
        The number of scores a row, for losses of classes.
    random_state : int, default 0
        Seed of learners that begin at random.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] - 2 * X[:, 1]
    >>> booster = ab.online.SpanBooster().partial_fit(X, y)
    >>> bool(np.abs(booster.predict(X) - y).mean() < 0.5)
    True
    """

    def __init__(
        self,
        learner: Any = None,
        n_learners: int = 20,
        loss: Any = "squared",
        step: float | None = None,
        mode: str = "greedy",
        output_bound: float | None = None,
        label_bound: float | None = None,
        *,
        scale: float = 1.0,
        offset_step: float | None = None,
        start: float | None = None,
        prefix: str = "best",
        forget: float = 0.0,
        outputs: int | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(**keywords.shared(OnlineBooster, locals()))
        self.step = max(0.2, 1 / n_learners) if step is None else checks.fraction(step, "step", zero=False)
        if self.step * self.n_learners < 1 - 1e-12:
            raise ValueError(
                f"step must be at least 1/n_learners = {1 / self.n_learners:g}, got {step}: "
                "a chain of smaller steps cannot reach the answer of one learner"
            )

    def steps(self) -> Floats:
        return np.full(self.n_learners, self.step)


class HullBooster(OnlineBooster):
    """Online boosting against the convex hull of the learners (Algorithm 2): eta_i = 2 / (i + 1).

    Parameters
    ----------
    learner : learner of `anyboost.online`, any `OnlineLearner`, or None, default None
        What the chain is made of; None: `LinearLearner()`.
    n_learners : int, default 20
        N, the length of the chain.
    loss : str or Loss, default "squared"
        A row-wise loss or its name. The bound of the theorem needs a smooth one.
    mode : {"greedy", "offset", "linear"}, default "greedy"
        "greedy": each learner fits the loss on top of what the learners before it predict after they have learned the
        row. "offset": on top of what they predicted before it, with a step of its own (supplement C.1). "linear": it
        gets the slope there as a linear loss, as in the theorems; it needs learners that have regret for those.
    output_bound : float or None, default None
        D, the bound on learners' answers; None follows the labels seen so far.
    label_bound : float or None, default None
        Y, the bound on labels; None follows those seen so far. A label beyond it ends the bound on the regret.
    scale : float, default 1.0
        lambda, by which learners' predictions are multiplied, and so the class they compete with (supplement C.2).
    offset_step : float or None, default None
        alpha of mode "offset": learner i fits the loss at y_{i-1} + alpha h. None: the smallest step of the chain.
    start : float or None, default None
        The score y_0 before the first learner; None follows the labels, for squared loss their mean.
    prefix : {"best", "all"}, default "best"
        "best" answers with the prefix of the chain whose loss so far is least, "all" with the whole chain.
    forget : float, default 0.0
        By how much statistics are discounted a row; 0.001 looks about 1000 rows back.
    outputs : int or None, default None
        The number of scores a row, for losses of classes.
    random_state : int, default 0
        Seed of learners that begin at random.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = X[:, 0] - 2 * X[:, 1]
    >>> booster = ab.online.HullBooster().partial_fit(X, y)
    >>> bool(np.abs(booster.predict(X) - y).mean() < 0.5)
    True
    """

    _hull = True

    def steps(self) -> Floats:
        return 2.0 / np.arange(2.0, self.n_learners + 2.0)
