"""Jobs over many sources of a graph with many components: engines run a few components at a time, as one graph.

    part   one large component, or several small ones          n, m, k   its vertices, arcs and sources

An engine may need n steps per source or batch. In parts, a job costs the sum of k · (n + m) over the parts.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from hopwave import engines
from hopwave.algorithms.bfs import hops
from hopwave.arrays import Structure
from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.graph.csr import Rows
from hopwave.planning.jobs import Accumulation, BetweennessJob, Floats, Integers
from hopwave.planning.plan import Plan
from hopwave.planning.rules import Always

Way = Literal["whole", "within", "alike", "shared"]  # see parts_of
LEAST_SOURCES = 1000  # minimum sources: finding the components takes as long as several searches
LEAST_SHARE = 1 / 16  # minimum share of sources among vertices: fewer sources seldom share a component
LEAST_GAIN = 1.5  # minimum ratio of k · n of the full graph to the sum over its parts
LEAST_VERTICES = {"cpu": 1 << 14, "cuda": 1 << 15}  # minimum vertices of a part, which costs a millisecond or two
SMALL_ARCS = 1 << 17  # maximum arcs of a component of mean degree at which a GPU that counts hops stays inside it
MOST_COMPONENTS = 32  # maximum size of a larger part, or ratio of the sizes of similar components
MOST_VERTICES = 1 << 22  # maximum vertices of similar components in one part, of which the host may make a copy
FEW_ARCS = 1 << 18  # maximum arcs of a component in parts whose edges are scored only by pushes, source by source
MOST_LEVELS = 24  # maximum levels of a probe in components that share searches; other searches may be twice as deep


class Part(NamedTuple):
    """A graph, and the indices of its vertices, arcs and sources in the full job; components if an engine uses them."""

    graph: Graph
    components: Any
    vertices: Integers
    arcs: Any
    sources: Integers
    places: Integers


class Parts:
    """The parts of a graph that contain sources. `ends`: cumulative numbers of sources per part."""

    def __init__(self, graph: Graph, sources: Integers, component: Any, order: Any, bounds: Any, way: Way) -> None:
        self.graph, self._component, self._order, self._bounds, self._way = graph, component, order, bounds, way
        self._number = np.full(graph.n, -1, np.int32)
        self._number[order] = np.arange(len(order), dtype=np.int32)
        number = self._number[sources]
        self._places = np.argsort(number, kind="stable")[np.count_nonzero(number < 0) :]
        self._sources = number[self._places].astype(np.int64)
        self.ends: list[int] = np.searchsorted(self._sources, bounds[1:]).tolist()

    def __getitem__(self, i: int) -> Part:
        first, last = self._bounds[i : i + 2]
        ids, indptr, some = self._order[first:last], self.graph.indptr, slice(self.begin(i), self.ends[i])
        arcs: Any = slice(int(indptr[ids[0]]), int(indptr[ids[-1] + 1]))
        graph, in_order = self.graph, not (np.diff(ids) != 1).any()
        if not in_order or len(ids) < graph.n:
            if in_order:
                offsets, heads = indptr[ids[0] : ids[-1] + 2] - indptr[ids[0]], graph.indices[arcs] - np.int32(ids[0])
            else:
                lengths = indptr[ids + 1] - indptr[ids]
                offsets = np.append(0, np.cumsum(lengths)).astype(indptr.dtype)
                arcs = np.arange(offsets[-1]) + np.repeat(indptr[ids] - offsets[:-1], lengths)
                heads = self._number[graph.indices[arcs]] - np.int32(first)
            rows = Rows(offsets, heads, None if graph.weights is None else graph.weights[arcs])
            graph = graph._with(rows, labels=ids if graph.labels is None else graph.labels[ids], order=graph.order)
        label = self._component[first:last] - self._component[first]
        graph._prepared.record(Structure).components[False] = label
        sources, places = self._sources[some] - first, self._places[some]
        if self._way == "shared":  # the first source of every component, then the second of each, …
            its = label[sources]
            firsts = np.append(0, np.flatnonzero(its[1:] != its[:-1]) + 1)
            turn = np.arange(len(its)) - np.repeat(firsts, np.diff(firsts, append=len(its)))
            order = np.argsort(turn.astype(np.min_scalar_type(turn.max())), kind="stable")
            sources, places = sources[order], places[order]
        known = label if self._way == "shared" or (self._way != "whole" and label[-1]) else None
        return Part(graph, known, ids, arcs, sources, places)

    def begin(self, i: int) -> int:
        """The number of sources in the parts before number i."""
        return self.ends[i - 1] if i else 0


def _too_few(engine: Engine, graph: Graph, sources: Integers) -> bool:
    return len(sources) < max(LEAST_SOURCES, LEAST_SHARE * graph.n) or engine.name not in LEAST_VERTICES


def most_sources(engine: Engine, graph: Graph, sources: Integers) -> int:
    """The maximum number of sources in one component; the total if there are too few sources to check."""
    few = _too_few(engine, graph, sources)
    return len(sources) if few else int(np.bincount(engine.components(graph, False)[sources]).max())


def parts_of(engine: Engine, graph: Graph, sources: Integers, way: Way, small: bool = False) -> Parts | None:
    """The parts of a graph for searches from these sources; None if this saves little work.

    "whole"    a search costs its full part        "within"   it costs only its component, in parts of limited size
    "alike"    it costs only its component, with `small` if all are small: similar components form one part
    "shared"   a search may start in many components simultaneously if these are similar and shallow: one part
    """
    if _too_few(engine, graph, sources):
        return None
    label = engine.components(graph, False)
    size = np.bincount(label)
    count = np.bincount(label[sources], minlength=len(size))
    used = np.flatnonzero((size > 1) & (count > 0))  # sources in other components reach only themselves
    if len(used) < 2:
        return None
    packed = graph.device == "cuda" and graph._gpu is None  # the rows of a part are plain, unless it is the full graph
    if way == "alike" and (packed or (small and size[used].max() * graph.m > SMALL_ARCS * graph.n)):
        way = "whole" if small else "within"
    within, deep = way in ("within", "alike"), np.full(len(size), graph.directed or way != "shared")
    if not deep[0]:
        highest = np.maximum.accumulate(label)
        one_of_each = np.append(0, np.flatnonzero(highest[1:] != highest[:-1]) + 1)
        deep[label[hops(engines.engine("cpu"), graph, tuple(one_of_each.tolist())) > MOST_LEVELS]] = True
    used = used[np.lexsort((-size[used], deep[used]))]
    size, count, shallow = size[used], count[used], int(np.count_nonzero(~deep[used]))
    total, cuts, cost = np.cumsum(size), [0], 0.0
    while (first := cuts[-1]) < len(used):
        most = LEAST_VERTICES[engine.name] * (1 + within)
        if not within or engine.name == "cuda":  # within 2¹⁵ vertices, a CPU's searches stay in a core's cache
            most = max(most, MOST_COMPONENTS * size[first])
        last = max(first + 1, int(np.searchsorted(total, total[first] - size[first] + most, "right")))
        if first < shallow or way == "alike":
            room = int(np.searchsorted(total, total[first] - size[first] + MOST_VERTICES, "right"))
            end, ratio = (shallow, 2) if first < shallow else (max(last, room), MOST_COMPONENTS)
            last = min(max(last, int(np.searchsorted(-size[:end], -size[first] / ratio, "right"))), end)
        used[first:last].sort()  # the original order, in which the components may already be contiguous
        here, its = count[first:last], size[first:last]
        searches = here.max() if first < shallow else here.sum()
        cost += float(here @ its) if within else float(searches) * float(its.sum())
        cuts.append(last)
    if float(count.sum()) * graph.n < LEAST_GAIN * cost:
        return None
    place = np.full(len(deep), len(used), np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    component = place[label]
    order = np.argsort(component, kind="stable")[: total[-1]]
    return Parts(graph, sources, component[order], order, np.append(0, total[np.array(cuts[1:]) - 1]), way)


class Together:
    """See planning.jobs.Accumulation: the runs of all parts. A block is one source; runs pause after their blocks."""

    size = 1

    def __init__(self, begin: Callable[[Part], Accumulation], job: BetweennessJob, parts: Parts) -> None:
        self._begin, self._parts, self._edges, self.blocks = begin, parts, job.edges, parts.ends[-1]
        self._sums: Any = np.zeros((2 if job.squares else 1, parts.graph.m if job.edges else parts.graph.n))
        self.certificate = np.zeros((len(job.sources), 2))
        self._saved = 0  # number of sources whose results are copied
        self._now: tuple[int, Part, Accumulation] | None = None  # sources before the part, the part, its run

    @property
    def total(self) -> Floats:
        """The sums over the completed sources."""
        if self._now is not None and self.done != self._saved:
            before, part, run = self._now
            now = self.done
            sums = run.total.reshape(len(self._sums), -1)
            if sums.shape == self._sums.shape and isinstance(part.arcs, slice):
                self._sums = sums  # the part is the full graph: edges have too many sums for another copy
            else:
                self._sums[:, part.arcs if self._edges else part.vertices] = sums
            self.certificate[before : before + len(part.sources)] = run.certificate
            self._saved = now
        found: Floats = self._sums.reshape(-1)
        return found

    @property
    def done(self) -> int:
        """The number of completed sources."""
        before, part, run = self._now or (0, None, None)
        return before if part is None or run is None else before + min(run.done * run.size, len(part.sources))

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        """Run parts until all are done or poll requests a pause. Returns the number of completed sources."""
        while first < self.blocks:
            end = self._advance_part(first, poll)
            first = self.done
            if first < end:
                break
        return first

    def _advance_part(self, first: int, poll: Callable[[int], bool]) -> int:
        """Run the part of source number `first`. Returns the end of its sources."""
        number = int(np.searchsorted(self._parts.ends, first, "right"))
        before, end = self._parts.begin(number), self._parts.ends[number]
        if self._now is None or self._now[0] != before:
            part = self._parts[number]
            run = self._begin(part)
            if first > before:  # continued from a checkpoint
                run.total[:] = self._sums[:, part.arcs if self._edges else part.vertices].reshape(-1)
                run.certificate[:] = self.certificate[before:end]
            self._now = before, part, run
        run = self._now[2]
        run.advance((first - before) // run.size, lambda blocks: poll(min(before + blocks * run.size, end)))
        assert self.total is not None  # the part's sums were saved in it
        return end


def accumulation(engine: Engine, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None) -> Accumulation:
    """A run over a job, in parts if this saves much work."""
    shared = engine.name == "cuda" and plan.regime == "batch" and not (job.weighted or job.endpoints or job.has_demand)
    way: Way = "shared" if shared else "within" if engine.name == "cpu" or plan.regime == "block" else "whole"
    parts = parts_of(engine, graph, job.sources, "alike" if engine.name == "cuda" and job.weighted else way)
    if parts is None:
        return engine.accumulation(graph, job, plan, threads)

    def begin(part: Part) -> Accumulation:
        given = {name: getattr(job, name) for name in ("targets", "origins", "copies")}
        some: Any = {name: values[part.vertices] for name, values in given.items() if values is not None}
        some |= {"components": part.components, "shared": shared}
        few, label = job.edges and not job.weighted and engine.name == "cpu", part.components
        few = few and (part.graph.m if label is None else np.bincount(label, part.graph.degrees).max()) <= FEW_ARCS
        pushed = [step for step in plan.steps if step.direction == "push"][:1] if few else []
        here = replace(plan, steps=tuple(pushed), rule=Always()) if pushed else plan
        return engine.accumulation(part.graph, replace(job, sources=part.sources, **some), here, threads)

    return Together(begin, job, parts)
