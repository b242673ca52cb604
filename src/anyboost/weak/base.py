"""What a restriction set H must offer the descent.

A weak learner projects a function given by its values on the sample onto H. A hypothesis is a function
that can be evaluated anywhere.
"""

from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from anyboost.space import Space


class Hypothesis(Protocol):
    """A fitted function."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X, (n,) or (n, k)."""

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times hypothesis at the rows of X, in place; out is (n, k)."""


class Projection(NamedTuple):
    """A hypothesis with its values on the sample; for trees also the leaf of each row."""

    hypothesis: Any
    values: np.ndarray
    leaf: np.ndarray | None = None
    leaf_values: np.ndarray | None = None


class Support(NamedTuple):
    """max over atoms |h| <= 1 of H of |<target, h>|, from both sides.

    `upper` is never below the maximum; `lower` is what a known atom attains. They are equal up to
    rounding where the learner is exact.
    """

    upper: float
    lower: float


class Learner(Protocol):
    """A restriction set H."""

    @property
    def exact_leaves(self) -> bool:
        """Whether the descent is to replace leaf values by exact leaf steps."""

    def project(
        self,
        space: Space,
        target: np.ndarray,
        rows: np.ndarray | None = None,
        features: np.ndarray | None = None,
    ) -> Projection:
        """The hypothesis nearest to `target`; fitted on `rows` and `features` only, where given."""

    def extreme(self, space: Space, target: np.ndarray) -> Projection:
        """The atom |h| <= 1 furthest along `target`."""

    def support(self, space: Space, target: np.ndarray) -> Support:
        """How far an atom of H can reach along `target`: what a certificate needs."""
