"""Compiled scanners of regular lines, and printers of integers. A thread reads tens of millions of edges per second.

A scanner stops at any line that it cannot parse for certain; Python parses this line (`lines.Grammar.row`, the only
definition of the syntax) and calls the scanner again. Every block ends with a newline, so inner loops need no bounds
check. Each small function reads one part of a line from a position and returns the position after it, or UNSURE.
"""

# This module is imported only for large files, so `import hopwave` does not import Numba.
# ruff: noqa: SIM109 (compiled: `in` with a tuple costs time)
from collections import namedtuple
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.system.numba_cache import njit

TAB, NEWLINE, RETURN, SPACE, QUOTE = 9, 10, 13, 32, 34
PLUS, MINUS, POINT, ZERO, NINE, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 69, 101

UNSURE = -1  # instead of a position: Python must read this line
TEN, EXACT = np.uint64(10), np.uint64(2**53)
UNIT = np.uint64(0x3FF0000000000000)  # the bits of 1.0, the weight on the line of an isolated vertex
MOST_SIGNIFICANT = 19  # digits that fit into 64 bits, without a sign
MOST_DIGITS = 18  # every number with this many digits fits into 64 bits
LONGEST = 20  # characters of a 64-bit number with its sign

# Constants have the types of their operands: Numba converts mixed signed and unsigned integers to float.
NOTHING, ONE, THREE, HALF = (np.uint64(number) for number in (0, 1, 3, 32))
LOW_HALF, TOP_BIT, HIDDEN_BIT = np.uint64(2**32 - 1), np.uint64(2**63), np.uint64(2**52)
UNUSED_BITS = np.uint64(2**9 - 1)  # the low 9 of a product's 64 high bits; the other 55 decide the result
LEAST_POWER, MOST_POWER = -342, 308  # exponents of ten; outside this range, every number of 19 digits is 0 or infinite


def _power_of_five(exponent: int) -> int:
    """The first 128 bits of 5^exponent, truncated; from -27 to -1 rounded up, as the paper's proof requires."""
    power: int = 5 ** abs(exponent)
    if exponent >= 0:
        return power << 128 >> power.bit_length()
    quotient = (1 << 2 * power.bit_length() + 256) // power
    return (quotient >> quotient.bit_length() - 128) + (exponent >= -27)


_FIVES = [_power_of_five(exponent) for exponent in range(LEAST_POWER, MOST_POWER + 1)]
FIVES_HIGH = np.array([power >> 64 for power in _FIVES], np.uint64)
FIVES_LOW = np.array([power & 2**64 - 1 for power in _FIVES], np.uint64)

# Without _nrt=False, Numba counts references to `data` even in inlined calls, which halves the speed.
inlined = njit(nogil=True, forceinline=True, _nrt=False)
compiled = njit(nogil=True, cache=True)

# `lines.Grammar` as numbers. None is 0 for delimiter and prefix, -1 for values, a newline for comments.
# `blank`: white space besides the space character: a tab unless the tab is the delimiter.
Shape = namedtuple(
    "Shape", "first last delimiter blank comment other_comment prefix values whole weight lone plain columns"
)


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
    128 bits of the power of five gives enough bits to round, except in rare cases. Python handles these cases and
    results that are subnormal or too large.
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
    if high & UNUSED_BITS == UNUSED_BITS:  # lower bits could still carry into the result
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
        return NOTHING, False  # exactly halfway between two floats
    bits = (bits + (bits & ONE)) >> ONE
    if bits == HIDDEN_BIT << ONE:
        bits = HIDDEN_BIT
        binary += 1
    if binary <= 0 or binary >= 2047:
        return NOTHING, False
    return (bits & ~HIDDEN_BIT) | (np.uint64(binary) << np.uint64(52)), True


@inlined
def _byte(data: Any, position: int) -> int:
    """The byte at a position. An unsigned index avoids Python's test for negative indices: a quarter faster."""
    byte: int = data[np.uint64(position)]
    return byte


@inlined
def _skip_blanks(data: Any, position: int, tab: int = TAB) -> int:
    c = _byte(data, position)
    while c == SPACE or c == tab:
        position += 1
        c = _byte(data, position)
    return position


