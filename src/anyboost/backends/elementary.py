"""exp, log and log1p of our own: the same bytes on every processor, and loops over them vectorize.

NumPy's differ between kinds of processors, and Numba's from NumPy's. These are sums, products and quotients alone, in
an order that no compiler may change (no fused multiply-add, no reassociation), so that IEEE 754 fixes every bit.

    exp(x):    x = n ln 2 + r with |r| <= ln(2)/2, and exp(r) = 1 + (r + r^2 p(r)) by its series
    log(x):    x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], s = f / (2 + f), and
               log(1 + f) = f - f^2/2 + s (f^2/2 + s^2 q(s^2)), q the series of atanh
    log1p(x):  log(u) with u = 1 + x rounded, and what rounding lost over u
"""

import math

from numba import types
from numba.extending import intrinsic

from anyboost.backends.compiler import inlined

_ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest whole number in the lowest bits
_LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that n times it is exact
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SMALLEST, _LARGEST = -746.0, 710.0  # below the first exp is 0, above the second infinite
_ONE = 1023 << 52  # the bits of 1.0
_SQRT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_MANTISSA = (1 << 52) - 1


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


@inlined
def exp(x):
    """e^x, within one unit in the last place."""
    held = min(max(x, _SMALLEST), _LARGEST)
    shifted = held * _LOG2_E + _ROUND
    n = shifted - _ROUND
    r = (held - n * _LN2_HIGH) - n * _LN2_LOW
    p = 1.0 / 87178291200.0
    p = p * r + 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * (r * r) + r
    # 2^n in two factors, for n from -1076 to 1024: one of them alone would leave the range of floats
    whole = bits_of(shifted) - bits_of(_ROUND)
    half = whole >> 1
    power = (1.0 + p) * number_of(_ONE + (half << 52)) * number_of(_ONE + ((whole - half) << 52))
    return power if x == x else x


@inlined
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
    q = 2.0 / 21.0
    q = q * z + 2.0 / 19.0
    q = q * z + 2.0 / 17.0
    q = q * z + 2.0 / 15.0
    q = q * z + 2.0 / 13.0
    q = q * z + 2.0 / 11.0
    q = q * z + 2.0 / 9.0
    q = q * z + 2.0 / 7.0
    q = q * z + 2.0 / 5.0
    q = q * z + 2.0 / 3.0
    square = 0.5 * f * f
    rest = s * (square + z * q) + (n * _LN2_LOW + lost / x)
    return n * _LN2_HIGH - ((square - rest) - f)


@inlined
def log(x):
    """ln x, within one unit in the last place; -inf at 0, NaN below."""
    found = _log(x, 0.0)
    found = math.inf if x == math.inf else found
    found = -math.inf if x == 0.0 else found
    return found if x >= 0.0 else math.nan


@inlined
def log1p(x):
    """ln(1 + x), within two units in the last place; -inf at -1, NaN below."""
    u = 1.0 + x
    lost = x - (u - 1.0) if x < 1.0 else 1.0 - (u - x)
    found = _log(u, lost)
    found = x if u == 1.0 else found
    found = math.inf if x == math.inf else found
    found = -math.inf if x == -1.0 else found
    return found if x >= -1.0 else math.nan
