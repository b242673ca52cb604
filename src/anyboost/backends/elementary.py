"""exp, log and log1p of our own: the same bytes on every processor, and loops over them vectorize.

NumPy's differ between kinds of processors, and Numba's from NumPy's. These are sums, products and quotients alone, in
an order that no compiler may change (no fused multiply-add, no reassociation), so that IEEE 754 fixes every bit.

    exp(x):    x = n ln 2 + r with |r| <= ln(2)/2, and exp(r) = 1 + (r + r^2 p(r)) by its series
    log(x):    x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], s = f / (2 + f), and
               log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 q(s^2)), q the series of atanh
    log1p(x):  log(u) with u = 1 + x rounded, and what rounding lost over u
"""

import math
import struct
from functools import reduce
from types import FunctionType

from numba import types
from numba.extending import intrinsic

from anyboost.backends.compiler import kernel, part

_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest whole number in the lowest bits
_LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that n times it is exact
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SMALLEST, _LARGEST = -746.0, 710.0  # below the first exp is 0, above the second infinite
_ONE = 1023 << 52  # the bits of 1.0
_SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_MANTISSA = (1 << 52) - 1
_EXP = tuple(1.0 / math.factorial(k) for k in range(14, 1, -1))
_ATANH = tuple(2.0 / k for k in range(21, 1, -2))


@intrinsic
def bits_of(_context, _number):
    """The bits of a float as a whole number."""

    def generate(context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def number_of(_context, _bits):
    """The float with these bits."""

    def generate(context, builder, _signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@intrinsic
def _horner(_context, _x, coefficients):
    """((c_0 x + c_1) x + ...) x + c_n: one operation to Numba, whose work on each would take most of the compiling."""

    def generate(_context, builder, _signature, arguments):
        x, given = arguments
        found = builder.extract_value(given, 0)
        for place in range(1, len(coefficients)):
            found = builder.fadd(builder.fmul(found, x), builder.extract_value(given, place))
        return found

    return types.float64(types.float64, coefficients), generate


@part
def exp(x):
    """e^x, within one unit in the last place."""
    held = min(max(x, _SMALLEST), _LARGEST)
    shifted = held * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = (held - n * _LN2_HIGH) - n * _LN2_LOW
    p = _horner(r, _EXP)
    p = p * (r * r) + r
    # 2^n in two factors, for n from -1076 to 1024: one of them alone would leave the range of floats
    whole = bits_of(shifted) - bits_of(_ROUND)
    half = whole >> 1
    power = (1.0 + p) * number_of(_ONE + (half << 52)) * number_of(_ONE + ((whole - half) << 52))
    return power if x == x else x


@part
def _log(x, lost):
    """log(x) + lost / x, for x > 0 and a lost that rounding took from x."""
    tiny = x < 2.2250738585072014e-308
    bits = bits_of(x * 18014398509481984.0 if tiny else x)  # 2^54
    above = bits - _SQRT_HALF
    n = number_of((above >> 52) + bits_of(_ROUND)) - _ROUND
    n = n - 54.0 if tiny else n
    f = number_of((above & _MANTISSA) + _SQRT_HALF) - 1.0
    s = f / (2.0 + f)
    z = s * s
    q = _horner(z, _ATANH)
    square = 0.5 * f * f
    rest = s * (square + z * q) + (n * _LN2_LOW + lost / x)
    return n * _LN2_HIGH - ((square - rest) - f)


@part
def log(x):
    """ln x, within one unit in the last place; -inf at 0, NaN below."""
    found = _log(x, 0.0)
    found = math.inf if x == math.inf else found
    found = -math.inf if x == 0.0 else found
    return found if x >= 0.0 else math.nan


@part
def log1p(x):
    """ln(1 + x), within two units in the last place; -inf at -1, NaN below."""
    u = 1.0 + x
    lost = x - (u - 1.0) if x < 1.0 else 1.0 - (u - x)
    found = _log(u, lost)
    found = x if u == 1.0 else found
    found = math.inf if x == math.inf else found
    found = -math.inf if x == -1.0 else found
    return found if x >= -1.0 else math.nan


@kernel
def exp_each(x):
    """e^x of every number, in place."""
    for i in range(x.size):
        x[i] = exp(x[i])


@kernel
def log_each(x):
    """ln x of every number, in place."""
    for i in range(x.size):
        x[i] = log(x[i])


@kernel
def accumulate_logs(x):
    """log(e^x_0 + ... + e^x_i) for every i, in place."""
    for i in range(1, x.size):
        high, low = max(x[i - 1], x[i]), min(x[i - 1], x[i])
        x[i] = high if low == -math.inf else high + log1p(exp(low - high))


def _plainly(function):
    return FunctionType(function.py_func.__code__, _PLAIN)


# The same functions of a Python number, in the same bits: for one or two of them compiling would take too long.
_PLAIN = {
    **globals(),
    "bits_of": lambda number: struct.unpack("<q", struct.pack("<d", number))[0],
    "number_of": lambda bits: struct.unpack("<d", struct.pack("<q", bits))[0],
    "_horner": lambda x, coefficients: reduce(lambda found, c: found * x + c, coefficients),
}
_PLAIN["_log"] = _plainly(_log)
exp_of, log_of = _plainly(exp), _plainly(log)  # x above 0 for the logarithm
