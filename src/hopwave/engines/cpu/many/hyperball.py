"""HyperBall on the CPU, compiled: one HyperLogLog counter per vertex, merged along arcs step by step.

Boldi and Vigna, In-core computation of geometric centralities with HyperBall (2013). After step t, the counter of v
represents the vertices that reach v in t hops. A counter is 2^p bytes, its registers. A vertex with hash h goes to
register h mod 2^p, which stores the maximum of 1 + (trailing zeros of h >> p). Sizes come from Ertl's estimator (New
cardinality estimation algorithms for HyperLogLog sketches, 2017, section 3.4): 2^2p / (2 ln 2 · z), where z sums 2^-r
over the registers r > 0 and adds 2^p · σ(fraction of registers that are 0). With m registers it is too large by a
fraction c/m, where c rises from ½ for small sets to 1.13 for large sets (fitted to ± 0.05); sizes are divided by 1 +
c/m. The sum is an integer, in units of 2^(p − 62): it does not depend on the order of corrections.
"""

import math

import numpy as np

from hopwave.arrays import ignoring
from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, share
from hopwave.engines.cpu.integers import U0
from hopwave.engines.cpu.intrinsics import atomic_add, outer, trailing_zeros, uncounted
from hopwave.engines.host_memory import check_memory
from hopwave.planning.many_sources import Balls

ROWS_PER_CHUNK = 256
BYTE = np.uint64(255)  # the bits of a register
REGISTERS_PER_ENTRY = 16  # registers that a thread merges in the time of one entry of a sparse product


def hyperball(loaded, job, poll, threads=None):
    """One run of a HyperBallJob: sizes of balls, and sums of distances into every vertex."""
    n, registers = loaded.n, 1 << job.precision
    check_memory(n * (2 * registers + 46), f"counters of {registers} bytes", "pass a smaller precision=")
    A = loaded.adjacency("any")
    now, later = first_counters(n, job.precision, job.seed), np.empty((n, registers), np.uint8)
    changed, fresh = np.ones(n, np.uint8), np.zeros(n, np.uint8)
    unit = np.uint64(1 << (62 - job.precision))
    kept = unit >> now.max(axis=1).astype(np.uint64), np.full(n, registers - 1, np.int32)
    size, total, inverse = np.ones(n), np.zeros(n), np.zeros(n)
    empty, scale = zeros_table(registers), registers**2 / (2 * np.log(2))
    around = [float(n)]
    work = loaded.m * registers // REGISTERS_PER_ENTRY
    while True:
        counters, sums = (now, later, now.view(np.uint64), changed, fresh), (*kept, size, total, inverse)
        given = (A.in_indptr, A.in_indices), counters, sums, len(around), unit, empty, scale
        board = share(unite_rows, given, n, work, threads, ROWS_PER_CHUNK)
        if board[FOUND] == 0:
            return Balls(np.array(around), size, total, inverse)
        around.append(float(size.sum()))
        now, later, changed, fresh = later, now, fresh, changed
        poll(len(around) - 1)


@ignoring("over")
def first_counters(n, precision, seed):
    h = np.arange(n, dtype=np.uint64) + np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):  # the mixer of SplitMix64
        h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
    rest = (h >> np.uint64(precision)) | np.uint64(1 << (63 - precision))
    lowest_bit = rest & (~rest + np.uint64(1))
    counters = np.zeros((n, 1 << precision), np.uint8)
    rank = np.frexp(lowest_bit.astype(np.float64))[1]
    counters[np.arange(n), (h & np.uint64((1 << precision) - 1)).astype(np.intp)] = rank
    return counters


def zeros_table(registers):
    """2^p · σ(x) for x = 0, 1, …, 2^p registers of 0, where σ(x) = x + Σ x^(2^k) · 2^(k−1); the last is infinite."""
    x = np.arange(registers) / registers
    found, weight = x.copy(), 1.0
    while x.any():
        x = x * x
        found += x * weight
        weight *= 2
    return np.append(found * registers, np.inf)


@outer
def unite_rows(rows, counters, sums, step, unit, empty, scale, end, chunk, board):
    """One step: merge changed neighbours' counters into every row's counter; board[FOUND] counts those that grew."""
    indptr, indices = uncounted(rows)
    now, later, words, changed, fresh = uncounted(counters)
    above, zeros, size, total, inverse = uncounted(sums)
    registers = now.shape[1]
    united = np.empty(registers, np.uint8)
    united_words = united.view(np.uint64)
    grown = 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, chunk)
        if begin >= end:
            break
        for v in range(begin, min(begin + chunk, end)):
            touched = False
            for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
                w = np.int64(indices[j])
                if changed[w] != 0 and w != v:
                    if not touched:
                        for k in range(registers):
                            united[k] = now[v, k]
                        touched = True
                    for k in range(registers):
                        united[k] = max(united[k], now[w, k])
            fresh[v] = 0
            if not touched:
                if changed[v] != 0:
                    later[v] = now[v]
                continue
            differ = U0
            for i in range(united_words.size):
                others = united_words[i] ^ words[v, i]
                differ |= others
                while others != U0:
                    place = trailing_zeros(others) & ~np.uint64(7)
                    others &= ~(BYTE << place)
                    before = (words[v, i] >> place) & BYTE
                    above[v] += unit >> ((united_words[i] >> place) & BYTE)
                    if before == U0:
                        zeros[v] -= 1
                    else:
                        above[v] -= unit >> before
            for k in range(registers):
                later[v, k] = united[k]
            if differ != U0:
                fresh[v] = 1
                grown += 1
                found = scale / (above[v] / unit + empty[zeros[v]])
                bias = (1.13 - 0.63 * math.exp(-0.5 * found / registers)) / registers
                more = found / (1.0 + bias) - size[v]
                size[v] += more
                total[v] += more * step
                inverse[v] += more / step
    atomic_add(board, FOUND, grown)
