"""A search for the engine's own use: hops from one vertex, left on the GPU."""

from __future__ import annotations

from hopwave import engines
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.prepared import Structure


def distances_from(loaded, source):
    """Hops from one vertex to every other (-1: not reached), and the greatest of them.

    Predecessors are computed too, but not used: most searches want them, so that kernel is compiled already. The kernel
    without them would take two seconds to compile.
    """
    engine, plan = engines.engine("cuda"), CATALOGUE["hopwave-gpu"]
    search = engine.start(engine.load(loaded.graph, plan), (source,), SearchJob())
    engine.run(search, plan, False)
    return search.distance, engine.fetch(search)["depth"]


def probed_depth(loaded):
    """Levels of a search from the vertex of highest degree, found once per graph."""
    known = loaded.graph._prepared.record(Structure)
    if known.depth is None:
        known.depth = distances_from(loaded, int(loaded.graph.degrees.argmax()))[1] if loaded.m else 0
    return known.depth
