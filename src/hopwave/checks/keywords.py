"""What every public function does with errors: it suggests keywords, and explains those of a GPU."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar

from hopwave.errors import explain_gpu

Kind = TypeVar("Kind", bound=type)
OTHER_NAMES = {"damping": "alpha", "damping_factor": "alpha"}  # an argument's names elsewhere


def suggesting(function: Callable[..., Any], method: bool = False) -> Callable[..., Any]:
    """The function; a call with a keyword that it does not have raises a TypeError that suggests one.

    The error names a `method` by the class for which it was called, which may have inherited it. An error of CUDA or
    CuPy becomes an EngineError.

    >>> suggesting(lambda depth_limit=None: 0)(depthlimit=2)
    Traceback (most recent call last):
    TypeError: <lambda>() has no argument 'depthlimit'; did you mean depth_limit=?
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            named = inspect.signature(function).parameters.values()
            owner = next((one if isinstance(one, type) else type(one) for one in args[:1]), type(None))
            name = f"{owner.__name__}.{function.__name__}" if method else function.__qualname__
            if all(one.kind is not one.VAR_KEYWORD for one in named):
                known = (one.name for one in named if one.name not in ("self", "cls"))
                check_keywords(name, options, known)
            if str(error).startswith(f"{function.__qualname__}() "):  # Python's own, of too few or too many arguments
                error.args = (name + str(error).removeprefix(function.__qualname__),)
            raise
        except Exception as error:
            explain_gpu(error, f"in {function.__name__}")
            raise

    return call


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a TypeError for the first keyword that is not known.

    >>> check_keywords("sssp", ["weight"], ["G", "source", "weights"])
    Traceback (most recent call last):
    TypeError: sssp() has no argument 'weight'; did you mean weights=?
    """
    names = list(known)
    for name in given:
        if name not in names:
            near = meant(name, names) or f"its arguments are {', '.join(names)}"
            raise TypeError(f"{function}() has no argument {name!r}; {near}") from None


def meant(name: str, names: Iterable[str]) -> str:
    """A question with the nearest of the names; empty if none is near.

    >>> meant("direct", ["directed", "n"]), meant("x", ["directed", "n"])
    ('did you mean directed=?', '')
    """
    names = list(names)
    if OTHER_NAMES.get(name) in names:
        return f"did you mean {OTHER_NAMES[name]}=?"
    return "".join(f"did you mean {near}=?" for near in get_close_matches(name, names, n=1))


def offered(function: Any) -> Any:
    """A public function as `suggesting` makes it, in its own module too, where pickle looks for it."""
    if not inspect.isfunction(function) or function.__globals__ is globals():  # the second: `call`, made before
        return function
    made = suggesting(function)
    setattr(sys.modules[function.__module__], function.__name__, made)
    return made


def offer(package: dict[str, Any], names: Iterable[str]) -> None:
    """Make the public functions of a package suggest keywords. `package`: its globals()."""
    package.update({name: offered(package[name]) for name in names})


def offers(kind: Kind, quick: Collection[str] = ()) -> Kind:
    """Decorates a class whose public methods suggest keywords; but for `quick` ones, which every product calls."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_") or name in quick:
            continue
        if isinstance(value, classmethod):
            setattr(kind, name, classmethod(suggesting(value.__func__, method=True)))
        elif inspect.isfunction(value):
            setattr(kind, name, suggesting(value, method=True))
    return kind
