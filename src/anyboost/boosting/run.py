"""What `boost` returns: a descent on one sample, which says what it found and proves how good that is."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from anyboost.certificates import UNKNOWN_NORM, Certificate, Witness
from anyboost.descent import Descent, State, Step
from anyboost.ensemble import Ensemble
from anyboost.losses import Functional, Loss
from anyboost.space import Space
from anyboost.trees.journal import KeptTree
from anyboost.watching import Watch, best_round
from anyboost.weak import Learner

Callback = Callable[[Step, "Run"], object]


class Options(NamedTuple):
    """What a projection sees of the sample, and what is recorded; a run keeps it, to be resumed with the same."""

    row_fraction: float = 1.0
    feature_fraction: float = 1.0
    max_bins: int = 255
    categorical: tuple[int, ...] = ()
    record: str = "full"


@dataclass(eq=False)
class Run:
    """A descent on one sample: the model, its Steps, and what certifies it.

    `boost` makes it. One from a file has no `space` and no `functional`, for the sample is not stored;
    `boost(..., resume=run)` is given it again.

    Attributes
    ----------
    loss : Loss
        What was minimized.
    learner : Learner
        Whose hypotheses the model is a sum of.
    descent : Descent
        How it was found; its step is the one that was taken.
    seed : int
        Of what was drawn.
    start_loss : float
        The loss before the first round.
    space : Space or None
        The sample.
    functional : Functional or None
        The loss on the sample.
    state : State
        Where the descent stands.
    watch : Watch or None
        The validation set, and its losses from the start on.
    steps : list of Step
        One record a round.
    options : Options
        What projections see of the sample, and what is recorded.
    infimum : float
        What no scores have a smaller loss than on the sample; -inf where nothing is known.
    trees : list of KeptTree or None
        As they were grown, where a run keeps them: it can then be resumed wherever its rows lie.
    ensemble : Ensemble
        The model after the last round.
    best : Ensemble
        The model after `best_round`.
    best_round : int
        The round with the lowest validation loss, 0 being the start; without `valid` the last.
    scores : ndarray
        The model's scores on the training rows of positive weight.
    norm : float
        The size of the model: the sum of |c| max|h| over its terms.
    witnesses : list of Witness
        The proofs behind `floor`.
    certificate : Certificate
        What is proved of the model after the last round.

    Examples
    --------
    >>> import anyboost as ab
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 0.0, 3.0]
    >>> run = ab.boost(X, y, "squared", "stump", ab.descent.Naive(1.0), rounds=1)
    >>> run.start_loss, run.steps[0].loss, run.norm
    (1.0, 0.0, 2.0)
    >>> run.gap()
    0.0
    """

    loss: Loss
    learner: Learner
    descent: Descent
    seed: int
    start_loss: float
    space: Space | None = field(repr=False)
    functional: Functional | None = field(repr=False)
    state: State = field(repr=False)
    watch: Watch | None = field(default=None, repr=False)
    steps: list[Step] = field(default_factory=list, repr=False)
    options: Options = field(default_factory=Options)
    infimum: float = -math.inf  # of the loss on the sample: what no scores are under
    trees: list[KeptTree] | None = field(default=None, repr=False)

    @property
    def ensemble(self) -> Ensemble:
        """The model after the last round."""
        return self.state.ensemble

    @property
    def scores(self) -> np.ndarray:
        """The model's scores on the training rows of positive weight."""
        return self.state.scores

    @property
    def best_round(self) -> int:
        """The round with the lowest validation loss, 0 being the start; without `valid` the last."""
        return len(self.steps) if self.watch is None else best_round(self.watch.losses)

    @property
    def best(self) -> Ensemble:
        """The model after `best_round`."""
        return self.ensemble.truncate(self.best_round)

    @property
    def witnesses(self) -> list[Witness]:
        """The proofs behind `floor`."""
        return self.prove()

    def prove(self, search: bool = True) -> list[Witness]:
        """The proofs behind `floor`.

        Parameters
        ----------
        search : bool, default True
            Whether to look for atoms that attain the bounds, which `floor_estimate` rests on.

        Returns
        -------
        list of Witness
            The proofs.
        """
        evidence, state = self.state.evidence, self.state
        stale = evidence.latest is None or evidence.latest[0] != state.round
        if evidence.light and stale and self.functional is not None and self.space is not None:
            # The gradient where the model is now; others that a light run has looked at are of rounds 1, 2, 4, ...
            gradient = self.functional.subgradient(state.scores)
            slope = self.space.inner(gradient, state.scores, less=state.start)
            evidence.see(state.round, state.loss, gradient, slope)
        return evidence.witnesses + evidence.current(lambda G: self._support(G, search))

    @property
    def norm(self) -> float:
        """How large the model is: the sum over its terms of `|c| max|h|` on the training rows, after shrinkage."""
        if math.isnan(self.state.norm):
            raise ValueError(UNKNOWN_NORM)
        return self.state.norm

    def floor(self, radius: float | None = None) -> float:
        """Certified: no start + sum c_m h_m with sum |c_m| <= radius, |h_m| <= 1, h_m in H, has a smaller loss.

        A floor is never under the infimum of the loss. That of a run with `record="light"` is looser: it rests on
        gradients of a few rounds, not on sums of all.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The floor, -inf where nothing is proved.
        """
        return self.certificate.floor(radius)

    def floor_estimate(self, radius: float | None = None) -> float:
        """The floor if a tree's greedy search found the extreme atom: an estimate, not a certificate.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The estimate.
        """
        return self.certificate.floor(radius, estimate=True)

    def gap(self, radius: float | None = None) -> float:
        """The model's loss minus the floor: at most this much could be gained within the radius.

        Never negative at the model's own `norm` or beyond. At a smaller radius, where the model itself does not lie, a
        negative gap says that no model within it is as good.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums; None: the model's own, `norm`.

        Returns
        -------
        float
            The gap.
        """
        return self.certificate.gap(radius)

    @property
    def certificate(self) -> Certificate:
        """What is proved of the model after the last round."""
        return Certificate(self.state.loss, self.state.norm, self.infimum, tuple(self.witnesses))

    def _support(self, G: np.ndarray, search: bool) -> tuple[float, float]:
        assert self.space is not None  # a run from a file brings its current witnesses
        return self.learner.support(self.space, G, search)
