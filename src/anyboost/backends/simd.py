"""Several numbers side by side in one register, so that a formula written for one number runs on all of them.

Lanes are WIDTH doubles. They add, subtract, multiply, divide and compare lane by lane, also with a float, which then
counts for each; `min`, `max`, `abs`, `sqrt`, `select`, `every` and `some` take them too. Every lane has the very bits
that the formula has for its number alone: nothing is contracted or reordered. Their bits (`elementary.bits_of`) are
lanes of whole numbers, which add, subtract and shift. Loops that Numba vectorizes by itself need none of this; it is
for those with so many arrays, or so few turns, that the compiler gives up on them.
"""

import math
import operator

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, overload, register_model

WIDTH = 4
_DOUBLE = ir.DoubleType()
_NUMBERS = ir.VectorType(_DOUBLE, WIDTH)
_FLAGS = ir.VectorType(ir.IntType(1), WIDTH)


class _Lanes(types.Type):
    def __init__(self):
        super().__init__(name="Lanes")


class _Mask(types.Type):
    def __init__(self):
        super().__init__(name="LaneMask")


class _Wholes(types.Type):
    def __init__(self):
        super().__init__(name="LaneWholes")


lanes, mask, wholes = _Lanes(), _Mask(), _Wholes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _NUMBERS)


@register_model(_Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLAGS)


@register_model(_Wholes)
class _WholesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.VectorType(ir.IntType(64), WIDTH))


def _fill(builder, value):
    """The number in all lanes."""
    anything = ir.Constant(ir.VectorType(value.type, WIDTH), ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(anything, value, ir.Constant(ir.IntType(32), 0)),
        anything,
        ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH),
    )


@lower_cast(types.Float, _Lanes)
def _from_float(context, builder, kind, _to, value):
    return _fill(builder, context.cast(builder, value, kind, types.float64))


@lower_cast(types.Integer, _Lanes)
def _from_integer(context, builder, kind, _to, value):
    return _fill(builder, context.cast(builder, value, kind, types.float64))


@lower_cast(types.Integer, _Wholes)
def _from_whole(context, builder, kind, _to, value):
    return _fill(builder, context.cast(builder, value, kind, types.int64))


def _of_two(function, result, generate, operands=lanes):
    """Teach Numba an operation on two; a number beside lanes counts for each of them."""

    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and operands in args and not kws:
                return signature(result, operands, operands)
            return None

    lower_builtin(function, operands, operands)(
        lambda _context, builder, _signature, arguments: generate(builder, *arguments)
    )


_of_two(operator.add, lanes, lambda builder, a, b: builder.fadd(a, b))
_of_two(operator.sub, lanes, lambda builder, a, b: builder.fsub(a, b))
_of_two(operator.mul, lanes, lambda builder, a, b: builder.fmul(a, b))
_of_two(operator.truediv, lanes, lambda builder, a, b: builder.fdiv(a, b))
_of_two(operator.eq, mask, lambda builder, a, b: builder.fcmp_ordered("==", a, b))
_of_two(operator.lt, mask, lambda builder, a, b: builder.fcmp_ordered("<", a, b))
_of_two(operator.le, mask, lambda builder, a, b: builder.fcmp_ordered("<=", a, b))
_of_two(operator.gt, mask, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_of_two(operator.ge, mask, lambda builder, a, b: builder.fcmp_ordered(">=", a, b))
_of_two(operator.and_, mask, lambda builder, a, b: builder.and_(a, b), mask)
_of_two(operator.or_, mask, lambda builder, a, b: builder.or_(a, b), mask)
_of_two(operator.add, wholes, lambda builder, a, b: builder.add(a, b), wholes)
_of_two(operator.sub, wholes, lambda builder, a, b: builder.sub(a, b), wholes)
_of_two(operator.and_, wholes, lambda builder, a, b: builder.and_(a, b), wholes)
_of_two(operator.lshift, wholes, lambda builder, a, b: builder.shl(a, b), wholes)
_of_two(operator.rshift, wholes, lambda builder, a, b: builder.ashr(a, b), wholes)


# As Numba has them for numbers: the first of equals.
def _lesser(builder, a, b):
    return builder.select(builder.fcmp_ordered("<", b, a), b, a)


def _greater(builder, a, b):
    return builder.select(builder.fcmp_ordered(">", b, a), b, a)


_of_two(min, lanes, _lesser)
_of_two(max, lanes, _greater)


def _of_one(function, generate):
    """Teach Numba an operation on one."""

    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args, kws):
            return signature(lanes, lanes) if args == (lanes,) and not kws else None

    lower_builtin(function, lanes)(
        lambda _context, builder, _signature, arguments: generate(builder, *arguments)
    )


