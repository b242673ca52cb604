"""Rounds told to the client as they end: its callbacks hear of them there, and may stop the fit.

The worker at the first place posts each round, and the client fetches what is new. All members wait for the client
after each round, some milliseconds. Where there are no callbacks, nobody posts, and nobody waits.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from distributed.protocol import pickle  # takes losses of notebooks, too

from anyboost.boosting import Run
from anyboost.boosting.resuming import without_rows
from anyboost.certificates import Witness
from anyboost.dask.mesh import Stopped
from anyboost.descent import Geometry, Step
from anyboost.trees.journal import KeptTree
from anyboost.trees.parts import circle

_GO_ON, _STOP, _UNHEARD = range(3)  # what a round may end with: the largest that any member says
_LOOK = 0.1  # seconds between looks at whether the fit is called off


class Post:
    """What the first member has told, and what the client has answered."""

    def __init__(self) -> None:
        self.told: list[bytes] = []
        self._answers: dict[int, bool] = {}
        self._came = threading.Condition()

    def answer(self, number: int, stop: bool) -> None:
        """Take the client's answer to what was told as this number."""
        with self._came:
            self._answers[number] = stop
            self._came.notify_all()

    def ask(self, told: bytes, called_off: Callable[[], Any], patience: float) -> int:
        """Tell something, and wait for the answer: whether to go on."""
        self.told.append(told)
        number, deadline = len(self.told) - 1, time.monotonic() + patience
        with self._came:
            while number not in self._answers:
                if called_off() is not None:
                    return _STOP  # the next sum finds out why
                if time.monotonic() > deadline:
                    return _UNHEARD
                self._came.wait(_LOOK)
            return _STOP if self._answers.pop(number) else _GO_ON


class Told(NamedTuple):
    """A round, as the client needs it to follow; `run` is all of it, the first time."""

    step: Step
    run: Run | None
    shrink: float
    pieces: list[tuple[float, Any]]
    trees: list[KeptTree]
    norm: float
    geometry: Geometry | None
    witnesses: list[Witness]


class Reporter:
    """A callback of `boost` on every member: the first one tells of rounds, and all stop where the client says so."""

    def __init__(self, post: Post, place: int, patience: float, called_off: Callable[[], Any]) -> None:
        self._post, self._place, self._patience, self._called_off = post, place, patience, called_off
        self._terms = self._trees = 0

    def __call__(self, step: Step, run: Run) -> bool:
        found = _GO_ON
        if self._place == 0:
            told = pickle.dumps(self._told(step, run))
            found = self._post.ask(told, self._called_off, self._patience)
        found = int(circle().most(found))
        if found == _UNHEARD:
            raise Stopped(
                f"the callbacks at the client have not answered for {self._patience:g} seconds, in round {step.round}: "
                "have them do less, or give the fit a longer timeout"
            )
        return found == _STOP

    def _told(self, step: Step, run: Run) -> Told:
        first, ensemble, state, trees = self._terms == 0, run.ensemble, run.state, run.trees or []
        added, hypotheses = ensemble.added[self._terms :], ensemble.hypotheses[self._terms :]
        pieces, new = list(zip(added, hypotheses, strict=True)), trees[self._trees :]
        self._terms, self._trees = max(1, len(ensemble.hypotheses)), len(trees)
        return Told(
            step,
            without_rows(run) if first else None,
            ensemble.shrinks[-1],
            pieces,
            new,
            state.norm,
            state.geometry[-1] if state.geometry else None,
            state.evidence.witnesses,
        )


class Audience:
    """The client's callbacks, and the run as they see it: without its rows.

    Parameters
    ----------
    callbacks : sequence of callables
        Called as `callback(step, run)`; a true answer stops the fit.
    """

    def __init__(self, callbacks: Sequence[Callable[[Step, Run], object]]) -> None:
        self._callbacks = list(callbacks)
        self._run: Run | None = None
        self._stopped_at: int | None = None

    def hear(self, told: bytes) -> bool:
        """Take in a round; whether to stop. Rounds of an attempt before, which come again, are known."""
        found: Told = pickle.loads(told)
        run = self._run
        if run is not None and found.step.round <= len(run.steps):
            return found.step.round == self._stopped_at  # the attempt that was to stop may have died of it
        if run is None:
            assert found.run is not None
            run = found.run
        else:
            run = _with(run, found)
        self._run = run
        answers = [callback(found.step, run) for callback in self._callbacks]
        if any(answers):
            self._stopped_at = found.step.round
        return any(answers)


def _with(run: Run, told: Told) -> Run:
    """The run after one more round."""
    step, evidence = told.step, run.state.evidence
    run.ensemble.add_round(told.shrink, told.pieces)
    run.steps.append(step)
    assert run.trees is not None
    run.trees += told.trees
    if told.geometry is not None:
        run.state.geometry.append(told.geometry)
    evidence.rounds, evidence.witnesses, evidence.latest = step.round, told.witnesses, (step.round, [])
    if run.watch is not None and step.valid_loss is not None:
        run.watch.losses.append(step.valid_loss)
    return replace(run, state=replace(run.state, loss=step.loss, round=step.round, norm=told.norm))


async def fresh(post: Post | None, heard: int, seconds: float) -> list[bytes]:
    """What was told since, as soon as there is anything; nothing after some seconds without."""
    import asyncio

    deadline = time.monotonic() + seconds
    while post is None or len(post.told) <= heard:
        if post is None or time.monotonic() > deadline:
            return []
        await asyncio.sleep(0.003)
    return post.told[heard:]
