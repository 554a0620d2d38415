"""A user's operator as a C++ expression: the Python function is called with symbols that record every operation.

If the function tests whether a value is true, it is called once per outcome: `condition ? one : other`.
"""

import builtins
import math
import types
from functools import lru_cache

import numpy as np

from hopwave.errors import EngineError

MOST_PATHS = 64
KINDS = "bif"  # bool, integer, floating point
FLOATING = (
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc", "fabs", "fmod", "hypot",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "atan2", "copysign",
    "pow",
)  # fmt: skip
TESTS = ("isnan", "isinf", "isfinite")


class Branch(Exception):
    """The function tests a condition for which this path has no outcome yet; the text is the condition."""


class Symbol:
    """A C++ expression and its kind of number."""

    __slots__ = ("kind", "path", "text")

    def __init__(self, text, kind, path):
        self.text, self.kind, self.path = text, kind, path

    def made(self, text, kind):
        return Symbol(text, kind, self.path)

    def __bool__(self):
        """Whether the condition holds on the path being traced; a new condition ends the trace."""
        return self.path.outcome(self)

    def __pow__(self, other):
        if not isinstance(other, Symbol) and not (isinstance(other, int) and other >= 0):
            return self.pow(other)
        return self.made(f"hopwave::linalg::power({self.text}, {text(other)})", _larger("i", kind(self), kind(other)))

    def __rpow__(self, other):
        return self.made(f"hopwave::linalg::power({text(other)}, {self.text})", _larger("i", kind(other), self.kind))

    __hash__ = None


def _arithmetic(pattern, least):
    def forward(self, other):
        return self.made(pattern.format(self.text, text(other)), _larger(least, kind(self), kind(other)))

    def backward(self, other):
        return self.made(pattern.format(text(other), self.text), _larger(least, kind(self), kind(other)))

    return forward, backward


def _unary(pattern, whole):
    return lambda self: self.made(pattern.format(self.text), "i" if whole else _larger("i", self.kind))


def _comparison(sign):
    return lambda self, other: self.made(f"({self.text} {sign} {text(other)})", "b")


for name, pattern, least in (
    ("add", "({} + {})", "i"),
    ("sub", "({} - {})", "i"),
    ("mul", "({} * {})", "i"),
    ("truediv", "hopwave::linalg::quotient({}, {})", "f"),
    ("floordiv", "hopwave::linalg::floor_quotient({}, {})", "i"),
    ("mod", "hopwave::linalg::modulo({}, {})", "i"),
    ("and", "({} & {})", "b"),
    ("or", "({} | {})", "b"),
    ("xor", "({} ^ {})", "b"),
    ("lshift", "((long long){} << {})", "i"),
    ("rshift", "((long long){} >> {})", "i"),
):
    forward, backward = _arithmetic(pattern, least)
    setattr(Symbol, f"__{name}__", forward)
    setattr(Symbol, f"__r{name}__", backward)
for name, pattern, whole in (
    ("neg", "(-{})", False),
    ("pos", "{}", False),
    ("abs", "hopwave::linalg::absolute({})", False),
    ("invert", "(~(long long)({}))", True),
    ("floor", "((long long)floor((double)({})))", True),
    ("ceil", "((long long)ceil((double)({})))", True),
    ("trunc", "((long long)({}))", True),
):
    setattr(Symbol, f"__{name}__", _unary(pattern, whole))
for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    setattr(Symbol, f"__{name}__", _comparison(sign))


def _larger(*kinds):
    return max(kinds, key=KINDS.index)


def kind(value):
    if isinstance(value, Symbol):
        return value.kind
    return "b" if isinstance(value, bool | np.bool_) else "f" if isinstance(value, float | np.floating) else "i"


def text(value):
    return value.text if isinstance(value, Symbol) else literal(value)


def truth(value):
    return f"({text(value)} != 0)" if kind(value) != "b" else text(value)


