"""`Mixture`: the experts' weights, who has joined and who leads, and the regret of the answers so far."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from anyboost.checks import Floats
from anyboost.losses import RowwiseLoss
from anyboost.online import labels
from anyboost.streams.mixing import MOST_SWITCHES, TOTALS, Averages, MixtureState, TeamTotals, top_weights
from anyboost.streams.mixing_classes import mix_classes
from anyboost.streams.mixing_numbers import mix_numbers
from anyboost.streams.stacking import new_stack

FLOOR = 1e-5  # the least probability that an expert is heard to give a class
SHARES = (0.0001, 0.001, 0.01, 0.05)
BOLD = (1.0, 0.125)  # rates by the answers' own mean loss, and an eighth of that
BOLD_SHARES = (0.001, 0.01)
BOLD_PRIOR = 0.9  # of all bold parts together, in the average
STACK_PRIOR = 0.5  # of the stack, beside the average
MOST_MOVES = 1000


class Move(NamedTuple):
    """A change of leader.

    Parameters
    ----------
    row : int
        After how many rows.
    before : str or None
        Who led; None: no one.
    leader : str
        Who leads.

    Examples
    --------
    >>> from anyboost.streams.mixture import Move
    >>> Move(500, "linear", "last 500").leader
    'last 500'
    """

    row: int
    before: str | None
    leader: str


class TeamRegret(NamedTuple):
    """Cumulative losses, weighted, of rows that were answered before they were learnt.

    Parameters
    ----------
    rows : int
        How many there were.
    loss : float
        Of the team's answers.
    experts : dict
        By expert: its loss since it joined, as the team hears it, less the team's on the same rows.
    best_expert : str or None
        The one that the team has the largest regret against.
    best_expert_regret : float
        That regret; below 0 where the team beats them all.
    bound : float or None
        What the theorem lets `best_expert_regret` be at most; None where rows weighed more than 1.
    fixed_weights_bound : float
        The regret against the best fixed weights in hindsight is at most this.
    leader : str or None
        Who leads now; see `drift_`.
    switching : dict
        By switches, 1 to 10: the regret against the best sequence of experts with so many, or fewer.
    best_constant_loss : float or None
        Of the constant that is best in hindsight; None where there is none, as for counts that are all 0.

    Examples
    --------
    >>> import anyboost as ab
    >>> model = ab.OnlineBoostingRegressor()
    >>> model.learn_one({"x": 1.0}, 2.0)
    >>> model.regret().rows
    1
    """

    rows: int
    loss: float
    experts: dict[str, float]
    best_expert: str | None
    best_expert_regret: float
    bound: float | None
    fixed_weights_bound: float
    leader: str | None
    switching: dict[int, float]
    best_constant_loss: float | None = None


class Mixture:
    """An average of experts of the given names that follows a changing best.

    loss : None for log loss of probabilities; else the loss of the scores that are mixed.
    """

    def __init__(self, names: list[str], loss: RowwiseLoss | None = None) -> None:
        self.names, self.loss = list(names), loss
        self.parts = class_parts() if loss is None else number_parts(loss.located)
        count, experts = len(self.parts.shares), len(names)
        stack = new_stack(experts + (loss is None))
        self.state = MixtureState(
            weights=np.zeros((count, experts)),
            past=np.zeros(count + 1),
            rates=np.zeros(count),
            joined=np.zeros(experts),
            own=np.zeros(experts),
            beside=np.zeros(experts),
            slopes=np.zeros(experts),
            smoothed=np.zeros(experts),
            labels=np.zeros(labels.SIZE),
            totals=np.zeros(1, TOTALS),
            **stack._asdict(),
            paths=np.zeros((MOST_SWITCHES, experts)),
        )
        self.state.totals["leader"] = -1.0
        self.moves: list[Move] = []
        self.fees = np.zeros((count, experts))  # of each expert, where it is followed by each average

    def __setstate__(self, state: dict[str, Any]) -> None:
        """From a pickle, whose arrays may lie in memory that cannot be written."""
        self.__dict__.update(state)
        self.fees = np.require(state.get("fees", self.usual_fees()), requirements="W")
        self.state = MixtureState(*(np.require(array, requirements="W") for array in self.state))
        self.parts = Averages(*(np.require(array, requirements="W") for array in self.parts))

    @property
    def totals(self) -> TeamTotals:
        """The sums so far, by name."""
        return TeamTotals(*self.state.totals.item())

    @property
    def rows(self) -> int:
        """How many rows were learnt."""
        return int(self.totals.rows)

    @property
    def weights(self) -> Floats:
        """(M,): what the average is mixed of, all being awake."""
        return top_weights(self.parts, self.state.past, self._top_rate())[:-1] @ self.state.weights

    def _top_rate(self) -> float:
        if self.loss is None:
            return 1.0
        return float(self.state.rates[-1])  # that of a cautious part

    def join(self, expert: int) -> None:
        """Let an expert in with the weight 1 / M of M members; what it had before it left is forgotten.

        What that costs, as logarithms: the others ln M/(M - 1); itself ln M, and by how much each average is not heard
        now. One that comes back is judged by all its rows and has given up what it had: it pays again.
        """
        if self.state.joined[expert]:
            return
        members = self.state.joined.sum() + 1.0
        judged = self.state.own[expert] != 0.0 or self.state.beside[expert] != 0.0
        self.fees[:, self.state.joined > 0] += math.log(members / max(members - 1.0, 1.0))
        fee = math.log(members) - self._heard_now()
        self.fees[:, expert] = self.fees[:, expert] + fee if judged else fee
        self.state.weights[:] *= 1.0 - 1.0 / members
        self.state.weights[:, expert] = 1.0 / members
        self.state.joined[expert] = 1.0
        given_up = members if judged else members / max(members - 1.0, 1.0)
        self.state.totals["entry"] += math.log(given_up)

    def _heard_now(self) -> Floats:
        """log of each average's part in the answer; at most that of before the first row, to which it may return."""
        with np.errstate(divide="ignore"):
            priors = np.log(self.parts.priors)
        logarithms = priors - self._top_rate() * self.state.past
        now = logarithms - np.logaddexp.reduce(logarithms)
        return np.minimum(now, priors)[:-1]

    def usual_fees(self) -> Floats:
        """The `fees` where all experts are there from the first row on, or are charged as if they were."""
        once = np.log(1.0 / self.parts.priors[:-1]) + self.totals.entry
        return np.repeat(once[:, None], len(self.names), axis=1)

    def leave(self, expert: int) -> None:
        """Let one go: the others have its weight."""
        if not self.state.joined[expert]:
            return
        self.state.joined[expert] = self.state.weights[:, expert] = 0.0
        mass = self.state.weights.sum(axis=1, keepdims=True)
        even = np.broadcast_to(
            self.state.joined / max(self.state.joined.sum(), 1.0), self.state.weights.shape
        )
        np.copyto(
            self.state.weights, np.where(mass > 0, self.state.weights / np.where(mass > 0, mass, 1.0), even)
        )

    def answer(self, forecasts: Floats) -> Floats:
        """Mixed forecasts: (n, K) of (n, M, K) probabilities, or (n,) of (n, M) scores; NaN sleeps."""
        return self._mix(forecasts, np.zeros(len(forecasts)), np.ones(len(forecasts)), False)

    def learn(self, forecasts: Floats, y: np.ndarray, weights: Floats) -> Floats:
        """The same, each row answered before its label is learnt from."""
        return self._mix(forecasts, y, weights, True)

    def _mix(self, forecasts: Floats, y: np.ndarray, weights: Floats, learning: bool) -> Floats:
        y = y.astype(np.int64 if self.loss is None else np.float64)
        weights = np.require(weights, requirements="W")  # kernels are compiled for memory that can be written
        leaders = np.empty(len(forecasts), dtype=np.int64)
        before, rows = int(self.totals.leader), self.rows
        answers: Floats = np.empty((len(forecasts), *forecasts.shape[2:]))
        mix, kind = self.kernel()
        mix(*kind, np.ascontiguousarray(forecasts), y, weights, learning, answers, leaders)
        if learning:
            self.note_moves(before, rows, leaders)
        return answers

    def kernel(self) -> tuple[Any, tuple[Any, ...]]:
        """What mixes forecasts, and its first arguments; these go on with forecasts, y, weights and the rest."""
        if self.loss is None:
            return mix_classes, (self.state, self.parts, FLOOR)
        return mix_numbers, (
            *(self.state, self.parts),
            *(self.loss.number, float(self.loss.parameter), self.loss.located),
        )

    def note_moves(self, before: int, rows: int, leaders: np.ndarray) -> None:
        """Keep the changes of leader, of rows that came after so many."""
        changed = np.flatnonzero(np.diff(leaders, prepend=before))
        for i in changed.tolist():
            was = before if i == 0 else int(leaders[i - 1])
            self.moves.append(
                Move(rows + i + 1, None if was < 0 else self.names[was], self.names[int(leaders[i])])
            )
        del self.moves[:-MOST_MOVES]

    def bound(self, switches: int = 0, expert: int | None = None) -> float | None:
        """By how much the answers' loss may exceed that of any sequence of experts with so many switches.

        expert : the one that the sequence begins with, from when it joined on; None: any.

        The entrance fee, ln M for who is there from the first row on, the switches and the share, over the rate; for
        losses of numbers also what rates and wild labels have cost. None where a row weighed more than 1: the theorem
        is about rows.
        """
        found, members = self.totals, max(float(self.state.joined.sum()), 1.0)
        if found.heaviest > 1.0:
            return None
        if found.rows == 0:
            return 0.0
        largest = 1.0 if self.loss is None else found.largest
        stays = max(found.rows - 1.0 - switches, 0.0)
        beginners = np.flatnonzero(self.state.joined) if expert is None else np.array([expert])
        costs = []
        for share, bold, fees in zip(self.parts.shares, self.parts.boldness, self.fees, strict=True):
            if bold == 0.0:
                once = fees[beginners] * (found.closed + largest)
                moving = switches * math.log(members / share) + stays * math.log(1.0 / (1.0 - share))
                costs.append(once + moving * largest)
        return float(np.min(costs, axis=0).max(initial=0.0)) + found.price + found.tamed

    def regret(self) -> TeamRegret:
        """Where the answers stand against the experts."""
        found, state = self.totals, self.state
        gaps = state.beside - state.own
        in_it = np.flatnonzero(state.joined)
        best = int(in_it[np.argmax(gaps[in_it])]) if len(in_it) else None
        return TeamRegret(
            rows=int(found.rows),
            loss=found.loss,
            experts={self.names[j]: -float(gaps[j]) for j in in_it.tolist()},
            best_expert=None if best is None else self.names[best],
            best_expert_regret=0.0 if best is None else float(gaps[best]),
            bound=self.bound(expert=best),
            fixed_weights_bound=max(0.0, float(state.slopes.max(initial=0.0))),
            leader=None if found.leader < 0 else self.names[int(found.leader)],
            switching=dict(enumerate((-state.paths[:, in_it].min(axis=1)).tolist(), start=1))
            if len(in_it)
            else {},
        )


def class_parts() -> Averages:
    """Log loss: one rate, which is the right one, and several shares."""
    return Averages(np.array(SHARES), np.zeros(len(SHARES)), _priors(np.ones(len(SHARES)), STACK_PRIOR))


def number_parts(located: bool) -> Averages:
    """Losses of numbers: bold rates, which have most of the say, and cautious ones, which have the bound.

    located : whether scores lie on the labels' scale, where there is a stack.
    """
    bold = [(share, rate) for rate in BOLD for share in BOLD_SHARES]
    cautious = [(share, 0.0) for share in BOLD_SHARES]
    shares, rates = np.array(bold + cautious).T.copy()
    priors = np.where(rates > 0, BOLD_PRIOR / len(bold), (1.0 - BOLD_PRIOR) / len(cautious))
    return Averages(shares, rates, _priors(priors, STACK_PRIOR if located else 0.0))


def _priors(averages: Floats, stack: float) -> Floats:
    return np.append(averages * ((1.0 - stack) / averages.sum()), stack)
