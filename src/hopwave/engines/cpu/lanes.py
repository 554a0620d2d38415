"""Eight numbers of a row at a time, as LLVM's vectors: tables of eight columns, one per search of a group.

`d` holds distances (int32), `s` any float64. A row that was read is a value of its own kind, Ints or Floats, which
stays in the processor's registers. An arc from u to v is tight in a lane if d[u] + length == d[v] there.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from hopwave.engines.cpu.intrinsics import address_of

LANES = 8


class Ints(types.Type):
    """A row of int32."""

    kind, bytes = ir.VectorType(ir.IntType(32), LANES), 4


class Floats(types.Type):
    """A row of float64."""

    kind, bytes = ir.VectorType(ir.DoubleType(), LANES), 8


INTS, FLOATS = Ints("row of int32"), Floats("row of float64")


@register_model(Ints)
@register_model(Floats)
class Vector(models.PrimitiveModel):
    """A row as LLVM has it."""

    def __init__(self, manager, row):
        super().__init__(manager, row, row.kind)


def _row_of(table):
    return FLOATS if table.dtype == types.float64 else INTS


def _place(context, builder, signature, arguments, table, row):
    """The address of a row: `table` and `row` are the numbers of these arguments."""
    kinds = signature.args
    place = address_of(context, builder, kinds[table], arguments[table], kinds[row], arguments[row])
    return builder.bitcast(place, _row_of(kinds[table]).kind.as_pointer())


def _splat(builder, value):
    """A number in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(empty, value, ir.IntType(32)(0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _any(builder, mask):
    """Whether a bit is set in some lane."""
    return builder.icmp_signed("!=", builder.bitcast(mask, ir.IntType(LANES)), ir.IntType(LANES)(0))


def _tight(context, builder, signature, arguments, first):
    """In which lanes an arc is tight; arguments from `first` on: the row of one end, the length, the other row."""
    u, length, v = arguments[first : first + 3]
    length = context.cast(builder, length, signature.args[first + 1], types.int32)
    return builder.icmp_signed("==", builder.add(u, _splat(builder, length)), v)


def _only(builder, mask, value):
    """The value where the mask is set, else 0."""
    return builder.select(mask, value, ir.Constant(value.type, [0.0] * LANES))


@intrinsic
def row_of(typing, table, row):
    """A row of a table."""

    def build(context, builder, signature, arguments):
        return builder.load(_place(context, builder, signature, arguments, 0, 1), align=signature.return_type.bytes)

    return _row_of(table)(table, row), build


@intrinsic
def put(typing, table, row, value):
    """table[row] = value. Returns whether it was another in some lane."""

    def build(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments, 0, 1)
        other = builder.fcmp_unordered("!=", arguments[2], builder.load(place, align=8))
        builder.store(arguments[2], place, align=8)
        return _any(builder, other)

    return types.boolean(table, row, value), build


@intrinsic
def where_zero(typing, ints):
    """1 in lanes where the row is 0, else 0."""

    def build(context, builder, signature, arguments):
        zero = builder.icmp_signed("==", arguments[0], ir.Constant(Ints.kind, [0] * LANES))
        return builder.uitofp(zero, Floats.kind)

    return FLOATS(ints), build


@intrinsic
def no_lane(typing):
    """A row of zeros, for `mark_tight`."""
    return INTS(), lambda context, builder, signature, arguments: ir.Constant(Ints.kind, [0] * LANES)


@intrinsic
def shorten(typing, u, d, v, length):
    """d[v] = min(d[v], u + length). Returns whether it is less in some lane."""

    def build(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments, 1, 2)
        length = context.cast(builder, arguments[3], signature.args[3], types.int32)
        there, by_u = builder.load(place, align=4), builder.add(arguments[0], _splat(builder, length))
        less = builder.icmp_signed("<", by_u, there)
        builder.store(builder.select(less, by_u, there), place, align=4)
        return _any(builder, less)

    return types.boolean(u, d, v, length), build


@intrinsic
def mark_tight(typing, marks, flag, u, length, v):
    """Marks the lanes where the arc is tight, if the flag is −1 and not 0."""

    def build(context, builder, signature, arguments):
        tight = builder.sext(_tight(context, builder, signature, arguments, 2), Ints.kind)
        flag = context.cast(builder, arguments[1], signature.args[1], types.int32)
        return builder.or_(arguments[0], builder.and_(tight, _splat(builder, flag)))

    return INTS(marks, flag, u, length, v), build


@intrinsic
def any_lane(typing, marks):
    """Whether a lane is marked."""

    def build(context, builder, signature, arguments):
        return _any(builder, builder.icmp_signed("!=", arguments[0], ir.Constant(Ints.kind, [0] * LANES)))

    return types.boolean(marks), build


@intrinsic
def add_tight(typing, total, value, factor, u, length, v):
    """total + value * factor, in lanes where the arc is tight."""

    def build(context, builder, signature, arguments):
        product = builder.fmul(arguments[1], _splat(builder, arguments[2]))
        mask = _tight(context, builder, signature, arguments, 3)
        return builder.fadd(arguments[0], _only(builder, mask, product))

    return FLOATS(total, value, types.float64, u, length, v), build


@intrinsic
def sum_tight(typing, s_u, x_v, u, length, v):
    """Σ s_u * x_v over lanes where the arc is tight."""

    def build(context, builder, signature, arguments):
        mask = _tight(context, builder, signature, arguments, 2)
        total = _only(builder, mask, builder.fmul(arguments[0], arguments[1]))
        width = LANES
        while width > 1:  # halves are added to each other
            width //= 2
            lower, upper = (
                ir.Constant(ir.VectorType(ir.IntType(32), width), list(range(begin, begin + width)))
                for begin in (0, width)
            )
            total = builder.fadd(*(builder.shuffle_vector(total, total, half) for half in (lower, upper)))
        return builder.extract_element(total, ir.IntType(32)(0))

    return types.float64(s_u, x_v, u, length, v), build
