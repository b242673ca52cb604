"""Numba at arm's length: one decorator for every kernel.

Kernels release the GIL and never use Numba's own threads (`backends.threads` says why).
"""

import os
import sys
import threading
from functools import partial

import numba
from numba.core import cgutils, event
from numba.extending import intrinsic

_OWN_FILES = os.path.dirname(os.path.abspath(__file__))
_NOTICE = "anyboost: compiling kernels for this machine, once; this takes some seconds."


def kernel(function=None, *, fastmath=False):
    """Compile `function` on first call, from the on-disk cache where that can be written.

    `fastmath` names the liberties (LLVM's words) that this kernel, and none that it calls, may take.
    """
    if function is None:
        return partial(kernel, fastmath=fastmath)
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # Numba refuses to cache where no cache folder can be written.
        return numba.njit(function, **options)


def inlined(function):
    """A few lines that several kernels share, written into each of them: a call would keep a loop from being fast."""
    return numba.njit(function, inline="always", nogil=True, error_model="numpy")


def part(function):
    """A piece of a kernel, copied into it: where rows are few nanoseconds long, a call would cost more."""
    return numba.njit(function, nogil=True, error_model="numpy", forceinline=True)


@intrinsic
def borrowed(typing_context, array):
    """The same array without a claim to its memory: Numba then counts no references to it.

    Only for arguments of a kernel, whose caller keeps them alive.
    """

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        view.meminfo = cgutils.get_null_value(view.meminfo.type)
        view.parent = cgutils.get_null_value(view.parent.type)
        return view._getvalue()

    return array(array), generate


class _FirstCompile(event.Listener):
    """Says one line when a kernel of ours is compiled rather than read from the cache."""

    def __init__(self):
        self._lock = threading.Lock()
        self._said = False

    def on_start(self, event):
        code = getattr(event.data["dispatcher"].py_func, "__code__", None)
        if code is None or not code.co_filename.startswith(_OWN_FILES):
            return
        with self._lock:
            if self._said:
                return
            self._said = True
        print(_NOTICE, file=sys.stderr)

    def on_end(self, event):
        pass


event.register("numba:compile", _FirstCompile())
