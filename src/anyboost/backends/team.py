"""Threads that work on one compiled call together, handing over in a microsecond instead of forty.

One thread leads: it publishes a number of tasks, takes some itself, and waits for the rest. Others `claim` tasks until
the leader dismisses them. Nobody waits for a thread that has not come: those who are late find the work done.

`sync` is an int64 array of SIZE zeros, used once. Its first number counts, in its upper half, how often tasks were
published and in its lower half how many of these have been claimed.
"""

import os

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from anyboost.backends.compiler import kernel

CLAIMED, DONE, SIZE = 0, 8, 16  # on cache lines of their own
_TURN = 1 << 32
_DISMISSED = 1 << 62
_PATIENCE = 500  # looks, of some nanoseconds each, before others may have the core


def _place(context, builder, signature, arguments):
    data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
    return builder.gep(data, [arguments[1]])


@intrinsic
def _add(_context, array, index, number):  # noqa: ARG001 (read from `arguments` below)
    """array[index] += number, at one stroke; what it was before."""

    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw(
            "add", _place(context, builder, signature, arguments), arguments[2], "seq_cst"
        )

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def _load(_context, array, index):  # noqa: ARG001
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(array, types.int64), generate


@intrinsic
def _store(_context, array, index, number):  # noqa: ARG001
    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _place(context, builder, signature, arguments), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), generate


@intrinsic
def _give_way(_context):
    """Let another thread have the core, where the system can."""

    def generate(context, builder, _signature, _arguments):
        if hasattr(os, "sched_yield"):
            kind = ir.FunctionType(ir.IntType(32), [])
            builder.call(
                builder.module.globals.get("sched_yield") or ir.Function(builder.module, kind, "sched_yield"),
                [],
            )
        return context.get_dummy_value()

    return types.void(), generate


@kernel
def publish(sync):
    """Lead: new tasks, all of whose input is written."""
    _store(sync, DONE, 0)
    _store(sync, CLAIMED, (_load(sync, CLAIMED) // _TURN + 1) * _TURN)


@kernel
def claim(sync, tasks):
    """The number of a task to do; -1 where all are taken, -2 for good."""
    seen = _load(sync, CLAIMED)
    if seen < _TURN or (seen < _DISMISSED and seen % _TURN >= tasks):
        return -1
    seen = _add(sync, CLAIMED, 1)
    if seen >= _DISMISSED:
        return -2
    return seen % _TURN if seen % _TURN < tasks else -1


@kernel
def finish(sync):
    """A claimed task is done."""
    _add(sync, DONE, 1)


@kernel
def wait(sync, tasks):
    """Lead: until all tasks are done."""
    looks = 0
    while _load(sync, DONE) < tasks:
        looks += 1
        if looks > _PATIENCE:
            _give_way()


@kernel
def rest(looks):
    """Nothing to claim: look again, or give way."""
    if looks > _PATIENCE:
        _give_way()
    return looks + 1


@kernel
def dismiss(sync):
    """Lead: no more tasks."""
    _store(sync, CLAIMED, _DISMISSED)


def zeros() -> np.ndarray:
    """A new `sync`."""
    return np.zeros(SIZE, dtype=np.int64)
