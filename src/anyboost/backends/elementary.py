"""exp, log and log1p of our own: the same bytes on every processor, and loops over them vectorize.

NumPy's differ between kinds of processors, and Numba's from NumPy's. These are sums, products and quotients alone, in
an order that no compiler may change (no fused multiply-add, no reassociation), so that IEEE 754 fixes every bit.

    exp(x):    x = n ln 2 + r with |r| <= ln(2)/2, and exp(r) = 1 + (r + r^2 p(r)) by its series
    log(x):    x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], s = f / (2 + f), and
               log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 q(s^2)), q the series of atanh
    log1p(x):  log(u) with u = 1 + x rounded, and what rounding lost over u
"""

import math
import operator
import struct
from types import FunctionType

from numba import types
from numba.extending import intrinsic

from anyboost.backends.compiler import inlined, kernel
from anyboost.backends.simd import lanes, select, wholes

_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest whole number in the lowest bits
_LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that n times it is exact
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SMALLEST, _LARGEST = -746.0, 710.0  # below the first exp is 0, above the second infinite
_ONE = 1023 << 52  # the bits of 1.0
_SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_MANTISSA = (1 << 52) - 1
_EXP = tuple(1.0 / math.factorial(k) for k in range(2, 15))
_EXP_DOWN = tuple(1.0 / math.factorial(k) for k in range(12, -1, -1))
_ATANH = tuple(2.0 / k for k in range(3, 22, 2))


def _read_as(context, builder, signature, arguments):
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))


@intrinsic
def bits_of(_context, number):
    """The bits of a float as a whole number; or lanes of them."""
    return wholes(lanes) if number == lanes else types.int64(types.float64), _read_as


@intrinsic
def number_of(_context, bits):
    """The float with these bits; or lanes of them."""
    return lanes(wholes) if bits == wholes else types.float64(types.int64), _read_as


def _in_pairs(x, terms, multiply, add):
    """c_0 + c_1 x + c_2 x^2 + ... as (c_0 + c_1 x) + (c_2 + c_3 x) x^2 + ...: pairs do not wait for each other."""
    while len(terms) > 1:
        alone = terms[len(terms) // 2 * 2 :]
        terms = [add(multiply(b, x), a) for a, b in zip(terms[::2], terms[1::2], strict=False)] + alone
        x = multiply(x, x)
    return terms[0]


@intrinsic
def _polynomial(_context, x, coefficients):
    """One operation to Numba, whose work on each of its many would take most of the compiling."""
    kind = lanes if x == lanes else types.float64

    def generate(context, builder, _signature, arguments):
        x, given = arguments
        terms = [builder.extract_value(given, place) for place in range(len(coefficients))]
        terms = [context.cast(builder, term, types.float64, kind) for term in terms]
        return _in_pairs(x, terms, builder.fmul, builder.fadd)

    return kind(kind, coefficients), generate


@inlined
def exp(x):
    """e^x, within one unit in the last place."""
    shifted = x * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = _polynomial(r, _EXP)
    p = p * (r * r) + r
    # 2^n in two factors, for n from -1076 to 1024: one of them alone would leave the range of floats
    whole = bits_of(shifted) - bits_of(_ROUND)
    half = whole >> 1
    power = (1.0 + p) * number_of(_ONE + (half << 52)) * number_of(_ONE + ((whole - half) << 52))
    power = select(x > _LARGEST, math.inf, power)  # NaN is none of these, and stays what it is
    return select(x < _SMALLEST, 0.0, power)


@intrinsic
def _fused(_context, a, b, c):  # noqa: ARG001
    """a b + c, rounded once: by an instruction where the processor has one, in the same bits where it does not."""

    def generate(_context, builder, _signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


# A second exponential, for the weights of many experts, the inner loop of mirror averaging, where `exp` would take 1.6
# times as long: it leaves out what lies beyond its range and fuses products with sums.
@inlined
def exp_down(x):
    """e^x for x <= 0, within one unit in the last place; under exp(-700), exp(-700)."""
    x = max(x, -700.0)
    shifted = _fused(x, _LOG2_E, _ROUND)
    n = shifted - _ROUND
    r = _fused(-n, _LN2_LOW, _fused(-n, _LN2_HIGH, x))
    p = 1.0 / 6227020800.0  # 13!
    for coefficient in _EXP_DOWN:
        p = _fused(p, r, coefficient)
    return p * number_of((bits_of(shifted) << 52) + _ONE)


@inlined
def _log(x, lost):
    """log(x) + lost / x, for x > 0 and a lost that rounding took from x."""
    tiny = x < 2.2250738585072014e-308
    bits = bits_of(select(tiny, x * 18014398509481984.0, x))  # 2^54
    above = bits - _SQRT_HALF
    n = number_of((above >> 52) + bits_of(_ROUND)) - _ROUND
    n = select(tiny, n - 54.0, n)
    f = number_of((above & _MANTISSA) + _SQRT_HALF) - 1.0
    s = f / (2.0 + f)
    z = s * s
    q = _polynomial(z, _ATANH)
    square = 0.5 * f * f
    rest = s * (square + z * q) + (n * _LN2_LOW + lost / x)
    return n * _LN2_HIGH - ((square - rest) - f)


@inlined
def log(x):
    """ln x, within one unit in the last place; -inf at 0, NaN below."""
    found = _log(x, 0.0)
    found = select(x == math.inf, math.inf, found)
    found = select(x == 0.0, -math.inf, found)
    return select(x >= 0.0, found, math.nan)


@inlined
def log1p(x):
    """ln(1 + x), within two units in the last place; -inf at -1, NaN below."""
    u = 1.0 + x
    lost = select(x < 1.0, x - (u - 1.0), 1.0 - (u - x))
    found = _log(u, lost)
    found = select(u == 1.0, x, found)
    found = select(x == math.inf, math.inf, found)
    found = select(x == -1.0, -math.inf, found)
    return select(x >= -1.0, found, math.nan)


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
    "number_of": lambda bits: struct.unpack("<d", struct.pack("<Q", bits & (1 << 64) - 1))[0],
    "_polynomial": lambda x, coefficients: _in_pairs(x, [*coefficients], operator.mul, operator.add),
}
_PLAIN["_log"] = _plainly(_log)
exp_of, log_of = _plainly(exp), _plainly(log)  # x above 0 for the logarithm
