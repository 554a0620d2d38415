"""A caller's own function as the rule of the compiled loop, which calls it through a C function before each level."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

from hopwave.planning.rules import ByFunction, Rule

SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)  # a step, of n, m, nf, mf, mu, nf0, mf0, last


@contextmanager
def address_of(rule: Rule) -> Iterator[int]:
    """The address that `limits` takes; 0 for a rule that is compiled. What the function raised is raised at the end.

    C code cannot pass an exception on: the function returns -1 instead, which ends the loop.
    """
    if not isinstance(rule, ByFunction):
        yield 0
        return
    raised: list[BaseException] = []

    def choose(*sizes: int) -> int:
        try:
            return rule.function(0.0, 0.0, *sizes)
        except BaseException as error:  # Ctrl-C as well
            raised.append(error)
            return -1

    as_c = SIGNATURE(choose)  # lives as long as this context
    yield ctypes.cast(as_c, ctypes.c_void_p).value or 0
    if raised:
        raise raised[0]
