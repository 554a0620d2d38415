"""A caller's own function as the rule of the compiled loop, which calls it through a C function before each level."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from hopwave.planning.rules import ByFunction, Rule

SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8)  # a step, of n, m, nf, mf, mu, nf0, mf0, last


IS_COMPILED = nullcontext(0)


def address_of(rule: Rule) -> AbstractContextManager[int]:
    """The address that `limits` takes; 0 for a rule that is compiled."""
    return _callback(rule) if isinstance(rule, ByFunction) else IS_COMPILED


@contextmanager
def _callback(rule: ByFunction) -> Iterator[int]:
    """The address of a C function that calls the rule. What the rule raised is raised at the end.

    C code cannot pass an exception on: the function returns -1 instead, which ends the loop.
    """
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
