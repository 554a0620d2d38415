"""Is this really a breadth-first search? Graph500's five rules, each rank judging the arcs it holds.

Levels of all vertices a rank has arcs from go round once, a byte each where the search is no deeper than 127. A tree
whose links all join a level to the next has no cycle, so rule 1 needs no walk along the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.search import Side
from hopwave.validate import RULES, Validation, Verdict

ARC_RULES = ("edges", "span", "levels")  # in the order of the parts' `check`
SENTENCES = {
    "edges": "an arc {u} → {v} skips a level",
    "span": "vertex {v} was not reached, but vertex {u} was, and an arc leads from it",
    "levels": "vertex {v} is not one level below its predecessor {u}",
}


def validate(graph: DistributedGraph, sources: tuple[int, ...], distances: Any, predecessors: Any) -> Validation:
    """Judge a search by this rank's distances and predecessors; every rank gets the same verdicts.

    The arrays are a rank's own, in host memory or where the graph is.

    >>> from hopwave import distributed
    >>> from hopwave.distributed.validate import validate
    >>> G = distributed.from_edges([0, 1], [1, 2])
    >>> r = distributed.bfs(G, 0)
    >>> validate(G, r.sources, r.distances, r.predecessors).ok
    True
    """
    xp, part = graph.part.xp, graph.part
    levels, parents = xp.asarray(distances), xp.asarray(predecessors).astype(np.int64)
    failures = _judge_vertices(graph, sources, levels, parents)
    tails, heads = graph.pull_tails, graph.pull_heads
    deepest = max(graph.world.allgather(int(levels.max()) if graph.own else 0))
    kind = np.int8 if deepest < 1 << 7 else np.int16 if deepest < 1 << 15 else np.int32
    tail_levels = of_side(graph, levels.astype(kind), tails)
    head_levels = of_side(graph, levels.astype(kind), heads)
    head_parents = of_side(graph, parents, heads)
    linked = xp.zeros(len(head_parents), np.uint8)
    # A vertex that is its own predecessor was judged already; an arc to itself says nothing about it.
    itself = head_parents == heads.group.ids(xp.arange(len(head_parents)))
    slots = xp.where(itself, -1, slots_of(xp, tails, head_parents))
    wrong = part.check(head_levels, tail_levels, slots, linked)
    wrong = np.asarray(wrong if xp is np else wrong.get())
    for rule, (count, row, tail) in zip(ARC_RULES, wrong.tolist(), strict=True):
        if count:
            u, v = (int(side.group.ids(np.array([slot]))[0]) for side, slot in ((tails, tail), (heads, row)))
            failures[rule].append((count, SENTENCES[rule].format(u=u, v=v)))
    _judge_links(graph, sources, parents, linked, failures)
    return _verdict(graph, failures)


Failures = dict[str, list[tuple[int, str]]]


def _judge_vertices(graph: DistributedGraph, sources: tuple[int, ...], levels: Any, parents: Any) -> Failures:
    """What can be seen without any arc: roots, and whether distances and predecessors reach the same vertices."""
    xp = graph.part.xp
    ids = xp.arange(graph.own) + graph.first
    is_source = xp.isin(ids, xp.asarray(np.array(sources, np.int64)))
    failures: Failures = {name: [] for name in RULES}
    for rule, bad, sentence in (
        ("roots", is_source & (parents != ids), "source {v} is not its own predecessor"),
        ("roots", ~is_source & (parents == ids), "vertex {v} is its own predecessor but not a source"),
        ("levels", is_source & (levels != 0), "source {v} is not at level 0"),
        ("levels", ~is_source & (levels == 0), "vertex {v} is at level 0 but not a source"),
        ("levels", levels < -1, "vertex {v} has a distance below -1"),
        ("span", (levels >= 0) != (parents >= 0), "vertex {v} has a level or a predecessor, but not both"),
        ("links", (parents < -1) | (parents >= graph.n), "vertex {v} has a predecessor that is no vertex"),
    ):
        _note(xp, failures[rule], bad, sentence, graph.first)
    return failures


def _judge_links(
    graph: DistributedGraph, sources: tuple[int, ...], parents: Any, linked: Any, failures: Failures
) -> None:
    """Rule 5: some rank of the row holds the arc from each predecessor."""
    xp, own = graph.part.xp, any_of_row(graph, linked)
    ids = xp.arange(graph.own) + graph.first
    is_source = xp.isin(ids, xp.asarray(np.array(sources, np.int64)))
    bad = (parents >= 0) & ~is_source & (own == 0)
    _note(xp, failures["links"], bad, "vertex {v} has a predecessor without an arc to it", graph.first)


def _note(xp: Any, sentences: list[tuple[int, str]], bad: Any, sentence: str, first: int) -> None:
    count = int(xp.count_nonzero(bad))
    if count:
        sentences.append((count, sentence.format(v=first + int(xp.argmax(bad)))))


def any_of_row(graph: Any, flags: Any) -> Any:
    """Flags of the heads of a row of ranks: those of own vertices that any of these ranks has set."""
    xp, heads = graph.part.xp, graph.pull_heads
    if heads.comm is not None:
        host = np.ascontiguousarray(flags if xp is np else flags.get())
        everybody = np.empty_like(host)
        graph.world.queue()
        heads.comm.Allreduce(host, everybody, op=_greatest())
        flags = xp.asarray(everybody)
    return flags[heads.first : heads.first + graph.own]


def of_side(graph: Any, own: Any, side: Side) -> Any:
    """Values of all vertices of a side, by slot."""
    padded = graph.part.xp.full(graph.words * 64, -1, own.dtype)
    padded[: graph.own] = own
    if side.comm is None:
        return padded
    sizes = (np.diff(side.group.slots) * own.itemsize).tolist()
    return graph.wire.all_to_one(side.comm, padded.view(np.uint8), sizes)().view(own.dtype)


def slots_of(xp: Any, side: Side, ids: Any) -> Any:
    """The slots of vertices in a side's group; -1 for those that are none of its."""
    group = side.group
    if not len(ids):
        return ids
    place = xp.clip(xp.searchsorted(xp.asarray(group.firsts), ids, side="right") - 1, 0, None)
    offset = ids - xp.asarray(group.firsts)[place]
    inside = (offset >= 0) & (offset < xp.asarray(group.lengths)[place]) & (ids >= 0)
    return xp.where(inside, offset + xp.asarray(group.slots)[place], -1)


def _verdict(graph: DistributedGraph, failures: Failures) -> Validation:
    """The same verdict on every rank: counts of all, the example of the first that has one."""
    clean = not graph.world.total(sum(len(found) for found in failures.values()))
    everybody = [] if clean else graph.world.allgather(failures)
    rules = []
    for number, name in enumerate(RULES, start=1):
        found = [failure for one in everybody for failure in one[name]]
        count = sum(times for times, _ in found)
        more = f" (and {count - 1} more)" if count > 1 else ""
        said = (f"rule {number} ({name}): {found[0][1]}{more}",) if found else ()
        rules.append(Verdict(number, name, not found, said))
    return Validation(tuple(rules))


def _greatest() -> Any:
    from mpi4py import MPI

    return MPI.MAX
