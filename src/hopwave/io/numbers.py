"""Numbers in text files. Each is read in time proportional to its length, exactly or as the nearest float64."""

from __future__ import annotations

import math
import re

from hopwave.graph.columns import EXACT_UP_TO

# Possessive (++, *+, ?+): a plain \d+\.?\d* tries every way to cut a long row of digits in two before it gives up.
NUMBER = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+"
NUMERIC = re.compile(rf"\s*+{NUMBER}\s*+", re.ASCII)  # a number in a cell: an id or a weight


class Problem(Exception):
    """What is wrong with a line. The reader, which knows the file and the line number, turns it into a FormatError."""


def float_of(text: str, *, whole: bool = False, real: bool = False) -> float:
    """The number that a text is. `whole`: it must be an integer. `real`: it stands for the nearest float64.

    Any number with a point or an exponent stands for the nearest float64; an integer only for itself.

    >>> float_of("-2.50"), float_of("9007199254740992")
    (-2.5, 9007199254740992.0)
    >>> float_of("9007199254740993")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopwave.io.numbers.Problem: the value '9007199254740993' is an integer that float64 cannot hold exactly; ...
    """
    value = rounded(text, whole=whole)
    digits = text.strip().lstrip("+-")
    if math.isinf(value) and digits[:1].lower() != "i":
        raise Problem(f"the value {short(text)} is too large for float64; expected less than 1.8e308")
    if digits.isdecimal() and not real and abs(value) >= EXACT_UP_TO and int(digits.lstrip("0")) != abs(value):
        otherwise = "" if whole else ", or one with a point, as in 1.0, which is rounded"
        raise Problem(
            f"the value {short(text)} is an integer that float64 cannot hold exactly; expected a smaller one{otherwise}"
        )
    return value


def rounded(text: str, *, whole: bool = False) -> float:
    """The float64 nearest to a number, infinity for one that is too large."""
    try:
        if not text.isascii() or "_" in text or (whole and not text.strip().lstrip("+-").isdecimal()):
            raise ValueError
        value = float(text)
    except ValueError:
        raise Problem(f"found {short(text)} as the value; expected {'an integer' if whole else 'a number'}") from None
    if math.isnan(value):
        raise Problem("the value is NaN; expected a number: drop or replace the entry")
    return value


def short(text: str) -> str:
    """A text for an error message."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
