"""Numba at arm's length: one decorator for every kernel.

Kernels release the GIL and never use Numba's own threads (`backends.threads` says why).
"""

import gc
import os
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial

import numba
from numba.core import event

from anyboost.backends.turns import take_turns

_OWN_FILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What a kernel is for, by its folder or module; those not named are for boosting in general.
_WORK = {
    "online": "streams",
    "mirror": "averaging",
    "stump_learning": "averaging of stumps",
    "predictor": "predicting",
    "inclined": "predicting",
    "pairs": "ranking",
    "select": "quantiles",
    "dictionary": "dictionaries of functions",
    "lattice": "planning",
}
# Seconds of one fast core that the first fit compiles for, and the kernels.
_COLD = {"boosting": (20, 50), "streams": (50, 25)}
_WIDTH, _ERASED = 30, "\r\x1b[K"
_KERNELS: list = []  # those that are imported so far


def kernel(function=None, *, cached=True, **further):
    """Compile `function` on first call, from the on-disk cache where that can be written (or not, if not `cached`).

    None takes liberties with floating point (`fastmath`): the order of sums would differ between processors, and
    between the process that compiles and those that load. `backends.reductions` has fast sums in one order.
    """
    if function is None:
        return partial(kernel, cached=cached, **further)
    options = {"nogil": True, "error_model": "numpy", **further}
    try:
        compiled = numba.njit(function, cache=cached, **options)
    except RuntimeError:  # Numba refuses to cache where no cache folder can be written.
        compiled = numba.njit(function, **options)
    if cached:
        _KERNELS.append(compiled)
        _outlive_upgrades(compiled)
        take_turns(compiled)
    return compiled


def _outlive_upgrades(compiled):
    """Have an index of compiled code that names a class which is elsewhere now count as none, and not as an error.

    Numba reads the whole index before it looks whether the source is newer, and types of tuples are classes in it.
    """
    index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    read = getattr(index, "_load_index", None)  # of Numba's own: another version may have it elsewhere
    if read is None:
        return

    def read_or_none():
        try:
            return read()
        except (AttributeError, ImportError):
            return {}

    index._load_index = read_or_none


def entry(kernel, arguments):
    """The compiled function for arguments of these types, of a kernel that is called with them again and again.

    Numba finds it by the types of all arguments at each call, which takes longer than some kernels do.
    """
    return kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))


def bare(function):
    """A kernel that makes no arrays: it counts no references to those it is given, and is compiled faster."""
    return kernel(function, _nrt=False)


def inner(function):
    """A bare kernel that only kernels call: a way in from Python, which takes long to compile, is left out."""
    return kernel(function, _nrt=False, no_cpython_wrapper=True)


def inlined(function=None, *, early=False):
    """Lines that several kernels share, copied into each of them: a call would cost more than they do.

    LLVM copies them or, `early`, Numba before it knows types: to the same bits, as fast. The tree's kernels take a
    quarter less time to compile that way; for those of streams, Numba then finds no types.
    """
    if function is None:
        return partial(inlined, early=early)
    how = {"inline": "always"} if early else {"forceinline": True}
    return numba.njit(function, nogil=True, error_model="numpy", **how)


def cache_folders():
    """Where the kernels that are imported so far are kept for other processes; empty where no folder can be written."""
    return sorted({path for path in (compiled.stats.cache_path for compiled in _KERNELS) if path is not None})


class _Notice(event.Listener):
    """Says a line for each kind of work whose kernels are compiled rather than read from the cache.

    On a terminal a bar below it counts kernels while they are compiled.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._said = set()
        self._running = self._kernels = self._expected = 0
        self._spent = self._begun = 0.0
        self.muted = 0

    def on_start(self, event):
        if event.data["dispatcher"] not in _KERNELS:
            return
        source = event.data["dispatcher"].py_func.__code__.co_filename
        rooms = os.path.relpath(source, _OWN_FILES).removesuffix(".py").split(os.sep)
        work = next((_WORK[room] for room in reversed(rooms) if room in _WORK), "boosting")
        with self._lock:
            if not self._running:
                self._begun = time.monotonic()
            self._running += 1
            self._kernels += 1
            if self.muted:
                return
            if work not in self._said:
                self._say(work, event.data["dispatcher"].stats.cache_path)
            self._draw()

    def on_end(self, event):
        if event.data["dispatcher"] not in _KERNELS:
            return
        with self._lock:
            self._running -= 1
            if not self._running:
                self._spent += time.monotonic() - self._begun
                if not self.muted and _on_terminal():
                    print(_ERASED, end="", file=sys.stderr, flush=True)

    def _say(self, work, folder):
        first = not self._said
        self._said.add(work)
        seconds, kernels = _COLD.get(work, (0, 0))
        self._expected += kernels
        said = f"anyboost: compiling kernels for {work}"
        if seconds:
            said += f", which takes about {seconds} seconds where all are new"
        if first:
            said += f"{'; ' if seconds else ', and '}{_hereafter(folder)}"
        print(f"{_ERASED * _on_terminal()}{said}.", file=sys.stderr)

    def _draw(self):
        if not _on_terminal():
            return
        expected = max(self._expected, self._kernels + 1)
        filled = _WIDTH * self._kernels // expected
        spent = self._spent + time.monotonic() - self._begun
        bar = "#" * filled + "." * (_WIDTH - filled)
        line = f"{_ERASED}[{bar}] kernel {self._kernels} of about {expected}, {spent:.0f} s"
        print(line, end="", file=sys.stderr, flush=True)


def _on_terminal():
    """Whether a line on standard error can be written over: not where somebody else draws there."""
    return sys.stderr is sys.__stderr__ and sys.stderr is not None and sys.stderr.isatty()


def _hereafter(folder):
    """Whether other processes will have what this one compiles."""
    if folder is None:
        return "every process does, for no cache folder can be written: set NUMBA_CACHE_DIR to one that can"
    return "the next process has them (`anyboost warmup` compiles ahead what everyday work needs)"


class _Haste(event.Listener):
    """Compiling makes many objects that live until its end: looking for garbage among them takes a seventh of it."""

    def __init__(self):
        self._running = (
            0  # kernels, each for the sake of the one before; Numba compiles in one thread at a time
        )
        self._paused = False

    def on_start(self, event):
        if not self._running:
            self._paused = event.data["dispatcher"] in _KERNELS and gc.isenabled()
            if self._paused:
                gc.disable()
        self._running += 1

    def on_end(self, event):
        self._running -= 1
        if not self._running and self._paused:
            gc.enable()


_NOTICE = _Notice()
event.register("numba:compile", _NOTICE)
event.register("numba:compile", _Haste())


@contextmanager
def quiet():
    """No notice meanwhile, where someone else tells of the compiling."""
    with _NOTICE._lock:
        _NOTICE.muted += 1
    try:
        yield
    finally:
        with _NOTICE._lock:
            _NOTICE.muted -= 1
