"""Validate a breadth-first search by the five rules of Graph500, for any search on any graph.

    1  roots    the predecessors form trees without a cycle, rooted only at the sources
    2  levels   a tree edge joins two levels that differ by one
    3  edges    no arc u → v skips a level: d(v) ≤ d(u) + 1
    4  span     exactly the reachable vertices (within the depth limit) are reached
    5  links    every predecessor link is an arc of the graph

Rule 3 ensures that no distance is too long; rules 1, 2 and 5 ensure that none is too short. With only distances, rules
1 and 5 have nothing to check, and rule 2 requires instead that every vertex has a neighbour one level closer to a
source. With only predecessors, levels are depths in the tree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.api.arguments import as_graph, check_hops, source_ids
from hopwave.api.choice import compressed_rows, is_on_gpu
from hopwave.arrays import on_gpu, on_host
from hopwave.checks.numbers import whole_numbers
from hopwave.checks.options import one_of
from hopwave.display import html
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.columns import as_column
from hopwave.graph.csr import is_compiled_faster
from hopwave.graph.naming import by_index

Array = npt.NDArray[Any]

RULES = ("roots", "levels", "edges", "span", "links")
_ARCS_AT_ONCE = 1 << 20  # arcs per block, which limits the memory of validation


@dataclass(frozen=True)
class Verdict:
    """The verdict of one rule. `passed` is None if there was nothing to check; `failures` are sentences."""

    number: int
    name: str
    passed: bool | None
    failures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Validation:
    """The result of `validate`: the verdicts of the five rules. It is truthy if no rule failed.

    Attributes
    ----------
    rules : tuple of Verdict
        One per rule.

    Examples
    --------
    >>> from hopwave.api.validate import validate
    >>> validate(hw.generate.path(3), 0, distances=[0, 1, 1]).failures
    ('rule 2 (levels): vertex 2 is at level 1 and has no neighbour at level 0',)
    """

    rules: tuple[Verdict, ...]

    @property
    def ok(self) -> bool:
        """Whether no rule failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence per kind of failure, with the first affected vertex and the number of others."""
        return tuple(sentence for rule in self.rules for sentence in rule.failures)

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of the rules that failed."""
        return tuple(rule.name for rule in self.rules if rule.failures)

    def __bool__(self) -> bool:
        return self.ok

    def _repr_html_(self) -> str:
        words = {True: "passed", False: "failed", None: "nothing to check"}
        rows = [(rule.number, rule.name, words[rule.passed], " ".join(rule.failures)) for rule in self.rules]
        return html.table("Validation", rows, ("rule", "name", "verdict", "why"))


def validate(
    graph: Any,
    sources: Any,
    distances: Any = None,
    predecessors: Any = None,
    *,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
) -> Validation:
    """Validate a breadth-first search from one or several sources by its distances, its predecessors, or both.

    The result is truthy if the search is correct; its `failures` describe the errors.

    Parameters
    ----------
    graph : Graph, SciPy sparse matrix or NetworkX graph
        The graph that was searched.
    sources : vertex or list of vertices
        Vertices where the search started.
    distances : array of n integers, or Series by vertex, optional
        Distance of every vertex; −1 means "not reached".
    predecessors : array of n integers, optional
        Predecessor of every vertex. The predecessor of a source is the source; −1 means "not reached".
    depth_limit : int, optional
        Depth limit of the search. Vertices beyond it count as not reached.

    Raises
    ------
    GraphError
        There is nothing to validate, or the length of an array is not n.

    Examples
    --------
    >>> G = hw.generate.path(3)
    >>> validate(G, 0, distances=[0, 1, 2], predecessors=[0, 0, 1]).ok
    True
    """
    if distances is None and predecessors is None:
        raise GraphError("distances and predecessors are both None, so there is nothing to validate; pass one or both")
    one_of("direction", direction, ("out", "in"))
    depth_limit = check_hops("depth_limit", depth_limit)
    graph = as_graph(graph)
    if direction == "in":
        graph = graph.reversed()
    starts = list(source_ids(graph, sources))
    distances, predecessors = by_index(graph, distances, "distances"), by_index(graph, predecessors, "predecessors")
    if _obeys(graph, starts, distances, predecessors, depth_limit):
        return _validation({}, predecessors is not None)
    is_source = np.zeros(graph.n, dtype=bool)
    is_source[starts] = True
    failures: dict[str, list[str]] = {name: [] for name in RULES}
    levels = None if distances is None else _per_vertex(distances, graph.n, "distances")
    tree = None if predecessors is None else _per_vertex(predecessors, graph.n, "predecessors")
    if tree is not None:
        tree_levels = _judge_tree(tree, is_source, failures)
        if levels is None and _obeys(graph, starts, tree_levels, tree, depth_limit):
            return _validation({}, True)
        levels = tree_levels if levels is None else levels
    assert levels is not None
    if distances is not None:
        _judge_levels(levels, tree, is_source, failures)
    if depth_limit is not None:
        _note(
            failures["span"],
            levels > depth_limit,
            f"vertex {{v}} is at level {{a}}, beyond the limit {depth_limit}",
            levels,
        )
    _judge_arcs(graph, levels, tree, is_source, depth_limit, failures)
    return _validation(failures, tree is not None)


