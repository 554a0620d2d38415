"""Betweenness by the core of a graph on the GPU: many core vertices at a time (kernels/betweenness/core.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cpu.betweenness import core_rows, core_run
from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.run import machine
from hopwave.engines.cuda.buffers import free_memory
from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.launch import BLOCK, WARP, expression, kernels
from hopwave.engines.cuda.records import filled, record

HEADER = "betweenness/core.cuh"
KERNELS = ("core_forward", "core_demand", "core_backward")
ROW_WARPS = 4  # as in the header
DELTA = 4.0  # width of a distance bucket, in mean lengths of the core's arcs
NUMBERS = "indptr component first_vertex first_chain at chains end begin size length twice table "
NUMBERS = (NUMBERS + "table_begin table_shift").split()
AMOUNTS = ["counts", "sent", "taken", "own_sent", "own_taken", "demand_out", "demand_in"]
SUMS = ["V", "flow", "first", "single", "into"]

SUM = record(HEADER, "Sum", "u64 high low")
CORE = record(
    HEADER, "Core",
    "ptr indptr arcs counts component first_vertex first_chain at chains end begin size length twice sent "
    "taken own_sent own_taken table table_begin table_shift demand_out demand_in needed place d s T queue begins V "
    "flow first single into inner between status",
    "i64 vertices rows members",
    "f64 pairs targets origins",
    "i64 delta",
)  # fmt: skip


class CoreRun(core_run.CoreRun):
    """Like the CPU's CoreRun, with other batches. `total` contains two integers per sum, then `starts` and `ends`."""

    halves = False  # each pair is counted separately
    _done = 0
    done = property(lambda self: self._done)

    @property
    def possible(self):
        self._units = units_of(self._demand, self.label)
        return np.isfinite(self._units).all()

    def prepare(self, size=None):
        nvrtc.begin(HEADER, [expression(HEADER, name, "int") for name in KERNELS])
        super().prepare(size)
        inside = len(self.total) - self._parts[-2]
        self.total = np.zeros(2 * self._parts[-2] + inside, np.uint64)

    def batch_size(self):
        return regimes.core_batch_size(self.K, regimes.MOST_CORE_ROWS, machine().memory, free_memory())

    @property
    def sums(self):
        counted = self.total[: 2 * self._parts[-2]].view(SUM)
        found = counted["high"].astype(np.float64) + np.ldexp(counted["low"].astype(np.float64), -30)
        pairs, targets, origins = self._units
        V, flow, first, single, into = np.split(found, self._parts[:-2])
        scaled = V / pairs, flow / pairs, first / targets, single / targets, into / origins
        return np.concatenate([*scaled, self.total[2 * len(found) :].view(np.float64)])

    def advance(self, first, poll):
        with explained("adding up dependencies", self._graph, LESS_MEMORY):
            counted, inside = np.split(self.total, [2 * self._parts[-2]])
            core = {name: cupy.asarray(getattr(self._C, name).astype(np.int32)) for name in NUMBERS}
            core |= {name: cupy.asarray(getattr(self._C, name)) for name in AMOUNTS}
            sums, ends = cupy.asarray(counted), [0, *(2 * part for part in self._parts)]
            core |= {name: sums[begin:] for name, begin in zip(SUMS, ends, strict=False)}
            core["arcs"] = cupy.asarray(np.stack([self._C.heads, self._C.lengths], axis=1))
            core |= {"between": cupy.zeros((self.chains, 2)), "status": cupy.zeros(1, np.int32)}
            grid = min(self.size, regimes.DEMAND_BLOCKS * machine().multiprocessors)
            rows = regimes.core_arrays(self.K, self.rows, self.size, machine().multiprocessors)
            core |= {name: cupy.empty(array.shape, array.dtype) for name, array in rows.items()}
            numbers = dict(zip(("pairs", "targets", "origins"), self._units, strict=True))
            numbers |= {"vertices": self.K, "delta": max(1, int(DELTA * self._C.lengths.mean()))}
            done = first
            while done < self.blocks and not (done > first and poll(done)):
                self._batch(done, core, numbers, grid)
                done += 1
            if int(core["status"][0]):
                raise OverflowError("a number of shortest paths in the core exceeds float64")
            inside = inside.copy()
            chains = slice(*self._C.at[self._C.first[[first, done]]])
            both = np.split(inside.view(np.float64), 2)
            core_rows.stay_inside(self._C, self._C.chains[chains], core["between"].get(), *both)
            self.total, self._done = np.concatenate([sums.get(), inside]), done
        return done

    def _batch(self, batch, core, numbers, grid):
        begin, stop = self._C.needed_begin[batch : batch + 2]
        members, rows = int(np.diff(self._C.first[batch : batch + 2])[0]), int(stop - begin)
        needed, place = self._C.needed[begin:stop].astype(np.int32), np.zeros(self.K, np.int32)
        place[needed] = np.arange(rows)
        core |= {"needed": cupy.asarray(needed), "place": cupy.asarray(place)}
        arguments = (filled(CORE, **core, **numbers, rows=rows, members=members),)
        launch, by_warp = kernels("int").exactly, ROW_WARPS * WARP
        launch(HEADER, "core_forward", "", (-(-rows // ROW_WARPS),), by_warp, arguments)
        launch(HEADER, "core_demand", "", (min(members, grid),), BLOCK, arguments)
        launch(HEADER, "core_backward", "", (-(-members // ROW_WARPS),), by_warp, arguments)
        cupy.cuda.get_current_stream().synchronize()


def units_of(demand, label):
    """Powers of 2: units per 1 of the demand of pairs, targets and sources, so that no sum reaches 2^60 units."""
    most = [np.bincount(label, column).max(initial=0.0) for column in demand.T]
    most = np.array([most[0] * most[1], most[1], most[0]])
    with np.errstate(divide="ignore", over="ignore"):
        return np.exp2(59 - np.ceil(np.log2(most)))