@inlined
def _line_end(data: Any, position: int, plain: bool) -> int:
    """The position of the newline. A carriage return may only precede it; `plain` text contains no NUL and no quote."""
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
def _skip_sign(data: Any, position: int) -> int:
    c = _byte(data, position)
    return position + 1 if c == MINUS or c == PLUS else position


@inlined
def _number(data: Any, position: int) -> tuple[int, int]:
    """An integer without a sign, and the position after it."""
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
def _gap(data: Any, position: int, shape: Shape) -> Any:
    """Skip the gap between two cells: white space, or the delimiter with optional white space."""
    end = _skip_blanks(data, position, shape.blank)
    if shape.delimiter == 0:
        return UNSURE if end == position else end
    return _skip_blanks(data, end + 1, shape.blank) if _byte(data, end) == shape.delimiter else UNSURE


@inlined
def _anything(data: Any, position: int, shape: Shape, cells: int) -> Any:
    """Skip the rest of a line after `cells` cells; returns the position of its newline."""
    if shape.delimiter != 0:
        position = _skip_blanks(data, position, shape.blank)
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
            return UNSURE  # Python knows more white-space characters
        position += 1
        blank = (c == SPACE or c == TAB) and _byte(data, position) > SPACE
        cells += c == shape.delimiter if shape.delimiter != 0 else blank
    return end if cells <= shape.columns else UNSURE


@inlined
def _end(data: Any, position: int) -> Any:
    """The position of the newline, after only white space."""
    position = _skip_blanks(data, position)
    if _byte(data, position) == RETURN:
        position += 1
    return position if _byte(data, position) == NEWLINE else UNSURE


@inlined
def _decimal(data: Any, position: int, whole: bool, needed: bool) -> tuple[Any, int]:
    """The bits of a number as float64, identical to Python's float, and the position after the number."""
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
    if not needed:
        return NOTHING, position
    if mantissa > EXACT and not pointed and exponent == 0:  # an integer that float64 may not represent exactly
        return NOTHING, UNSURE
    bits, certain = nearest(mantissa, exponent)
    return (bits | TOP_BIT if negative else bits), position if certain else UNSURE


@inlined
def _skip_cell(data: Any, position: int, shape: Shape) -> int:
    """The end of a cell that is not read."""
    c = _byte(data, position)
    while c != NEWLINE and c != (shape.delimiter or SPACE) and (c != TAB or shape.delimiter != 0):
        if c < SPACE or c == QUOTE:  # control characters, some of which are white space in Python
            return UNSURE
        position += 1
        c = _byte(data, position)
    return UNSURE if c == NEWLINE else position


@inlined
def _edge(data: Any, position: int, shape: Shape, bits: Any) -> tuple[int, int, Any, int]:
    """Both ids of a line, the bits of its weight (0 if bits is None), and the position of its newline."""
    a = b = 0
    weight = NOTHING
    if shape.prefix != 0:  # a letter and blanks
        begin = _skip_blanks(data, position + 1)
        if _byte(data, position) != shape.prefix or begin == position + 1:
            return a, b, weight, UNSURE
        position = begin
    a, position = _vertex(data, position, shape)
    if position != UNSURE:
        position = _gap(data, position, shape)
    if position == UNSURE:
        return a, b, weight, UNSURE
    if shape.lone:
        end = position
        while _byte(data, end) == shape.delimiter or _byte(data, end) == SPACE or _byte(data, end) == TAB:
            end += 1
        end = _end(data, end)
        if end != UNSURE:
            return a, shape.first - 1, UNIT, end
    b, position = _vertex(data, position, shape)
    cells = shape.weight if shape.values < 0 else shape.values
    for cell in range(1, cells + 1):
        if position != UNSURE:
            position = _gap(data, position, shape)
        if position == UNSURE:
            break
        if shape.values < 0 and cell < cells:
            position = _skip_cell(data, position, shape)
        else:
            number, position = _decimal(data, position, shape.whole, bits is not None)
            if cell == shape.weight:
                weight = number
    if position != UNSURE:
        position = _anything(data, position, shape, 2 + cells) if shape.values < 0 else _end(data, position)
    return a, b, weight, position


