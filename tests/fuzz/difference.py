"""The error that every fuzzer raises, and the interface of all fuzzers.

A fuzzer is a function `inputs(draw, folder)`. It yields one attempt after another, without end. An attempt draws an
input, compares two answers, raises Difference if they differ, and returns how many comparisons it made.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from questions import Difference

__all__ = ["Attempt", "Difference", "Fuzzer"]
Attempt = Callable[[], int]
Fuzzer = Callable[[random.Random, Path], Iterator[Attempt]]
