"""Compiled scanners for the clean lines of text files. Each thread reads tens of millions of edges per second.

A scanner stops at a line that it is not sure of; Python reads this line (`lines.Grammar.row`), the only definition of a
correct one, and calls the scanner again. Every block ends with a newline, so inner loops need no test for its end. Each
small function reads one piece of a line, from a position, and returns the position after it, or UNSURE.
"""

# This module is imported only when a file is large: `import hopwave` stays free of Numba.
# ruff: noqa: SIM109 (compiled: `in` with a tuple costs time)
from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from hopwave.system.numba_cache import njit

TAB, NEWLINE, RETURN, SPACE, QUOTE = 9, 10, 13, 32, 34
PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101

UNSURE = -1  # in place of a position: Python must read this line
TEN, EXACT = np.uint64(10), np.uint64(2**53)
UNIT = np.uint64(0x3FF0000000000000)  # the bits of 1.0, the weight of a vertex without an edge
MOST_SIGNIFICANT = 19  # digits that fit into 64 bits, without a sign
MOST_DIGITS = 18  # every number with this many digits fits into 64 bits

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


def _compiled(function: Function) -> Function:
    return cast(Function, njit(nogil=True, cache=True)(function))


# `lines.Grammar` as numbers. None is 0 for delimiter and prefix, -1 for values, a newline for comments.
Shape = namedtuple("Shape", "first last delimiter comment other_comment prefix values whole weight lone plain columns")


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


@inlined
def _byte(data: Any, position: int) -> int:
    """The byte at a position. An unsigned index needs no test for a negative one, as in data[-1]: a quarter faster."""
    byte: int = data[np.uint64(position)]
    return byte


@inlined
def _skip_blanks(data: Any, position: int) -> int:
    c = _byte(data, position)
    while c == SPACE or c == TAB:
        position += 1
        c = _byte(data, position)
    return position


@inlined
def _line_end(data: Any, position: int, plain: bool) -> int:
    """The position of the newline. A carriage return may only stand before it; `plain` text has no NUL and no quote."""
    c = _byte(data, position)
    while c != NEWLINE:
        if plain and (c == 0 or c == QUOTE):
            return UNSURE
        position += 1
        before, c = c, _byte(data, position)
        if before == RETURN and c != NEWLINE:
            return UNSURE
    return position


@inlined
def _skip_digits(data: Any, position: int) -> int:
    while ZERO <= _byte(data, position) <= NINE:
        position += 1
    return position


@inlined
def _skip_sign(data: Any, position: int) -> int:
    c = _byte(data, position)
    return position + 1 if c == MINUS or c == PLUS else position


@inlined
def _number(data: Any, position: int) -> tuple[int, int]:
    """A whole number without a sign, and the position after it."""
    start = position
    number = 0
    c = _byte(data, position)
    while ZERO <= c <= NINE:
        number = 10 * number + (c - ZERO)
        position += 1
        c = _byte(data, position)
    if position == start or position - start > MOST_DIGITS:
        return 0, UNSURE
    return number, position


@inlined
def _vertex(data: Any, position: int, shape: Shape) -> tuple[int, int]:
    """A vertex id in range, and the position after it."""
    start = position
    number, position = _number(data, position)
    if number < shape.first or number > shape.last:
        return 0, UNSURE
    if shape.plain and position > start + 1 and _byte(data, start) == ZERO:
        return 0, UNSURE
    return number, position


@inlined
def _prefix(data: Any, position: int, shape: Shape) -> int:
    """The letter before an edge and the blanks after it."""
    if shape.prefix == 0:
        return position
    blank = _byte(data, position + 1)
    if _byte(data, position) != shape.prefix or (blank != SPACE and blank != TAB):
        return UNSURE
    return _skip_blanks(data, position + 1)


@inlined
def _skip_padding(data: Any, position: int, shape: Shape) -> int:
    """Blanks before or after a delimiter; if the delimiter is a tab, only spaces are blanks."""
    c = _byte(data, position)
    while c == SPACE or (c == TAB and shape.delimiter != TAB):
        position += 1
        c = _byte(data, position)
    return position


@inlined
def _gap(data: Any, position: int, shape: Shape) -> int:
    """What is between the two ids: blanks, or the delimiter with blanks around it."""
    if shape.delimiter == 0:
        end = _skip_blanks(data, position)
        return UNSURE if end == position else end
    position = _skip_padding(data, position, shape)
    if _byte(data, position) != shape.delimiter:
        return UNSURE
    return _skip_padding(data, position + 1, shape)


