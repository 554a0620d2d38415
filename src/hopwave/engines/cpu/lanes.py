"""Eight numbers of a row at a time, as LLVM's vectors: tables of eight columns, one per search of a group.

`d` holds distances (int32), `s` any float64. An arc from u to v is tight in a lane if d[u] + length == d[v] there.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hopwave.engines.cpu.intrinsics import address_of

LANES = 8


def _row(context, builder, signature, arguments, table, row):
    """The address of a row: `table` and `row` are the numbers of these arguments."""
    kinds = signature.args
    place = address_of(context, builder, kinds[table], arguments[table], kinds[row], arguments[row])
    number = ir.DoubleType() if kinds[table].dtype == types.float64 else ir.IntType(32)
    return builder.bitcast(place, ir.VectorType(number, LANES).as_pointer())


def _load(builder, place):
    return builder.load(place, align=4 if isinstance(place.type.pointee.element, ir.IntType) else 8)


def _store(builder, value, place):
    builder.store(value, place, align=4 if isinstance(place.type.pointee.element, ir.IntType) else 8)


def _splat(builder, value):
    """A number in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(empty, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _any(builder, mask):
    """Whether a bit is set in some lane."""
    return builder.icmp_signed("!=", builder.bitcast(mask, ir.IntType(LANES)), ir.IntType(LANES)(0))


def _tight(context, builder, signature, arguments):
    """In which lanes the arc is tight: arguments are d, u, v, length."""
    u, v = (_load(builder, _row(context, builder, signature, arguments, 0, end)) for end in (1, 2))
    length = context.cast(builder, arguments[3], signature.args[3], types.int32)
    return builder.icmp_signed("==", builder.add(u, _splat(builder, length)), v)


@intrinsic
def shorten(typing, d, u, v, length):
    """d[v] = min(d[v], d[u] + length). Returns whether it is less in some lane."""

    def build(context, builder, signature, arguments):
        place = _row(context, builder, signature, arguments, 0, 2)
        length = context.cast(builder, arguments[3], signature.args[3], types.int32)
        here = _load(builder, _row(context, builder, signature, arguments, 0, 1))
        there, by_u = _load(builder, place), builder.add(here, _splat(builder, length))
        less = builder.icmp_signed("<", by_u, there)
        _store(builder, builder.select(less, by_u, there), place)
        return _any(builder, less)

    return types.boolean(d, u, v, length), build


@intrinsic
def is_tight(typing, d, u, v, length):
    """Whether the arc is tight in some lane."""

    def build(context, builder, signature, arguments):
        return _any(builder, _tight(context, builder, signature, arguments))

    return types.boolean(d, u, v, length), build


@intrinsic
def add_tight(typing, d, u, v, length, s, row, factor, to):
    """s[to] += s[row] * factor, in lanes where the arc is tight."""

    def build(context, builder, signature, arguments):
        mask = _tight(context, builder, signature, arguments)
        place = _row(context, builder, signature, arguments, 4, 7)
        value = _load(builder, _row(context, builder, signature, arguments, 4, 5))
        product = builder.fmul(value, _splat(builder, arguments[6]))
        none = ir.Constant(product.type, [0.0] * LANES)
        _store(builder, builder.fadd(_load(builder, place), builder.select(mask, product, none)), place)
        return context.get_dummy_value()

    return types.void(d, u, v, length, s, row, types.float64, to), build


@intrinsic
def sum_tight(typing, d, u, v, length, s, x):
    """Σ s[u] * x[v] over lanes where the arc is tight."""

    def build(context, builder, signature, arguments):
        mask = _tight(context, builder, signature, arguments)
        s_u, x_v = (_load(builder, _row(context, builder, signature, arguments, *at)) for at in ((4, 1), (5, 2)))
        product = builder.fmul(s_u, x_v)
        total = builder.select(mask, product, ir.Constant(product.type, [0.0] * LANES))
        width = LANES
        while width > 1:  # halves are added to each other
            width //= 2
            lower, upper = (
                ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(begin, begin + width)))
                for begin in (0, width)
            )
            total = builder.fadd(*(builder.shuffle_vector(total, total, half) for half in (lower, upper)))
        return builder.extract_element(total, ir.IntType(32)(0))

    return types.float64(d, u, v, length, s, x), build


@intrinsic
def move(typing, s, row, x, to):
    """x[to] = s[row]. Returns whether it was another in some lane."""

    def build(context, builder, signature, arguments):
        place = _row(context, builder, signature, arguments, 2, 3)
        value = _load(builder, _row(context, builder, signature, arguments, 0, 1))
        other = builder.fcmp_unordered("!=", value, _load(builder, place))
        _store(builder, value, place)
        return _any(builder, other)

    return types.boolean(s, row, x, to), build
