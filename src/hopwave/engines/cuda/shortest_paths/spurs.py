"""The lengths of many spurs of known paths at a time, one warp for each (kernels/shortest_paths/spurs.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.buffers import allocate, free_memory
from hopwave.engines.cuda.errors import explained
from hopwave.engines.cuda.launch import WARP, kernels
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search_arrays import spur_arrays
from hopwave.engines.ledger import total

HEADER = "shortest_paths/spurs.cuh"
SEARCHES = record(
    HEADER, "SpurSearches", "ptr offsets neighbours lengths rest vertices so_far begins known_path known_before path",
    "ptr at before found distance near_stamp far_stamp lists rounds ticket", "f64 most slack steps",
    "i64 n count target",
)  # fmt: skip


class Spurs:
    """Searches in one graph, which is copied to the GPU with the first of them.

    arcs, rest, slack, target: as engines/cpu/shortest_paths/deviations.py has them.
    """

    def __init__(self, arcs, rest, slack, target):
        self.arcs, self.rest, self.slack, self.target = arcs, rest, slack, target
        self.n, self.given, self.state = len(rest), {}, {}
        room = min(policy.SPURS.total_bytes, free_memory() // 2) // total(spur_arrays(self.n, 1))
        self.at_once = min(policy.SPURS.at_once, room)

    def are_worth_it(self, count):
        """Whether `count` searches at a time are faster here than on one core."""
        fits = self.at_once >= policy.SPURS.fewest and len(self.arcs.indices) < 1 << 31
        return fits and count >= policy.SPURS.least

    def lengths(self, paths, known, spurs, most):
        """The lengths of spurs that leave known paths; infinite for those that would be longer than `most`."""
        with explained("searching for paths", remedy="ask for fewer paths"):
            return self._lengths(paths, known, spurs, most)

    def _lengths(self, paths, known, spurs, most):
        if not self.given:
            whole = {"offsets": self.arcs.indptr, "neighbours": self.arcs.indices}
            self.given = {name: cupy.asarray(part.astype(np.int32)) for name, part in whole.items()}
            self.given |= {"lengths": cupy.asarray(np.array(self.arcs.lengths)), "rest": cupy.asarray(self.rest)}
            self.state = allocate(spur_arrays(self.n, self.at_once))
        end = int(paths.begins[-1])
        there = {
            "vertices": paths.vertices[:end], "so_far": paths.so_far[:end], "begins": paths.begins,
            "known_path": known.path, "known_before": known.before,
        }  # fmt: skip
        there = self.given | {name: cupy.asarray(part) for name, part in there.items()}
        found = np.empty(len(spurs.path))
        for i in range(0, len(found), policy.SPURS.piece):
            part = slice(i, i + policy.SPURS.piece)
            found[part] = self._some(there, {name: array[part] for name, array in spurs._asdict().items()}, most)
        return found

    def _some(self, there, spurs, most):
        count = len(spurs["path"])
        spurs = {name: cupy.asarray(part) for name, part in spurs.items()}
        found, ticket = cupy.empty(count, np.float64), cupy.zeros(1, np.uint32)
        job = filled(
            SEARCHES, **there, **self.state, **spurs, found=found, ticket=ticket, most=most, slack=self.slack,
            steps=policy.SPURS.steps, n=self.n, count=count, target=self.target,
        )  # fmt: skip
        kernels("int").exactly(HEADER, "find_spurs", "", (min(self.at_once, count),), WARP, (job,))
        return found.get()
