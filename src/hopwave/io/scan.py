"""Compiled scanners for the clean lines of text files. They read tens of millions of edges a second on each thread.

A scanner takes only what it is certain of. At the first line that it is not certain of, it stops in front of it and
says where: Python then reads that one line (`rows.Grammar.row`), accepts it or names what is wrong with it, and the
scanner goes on behind it. So there is one definition of what is right, in Python, and this file only has to be fast.

Every block ends with a newline, which is what lets the inner loops go without a test for the end.
Bytes by number: 9 tab, 10 newline, 13 return, 32 space, 34 quote, 43 +, 45 -, 46 point, 48 to 57 digits, 69 E, 101 e.
"""

# This module is imported only when a file is large: `import hopwave` stays free of Numba.
from __future__ import annotations

from typing import Any

import numba


def _pairs(
    data: Any, position: int, u: Any, v: Any, row: int, first: int, last: int,
    delimiter: int, comment: int, other_comment: int, prefix: int, values: int, whole: bool,
) -> tuple[int, int, int]:  # fmt: skip
    """Edges into u and v from `row` on; returns where it stopped, the rows filled, and the lines it passed.

    A line is [prefix] number number [values]; `values` counts the numbers behind the two ends, -1 allows anything.
    """
    stop = data.size
    lines = 0
    while position < stop:
        start = position
        c = data[position]
        while c == 32 or c == 9:
            position += 1
            c = data[position]
        if c == comment or c == other_comment:  # noqa: SIM109 (compiled: a tuple costs)
            while data[position] != 10:
                position += 1
            position += 1
            lines += 1
            continue
        if c == 13 and data[position + 1] == 10:
            position += 1
            c = data[position]
        if c == 10:
            position += 1
            lines += 1
            continue
        if prefix:
            if c != prefix or (data[position + 1] != 32 and data[position + 1] != 9):
                return start, row, lines
            position += 1
            c = data[position]
            while c == 32 or c == 9:
                position += 1
                c = data[position]
        mark = position
        a = 0
        while 48 <= c <= 57:
            a = 10 * a + (c - 48)
            position += 1
            c = data[position]
        if position == mark or position - mark > 18 or a < first or a > last:
            return start, row, lines
        mark = position
        while c == 32 or (c == 9 and delimiter != 9):
            position += 1
            c = data[position]
        if delimiter:
            if c != delimiter:
                return start, row, lines
            position += 1
            c = data[position]
            while c == 32 or (c == 9 and delimiter != 9):
                position += 1
                c = data[position]
        elif position == mark:
            return start, row, lines
        mark = position
        b = 0
        while 48 <= c <= 57:
            b = 10 * b + (c - 48)
            position += 1
            c = data[position]
        if position == mark or position - mark > 18 or b < first or b > last:
            return start, row, lines
        if values < 0:
            if c != 10 and c != 13 and c != 32 and c != 9 and (delimiter == 0 or c != delimiter):
                return start, row, lines
            while c != 10:
                if c == 0 or c == 34:
                    return start, row, lines
                position += 1
                c = data[position]
        else:
            for _ in range(values):
                mark = position
                while c == 32 or c == 9:
                    position += 1
                    c = data[position]
                if position == mark:
                    return start, row, lines
                if c == 45 or c == 43:
                    position += 1
                    c = data[position]
                digits = 0
                while 48 <= c <= 57:
                    digits += 1
                    position += 1
                    c = data[position]
                if not whole:
                    if c == 46:
                        position += 1
                        c = data[position]
                        while 48 <= c <= 57:
                            digits += 1
                            position += 1
                            c = data[position]
                    if digits and (c == 101 or c == 69):
                        position += 1
                        c = data[position]
                        if c == 45 or c == 43:
                            position += 1
                            c = data[position]
                        digits = 0
                        while 48 <= c <= 57:
                            digits += 1
                            position += 1
                            c = data[position]
                if digits == 0:
                    return start, row, lines
            while c == 32 or c == 9:
                position += 1
                c = data[position]
            if c == 13:
                position += 1
                c = data[position]
            if c != 10:
                return start, row, lines
        position += 1
        lines += 1
        u[row] = a - first
        v[row] = b - first
        row += 1
    return position, row, lines


def _lists(
    data: Any, position: int, values: Any, count: int, ends: Any, row: int, comment: int
) -> tuple[int, int, int, int]:
    """Lines of any number of numbers: all values behind each other, and where each line's end among them.

    An empty line is a row without values. Returns where it stopped, the values and rows filled, the lines it passed.
    """
    stop = data.size
    lines = 0
    while position < stop:
        start = position
        before = count
        c = data[position]
        if c == comment:
            while data[position] != 10:
                position += 1
            position += 1
            lines += 1
            continue
        while c != 10:
            while c == 32 or c == 9:
                position += 1
                c = data[position]
            if c == 13 and data[position + 1] == 10:
                position += 1
                c = data[position]
            if c == 10:
                break
            mark = position
            a = 0
            while 48 <= c <= 57:
                a = 10 * a + (c - 48)
                position += 1
                c = data[position]
            if position == mark or position - mark > 18 or (c != 32 and c != 9 and c != 10 and c != 13):
                return start, before, row, lines
            values[count] = a
            count += 1
        position += 1
        lines += 1
        ends[row] = count
        row += 1
    return position, count, row, lines


pairs = numba.njit(nogil=True, cache=True)(_pairs)
lists = numba.njit(nogil=True, cache=True)(_lists)
