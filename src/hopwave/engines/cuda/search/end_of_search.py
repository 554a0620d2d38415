"""How searches ended. Kernels write this into host memory; only a caller that asks for it waits."""

import time

import numpy as np

from hopwave.engines.cuda.records import record
from hopwave.engines.cuda.reports import Report
from hopwave.errors import EngineError

TOLD = record("one_launch/state.cuh", "Told", "u64 depth nf reached levels")
WORDS = len(TOLD)
SLOTS = 64  # searches whose ends may be unread; one more search first reads the oldest
SPINS = 1500  # reads of the words before other threads get the processor: some 100 µs
PAUSE = 2e-5  # seconds between further reads
LAST_STAMP = 2**32 - 1


class Ending:
    """How one search ended."""

    __slots__ = ("_endings", "_found", "_slot", "_stamp", "_stream")

    def __init__(self, endings, slot, stamp, stream):
        self._endings, self._slot, self._stamp, self._stream = endings, slot, stamp, stream
        self._found = None

    def found(self):
        """The fields of the kernels' struct Told by name. Waits for the search."""
        words, first, stamp, spins = self._endings.words, self._slot * WORDS, self._stamp, 0
        while self._found is None:
            told = words[first : first + WORDS].tolist()
            if all(word >> 32 == stamp for word in told):
                self._found = {name: word & LAST_STAMP for name, word in zip(TOLD.names, told, strict=True)}
                self._stream = None
                break
            spins += 1
            if spins > SPINS:
                self._look_at_stream()
        return self._found

    def _look_at_stream(self):
        """Let other threads run. Raise if the stream has ended without writing this search's words."""
        stream = self._stream
        if stream is None or not stream.done:
            time.sleep(PAUSE)
        elif self._found is None and self._endings.words[self._slot * WORDS] >> 32 != self._stamp:
            stream.synchronize()  # raises the error
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
        self.report = Report(SLOTS * TOLD.itemsize)
        array = self.report.view(np.uint64, SLOTS * WORDS)
        array.fill(0)
        self.words = memoryview(array)
        self.taken = [None] * SLOTS
        self.stamp = 0
        self.last = None

    def take(self, stream):
        """The address and stamp for the next search, and its Ending. The caller holds the workspace's lock."""
        self.stamp = self.stamp % LAST_STAMP + 1  # 0 is no stamp
        slot = self.stamp % SLOTS
        if self.taken[slot] is not None:
            self.taken[slot].found()  # read it before it is overwritten
        self.last = self.taken[slot] = Ending(self, slot, self.stamp, stream)
        return self.report.memory.ptr + slot * TOLD.itemsize, self.stamp, self.last

    def give_back(self, ending):
        """Take the slot back: the search was not launched and will write nothing."""
        self.taken[ending._slot] = None


def deepest(standing):
    """The greatest distance: one less than the depth if the last level found nothing."""
    return standing["depth"] - (not standing["nf"] and standing["depth"] > 0)
