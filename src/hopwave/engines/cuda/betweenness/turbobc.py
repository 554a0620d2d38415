"""TurboBC's three algorithms on the GPU, one source at a time: Algorithm 1 and its pipeline (section 3.4, Figure 2)."""

import math
from dataclasses import replace

import cupy
import numpy as np

from hopwave import engines
from hopwave.engines.cuda.buffers import Report
from hopwave.engines.cuda.errors import OTHERS_LESS, explained
from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, truth
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search.by_level import COUNTERS, LevelScaling
from hopwave.errors import EngineError, amount
from hopwave.planning.plan import Push

HEADER = "betweenness/turbobc.cuh"
ORDER_WORDS = 6  # words per arc to convert scores of edges from the matrix's order to the graph's
ARCS_OF_A_THREAD = 4  # PRODUCT_IN_FLIGHT of kernels/common/products.cuh
COUNTS = {"unsigned": np.uint32, "double": np.float64}  # types of path counts: the paper's type, and a wider type
WIDTHS = {"arcs": ("arcs", ""), "columns": ("columns", ", 1"), "warps": ("columns", f", {WARP}")}  # threads per column
RUN_STATE = record(HEADER, "RunState", "u64 done deepest overflowed due ends ticket", "f64 found")
FLOWS = record(HEADER, "Flows<unsigned>", "i32 n source", "u64 finished", "ptr S targets sigma delta factors bc run")
PER_SOURCE = RUN_STATE.fields["deepest"][1]  # first byte of the state that is cleared for every source


def why_not(plan, job):
    if job.has_demand:
        return f"plan {plan.name!r} counts every pair once; for source_weights= or target_weights=, use plan='auto'"
    if job.deterministic and product_of(plan) == "arcs":
        return f"plan {plan.name!r} adds in an order that varies between runs; for deterministic=True, use plan='auto'"
    return None


def product_of(plan):
    """A plan's product: one thread per arc (scCOOC), one thread per column (scCSC), or one warp per column (veCSC)."""
    (step,) = plan.steps
    if isinstance(step, Push):
        return "arcs"
    return "columns" if step.mapping == "thread" else "warps"


