"""Semirings and operators as C++ types, and the kernels of kernels/linalg/*.cuh that are compiled for them."""

from functools import lru_cache

import numpy as np

from hopwave.engines.cuda.launch import C_TYPES, NULL, expression, kernels, truth
from hopwave.engines.cuda.linalg.translate import literal, translated

RING = "hopwave::linalg::Ring"  # the name of the struct in every text here
KIND = {"b": "b", "i": "i", "u": "i", "f": "f"}
TERMS = {"one": "1", "x": "x", "a": "a", "out": "out", "inner": "inner", "zero": "zero"}


def c_type(dtype):
    return C_TYPES[np.dtype(dtype)]


def ring_text(product, a, x, pattern):
    """The arithmetic of a product over matrix values of type `a` and vector values of type `x`."""
    add, both = product.add, product.term == "both"
    reads_a, reads_x = product.term == "a" or both, product.term == "x" or both
    term = f"multiply({'x, a' if product.flip else 'a, x'})" if both else TERMS[product.term]
    lines = [
        *_types(product.dtype, a, x),
        *_constants(
            any=add.any_term,
            adds=add.op.built_in and add.name == "plus",
            exits=product.early_exit,
            carries=not (add.any_term and product.term == "one"),
            reads_a=reads_a and not pattern,
            reads_x=reads_x,
            # Without structure-only, unused values are also read (push-pull, section 5.5).
            weighs_a=not product.structure_only and not (reads_a and not pattern),
            weighs_x=not product.structure_only and not reads_x,
        ),
    ]
    if both:
        first, second = (x, a) if product.flip else (a, x)
        kind = product.multiply.result_type(np.dtype(first), np.dtype(second))
        lines.append(_function("multiply", product.multiply, first, second, kind))
    lines += [
        f"__device__ static Sum term(A a, X x, int out, int inner, int zero) {{ return (Sum)({term}); }}",
        _function("plus", add.op, product.dtype, product.dtype, product.dtype),
        f"__device__ static bool stops(Sum s) {{ return {_stops(add, product.early_exit)}; }}",
    ]
    return _struct(lines)


@lru_cache(maxsize=256)  # every betweenness run on a GPU requests the same text, to check its sums
def monoid_text(add, values, dtype):
    """Only ⊕: over an array of `values`, summed in `dtype`."""
    return _struct(
        [
            *_types(dtype, values, values),
            *_constants(adds=add.built_in and add.name == "plus", exits=False, carries=True),
            _function("plus", add, dtype, dtype, dtype),
            "__device__ static bool stops(Sum) { return false; }",
        ]
    )


def binary_text(op, x, y, result):
    return _struct([*_types(result, x, y), _function("two", op, x, y, result)])


def unary_text(op, x, result):
    expression = op.expression
    if expression is None:
        expression, _ = translated(op.name, op.function, KIND[np.dtype(x).kind], op.constants)
        inner = _wide(x)
    else:
        inner = c_type(result if op.kind == "float" else x)
    body = f"const {inner} x = value; return ({c_type(result)})({expression});"
    return _struct([*_types(result, x, x), f"__device__ static Sum one(A value) {{ {body} }}"])


def unary_result(op, x):
    """The type of a unary operator's results; for a user's function, from its translation."""
    if op.built_in or op.kind != "same":
        return op.result_type(x)
    _, kind = translated(op.name, op.function, KIND[x.kind], op.constants)
    if kind == KIND[x.kind] or (kind == "i" and x.kind in "if"):
        return x
    return np.dtype({"b": np.bool_, "i": np.int64, "f": np.float64}[kind])


