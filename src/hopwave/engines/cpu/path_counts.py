"""Path counts that exceed float64: one scale per level if that suffices, otherwise one exponent per vertex.

σ̂ = σ / 2^shift     with one shift per level: as fast as plain float64, correct while a level spans less than 2^1400
σ = m · 2^e         with m in [½, 1) and e stored for every vertex: slower, always correct
"""

import math

import numpy as np

from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import inner, noinline, outer

LARGEST, LEAST = 1000, 2.0**-900
EXACT_BITS = 53  # sums up to 2^53 are exact in any order


@inner
def rescale_level(sigma, queue, begin, end, degree_bits):
    """Scale a level down if the next may exceed 2^LARGEST. Returns its largest exponent and the shift; -1: too wide."""
    noinline()
    greatest = 0.0
    for i in range(begin, end):
        paths = sigma[queue[i]]
        greatest = paths if paths > greatest else greatest
    exponent = np.int64(np.ceil(np.log2(greatest))) if greatest > 0 else 0
    if exponent + degree_bits <= LARGEST:
        return exponent, 0
    target = max(LARGEST // 2, LARGEST - 64 * degree_bits)  # well below the limit, so that not every level is scaled
    shift = exponent - target
    factor = 2.0 ** np.float64(-shift)
    for i in range(begin, end):
        v = queue[i]
        sigma[v] *= factor
        if sigma[v] < LEAST:
            sigma[v] = LEAST
            shift = -1
    return target, shift


@inner
def two_to(power):
    """2^power for power ≤ 0, exactly; 0 if that is negligible compared with 1."""
    return 0.0 if power < -1000 else math.ldexp(1.0, power)


@inner
def add_scaled(mantissa, exponent, more, power):
    """mantissa · 2^exponent + more · 2^power, as a mantissa in [½, 1) and an exponent. Mantissa 0: no number."""
    if mantissa == 0.0:
        return more, power
    gap = power - exponent
    if gap > 0:
        total, exponent = mantissa * two_to(-gap) + more, power
    else:
        total = mantissa + more * two_to(gap)
    if total >= 1.0:
        return total * 0.5, exponent + 1
    return total, exponent


@inner
def recount(indptr, indices, level, mantissa, exponent, queue, end, step):
    """σ of queue[:end], in the order of levels, as mantissa · 2^exponent; consecutive levels differ by `step`."""
    noinline()
    first = level[queue[0]]
    for i in range(end):
        v = queue[i]
        if level[v] == first:
            mantissa[v], exponent[v] = 0.5, 1
            continue
        nearer, total, power = level[v] - step, 0.0, np.int64(0)
        for j in range(np.int64(indptr[v]), np.int64(indptr[v + ONE])):
            u = indices[j]
            if level[u] == nearer:
                total, power = add_scaled(total, power, mantissa[u], exponent[u])
        mantissa[v], exponent[v] = total, power


@outer
def count_extended(A, order, distance, mantissa, exponent):
    """`recount` of a search, for levels that are too wide for one scale. order: by distance."""
    if order.size:
        recount(A.in_indptr, A.in_indices, distance, mantissa, exponent, order, order.size, 1)
