"""Edges of Kronecker graphs with a 2 x 2 initiator: the edges of recursive.py, drawn by compiled code on all cores."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.generate import counter
from hopwave.graph.csr_compiled import mixed
from hopwave.system.numba_cache import njit
from hopwave.system.threads import each, host_cores

BLOCK = 1 << 16  # edges that a thread draws per call
GROUP = 256  # edges of a block that are drawn in lockstep, level by level
WEYL, U0, U1, U63 = np.uint64(counter.WEYL), np.uint64(0), np.uint64(1), np.uint64(63)


def draw_edges(
    scale: int, seed: int, first: int, count: int, draw_bits: int, thresholds: npt.NDArray[np.uint32], permute: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Both endpoints of `count` edges, beginning with edge `first`."""
    src, dst = np.empty((2, count), np.int32)
    begin = np.uint64(counter.start(seed, "kronecker"))
    borders = thresholds.astype(np.uint64)
    turns = np.array(counter.scrambling(scale, seed) if permute else [], np.uint64).reshape(-1, 2)

    def fill(low: int) -> None:
        ends, at = (side[low : low + BLOCK] for side in (src, dst)), np.uint64(first + low)
        _draw(np.uint64(scale), begin, at, np.uint64(draw_bits), borders, turns, *ends)

    each(host_cores(), range(0, count, BLOCK), fill)
    return src, dst


def scrambled(word: Any, turns: Any, scale: Any) -> Any:
    """See counter.scramble, for n = 2^scale."""
    mask, fold = (U1 << scale) - U1, (scale + U1) >> U1
    for turn in range(turns.shape[0]):
        word = (word * turns[turn, 0] + turns[turn, 1]) & mask
        word ^= word >> fold
    return word


def draw(scale: Any, begin: Any, first: Any, draw_bits: Any, borders: Any, turns: Any, src: Any, dst: Any) -> None:
    """Draw a block of edges, two levels per word. The row bit is 1 if a draw is at or above the middle border; the
    column bit is the parity of the number of borders at or below the draw.

    A group of edges is drawn in lockstep, word by word, so that a CPU with wide registers draws several at a time.
    border - 1 - draw wraps around, and then has its top bit set, exactly if the draw is at or above the border.
    """
    words, high, low = (scale + U1) >> U1, np.uint64(64) - draw_bits, (U1 << draw_bits) - U1
    below, middle, above = borders[0] - U1, borders[1] - U1, borders[2] - U1
    rows, columns = np.empty(GROUP, np.uint64), np.empty(GROUP, np.uint64)
    for group in range(0, src.size, GROUP):
        count = min(GROUP, src.size - group)
        rows[:] = U0
        columns[:] = U0
        for word in range(words):
            z = begin + ((first + np.uint64(group)) * words + U1 + word) * WEYL
            for i in range(count):
                bits = mixed(z + np.uint64(i) * (words * WEYL))
                drawn = bits >> high
                over = (middle - drawn) >> U63
                row = (rows[i] << U1) | over
                column = (columns[i] << U1) | (over ^ ((below - drawn) >> U63) ^ ((above - drawn) >> U63))
                drawn = bits & low
                over = (middle - drawn) >> U63
                rows[i] = (row << U1) | over
                columns[i] = (column << U1) | (over ^ ((below - drawn) >> U63) ^ ((above - drawn) >> U63))
        unused = scale & U1  # if the scale is odd, the last word contains one level too many
        for i in range(count):
            src[group + i] = _scrambled(rows[i] >> unused, turns, scale)
            dst[group + i] = _scrambled(columns[i] >> unused, turns, scale)


_compile = njit(nogil=True, cache=True, boundscheck=False)
_scrambled, _draw = _compile(scrambled), _compile(draw)
