"""What is proved of an estimator's model: its norm, and how far from the best of its size it is at most.

A fit keeps the proofs and not the rows they are about, so that they are there after a save and a load.
"""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from anyboost.certificates import Certificate
from anyboost.fitted import from_one_fit


class Certified:
    """For estimators that a run has fitted: a part to inherit."""

    _certificate: Certificate | None

    @property
    def norm_(self) -> float:
        """The size of the model: the sum of |c| max|h| over its terms, in the unit of raw scores."""
        try:
            return self._proofs().norm
        except ValueError as error:  # then it has none, as `hasattr` is to say
            raise AttributeError(str(error)) from None

    @from_one_fit
    def floor(self, radius: float | None = None) -> float:
        """Certified: no model of at most this size has a smaller training loss, whoever finds it.

        It speaks of sums of functions like the learner's (stumps, trees of as many leaves, linear functions), of the
        loss the model was fitted by, and of the rows it was fitted to. Trees of more than two leaves have a loose
        floor, often that of the loss itself; stumps and linear functions a close one.

        Parameters
        ----------
        radius : float or None, default None
            The size of the sums, in the unit of raw scores; None: the model's own, `norm_`.

        Returns
        -------
        float
            The floor.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 5.0]
        >>> model = ab.BoostingRegressor("absolute", max_leaf_nodes=2, min_leaf_weight=1, max_iter=50).fit(X, y)
        >>> 0.0 <= model.floor(radius=2.0) <= -model.train_score_[0]
        True
        """
        return self._proofs().floor(radius)

    @from_one_fit
    def gap(self, radius: float | None = None) -> float:
        """The training loss minus the floor: at most this much could be gained by any model of this size.

        Parameters
        ----------
        radius : float or None, default None
            The size; None: the model's own, `norm_`. At a smaller one, where the model itself does not lie, a negative
            gap says that no model of that size is as good.

        Returns
        -------
        float
            The gap, in the unit of the loss.

        Examples
        --------
        >>> import anyboost as ab
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 5.0]
        >>> model = ab.BoostingRegressor(max_leaf_nodes=2, min_leaf_weight=1, max_iter=50).fit(X, y)
        >>> 0.0 <= model.gap() <= -model.train_score_[-1]
        True
        """
        return self._proofs().gap(radius)

    def _proofs(self) -> Certificate:
        check_is_fitted(self)
        found: Any = vars(self).get("_certificate")
        if found is None:
            raise ValueError(
                "model comes from a file of an older version, which does not keep what is proved of it: fit it anew"
            )
        return found
