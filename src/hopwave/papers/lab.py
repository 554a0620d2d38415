"""Shared by all studies: the device, time limits, graphs, sources, checks, searches by level, SuiteSparse:GraphBLAS."""

import importlib.util
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import ScaledCounts, module_of, on_host
from hopwave.errors import EngineError, HopwaveError
from hopwave.graph import Graph
from hopwave.papers.graphs import Limits, Shelf
from hopwave.papers.records import STATISTICS, WHY, Case, Claim, Row, Study, claims, left_out, stated, tables, values
from hopwave.planning.plan import Plan

CHUNK = 1 << 26  # arcs checked at a time
Levels = list[Any]  # the records of one search, hopwave.planning.trace.Level


class WrongAnswer(HopwaveError):
    """A result that failed its check; it is not timed."""


@dataclass(frozen=True)
class Effort:
    """Limits of the measurements."""

    trials: int  # maximum calls of one measurement
    seconds: float  # time limit of one measurement
    sources: int  # sources of a study over several sources
    points: int  # sources of a figure that draws a point for each
    scale: int  # scale of the Kronecker graph in figures about one graph
    limits: Limits
    budget: float  # seconds of the full run, divided among its studies and graphs


EFFORTS = {  # (device, quick)
    ("cpu", True): Effort(3, 0.02, 4, 8, 12, Limits(420_000, 0, 100_000, False), 90),
    ("cpu", False): Effort(50, 0.2, 16, 100, 17, Limits(12_000_000, 0, 3_500_000, True), 1800),
    ("cuda", True): Effort(5, 0.02, 8, 32, 15, Limits(5_000_000, 2_000_000, 500_000, False), 60),
    ("cuda", False): Effort(50, 0.04, 64, 400, 21, Limits(1_000_000_000, 600_000_000, 4_300_000, True), 75),
}


