"""Check a breadth-first search by Graph500's five rules; each rank checks its own arcs.

A tree whose links all lead from one level to the next has no cycle, so rule 1 needs no traversal.
"""

from typing import Any

import numpy as np

from hopwave.api.validate import RULES, Validation, Verdict
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.wire import allgather_values, reduce_to_owners

SENTENCES = {  # in the order of the counts that the engines' Part.check returns
    "edges": "an arc {u} → {v} skips a level",
    "span": "vertex {v} was not reached, although an arc from the reached vertex {u} leads to it",
    "levels": "vertex {v} is not one level below its predecessor {u}",
}

Failures = dict[str, list[tuple[int, str]]]


def validate(graph: DistributedGraph, sources: tuple[int, ...], distances: Any, predecessors: Any) -> Validation:
    """Check a search; every rank passes its distances and predecessors, and all get the same verdict."""
    graph.world.agree("validate", G=graph.named, sources=sources)
    xp, part = graph.part.xp, graph.part
    levels, parents = xp.asarray(distances), xp.asarray(predecessors).astype(np.int64)
    is_source = xp.isin(xp.arange(graph.own) + graph.first, xp.asarray(np.array(sources, np.int64)))
    failures = _check_vertices(graph, is_source, levels, parents)
    tails, heads = graph.pull_tails, graph.pull_heads
    deepest = max(graph.world.allgather(int(levels.max()) if graph.own else 0))
    kind = np.int8 if deepest < 1 << 7 else np.int16 if deepest < 1 << 15 else np.int32
    tail_levels = allgather_values(graph, tails, levels.astype(kind))
    head_levels = allgather_values(graph, heads, levels.astype(kind))
    slots = parent_slots(graph, parents)
    linked = xp.zeros(len(slots), np.uint8)
    wrong = part.check(head_levels, tail_levels, slots, linked)
    wrong = np.asarray(wrong if xp is np else wrong.get())
    for (rule, sentence), (count, row, tail) in zip(SENTENCES.items(), wrong.tolist(), strict=True):
        if count:
            u, v = (int(side.group.ids(np.array([slot]))[0]) for side, slot in ((tails, tail), (heads, row)))
            failures[rule].append((count, sentence.format(u=u, v=v)))
    linked = reduce_to_owners(graph, graph.pull_heads, linked, greatest=True)
    unlinked = (parents >= 0) & ~is_source & (linked == 0)  # rule 5: some rank of the row stores the arc
    _note(xp, failures["links"], unlinked, "vertex {v} has a predecessor without an arc to it", graph.first)
    return _verdict(graph, failures)


def _check_vertices(graph: DistributedGraph, is_source: Any, levels: Any, parents: Any) -> Failures:
    """The checks that need no arcs: roots, and whether the same vertices have distances and predecessors."""
    xp = graph.part.xp
    ids = xp.arange(graph.own) + graph.first
    failures: Failures = {name: [] for name in RULES}
    for rule, bad, sentence in (
        ("roots", is_source & (parents != ids), "source {v} is not its own predecessor"),
        ("roots", ~is_source & (parents == ids), "vertex {v} is its own predecessor but not a source"),
        ("levels", is_source & (levels != 0), "source {v} is not at level 0"),
        ("levels", ~is_source & (levels == 0), "vertex {v} is at level 0 but not a source"),
        ("levels", levels < -1, "vertex {v} has a distance below -1"),
        ("span", (levels >= 0) != (parents >= 0), "vertex {v} has a level or a predecessor, but not both"),
        ("links", (parents < -1) | (parents >= graph.n), "vertex {v} has a predecessor that is not a vertex"),
    ):
        _note(xp, failures[rule], bad, sentence, graph.first)
    return failures


def _note(xp: Any, sentences: list[tuple[int, str]], bad: Any, sentence: str, first: int) -> None:
    count = int(xp.count_nonzero(bad))
    if count:
        sentences.append((count, sentence.format(v=first + int(xp.argmax(bad)))))


def parent_slots(graph: Any, parents: Any) -> Any:
    """For every head slot of pulls, the parent's slot among the tails; -1 without a parent, or for a root."""
    xp, heads = graph.part.xp, graph.pull_heads.group
    by_slot = allgather_values(graph, graph.pull_heads, parents)
    itself = by_slot == heads.ids(xp.arange(len(by_slot)))
    return xp.where(itself, -1, graph.pull_tails.group.slots_of(by_slot))


def _verdict(graph: DistributedGraph, failures: Failures) -> Validation:
    """Agree on one verdict: counts over all ranks, and an example from the first rank with a violation."""
    clean = not graph.world.total(sum(len(found) for found in failures.values()))
    by_rank = [] if clean else graph.world.allgather(failures)
    rules = []
    for number, name in enumerate(RULES, start=1):
        found = [failure for one in by_rank for failure in one[name]]
        count = sum(times for times, _ in found)
        more = f" (and {count - 1} more)" if count > 1 else ""
        messages = (f"rule {number} ({name}): {found[0][1]}{more}",) if found else ()
        rules.append(Verdict(number, name, not found, messages))
    return Validation(tuple(rules))
