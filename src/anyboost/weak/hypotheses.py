"""Hypotheses: functions that can be evaluated anywhere, of which a model is a sum."""

from collections.abc import Callable
from typing import Protocol, Self

import numpy as np

# (X, out, n_threads): out += the sum, in place
Joined = Callable[[np.ndarray, np.ndarray, int], None]


class Hypothesis(Protocol):
    """A fitted function: what a model is a sum of.

    A class may also have `join(parts, coefficients) -> Joined`, which an ensemble keeps.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> run = ab.boost(X, [0.0, 2.0], "squared", "stump", ab.descent.Naive(1.0), rounds=1)
    >>> h = run.ensemble.hypotheses[0]
    >>> run.ensemble.coefficients[0] * h.predict(X)
    array([-1.,  1.])
    """

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Its values at the rows of X.

        Parameters
        ----------
        X : ndarray (n, d)
            The table.

        Returns
        -------
        ndarray (n,) or (n, k)
            The values.
        """

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """Add the sum of coefficient times hypothesis at the rows of X to `out`, in place.

        Parameters
        ----------
        parts : list of Hypothesis
            Hypotheses of this class.
        coefficients : ndarray
            One each.
        X : ndarray (n, d)
            The table.
        out : ndarray (n, k)
            What is added to.
        n_threads : int
            How many threads to use.
        """


class OneByOne:
    """For hypotheses that are added up as they are: a part of `Hypothesis` to inherit."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times hypothesis at the rows of X, in place."""
        for part, coefficient in zip(parts, coefficients, strict=True):
            out += coefficient * part.predict(X).reshape(out.shape)


class AsOne:
    """For hypotheses whose sum is a function that `join` lays out."""

    @classmethod
    def join(cls, parts: list[Self], coefficients: np.ndarray) -> Joined:
        raise NotImplementedError

    @classmethod
    def combine(
        cls, parts: list[Self], coefficients: np.ndarray, X: np.ndarray, out: np.ndarray, n_threads: int
    ) -> None:
        """out += sum of coefficient times hypothesis at the rows of X, in place."""
        cls.join(parts, coefficients)(X, out, n_threads)