@inlined
def _anything(data: Any, position: int, shape: Shape, cells: int) -> int:
    """The rest of a line after that many cells, whatever it contains: the position of its newline."""
    if shape.delimiter != 0:
        position = _skip_padding(data, position, shape)
    c = _byte(data, position)
    parts = c == shape.delimiter if shape.delimiter != 0 else (c == SPACE or c == TAB)
    if not parts and c != NEWLINE and c != RETURN:
        return UNSURE
    end = _line_end(data, position, True)
    if shape.columns == 0 or end == UNSURE:
        return end
    while position < end and cells <= shape.columns:
        c = _byte(data, position)
        if shape.delimiter == 0 and (c >= 128 or (c < SPACE and c != TAB and c != RETURN)):
            return UNSURE  # Python has more kinds of blanks
        position += 1
        blank = (c == SPACE or c == TAB) and _byte(data, position) > SPACE
        cells += c == shape.delimiter if shape.delimiter != 0 else blank
    return end if cells <= shape.columns else UNSURE


@inlined
def _value(data: Any, position: int, whole: bool) -> int:
    """A number with its sign, point and exponent, and the blanks before it."""
    start = position
    position = _skip_blanks(data, position)
    if position == start:
        return UNSURE
    position = _skip_sign(data, position)
    start = position
    position = _skip_digits(data, position)
    digits = position - start
    if not whole:
        if _byte(data, position) == POINT:
            start = position + 1
            position = _skip_digits(data, start)
            digits += position - start
        c = _byte(data, position)
        if digits and (c == LOWER_E or c == UPPER_E):
            start = _skip_sign(data, position + 1)
            position = _skip_digits(data, start)
            digits = position - start
    return position if digits else UNSURE


@inlined
def _end(data: Any, position: int) -> int:
    """The position of the newline, with nothing but blanks before it."""
    position = _skip_blanks(data, position)
    if _byte(data, position) == RETURN:
        position += 1
    return position if _byte(data, position) == NEWLINE else UNSURE


@inlined
def _values(data: Any, position: int, shape: Shape) -> int:
    """The numbers after the two ids, and nothing else: the position of the newline."""
    for _ in range(shape.values):
        position = _value(data, position, shape.whole)
        if position == UNSURE:
            return UNSURE
    return _end(data, position)


@inlined
def _holds_no_edge(data: Any, position: int, shape: Shape) -> bool:
    """Whether a line is a comment or ends here."""
    c = _byte(data, position)
    if c == shape.comment or c == shape.other_comment:
        return True
    return c == NEWLINE or (c == RETURN and _byte(data, position + 1) == NEWLINE)


@inlined
def _decimal(data: Any, position: int, whole: bool) -> tuple[Any, int]:
    """The bits of a number's float64, the same as Python's float gives, and the position after the number."""
    negative = _byte(data, position) == MINUS
    position = _skip_sign(data, position)
    mantissa = NOTHING
    digits, significant, exponent = 0, 0, 0
    pointed = False
    while True:
        c = _byte(data, position)
        if ZERO <= c <= NINE:
            mantissa = TEN * mantissa + np.uint64(c - ZERO)
            digits += 1
            if significant or c != ZERO:
                significant += 1
            if pointed:
                exponent -= 1
        elif c == POINT and not pointed and not whole:
            pointed = True
        else:
            break
        position += 1
    if digits == 0 or significant > MOST_SIGNIFICANT:
        return NOTHING, UNSURE
    if not whole and (c == LOWER_E or c == UPPER_E):
        down = _byte(data, position + 1) == MINUS
        power, position = _number(data, _skip_sign(data, position + 1))
        if position == UNSURE or power > 1000:
            return NOTHING, UNSURE
        exponent += -power if down else power
    if mantissa > EXACT and not pointed and exponent == 0:  # an integer that float64 may not hold
        return NOTHING, UNSURE
    bits, certain = nearest(mantissa, exponent)
    if not certain:
        return NOTHING, UNSURE
    return (bits | TOP_BIT if negative else bits), position


@inlined
def _skip_cell(data: Any, position: int, shape: Shape) -> int:
    """The end of a cell that is not read."""
    c = _byte(data, position)
    while c != NEWLINE and c != (shape.delimiter or SPACE) and (c != TAB or shape.delimiter != 0):
        if c < SPACE or c == QUOTE:  # control characters, some of which Python takes for white space
            return UNSURE
        position += 1
        c = _byte(data, position)
    return UNSURE if c == NEWLINE else position


