"""Quantiles and intervals of an estimator of numbers, calibrated on rows that were not fitted (`explain.intervals`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost.estimators.held_out import CV, SPLIT, HeldOut
from anyboost.explain.intervals import Conformal, Distributions, log_odds
from anyboost.fitted import from_one_fit
from anyboost.losses import Cox, Loss, MultiQuantile, Sum

WAYS = ("auto", CV, SPLIT)


class Intervals:
    """For estimators of numbers with a parameter `conformal`: a part to inherit."""

    conformal: Any
    conformal_: Conformal | None
    loss_: Any
    preset: Any
    warm_start: bool

    @from_one_fit
    def predict_quantiles(
        self, X: Any, levels: Sequence[float], offset: Any = None, groups: Any = None
    ) -> np.ndarray:
        """Quantiles of the target at any levels; they never cross.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        levels : sequence of float
            Between 0 and 1, in any order.
        offset : array_like or None, default None
            Scores to add, row by row.
        groups : array_like (n,) or None, default None
            One label a row, as `fit` was given them: each group is calibrated by its own rows.

        Returns
        -------
        ndarray (n, levels)
            The quantiles.

        Examples
        --------
        >>> import anyboost as ab
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = ab.BoostingRegressor(conformal="split", max_iter=20).fit(X, y)
        >>> found = model.predict_quantiles(X, [0.1, 0.5, 0.9])
        >>> found.shape, bool((found[:, 0] < found[:, 2]).all())
        ((442, 3), True)
        """
        if isinstance(levels, str) or not isinstance(levels, Sequence | np.ndarray) or len(levels) == 0:
            raise ValueError(
                f"levels must be a list of one level or more, such as [0.1, 0.9], got {levels!r}"
            )
        asked = [checks.between(level, "levels", 0, 1) for level in levels]
        return self._quantiles(X, asked, offset, groups, "predict_quantiles", "levels")

    @from_one_fit
    def predict_interval(
        self, X: Any, coverage: float = 0.9, offset: Any = None, groups: Any = None
    ) -> np.ndarray:
        """Lower and upper ends that a share of the targets lies between: the quantiles at (1 -+ coverage) / 2.

        What is promised of new rows depends on `conformal`: see docs/uncertainty.md.

        Parameters
        ----------
        X : table (n, d)
            The columns of the fit.
        coverage : float, default 0.9
            The share, between 0 and 1. Wider ones contain narrower ones.
        offset : array_like or None, default None
            Scores to add, row by row.
        groups : array_like (n,) or None, default None
            One label a row, as `fit` was given them: each group is calibrated by its own rows.

        Returns
        -------
        ndarray (n, 2)
            The ends.

        Examples
        --------
        >>> import anyboost as ab
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = ab.BoostingRegressor(conformal="cv", max_iter=20).fit(X, y)
        >>> low, high = model.predict_interval(X, coverage=0.8).T
        >>> bool((low < high).all())
        True
        """
        checks.between(coverage, "coverage", 0, 1)
        ends = [(1 - coverage) / 2, (1 + coverage) / 2]
        return self._quantiles(X, ends, offset, groups, "predict_interval", f"coverage {coverage:g}")

    def _quantiles(
        self, X: Any, levels: list[float], offset: Any, groups: Any, method: str, name: str
    ) -> np.ndarray:
        check_is_fitted(self)
        conformal, own = self.conformal_, levels_of(self.loss_)
        if conformal is None and own is None:
            raise TypeError(
                f"{method} needs quantiles, and the loss is {self.loss_}: use loss='multi_quantile:0.05,0.5,0.95', or "
                "conformal='cv' with this one"
            )
        if groups is not None and (conformal is None or not conformal.labels):
            raise ValueError(
                "groups were given, but the model was not calibrated by group: give them to fit too, with "
                "conformal='cv' or 'split', or leave them out"
            )
        predictions = self.predict(X, offset)  # type: ignore[attr-defined]
        if conformal is None:
            assert own is not None
            return Distributions.of(own, predictions).values(
                predictions, _rows(log_odds(levels), predictions)
            )
        if groups is None:
            z = _rows(conformal.at(levels, name), predictions)
        else:
            z = conformal.by_row(levels, checks.labels(groups, "groups", len(predictions)), name)
        return conformal.distributions.values(predictions, z)

    def _calibrates_by(self, loss: Loss) -> str | None:
        way = self.conformal
        if way == "auto":
            plain = self.preset is not None or self.warm_start
            return None if plain or levels_of(loss) is None else CV
        if way is not None and not _can_be_calibrated(loss):
            raise ValueError(
                f"conformal={way!r} is for one number a row, or quantiles of it, and the loss is {loss}: leave it out"
            )
        return way

    def _covers_groups(self, loss: Loss) -> bool:
        return self._calibrates_by(loss) is not None

    def _calibrate(self, way: str, loss: Any, held: HeldOut) -> dict[str, Any]:
        predictions = np.asarray(loss.link(held.scores), dtype=np.float64)
        distributions = Distributions.of(levels_of(loss) or (), predictions)
        ranks = distributions.ranks(predictions, held.y)
        return {"conformal_": Conformal.of(way, distributions, ranks, held.weights, held.groups)}


def levels_of(loss: Loss) -> tuple[float, ...] | None:
    """The levels of quantiles fitted together; None for another loss."""
    terms = [term for _, term in loss.terms] if isinstance(loss, Sum) else [loss]
    return next((term.taus for term in terms if isinstance(term, MultiQuantile)), None)


def check(conformal: Any) -> None:
    """Refuse what is no way to calibrate."""
    if conformal is not None:
        checks.choice(conformal, "conformal", WAYS)


def _can_be_calibrated(loss: Loss) -> bool:
    return levels_of(loss) is not None or not (loss.vector or isinstance(loss, Cox))


def _rows(z: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return np.broadcast_to(z, (len(predictions), len(z)))
