"""The boosters of a classifier: one a class against the rest, or one with a score a class.

Two classes need one booster, of the second class. When a third comes, its copy with all labels and scores turned
round is the booster of the first class: the losses here are the same at (f, y) and (-f, -y).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from anyboost.losses import RowwiseLoss
from anyboost.online.drift import Guard
from anyboost.online.regret import Regret
from anyboost.online.rows import Table, check_finite
from anyboost.online.rows import weights as checked_weights


class Member(NamedTuple):
    """A booster, and who guards it against drift."""

    booster: Any
    guard: Guard | None = None

    @property
    def learning(self) -> Any:
        """Who is given the rows to learn."""
        return self.guard or self.booster


Maker = Callable[[int | None], Member]


class OneVsRest:
    """Boosters of two-class losses."""

    def __init__(self, make: Maker, loss: RowwiseLoss) -> None:
        self.make, self.loss = make, loss
        self.classes = 0
        self.members: list[Member] = []
        self.signs: list[float] = []
        self.weights = np.zeros(0)  # of each class's rows so far
        self.rows = 0
        # Losses of the time when there were fewer boosters, and of each booster up to then.
        self.past = np.zeros(3)
        self.before: list[np.ndarray] = []

    def cover(self, classes: int) -> None:
        """Have a booster for each of so many classes."""
        if classes <= self.classes:
            return
        self.past, self.before = self._sums(), [_losses_of(member.booster) for member in self.members]
        if not self.members:
            self._add(1.0)
        if classes > 2 and len(self.members) == 1:
            turned = copy.deepcopy(self.members[0])
            self.members.insert(0, turned)
            self.signs.insert(0, -self.signs[0])
            self.before.insert(0, self.before[0])
        while classes > 2 and len(self.members) < classes:
            self._add(1.0)
        self.weights = np.pad(self.weights, (0, classes - self.classes))
        self.classes = classes

    def _rows_begun(self) -> int:
        return max((member.booster._rows_begun() for member in self.members), default=0)

    def _add(self, sign: float) -> None:
        self.members.append(self.make(None))
        self.signs.append(sign)
        self.before.append(np.zeros(3))

    def _aims(self) -> list[int]:
        """The class that each booster's label +1 stands for."""
        return [1] if len(self.members) == 1 else list(range(self.classes))

    def learn_row(
        self, columns: np.ndarray, values: np.ndarray, width: int, code: int, w: float
    ) -> list[float]:
        """Learn one encoded row; returns the classes' scores from before."""
        found, first = [], 1 if len(self.members) == 1 else 0
        for aim, (member, sign) in enumerate(zip(self.members, self.signs, strict=True), first):
            label = sign if code == aim else -sign
            found.append(member.learning._learn_row(columns, values, width, label, w))
        self.weights[code] += w
        self.rows += w > 0
        return self._spread_row(found)

    def learn_rows(self, table: Table, codes: np.ndarray, w: Any) -> np.ndarray:
        """Learn rows in order; returns the classes' scores from before, (n, k)."""
        found, table = [], check_finite(table)
        weights = checked_weights(w, len(codes))
        for aim, member, sign in zip(self._aims(), self.members, self.signs, strict=True):
            labels = np.where(codes == aim, sign, -sign)
            if member.guard is not None:
                found.append(member.guard._learn_rows(table, labels, w))
            else:  # what was checked once is not checked again for each class
                found.append(member.booster._learn_checked_rows(table, labels, weights))
        np.add.at(self.weights, codes, weights)  # one by one, as the loop does
        self.rows += int((weights > 0).sum())
        return self._spread(np.column_stack(found))

    def answer_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> list[float]:
        """The classes' scores of one encoded row."""
        return self._spread_row(
            [member.booster._score_row(columns, values, width) for member in self.members]
        )

    def scores_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
        """The same as an array."""
        return np.array(self.answer_row(columns, values, width))

    def scores(self, table: Table) -> np.ndarray:
        """The classes' scores, (n, k)."""
        found = [member.booster._score_rows(table) for member in self.members]
        return self._spread(np.column_stack(found) if found else np.zeros((table.n, 0)))

    def _spread(self, found: np.ndarray) -> np.ndarray:
        """With one booster: its score is the second class's, and the first has the opposite one."""
        if len(self.members) == 1:
            return np.column_stack([-found[:, 0], found[:, 0]])[:, : self.classes]
        return found * np.array(self.signs)

    def _spread_row(self, found: list[float]) -> list[float]:
        """The same for one row."""
        if len(found) == 1:
            return [-found[0], found[0]][: self.classes]
        return [score * sign for score, sign in zip(found, self.signs, strict=True)]

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Each class's own probability, over their sum."""
        own = self.loss.probabilities(scores)[..., 1]
        total = own.sum(axis=1, keepdims=True)
        even = np.full_like(own, 1.0 / max(1, self.classes))
        return np.divide(own, total, out=even, where=total > 0)

    def losses(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The mean over classes of each one's loss against the rest."""
        signs = np.where(np.arange(max(2, self.classes)) == codes[:, None], 1.0, -1.0)
        if self.classes == 1:
            scores = np.column_stack([scores, -scores])
        return self.loss.values(scores.ravel(), signs.ravel()).reshape(scores.shape).mean(axis=1)

    def regret(self) -> Regret:
        """Cumulative losses, each the mean over classes of the losses against the rest."""
        if len(self.members) == 1:
            found = self.members[0].booster.regret()
            return found._replace(best_constant_loss=self._constant_loss())
        loss, first, prefix = self._sums().tolist()
        why = "each class has a booster of its own, and the theorems are about one"
        return Regret(self.rows, loss, first, self._constant_loss(), prefix, self._longest(), None, why)

    def _sums(self) -> np.ndarray:
        if not self.members:
            return np.zeros(3)
        grown = [
            _losses_of(member.booster) - before
            for member, before in zip(self.members, self.before, strict=True)
        ]
        return self.past + np.mean(grown, axis=0)

    def _longest(self) -> int:
        return max(_longest_of(member.booster) for member in self.members)

    def _constant_loss(self) -> float:
        """The loss of the constant scores that are best in hindsight: a question of how often each class came."""
        total = float(self.weights.sum())
        found = [self._two_class_loss(own, total - own) for own in self.weights.tolist()]
        return float(np.mean(found)) if self.classes > 1 else 0.0

    def _two_class_loss(self, plus: float, minus: float) -> float:
        if plus <= 0 or minus <= 0:
            return 0.0
        labels, weights = np.array([1.0, -1.0]), np.array([plus, minus])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            constant = self.loss.best_constant(labels, weights)
        return float((weights * self.loss.values(np.full(2, constant), labels)).sum())


class OneForAll:
    """One booster of a loss with a score a class."""

    def __init__(self, make: Maker, loss: RowwiseLoss) -> None:
        self.make, self.loss = make, loss
        self.classes = 0
        self.members: list[Member] = []

    def cover(self, classes: int) -> None:
        """Have a score for each of so many classes; said once."""
        if not self.members:
            self.classes = max(2, classes)
            self.members = [self.make(self.classes)]

    def _rows_begun(self) -> int:
        return max((member.booster._rows_begun() for member in self.members), default=0)

    def learn_row(self, columns: np.ndarray, values: np.ndarray, width: int, code: int, w: float) -> None:
        """Learn one encoded row."""
        self.members[0].learning._learn_row(columns, values, width, code, w)

    def learn_rows(self, table: Table, codes: np.ndarray, w: Any) -> np.ndarray:
        """Learn rows in order; returns the classes' scores from before, (n, k)."""
        return np.asarray(self.members[0].learning._learn_rows(table, codes, w))

    def scores_row(self, columns: np.ndarray, values: np.ndarray, width: int) -> np.ndarray:
        """The classes' scores of one encoded row."""
        if not self.members:
            return np.zeros(0)
        return np.asarray(self.members[0].booster._score_row(columns, values, width))

    def scores(self, table: Table) -> np.ndarray:
        """The classes' scores, (n, k)."""
        return self.members[0].booster._score_rows(table) if self.members else np.zeros((table.n, 0))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Those of the loss's link."""
        return self.loss.probabilities(scores)

    def losses(self, scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """The loss of each row."""
        return self.loss.values(scores, codes)

    def regret(self) -> Regret:
        """That of the booster."""
        return self.members[0].booster.regret()


def _losses_of(booster: Any) -> np.ndarray:
    """Of its answers, of its first learner and of its best prefix: those of `regret`, of which more is dear."""
    return np.zeros(3) if booster.state is None else booster.state.losses()


def _longest_of(booster: Any) -> int:
    return int(booster.n_learners if booster.state is None else booster.state.best_prefix())
