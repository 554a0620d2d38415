"""Many cases as one test: pytest spends some ten milliseconds per test, more than most traps need. New processes."""

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest

PROFILE = os.environ.get("HOPWAVE_TESTS", "whole")  # conftest.py says what they are
QUICK_VALUES = 4


def some(count: int, quick: int = 8) -> int:
    """How many of `count` attempts this run makes: all, one in four, or one in `quick`; at least one."""
    return max(1, count // {"quick": quick, "whole": 4}.get(PROFILE, 1))


def started(*command: str, **changes: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a new process that can import what this one can; `changes` of its environment."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **changes}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    return done.returncode, done.stdout, done.stderr


def in_one_test(
    name: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize(name, values)`, but one test tries all values. A failure names its value.

    The first value may skip the test, for a reason that holds for all values. `make quick` tries a few values.
    """
    names = (name,) if isinstance(name, str) else name
    tried = list(values)
    if PROFILE == "quick":
        tried = tried[:: max(1, len(tried) // QUICK_VALUES)]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            for value in tried:
                row = dict(zip(names, value if len(names) > 1 else (value,), strict=True))
                try:
                    test(**given, **row)
                except pytest.skip.Exception as error:
                    assert value is tried[0], f"{row} alone was skipped: {error}"
                    raise
                except Exception as error:
                    error.add_note(f"with {row}"[:999])
                    raise

        signature = inspect.signature(test)
        kept = [parameter for parameter in signature.parameters.values() if parameter.name not in names]
        assert len(kept) + len(names) == len(signature.parameters), f"{test.__name__} has not all parameters {names}"
        run.__name__, run.__qualname__, run.__doc__ = test.__name__, test.__qualname__, test.__doc__
        run.__module__, run.__signature__ = test.__module__, signature.replace(parameters=kept)  # type: ignore[attr-defined]
        run.pytestmark = list(getattr(test, "pytestmark", []))  # type: ignore[attr-defined]
        return run

    return decorate
