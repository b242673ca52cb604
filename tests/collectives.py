"""Kinds of collective: who asks something of all parts of the rows. A worker may be told to die where it meets one."""

import os
import signal
import sys
from functools import wraps
from pathlib import Path

from distributed.diagnostics.plugin import WorkerPlugin

_ON_THE_WAY = ("trees/parts.py", "trees/rows.py", "dask/mesh.py")  # those who ask for others


def asking():
    """Who asks, as room.module.function."""
    frame = sys._getframe(1)
    while frame is not None:
        file, name = frame.f_code.co_filename.replace(os.sep, "/"), frame.f_code.co_name
        if "/anyboost/" in file and not file.endswith(_ON_THE_WAY) and not name.startswith("<"):
            return f"{frame.f_globals['__name__'].removeprefix('anyboost.')}.{name}"
        frame = frame.f_back
    return "nobody"


class Assassin(WorkerPlugin):
    """Kills the first worker that meets what a file names, which is gone then: a kind of collective, or "a door"."""

    name = "assassin"

    def __init__(self, order):
        self.order = str(order)

    def setup(self, worker):
        from anyboost.dask.mesh import Door, Mesh

        _obeying(Mesh, "trade", Path(self.order), asking)
        _obeying(Door, "_bind", Path(self.order), lambda: "a door")


def _obeying(cls, name, order, met):
    """Have a method look at the order first."""
    method = getattr(getattr(cls, name), "__wrapped__", getattr(cls, name))

    @wraps(method)
    def obey(own, *given):
        try:
            meant = order.read_text() == met()
            if meant:
                order.rename(order.with_suffix(".done"))
        except FileNotFoundError:
            meant = False  # nobody is to be killed, or another worker was first
        if meant:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(own, *given)

    setattr(cls, name, obey)
