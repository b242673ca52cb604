"""Targets, curvatures and masses in fixed point: what histograms add up, each rounded once, by at most half a unit."""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from anyboost.backends import threads
from anyboost.backends.arrays import ArrayPool
from anyboost.backends.compiler import bare, inlined
from anyboost.backends.sums import (
    MOST_BITS,
    ROUNDER,
    ROUNDER_BITS,
    SMALLEST,
    PartedRows,
    as_int,
    largest,
    spread,
    sum_bits,
)

PACKED_BITS = 14  # of a packed entry, for the mass: what 2^14 rows of mass one fill
_LEAST_CHUNK = 2_000  # rows under which unpacking would cost more than packing saves
FEW_CHANNELS = 4  # up to here each channel is stored, and counted, by itself


def target_bits(mass: int) -> int:
    """Bits for the largest target such that the sum over rows of this whole mass fits, packed or not."""
    length = max(1, mass.bit_length())
    return min(MOST_BITS, 63 - 2 * min(PACKED_BITS, length), 62 - length)


class Fixed(NamedTuple):
    """mass_n target_n, mass_n kappa_n where there is curvature, and mass_n as integers: what histograms add up.

    The mass is the last channel, after a target an output and a curvature an output. Where masses are small whole
    numbers and there is one output, the last two share one, number * 2^shift + mass: one addition counts both, and the
    sum over up to `chunk` rows can be taken apart again. Else shift is 0. Channels lie one after the other where they
    are few, and side by side, a row's together, where they are many or `paired`.
    """

    channels: np.ndarray
    shift: int
    chunk: int
    unit: float  # of the targets
    outputs: int
    kappa_unit: float | None = None  # of the curvatures, where there are any
    whole: bool = False  # masses are whole numbers: where one is 0, so are all channels of its row

    @property
    def paired(self) -> bool:
        """Whether there are two channels, the target, and the curvature with the mass."""
        return self.shift > 0 and self.kappa_unit is not None

    @property
    def sums(self) -> int:
        """How many numbers a histogram has for a bin."""
        return self.outputs * (1 if self.kappa_unit is None else 2) + 1


@bare
def _fix_packed(a, scale, shift, start, stop, out):
    a, out = a[start:stop], out[start:stop]
    for i in range(a.size):
        out[i] = (as_int(a[i] * scale) << shift) + 1


@bare
def _fix_packed_weighted(a, mass, scale, shift, start, stop, out):
    a, mass, out = a[start:stop], mass[start:stop], out[start:stop]
    for i in range(a.size):
        out[i] = mass[i] * ((as_int(a[i] * scale) << shift) + 1)


@inlined(early=True)
def _up(x):
    # The next integer from x on, so that what is positive stays so.
    whole = x + ROUNDER
    return np.float64(whole).view(np.int64) - ROUNDER_BITS + (whole - ROUNDER < x)


@bare
def _fix_pairs(a, kappa, masses, scale, kappa_scale, shift, start, stop, out):
    # Of one output, the target, and curvature and mass together; `out` (2 n,).
    a, kappa, out = a[start:stop], kappa[start:stop], out[2 * start : 2 * stop]
    for i in range(a.size):
        target, other = as_int(a[i] * scale), (_up(kappa[i] * kappa_scale) << shift) + 1
        if masses is not None:
            mass = masses[start + i]
            target, other = mass * target, mass * other
        out[2 * i], out[2 * i + 1] = target, other


@bare
def _fix_channels(a, kappa, mass, fixed_mass, scale, kappa_scale, start, stop, out):
    # Whole masses multiply the rounded target, so that a row of mass m counts exactly as much as m rows; others
    # (`mass` is empty for whole ones) are rounded with it.
    outputs = a.shape[1]
    for i in range(start, stop):
        for j in range(outputs):
            if mass.size:
                out[i, j] = as_int(mass[i] * a[i, j] * scale)
            else:
                out[i, j] = fixed_mass[i] * as_int(a[i, j] * scale)
            if kappa is not None:
                if mass.size:
                    out[i, outputs + j] = _up(mass[i] * kappa[i, j] * kappa_scale)
                else:
                    out[i, outputs + j] = fixed_mass[i] * _up(kappa[i, j] * kappa_scale)
        out[i, out.shape[1] - 1] = fixed_mass[i]


