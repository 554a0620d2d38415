"""The float64 nearest to a decimal number, for the compiled scanners. Every bit is that of Python's `float`."""

# Imported only when a file is large, like `scan`.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

# Constants of the type that they meet: Numba makes a float of signed and unsigned numbers together.
NOTHING, ONE, THREE, HALF = (np.uint64(number) for number in (0, 1, 3, 32))
LOW_HALF, TOP_BIT, HIDDEN_BIT = np.uint64(2**32 - 1), np.uint64(2**63), np.uint64(2**52)
UNUSED_BITS = np.uint64(2**9 - 1)  # of the 64 high bits of a product, those behind the 55 that decide the result
LEAST_POWER, MOST_POWER = -342, 308  # of ten: outside, every number of 19 digits is 0 or infinite


def _power_of_five(exponent: int) -> int:
    """The first 128 bits of 5^exponent, cut off; down to -27 rounded up, as the proof in the paper needs it."""
    power: int = 5 ** abs(exponent)
    if exponent >= 0:
        return power << 128 - power.bit_length() if power.bit_length() <= 128 else power >> power.bit_length() - 128
    quotient = (1 << 2 * power.bit_length() + 256) // power
    return (quotient >> quotient.bit_length() - 128) + (exponent >= -27)


_FIVES = [_power_of_five(exponent) for exponent in range(LEAST_POWER, MOST_POWER + 1)]
FIVES_HIGH = np.array([power >> 64 for power in _FIVES], np.uint64)
FIVES_LOW = np.array([power & 2**64 - 1 for power in _FIVES], np.uint64)

Function = TypeVar("Function", bound=Callable[..., Any])
# Without _nrt=False, Numba counts references to `data` in every call, even an inlined one: half the speed.
_INLINED: dict[str, Any] = {"nogil": True, "forceinline": True, "_nrt": False}


def inlined(function: Function) -> Function:
    """A compiled function that becomes part of its caller."""
    return cast(Function, numba.njit(**_INLINED)(function))


@inlined
def _high(a: Any, b: Any) -> Any:
    """The high 64 bits of the product of two unsigned 64-bit numbers."""
    a_low, a_high = a & LOW_HALF, a >> HALF
    b_low, b_high = b & LOW_HALF, b >> HALF
    middle = a_high * b_low + ((a_low * b_low) >> HALF)
    other = a_low * b_high + (middle & LOW_HALF)
    return a_high * b_high + (middle >> HALF) + (other >> HALF)


@inlined
def nearest(mantissa: Any, exponent: int) -> tuple[Any, bool]:
    """The bits of the float64 nearest to mantissa · 10^exponent, and whether they are certain.

    Lemire, Number parsing at a gigabyte per second, 2021 (the method of Eisel and Lemire): the mantissa times the first
    128 bits of the power of five gives enough bits to round, except in rare cases, which are left to Python. So are
    results that are too small for all 53 bits, or too large.
    """
    if mantissa == NOTHING:
        return NOTHING, True
    if exponent < LEAST_POWER or exponent > MOST_POWER:
        return NOTHING, False
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if mantissa >> np.uint64(64 - step) == NOTHING:
            mantissa <<= np.uint64(step)
            zeros += step
    place = np.uint64(exponent - LEAST_POWER)
    high, low = _high(mantissa, FIVES_HIGH[place]), mantissa * FIVES_HIGH[place]
    if high & UNUSED_BITS == UNUSED_BITS:  # the bits below could still carry into the result
        more = _high(mantissa, FIVES_LOW[place])
        low += more
        if low < more:
            high += ONE
        if low == ~NOTHING:
            return NOTHING, False
    top = high >> np.uint64(63)
    shift = top + np.uint64(9)
    bits = high >> shift
    binary = ((217706 * exponent) >> 16) + 63 + np.int64(top) - zeros + 1023  # 217706 / 2^16: log2 of 10
    if low <= ONE and -4 <= exponent <= 23 and bits & THREE == ONE and bits << shift == high:
        return NOTHING, False  # exactly in the middle between two numbers
    bits = (bits + (bits & ONE)) >> ONE
    if bits == HIDDEN_BIT << ONE:
        bits = HIDDEN_BIT
        binary += 1
    if binary <= 0 or binary >= 2047:
        return NOTHING, False
    return (bits & ~HIDDEN_BIT) | (np.uint64(binary) << np.uint64(52)), True
