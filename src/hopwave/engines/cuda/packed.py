"""Rows in fewer bits, on the GPU or in host memory that the GPU reads across the bus (kernels/common/rows.cuh).

Neighbours come row after row, in stretches of any length. They are packed in blocks of 2^21 arcs as soon as a block is
full, so that the plain rows never need to be there as a whole. The first blocks, which have the hubs if vertices are
numbered by degree, go to the GPU's memory as long as `limit` allows.
"""

import cupy
import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.launch import BLOCK, WARP, kernels
from hopwave.engines.cuda.records import record

HEADER = "build/rows.cuh"
HEAD = record("common/rows.cuh", "Packed", "u64 head")
GROUP = 32  # arcs that share a base and a width
BLOCK_GROUPS = 1 << 16  # kernels/common/rows.cuh
BLOCK_ARCS = GROUP * BLOCK_GROUPS
HEADS = BLOCK_GROUPS + 1  # words before the groups' heads: the address of the block


def head_bytes(m):
    """Bytes of the heads of m arcs.

    >>> head_bytes(64), head_bytes(BLOCK_ARCS + 1)
    (24, 524312)
    """
    groups = max(1, -(-m // GROUP))
    return HEAD.itemsize * (groups + -(-groups // BLOCK_GROUPS))


class PackedRows:
    """The neighbours of m arcs: `add` takes them, in order; after `finish`, kernels read `heads`.

    limit: most bytes of words on the GPU; None: all of them are there.
    """

    def __init__(self, m, limit=None):
        self.m, self.limit = m, limit
        self.heads = cupy.zeros(head_bytes(m) // HEAD.itemsize, np.uint64)
        self.device_bytes = self.host_bytes = 0  # of words
        self._words = []  # keeps their memory alive
        self._groups = 0
        self._carried = cupy.empty(0, np.int32)

    def add(self, values):
        """Pack more neighbours; those of a block that is not full wait for more."""
        values = cupy.concatenate((self._carried, values))
        whole = len(values) // BLOCK_ARCS * BLOCK_ARCS
        self._pack(values[:whole])
        self._carried = values[whole:].copy()

    def add_keys(self, keys):
        """Sort keys of 64 bits, and pack their lower halves."""
        keys.sort()
        for some in range(0, len(keys), policy.SORTED_ARCS):
            self.add(keys[some : some + policy.SORTED_ARCS].view(np.int32)[::2])

    def finish(self):
        """Pack the last block. Returns itself."""
        self._pack(self._carried)
        self._carried = None
        return self

    def _pack(self, values):
        count = len(values)
        if not count:
            return
        groups, first = -(-count // GROUP), self._groups
        blocks, block = -(-groups // BLOCK_GROUPS), first // BLOCK_GROUPS
        sizes = cupy.empty(blocks, np.uint64)
        given = values, np.int64(count), np.int64(first), np.int64(groups), self.heads
        _launch("measure_groups", WARP * groups, *given)
        _launch("place_groups", BLOCK * blocks, np.int64(block), np.int64(blocks), np.int64(groups), self.heads, sizes)
        places = self._places(4 * sizes.get().astype(np.int64))
        self.heads[block * HEADS : (block + blocks - 1) * HEADS + 1 : HEADS] = cupy.asarray(places)
        _launch("pack_groups", WARP * groups, *given)
        self._groups += groups

    def _places(self, sizes):
        """Memory for blocks of these many bytes; returns the address of each."""
        room = int(sizes.sum()) if self.limit is None else self.limit - self.device_bytes
        here = int(np.searchsorted(np.cumsum(sizes), room, side="right"))
        places = []
        for some, host in ((sizes[:here], False), (sizes[here:], True)):
            needed = int(some.sum())
            if needed:
                memory = cupy.cuda.PinnedMemory(needed) if host else cupy.cuda.alloc(needed)
                self._words.append(memory)
                places.append(memory.ptr + np.cumsum(some) - some)
                self.host_bytes += needed * host
                self.device_bytes += needed * (not host)
        return np.concatenate(places).astype(np.uint64)

    def unpacked(self, first=0, last=None):
        """The neighbours at the ends of arcs [first, last)."""
        count = (self.m if last is None else last) - first
        values = cupy.empty(count, np.int32)
        _launch("unpack", count, self.heads, np.int64(first), np.int64(count), values)
        return values

    @property
    def bytes(self):
        """Device memory held."""
        return self.heads.nbytes + self.device_bytes


def _launch(name, work, *arguments):
    kernels()(HEADER, name, work, *arguments, shape="int")