def fixed_mass(mass: np.ndarray, whole: bool, rows: PartedRows) -> tuple[np.ndarray, float]:
    """mass_n as (n,) integers times a unit."""
    if whole:
        return mass.astype(np.int64), 1.0
    exponent = math.frexp(float(rows.most(mass.max(initial=0.0))))[1] - sum_bits(rows.n)
    return np.rint(mass * math.ldexp(1.0, -exponent)).astype(np.int64), math.ldexp(1.0, exponent)


def fixed(
    a: np.ndarray,
    kappa: np.ndarray | None,
    mass: np.ndarray | None,
    whole: bool,
    masses: np.ndarray,
    total: float,
    tops: tuple[float | None, float | None],
    rows: PartedRows,
    arrays: ArrayPool | None = None,
) -> Fixed:
    """Targets and curvatures (n, k) in fixed point; `masses` are those of `fixed_mass`, `total` their sum if whole.

    The largest |a|, or |mass a| where masses are not whole, takes `target_bits` bits, and each term is rounded
    by at most half a unit; curvatures likewise, but they are rounded up: none that is positive vanishes. A non-finite
    term gives a NaN unit. `tops` are max |a| and max kappa where they are known.
    """
    n, outputs, n_threads = *a.shape, rows.n_threads
    held = int(total) if whole else rows.n
    factors = None if whole or mass is None else spread(mass, outputs).reshape(a.shape)
    scale, unit = _scaled(a, factors, tops[0], held, rows)
    kappa_scale, kappa_unit = (0.0, None) if kappa is None else _scaled(kappa, factors, tops[1], held, rows)
    if math.isnan(unit) or (kappa_unit is not None and math.isnan(kappa_unit)):
        nothing = np.zeros_like(a)
        found = fixed(
            nothing, None if kappa is None else nothing, mass, whole, masses, total, (0.0, 0.0), rows
        )
        return found._replace(unit=math.nan)
    arrays = arrays or ArrayPool()
    shift = min(PACKED_BITS, held.bit_length())
    chunk = max(n, 1)
    if held >= 2**shift:
        chunk = (2**shift - 1) // (1 if mass is None else int(masses.max(initial=1)))
    if outputs == 1 and whole and (chunk >= n or chunk >= _LEAST_CHUNK):
        scales, weights = (scale, kappa_scale, shift), None if mass is None else masses
        channels = _packed(a.reshape(-1), kappa, weights, scales, n_threads, arrays)
        return Fixed(channels, shift, chunk, unit, outputs, kappa_unit, whole)
    found = Fixed(np.empty(0), 0, max(n, 1), unit, outputs, kappa_unit, whole)
    out = np.empty((n, found.sums), dtype=np.int64, order="F" if found.sums <= FEW_CHANNELS else "C")
    real = np.empty(0) if mass is None or whole else mass
    threads.over_blocks(
        lambda start, stop: _fix_channels(a, kappa, real, masses, scale, kappa_scale, start, stop, out),
        n,
        n_threads,
    )
    return found._replace(channels=out)


def _packed(
    target: np.ndarray,
    kappa: np.ndarray | None,
    masses: np.ndarray | None,
    scales: tuple[float, float, int],
    n_threads: int,
    arrays: ArrayPool,
) -> np.ndarray:
    """Channels of one output, in which the mass shares the number of the target, or of the curvature (n, 2)."""
    n, (scale, kappa_scale, shift) = len(target), scales
    if kappa is not None:
        channels = arrays.empty((n, 2), np.int64)
        given, out = (target, kappa.reshape(-1), masses, scale, kappa_scale, shift), channels.reshape(-1)
        threads.over_blocks(lambda start, stop: _fix_pairs(*given, start, stop, out), n, n_threads)
        return channels
    packed = arrays.empty(n, np.int64)
    if masses is None:
        fix = partial(_fix_packed, target, scale, shift)
    else:
        fix = partial(_fix_packed_weighted, target, masses, scale, shift)
    threads.over_blocks(lambda start, stop: fix(start, stop, packed), n, n_threads)
    return packed[:, None]


def _scaled(
    a: np.ndarray, mass: np.ndarray | None, top: float | None, held: int, rows: PartedRows
) -> tuple[float, float]:
    """By what (n, k) numbers, times a mass, are multiplied before they are rounded, and what a unit is then worth."""
    if top is None or mass is not None:
        top = largest(a if mass is None else a * mass, rows)
    if not math.isfinite(top):
        return 0.0, math.nan
    if top < SMALLEST:
        return 0.0, 1.0
    exponent = math.frexp(top)[1] - target_bits(held)
    return math.ldexp(1.0, -exponent), math.ldexp(1.0, exponent)
