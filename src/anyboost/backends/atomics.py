"""What threads that work together need of the machine: numbers that change at one stroke, and waiting."""

import os

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from anyboost.backends.compiler import inlined

_PATIENCE = 500  # looks, of some nanoseconds each, before others may have the core


def _place(context, builder, signature, arguments):
    data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
    return builder.gep(data, [arguments[1]])


@intrinsic
def add(_context, array, index, number):  # noqa: ARG001 (read from `arguments` below)
    """array[index] += number, at one stroke; what it was before."""

    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw(
            "add", _place(context, builder, signature, arguments), arguments[2], "seq_cst"
        )

    return types.int64(array, types.int64, types.int64), generate


@intrinsic
def load(_context, array, index):  # noqa: ARG001
    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_place(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(array, types.int64), generate


@intrinsic
def store(_context, array, index, number):  # noqa: ARG001
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


@inlined(early=True)
def rest(looks):
    """Nothing to do: look again, or give way."""
    if looks > _PATIENCE:
        _give_way()
    return looks + 1


AHEAD = 32  # rows between asking for a number and using it: some hundred nanoseconds


@intrinsic
def prefetch(_context, array, index):  # noqa: ARG001 (read from `arguments` below)
    """Ask for array[index] to be brought into the cache; nothing waits for it."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [place, *(ir.Constant(integer, flag) for flag in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate
