"""Instructions that Numba lacks: atomics, bit counting, prefetching, a clock and ways to yield a core, in LLVM.

All of Numba's internals that hopwave depends on are in this file, team.py and numba_cache.py.
"""

import ctypes
import platform
import sys
from contextlib import contextmanager
from copy import copy
from functools import cache
from inspect import Parameter, Signature, signature

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.datamodel import DataModelManager, default_manager, models
from numba.core.registry import cpu_target
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables, WithLifting
from numba.extending import intrinsic

from hopwave.engines.cpu.policy import SOURCES_OF_FLOWS
from hopwave.system.numba_cache import njit


class PartLibrary(JITCodeLibrary):
    """The code of a function that only compiled code calls: optimised and compiled in its outermost caller."""

    def finalize(self):
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name):
        return 0  # not callable from Python

    @property
    def codegen(self):
        codegen = copy(self._codegen)
        codegen.set_env = lambda name, environment: None  # there is no place for it yet: the code has no address
        return codegen


class CountedTuple(models.TupleModel):
    def traverse(self, builder):
        return [part for part in super().traverse(builder) if not isinstance(part[0], types.Number | types.Boolean)]


class CountedArray(models.ArrayModel):
    """References are counted by the counter. Numba also reads the other fields: a quarter of its code, unused."""

    def traverse(self, builder):
        return super().traverse(builder)[:1]


size_of = cache(cpu_target.target_context.get_abi_sizeof)  # LLVM parses a module for the size of each type
MODELS = DataModelManager({types.NamedTuple: CountedTuple, types.Array: CountedArray}).chain(default_manager)

# Passes for closures, `with` and inlined Python functions, which no compiled function has.
UNUSED = InlineClosureLikes, InlineInlinables, WithLifting


class Compiler(CompilerBase):
    def define_pipelines(self):
        context = self.state.targetctx = copy(self.state.targetctx)
        vars(context).pop("nrt", None)  # counts references by its context's models
        context.data_model_manager, context.get_abi_sizeof = MODELS, size_of
        context.load_additional_registries = lambda: None  # they are loaded
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [one for one in passes.passes if one[0] not in UNUSED]
        passes.finalize()
        return [passes]


class PartCompiler(Compiler):
    """Writes a function's code into a PartLibrary."""

    def define_pipelines(self):
        state = self.state
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


# One set of options for every compiled function: no GIL, no bounds checks, no entry from C, the result cached on disk.
COMPILED = {
    "cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False, "no_cfunc_wrapper": True,
    "pipeline_class": Compiler,
}  # fmt: skip
# Functions that only compiled code calls: no entry from Python, no separate machine code, no separate file.
INNER = COMPILED | {"cache": False, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
outer, inner = njit(**COMPILED), njit(**INNER)  # decorators: for functions that Python calls, and for other functions

MACHINE = platform.machine().lower()


def address_of(context, builder, array_type, array, index_type, index):
    """The address of array[index]; for a table, the address of that row."""
    array = context.make_array(array_type)(context, builder, array)
    index = context.cast(builder, index, index_type, types.intp if index_type.signed else types.uintp)
    place = [index] + [context.get_constant(types.intp, 0)] * (array_type.ndim - 1)
    return cgutils.get_item_pointer(context, builder, array_type, array, place, wraparound=False)


def without_counters(context, builder, kind, value):
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind):
            inner = without_counters(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, inner, i)
    return value


@intrinsic
def uncounted(typing, record):
    """A copy of the record whose arrays have no reference counts, which are atomic in Numba; the caller owns them."""
    return record(record), lambda context, builder, _, given: without_counters(context, builder, record, given[0])


def _at_entry(result):
    """A decorator: code for the address of array[index] becomes instruction(array, index, …), of type result(dtype)."""

    def decorate(write):
        def instruction(typing, array, index, *values):
            def build(context, builder, call, arguments):
                kinds, dtype = call.args, array.dtype
                place = address_of(context, builder, kinds[0], arguments[0], kinds[1], arguments[1])
                given = zip(arguments[2:], kinds[2:], strict=True)
                found = write(context, builder, dtype, place, *(context.cast(builder, x, k, dtype) for x, k in given))
                return context.get_dummy_value() if found is None else found

            return result(array.dtype)(array, index, *values), build

        names = "typing", "array", "index", *[*signature(write).parameters][4:]
        plain = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        instruction.__signature__ = Signature(plain)  # otherwise Numba would pass one tuple of *values
        return intrinsic(instruction)

    return decorate


def _read_modify_write(operation, ordering):
    @_at_entry(lambda dtype: dtype)
    def instruction(context, builder, dtype, place, value):
        return builder.atomic_rmw(operation, place, value, ordering)

    return instruction


# The relaxed form is for counters. The ordered form also publishes all earlier writes.
atomic_add = _read_modify_write("add", "monotonic")
atomic_or = _read_modify_write("or", "monotonic")
ordered_add = _read_modify_write("add", "seq_cst")


@_at_entry(lambda dtype: types.boolean)
def compare_and_swap(context, builder, dtype, place, old, new):
    """Whether array[index] was `old` and is now `new`."""
    return builder.extract_value(builder.cmpxchg(place, old, new, "monotonic", "monotonic"), 1)


@_at_entry(lambda dtype: dtype)
def atomic_least(context, builder, dtype, place, value):
    """array[index] = min(array[index], value) for unsigned integers, or floats ≥ 0 by their bits; the old value."""
    word = ir.IntType(dtype.bitwidth)
    place, value = builder.bitcast(place, word.as_pointer()), builder.bitcast(value, word)
    return builder.bitcast(builder.atomic_rmw("umin", place, value, "monotonic"), context.get_value_type(dtype))


@_at_entry(lambda dtype: dtype)
def ordered_load(context, builder, dtype, place):
    """array[index]; also makes visible all writes made before the value was stored."""
    return builder.load_atomic(place, "seq_cst", dtype.bitwidth // 8)


@_at_entry(lambda dtype: types.void)
def ordered_store(context, builder, dtype, place, value):
    """array[index] = value, visible only after all earlier writes."""
    builder.store_atomic(value, place, "seq_cst", dtype.bitwidth // 8)


def _prefetching(to_write):
    @_at_entry(lambda dtype: types.void)
    def instruction(context, builder, dtype, place):
        place, word = builder.bitcast(place, ir.IntType(8).as_pointer()), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, word(to_write), word(3), word(1)])

    return instruction


prefetch = _prefetching(0)  # request the cache line of array[index] without waiting for it
prefetch_to_write = _prefetching(1)  # request it for writing: this core becomes its only owner


@intrinsic
def dot_where_equal(typing, row, factors, values, keys, wanted):
    """Σ factors[s] · values[row, s] over the SOURCES_OF_FLOWS columns s with keys[row, s] == wanted[s], as vectors."""

    def build(context, builder, signature, arguments):
        def loaded(i, *index):
            place = address_of(context, builder, signature.args[i], arguments[i], *index)
            kind = ir.VectorType(place.type.pointee, SOURCES_OF_FLOWS)
            return builder.load(builder.bitcast(place, kind.as_pointer()), align=4)

        first, row = (types.intp, context.get_constant(types.intp, 0)), (signature.args[0], arguments[0])
        products = builder.fmul(loaded(1, *first), loaded(2, *row))
        equal = builder.icmp_signed("==", loaded(3, *row), loaded(4, *first))
        terms = builder.select(equal, products, ir.Constant(products.type, [0.0] * SOURCES_OF_FLOWS))
        kind, name = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), terms.type]), "llvm.vector.reduce.fadd"
        add = cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{SOURCES_OF_FLOWS}f64")
        return builder.call(add, [ir.DoubleType()(0.0), terms], fastmath=["reassoc"])

    return types.float64(row, factors, values, keys, wanted), build


@intrinsic
def relax(typing):
    """Tell the core that it waits in a loop, so that another thread on this core is not slowed down."""

    def build(context, builder, signature, arguments):
        word, module = ir.IntType(32), builder.module
        if MACHINE in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(module, kind, "llvm.x86.sse2.pause"), [])
        elif MACHINE in ("aarch64", "arm64"):
            kind = ir.FunctionType(ir.VoidType(), [word])
            builder.call(cgutils.get_or_insert_function(module, kind, "llvm.aarch64.hint"), [word(1)])
        return context.get_dummy_value()

    return types.void(), build


@intrinsic
def noinline(typing):
    """First statement of a function that LLVM must not inline: inside its caller, its loops would lack registers."""

    def build(context, builder, signature, arguments):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), build


@intrinsic
def call_address(typing, address, numbers):
    """The int64 that the C function at an address returns for a tuple of numbers, each passed as int64."""

    def build(context, builder, signature, arguments):
        word, kinds = ir.IntType(64), signature.args[1]
        values = [
            context.cast(builder, builder.extract_value(arguments[1], i), kind, types.int64)
            for i, kind in enumerate(kinds)
        ]
        kind = ir.FunctionType(word, [word] * len(values)).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], kind), values)

    return types.int64(types.int64, numbers), build


@contextmanager
def callback(function, count):
    """The address for `call_address` of a Python function of `count` numbers. If it raises, it returns -1 to compiled
    code, and the error is raised at the end of the context.
    """
    raised = []

    def call(*numbers):
        try:
            return function(*numbers)
        except BaseException as error:  # Ctrl-C as well
            raised.append(error)
            return -1

    as_c = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * count)(call)  # alive as long as this context
    yield ctypes.c_void_p.from_buffer(as_c).value  # cast() would make a reference cycle
    if raised:
        raise raised[0]


@intrinsic
def trailing_zeros(typing, word):
    """The position of the lowest set bit; the word must not be 0."""
    return types.uint64(types.uint64), lambda context, builder, _, given: builder.cttz(given[0], ir.IntType(1)(1))


@intrinsic
def count_ones(typing, word):
    return types.int64(types.uint64), lambda context, builder, _, given: builder.ctpop(given[0])


# TICKS: nanoseconds per unit that CLOCK writes; SHORTEST: the argument of SLEEP.
if sys.platform == "win32":
    CLOCK, WHICH, TICKS = "QueryPerformanceCounter", (), (100, 0)  # a counter at 10 MHz
    YIELD, SLEEP, SHORTEST = "SwitchToThread", "Sleep", np.uint32(1)
else:
    CLOCK, WHICH = "clock_gettime", (6 if sys.platform == "darwin" else 1,)  # the monotonic clock
    TICKS = 1_000_000_000, 1  # it writes seconds and nanoseconds
    YIELD, SLEEP, SHORTEST = "sched_yield", "usleep", np.uint32(50)
pause = types.ExternalFunction(YIELD, types.int32())  # yields the core to any ready thread
_sleep = types.ExternalFunction(SLEEP, types.int32(types.uint32))


@inner
def nap():
    """Sleep for the shortest time that frees the core."""
    _sleep(SHORTEST)


@intrinsic
def nanoseconds(typing):
    """A monotonic clock. Writes to the stack: writes to Python's memory crash older Pythons (python/cpython#128679)."""

    def build(context, builder, signature, arguments):
        word, number = ir.IntType(64), ir.IntType(32)
        written = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
        first, second = (cgutils.gep_inbounds(builder, written, 0, i) for i in range(2))
        kind = ir.FunctionType(number, [number] * len(WHICH) + [word.as_pointer()])
        ask = cgutils.get_or_insert_function(builder.module, kind, CLOCK)
        builder.call(ask, [*map(number, WHICH), first])
        parts = [builder.mul(builder.load(part), word(unit)) for part, unit in zip((first, second), TICKS, strict=True)]
        return builder.add(*parts)

    return types.int64(), build
