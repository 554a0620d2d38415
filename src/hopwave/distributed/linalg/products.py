"""Products of a distributed matrix and a distributed vector: gather, multiply on every rank, sum at the owners."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.algebra.operators import Monoid, binary, monoid, unary
from hopwave.algebra.semiring import Semiring, semiring
from hopwave.algebra.vector import Shares, Vector
from hopwave.arrays import module_of
from hopwave.checks.numbers import is_number, is_whole
from hopwave.checks.options import one_of
from hopwave.distributed import codec
from hopwave.distributed.linalg.matrix import DistributedMatrix, DistributedVector
from hopwave.distributed.wire import Side, allgather_slots, send_to_owners
from hopwave.errors import GraphError, LinalgError
from hopwave.linalg import elementwise, products
from hopwave.linalg.algorithms.operands import check_lengths, check_weights
from hopwave.linalg.algorithms.power import check_rounds, not_settled
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult, select
from hopwave.linalg.masking import Writes, Writing, allowed_places, assign, choose, let_through, write, writing
from hopwave.linalg.products import arithmetic
from hopwave.linalg.products import reduce as reduce_own
from hopwave.planning.jobs import Direction

EVERYWHERE = Writing()


def vxm(
    x: DistributedVector, A: DistributedMatrix, semiring: Semiring = semiring.plus_times, *,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto", **writes: Unpack[Writes],
) -> DistributedVector:  # fmt: skip
    """out⟨mask⟩ ⊙= x ⊕.⊗ A, over ranks: values follow the arcs. Called by all ranks with the same arguments.

    A product by columns ("push") sends partial sums to the owners, which complete them and apply the mask;
    a product by rows ("pull") gathers x on every rank and in a 1D layout computes only allowed entries. The values of
    the matrix are its weights.

    Parameters
    ----------
    x : DistributedVector
        The row vector.
    A : DistributedMatrix
        The matrix.
    semiring : Semiring, optional
        ⊕ and ⊗. If ⊗ returns positions, ⊕ must be any, min or max.
    direction : {"auto", "push", "pull"}, optional
        "auto" applies the rule of x to its entries on all ranks.

    Examples
    --------
    >>> A = da.DistributedMatrix.from_matrix(hw.generate.path(3))
    >>> da.vxm(A.vector([0], 1.0), A, hw.linalg.semiring.plus_first).gather().to_dict()
    {1: 1.0}
    """
    return _agreed("vxm", A, x, semiring, dtype, direction, Writing(**writes))


def mxv(
    A: DistributedMatrix, x: DistributedVector, semiring: Semiring = semiring.plus_times, *,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto", **writes: Unpack[Writes],
) -> DistributedVector:  # fmt: skip
    """out⟨mask⟩ ⊙= A ⊕.⊗ x, over ranks: values move against the arcs. Called by all ranks with the same arguments.

    The values of the matrix are its weights.

    Parameters
    ----------
    A, x, semiring, direction
        As in `vxm`.

    Examples
    --------
    >>> A = da.DistributedMatrix.from_entries([0, 0], [1, 2], [5.0, 7.0], n=3)
    >>> da.mxv(A, A.full(1.0)).gather().to_dict()
    {0: 12.0}
    """
    return _agreed("mxv", A, x, semiring, dtype, direction, Writing(**writes))


def _agreed(
    call: str, A: DistributedMatrix, x: Any, ring: Semiring, dtype: Any, direction: Direction, how: Writing
) -> DistributedVector:
    flags = how.complement, how.structural, how.replace
    agree(call, A, semiring=str(ring), direction=direction, flags=flags)
    return product(A, x, ring, call == "vxm", how, dtype, direction)


def reduce(x: DistributedVector, add: Any = monoid.plus) -> Any:
    """⊕ of all values on all ranks, as in `hopwave.linalg.reduce`; called by all ranks.

    Parameters
    ----------
    x : DistributedVector
        The vector.
    add : Monoid, optional
        ⊕.

    Returns
    -------
    number

    Examples
    --------
    >>> da.reduce(da.DistributedMatrix.from_matrix(hw.generate.path(3)).full(2))
    6
    """
    if not isinstance(x, DistributedVector):
        raise LinalgError(f"{x!r:.60} is not a DistributedVector; for a vector of one process use linalg.reduce")
    mine = reduce_own(x.own, add)
    found = [value for value, count in x.world.allgather((mine, x.own.nnz)) if count]
    return reduce_own(Vector.from_dense(np.array(found)), add) if found else mine


def agree(call: str, A: Any, **arguments: Any) -> None:
    """Raise an error for a matrix of one process, or if ranks disagree."""
    if not isinstance(A, DistributedMatrix):
        raise LinalgError(f"{A!r:.60} is not a DistributedMatrix; for a matrix of one process use linalg.{call}")
    A.world.agree(call, A=A.named, **arguments)


def product(
    A: DistributedMatrix, x: DistributedVector, ring: Semiring, forward: bool, how: Writing = EVERYWHERE,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto",
) -> DistributedVector:  # fmt: skip
    """vxm (forward) and mxv, without checking that ranks agree: algorithms check once."""
    one_of("direction", direction, ("auto", "push", "pull"), LinalgError)
    for name, given in (("x", x), ("out", how.out), ("mask", how.mask)):
        if given is not None and (not isinstance(given, DistributedVector) or given.layout is not A.layout):
            raise LinalgError(f"{name} is not a vector with this matrix's layout; create one with A.vector or A.full")
    pull = x.dense() if direction == "auto" else direction == "pull"
    matrix, tails, heads = A.block(forward, pull)
    inner, outer = (tails, heads) if forward else (heads, tails)
    own, mask = (None if given is None else given.own for given in (how.out, how.mask))
    writes = writing(how._replace(out=own, mask=mask))
    operand = _gathered(A, inner, x.own)
    masked: dict[str, Any] = {}
    if mask is not None and outer.comm is None:  # else positions belong to several ranks
        masked = {"mask": padded(mask, outer), "complement": how.complement, "structural": how.structural}
    options: dict[str, Any] = {"dtype": dtype, "direction": "pull" if pull else "push", **masked}
    multiply: Any = products.vxm if forward else products.mxv
    t = multiply(*((operand, matrix) if forward else (matrix, operand)), ring, **options)
    t = _added_up(A, outer, _as_ids(t, ring, matrix, operand, forward, inner, outer), ring.add)
    engine = choose("auto", t)
    allowed = allowed_places(writes, A.own, engine)
    found = write(let_through(t, allowed, engine), writes, allowed, engine)
    return x.like(found) if how.out is None else how.out


def padded(own: Vector, side: Side) -> Vector:
    """Own values by the slots of a side that contains only this rank: slots are padded."""
    size = side.group.size
    if own.format == "sparse":
        return Vector.sparse(size, *own.listed(), ascending=own._ascending)
    values, present = own.arrays()
    more = module_of(present).zeros(size - own.n, np.bool_)
    xp = module_of(values)
    return Vector.dense(xp.concatenate([values, more.astype(values.dtype)]), xp.concatenate([present, more]))


def _gathered(A: DistributedMatrix, side: Side, own: Vector) -> Vector:
    """The values of a side's ranks, by slots."""
    if side.comm is None:
        return padded(own, side)
    places, values = own.entries()
    slots, rows = allgather_slots(A.wire, side, own.n, places, codec.as_rows(values))
    return Vector.sparse(side.group.size, slots.astype(np.int32), codec.as_values(rows, values.dtype))


