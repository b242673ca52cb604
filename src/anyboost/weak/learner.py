"""What a restriction set H must offer the descent: a projection of a function, given by its values on the sample."""

from typing import Any, NamedTuple

import numpy as np

from anyboost.backends.arrays import by_row
from anyboost.space import Space
from anyboost.weak.projections import AnyProjection


class Support(NamedTuple):
    """The maximum over atoms |h| <= 1 of H of |<target, h>|, from both sides.

    They are equal up to rounding where the learner is exact.

    Attributes
    ----------
    upper : float
        Never below the maximum.
    lower : float
        What a known atom attains, or `upper` where none was looked for.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> space = ab.space.Space(np.array([[0.0], [1.0]]))
    >>> support = ab.weak.Stump().support(space, np.array([-1.0, 2.0]))
    >>> round(support.lower, 6), round(support.upper, 6)
    (1.5, 1.5)
    """

    upper: float
    lower: float


class Takes(NamedTuple):
    """What a learner can do with a sample, besides numbers in a dense table.

    Parameters
    ----------
    missing : bool, default True
        Whether it takes NaN.
    categories : bool, default True
        Whether it takes columns of categories.
    sparse : bool, default False
        Whether it takes sparse matrices.
    weights : bool, default True
        Whether it takes unequal weights.
    atoms : bool, default True
        Whether `extreme` finds an atom, for descents along atoms.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.Takes(missing=False)
    Takes(missing=False, categories=True, sparse=False, weights=True, atoms=True)
    """

    missing: bool = True
    categories: bool = True
    sparse: bool = False
    weights: bool = True  # unequal ones
    atoms: bool = True  # whether `extreme` finds one, for descents along atoms


class Learner:
    """A restriction set H: what a class of one's own inherits from, and overrides where it differs.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> learner = ab.weak.get("stump")
    >>> learner.project(ab.space.Space(np.array([[0.0], [1.0]])), np.array([0.0, 2.0])).values
    array([0., 2.])
    """

    @property
    def exact_leaves(self) -> bool:
        """Whether the descent is to replace leaf values by exact leaf steps."""
        return False

    @property
    def takes(self) -> Takes:
        """What it can do with a sample: by default what a tree can."""
        return Takes()

    @property
    def draws(self) -> bool:
        """Whether `project` takes random numbers, from `space.random()`: it is lent a key of its own each time."""
        return False

    @property
    def one_sided(self) -> bool:
        """Whether h may be subtracted from the model, but not added."""
        return False

    @property
    def curved(self) -> bool:
        """Whether `project` knows what `space.kappa` is; others are lent a space of another measure instead."""
        return False

    def check(self, n_features: int, categorical: tuple[int, ...] = (), outputs: int = 1) -> None:
        """Refuse, in a sentence and before any work, a table that it cannot be fitted to.

        Parameters
        ----------
        n_features : int
            How many columns the table has.
        categorical : tuple of int, default ()
            Those that hold categories.
        outputs : int, default 1
            How many scores a row has.
        """

    def project(self, space: Space, target: np.ndarray) -> AnyProjection:
        """The hypothesis nearest to `target` by the space's measure.

        A space that is lent to a projection may have rows of mass zero, which do not count (`space.drawn` are the
        others), and `space.features` that are the only ones to use. h has values on all rows.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            What to come near to, shaped like scores.

        Returns
        -------
        AnyProjection
            h on the sample.
        """
        raise NotImplementedError

    def extreme(self, space: Space, target: np.ndarray) -> AnyProjection:
        """The atom |h| <= 1 furthest along `target`; a TypeError of those that cannot find it (`Takes.atoms`).

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.

        Returns
        -------
        AnyProjection
            h on the sample.
        """
        raise TypeError(
            f"learner {type(self).__name__} has no way to find its extreme atom: use a stump, a tree or a dictionary"
        )

    def support(self, space: Space, target: np.ndarray, search: bool = True) -> Support:
        """How far an atom of H can reach along `target`: what a certificate needs.

        Parameters
        ----------
        space : Space
            The sample.
        target : ndarray
            Shaped like scores.
        search : bool, default True
            Whether to look for an atom. Without, a learner whose bound needs none may put the bound in its place.

        Returns
        -------
        Support
            Both bounds.
        """
        raise NotImplementedError


_UNSAID = Learner()


def declared(learner: Learner, name: str) -> Any:
    """What a learner says of itself; what one of another family leaves out is as in `Learner`.

    Parameters
    ----------
    learner : Learner
        The learner.
    name : str
        "takes", "draws", "one_sided", "curved" or "check".

    Returns
    -------
    object
        What it says.

    Examples
    --------
    >>> import anyboost as ab
    >>> ab.weak.declared(ab.weak.Net(), "draws")
    True
    """
    return getattr(learner, name, getattr(_UNSAID, name))


def project(learner: Learner, space: Space, target: np.ndarray) -> AnyProjection:
    """The projection onto H in the space's metric, argmin over H of sum_n w_n (kappa_n h_n^2 - 2 target_n h_n).

    To a learner that knows nothing of curvature, it is a projection of target / kappa by the measure w kappa.

    Parameters
    ----------
    learner : Learner
        H.
    space : Space
        The sample, which may be curved.
    target : ndarray
        What to come near to, shaped like scores.

    Returns
    -------
    AnyProjection
        h on the sample.

    Examples
    --------
    >>> import anyboost as ab
    >>> import numpy as np
    >>> space = ab.space.Space(np.array([[0.0], [1.0]]))
    >>> curved = space.curved(np.array([2.0, 4.0]))
    >>> ab.weak.project(ab.weak.Linear(), curved, np.array([2.0, 8.0])).values.round(6)
    array([1., 2.])
    """
    kappa = space.kappa
    if kappa is None or declared(learner, "curved"):
        return learner.project(space, target)
    quotient = np.divide(target, kappa, out=np.zeros_like(target), where=kappa > 0)
    return learner.project(space.straight(kappa), quotient)


def safe_support(learner: Learner, space: Space, target: np.ndarray, search: bool) -> Support:
    """The bound sum w |target|, which no function with |h| <= 1 exceeds, and what the projection, scaled, attains."""
    bound = space.mean(np.abs(by_row(target)).sum(axis=1))
    if not search:
        return Support(bound, bound)
    h = learner.project(space, target).values
    top = float(np.abs(h).max(initial=0.0))
    return Support(bound, min(abs(space.inner(h, target)) / top, bound) if top > 0 else 0.0)
