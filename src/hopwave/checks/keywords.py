"""Features of every public function: suggestions for misspelt keywords, explained GPU errors, shared options.

Options that many functions share have one declaration, a TypedDict and a NamedTuple of defaults (`shared`), and one
description (SHARED). Public names are imported on first use, so that `import hopwave` takes milliseconds (`find`).
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import cache, partial, wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from hopwave.checks.other_names import lacks
from hopwave.errors import EngineError, GraphError, explain_gpu, free_imports

Kind = TypeVar("Kind", bound=type)
RECORDS: dict[str, Any] = {}  # name of a TypedDict of options → the NamedTuple with their defaults
SHARED = {  # prefix of a module's name → options that its docstrings need not describe, and a pointer to that text
    "hopwave.linalg.algorithms.": ("A device", "See `bfs`."),
    "hopwave.linalg.": (
        "out mask complement structural accum replace dtype direction early_exit structure_only explain device threads",
        "See `mxv`.",
    ),
    "hopwave.distributed.linalg.": ("out mask complement structural accum replace dtype", "See `hopwave.linalg.mxv`."),
    "hopwave.distributed.": ("layout device threads", "See `from_edges`."),
    "hopwave.generate.": (
        "n scale edge_factor initiator seed directed permute first count",
        'Parameters that many generators share; `help("hopwave.generate")` describes them.',
    ),
    "hopwave.api.": (
        "G source target weights direction seed device progress threads executor",
        'Options that many functions share; `help("hopwave.api.options")` describes them.',
    ),
}
OTHER_NAMES = {"damping": "alpha", "damping_factor": "alpha"}  # argument names in other libraries


def suggesting(function: Callable[..., Any], method: bool = False) -> Callable[..., Any]:
    """The function, wrapped so that an unknown keyword raises a TypeError that suggests a known one.

    With `method`, the error also names the class. An error of CUDA or CuPy, or a MemoryError, becomes an EngineError.
    """

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            free_imports()  # if a signal interrupted an import in an earlier call
            return function(*args, **options)
        except TypeError as error:
            named = signature_of(function).parameters.values()
            owner = next((one if isinstance(one, type) else type(one) for one in args[:1]), type(None))
            name = f"{owner.__name__}.{function.__name__}" if method else function.__qualname__
            if all(one.kind is not one.VAR_KEYWORD for one in named):
                known = (one.name for one in named if one.name not in ("self", "cls"))
                check_keywords(name, options, known)
            if str(error).startswith(f"{function.__qualname__}() "):  # Python's error for too few or too many arguments
                error.args = (name + str(error).removeprefix(function.__qualname__),)
            raise
        except BaseException as error:
            free_imports()
            if isinstance(error, ValueError) and "int_max_str_digits" in str(error):
                reason = "an integer has more than 4,300 digits, which Python does not print; pass a smaller integer"
                raise GraphError(reason) from None
            explain_gpu(error, f"in {function.__name__}")
            if isinstance(error, MemoryError):
                reason = f"{error or 'out of memory'} in {function.__name__}; use a smaller graph, or raise ulimit -v"
                raise EngineError(reason) from error
            raise

    return call


def shared(kind: str) -> Callable[[Kind], Kind]:
    """Decorator that registers a NamedTuple as the defaults of the options in the TypedDict named `kind`."""

    def joined(record: Kind) -> Kind:
        RECORDS[kind] = record
        return record

    return joined


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function, with the options of `**run: Unpack[Run]` listed one by one."""
    signature = inspect.signature(function)
    *own, last = signature.parameters.values() or (None,)
    if last is None or last.kind is not last.VAR_KEYWORD or str(last.annotation)[7:-1] not in RECORDS:
        return signature
    record = RECORDS[str(last.annotation)[7:-1]]
    types = {name: kind.__forward_arg__ for name, kind in record.__annotations__.items()}
    options = (
        inspect.Parameter(name, last.KEYWORD_ONLY, default=value, annotation=types[name])
        for name, value in record._field_defaults.items()
    )
    return signature.replace(parameters=[*own, *options])