def _validation(failures: dict[str, list[str]], has_tree: bool) -> Validation:
    """The verdicts, from failures by rule. Without a tree, rules 1 and 5 have nothing to check."""
    verdicts = []
    for number, name in enumerate(RULES, start=1):
        sentences = tuple(f"rule {number} ({name}): {sentence}" for sentence in failures.get(name, ()))
        passed = not sentences if has_tree or name not in ("roots", "links") else None
        verdicts.append(Verdict(number, name, passed, sentences))
    return Validation(tuple(verdicts))


def _obeys(graph: Graph, sources: list[int], distances: Any, predecessors: Any, limit: int | None) -> bool:
    """Whether compiled code found no failure. Also False if it did not run: without distances, or for small graphs."""
    there = is_on_gpu(graph) and compressed_rows(graph) is None
    if distances is None or not graph.n or not (there or is_compiled_faster(graph.m)):
        return False
    levels, tree = (None if array is None else _int32(array, graph.n) for array in (distances, predecessors))
    if levels is None or (tree is None and predecessors is not None):
        return False
    if there:
        from hopwave.engines.cuda.arcs import obeys
    else:
        levels, tree = on_host(levels), on_host(tree)
        from hopwave.engines.cpu.arc_passes import obeys
    return bool(obeys(graph, levels, tree, sources, limit))


def _int32(values: Any, n: int) -> Any:
    """An integer array of n numbers, of NumPy or CuPy, as int32; None for other values and numbers out of range."""
    fits = (isinstance(values, np.ndarray) and not np.ma.isMaskedArray(values)) or on_gpu(values)
    if not fits or values.dtype not in (np.int32, np.int64) or values.shape != (n,) or not values.flags.c_contiguous:
        return None
    if values.dtype == np.int32:
        return values
    return values.astype(np.int32) if values.min() >= -(2**30) and values.max() <= 2**30 else None


def _judge_tree(tree: Array, is_source: Array, failures: dict[str, list[str]]) -> Array:
    """Check rule 1, and rule 5 for ids that are not vertices. Returns the levels that the tree implies.

    Pointer doubling: after i rounds, every vertex points to its ancestor 2^i steps up. After log2(n) rounds it points
    to its root, unless its chain ends in a cycle. The extra slot n means "outside the trees".
    """
    n = tree.size
    vertex = np.arange(n)
    missing = (tree < -1) | (tree >= n)
    _note(failures["links"], missing, f"vertex {{v}} has predecessor {{a}}, which is not a vertex (0 to {n - 1})", tree)
    stray = (tree == vertex) & ~is_source
    _note(failures["roots"], stray, "vertex {v} is its own predecessor but not a source")
    _note(failures["roots"], is_source & (tree != vertex), "source {v} has predecessor {a}, but must be its own", tree)

    outside = (missing | stray | (tree == -1)) & ~is_source
    above = np.append(np.where(is_source, vertex, np.where(outside, n, tree)), n)
    level = np.append((~is_source & ~outside).astype(np.int64), 0)
    ends = np.append(is_source, True)
    for _ in range(n.bit_length()):
        if ends[above].all():
            break
        level += level[above]
        above = above[above]
    above, level = above[:n], level[:n]
    cyclic = ~ends[above]
    if cyclic.any():  # a vertex below a cycle now points to a vertex of the cycle
        on_cycle = np.zeros(n, dtype=bool)
        on_cycle[above[cyclic]] = True
        _note(failures["roots"], on_cycle, "vertex {v} is its own ancestor: the predecessors form a cycle")
    hanging = (above == n) & ~outside & (tree != -1)
    hanging &= tree[np.where(hanging, tree, 0)] == -1  # reported once per chain, at its break
    _note(failures["roots"], hanging, "vertex {v} has predecessor {a}, which was not reached", tree)
    # A vertex with a predecessor but without a root gets -2: it has no level, but -1 would mean "not reached".
    return np.where(is_source, 0, np.where(tree == -1, -1, np.where(cyclic | (above == n), -2, level)))