def _added_up(A: DistributedMatrix, side: Side, t: Vector, add: Monoid) -> Vector:
    """Own positions of a sum over the ranks of a side, in rank order; each rank sends its terms to the owners."""
    slots, values = t.entries()
    sent = send_to_owners(A.wire, side, A.own, slots, lambda some: codec.as_rows(values[some]))
    own = slots[sent.own] - side.first
    pieces = {side.group.ranks[side.index]: Vector.sparse(A.own, own.astype(np.int32), values[sent.own])}
    for rank, positions, rows in sent.receive():
        pieces[rank] = Vector.sparse(A.own, positions.astype(np.int32), codec.as_values(rows, values.dtype))
    total, *others = (pieces[rank] for rank in sorted(pieces))
    for other in others:
        total = elementwise.ewise_add(total, other, add.op)
    return total if total.dtype == t.dtype else total.astype(t.dtype)


def _as_ids(t: Vector, ring: Semiring, matrix: Any, x: Vector, flip: bool, inner: Side, outer: Side) -> Vector:
    """Convert slots that ⊗ returned to positions. Both have the same order, so ⊕ chose the same entries."""
    if not ring.multiply.position:
        return t
    if not (ring.any_term or ring.add in (monoid.min, monoid.max)):
        raise LinalgError(f"{ring.name} sums positions, which ranks number differently; use any, min or max")
    term = arithmetic(ring, matrix, x.dtype, flip, None, True, True).term
    if term == "zero":
        return t
    places, values = t.entries()
    ids = (inner if term == "inner" else outer).group.ids(values)
    return Vector.sparse(t.n, places, ids.astype(values.dtype))


# ---------------------------------------------------------------- algorithms by products, as in linalg.algorithms
#
# f   the frontier, or shortened distances     v   visited vertices     d   depth, or distances     x   ranks