def _by_llvm(builder, name, result, operand):
    """A function that LLVM has for registers."""
    kind = ir.FunctionType(result, [operand.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [operand])


_of_one(operator.neg, lambda builder, a: builder.fneg(a))
_of_one(abs, lambda builder, a: _by_llvm(builder, f"llvm.fabs.v{WIDTH}f64", _NUMBERS, a))
_of_one(math.sqrt, lambda builder, a: _by_llvm(builder, f"llvm.sqrt.v{WIDTH}f64", _NUMBERS, a))


@intrinsic
def fill(_context, number):  # noqa: ARG001
    """The number in all lanes."""
    return lanes(types.float64), lambda _context, builder, _signature, arguments: _fill(builder, arguments[0])


@intrinsic
def beside(_context, a, b, c, d):  # noqa: ARG001
    """Four numbers, a lane each."""

    def generate(_context, builder, _signature, arguments):
        value = ir.Constant(_NUMBERS, ir.Undefined)
        for lane, number in enumerate(arguments):
            value = builder.insert_element(value, number, ir.Constant(ir.IntType(32), lane))
        return value

    return lanes(*[types.float64] * WIDTH), generate


@intrinsic
def apart(_context, value):  # noqa: ARG001
    """The number of each lane."""
    found = types.UniTuple(types.float64, WIDTH)

    def generate(context, builder, _signature, arguments):
        numbers = [
            builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), k)) for k in range(WIDTH)
        ]
        return context.make_tuple(builder, found, numbers)

    return found(lanes), generate


@intrinsic
def alone(_context, number, lane):  # noqa: ARG001
    """The number in one lane, and zeros in the others."""

    def generate(_context, builder, _signature, arguments):
        places = ir.Constant(ir.VectorType(ir.IntType(64), WIDTH), list(range(WIDTH)))
        here = builder.icmp_signed("==", places, _fill(builder, arguments[1]))
        return builder.select(here, _fill(builder, arguments[0]), ir.Constant(_NUMBERS, [0.0] * WIDTH))

    return lanes(types.float64, types.int64), generate


def select(flag, first, second):
    """first where flag, else second; both have been computed."""
    return first if flag else second


@overload(select, jit_options={"forceinline": True})
def _select(flag, first, second):  # noqa: ARG001
    if flag == mask:
        return lambda flag, first, second: _select_lanes(flag, first, second)
    return lambda flag, first, second: first if flag else second


@intrinsic
def _select_lanes(_context, flag, first, second):  # noqa: ARG001
    def generate(_context, builder, _signature, arguments):
        return builder.select(*arguments)

    return lanes(mask, lanes, lanes), generate


def every(flag):
    """Whether the flag is set in every lane."""
    return flag


def some(flag):
    """Whether the flag is set in any lane."""
    return flag


@overload(every, jit_options={"forceinline": True})
def _every(flag):
    return (lambda flag: _all(flag)) if flag == mask else (lambda flag: flag)


@overload(some, jit_options={"forceinline": True})
def _some(flag):
    return (lambda flag: _any(flag)) if flag == mask else (lambda flag: flag)


@intrinsic
def _all(_context, flag):  # noqa: ARG001
    return types.boolean(mask), _reduced("and")


@intrinsic
def _any(_context, flag):  # noqa: ARG001
    return types.boolean(mask), _reduced("or")


def _reduced(word):
    name = f"llvm.vector.reduce.{word}.v{WIDTH}i1"
    return lambda _context, builder, _signature, flags: _by_llvm(builder, name, ir.IntType(1), *flags)