@compiled
def pairs(data: Any, position: int, u: Any, v: Any, bits: Any, row: int, shape: Shape) -> tuple[int, int, int]:
    """Edges into u and v, and their weights as the bits of float64 into `bits`, starting at `row`.

    `bits` is None if weights are not read: Numba compiles both cases. Returns the position where it stopped, the rows
    filled, and the lines read.
    """
    lines = 0
    while position < data.size:
        begin = _skip_blanks(data, position)
        c = _byte(data, begin)
        if c == shape.comment or c == shape.other_comment or c == NEWLINE or c == RETURN:
            end = _line_end(data, begin, False)
        else:
            a, b, weight, end = _edge(data, begin, shape, bits)
            if end != UNSURE:
                u[row] = a - shape.first
                v[row] = b - shape.first
                if bits is not None:
                    bits[row] = weight
                row += 1
        if end == UNSURE:
            break
        position = end + 1
        lines += 1
    return position, row, lines


@inlined
def _list(data: Any, position: int, values: Any, count: int) -> tuple[int, int]:
    """Append the numbers of one line to `values`; returns their new count and the position of the newline."""
    while True:
        position = _skip_blanks(data, position)
        if _byte(data, position) == RETURN and _byte(data, position + 1) == NEWLINE:
            position += 1
        if _byte(data, position) == NEWLINE:
            return count, position
        values[count], position = _number(data, position)
        if position == UNSURE or _byte(data, position) > SPACE:
            return count, UNSURE
        count += 1


@compiled
def lists(
    data: Any, position: int, values: Any, count: int, ends: Any, row: int, comment: int
) -> tuple[int, int, int, int]:
    """Lines of any number of integers: `values` stores them consecutively, `ends` the end of each line in `values`.

    An empty line is an empty list. Returns the position where it stopped and the counts of numbers, rows and lines.
    """
    lines = 0
    while position < data.size:
        if _byte(data, position) == comment:
            end = _line_end(data, position, False)
        else:
            found, end = _list(data, position, values, count)
            if end != UNSURE:
                count = ends[row] = found
                row += 1
        if end == UNSURE:
            break
        position = end + 1
        lines += 1
    return position, count, row, lines


# ---------------------------------------------------------------- printing


@njit(nogil=True, cache=True, inline="always")
def _digits(number: Any, out: Any, place: int) -> int:
    """Write a number at `place`; returns the position after it."""
    if number < 0:
        out[place] = MINUS
        place += 1
    left = np.uint64(-number) if number < 0 else np.uint64(number)
    end, rest = place + 1, left
    while rest >= TEN:
        rest //= TEN
        end += 1
    for at in range(end - 1, place - 1, -1):
        rest = left // TEN
        out[at] = ZERO + (left - rest * TEN)
        left = rest
    return end


@compiled
def _print_rows(cells: Any, literals: Any, cuts: Any, out: Any) -> int:
    """Print one line per column of `cells`, with its numbers from top to bottom; returns the bytes written."""
    place = 0
    for line in range(cells.shape[1]):
        for number in range(cells.shape[0] + 1):
            for at in range(cuts[number], cuts[number + 1]):
                out[place] = literals[at]
                place += 1
            if number < cells.shape[0]:
                place = _digits(cells[number, line], out, place)
    return place


@compiled
def _print_lists(values: Any, ends: Any, out: Any) -> int:
    """Print one line per list, with spaces between its numbers; `ends`: the end of each list in `values`."""
    place = begin = 0
    for end in ends:
        for at in range(begin, end):
            if at > begin:
                out[place] = SPACE
                place += 1
            place = _digits(values[at], out, place)
        out[place] = NEWLINE
        place += 1
        begin = end
    return place


def printed_rows(template: str, columns: list[npt.NDArray[Any]]) -> npt.NDArray[np.uint8]:
    """The lines of a template with these columns of integers."""
    pieces = [piece.encode() for piece in template.split("%d")]
    cells = np.stack(columns).astype(np.int64)
    literals = b"".join(pieces)
    out = np.empty(cells.shape[1] * (len(literals) + LONGEST * len(columns)), np.uint8)
    cuts = np.cumsum([0, *map(len, pieces)])
    return out[: _print_rows(cells, np.frombuffer(literals, np.uint8), cuts, out)]


def printed_lists(values: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """One line per list of integers."""
    out = np.empty(len(values) * (LONGEST + 1) + len(ends), np.uint8)
    return out[: _print_lists(values, ends, out)]
