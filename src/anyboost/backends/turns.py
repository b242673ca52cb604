"""Processes that need the same kernel compile it once: one compiles, the others wait and read it from the cache.

A process that does not find a kernel in the cache takes the kernel's lock before it compiles, and looks once more.
Locks are record locks (fcntl) on one file in the cache folder, a byte for each kernel: the system gives them
back when their process ends, killed or not, and a fork does not inherit them. Where they do not work, each process
compiles.
"""

import hashlib
import os
import time
from contextlib import suppress

from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FILE = "anyboost-compiling.lock"
PATIENCE = 300.0  # seconds that one kernel is waited for: its process may have been stopped and not ended
PAUSE = 0.02  # seconds between two tries

_files: dict[str, int] = {}  # by folder; never closed, for closing one gives up all its locks
_held: list[tuple[int, int]] = []  # file and byte of each lock, the last one taken last
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_held.clear)


def take_turns(compiled):
    """Have this kernel compiled by one process at a time."""
    cache = getattr(compiled, "_cache", None)
    index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
    if fcntl is None or index is None:  # no cache, or a version of Numba that has it elsewhere
        return
    load, compile_one = cache.load_overload, compiled.compile

    def load_or_wait(signature, context):
        found = load(signature, context)
        if found is None and _take(index):
            found = load(signature, context)  # compiled meanwhile
        return found

    def compile_in_turn(signature):
        with (
            global_compiler_lock
        ):  # one thread at a time compiles, so that locks are given back in their order
            before = len(_held)
            try:
                return compile_one(signature)
            finally:
                while len(_held) > before:
                    _give_back()

    cache.load_overload, compiled.compile = load_or_wait, compile_in_turn


def _take(index):
    """Wait for the lock of the kernel with this index file; False where there are no locks, or it takes too long."""
    folder, name = os.path.split(index)
    byte = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")
    until = time.monotonic() + PATIENCE
    try:
        if folder not in _files:
            os.makedirs(folder, exist_ok=True)
            _files[folder] = os.open(os.path.join(folder, FILE), os.O_RDWR | os.O_CREAT, 0o666)
        while not _tried(_files[folder], byte):
            if time.monotonic() > until:
                return False
            time.sleep(PAUSE)
    except OSError:  # a folder that cannot be written, or a file system without locks
        return False
    _held.append((_files[folder], byte))
    return True


def _tried(file, byte):
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):  # what systems call a lock of somebody else
        return False
    return True


def _give_back():
    file, byte = _held.pop()
    if (file, byte) not in _held:  # a kernel that is compiled for the sake of itself, for other types
        with suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_UN, 1, byte)
