"""Losses: convex functionals R of all scores of a sample.

A `Loss` knows its targets and constants. `loss.on(y, space)` is the functional R on one sample: its value,
and a subgradient in L2(P), which carries no weights and no 1/n. Losses that couple rows implement `on`
alone; row-wise losses are written by one definition of (score, target): see `rowwise`.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from anyboost import checks
from anyboost.checks import Array, Floats
from anyboost.losses import domains, links
from anyboost.losses.functionals import Functional, Measure
from anyboost.trees.parts import circle


class Loss(ABC):
    """A convex loss; see the module's docstring. Losses are immutable and compare by value.

    They add and scale: `0.5 * Absolute() + Squared()` is a loss.

    Attributes
    ----------
    name : str
        What `losses.get` calls it.
    domain : Domain
        The targets it accepts.
    link_ : Link
        What its scores say of the targets.

    Examples
    --------
    >>> import anyboost as ab
    >>> loss = ab.losses.Quantile(0.9)
    >>> str(loss), loss.lipschitz, loss == ab.losses.get("quantile:0.9")
    ('quantile:0.9', 0.9, True)
    """

    name: str
    domain: domains.Domain = domains.REALS
    link_: links.Link = links.IDENTITY

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @property
    def smoothness(self) -> float:
        """Lambda: the subgradient is Lambda-Lipschitz; inf where it jumps or grows without bound."""
        return math.inf

    @property
    def strong_convexity(self) -> float:
        """lambda: the loss minus lambda/2 of the squared norm is still convex; 0 where none."""
        return 0.0

    @property
    def lipschitz(self) -> float:
        """Bound on the Euclidean norm of one row's subgradient; inf where none."""
        return math.inf

    @property
    def has_curvature(self) -> bool:
        """Whether its functional has a `curvature`."""
        return False

    @property
    def farthest(self) -> float:
        """How far, in units of scores, a step may trust the curvature: FAR where |l'''| <= l'', else any way."""
        return math.inf

    def check(self, y: Any) -> Array:
        """Validated contiguous targets: float64, or int64 for class numbers.

        Parameters
        ----------
        y : array_like
            Targets.

        Returns
        -------
        ndarray
            The targets; a ValueError says which one is outside the loss's domain.
        """
        return self.domain.check(y, self.name)

    @property
    def vector(self) -> bool:
        """Whether scores are (n, K)."""
        return self.domain.classes

    @property
    def uses_groups(self) -> bool:
        """Whether `on` takes groups."""
        return False

    def outputs(self, y: Array) -> int:
        """How many scores a row has: 1 means scores are (n,), K means (n, K).

        Parameters
        ----------
        y : ndarray
            Checked targets.

        Returns
        -------
        int
            K.
        """
        return max(2, int(circle().most(y.max(initial=0))) + 1) if self.domain.classes else 1

    @abstractmethod
    def on(self, y: Any, space: Measure, groups: Any = None, outputs: int | None = None) -> Functional:
        """This loss on a sample; `y` is checked here.

        Parameters
        ----------
        y : array_like (n,) or (n, k)
            Targets.
        space : Space
            The sample.
        groups : array_like (n,) or None, default None
            One label a row, for losses that use them.
        outputs : int or None, default None
            The number of scores, where y may not show all classes.

        Returns
        -------
        Functional
            R.
        """

    def link(self, scores: Any) -> Array:
        """Predictions (a mean, a quantile, a label) from raw scores.

        Parameters
        ----------
        scores : array_like (n,) or (n, K)
            Raw scores.

        Returns
        -------
        ndarray
            Predictions.
        """
        return self.link_.predict(np.asarray(scores, dtype=np.float64))

    def probabilities(self, scores: Any) -> Floats:
        """Class probabilities from raw scores; two-class losses give the columns P(-1), P(+1).

        Parameters
        ----------
        scores : array_like (n,) or (n, K)
            Raw scores.

        Returns
        -------
        ndarray (n, K)
            Probabilities.
        """
        if self.link_.probabilities is None:
            raise TypeError(f"the loss {self.name} gives no probabilities: {self.link_.instead}")
        return self.link_.probabilities(np.asarray(scores, dtype=np.float64))

    def _check_groups(self, groups: Any) -> None:
        """Refuse groups that nobody would look at."""
        if groups is not None and not self.uses_groups:
            raise ValueError(f"groups were given, but the loss {self.name} does not use groups: leave it out")

    def __str__(self) -> str:
        """The name that `losses.get` understands, parameters after a colon."""
        parameters = [repr(getattr(self, name)) for name in getattr(self, "__dataclass_fields__", {})]
        return ":".join([self.name, ",".join(parameters)]) if parameters else self.name

    _summed: ClassVar[
        Callable[[list[tuple[float, Loss]]], Loss]
    ]  # factors times losses: `combine.add` is put here

    __array_ufunc__ = None  # so that a NumPy number times a loss is a loss

    def __mul__(self, factor: Any) -> Loss:
        return Loss._summed([(checks.positive(factor, "factor"), self)])

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Loss:
        return Loss._summed([(1.0, self), (1.0, other)]) if isinstance(other, Loss) else NotImplemented


class Around(Loss):
    """A loss that is made of one of a row, with its targets and link."""

    loss: Any

    @property
    def domain(self) -> domains.Domain:  # type: ignore[override]
        return self.loss.domain

    @property
    def link_(self) -> links.Link:  # type: ignore[override]
        return self.loss.link_

    def __str__(self) -> str:
        return repr(self)
