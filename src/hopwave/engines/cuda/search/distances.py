"""A search for the engine's own use: hops from one vertex, left on the GPU."""

import numpy as np

from hopwave import engines
from hopwave.engines.cuda.search import one_launch
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.prepared import Structure


def distances_from(loaded, source):
    """Hops from one vertex to every other (-1: not reached), and the greatest of them.

    Predecessors are computed too, but not used: most searches want them, so that kernel is compiled already. The kernel
    without them would take two seconds to compile.
    """
    engine, plan = engines.engine("cuda"), CATALOGUE["hopwave-dense"]
    search = engine.start(engine.load(loaded.graph, plan), (source,), SearchJob())
    engine.run(search, plan, False)
    return search.distance, engine.fetch(search)["depth"]


MAX_HOST_ARCS = 1 << 22  # arcs that SciPy searches in a twentieth of the time that compiling our search takes


def probed_depth(loaded):
    """Levels of a search from the vertex of highest degree, found once per graph.

    The first search on a machine waits two seconds for its kernel: for one number of a small graph, SciPy is faster.
    """
    graph = loaded.graph
    known = graph._prepared.record(Structure)
    if known.depth is None:
        on_host = graph._host is not None and loaded.m <= MAX_HOST_ARCS and not one_launch.is_kept(loaded)
        if not loaded.m:
            known.depth = 0
        elif on_host:
            known.depth = depth_on_host(graph._host, int(graph.degrees.argmax()))
        else:
            known.depth = distances_from(loaded, int(graph.degrees.argmax()))[1]
    return known.depth


def depth_on_host(rows, source):
    """The greatest number of hops from a vertex along these rows, by SciPy.

    >>> depth_on_host(hw.generate.path(5), 1)
    3
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n, m = len(rows.indptr) - 1, len(rows.indices)
    order, before = breadth_first_order(csr_array((np.ones(m), rows.indices, rows.indptr), (n, n)), source)
    v, depth = order[-1], 0
    while v != source:
        v, depth = before[v], depth + 1
    return depth
