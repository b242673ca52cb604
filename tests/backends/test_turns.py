"""Processes that need the same kernel at once: one compiles it, and whatever becomes of that one, others go on."""

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

fcntl = pytest.importorskip("fcntl")

from numba.core import event  # noqa: E402

from anyboost.backends import turns  # noqa: E402
from anyboost.backends.compiler import kernel  # noqa: E402

# Two kernels, one for the sake of the other. Compiling is held up until the other process has come as far.
KERNELS = """
import os, sys, time
from pathlib import Path
from numba.core import event
from anyboost.backends.compiler import kernel

name, here = sys.argv[1], Path(sys.argv[2])

@kernel
def doubled(number):
    return 2 * number

@kernel
def doubled_and_one(number):
    return doubled(number) + 1

class Compiling(event.Listener):
    def on_start(self, event):
        with open(here / "compiled", "a") as file:
            file.write(event.data["dispatcher"].__name__ + "\\n")
        (here / (name + ".compiles")).touch()
        if name == "killed" and os.fork() == 0:
            time.sleep(600)  # a child, that the lock is not to stay with
        while name == "killed":
            time.sleep(1)
        time.sleep(0.5)  # long enough for the other to come by

    def on_end(self, event):
        pass

event.register("numba:compile", Compiling())
(here / (name + ".ready")).touch()
while not (here / "go").exists():
    time.sleep(0.01)
print(doubled_and_one(20))
"""


def process(folder, name):
    source = folder / "kernels_in_turn.py"
    source.write_text(KERNELS) if not source.exists() else None
    return subprocess.Popen(
        [sys.executable, str(source), name, str(folder)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(path):
    until = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} did not come"
        time.sleep(0.01)


def compiled(folder):
    return sorted((folder / "compiled").read_text().split())


def test_two_processes_compile_each_kernel_once(tmp_path):
    """A cross-validation on two processes took the time of the processor twice where nothing was compiled."""
    both = [process(tmp_path, name) for name in ("one", "other")]
    for name in ("one", "other"):
        wait_for(tmp_path / f"{name}.ready")
    (tmp_path / "go").touch()
    assert [each.communicate(timeout=120)[0] for each in both] == ["41\n", "41\n"]
    assert compiled(tmp_path) == ["doubled", "doubled_and_one"]
    third = process(tmp_path, "third")
    assert third.communicate(timeout=120)[0] == "41\n"
    assert compiled(tmp_path) == ["doubled", "doubled_and_one"]


def test_a_process_that_is_killed_while_it_compiles_holds_up_nobody(tmp_path):
    """Nor does a child that it had forked meanwhile."""
    (tmp_path / "go").touch()
    killed = process(tmp_path, "killed")
    try:
        wait_for(tmp_path / "killed.compiles")
        other = process(tmp_path, "other")
        wait_for(tmp_path / "other.ready")
        time.sleep(0.5)
        assert not (tmp_path / "other.compiles").exists()  # it waits
        killed.kill()
        assert other.communicate(timeout=120)[0] == "41\n"
        assert compiled(tmp_path) == ["doubled", "doubled_and_one", "doubled_and_one"]
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()


def fresh():
    @kernel
    def tripled(number):
        return 3 * number

    return tripled


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    from numba.core import config

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("refusal", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_where_a_file_system_has_no_locks_each_process_compiles(monkeypatch, refusal):
    def refuse(*_):
        raise OSError(refusal, "no locks here")

    monkeypatch.setattr(fcntl, "lockf", refuse)
    assert fresh()(7) == 21


def test_where_the_lock_s_file_cannot_be_made_each_process_compiles(monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "read only")

    monkeypatch.setattr(turns.os, "open", refuse)
    assert fresh()(7) == 21


def test_a_process_that_is_stopped_is_waited_for_so_long_and_no_longer(monkeypatch):
    monkeypatch.setattr(turns, "_tried", lambda *_: False)
    monkeypatch.setattr(turns, "PATIENCE", 0.05)
    assert fresh()(7) == 21


def test_locks_are_given_back_where_compiling_fails():
    @kernel
    def impossible(number):
        return number.no_such_thing

    with pytest.raises(Exception, match="no_such_thing"):
        impossible(7)
    assert turns._held == []


def test_a_kernel_that_is_cached_is_read_without_a_lock(monkeypatch):
    assert fresh()(7) == 21
    monkeypatch.setattr(turns, "_take", lambda *_: pytest.fail("a lock was taken"))
    starts = []

    class Compiling(event.Listener):
        def on_start(self, event):
            starts.append(event)

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Compiling()):
        assert fresh()(7) == 21
    assert not starts
