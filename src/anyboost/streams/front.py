"""What estimators of streams share: a team or one chain learns, and labels may come late."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from anyboost import checks, keywords
from anyboost.losses import RowwiseLoss
from anyboost.online.estimators import OnlineBoosting
from anyboost.online.features import Features
from anyboost.streams.mixture import Move
from anyboost.streams.team import REFITS, Team
from anyboost.streams.waiting import Waiting, checked_key

LEAST_ROWS = 100
TEAM = "team"
CHAIN = (
    *("n_learners", "algorithm", "step", "mode", "output_bound", "label_bound", "prefix", "forget"),
    *("drift", "offset_step"),
)  # what belongs to one chain


class StreamBoosting(OnlineBoosting):
    """What the regressor and the classifier share: who learns, and labels that come late."""

    @keywords.nearest
    def __init__(
        self,
        learner: Any = None,
        n_learners: int = 20,
        loss: Any = None,
        algorithm: str = "span",
        step: float | None = None,
        mode: str = "greedy",
        output_bound: float | None = None,
        label_bound: float | None = None,
        prefix: str = "best",
        forget: float = 0.0,
        drift: Any = None,
        hash_bits: int | None = None,
        max_iter: int = 1,
        random_state: int = 0,
        max_rows_kept: int = 20_000,
        refit: str = "inline",
        max_waiting: int = 10_000,
        offset_step: float | None = None,
    ) -> None:
        super().__init__(**keywords.shared(OnlineBoosting, locals()))
        self.max_rows_kept = max_rows_kept
        self.refit = refit
        self.max_waiting = max_waiting

    def check_parameters(self) -> None:
        """Refuse wrong parameters in a sentence, before any data are seen."""
        checks.count(self.max_rows_kept, "max_rows_kept", LEAST_ROWS)
        checks.choice(self.refit, "refit", REFITS)
        checks.count(self.max_waiting, "max_waiting", 1)
        if not self._is_team():
            super().check_parameters()
            return
        checks.seed(self.random_state)
        Features(self.hash_bits)
        checks.count(self.max_iter, "max_iter", 1)

    def _is_team(self) -> bool:
        """Whether the team learns; refused where it is asked for with what it has not."""
        said = [name for name in CHAIN if self._says(name)]
        if self.learner is None:
            return not said and self._mixes(self._checked_loss())
        if not isinstance(self.learner, str) or self.learner != TEAM:
            return False
        if said:
            raise ValueError(
                f"{said[0]} belongs to one chain, got {getattr(self, said[0])!r} with learner 'team': leave it out, or "
                "name a learner such as 'linear'"
            )
        if not self._mixes(self._checked_loss()):
            raise ValueError(
                f"loss {self._checked_loss()} is not mixed by the team: name a learner such as 'linear'"
            )
        return True

    def _says(self, name: str) -> bool:
        usual, value = signature(type(self)).parameters[name].default, getattr(self, name)
        return value is not usual and (usual is None or not isinstance(value, type(usual)) or value != usual)

    @staticmethod
    def _mixes(loss: RowwiseLoss) -> bool:
        raise NotImplementedError

    def _team(self) -> Team | None:
        """Where the team stands, if there is one."""
        raise NotImplementedError

    def _takes_missing(self) -> bool:
        return self._team() is not None if self.__sklearn_is_fitted__() else self._is_team()

    def _team_given(self) -> tuple[Any, ...]:
        return self.loss_, self.__dict__.get("features_"), self.max_rows_kept, self.refit, self.random_state

    def _learn_row(self, *given: Any) -> Any:
        self._heed()
        return super()._learn_row(*given)

    def _learn_rows(self, *given: Any) -> Any:
        self._heed()
        return super()._learn_rows(*given)

    def _heed(self) -> None:
        """Let the team refit as `refit` says now: it may have been set after the first row."""
        team = self._team()
        if team is not None:
            team.refit = checks.choice(self.refit, "refit", REFITS)

    def _restart(self) -> None:
        self.__dict__.pop("_waiting", None)
        super()._restart()

    @property
    def drift_(self) -> list[Move]:
        """When the weights moved, and to whom: the changes of leader, the last 1000 of them."""
        return list(self._fitted_team("drift_").mixture.moves)

    @property
    def weights_(self) -> dict[str, float]:
        """The weight of each expert of the team."""
        mixture = self._fitted_team("weights_").mixture
        return dict(zip(mixture.names, mixture.weights.tolist(), strict=True))

    def _fitted_team(self, name: str) -> Team:
        team = self._team() if self.__sklearn_is_fitted__() else None
        if team is None:
            raise AttributeError(f"{name} belongs to a team that has learnt: this model has none")
        return team

    def _check_key(self, key: str | float | None) -> None:
        if key is not None:
            checked_key(key)
            checks.count(self.max_waiting, "max_waiting", 1)

    def _ask(self, x: Mapping[Any, Any], key: str | float) -> None:
        """Keep an example until its label comes."""
        features = self._named()
        columns, values = features.row(x, False)
        team = self._team()
        heard = None if team is None else team.answers_to_one(columns, values, features.width)
        if "_waiting" not in self.__dict__:
            self._waiting = Waiting()
        self._waiting.put(key, x, heard, self.max_waiting)

    def learn_one(
        self,
        x: Mapping[Any, Any] | None = None,
        y: Any = None,
        w: float = 1.0,
        *,
        key: str | float | None = None,
    ) -> None:
        """Learn from one example; a name that was never seen gets a column of its own.

        Parameters
        ----------
        x : mapping or None, default None
            Names and values of features; None with a `key`.
        y : object, default None
            The target: a number, or a class.
        w : float, default 1.0
            The weight.
        key : str, int, float or None, default None
            That of an example that `predict_one(x, key=...)` was asked about, and whose label comes now: it is learnt
            with what the experts said then. Labels may come in any order.
        """
        if key is None:
            if x is None:
                raise ValueError(
                    "x must be a dict of features, got None: give it, or the key of an earlier prediction"
                )
            super().learn_one(x, y, w)
            return
        if x is not None:
            raise ValueError(f"x was given with key {key!r}, whose example is known: leave x out")
        waiting = self.__dict__.get("_waiting") or Waiting()
        asked, team = waiting.get(key, self.max_waiting), self._team()
        if team is not None:
            team.heard = asked.heard
        try:
            super().learn_one(asked.x, y, w)
        finally:
            if team is not None:
                team.heard = None
        waiting.done(key)