def _judge_levels(levels: Array, tree: Array | None, is_source: Array, failures: dict[str, list[str]]) -> None:
    """Check rule 2 for distances, and whether distances and predecessors reach the same vertices."""
    wrong = failures["levels"]
    _note(wrong, levels < -1, "vertex {v} has distance {a}; it must be at least 0, or -1 if not reached", levels)
    _note(wrong, is_source & (levels != 0), "source {v} is at level {a}, which must be 0", levels)
    _note(wrong, ~is_source & (levels == 0), "vertex {v} is at level 0 but not a source")
    if tree is None:
        return
    _note(failures["span"], (tree == -1) & (levels >= 0), "vertex {v} is at level {a} but has no predecessor", levels)
    _note(failures["span"], (tree != -1) & (levels == -1), "vertex {v} has predecessor {a} but no level", tree)
    child = np.flatnonzero((tree >= 0) & (tree < tree.size) & ~is_source & (levels >= 0))
    parent_level = levels[tree[child]]
    apart = np.zeros(tree.size, dtype=bool)
    apart[child] = (parent_level >= 0) & (levels[child] != parent_level + 1)
    above = np.where(apart, levels[np.where(apart, tree, 0)], -1)
    _note(wrong, apart, "vertex {v} is at level {a} and its predecessor {b} at level {c}", levels, tree, above)


def _judge_arcs(
    graph: Graph, levels: Array, tree: Array | None, is_source: Array, limit: int | None, failures: dict[str, list[str]]
) -> None:
    """Check rules 3, 4 and 5 (without a tree: rules 2, 3 and 4) in one pass over all arcs."""
    skipping, leaving = list[Array](), list[Array]()  # arcs that break rules 3 and 4
    found = is_source.copy()  # the link to the predecessor is an arc, or, without a tree, a neighbour is one level up
    for tail, head in _arcs(graph):
        from_level, to_level = levels[tail], levels[head]
        reached = from_level >= 0
        goes_on = reached if limit is None else reached & (from_level < limit)
        for broken, wrong in ((skipping, reached & (to_level > from_level + 1)), (leaving, goes_on & (to_level == -1))):
            broken.append(np.stack([tail[wrong], head[wrong]]))
        confirmed = reached & (to_level == from_level + 1) if tree is None else tree[head] == tail
        found[head[confirmed]] = True
    for rule, broken, sentence in (
        ("edges", skipping, "arc {u} → {v} goes from level {a} to level {b}"),
        ("span", leaving, "vertex {v} was not reached, but arc {u} → {v} begins at level {a}"),
    ):
        arcs = np.concatenate(broken, axis=1) if broken else np.empty((2, 0), int)
        if arcs.size:
            u, v = arcs[:, 0]
            failures[rule].append(sentence.format(u=u, v=v, a=levels[u], b=levels[v]) + _more(arcs.shape[1]))
    if tree is None:
        lost = ~found & (levels > 0)
        _note(
            failures["levels"], lost, "vertex {v} is at level {a} and has no neighbour at level {b}", levels, levels - 1
        )
    else:
        unlinked = ~found & (tree >= 0) & (tree < graph.n) & (tree != np.arange(graph.n))
        _note(failures["links"], unlinked, "vertex {v} has predecessor {a}, but there is no arc {a} → {v}", tree)


def _arcs(graph: Graph) -> Iterator[tuple[Array, Array]]:
    """All arcs as (tails, heads), in blocks of limited size for any degrees."""
    for begin in range(0, graph.m, _ARCS_AT_ONCE):
        end = min(begin + _ARCS_AT_ONCE, graph.m)
        low, high = np.searchsorted(graph.indptr, [begin, end - 1], side="right") - 1
        bounds = np.clip(graph.indptr[low : high + 2], begin, end)
        yield np.repeat(np.arange(low, high + 1, dtype=np.int32), np.diff(bounds)), graph.indices[begin:end]


def _note(sentences: list[str], wrong: Array, sentence: str, *values: Array) -> None:
    """Add a sentence about the first wrong vertex, if any: {v} is the vertex, {a}, {b}, ... its values."""
    count = int(np.count_nonzero(wrong))
    if count:
        v = int(np.argmax(wrong))
        named = {letter: value[v] for letter, value in zip("abc", values, strict=False)}
        sentences.append(sentence.format(v=v, **named) + _more(count))


def _more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""


def _per_vertex(values: Any, n: int, name: str) -> Array:
    column = whole_numbers(as_column(values, name), name)
    if column.size != n:
        raise GraphError(f"{name} has {column.size} entries, but the graph has {n} vertices; pass one entry per vertex")
    return column.astype(np.int32 if column.dtype == np.int32 else np.int64, copy=False)
