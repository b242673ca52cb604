"""One encoded row through a team: what `Team.answers` and `Team.learn` do for tables, in memory that is laid out once.

The kernels are those of tables, called for a table of one row, so the bits are the same; what is saved is the making of
tables, and Numba's look at the types of all arguments in each call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.backends.compiler import entry
from anyboost.checks import Floats
from anyboost.online.scales import named
from anyboost.online.spreads import SPREAD
from anyboost.streams.experts import Refitted
from anyboost.streams.mixing import LEADER
from anyboost.streams.standardizing import standardize

if TYPE_CHECKING:
    from anyboost.streams.team import Team


class OneRow:
    """A team's memory for one row of a width, and of the classes that there are."""

    def __init__(self, team: Team, width: int) -> None:
        self.team, self.width, self.classes = team, width, team.classes
        experts = list(enumerate(team.experts))
        self.batch = [(place, each) for place, each in experts if isinstance(each, Refitted)]
        self.chains = [(place, each) for place, each in experts if not isinstance(each, Refitted)]
        self.places = np.array([place for place, _ in self.chains], dtype=np.intp)
        outputs = (team.classes,) if team.classifies else ()
        self.forecasts = np.empty((1, len(experts), *outputs))
        self.scores = np.empty((len(self.chains), *outputs))
        self.answers, self.leaders = np.empty((1, *outputs)), np.zeros(1, dtype=np.int64)
        self.y, self.weight = np.zeros(1, dtype=np.int64 if team.classifies else np.float64), np.ones(1)
        self.spreads = named(team.standard.spreads, SPREAD)
        mix, kind = team.mixture.kernel()
        given = (*kind, self.forecasts, self.y, self.weight)
        self.asking, self.learning = ((*given, learn, self.answers, self.leaders) for learn in (False, True))
        self.mix = entry(mix, self.asking)
        self.standardize: Any = None
        self._take(np.zeros(0, dtype=np.int64), np.zeros(0))

    def predict(self, columns: np.ndarray, values: Floats) -> Any:
        """The team's score, or probabilities (K,)."""
        self.hear(columns, values)
        self.mix(*self.asking)
        return self._answer()

    def learn(self, columns: np.ndarray, values: Floats, y: Any, weight: float) -> Any:
        """Learn the row; returns the team's answer from before."""
        team, state = self.team, self.team.mixture.state
        self.y[0], self.weight[0] = y, weight
        self._put(columns, values, True)
        for number, (_, chain) in enumerate(self.chains):
            row = self.standard if chain.standardized else self.values
            self.scores[number] = chain.learn_row(self.columns, row, self.width, y, weight)
        if team.heard is None:
            self._gather()
        else:
            self.forecasts[:] = team.heard_earlier()
        before = state.totals[LEADER]
        self.mix(*self.learning)
        if self.leaders[0] != before:
            team.mixture.note_moves(int(before), team.mixture.rows - 1, self.leaders)
        if team.classifies:
            team.class_weights[y] += weight
        team.kept.add_row(columns, values, self.width, y, weight)
        team.refit_due()
        return self._answer()

    def hear(self, columns: np.ndarray, values: Floats) -> Floats:
        """What each expert says: (1, M) or (1, M, K), in memory that the next row reuses."""
        self._put(columns, values, False)
        for number, (_, chain) in enumerate(self.chains):
            row = self.standard if chain.standardized else self.values
            self.scores[number] = chain.answer_row(self.columns, row, self.width)
        self._gather()
        return self.forecasts

    def _put(self, columns: np.ndarray, values: Floats, learning: bool) -> None:
        """Take the row, and standardize it."""
        if len(columns) != len(self.columns):
            self._take(columns, values)
        self.columns[:], self.values[:] = columns, values
        given = (self.spreads, self.width, self.values, self.columns, 0, len(values), learning, self.standard)
        if self.standardize is None:
            self.standardize = entry(standardize, given)
        self.standardize(*given)

    def _take(self, columns: np.ndarray, values: Floats) -> None:
        """Memory for rows of so many values: chains find again what they have laid out for it."""
        self.columns, self.values, self.standard = columns.copy(), values.copy(), values.copy()

    def _gather(self) -> None:
        """All forecasts, from the chains' scores and the batch experts; one that has lost its way sleeps."""
        said = self.forecasts[0]
        if self.team.classifies and self.chains:
            said[self.places] = self.chains[0][1].members.probabilities(self.scores)
        else:
            said[self.places] = self.scores
        for place, expert in self.batch:
            said[place] = expert.answer_row(self.columns, self.values, self.classes)
        finite = np.isfinite(said)
        if not finite.all():
            said[~finite.reshape(len(said), -1).all(axis=1)] = np.nan

    def _answer(self) -> Any:
        return self.answers[0].copy() if self.team.classifies else self.answers.item()
