"""One encoded row through a team: what `Team.answers` and `Team.learn` do for tables, in memory that is laid out once.

The kernels are those of tables, called for a table of one row, so the bits are the same; what is saved is the making of
tables, and Numba's look at the types of all arguments in each call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from anyboost.backends.compiler import entry, kernel
from anyboost.backends.elementary import exp
from anyboost.checks import Floats
from anyboost.online.scales import named
from anyboost.online.spreads import SPREAD
from anyboost.streams.batch_row import BatchRow
from anyboost.streams.experts import Refitted
from anyboost.streams.standardizing import standardize

if TYPE_CHECKING:
    from anyboost.streams.team import Team


@kernel
def squash(scores, out):
    """P(+1) of the logistic loss at each score, in the bits of `losses.links`."""
    for j in range(scores.shape[0]):
        for k in range(scores.shape[1]):
            small = exp(-abs(scores[j, k]))
            out[j, k] = (1.0 if scores[j, k] >= 0.0 else small) / (1.0 + small)


@kernel
def normalize(own, totals, places, said):
    """Each class's own probability, over their sum for those that have one; no sum: equal ones."""
    for j in range(own.shape[0]):
        for k in range(own.shape[1]):
            chance = own[j, k]
            if j < len(totals):
                chance = chance / totals[j] if totals[j] > 0.0 else 1.0 / own.shape[1]
            said[places[j], k] = chance


@kernel
def silence(said):
    """An expert, a row each, that says what is no number says nothing."""
    for j in range(said.shape[0]):
        for k in range(said.shape[1]):
            if not np.isfinite(said[j, k]):
                said[j, :] = np.nan


class TeamRow:
    """A team's memory for one row of a width, and of the classes that there are."""

    def __init__(self, team: Team, width: int) -> None:
        self.team, self.width, self.classes = team, width, team.classes
        experts = list(enumerate(team.experts))
        self.batch = [(place, each) for place, each in experts if isinstance(each, Refitted)]
        self.chains = [(place, each) for place, each in experts if not isinstance(each, Refitted)]
        outputs = (team.classes,) if team.classifies else ()
        self.forecasts = np.empty((1, len(experts), *outputs))
        self.by_expert = self.forecasts.reshape(len(experts), -1)
        known = [*self.chains, *self.batch] if team.classifies else self.chains
        self.places = np.array([place for place, _ in known], dtype=np.intp)
        self.scores = np.zeros((len(known), *outputs))  # of these, from which their forecasts are made
        self.own = np.empty_like(self.scores)
        self.squash: Any = None
        self.normalize: Any = None
        if team.classifies:
            self.squash = entry(squash, (self.scores, self.own))
            given = (self.own, self.own[:, 0].copy(), self.places, self.forecasts[0])
            self.normalize = entry(normalize, given)
        self.silence = entry(silence, (self.by_expert,))
        self.answers, self.leaders = np.empty((1, *outputs)), np.zeros(1, dtype=np.int64)
        self.y, self.weight = np.zeros(1, dtype=np.int64 if team.classifies else np.float64), np.ones(1)
        self.spreads = named(team.standard.spreads, SPREAD)
        mix, kind = team.mixture.kernel()
        totals = team.mixture.state.totals
        self.rows, self.leader = totals["rows"], totals["leader"]  # of the rows so far
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
        team = self.team
        if team.behind:
            team.refit_due()
        team.begun += 1
        row = team.kept.seen + 1
        self.y[0], self.weight[0] = y, weight
        self._put(columns, values, True)
        for number, (_, chain) in enumerate(self.chains):
            seen = self.standard if chain.standardized else self.values
            self.scores[number] = chain.learn_row(self.columns, seen, self.width, y, weight)
        if team.heard is None:
            self._gather()
        else:
            self.forecasts[:] = team.heard_earlier(y)
        before = self.leader[0]
        try:
            self.mix(*self.learning)
            if self.leaders[0] != before:
                team.mixture.note_moves(int(before), team.mixture.rows - 1, self.leaders)
        finally:  # as in `Team._learn`
            if self.rows[0] == row:
                if team.classifies:
                    team.class_weights[y] += weight
                team.kept.add_row(columns, values, self.width, y, weight)
        for _, expert in self.batch:
            if expert.is_due(row):
                team.refit_due()
                break
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
        if self.team.classifies:
            self._gather_classes()
        else:
            said = self.forecasts[0]
            said[self.places] = self.scores
            for place, expert in self.batch:
                row = expert.row()
                said[place] = np.nan if row is None else row.scores_of(self.columns, self.values)[0]
        self.silence(self.by_expert)

    def _gather_classes(self) -> None:
        said, chains = self.forecasts[0], len(self.chains)
        others: list[tuple[int, BatchRow]] = []
        for number, (place, expert) in enumerate(self.batch, chains):
            row = expert.row()
            raw = None if row is None else row.scores_of(self.columns, self.values)
            if row is None or raw is None:
                self.scores[number] = np.nan
            elif self.classes == 2 and row.is_of_odds:
                self.scores[number, 0], self.scores[number, 1] = -raw[0], raw[0]
            else:
                others.append((place, row))
        self.squash(self.scores, self.own)
        totals = self.own[:chains].sum(axis=1)  # in the order in which NumPy adds up tables' rows
        self.normalize(self.own, totals, self.places, said)
        for place, row in others:
            said[place] = 0.0
            said[place, row.model.classes_] = row.model._probabilities(row.raw)[0]

    def _answer(self) -> Any:
        return self.answers[0].copy() if self.team.classifies else self.answers.item()