@dataclass
class Lab:
    """One run of one paper. `results` contains the rows of completed studies, by name."""

    device: str
    quick: bool
    say: Callable[[str], None] = print
    seconds: float = 0.0  # 0: the budget of the effort
    results: dict[str, list[Row]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    study: str = ""  # the study being measured
    keep: Callable[[], Any] = lambda: None  # saves the results after each row
    studies: Mapping[str, Study] = field(default_factory=dict)
    tables: frozenset[str] = frozenset()  # tables whose graphs are measured; empty: all

    def __post_init__(self) -> None:
        effort = EFFORTS[self.device, self.quick]
        self.seconds = self.seconds or effort.budget
        share = self.seconds / effort.budget  # less time: smaller stand-ins, fewer trials; more time: more trials
        limits = effort.limits._replace(stand_in=int(min(1.0, share) * effort.limits.stand_in))
        self.effort = replace(effort, seconds=round(share * effort.seconds, 4), limits=limits)
        self.shelf = Shelf(self.device, limits)
        self.ends = time.perf_counter() + self.seconds
        self.until = self.ends  # end of the current study or row: no search is timed later

    def late(self) -> str:
        """The reason for not starting further measurements; "" while time remains."""
        return f"not started: the limit was {self.seconds:.0f} seconds" if time.perf_counter() > self.ends else ""

    def grant(self, share: float, ends: float | None = None) -> float:
        """Grant the next measurement a share of the time until `ends`, or until the end of the run."""
        now = time.perf_counter()
        self.until = now + share * max(0.0, (self.ends if ends is None else ends) - now)
        return self.until

    def over(self, cases: Iterable[Case], measure: Callable[[Case, Graph], Row], share: float = 1.0) -> list[Row]:
        """A row for each case: the result of `measure` on its graph, or the reason for its absence.

        All rows get a `share` of the remaining time, divided equally among the remaining rows. With --quick, one
        graph of each kind and table is measured. Graphs that are generated or read from a folder come first.
        """
        cases = [case for case in cases if not self.tables or case.stated.get("table") in self.tables]
        rows: dict[int, Row] = {}
        ends = self.grant(share)
        seen: set[tuple[str, Any]] = set()
        for at in sorted(range(len(cases)), key=lambda at: (not self.shelf.at_hand(cases[at]), at)):
            case = cases[at]
            kind = (case.made[0] if case.made else case.kind, case.stated.get("table"))
            kinds = {"kind": "D" if case.directed else "U", "family": case.kind}
            rows[at] = {"graph": case.shown, **kinds, **stated(case)}
            if self.quick and kind in seen:
                rows[at] |= left_out("--quick measures another graph of this kind")
            elif late := self.late():
                rows[at] |= left_out(late)
            else:
                self.grant(1 / (len(cases) - len(rows) + 1), ends)
                clock, found = time.perf_counter(), self.shelf.get(case)
                row: Row = left_out(found.origin)
                if found.graph is not None:
                    row = {"from": found.origin, "n": found.graph.n, "m": found.graph.m}
                    try:
                        row |= measure(case, found.graph)
                    except (EngineError, MemoryError, WrongAnswer) as error:
                        row |= self.failed(error)
                    self.say(f"{case.shown} ({row['from']}): {time.perf_counter() - clock:.1f} s")
                    seen |= {kind} if WHY not in row else set()
                del found
                self.release()
                rows[at] |= row
                self.results[self.study] = [rows[one] for one in sorted(rows)]
                self.keep()
        return [rows[at] for at in range(len(cases))]

    def rows(self, study: str) -> list[Row]:
        """The rows of a study, which is measured on the first call."""
        if study not in self.results:
            before, self.study = self.study, study
            self.say(study)
            try:
                self.results[study] = self.studies[study](self)
            except (EngineError, MemoryError, WrongAnswer) as error:
                self.results[study] = [self.failed(error)]
            self.study = before
            self.keep()
        return self.results[study]

    def measured(self, study: str) -> list[Row]:
        """The rows of a study, without rows that lack numbers."""
        return [row for row in self.rows(study) if WHY not in row]

    def failed(self, error: Exception) -> Row:
        """The columns of a row that could not be measured. Wrong results are recorded, and the run fails at its end."""
        if isinstance(error, WrongAnswer):
            self.wrong.append(str(error))
        return left_out(f"{'WRONG: ' if isinstance(error, WrongAnswer) else ''}{error}")

    def kron(self) -> tuple[Graph, str]:
        """The Kronecker graph in figures about one graph, as large as this run allows: kron_g500-logn21 on a GPU."""
        scale = self.effort.scale
        found = self.shelf.get(Case("", "", ("kron", scale, 48), "social", 1 << scale, 87 << scale, directed=False))
        assert found.graph is not None
        return found.graph, found.origin

    def release(self) -> None:
        if self.device == "cuda":
            import cupy

            cupy.get_default_memory_pool().free_all_blocks()

    def wait(self) -> None:
        if self.device == "cuda":
            import cupy

            cupy.cuda.runtime.deviceSynchronize()

    def mean_ms(self, call: Callable[[], Any]) -> float:
        """Wall-clock milliseconds of a call: the mean of the trials; fewer trials if the time limit is reached."""
        self.wait()
        began, done, taken = time.perf_counter(), 0, 0.0
        while done < self.effort.trials and taken <= self.effort.seconds:
            call()
            self.wait()
            done, taken = done + 1, time.perf_counter() - began
        return taken / done * 1e3

    def sources(self, graph: Graph, count: int) -> list[int]:
        """Random vertices in the reach of the vertex of highest degree."""
        degrees = np.asarray(graph.degrees)
        found = hw.bfs(graph, int(degrees.argmax()), predecessors=False, device=self.device).distances
        inside = np.flatnonzero((on_host(found) >= 0) & (degrees > 0))
        drawn = np.random.default_rng(7).choice(inside, count, replace=len(inside) < count)
        return [int(one) for one in drawn]

    def root_of(self, graph: Graph) -> int:
        """Vertex 0, because TurboBFS and TurboBC name no roots; that of highest degree if 0 reaches less than 1%."""
        reached = hw.bfs(graph, 0, predecessors=False, device=self.device).reached
        return 0 if reached >= graph.n / 100 else int(np.asarray(graph.degrees).argmax())

    def search(self, graph: Graph, plan: str | Plan, source: int, parents: bool = False) -> tuple[Levels, Any]:
        """The levels and the distances of a search by a plan."""
        found = hw.bfs(graph, source, plan=plan, device=self.device, predecessors=parents, trace=True)
        return list(found.trace or ()), found.distances

    def in_turn(
        self, graph: Graph, plans: Mapping[str, str | Plan], count: int, parents: bool = False
    ) -> tuple[dict[str, list[Levels]], list[int], list[Any]]:
        """The levels of searches by the name of their plan; the sources, and their distances by hopwave's plan.

        From each source all plans search in turn, because the host's time between launches drifts; fewer sources if the
        granted time is used up. The first search of each plan is a warm-up that may compile; it starts from the source
        with the largest level, so that no later search allocates.
        """
        sources = self.sources(graph, count)
        right = [hw.bfs(graph, source, predecessors=False, device=self.device).distances for source in sources]
        check_search(graph, right[0], None, sources[0])
        largest = max(range(count), key=lambda at: widest(graph, right[at]))
        for plan in plans.values():
            self.search(graph, plan, sources[largest], parents)
        runs: dict[str, list[Levels]] = {name: [] for name in plans}
        for source, expected in zip(sources, right, strict=True):
            for name, plan in plans.items():
                levels, distances = self.search(graph, plan, source, parents)
                if not bool((distances == expected).all()):
                    raise WrongAnswer(f"{name} returns wrong distances from {source}; please report this")
                runs[name].append(levels)
            if time.perf_counter() > self.until:
                break
        return runs, sources, right

    def claimed(self, claim: Claim, cases: Iterable[Case]) -> Row:
        """A number in a paper's text, its tables and ours; in our means, stand-ins that are alike count once."""
        rows = [row for row in claim.rows(self.measured(claim.study)) if claim.states(row)]
        rows, graphs = (unlike(rows), "different graphs") if claim.how in ("mean", "geometric") else (rows, "graphs")
        found = values(rows, claim.column, claim.over) if claim.column else []
        part = "abstract" if claim.where == "Abstract" else "text"
        row: Row = {"part": part, "where": claim.where, "claim": claim.claim, "paper": claim.paper}
        row["paper's tables"] = claim.of_tables(cases)
        if found:
            remark = f"{claim.how} of {len(found)} {graphs}" if len(found) > 1 else ""
            return row | {"ours": STATISTICS[claim.how](found), "remark": claim.remark or remark}
        theirs = not claim.column or any({claim.column, claim.over} & case.stated.keys() for case in cases)
        missing = "needs a program that hopwave does not include" if theirs else "needs a GPU: --device cuda"
        suite = no_suitesparse() if "(GBLAS)" in claim.column or "SuiteSparse" in claim.column else ""
        return row | {"remark": claim.remark or suite or missing}

    def suitesparse_ms(self, graph: Graph, source: int, right: Any) -> float | None:
        """Milliseconds of a search by python-graphblas on this machine's CPU, whose distances must equal `right`.

        None if it is not installed, if the graph has more arcs than this run generates, or if the row's time is over.
        """
        if no_suitesparse() or graph.m > self.effort.limits.drawn or time.perf_counter() > self.until:
            return None
        from graphblas import Matrix, Vector, semiring  # type: ignore[import-untyped]

        graph = graph.to("cpu")
        A = Matrix.ss.import_csr(
            nrows=graph.n, ncols=graph.n, indptr=graph.indptr.astype(np.uint64),
            col_indices=graph.indices.astype(np.uint64), values=np.array([True]), is_iso=True, sorted_cols=True,
        )  # fmt: skip
        A.wait()

        def search() -> Any:
            level, frontier, depth = Vector("INT32", graph.n), Vector(bool, graph.n), 0
            frontier[source] = True
            while frontier.nvals:
                level(frontier.S)[:] << depth
                frontier(~level.S, replace=True) << frontier.vxm(A, semiring.any_pair[bool])
                depth += 1
            return level

        began = time.perf_counter()
        found, taken = search(), time.perf_counter() - began
        if not np.array_equal(found.to_dense(-1), on_host(right)):
            raise WrongAnswer("SuiteSparse:GraphBLAS returns different distances; please report this")
        return taken * 1e3 if taken > 1 else self.mean_ms(search)  # seconds: this search was the only trial


def unlike(rows: Iterable[Row]) -> list[Row]:
    """The rows, with only the first of all stand-ins of the same kind and approximate size (factor of two)."""
    found: dict[Any, Row] = {}
    for at, row in enumerate(rows):
        kind = re.sub(r"[\d,.]+", "", row.get("from", ""))
        sizes = [int(row.get(name, 0)).bit_length() for name in "nm"]
        found.setdefault((kind, *sizes) if kind.startswith("stand-in") else at, row)
    return [*found.values()]


def claimed(name: str) -> Study:
    """The study of all claims in a paper's text about its tables."""
    return lambda lab: [lab.claimed(claim, [*chain(*tables(name))]) for claim in claims(name)]


def degree_of(graph: Graph) -> str:
    """Maximum, mean and standard deviation of the degrees, as in the papers' tables."""
    degrees = np.asarray(graph.degrees)
    return f"{int(degrees.max())}/{graph.m / graph.n:.0f}/{float(degrees.std()):.0f}"


def check_search(graph: Graph, distance: Any, counts: Any, source: int) -> None:
    """Raise WrongAnswer unless distances, and path counts if passed, are consistent with the arcs."""
    if broken := wrong(graph, distance, counts, source):
        raise WrongAnswer(f"a search from {source} is wrong: {broken}; please report this")


def wrong(graph: Graph, distance: Any, counts: Any, source: int) -> str:
    """The first error in distances and path counts from a source, found by array operations; "" without an error."""
    xp: Any = module_of(distance)
    offsets, neighbours = rows_of(graph, xp)
    if int(distance[source]) or int(xp.count_nonzero(distance == 0)) != 1:
        return "the source is not the only vertex at distance 0"
    parents, sums = xp.zeros(graph.n, xp.int64), xp.zeros(graph.n, xp.float64)
    logarithms: Any = None if counts is None else log2_of(counts, xp)
    for begin in range(0, graph.m, CHUNK):
        heads = neighbours[begin : begin + CHUNK]
        tails = xp.searchsorted(offsets, xp.arange(begin, begin + len(heads)), side="right") - 1
        above, below = distance[tails], distance[heads]
        if bool(((above >= 0) & ((below < 0) | (below > above + 1))).any()):
            return "an arc leads down more than one level"
        down = (above >= 0) & (below == above + 1)
        tails, heads = tails[down], heads[down]
        parents += xp.bincount(heads, minlength=graph.n)
        if counts is not None:
            sums += xp.bincount(heads, weights=xp.exp2(logarithms[tails] - logarithms[heads]), minlength=graph.n)
    found = distance > 0
    if not bool((parents[found] > 0).all()):
        return "a vertex has no arc from the previous level"
    if counts is not None and not bool(xp.allclose(sums[found], 1, rtol=1e-9, atol=0)):
        return "a path count is not the sum over the arcs from the previous level"
    return ""


def log2_of(counts: Any, xp: Any) -> Any:
    """The binary logarithms of path counts, which may be beyond float64."""
    with np.errstate(divide="ignore"):
        if isinstance(counts, ScaledCounts):
            return xp.log2(xp.asarray(counts.mantissa)) + xp.asarray(counts.exponent)
        return xp.log2(counts)


def rows_of(graph: Graph, xp: Any) -> tuple[Any, Any]:
    """Offsets and neighbours; not copied on the graph's device."""
    if xp is np:
        return graph.indptr, graph.indices
    from hopwave.engines.cuda.graph import CudaGraph

    offsets, neighbours = CudaGraph(graph).rows
    return offsets, neighbours


def widest(graph: Graph, distances: Any) -> int:
    """The largest number of arcs that leave a level."""
    xp: Any = module_of(distances)
    degrees = xp.diff(rows_of(graph, xp)[0])
    return int(xp.bincount(distances[distances >= 0], weights=degrees[distances >= 0]).max())


def ms_of(levels: Levels, direction: str = "") -> float:
    """Milliseconds inside levels, or inside those of one direction; GPU time on a GPU."""
    return 1e3 * float(sum(level.seconds for level in levels if direction in ("", level.direction)))


def over(measure: Callable[[Lab, Case, Graph], Row], *tables: Iterable[Case], share: float = 1.0) -> Study:
    """The study that measures every graph of some tables."""
    return lambda lab: lab.over(chain(*tables), partial(measure, lab), share)


def no_suitesparse() -> str:
    """The reason why SuiteSparse:GraphBLAS is not available for comparison; "" if it is."""
    if importlib.util.find_spec("graphblas") is not None:
        return ""
    return "SuiteSparse:GraphBLAS is not installed; run: pip install python-graphblas"
