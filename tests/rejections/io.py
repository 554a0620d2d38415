"""Rejections by readers and writers."""

from __future__ import annotations

import hopwave as hw
from hopwave import FormatError
from rejections import Row

ROWS: list[Row] = [
    (lambda tmp: hw.read(tmp / "none.mtx"), FileNotFoundError, "check the spelling"),
    (lambda tmp: hw.write(tmp / "a.nope", hw.generate.path(3)), FormatError, "pass format="),
]
