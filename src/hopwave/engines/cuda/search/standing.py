"""Where searches ended. Kernels write it into the host's memory, so nobody has to wait for it who does not ask."""

from __future__ import annotations

import struct
import time

import cupy
import numpy as np

from hopwave.engines.cuda.records import record
from hopwave.errors import EngineError

STANDING = record(
    "one_launch/state.cuh", "Standing", "u64 mf mu findable", "u32 nf nf0 reached begin tail big chunks",
    "i32 depth last levels which queued refused",
)  # fmt: skip
TOLD = record("one_launch/state.cuh", "Told", "u64 stamp", offsets=[STANDING.itemsize], size=STANDING.itemsize + 8)
SLOT = 128  # bytes: a Told, in cache lines of its own
SLOTS = 64  # searches whose ends nobody has asked for yet; the one after them asks for the oldest
SPINS = 1500  # looks at the stamp, some 100 µs, before the processor is left to others
PAUSE = 2e-5  # seconds between looks after that
_LETTERS = {np.dtype(np.uint64): "Q", np.dtype(np.uint32): "I", np.dtype(np.int32): "i"}  # of the struct module
_unpacked = struct.Struct("<" + "".join(_LETTERS[STANDING[name]] for name in STANDING.names))


class Ending:
    """Where one search ended."""

    __slots__ = ("_endings", "_found", "_slot", "_stamp", "_stream")

    def __init__(self, endings, slot, stamp, stream):
        self._endings, self._slot, self._stamp, self._stream = endings, slot, stamp, stream
        self._found = None

    def found(self):
        """The fields of the kernels' struct Standing by name. Waits for the search."""
        stamps, at, spins = self._endings.stamps, self._slot * (SLOT // 8), 0
        while self._found is None:
            if stamps[at] == self._stamp:
                values = _unpacked.unpack_from(self._endings.memory, self._slot * SLOT)
                if stamps[at] == self._stamp:  # else the slot serves another search, and this one's end is known
                    self._found = dict(zip(STANDING.names, values, strict=True))
                    self._stream = None
                continue
            spins += 1
            if spins > SPINS:
                self._look_at_stream()
        return self._found

    def _look_at_stream(self):
        """Leave the processor to others; an error if the stream has ended without this search's stamp."""
        stream = self._stream
        if stream is None or not stream.done:
            time.sleep(PAUSE)
        elif self._found is None and self._endings.stamps[self._slot * (SLOT // 8)] != self._stamp:
            stream.synchronize()  # raises what went wrong
            raise EngineError("a search on the GPU ended without an answer; try again, or use device='cpu'")

    def depth(self):
        """The greatest distance."""
        return deepest(self.found())

    def reached(self):
        """How many vertices were reached."""
        return self.found()["reached"]


class Endings:
    """Slots of pinned memory for the ends of searches that use one workspace, one after another."""

    def __init__(self):
        self.pinned = cupy.cuda.alloc_pinned_memory(SLOTS * SLOT)
        self.memory = memoryview(np.frombuffer(self.pinned, np.uint8, SLOTS * SLOT))
        self.memory[:] = bytes(SLOTS * SLOT)
        self.stamps = self.memory[STANDING.itemsize :][: (SLOTS - 1) * SLOT + 8].cast("Q")
        self.taken = [None] * SLOTS
        self.count = 0
        self.last = None

    def take(self, stream):
        """The address and stamp for the next search, and its Ending. The workspace's lock is held."""
        self.count += 1
        slot = self.count % SLOTS
        if self.taken[slot] is not None:
            self.taken[slot].found()  # before it is overwritten
        self.stamps[slot * (SLOT // 8)] = 0
        self.last = self.taken[slot] = Ending(self, slot, self.count, stream)
        return self.pinned.ptr + slot * SLOT, self.count, self.last

    def give_back(self, ending):
        """The search was not launched: nothing will be written."""
        self.taken[ending._slot] = None


def deepest(standing):
    """The greatest distance: the last level looked for more and found none, unless something stopped it before."""
    return standing["depth"] - (not standing["nf"] and standing["depth"] > 0)