def bfs(A: DistributedMatrix, source: int) -> DistributedVector:
    """Hops from the source to every vertex it reaches (push-pull, Algorithm 1); called by all ranks.

    Counts hops as int32 and ignores weights. Unreachable vertices have no entry.

    Parameters
    ----------
    A : DistributedMatrix
        The graph: an entry (i, j) is an arc from i to j.
    source : int
        Start vertex.

    Examples
    --------
    >>> da.bfs(da.DistributedMatrix.from_matrix(hw.generate.star(4)), 1).gather().values.tolist()
    [1, 0, 2, 2]
    """
    agree("bfs", A, source=source)
    f, v, depth = A.vector([_place(A, source)], True), A.vector(dtype="int32", values=0), 0
    while f.nnz:
        assign(v.own, depth, mask=f.own, structural=True)
        f = product(A, f, semiring.any_pair, True, Writing(mask=v, complement=True, structural=True))
        depth += 1
    return v


def pagerank(A: DistributedMatrix, alpha: float = 0.85, tol: float = 1e-6, max_iter: int = 100) -> DistributedVector:
    """PageRank of every vertex, as in `hopwave.pagerank`; called by all ranks.

    Arcs are followed in proportion to their weights, the values of the matrix.

    Parameters
    ----------
    A
        As in `bfs`.
    alpha : float, optional
        Probability to follow an arc.
    tol : float, optional
        Stop when ``Σ |change| < n · tol``.
    max_iter : int, optional
        Maximum number of rounds.

    Raises
    ------
    ConvergenceError
        The scores did not converge within `max_iter` rounds.

    Examples
    --------
    >>> A = da.DistributedMatrix.from_entries([0, 1, 2], [2, 2, 0])
    >>> da.pagerank(A).gather().values.round(3).tolist()
    [0.464, 0.05, 0.486]
    """
    agree("pagerank", A, alpha=alpha, tol=tol, max_iter=max_iter)
    tol, max_iter = check_rounds(tol, max_iter)
    if not is_number(alpha) or not 0 <= alpha <= 1:
        raise GraphError(f"alpha={alpha!r} is not a probability; it must be between 0 and 1")
    for block in A.blocks:
        A.world.together(partial(check_weights, block.matrix, "rank", finite=True))
    if A.n == 0:
        return A.full(0.0)
    arcs = semiring.plus_times if A.has_values else semiring.plus_first
    sums = product(A, A.full(1.0), semiring.plus_times, False, direction="pull")
    S = select(sums.own, binary.gt, 0.0)
    follow = apply(S, binary.div, left=float(alpha))  # absent at dead ends
    x, change = A.full(1 / A.n), math.inf
    for _ in range(max_iter):
        alive = ewise_mult(x.own, S, binary.first)
        lost = alpha * max(0.0, reduce(x) - reduce(x.like(alive)))
        t = product(A, x.like(ewise_mult(alive, follow)), arcs, True, direction="pull")
        y = ewise_add(Vector.full(A.own, (1 - alpha + lost) / A.n, device=A.device), t.own)
        change = reduce(x.like(apply(ewise_mult(y, x.own, binary.minus), unary.abs)))
        x = x.like(y)
        if change < A.n * tol:
            return x
    raise not_settled(max_iter, change, A.n * tol, "the ranks", "")


def sssp(A: DistributedMatrix, source: int) -> DistributedVector:
    """The length of a shortest path from the source to every vertex, infinite if unreachable; called by all ranks.

    Bellman-Ford's rounds over min-plus, as in `hopwave.linalg.algorithms.sssp`. The values of the matrix are the
    lengths of arcs; without values every arc has length 1.

    Parameters
    ----------
    A, source
        As in `bfs`.

    Raises
    ------
    GraphError
        A length is negative.

    Examples
    --------
    >>> A = da.DistributedMatrix.from_entries([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], n=4)
    >>> da.sssp(A, 0).gather().values.tolist()
    [0.0, 1.0, 3.0, inf]
    """
    agree("sssp", A, source=source)
    for block in A.blocks:
        A.world.together(partial(check_lengths, block.matrix))
    f, d = A.vector([_place(A, source)], 0.0), A.full(math.inf)
    f.rule = Shares(rising=0.3, falling=0.2)  # as in one process
    assign(d.own, f.own, accum=binary.min)
    while f.nnz:
        t = product(A, f, semiring.min_plus, True, dtype="float64")
        f = f.like(select(t.own, binary.lt, d.own))
        assign(d.own, f.own, accum=binary.min)
    return d


def _place(A: DistributedMatrix, source: Any) -> int:
    if not is_whole(source) or not 0 <= source < A.n:
        raise LinalgError(f"{source!r} is not a vertex of this matrix; pass 0 to {A.n - 1}")
    return int(source)
