"""Betweenness by the core of a graph on the GPU: many core vertices at a time (kernels/betweenness/core.cuh).

The core is prepared, and its sums become scores, as on the CPU (engines/cpu/betweenness/core_run.py).
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cpu.betweenness import core_rows, core_run
from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.buffers import free_memory
from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.launch import BLOCK, WARP, expression, kernels
from hopwave.engines.cuda.records import filled, record

HEADER = "betweenness/core.cuh"
KERNELS = ("core_forward", "core_demand", "core_backward")
ROW_WARPS = 4  # as in the header
DELTA = 2.0  # the width of a bucket of distances, in mean lengths of the core's arcs
MOST_ROWS = 1 << 14  # of a batch: more do not keep the GPU busier
ROW_BYTES = 28  # per core vertex and row: d, s, T, queue, begins
NUMBERS = "indptr heads lengths component first_vertex first_chain at chains end begin size length twice table "
NUMBERS = (NUMBERS + "table_begin table_shift").split()
AMOUNTS = ["counts", "sent", "taken", "own_sent", "own_taken", "demand_out", "demand_in"]
SUMS = ["V", "flow", "first", "single", "into"]

CORE = record(
    HEADER, "Core",
    "ptr indptr heads lengths counts component first_vertex first_chain at chains end begin size length twice sent "
    "taken own_sent own_taken table table_begin table_shift demand_out demand_in needed place d s T queue begins V "
    "flow first single into between status",
    "i64 vertices rows members delta",
)  # fmt: skip


def instances():
    """Every kernel of the core: header and name expression."""
    for name in KERNELS:
        yield HEADER, expression(HEADER, name, "int")


class CoreRun(core_run.CoreRun):
    """As on the CPU, with other batches. Sums are made by atomics: their last bits differ from run to run."""

    possible = True
    _done = 0
    done = property(lambda self: self._done)

    def prepare(self):
        """As on the CPU, while the kernels are compiled."""
        nvrtc.begin(HEADER, [name for _, name in instances()])
        super().prepare()

    def batch_size(self):
        """Core vertices of a batch, for which a third of the free memory is enough, with the ends around them."""
        return max(1, min(MOST_ROWS, free_memory() // (3 * ROW_BYTES * max(self.K, 1))))

    def advance(self, first, poll):
        """As hopwave.planning.jobs.Accumulation.advance."""
        with explained("adding up dependencies", self._graph, LESS_MEMORY):
            core = {name: cupy.asarray(getattr(self._C, name).astype(np.int32)) for name in NUMBERS}
            core |= {name: cupy.asarray(getattr(self._C, name)) for name in AMOUNTS}
            core |= dict(zip(SUMS, cupy.split(cupy.asarray(self.total), self._parts), strict=False))
            core |= {"between": cupy.zeros((self.chains, 2)), "status": cupy.zeros(1, np.int32)}
            shape = self._wide, self.K
            core |= {name: cupy.empty(shape, np.int32) for name in ("d", "queue")}
            core |= {name: cupy.empty(shape) for name in ("s", "T")}
            core |= {"begins": cupy.empty((shape[0], shape[1] + 1), np.int32)}
            lengths = self._C.lengths
            numbers = {"vertices": self.K, "delta": max(1, int(DELTA * lengths.mean())) if len(lengths) else 1}
            done = first
            while done < self.blocks and not (done > first and poll(done)):
                self._batch(done, core, numbers)
                done += 1
            if int(core["status"][0]):
                raise OverflowError("a number of shortest paths in the core outgrew float64")
            sums = [core[name].get() for name in SUMS]
            starts, ends = np.split(self.total, self._parts)[len(SUMS) :]
            inside = starts.copy(), ends.copy()
            chains = slice(*self._C.at[self._C.first[[first, done]]])
            core_rows.stay_inside(self._C, self._C.chains[chains], core["between"].get(), *inside)
            self.total, self._done = np.concatenate([*sums, *inside]), done
        return done

    def _batch(self, batch, core, numbers):
        begin, stop = self._C.needed_begin[batch : batch + 2]
        members, rows = int(np.diff(self._C.first[batch : batch + 2])[0]), int(stop - begin)
        needed, place = self._C.needed[begin:stop].astype(np.int32), np.zeros(self.K, np.int32)
        place[needed] = np.arange(rows)
        core |= {"needed": cupy.asarray(needed), "place": cupy.asarray(place)}
        arguments = (filled(CORE, **core, **numbers, rows=rows, members=members),)
        launch = kernels("int")
        by_warp = ROW_WARPS * WARP
        launch.exactly(HEADER, "core_forward", "", (-(-rows // ROW_WARPS),), by_warp, arguments)
        launch.exactly(HEADER, "core_demand", "", (members,), BLOCK, arguments)
        launch.exactly(HEADER, "core_backward", "", (-(-members // ROW_WARPS),), by_warp, arguments)
        cupy.cuda.get_current_stream().synchronize()
