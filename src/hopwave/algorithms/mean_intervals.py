"""Where the mean of N numbers may lie, given k of them, drawn without replacement. The numbers are in [0, 1].

    m, v   the mean and the variance (divided by k) of the k drawn numbers        p   the mean of all N
    ρ      the finite population: min(1 − (k − 1)/N, (1 − k/N)(1 + 1/k)), which falls to 0 as k grows to N. The second
           is smaller exactly if k > N/2, so this is the distinction of cases by Bardenet & Maillard (2015).

`guaranteed` is the narrowest of three intervals, each of which gets a third of the risk, and of what is certain: the
N − k numbers that were not drawn are at least 0 and at most 1.

- Hoeffding and Serfling: m ± √(ρ L / 2k), where each side fails with probability exp(−L) (Corollary 2.5 there).
- Empirical Bernstein, by Maurer & Pontil (2009), without replacement: m ± (√(2 ρ v L / k) + κ L / k) with
  κ = 7/3 + 3/√2, where each side fails with probability 5 exp(−L) (Theorem 4.3 there; v is divided by k, equation 26).
  Best if k is much of N.
- Bets on p, best if k is small (Waudby-Smith & Ramdas 2024). For a factor l > 0 and y = l (p − X) ≥ −a,
  exp(y − c y²) ≤ 1 + y, where c = (−a − log(1 − a)) / a². The mean of the right side is 1, so that exp(Σ (y − c y²))
  has a mean of at most 1, without replacement too (Hoeffding 1963, Theorem 4): it seldom exceeds 1 / risk.
  The sum is k (l g − c l² (v + g²)), where g = p − m: p is excluded if g lies between the two roots of a quadratic.
  [0, 1] is cut into bins. Each bin has its own bets, one for each of VARIANCES: the best one if X had that variance.
  They share the risk evenly. The bins are looked at one by one, so that no p is passed over.

For the other side, take 1 − X.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from hopwave.planning.jobs import Floats

BINS = np.sin(np.linspace(0, np.pi / 2, 33)) ** 2  # narrower towards both ends
VARIANCES = (1, 1 / 6, 1 / 36, 1 / 216)  # of X, as multiples of p (1 − p)
MOST_LOST = 0.9  # the greatest `a`: the largest share that a bet may lose
KAPPA = 7 / 3 + 3 / math.sqrt(2)
CHUNK = 1 << 14  # means at a time, so that they stay in a core's cache

Interval = tuple[Floats, Floats]


def guaranteed(mean: Any, variance: Any, k: Any, N: Any, risk: float) -> Interval:
    """(lowest, highest) p, for each mean; each fails with probability `risk` at most. All arguments may be arrays.

    >>> low, high = guaranteed([0.5, 0.5, 0.5], [0.25, 0.01, 0.01], [100, 100, 990], 1000, 0.1)
    >>> (high - 0.5).round(3).tolist(), (0.5 - low).round(3).tolist()
    ([0.136, 0.058, 0.005], [0.136, 0.058, 0.005])
    >>> guaranteed([0.0], [0.0], 0, 10, 0.1)
    (array([0.]), array([1.]))
    """
    mean, variance, k, N = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (mean, variance, k, N)))
    low, high = np.zeros(len(mean)), np.ones(len(mean))
    for drawn in np.unique(k):
        if drawn < 1:
            continue
        every = np.flatnonzero(k == drawn)
        for first in range(0, len(every), CHUNK):
            some = every[first : first + CHUNK]
            part = variance[some], float(drawn), N[some], risk
            m = np.clip(mean[some], 0.0, 1.0)
            low[some], high[some] = 1 - _upper(1 - m, *part), _upper(m, *part)
    return low, high


def normal(mean: Any, variance: Any, k: Any, N: Any, risk: float) -> tuple[Floats, Floats, Floats]:
    """(lowest, highest, standard error) for each mean, as if it were normal; NaN as standard error of a single draw.

    m ± t s √((1 − k/N) / k), where s² = v k / (k − 1) and t is Student's factor for k − 1 degrees of freedom.

    >>> [part.round(4).tolist() for part in normal([0.5], [0.01], 100, 1000, 0.1)]
    [[0.4842], [0.5158], [0.0095]]
    """
    from scipy.special import stdtrit  # a tenth of a second to import

    mean, variance, k, N = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (mean, variance, k, N)))
    freedom = np.maximum(k - 1, 1)
    error = np.where(k > 1, np.sqrt(variance / freedom * np.maximum(1 - k / N, 0.0)), np.nan)
    half = np.where(k > 1, error * stdtrit(freedom, 1 - risk / 2), np.inf)
    return mean - half, mean + half, error


def left_over(k: Any, N: Any) -> Any:
    """ρ of k draws from N numbers.

    >>> float(left_over(1, 100)), float(left_over(100, 100))
    (1.0, 0.0)
    """
    return np.maximum(np.minimum(1 - (k - 1) / N, (1 - k / N) * (1 + 1 / k)), 0.0)


def _upper(m: Floats, v: Floats, k: float, N: Floats, risk: float) -> Floats:
    """The highest p that none of the three intervals excludes."""
    left = left_over(k, N)
    serfling = np.sqrt(left * math.log(6 / risk) / (2 * k))
    L = math.log(30 / risk)  # a third of the risk, five events on each of two sides
    bernstein = np.sqrt(2 * left * v * L / k) + KAPPA * L / k
    certain = np.where(k < N, (k * m + (N - k)) / N, m)
    outer = np.minimum(m + np.minimum(serfling, bernstein), certain)
    needed = math.log(6 * len(VARIANCES) / risk) / k
    found = m.copy()
    for begin, end in pairwise(BINS.tolist()):
        here = np.flatnonzero((outer > begin) & (m < end))
        if len(here):
            last = _last_allowed(m[here], v[here], np.minimum(outer[here], end), begin, end, needed)
            found[here] = np.where(last >= begin, last, found[here])
    return found


def _last_allowed(m: Floats, v: Floats, end: Floats, begin: float, ends: float, needed: float) -> Floats:
    """The last p up to `end` that the bets of a bin do not exclude; less than `begin` if they exclude the whole bin."""
    room, middle = 1 - begin, (begin + ends) / 2  # X − p is at most `room`
    gap, last = end - m, end
    for variance in VARIANCES:
        factor = min(math.sqrt(2 * needed / (variance * middle * (1 - middle))), MOST_LOST / room)
        a = factor * room
        square = (-a - math.log1p(-a)) / (a * a) * factor * factor  # c l²: the bet is l g − square (v + g²) − needed
        inner = factor * factor - 4 * square * (square * v + needed)
        root = np.sqrt(np.maximum(inner, 0.0))
        excluded = (inner > 0) & (np.abs(2 * square * gap - factor) < root)
        last = np.where(excluded, np.minimum(last, m + (factor - root) / (2 * square)), last)
    return np.asarray(last)
