"""Waves: the entries that a vector reaches through a matrix, level by level (push-pull, Algorithm 1, any semiring).

    f   the newest level    v   all positions reached    d   the depth

    f, v, d = x, empty, 0
    while f is not empty:
        v⟨f⟩ = f, with level d
        f⟨¬v⟩ = f ⊕.⊗ A
        d += 1

Only A's pattern decides which positions a level has, whatever ⊕ and ⊗ are. If a position outside v has a neighbour in
v, that neighbour is in f: otherwise the position would have been reached before. A product by rows may therefore read v
instead of f, for every semiring. This is the paper's operand reuse (section 5.4), stated there for Boolean values.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import binary
from hopwave.algebra.semiring import Semiring, any_pair
from hopwave.algebra.vector import CONVERT, Vector, as_vector
from hopwave.checks.numbers import is_whole
from hopwave.engines import Algebra
from hopwave.errors import LinalgError
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.linalg.masking import assign, choose, compiling, convert, fill, places_of
from hopwave.linalg.products import Explanation, arithmetic, check_options, check_threads, explained
from hopwave.planning.jobs import Direction, Product
from hopwave.planning.rules import Growing, growing

# A level's direction depends on the number of its arcs if these are cheap to count: on the CPU, and if one launch
# computes all products. Otherwise f's share of the arcs is estimated by its share of the vertices, as in section 6.3;
# this estimate is less accurate, because a few hubs may have most arcs.
RULE = Growing(alpha=12, beta=18)
# Products computed one by one return to push at 1% of the vertices, as in section 6.3.
ONE_BY_ONE = Growing(alpha=12, beta=100)
PATTERN = np.dtype(np.bool_)


class Waves(NamedTuple):
    """For each position reached: `levels`, the number of products before it was reached, and `values`.

    With any_pair `values` is None; `levels` contains the positions reached.

    >>> end = la.Vector.from_entries([0], True, n=3)
    >>> levels, parents = la.waves(end, hw.generate.path(3), la.semiring.any_secondi)
    >>> levels.to_dict(), parents.to_dict()[2]
    ({0: 0, 1: 1, 2: 2}, 1)
    """

    levels: Vector
    values: Vector | None


@compiling
def waves(
    x: Any, A: Any, semiring: Semiring = any_pair, *, depth_limit: int | None = None,
    dtype: npt.DTypeLike | None = None, direction: Direction = "auto", explain: bool = False, device: str = "auto",
    threads: int | None = None,
) -> Any:  # fmt: skip
    """Repeat f⟨¬v⟩ = f ⊕.⊗ A and v⟨f⟩ = f, from f = x, until f is empty; returns levels and values.

    Every position gets its value when it is first reached; x's positions keep their values, with level 0.

    The semiring decides what the values are: none (`any_pair`), a parent of every position (`any_secondi`), the value
    of a nearest entry of x (`any_first`), the number of shortest paths (`plus_first`), or the shortest length among
    paths with the fewest hops (`min_plus`), for example.

    Parameters
    ----------
    x : Vector or array
        The first level.
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The matrix; it must be square.
    semiring : Semiring, optional
        ⊕ and ⊗.
    depth_limit : int, optional
        Maximum number of products.
    dtype : optional
        The type of the values; by default the type to which repeated ⊕.⊗ converges.
    direction : {"auto", "push", "pull"}, optional
        The direction of every product. "auto" chooses by the number of arcs of a level: on a GPU if one launch computes
        all products (by `RULE`), and on the CPU (by `ONE_BY_ONE`) unless x has its own rule. Otherwise x.rule decides.
    explain : bool, optional
        Also return a list with an `Explanation` of every product.
    device, threads
        As in `hopwave.bfs`.

    Returns
    -------
    Waves, or a pair of Waves and list of Explanation
        `levels` and `values` of every position reached.

    Examples
    --------
    >>> G = hw.generate.grid(2, 3)
    >>> corner = la.Vector.from_entries([0], [1], n=6)
    >>> reached = la.waves(corner, G, la.semiring.plus_first)
    >>> reached.levels.to_dense().tolist(), reached.values.to_dense().tolist()
    ([0, 1, 2, 1, 2, 3], [1, 1, 1, 1, 2, 3])
    """
    check_options(direction, explain=explain)
    if depth_limit is not None and not (is_whole(depth_limit) and depth_limit >= 0):
        raise LinalgError(f"depth_limit={depth_limit!r} is not a number of products; pass 0 or more, or None")
    if depth_limit is not None and depth_limit > LARGEST_VERTEX_COUNT:  # more products than any search needs
        depth_limit = None
    matrix = as_matrix(A)
    rows, columns = matrix.shape
    if rows != columns:
        raise LinalgError(f"A is {rows} × {columns}; waves need a square matrix")
    x = as_vector(x, rows, "x")
    engine = choose(device, x, matrix)
    check_threads(threads, engine)
    matrix = matrix.to(engine.name).T
    product = settled(semiring, matrix, x.dtype, dtype)
    if direction != "pull" and engine.why_not_operation("waves") is None:
        alpha, beta = RULE.parameters()
        places = arithmetic(any_pair, matrix, PATTERN, True, None, True, True)
        alpha = 0.0 if direction == "push" else alpha
        found = engine.waves(matrix, x, product, places, depth_limit, alpha, beta, explain)
        if found is not None:
            reached = Waves(found.levels, found.values)
            return (reached, _traced(found.trace, matrix, product, semiring, engine, direction)) if explain else reached
    return _one_by_one(x, matrix, semiring, product, depth_limit, direction, explain, engine, threads)


def settled(ring: Semiring, A: Matrix, x: np.dtype[Any], dtype: npt.DTypeLike | None) -> Product:
    """The arithmetic of every product after the first: operands have the type of results."""
    kind = arithmetic(ring, A, x, True, dtype, True, True).dtype
    return arithmetic(ring, A, kind, True, dtype, True, True)


def _one_by_one(
    x: Vector, A: Matrix, ring: Semiring, product: Product, depth_limit: int | None, direction: Direction,
    explain: bool, engine: Algebra, threads: int | None,
) -> Any:  # fmt: skip
    """The loop in the docstring of this module, without the checks of `assign` and `vxm`. A is transposed."""
    n, here, kind = A.shape[0], engine.name, product.dtype
    f = x.to(here)
    if f is x or f.dtype != kind:  # products convert their vectors in place; the caller's vector must not change
        f = f.astype(kind)
    levels = Vector.dense(engine.xp.empty(n, np.int32), engine.xp.zeros(n, np.bool_), 0)
    v = levels if product.term == "one" and product.add.any_term else Vector(n, kind).to(here)
    counted = direction == "auto" and x.rule is CONVERT and engine.why_not_operation("count_entries") is None
    d, explanations, arcs = 0, [], _Arcs(A, engine) if counted else None
    while f.nnz:
        fill(levels, d, places_of(f, engine), engine)
        if v is not levels:
            assign(v, f, accum=binary.second, device=here)
        if d == depth_limit or levels.count_if_known() == n:  # every position is reached
            break
        if arcs is not None:
            pull = arcs.choose(f)
        else:
            pull = direction == "pull" or (direction == "auto" and f._decide() == "dense")
        operand = v if pull else f
        convert(operand, "dense" if pull else "sparse", engine)
        missing = places_of(levels, engine, complement=True)
        found, touched = (engine.pull if pull else engine.push)(A, operand, product, missing, threads)
        if explain:
            why = "requested" if direction != "auto" else str(arcs) if arcs else f"f is {f.nnz / n:.2%} full"
            explanations.append(explained("vxm", ring, engine, A, product, missing, pull, pull, f.nnz, touched, why))
        f = found._follow(f)
        d += 1
    reached = Waves(levels, None if v is levels else v)
    return (reached, explanations) if explain else reached


class _Arcs:
    """Chooses each product's direction by the arcs of f and of unreached positions, counted if the rule needs them."""

    def __init__(self, A: Matrix, engine: Algebra) -> None:
        self.A, self.engine, self.parameters = A, engine, ONE_BY_ONE.parameters()
        self.nf = self.mf = 0
        self.m, self.mu, self.pull = A.nnz, A.nnz, -1
        self.enough = int(self.m // ONE_BY_ONE.alpha)  # above, a growing f is pulled, so counting can stop

    def choose(self, f: Vector) -> bool:
        n, nf, mf = f.n, f.nnz, 0
        if not (self.pull == 1 and nf * ONE_BY_ONE.beta > n):  # else the rule keeps pulling whatever mf is
            mf = self.engine.count_entries(self.A, f, self.enough)
            self.mu -= mf
            self.pull = growing(*self.parameters, n, self.m, nf, mf, self.mu, self.nf, self.mf, self.pull)
        self.nf, self.mf = nf, mf
        return self.pull == 1

    def __str__(self) -> str:
        return f"f has {self.nf:,} entries" + (f", with at least {self.mf:,} entries in their rows" if self.mf else "")


def _traced(
    trace: list[list[int]] | None, A: Matrix, product: Product, ring: Semiring, engine: Algebra, direction: Direction
) -> list[Explanation]:
    """An Explanation of each product from the device's trace: see TRACE_COLUMNS in kernels/one_launch/state.cuh."""
    assert trace is not None
    d, explanations, missing = A.nnz / max(A.shape[0], 1), [], A.shape[0]
    at_once = product.add.any_term and product.structure_only
    sums = () if at_once else ("touched to find positions; every entry of their rows is read again for the sums",)
    for _, choice, nf, mf, mu, _, touched, blocks, _ in trace:
        pull = choice == 1
        missing -= nf
        explanations.append(Explanation(
            "vxm", ring.name, engine.name, direction="pull" if pull else "push",
            product="by rows, masked" if pull else "by columns, masked",
            why="requested" if direction != "auto" else f"{mf:,} entries in f's rows, {mu:,} in unreached rows",
            nnz_x=nf, nnz_mask=missing, expected=round(d * (missing if pull else nf)), touched=touched,
            early_exit=pull, operand_reuse=pull, structure_only=product.structure_only,
            notes=(f"all products in one launch; this product on {blocks} of its blocks", *sums),
        ))  # fmt: skip
    return explanations