def literal(value):
    """A Python number in C++."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise TypeError(f"{value} has more than 64 bits")
        return f"({value}LL)" if value > -(2**63) else "(-9223372036854775807LL - 1)"
    if isinstance(value, float):
        if math.isfinite(value):
            return value.hex() if value >= 0 else f"({value.hex()})"
        bits = int(np.float64(value).view(np.int64))
        return f"hopwave::linalg::double_of({bits}LL)"
    raise TypeError(f"{value!r} is not a number")


def _choose(sign):
    """min or max as in Python: the first of equal values."""

    def chosen(*values, **more):
        values = values[0] if len(values) == 1 and not more else values
        if more or not any(isinstance(value, Symbol) for value in values):
            return (min if sign == "<" else max)(*values, **more)
        best, *others = values
        made = next(value for value in values if isinstance(value, Symbol)).made
        for other in others:
            a, b = text(best), text(other)
            best = made(f"(({b} {sign} {a}) ? {b} : {a})", _larger(kind(best), kind(other)))
        return best

    return chosen


def _floating(name):
    def called(*values):
        made = next((value.made for value in values if isinstance(value, Symbol)), None)
        if made is None:
            return getattr(math, name)(*values)
        return made(f"{name}({', '.join(f'(double)({text(value)})' for value in values)})", "f")

    return called


def _test(name):
    def called(value):
        if not isinstance(value, Symbol):
            return getattr(math, name)(value)
        known = literal(name == "isfinite")  # of integers
        return value.made(f"(bool){name}((double)({value.text}))" if value.kind == "f" else known, "b")

    return called


def _converted(plain, pattern, to):
    return lambda value=0: value.made(pattern.format(value.text), to) if isinstance(value, Symbol) else plain(value)


# Replacements for functions whose arguments may be symbols.
MEANING = {
    min: _choose("<"),
    max: _choose(">"),
    float: _converted(float, "((double)({}))", "f"),
    int: _converted(int, "((long long)({}))", "i"),
    bool: lambda value=False: value.made(truth(value), "b") if isinstance(value, Symbol) else bool(value),
    **{getattr(math, name): _floating(name) for name in FLOATING},
    **{getattr(math, name): _test(name) for name in TESTS},
}
MATHS = types.SimpleNamespace(
    **vars(math) | {f.__name__: means for f, means in MEANING.items() if f.__module__ == "math"}
)
BUILTINS = vars(builtins) | {f.__name__: means for f, means in MEANING.items() if f.__module__ == "builtins"}
for name in FLOATING:  # np.sqrt(symbol) calls symbol.sqrt()
    setattr(Symbol, name, lambda self, *others, _called=_floating(name): _called(self, *others))


def meaning(value, seen):
    """The symbolic version of a function, module or value that the user's function refers to, or the object itself."""
    if value is math:
        return MATHS
    try:
        if value in MEANING:
            return MEANING[value]
    except TypeError:  # not hashable, so not a function
        return value
    return symbolic(value, seen) if isinstance(value, types.FunctionType) else value


def symbolic(function, seen=None):
    function = getattr(function, "py_func", function)  # Numba wraps functions
    seen = {} if seen is None else seen
    if not isinstance(function, types.FunctionType):
        return MEANING.get(function, function)
    if function in seen:
        return seen[function]
    code, scope = function.__code__, {"__builtins__": BUILTINS}
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    twin = types.FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    twin.__kwdefaults__ = function.__kwdefaults__
    seen[function] = twin
    for cell, kept in zip(cells, function.__closure__ or (), strict=True):
        cell.cell_contents = meaning(kept.cell_contents, seen)
    for name in code.co_names:
        if name in function.__globals__:
            scope[name] = meaning(function.__globals__[name], seen)
    return twin


class Path:
    """One path through a function: the outcomes of its first conditions."""

    def __init__(self, outcomes):
        self.outcomes, self.tests = outcomes, 0

    def outcome(self, condition):
        if self.tests == len(self.outcomes):
            raise Branch(truth(condition))
        self.tests += 1
        return self.outcomes[self.tests - 1]


@lru_cache(maxsize=256)
def translated(name, function, kinds, constants=()):
    """The C++ expression, and the result's kind, of a function of x and y, whose kinds are passed.

    `constants`: the operator's constants, which are written into the expression.

    >>> translated("clipped", lambda x, y: min(x + y, 10), "ii")
    ('(((10LL) < (x + y)) ? (10LL) : (x + y))', 'i')
    >>> translated("step", lambda x: 1.0 if x > 0 else 0.0, "f")[0]
    '((x > (0LL)) ? 0x1.0000000000000p+0 : 0x0.0p+0)'
    """
    twin, paths = symbolic(function), 0

    def follow(outcomes):
        nonlocal paths
        paths += 1
        if paths > MOST_PATHS:
            raise RecursionError(f"it has over {MOST_PATHS} paths, or a loop whose length depends on a value")
        path = Path(outcomes)
        try:
            found = twin(*(Symbol(letter, kind, path) for letter, kind in zip("xy", kinds, strict=False)))
            return text(found), kind(found)
        except Branch as branch:
            condition = str(branch)
        yes, no = follow((*outcomes, True)), follow((*outcomes, False))
        return f"({condition} ? {yes[0]} : {no[0]})", _larger(yes[1], no[1])

    try:
        return follow(())
    except Exception as error:  # a user's function may raise anything
        raise EngineError(
            f"{name!r} cannot be translated to CUDA ({type(error).__name__}: {error}); use arithmetic, comparisons, "
            "if … else, min, max, abs and functions of math on its arguments, or device='cpu'"
        ) from error