def _function(name, op, x, y, result):
    """A binary operator as a static function; operands have the type in which NumPy computes."""
    x, y, result = np.dtype(x), np.dtype(y), np.dtype(result)
    if op.expression is None:
        expression, _ = translated(op.name, op.function, KIND[x.kind] + KIND[y.kind], op.constants)
        wide = "double" if "f" in (x.kind, y.kind) and not x == y == np.float32 else None
        first, second = ((wide if wide and t.kind == "f" else None) or _wide(t) for t in (x, y))
    else:
        expression = op.expression
        if op.kind == "same":
            first = second = c_type(op.result_type(x, y))
        elif op.kind == "bool":
            first = second = c_type(np.result_type(x, y))
        else:
            first, second = c_type(x), c_type(y)
    return (
        f"__device__ static {c_type(result)} {name}({c_type(x)} first, {c_type(y)} second) {{ "
        f"const {first} x = first; const {second} y = second; return ({c_type(result)})({expression}); }}"
    )


def _wide(dtype):
    return "long long" if np.dtype(dtype).kind == "i" else c_type(dtype)


def _stops(add, early_exit):
    if not early_exit:
        return "false"
    return "true" if add.any_term else f"s == (Sum)({literal(add.terminal)})"


def _types(sum_type, a, x):
    return [f"typedef {c_type(t)} {name};" for name, t in (("Sum", sum_type), ("A", a), ("X", x))]


def _constants(**values):
    return [f"static constexpr bool {name} = {literal(bool(value))};" for name, value in values.items()]


def _struct(lines):
    body = "\n".join(f"    {line}" for line in lines)
    return f'#include "linalg/python.cuh"\nnamespace hopwave::linalg {{\nstruct Ring {{\n{body}\n}};\n}}\n'


# ---------------------------------------------------------------- the kernels of one product

HEADER = "linalg/mxv.cuh"
VERBS = "pull", "dots", "push", "expand"  # compiled for a ring; pull in two versions: for a list of rows, and without


class Kernels:
    def __init__(self, product, offset, a, x):
        self.offset = c_type(offset)
        self.text = ring_text(product, np.dtype(np.bool_) if a is None else a, x, a is None)
        self.found = {}

    def get(self, verb, listed=None):
        key = verb, listed
        found = self.found.get(key)
        if found is None:
            shapes = (f"{RING}, {self.offset}, {pieces}" for pieces in ("false", "true"))
            more = "" if listed is None else f", {truth(listed)}"
            found = self.found[key] = tuple(kernels().get(HEADER, verb, s + more, self.text) for s in shapes)
        return found


def kernels_of(here, product, part, x):
    """The kernels of a product, cached with its record, which `linalg.arithmetic` reuses."""
    a = None if part.values is None else part.values.dtype
    key = Kernels, here.device, part.indptr.dtype.char, None if a is None else a.char, x.char
    return product.prepared.made(key, lambda: Kernels(product, part.indptr.dtype, a, x))


def operands(here, product, part, values):
    """The values of matrix and vector that kernels read; null if they read none."""
    weighs = not product.structure_only
    a = b = NULL
    if part.values is not None:
        a = part.values if weighs or product.term in ("a", "both") else NULL
    elif weighs:
        a = here.ones(len(part.indices), np.dtype(np.bool_))
    if weighs or product.term in ("x", "both"):
        b = values
    return a, b


def instances(offset):
    """Header and name of every kernel for one ring and one type of offsets, for the compile test."""
    for verb in VERBS:
        for pieces in ("false", "true"):
            for listed in ("true", "false") if verb == "pull" else ("",):
                yield HEADER, expression(HEADER, verb, RING, offset, pieces, listed)
    yield HEADER, expression(HEADER, "segments", RING)


def array_instances():
    """Kernels on full arrays: for a ring's text, and for a type of values."""
    for_text = "sum_all", "combine_at", "map_two", "combine_sorted", "map_one"
    for_type = "spread", "collect", "fill", "take"
    return (
        [expression("linalg/arrays.cuh", name, RING) for name in for_text],
        [expression("linalg/arrays.cuh", name, kind) for name in for_type for kind in ("bool", "double")],
    )