def described(function: Callable[..., Any], text: str, names: Iterable[str]) -> str:
    """The docstring of a function, plus an entry for the shared parameters that the docstring does not describe."""
    common, where = next((SHARED[home] for home in SHARED if function.__module__.startswith(home)), ("", ""))
    parts = re.split(r"^(?=[A-Z][\w ]+\n-{3,}$)", inspect.cleandoc(text), flags=re.MULTILINE)  # before each section
    if not any(part.startswith("Parameters") for part in parts):
        parts.insert(1, "Parameters\n----------")
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", parts[1], re.MULTILINE)
    known = {name.strip() for head in heads for name in head.split(",")}
    missing = ", ".join(name for name in names if name in common.split() and name not in known)
    parts[1] = f"{parts[1].strip()}\n{missing}\n    {where}"
    return "\n\n".join(part.strip() for part in parts) if missing else text


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a TypeError for the first unknown keyword."""
    names = list(known)
    for name in given:
        if name not in names:
            near = meant(name, names) or f"its arguments are {', '.join(names)}"
            raise TypeError(f"{function}() has no argument {name!r}; {near}") from None


def meant(name: str, names: Collection[str]) -> str:
    """The question "did you mean …?" with the closest name; empty if no name is close."""
    if OTHER_NAMES.get(name) in names:
        return f"did you mean {OTHER_NAMES[name]}=?"
    return "".join(f"did you mean {near}=?" for near in get_close_matches(name, names, n=1))


def offered(function: Any) -> Any:
    """A public function wrapped by `suggesting`; also replaced in its own module, where pickle looks it up."""
    if not inspect.isfunction(function) or function.__globals__ is globals():  # second condition: already wrapped
        return function
    made: Any = suggesting(function)
    if (innermost := inspect.unwrap(function)).__code__.co_flags & inspect.CO_VARKEYWORDS:
        made.__signature__ = signature_of(innermost)
    made.__doc__ = described(innermost, made.__doc__ or "", inspect.signature(made).parameters)
    setattr(sys.modules[function.__module__], function.__name__, made)
    return made


def offer(package: dict[str, Any], names: Iterable[str]) -> None:
    """Wrap the public functions of a package by `suggesting`. `package` is the globals() of the package."""
    package.update({name: offered(package[name]) for name in names})
    package["__getattr__"] = partial(find, package["__name__"], package["__file__"])


def offers(kind: Kind, quick: Collection[str] = ()) -> Kind:
    """Class decorator that wraps public methods by `suggesting`, except `quick` methods, which every product calls."""
    for name, value in [(n, v) for n, v in vars(kind).items() if not n.startswith("_") and n not in quick]:
        if isinstance(value, classmethod):
            setattr(kind, name, classmethod(suggesting(value.__func__, method=True)))
        elif inspect.isfunction(value):
            setattr(kind, name, suggesting(value, method=True))
    return kind


@cache
def homes(file: str) -> dict[str, str]:
    """The home module of each name that a package's file imports; `import *` counts all names the module defines."""
    found = {}
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [alias.name for alias in node.names]
            if names == ["*"]:
                source = Path(file).parents[1].joinpath(*node.module.split(".")).with_suffix(".py")
                names = re.findall(r"^(?:def|class) ([^\W_]\w*)", source.read_text(encoding="utf-8"), re.MULTILINE)
            found.update(dict.fromkeys(names, node.module))
    return found


def find(package: str, file: str, name: str) -> Any:
    """The object with that name in a package: a public name that the package's file imports, or a module."""
    if name in sys.modules[package].__all__ and (home := homes(file)[name]) != package:
        return offered(getattr(import_module(home), name))
    if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
        return import_module(f"{package}.{name}")
    raise AttributeError(lacks(f"module {package!r}", name), name=name, obj=sys.modules[package])
