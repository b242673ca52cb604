"""Kinds of collective: who asks something of all parts of the rows. A worker may be told to die where it meets one.

Or at any moment of a round.
"""

import json
import os
import signal
import sys
import threading
from collections import Counter
from functools import wraps
from pathlib import Path

from distributed.diagnostics.plugin import WorkerPlugin

_PACKAGE = "anyboost."
_ON_THE_WAY = ("trees.parts", "trees.rows", "dask.mesh")  # modules that ask for others


def asking():
    """The function of the library that asks, as package.module.function.

    It is known by its module's name: a clone may lie in any folder, one named `anyboost` too.
    """
    frame = sys._getframe(1)
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        inside = module.startswith(_PACKAGE) and module.removeprefix(_PACKAGE) not in _ON_THE_WAY
        if inside and not name.startswith("<"):
            return f"{module.removeprefix(_PACKAGE)}.{name}"
        frame = frame.f_back
    return "nobody"


class Assassin(WorkerPlugin):
    """Kills the first worker that meets what a file names, which is gone then: a kind of collective, or "a door".

    A number after it says at which of its meetings in one attempt.
    """

    name = "assassin"

    def __init__(self, order):
        self.order = str(order)

    def setup(self, worker):
        from anyboost.dask.mesh import Door, Mesh

        _obeying(Mesh, "trade", Path(self.order), asking)
        _obeying(Door, "_bind", Path(self.order), lambda: "a door")


def order_of(kind, meeting=1):
    """What the file is to say."""
    return f"{kind} {meeting}"


def _obeying(cls, name, order, met):
    """Have a method look at the order first."""
    method = getattr(getattr(cls, name), "__wrapped__", getattr(cls, name))

    @wraps(method)
    def obey(own, *given):
        try:
            kind, meeting = order.read_text().rsplit(" ", 1)
            meetings = own.__dict__.setdefault("meetings", Counter())
            meetings[met()] += 1
            meant = meetings[kind] >= int(meeting) and kind == met()
            if meant:
                order.rename(order.with_suffix(".done"))
        except FileNotFoundError:
            meant = False  # nobody is to be killed, or another worker was first
        if meant:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(own, *given)

    setattr(cls, name, obey)


class Marksman(WorkerPlugin):
    """Kills the worker at a place of a fit, some seconds after it has begun a round, and writes down what it was doing.

    Each line of a file is one kill of an attempt of its own: place, how many members it has at least, round, seconds.
    Before the last round the worker waits for its end: on a machine of any speed the fit is not over before.
    """

    name = "marksman"

    def __init__(self, orders, rounds):
        self.orders, self.log, self.last = Path(orders), Path(orders).with_suffix(".log"), rounds - 1
        self.shots = []

    def setup(self, worker):
        from anyboost.dask.workers import _Followed
        from anyboost.trees.parts import circle

        recall = getattr(_Followed.recall, "__wrapped__", _Followed.recall)

        @wraps(recall)
        def obey(journal):
            self._look(journal, circle())
            return recall(journal)

        _Followed.recall = obey

    def _look(self, journal, here):
        if journal.place == self.last:
            for shot in self.shots:
                shot.join()
        attempt, done = _attempt_of(journal), self.log.read_text() if self.log.exists() else ""
        left = self.orders.read_text().splitlines()[done.count("\n") :] if self.orders.exists() else []
        if not left or attempt is None or attempt in done:
            return
        place, least, at, seconds = left[0].split()
        if here.size >= int(least) and here.place == int(place) % here.size and journal.place == int(at):
            self.shots.append(threading.Timer(float(seconds), self._shoot, (journal, attempt, here.size)))
            self.shots[-1].start()

    def _shoot(self, journal, attempt, members):
        told = {"attempt": attempt, "members": members, "round": journal.place, "known": len(journal.kept)}
        with self.log.open("a") as log:
            log.write(json.dumps(told | {"at_work": _attempt_of(journal) == attempt}) + "\n")
        os.kill(os.getpid(), signal.SIGKILL)


def _attempt_of(journal):
    """The attempt that a journal is used in; None where it is over."""
    from anyboost.dask import workers

    return next((name for (name, _), seat in list(workers._seats.items()) if seat.journal is journal), None)
