"""A search for the engine's own use: hops from one vertex, left on the GPU."""

from __future__ import annotations

from hopwave.catalogue import CATALOGUE
from hopwave.engines.cuda.graph import Loaded
from hopwave.engines.cuda.search import one_launch
from hopwave.engines.cuda.search.state import Search
from hopwave.engines.cuda.search.steps import advance
from hopwave.jobs import Question


def distances_from(loaded, source):
    """Hops from one vertex to every other (-1: not reached), and the greatest of them."""
    plan = CATALOGUE["hopwave-gpu"]
    search = Search(Loaded(loaded.graph, plan, loaded.on_device), (source,), Question(predecessors=False))
    if loaded.device.cooperative:
        with loaded.lock:
            if one_launch.run(search, plan, False) is not None:
                return search.distance, search.depth
    while search.nf:
        advance(search, plan.steps[0], 0)  # by its push alone, which needs no rule
    search.on_device.workspaces.append(search.work)
    return search.distance, max(0, search.depth - 1)  # the last level found nothing


def probed_depth(loaded):
    """Levels of a search from the vertex of highest degree, found once for every graph."""
    kept = loaded.graph._prepared
    if "depth" not in kept:
        kept["depth"] = distances_from(loaded, int(loaded.graph.degrees.argmax()))[1] if loaded.m else 0
    return kept["depth"]
