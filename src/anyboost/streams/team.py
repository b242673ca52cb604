"""The team: rows in, one answer out; experts learn or are refitted, and an average follows the best of them.

For rows in order: all experts answer, the average answers and learns from the label, chains learn, rows are kept. Where
a row count says so, batch experts are fitted anew. Rows between two such counts go through together; the model is the
one of a loop over them, bit for bit.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss
from anyboost.online import rows as encoded
from anyboost.online.features import Features
from anyboost.online.rows import Table
from anyboost.streams import roster
from anyboost.streams.experts import Background, Refit, Refitted
from anyboost.streams.mixture import Mixture, TeamRegret
from anyboost.streams.one_row import TeamRow
from anyboost.streams.rows_kept import RowsKept
from anyboost.streams.standardizing import Standard

REFITS = ("inline", "background")


class Team:
    """Experts for one stream, their average, and the rows kept for them.

    loss : that of the chains; classes are mixed by their probabilities. features : the names of columns, which say what
    is missing and what is text; None where rows are arrays.
    """

    classifies: bool
    _one_row: TeamRow | None = None
    begun = 0  # how many rows were given to experts, also those that an error stopped
    behind = False  # whether refits were interrupted that are still to be done, or have failed

    def __init__(
        self,
        loss: RowwiseLoss,
        features: Features | None,
        max_rows_kept: int,
        refit: str,
        seed: int,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.loss, self.features, self.refit = loss, features, refit
        self.experts = roster.roster(loss, self.classifies, max_rows_kept, seed, names)
        self.mixture = Mixture([expert.name for expert in self.experts], None if self.classifies else loss)
        self.standard = Standard()
        self.kept = RowsKept(max_rows_kept, min(roster.longest_window(), max_rows_kept // 2), seed)
        self.classes = 0
        self.class_weights = np.zeros(0)
        self.heard: Floats | None = (
            None  # what experts said of the next row when they were asked, if that was earlier
        )
        self._threads: ThreadPoolExecutor | None = None
        self._process = os.getpid()
        for place, expert in enumerate(self.experts):
            if not isinstance(expert, Refitted):
                self.mixture.join(place)

    @property
    def refitted(self) -> list[Refitted]:
        """The batch experts."""
        return [expert for expert in self.experts if isinstance(expert, Refitted)]

    def cover(self, classes: int) -> None:
        """Have an answer for each of so many classes."""
        if classes > self.classes:
            self.class_weights = np.pad(self.class_weights, (0, classes - self.classes))
            self.classes = classes
            for expert in self.experts:
                if not isinstance(expert, Refitted):
                    expert.cover(classes)

    def answers(self, rows: Table) -> Floats:
        """What each expert says: (n, M) scores or (n, M, K) probabilities, NaN where it has no answer."""
        given = rows.given()  # chains have no use for what is missing
        standard = self.standard.rows(given, False)
        return self._stacked(
            [
                expert.answer(rows, self.classes)
                if isinstance(expert, Refitted)
                else expert.answer(standard if expert.standardized else given)
                for expert in self.experts
            ]
        )

    def answers_to_one(self, columns: np.ndarray, values: Floats, width: int) -> Floats:
        """The same for one encoded row."""
        one = self.one_row(columns, values, width)
        if one is not None:
            return one.hear(columns, values)[0].copy()
        return self.answers(encoded.one_row(columns, values, width))[0]

    def one_row(self, columns: np.ndarray, values: Floats, width: int) -> TeamRow | None:
        """Where rows of this width have been learnt, and this one needs no look: the short way for it."""
        if width != len(self.standard.spreads) or not isfinite(sum(values.tolist())):
            return None
        one = self._one_row
        if one is None or one.width != width or one.classes != self.classes:
            one = self._one_row = TeamRow(self, width)
        return one

    def _stacked(self, found: list[Floats]) -> Floats:
        stacked = np.stack(found, axis=1)
        wild = ~np.isfinite(stacked)
        if wild.any():  # an expert that has lost its way sleeps
            stacked[wild.reshape(*wild.shape[:2], -1).any(axis=2)] = np.nan
        return stacked

    def predict(self, rows: Table) -> Floats:
        """The team's scores (n,), or probabilities (n, K)."""
        return self.mixture.answer(self.answers(rows))

    def learn(self, rows: Table, y: np.ndarray, weights: Floats) -> Floats:
        """Learn rows in order; returns the team's answers from before each. Rows of weight 0 are answered only."""
        if self.behind:
            self.refit_due()
        counts = weights > 0
        edges = [0, *(np.flatnonzero(np.diff(counts)) + 1).tolist(), rows.n]
        found = []
        for begin, end in pairwise(edges):
            part = rows.part(slice(begin, end))
            if not counts[begin]:
                found.append(self.predict(part))
                continue
            while begin < end:
                stop = min(end, begin + self._rows_until_refits())
                own = slice(begin, stop)
                found.append(self._learn(rows.part(own), y[own], weights[own]))
                begin = stop
        return np.concatenate(found)

    def _rows_until_refits(self) -> int:
        """How many rows until a batch expert is fitted, or answers with what was."""
        counts = [expert.due for expert in self.refitted]
        counts += [expert.pending.row for expert in self.refitted if expert.pending is not None]
        return min(counts, default=self.kept.seen + (1 << 16)) - self.kept.seen

    def _rows_begun(self) -> int:
        return self.begun

    def _learn(self, rows: Table, y: np.ndarray, weights: Floats) -> Floats:
        self.begun += rows.n
        given = rows.given()
        standard = self.standard.rows(given, True)
        said = [
            expert.answer(rows, self.classes)
            if isinstance(expert, Refitted)
            else expert.learn(standard if expert.standardized else given, y, weights)
            for expert in self.experts
        ]
        heard = self._stacked(said) if self.heard is None else self.heard_earlier(y[0])
        try:
            answers = self.mixture.learn(heard, y, weights)
        finally:  # an interruption leaves rows that the average has learnt and nobody keeps
            if self.mixture.rows > self.kept.seen:
                if self.classifies:
                    np.add.at(self.class_weights, y.astype(np.int64), weights)
                self.kept.add(rows, y, weights)
        self.refit_due()
        return answers

    def heard_earlier(self, label: Any) -> Floats:
        """One row's forecasts of an earlier time; nobody is judged by a class that was not known then."""
        assert self.heard is not None
        if not self.classifies:
            return self.heard[None]
        known = self.heard.shape[1]
        found = np.zeros((1, len(self.experts), self.classes))
        found[0, :, :known] = self.heard
        found[0, np.isnan(self.heard).any(axis=1) if label < known else slice(None)] = np.nan
        return found

    def refit_due(self) -> None:
        """Begin the fits that are due, and let those answer whose row has come.

        One that is interrupted is done before the next row is learnt. One that fails says so once: its expert goes on
        with the model that it has, until its next fit.
        """
        row = self.kept.seen
        for place, expert in enumerate(self.experts):
            if not isinstance(expert, Refitted):
                continue
            if expert.due == row:
                self.behind = True
                self._begin(expert)
            if expert.pending is not None and expert.pending.row == row:
                self.behind = True
                expert.accept(self._finished(expert))
                (self.mixture.leave if expert.model is None else self.mixture.join)(place)
                expert.pending = None
        self.behind = False

    def _begin(self, expert: Refitted) -> None:
        row = self.kept.seen
        try:
            layout, fit = expert.begin(self.kept.last(expert.schedule.window), self.features)
            if self.refit == "inline":
                expert.pending = Refit(row, layout, fit())
            else:
                expert.pending = Refit(expert.schedule.effective(row), layout, Background(fit, self._pool()))
        except Exception:
            expert.due = expert.schedule.after(row)
            raise
        expert.due = expert.schedule.after(row)

    def _finished(self, expert: Refitted) -> Refit:
        """An expert's pending fit with its model."""
        assert expert.pending is not None
        try:
            return expert.pending.finished()
        except Exception:
            expert.pending = None
            raise

    def _pool(self) -> ThreadPoolExecutor:
        if self._threads is None or self._process != os.getpid():  # a fork leaves threads behind
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="anyboost-refit")
            self._process = os.getpid()
        return self._threads

    def await_refits(self) -> None:
        """Wait for the fits of the background; they answer from their own row on, as before."""
        for expert in self.refitted:
            if expert.pending is not None:
                expert.pending = self._finished(expert)

    def __getstate__(self) -> dict[str, Any]:
        self.await_refits()
        return self.__dict__ | {"_threads": None, "_one_row": None}

    def regret(self) -> TeamRegret:
        """Where the answers stand against the experts, and the best constant."""
        return self.mixture.regret()._replace(best_constant_loss=self._constant_loss())

    def _constant_loss(self) -> float | None:
        if self.classifies:
            counts = self.class_weights[self.class_weights > 0]
            return float(-(counts * np.log(counts / counts.sum())).sum())
        chain = next((expert for expert in self.experts if not isinstance(expert, Refitted)), None)
        return None if chain is None else chain.boosters[0].regret().best_constant_loss
