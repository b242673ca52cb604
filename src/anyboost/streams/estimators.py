"""The public estimators of streams: the team with nothing said, and by name one chain of online learners.

They have the faces of online boosting, scikit-learn's on arrays and River's on dicts; a team stands where a booster
would. Labels may come late: an example that was asked about by a key is learnt when its label is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from anyboost import checks
from anyboost.losses import Logistic, Quantile, RowwiseLoss
from anyboost.online.classifier import ChainClassifier
from anyboost.online.estimators import ChainRegressor
from anyboost.online.intervals import AdaptiveIntervals
from anyboost.online.river import register
from anyboost.online.settings import compiled_loss
from anyboost.streams.front import StreamBoosting
from anyboost.streams.kinds import ClassTeam, NumberTeam
from anyboost.streams.team import Team


class OnlineBoostingRegressor(StreamBoosting, ChainRegressor):
    """Boosting of numbers in a stream: `partial_fit` on arrays, `learn_one` on dicts of features.

    With nothing said it is a team of batch and online boosters, see docs/streams.md.

    Parameters
    ----------
    learner : str, learner, estimator or None, default None
        None, or "team": batch boosters that are refitted as rows come, chains of online learners, and an average that
        follows the best of them. Else what one chain boosts: "linear", "stumps", "net", "tree", a learner of
        `anyboost.online`, a River regressor, or a scikit-learn regressor with `partial_fit`. None is "linear" where a
        parameter of the chain is given, or a loss that the team does not mix.
    n_learners : int, default 20
        How many of them.
    loss : str, Loss or None, default None
        Any row-wise convex loss of the library for numbers, or its name ("absolute", "quantile:0.9"); None: "squared".
    algorithm : {"span", "hull"}, default "span"
        Algorithm 1 of Beygelzimer et al., or Algorithm 2.
    step : float or None, default None
        The step of "span"; None: 0.2, or 1/n_learners where that is more.
    mode : {"greedy", "offset", "linear"}, default "greedy"
        "greedy" fits what earlier learners leave over once they have learned the row, "offset" what they left over
        before (the paper's supplement C.1), "linear" the slope of the loss.
    output_bound : float or None, default None
        D of the theorems; None follows the labels.
    label_bound : float or None, default None
        Y of the theorems; None follows the labels.
    prefix : {"best", "all"}, default "best"
        "best" answers with the prefix of the chain whose loss so far is least, "all" with the whole chain.
    forget : float, default 0.0
        The share by which the past fades with each example; 0 keeps all.
    drift : drift detector or None, default None
        One of River's; learners begin again where it finds that their loss has risen.
    hash_bits : int or None, default None
        Hash named features into 2**hash_bits columns; None gives every name a column.
    max_iter : int, default 1
        Passes that `fit` makes; `partial_fit` and `learn_one` make one.
    random_state : int, default 0
        Seed of learners that begin at random.
    max_rows_kept : int, default 20000
        The most rows that batch boosters are refitted on: the last ones, and a fair sample of those before.
    refit : {"inline", "background"}, default "inline"
        Whether rows wait for a refit, or a thread does it, to take effect some rows later. Either way the same rows
        give the same model.
    max_waiting : int, default 10000
        The most examples that wait for their label, see `predict_one`; the oldest is forgotten first.
    offset_step : float or None, default None
        The step that learners of mode "offset" reckon with; None: the smallest step of the chain.

    Attributes
    ----------
    loss_ : Loss
        The loss.
    booster_ : Team or OnlineBooster
        The team, or the chain.
    guard_ : object or None
        What watches a chain for drift.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> import anyboost as ab
    >>> model = ab.OnlineBoostingRegressor()
    >>> for i in range(200):
    ...     model.learn_one({"x": i % 10, "kind": "a"}, 2.0 * (i % 10))
    >>> round(model.predict_one({"x": 4, "kind": "a"}))
    8
    """

    @staticmethod
    def _mixes(loss: RowwiseLoss) -> bool:
        return compiled_loss(loss) and not loss.vector

    def _begin(self) -> None:
        if not self._is_team():
            super()._begin()
            return
        self.loss_ = self._checked_loss()
        self.booster_: Any = NumberTeam(*self._team_given())
        self.guard_ = None

    def _team(self) -> Team | None:
        return self.booster_ if isinstance(self.booster_, Team) else None

    def predict_one(self, x: Mapping[Any, Any], *, key: str | float | None = None) -> Any:
        """The prediction for one dict of features; before the first example, that of the score 0.

        Parameters
        ----------
        x : mapping
            Names and values of features.
        key : str, int, float or None, default None
            By which the label will come: `learn_one(key=..., y=...)`.

        Returns
        -------
        float
            The prediction.
        """
        self._check_key(key)
        prediction = super().predict_one(x)
        if key is not None:
            self._ask(x, key)
        return prediction

    def with_intervals(
        self, coverage: float = 0.9, rate: float = 0.01, window: int = 1000, pair: bool = True
    ) -> AdaptiveIntervals:
        """This model with intervals that keep their coverage while the world changes.

        Parameters
        ----------
        coverage : float, default 0.9
            The share of labels between the ends.
        rate : float, default 0.01
            How far the level moves with a miss.
        window : int, default 1000
            How many of the last residuals ends are taken from.
        pair : bool, default True
            Whether two more models like this one learn the quantiles that ends start from, which are apart where labels
            are uncertain: three times the time. Else ends are as far from the answer everywhere.

        Returns
        -------
        AdaptiveIntervals
            With `learn_one`, `predict_one` and `predict_interval_one`; learn through it from now on.
        """
        checks.between(coverage, "coverage", 0, 1)
        beyond = (1.0 - coverage) / 2
        ends = self._quantile(beyond), self._quantile(1.0 - beyond)
        return AdaptiveIntervals(self, coverage, rate, window, ends if pair else None)

    def _quantile(self, level: float) -> Any:
        return clone(self).set_params(loss=Quantile(level))


class OnlineBoostingClassifier(StreamBoosting, ChainClassifier):
    """Boosting of classes in a stream: `partial_fit` on arrays, `learn_one` on dicts of features.

    With nothing said it is a team of batch and online boosters, see docs/streams.md.

    Parameters
    ----------
    learner : str, learner, estimator or None, default None
        None, or "team": batch boosters that are refitted as rows come, chains of online learners, and an average that
        follows the best of them. Else what one chain boosts: "linear", "stumps", "net", "tree", a learner of
        `anyboost.online`, a River regressor, or a scikit-learn regressor with `partial_fit`. None is "linear" where a
        parameter of the chain is given, or a loss that the team does not mix.
    n_learners : int, default 20
        How many of them.
    loss : str, Loss or None, default None
        "logistic" (None), "squared_hinge", "exponential" or "hinge" (more than two classes: one booster a class, and
        new classes may come at any time), "softmax" or "multiclass_hinge" (one booster for all classes, which the first
        call of `partial_fit` has to be given).
    algorithm : {"span", "hull"}, default "span"
        Algorithm 1 of Beygelzimer et al., or Algorithm 2.
    step : float or None, default None
        The step of "span"; None: 0.2, or 1/n_learners where that is more.
    mode : {"greedy", "offset", "linear"}, default "greedy"
        "greedy" fits what earlier learners leave over once they have learned the row, "offset" what they left over
        before (the paper's supplement C.1), "linear" the slope of the loss.
    output_bound : float or None, default None
        D of the theorems; None follows the labels.
    label_bound : float or None, default None
        Y of the theorems; None follows the labels.
    prefix : {"best", "all"}, default "best"
        "best" answers with the prefix of the chain whose loss so far is least, "all" with the whole chain.
    forget : float, default 0.0
        The share by which the past fades with each example; 0 keeps all.
    drift : drift detector or None, default None
        One of River's; learners begin again where it finds that their loss has risen.
    hash_bits : int or None, default None
        Hash named features into 2**hash_bits columns; None gives every name a column.
    max_iter : int, default 1
        Passes that `fit` makes; `partial_fit` and `learn_one` make one.
    random_state : int, default 0
        Seed of learners that begin at random.
    max_rows_kept : int, default 20000
        The most rows that batch boosters are refitted on: the last ones, and a fair sample of those before.
    refit : {"inline", "background"}, default "inline"
        Whether rows wait for a refit, or a thread does it, to take effect some rows later. Either way the same rows
        give the same model.
    max_waiting : int, default 10000
        The most examples that wait for their label, see `predict_one`; the oldest is forgotten first.
    offset_step : float or None, default None
        The step that learners of mode "offset" reckon with; None: the smallest step of the chain.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in the order of scores.
    codes_ : dict
        The place of each class.
    open_ : bool
        Whether classes that were not named may come.
    loss_ : Loss
        The loss.
    boosters_ : object
        The team, or a chain a class, or one for all.
    n_iter_ : int
        Passes that `fit` made.

    Examples
    --------
    >>> import anyboost as ab
    >>> model = ab.OnlineBoostingClassifier()
    >>> for i in range(200):
    ...     model.learn_one({"x": i % 10}, "high" if i % 10 > 4 else "low")
    >>> model.predict_one({"x": 8})
    'high'
    """

    @staticmethod
    def _mixes(loss: RowwiseLoss) -> bool:
        return isinstance(loss, Logistic)

    def _begin(self) -> None:
        super()._begin()
        if self._is_team():
            self.boosters_: Any = ClassTeam(*self._team_given())

    def _team(self) -> Team | None:
        return self.boosters_ if isinstance(self.boosters_, Team) else None

    def predict_one(self, x: Mapping[Any, Any], *, key: str | float | None = None, **_: Any) -> Any:
        """The class of one dict of features.

        Parameters
        ----------
        x : mapping
            Names and values of features.
        key : str, int, float or None, default None
            By which the label will come: `learn_one(key=..., y=...)`.

        Returns
        -------
        object
            The class; None before the first example.
        """
        self._check_key(key)
        label = super().predict_one(x)
        if key is not None:
            self._ask(x, key)
        return label

    def predict_proba_one(
        self, x: Mapping[Any, Any], *, key: str | float | None = None, **_: Any
    ) -> dict[Any, float]:
        """The probability of each class seen so far.

        Parameters
        ----------
        x : mapping
            Names and values of features.
        key : str, int, float or None, default None
            By which the label will come: `learn_one(key=..., y=...)`.

        Returns
        -------
        dict
            The probabilities, by class.
        """
        self._check_key(key)
        chances = super().predict_proba_one(x)
        if key is not None:
            self._ask(x, key)
        return chances

    def regret(self) -> Any:
        """Cumulative losses: of the team's answers and its experts, or of a chain's.

        Returns
        -------
        TeamRegret or Regret
            The losses.
        """
        check_is_fitted(self)
        return self.boosters_.regret()


register("MiniBatchRegressor", OnlineBoostingRegressor)
register("MiniBatchClassifier", OnlineBoostingClassifier)
