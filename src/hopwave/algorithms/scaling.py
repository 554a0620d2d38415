"""From sums of dependencies to betweenness scores, scaled as NetworkX scales them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

# ------------------------------------------------------------------ scale


def scale(
    sums: npt.NDArray[np.float64],
    n: int,
    *,
    normalized: bool,
    directed: bool,
    endpoints: bool,
    sampled: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.float64]:
    """Sums over all (or sampled) sources to betweenness, to the letter of NetworkX 3.6.1's `_rescale`.

    >>> scale(np.array([0.0, 2.0, 0.0]), 3, normalized=True, directed=False, endpoints=False).tolist()
    [0.0, 1.0, 0.0]
    """
    N = n if endpoints else n - 1
    if N < 2:
        return sums

    def factor(k: int) -> float:
        """What a sum over k sources is worth; NaN where there was none."""
        if k == 0:
            return math.nan
        return 1 / (k * (N - 1)) if normalized else N / (k * (1 if directed else 2))

    if sampled is None:
        return sums * factor(N)
    scaled = sums * factor(len(sampled))
    if not endpoints:
        # A sampled source is no end of its own paths, so it was looked at from one source fewer.
        scaled[sampled] = sums[sampled] * factor(len(sampled) - 1)
    return scaled


def scale_subset(
    sums: npt.NDArray[np.float64], n: int, *, normalized: bool, directed: bool, endpoints: bool
) -> npt.NDArray[np.float64]:
    """Sums over chosen sources (and targets), as NetworkX's `betweenness_centrality_subset` scales them. Edges always
    have endpoints; vertices have them where asked, which NetworkX does not offer here: all sources then give what no
    subset gives.

    >>> scale_subset(np.array([2.0]), 3, normalized=False, directed=False, endpoints=False).tolist()
    [1.0]
    """
    if normalized:
        pairs = n * (n - 1) if endpoints else (n - 1) * (n - 2)
        return sums / pairs if pairs > 0 else sums
    return sums if directed else sums * 0.5
