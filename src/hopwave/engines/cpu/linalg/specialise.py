"""Kernels written for any semiring, compiled for one: its operators are substituted into the kernel's source.

`specialise` takes a kernel's syntax tree, replaces the words below by their meaning in a given semiring, and compiles
it with Numba under its own name: three times as fast as with operators that are functions. Plain functions of the
kernel's own module that it calls are specialised in the same way.

    term(a, x, out, inner, zero)   one term: from the values of matrix and vector, the row, the entry
    plus(s, t)                     ⊕
    joined(s, t, more)             ⊕ if s may still be the identity: it is not if there are `more` terms than t
    stops(s)                       whether no further term changes the sum s
    can_stop()                     whether such sums exist
    carries()                      whether sums have values: the sums of ANY.PAIR are always 1
    weighed(w, a, x)               w; without structure-only w + a·x, so that unneeded values are read nevertheless
"""

import ast
import inspect
import textwrap
from functools import cache, lru_cache
from types import FunctionType

import numpy as np

from hopwave.engines.cpu.intrinsics import COMPILED, INNER
from hopwave.engines.cpu.views import read_only
from hopwave.planning.jobs import Product
from hopwave.system.numba_cache import njit

COMMUTE = {"plus", "times", "min", "max", "lor", "land", "lxor", "eq", "ne"}  # x ⊗ a = a ⊗ x: one kernel serves both
WORDS = ("term", "plus", "joined", "stops", "can_stop", "carries", "weighed")


@lru_cache(maxsize=512)
def specialise(kernel, add, multiply, term, flip, pattern, weighs, inner=False):
    """The kernel for this arithmetic. `pattern`: matrix values are 1 and not read. `inner`: only kernels call it."""
    ring = Ring(add, multiply, term, flip, pattern, weighs)
    tree = _tree(kernel)
    tree.body[0].name = name = f"{kernel.__name__}_{ring.name}"
    tree = ast.fix_missing_locations(ring.visit(tree))
    parts = {
        called: specialise(function, add, multiply, term, flip, pattern, weighs, inner=True)
        for called, function in _own_functions(kernel).items()
    }
    scope = dict(kernel.__globals__) | parts | ring.functions
    exec(compile(tree, inspect.getsourcefile(kernel), "exec"), scope)
    options = INNER if inner else COMPILED
    if not (add.op.built_in and (multiply is None or multiply.built_in)):
        options = options | {"cache": False}  # a user's function may change
    return njit(**options)(scope[name])


def _own_functions(kernel):
    """The functions that a kernel calls and that are written like kernels: not compiled, and from the same module."""
    found = {name: kernel.__globals__.get(name) for name in kernel.__code__.co_names}
    return {
        name: function
        for name, function in found.items()
        if isinstance(function, FunctionType) and function.__module__ == kernel.__module__
    }


def compiled(kernel, product: Product, pattern):
    """The kernel for a product. Products that differ only in values that their term does not read share a kernel."""
    both = product.term == "both"
    reads = product.term in ("a", "both")
    return specialise(
        kernel,
        product.add,
        product.multiply if both else None,
        product.term,
        both and product.flip and not (product.multiply.built_in and product.multiply.name in COMMUTE),
        reads and pattern,
        not product.structure_only and not reads,
    )


def operands(kernel, product: Product, part, values, count=0):
    """The kernel for this product, and the values of both operands that it reads; `count`: entries of the other."""
    pattern, weighs = part.values is None and product.structure_only, not product.structure_only
    a = b = nothing(product.dtype)
    if not pattern and (product.term in ("a", "both") or weighs):
        a = read_only(np.ones(len(part.indices), np.bool_) if part.values is None else part.values)
    if product.term in ("x", "both") or weighs:
        b = read_only(np.ones(count, np.bool_) if values is None else values)
    return compiled(kernel, product, pattern), a, b


@cache
def nothing(dtype):
    """An empty array, for kernels that read no values."""
    return read_only(np.empty(0, dtype))


def callable_from_compiled(function):
    """A user's function, callable from a kernel. Numba supports built-in functions (max) and compiled ones directly."""
    return njit(**INNER | {"cache": False})(function) if isinstance(function, FunctionType) else function


def _tree(kernel):
    """The kernel's syntax tree, with its line numbers in the file."""
    lines, first = inspect.getsourcelines(kernel)
    return ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1)


class Ring(ast.NodeTransformer):
    """Substitutes a semiring into a tree."""

    def __init__(self, add, multiply, term, flip, pattern, weighs):
        self.add, self.multiply, self.kind, self.flip, self.pattern = add, multiply, term, flip, pattern
        self.weighs = weighs
        self.functions = {}
        words = [add.name, term if multiply is None else multiply.name]
        words += ["flipped"] * flip + ["pattern"] * pattern + ["weighed"] * weighs
        # Numba's cache identifies kernels by name and bytecode: all other inputs of the source must be in the name.
        words += ["anyterm" if add.any_term else "allterms"] * (add.any_term != (add.name == "any"))
        words += ["fromfirst"] * (add.op.built_in and not add.starts_from_identity)
        words += [] if add.terminal is None else ["until" + repr(add.terminal).encode().hex()]
        self.name = "_".join(word if word.isidentifier() else "unnamed" for word in words)

    def visit_Call(self, node):
        self.generic_visit(node)
        word = node.func.id if isinstance(node.func, ast.Name) else None
        return getattr(self, f"_{word}")(*node.args) if word in WORDS else node

    def _term(self, a, x, out, inner, zero):
        a = ast.Constant(1) if self.pattern else a
        if self.kind == "both":
            return self._call("multiply", self.multiply, *((x, a) if self.flip else (a, x)))
        return {"one": ast.Constant(True), "a": a, "x": x, "out": out, "inner": inner, "zero": zero}[self.kind]

    def _plus(self, s, t):
        return self._call("add", self.add.op, s, t)

    def _joined(self, s, t, more):
        if self.add.any_term:
            return t
        together = self._plus(s, t)
        # A user's identity is not relied on: the first term is the initial sum.
        return together if self.add.starts_from_identity else ast.IfExp(more, together, t)

    def _stops(self, s):
        if self.add.any_term or self.add.terminal is None:
            return ast.Constant(self.add.any_term)
        return ast.Compare(s, [ast.Eq()], [ast.Constant(self.add.terminal)])

    def _can_stop(self):
        return ast.Constant(self.add.short_circuits)

    def _carries(self):
        return ast.Constant(not (self.add.any_term and self.kind == "one"))

    def _weighed(self, w, a, x):
        return ast.BinOp(w, ast.Add(), ast.BinOp(a, ast.Mult(), x)) if self.weighs else w

    def _call(self, role, op, x, y):
        """A built-in operator's own source, with the operands substituted; a user's function is called."""
        if op.python is not None:
            return _Operands(x, y).visit(ast.parse(op.python, mode="eval").body)
        self.functions[role] = callable_from_compiled(op.function)
        return ast.Call(ast.Name(role, ast.Load()), [x, y], [])


class _Operands(ast.NodeTransformer):
    def __init__(self, x, y):
        self.operands = {"x": x, "y": y}

    def visit_Name(self, node):
        return self.operands.get(node.id, node)
