"""What is known of the loss l(f, y) of a row: kinks, and the constants that streams, pools and proofs ask for."""

from __future__ import annotations

import math
from typing import ClassVar

from anyboost.backends import definitions
from anyboost.losses import domains
from anyboost.losses.base import Loss


class RowConstants(Loss):
    """Constants of the loss of a row; a class of losses says those that are other ones."""

    infimum: float = -math.inf  # what the loss of a row is under for no score and no target
    shift_invariant: ClassVar[bool] = False  # l(f + c, y) = l(f, y) for the same c added to all K scores

    # For streams, where scores are to be held within bounds:
    center: ClassVar[int] = definitions.NOTHING  # what a constant would answer, where scores are not located
    reach: ClassVar[float] = 6.0  # how far scores may go, where they are not located

    @property
    def kinked(self) -> bool:
        """Whether the loss has kinks, and so no gradient in places."""
        return False

    @property
    def smoothable(self) -> bool:
        """Whether the loss has kinks that `envelope_gradients` can round off."""
        return self.kinked

    @property
    def located(self) -> bool:
        """Whether scores lie on the scale of the targets."""
        return self.domain == domains.REALS

    def smoothness_within(self, reach: float) -> float:
        """The constant beta_b: `smoothness`, for scores in [-reach, reach].

        Parameters
        ----------
        reach : float
            The bound on scores.

        Returns
        -------
        float
            beta_b.
        """
        return self.smoothness

    def steepest(self, reach: float, label_bound: float) -> float:
        """The largest slope (l1 norm of slopes) for scores in [-reach, reach] and |y| <= label_bound.

        Parameters
        ----------
        reach : float
            The bound on scores.
        label_bound : float
            The bound on targets.

        Returns
        -------
        float
            The slope; inf where it is not known.
        """
        return math.inf if self.vector else self.lipschitz

    def shortfall(self, reach: float, label_bound: float) -> float | None:
        """The constant eps_b = max(0, sup over |f| = reach of -slope(f) f / reach).

        It is what holding scores within the reach can cost, per unit.

        Parameters
        ----------
        reach : float
            The bound on scores.
        label_bound : float
            The bound on targets.

        Returns
        -------
        float or None
            eps_b; None where it is not known.
        """
        return None

    def stand_ins(self, weight: float, first: float, second: float) -> tuple[list[float], list[float]] | None:
        """A few targets and weights on which every constant costs what it costs on a sample.

        Parameters
        ----------
        weight : float
            The sum of the sample's weights w.
        first : float
            The sum of w y.
        second : float
            The sum of w y^2.

        Returns
        -------
        tuple of (list of float, list of float) or None
            Targets and weights; None where there are none.
        """
        if self.domain != domains.SIGNS:
            return None
        return [-1.0, 1.0], [0.5 * (weight - first), 0.5 * (weight + first)]

    @property
    def lines(self) -> tuple[float, float, float] | None:
        """(a, b, c), where the loss is a (y - f)+ + b (f - y)+ + c (1 - y f)+."""
        return None
