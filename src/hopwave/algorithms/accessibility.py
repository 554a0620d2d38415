"""Sums of values at the vertices within a distance of each source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import many_sources as _many
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Integers, Progress
from hopwave.planning.many_sources import Sweep
from hopwave.planning.valued import Valued

Fade = Callable[[Floats], npt.ArrayLike]  # the caller's own f(d), of an array of distances


def value_sums(
    engine: Engine,
    graph: Graph,
    sources: Integers,
    valued: Valued,
    fade: Fade | None,
    progress: Progress,
    threads: int | None,
) -> Floats:
    """Σ value · f(d) as sources × columns × limits; `fade`, if given, instead of the decay of `valued`."""
    limit = float(valued.limits[-1])
    longest = None if limit == np.inf else limit
    if fade is None:
        job = Sweep(sources, "values", longest, weighted=True, valued=valued)
        return _many.sweep(engine, graph, job, "accessibility", progress, threads).values
    answer = np.empty((len(sources), len(valued.columns), len(valued.limits)))
    size = max(1, _many.BLOCK_BYTES // (12 * max(1, graph.n)))
    with _many.polled("accessibility", len(sources), progress) as poll:
        for begin in range(0, len(sources), size):
            some = sources[begin : begin + size]
            found = _many.sweep(
                engine, graph, Sweep(some, "pairs", longest, weighted=True), "accessibility", False, threads
            )
            own = np.arange(len(some))  # pairs lack the source itself
            row = np.concatenate([own, np.repeat(own, found.reached)])
            vertex = np.concatenate([some, found.pairs[0]])
            d = np.concatenate([np.zeros(len(some)), found.pairs[1]])
            terms = valued.columns[:, vertex] * faded(fade, d)
            for i, within in enumerate(valued.limits):
                near = d <= within
                for c, term in enumerate(terms):
                    answer[begin : begin + len(some), c, i] = np.bincount(row[near], term[near], len(some))
            poll(begin + len(some))
    return answer


def faded(fade: Fade, d: Floats) -> Floats:
    """f of some distances, by the caller's function; raises a GraphError unless it gives one finite number for each."""
    try:
        shares: Any = np.asarray(fade(d))
    except (TypeError, ValueError) as error:  # what math.exp(d) and `if d < 5` raise
        raise GraphError(
            f"decay= failed for an array of {len(d)} distances ({error}); it must take them all at once: compile it "
            "with numba.vectorize, wrap it in numpy.vectorize, or use NumPy's functions"
        ) from error
    if shares.shape != d.shape or shares.dtype.kind not in "fiub":
        raise GraphError(
            f"decay= returned {shares.dtype} of shape {shares.shape} for {len(d)} distances; it must return one number "
            "for each: compile it with numba.vectorize, or use NumPy's functions"
        )
    wrong = np.flatnonzero(~np.isfinite(shares))
    if len(wrong):
        raise GraphError(
            f"decay= returned {shares[wrong[0]]} for distance {d[wrong[0]]:g}; a share must be finite, also at 0"
        )
    return np.asarray(shares, np.float64)