def needed_words(n, m, product, wide=False, squares=False, targets=False, edges=False):
    """4-byte words of device memory that a run uses: the matrix, S and σ, three arrays of δ, the sums."""
    matrix = n + 1 + m * (2 if product == "arcs" else 1)
    sums = 2 * m if edges else 2 * n * (1 + squares)
    return matrix + n * (2 + wide) + 6 * n + sums + (n // 4 + 1) * targets


class Accumulation:
    """A run over many sources that can pause after any source and resume: see hopwave.algorithms.brandes."""

    size = 1

    def __init__(self, loaded, job, plan):
        self.graph, self.on_device, self.job, self.plan = loaded.graph, loaded.on_device, job, plan
        self.n, self.m, self.product = loaded.n, loaded.m, product_of(plan)
        if job.deterministic and loaded.directed:  # the backward pass scatters in directed graphs: see Pipeline
            raise EngineError(
                f"plan {plan.name!r} adds in an order that varies between runs on a directed graph; "
                "for deterministic=True, use plan='auto'"
            )
        self.blocks, self.done = len(job.sources), 0
        self.widened = self.extended = 0  # sources computed again in float64, and on the CPU
        self.total = np.zeros(self.m if job.edges else self.n * (2 if job.squares else 1))
        self.certificate = np.zeros((self.blocks, 2))
        self._check_memory()
        # The matrix as products read it: row and column of every arc, or the rows by column.
        offsets, rows = self.on_device.columns
        self.matrix = offsets, rows, np.int32(self.n)
        if self.product == "arcs":
            self.matrix = rows, self.on_device.arc_columns, np.uint64(self.m)
        self.arena = cupy.empty(3 * self.n, np.float64)
        self.sums = cupy.zeros(len(self.total), np.float64)
        self.targets = NULL if job.targets is None else cupy.asarray(job.targets.astype(np.uint8))
        self.run_state = cupy.zeros(RUN_STATE.itemsize, np.uint8)
        self._report = Report(RUN_STATE.itemsize)
        self._seen = self._report.view(RUN_STATE, 1)
        self._pipelines = {"unsigned": Pipeline(self, "unsigned")}

    def _check_memory(self):
        limit = self.job.memory_limit
        if limit is None:
            return  # CuPy raises an error if the GPU has too little memory
        options = self.job.squares, self.job.targets is not None, self.job.edges
        needed = 4 * (needed_words(self.n, self.m, self.product, True, *options) + ORDER_WORDS * self.m * options[-1])
        if needed > limit:
            raise EngineError(
                f"plan {self.plan.name!r} needs {amount(needed)} on the GPU for this graph and may use "
                f"{amount(limit)}; raise memory_limit=, or use device='cpu'"
            )

    # ---------------------------------------------------------------- sources

    def advance(self, first, poll):
        self.done = first
        if first >= self.blocks:
            return first
        with explained("computing betweenness", self.graph, OTHERS_LESS):
            self.sums[:] = self._as_matrix(self.total)
            self._seen["done"] = first
            self.run_state.set(self._seen.view(np.uint8))
            try:
                for number in range(first, self.blocks):
                    if number > first and poll(number):
                        break
                    self._add(number)
                    self._settle()
            finally:  # also after Ctrl-C: the GPU's state records which sources are in its sums
                self._settle()
                self.total[:] = (self.sums[self._arc_order()] if self.job.edges else self.sums).get()
        return self.done

    def _arc_order(self):
        """The index in the matrix, sorted by head, of each of the graph's arcs, sorted by tail and then by head."""
        return cupy.argsort(self.on_device.columns[1], kind="stable")

    def _as_matrix(self, scores):
        """Scores of vertices unchanged; scores of the graph's arcs in the order of the matrix."""
        there = cupy.asarray(scores)
        if not self.job.edges:
            return there
        ordered = cupy.empty_like(there)
        ordered[self._arc_order()] = there
        return ordered

    def _settle(self):
        """Fetch both sides of the certificate of a source that the GPU has finished."""
        seen = self.look()
        if seen["done"] > self.done:
            self.done = int(seen["done"])
            self.certificate[self.done - 1] = seen["found"], seen["due"]

    def look(self):
        stream = cupy.cuda.get_current_stream()
        self.run_state.data.copy_to_host_async(self._seen.ctypes.data, RUN_STATE.itemsize, stream)
        stream.synchronize()
        return self._seen[0]

    def _add(self, number):
        """Add one source, first in the type that most sources so far needed, then in wider types until it fits."""
        source = int(self.job.sources[number])
        for kind in ("double",) if 2 * self.widened > number else ("unsigned", "double"):
            pipeline = self._pipeline(kind)
            deepest = pipeline.forward(self, source)
            self.widened += kind == "double"
            if deepest is not None:
                pipeline.backward(self, deepest)
                (pipeline.score_edges if self.job.edges else pipeline.score)(self, source, number)
                return
        self._add_extended(number)

    def _pipeline(self, kind):
        if kind not in self._pipelines:
            # Wider counts need a larger array: σ and S are allocated again, for both types.
            self._pipelines.clear()
            self._pipelines[kind] = wide = Pipeline(self, kind)
            self._pipelines["unsigned"] = Pipeline(self, "unsigned", wide.state)
        return self._pipelines[kind]

    def _add_extended(self, number):
        """A level spans more than float64: use the CPU engine, with mantissa and exponent per vertex."""
        one = replace(self.job, sources=self.job.sources[number : number + 1], memory_limit=None)
        careful = engines.engine("cpu").accumulation(self.graph, one, self.plan, 1)
        careful.advance(0, lambda done: False)
        self.extended += 1
        row, (found, due) = self._as_matrix(careful.total), careful.certificate[0]
        width = len(row)
        finished = np.uint64(number + 1)
        self.kernel("add_row")(
            (-(-width // BLOCK),), (BLOCK,),
            (np.uint64(width), row, self.sums, finished, found, np.uint64(due), self.run_state),
        )  # fmt: skip

    def kernel(self, name, shape=""):
        return self.on_device.launch.get(HEADER, name, shape)


class Pipeline:
    """The kernels of Figure 2 for one type of path count, and their arrays."""

    def __init__(self, run, kind, state=None):
        n, dtype = run.n, COUNTS[kind]
        self.kind, self.n = kind, np.int32(n)
        # σ, then S: one array, so that one call clears both.
        self.state = cupy.empty(n * (np.dtype(dtype).itemsize // 4 + 1), np.int32) if state is None else state
        words = n * np.dtype(dtype).itemsize // 4
        self.sigma, self.S = self.state[:words].view(dtype), self.state[words : words + n]
        cells = run.arena.view(dtype)
        self.f, self.ft = cells[:n], cells[n : 2 * n]
        self.delta, self.delta_ut, self.delta_u = run.arena[:n], run.arena[n : 2 * n], run.arena[2 * n :]
        form, width = WIDTHS[run.product]
        directed = truth(run.on_device.directed) + width if width else ""
        self._forward = run.on_device.launch.get("common/products.cuh", f"forward_{form}", kind + width)
        self._backward = run.kernel(f"backward_{form}", directed)
        self._discover, self._spread, self._collect = (run.kernel(x, kind) for x in ("discover", "spread", "collect"))
        self._scores = run.kernel(f"flows_{form}", kind + width) if run.job.edges else run.kernel("scores")
        threads = {"arcs": -(-run.m // ARCS_OF_A_THREAD), "columns": n, "warps": WARP * n}[run.product]
        self._threads = (BLOCK,)
        self._vertices = (-(-n // BLOCK),)
        self._product = (max(1, -(-threads // BLOCK)),)

    def forward(self, run, source):
        """The first loop of Algorithm 1. Returns the deepest level, or None if the counts exceed their type."""
        cutoff = run.job.cutoff
        clear(self.state, 0, 4 * len(self.S) + self.sigma.nbytes)
        clear(run.arena, 0, 2 * self.f.nbytes)
        clear(run.run_state, PER_SOURCE, RUN_STATE.itemsize - PER_SOURCE)
        self.scaling, depth = LevelScaling(run.on_device.degree_bits), 0
        overflowed = np.uint64(run.run_state.data.ptr + RUN_STATE.fields["overflowed"][1])
        there = (self.f, self.ft, self.sigma, overflowed, NULL, *([np.bool_(False)] * (run.product != "arcs")))
        here = (self.f, self.ft, self.sigma, self.S, run.run_state)
        while cutoff is None or depth < cutoff:
            for _ in range(self._levels(depth, cutoff)):
                first = np.int32(source if depth == 0 else -1)
                depth += 1
                self._forward(self._product, self._threads, (*run.matrix, first, *there))
                self._discover(self._vertices, self._threads, (self.n, np.int32(depth), *here))
                self.scaling.add_level()
            seen = run.look()
            if seen["overflowed"]:
                return None
            if seen["deepest"] < depth:
                return int(seen["deepest"])
            if self.kind == "double" and not self._rescale(run, depth):
                return None
        return depth

    def _levels(self, depth, cutoff):
        """Levels until the host reads the state again; a read costs more than a small level, so the interval grows."""
        levels = max(1, depth // 8)
        if self.kind == "double":
            levels = min(levels, max(1, self.scaling.safe_levels()))
        return levels if cutoff is None else min(levels, cutoff - depth)

    def _rescale(self, run, depth):
        """Divide f and σ by a power of two if the next level might overflow. Returns False if that does not suffice."""
        level, counts = (self.S, self.n, np.int32(depth)), (self.sigma, self.f)
        return self.scaling.rescale(run.on_device.launch, run.n, level, counts, lambda: cupy.zeros(COUNTERS, np.uint64))

    def backward(self, run, deepest):
        """The second loop of Algorithm 1; δ and δut use the memory of f and ft."""
        clear(run.arena, 0, 2 * self.delta.nbytes)
        there = (run.targets, self.S, self.sigma, self.delta, self.delta_u)
        product = (*run.matrix, self.delta_u, self.delta_ut)
        here = (self.S, self.sigma, self.delta_ut, self.delta)
        shifts = self.scaling.shifts
        for depth in range(deepest, 1, -1):
            factor = np.float64(math.ldexp(1.0, shifts[depth - 1] - shifts[depth]))
            level = np.int32(depth)
            self._spread(self._vertices, self._threads, (self.n, level, factor, *there))
            self._backward(self._product, self._threads, product)
            self._collect(self._vertices, self._threads, (self.n, level, *here))

    def score(self, run, source, number):
        squares = run.sums[run.n :] if run.job.squares else NULL
        arguments = (self.S, run.targets, self.delta, np.bool_(run.job.endpoints), run.sums, squares, run.run_state)
        self._scores(self._vertices, self._threads, (self.n, np.int32(source), np.uint64(number + 1), *arguments))

    def score_edges(self, run, source, number):
        """bc ← bc + the flow over every arc, and both sides of the certificate."""
        shifts, factors = self.scaling.shifts, None
        if any(shifts):
            factors = cupy.asarray(np.ldexp(1.0, -np.diff(shifts, prepend=0)))
        targets = None if run.job.targets is None else run.targets
        flows = filled(
            FLOWS, n=run.n, source=source, finished=number + 1, S=self.S, targets=targets, sigma=self.sigma,
            delta=self.delta, factors=factors, bc=run.sums, run=run.run_state,
        )  # fmt: skip
        self._scores(self._product, self._threads, (*run.matrix, flows))


def clear(array, begin, size):
    (array.data + begin).memset_async(0, size)
