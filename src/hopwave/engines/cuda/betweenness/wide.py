"""Betweenness with the full GPU on one source at a time, in one launch per source (kernels/betweenness/wide.cuh)."""

import cupy
import numpy as np

from hopwave import engines
from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.buffers import Report, allocate
from hopwave.engines.cuda.launch import NULL, PreparedLaunch, expression
from hopwave.engines.cuda.records import address, filled, record
from hopwave.engines.cuda.search import one_launch
from hopwave.engines.cuda.search.workspace import BLOCK, NO_LIMIT, NoCooperativeLaunch
from hopwave.planning.catalogue import CATALOGUE

HEADER = "betweenness/wide.cuh"
SEARCH = "hopwave-dense"  # the plan of the search that computes the levels

TOLD = record(HEADER, "Told", "f64 found", "u64 due reached", "i64 depth too_deep")
WIDE = record(
    HEADER, "Wide",
    "ptr level bits lists[2] pieces[2] partials tickets X delta sums parts shared told",
    "i64 words directed max_levels degree_bits push_cost push_back_cost",
)  # fmt: skip


def begin(offset):
    nvrtc.begin(HEADER, [expression(HEADER, "one_source", offset)])


class Buffers:
    """The arrays that the sources of one graph share, besides its search's buffers. One source at a time uses them."""

    def __init__(self, loaded):
        engine, plan = engines.engine("cuda"), CATALOGUE[SEARCH]
        self.search = one_launch.workspace(engine.load(loaded.graph, plan))  # raises NoCooperativeLaunch
        made = allocate(regimes.wide_arrays(loaded.n, loaded.m, loaded.directed, self.search.multiprocessors))
        self.arrays = dict(made)
        (X, delta), lists, pieces = made.pop("counts"), made.pop("lists"), made.pop("pieces")
        self.report = Report(TOLD.itemsize)
        self.told = self.report.view(TOLD, 1)
        degree_bits = loaded.on_device.degree_bits
        self.max_levels = min(regimes.MAX_BATCH_LEVELS, regimes.MAX_COUNT_BITS // max(1, degree_bits))
        wide = filled(
            WIDE, **made, X=X, delta=delta, lists=[lists[0].data.ptr, lists[-1].data.ptr],
            pieces=[pieces[0].data.ptr, pieces[-1].data.ptr], told=self.told.ctypes.data,
            words=made["bits"].shape[1], directed=loaded.directed, max_levels=self.max_levels,
            degree_bits=degree_bits, push_cost=regimes.PUSH_COST, push_back_cost=regimes.PUSH_BACK_COST,
        )  # fmt: skip
        kernel, blocks = nvrtc.cooperative(HEADER, expression(HEADER, "one_source", self.search.offset), BLOCK)
        if blocks < self.search.multiprocessors:
            raise NoCooperativeLaunch("this GPU cannot hold a block of the kernel on every multiprocessor")
        changing = ("total", "targets", "back_neighbours", "source", "depth_limit", "endpoints", "squares", "edges")
        alpha, beta = map(np.float64, plan.rule.parameters())
        self._launch = PreparedLaunch(
            kernel, self.search.multiprocessors, BLOCK, graph=self.search.graph, work=self.search.buffers.work,
            wide=wide, **dict.fromkeys(changing, NULL), alpha=alpha, beta=beta,
        )  # fmt: skip

    def run(self, **changing):
        stream, search = cupy.cuda.get_current_stream(), self.search
        if search.stream is not None and search.stream.ptr != stream.ptr:
            search.stream.synchronize()  # buffers serve one search at a time
        search.stream = stream
        self._launch(**changing)
        stream.synchronize()
        return self.told[0]


class Wide:
    """The wide regime on one graph for one job."""

    def __init__(self, loaded, job, block_regime):
        n, m, k = loaded.n, loaded.m, job.planned_sources
        regimes.check_wide(n, m, loaded.directed, job.memory_limit)
        self.job, self._make_block_regime, self._block_regime = job, block_regime, None
        self.size = regimes.rounds(m, k, 1)
        if "wide" not in loaded.kept:
            loaded.kept["wide"] = Buffers(loaded)
        self.buffers = loaded.kept["wide"]
        self.targets = None if job.targets is None else cupy.asarray(job.targets.view(np.uint8))
        # One level more than the kernel supports, so that the kernel notices deeper searches.
        limit = min(NO_LIMIT if job.cutoff is None else job.cutoff, self.buffers.max_levels + 1)
        # Scores of arcs are in the graph's own order.
        self.back = loaded.neighbours if job.edges else self.buffers.search.loaded.neighbours
        self.options = {
            "targets": address(self.targets), "back_neighbours": address(self.back), "depth_limit": limit,
            "endpoints": int(job.endpoints), "squares": int(job.squares), "edges": int(job.edges),
        }  # fmt: skip

    @property
    def extended(self):
        return 0 if self._block_regime is None else self._block_regime.extended

    def add(self, sources, total):
        return np.array([self._add(int(source), total) for source in sources]).reshape(-1, 2)

    def _add(self, source, total):
        told = self.buffers.run(total=total.data.ptr, source=source, **self.options)
        if not told["too_deep"]:
            return told["found"], told["due"]
        if self._block_regime is None:
            self._block_regime = self._make_block_regime()
        return self._block_regime.add(np.array([source]), total)[0]