@inlined
def _empty_cells(data: Any, position: int, shape: Shape) -> int:
    """Nothing but delimiters and blanks: the position of the newline."""
    c = _byte(data, position)
    while c == shape.delimiter or c == SPACE or c == TAB:
        position += 1
        c = _byte(data, position)
    return _end(data, position)


@inlined
def _edge(data: Any, position: int, shape: Shape, bits: Any) -> tuple[int, int, Any, int]:
    """Both ids of a line, the bits of its weight (0 where bits is None), and the position of its newline."""
    position = _prefix(data, position, shape)
    if position == UNSURE:
        return 0, 0, NOTHING, UNSURE
    a, position = _vertex(data, position, shape)
    if position == UNSURE:
        return 0, 0, NOTHING, UNSURE
    position = _gap(data, position, shape)
    if position == UNSURE:
        return 0, 0, NOTHING, UNSURE
    if shape.lone:
        end = _empty_cells(data, position, shape)
        if end != UNSURE:
            return a, shape.first - 1, UNIT, end
    b, position = _vertex(data, position, shape)
    if position == UNSURE:
        return 0, 0, NOTHING, UNSURE
    if bits is None:
        end = _anything(data, position, shape, 2) if shape.values < 0 else _values(data, position, shape)
        return a, b, NOTHING, end
    for _ in range(shape.weight - 1):
        position = _gap(data, position, shape)
        if position != UNSURE:
            position = _skip_cell(data, position, shape)
        if position == UNSURE:
            return 0, 0, NOTHING, UNSURE
    position = _gap(data, position, shape)
    if position == UNSURE:
        return 0, 0, NOTHING, UNSURE
    weight, position = _decimal(data, position, shape.whole)
    if position == UNSURE:
        return 0, 0, NOTHING, UNSURE
    end = _anything(data, position, shape, 2 + shape.weight) if shape.values < 0 else _end(data, position)
    return a, b, weight, end


@_compiled
def pairs(data: Any, position: int, u: Any, v: Any, bits: Any, row: int, shape: Shape) -> tuple[int, int, int]:
    """Edges into u and v, and their weights as the bits of float64 into `bits`, from `row` on.

    `bits` is None where weights are not read: Numba compiles each case by itself. Returns where it stopped, the rows
    filled, and the lines read.
    """
    lines = 0
    while position < data.size:
        begin = _skip_blanks(data, position)
        if _holds_no_edge(data, begin, shape):
            end = _line_end(data, begin, False)
            if end == UNSURE:
                break
        else:
            a, b, weight, end = _edge(data, begin, shape, bits)
            if end == UNSURE:
                break
            u[row] = a - shape.first
            v[row] = b - shape.first
            if bits is not None:
                bits[row] = weight
            row += 1
        position = end + 1
        lines += 1
    return position, row, lines


@inlined
def _list(data: Any, position: int, values: Any, count: int) -> tuple[int, int]:
    """The numbers of one line into `values`, from `count` on: their new count, and the position of the newline."""
    while True:
        position = _skip_blanks(data, position)
        if _byte(data, position) == RETURN and _byte(data, position + 1) == NEWLINE:
            position += 1
        if _byte(data, position) == NEWLINE:
            return count, position
        number, position = _number(data, position)
        if position == UNSURE:
            return count, UNSURE
        c = _byte(data, position)
        if c != SPACE and c != TAB and c != NEWLINE and c != RETURN:
            return count, UNSURE
        values[count] = number
        count += 1


@_compiled
def lists(
    data: Any, position: int, values: Any, count: int, ends: Any, row: int, comment: int
) -> tuple[int, int, int, int]:
    """Lines of any number of numbers: all of them one after the other in `values`, and in `ends` where each line ends.

    An empty line is a row without numbers. Returns where it stopped, the numbers and rows filled, and the lines read.
    """
    lines = 0
    while position < data.size:
        if _byte(data, position) == comment:
            end = _line_end(data, position, False)
            if end == UNSURE:
                break
        else:
            found, end = _list(data, position, values, count)
            if end == UNSURE:
                break
            count = found
            ends[row] = count
            row += 1
        position = end + 1
        lines += 1
    return position, count, row, lines