def _place(context, builder, array_type, array, row, column):
    """A pointer to array[row, column], neither of them negative; array[column] where there are no rows."""
    view = context.make_array(array_type)(context, builder, value=array)
    number = builder.mul(column, ir.Constant(ir.IntType(64), array_type.dtype.bitwidth // 8))
    if array_type.ndim > 1:
        number = builder.add(number, builder.mul(row, builder.extract_value(view.strides, 0)))
    data = builder.bitcast(view.data, ir.IntType(8).as_pointer())
    single = array_type.dtype == types.float32
    vector = ir.VectorType(ir.FloatType(), WIDTH) if single else _NUMBERS
    return builder.bitcast(builder.gep(data, [number]), vector.as_pointer()), single


@intrinsic
def load(_context, array, row, column):  # noqa: ARG001
    """WIDTH numbers from array[row, column] on."""

    def generate(context, builder, signature, arguments):
        place, single = _place(context, builder, signature.args[0], *arguments)
        value = builder.load(place, align=4 if single else 8)
        return builder.fpext(value, _NUMBERS) if single else value

    return lanes(array, types.int64, types.int64), generate


@intrinsic
def store(_context, array, row, column, value):  # noqa: ARG001
    """Write WIDTH numbers from array[row, column] on."""

    def generate(context, builder, signature, arguments):
        place, single = _place(context, builder, signature.args[0], *arguments[:3])
        value = arguments[3]
        if single:
            value = builder.fptrunc(value, ir.VectorType(ir.FloatType(), WIDTH))
        builder.store(value, place, align=4 if single else 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, lanes), generate


def _by_pairs(combine):
    """One number from all lanes."""

    def generate(_context, builder, _signature, arguments):
        found = [builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), k)) for k in range(WIDTH)]
        while len(found) > 1:
            found = [combine(builder, a, b) for a, b in zip(found[::2], found[1::2], strict=True)]
        return found[0]

    return generate


@intrinsic
def total(_context, value):  # noqa: ARG001
    """The sum over lanes, by pairs."""
    return types.float64(lanes), _by_pairs(lambda builder, a, b: builder.fadd(a, b))


@intrinsic
def least(_context, value):  # noqa: ARG001
    """The least of the lanes."""
    return types.float64(lanes), _by_pairs(_lesser)


@intrinsic
def greatest(_context, value):  # noqa: ARG001
    """The greatest of the lanes."""
    return types.float64(lanes), _by_pairs(_greater)


@intrinsic
def load_some(_context, array, row, column, count):  # noqa: ARG001
    """`count` numbers from array[row, column] on, and zeros for the rest."""

    def generate(context, builder, signature, arguments):
        place, single = _place(context, builder, signature.args[0], *arguments[:3])
        kind = place.type.pointee
        small = ir.IntType(32)
        limit = _fill(builder, builder.trunc(arguments[3], small))
        there = builder.icmp_unsigned(
            "<", ir.Constant(ir.VectorType(small, WIDTH), list(range(WIDTH))), limit
        )
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(kind, [place.type, small, _FLAGS, kind]),
            f"llvm.masked.load.v{WIDTH}f{32 if single else 64}.p0",
        )
        zeros = ir.Constant(kind, [0.0] * WIDTH)
        value = builder.call(function, [place, ir.Constant(small, 4 if single else 8), there, zeros])
        return builder.fpext(value, _NUMBERS) if single else value

    return lanes(array, types.int64, types.int64, types.int64), generate


@intrinsic
def load_upwards(_context, array, row, column):  # noqa: ARG001
    """array[row, column], array[row - 1, column], and so on."""

    def generate(context, builder, signature, arguments):
        view = context.make_array(signature.args[0])(context, builder, value=arguments[0])
        stride = builder.extract_value(view.strides, 0)
        place, _ = _place(context, builder, signature.args[0], *arguments)
        place = builder.bitcast(place, ir.IntType(8).as_pointer())
        value, offset = ir.Constant(_NUMBERS, ir.Undefined), ir.Constant(ir.IntType(64), 0)
        for lane in range(WIDTH):
            number = builder.load(
                builder.bitcast(builder.gep(place, [offset]), _DOUBLE.as_pointer()), align=8
            )
            value = builder.insert_element(value, number, ir.Constant(ir.IntType(32), lane))
            offset = builder.sub(offset, stride)
        return value

    return lanes(array, types.int64, types.int64), generate
