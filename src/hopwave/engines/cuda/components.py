"""Weakly connected components on the GPU, by hooking (kernels/components/hooking.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.errors import explained
from hopwave.engines.cuda.graph import uploaded
from hopwave.engines.cuda.launch import BLOCK, TILE, WARP, kernels, together
from hopwave.engines.cuda.row_lengths import long_rows
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob

HEADER, LOWEST = "components/hooking.cuh", "components/strong.cuh"
together(
    HEADER, "plant", "hook_first", "hook_rest", "flatten", "sample_roots", "count_roots", "scan_roots", "number_roots",
    "write_labels", "hook_sides_first", "hook_sides", "write_sides", "look_within",
)  # fmt: skip


def components(on_device):
    """The number of every vertex's component, int32 on the host; components are ordered by their lowest vertices."""
    few, vertices = np.int32(policy.COMPONENTS.sampled_arcs), np.int32(on_device.n)
    n, launch, long = on_device.n, on_device.launch, policy.COMPONENTS.long_row
    if not n:
        return np.zeros(0, np.int32)
    rows = on_device.__dict__.get("arranged") if not on_device.directed else None
    packed = on_device.compressed
    offsets, neighbours = rows or (on_device.rows if packed is None else (packed.offsets, packed.neighbours))
    parent = cupy.empty(n, np.int32)
    launch(HEADER, "plant", n, vertices, parent)
    launch(HEADER, "hook_first", n, offsets, neighbours, vertices, few, parent)
    launch(HEADER, "flatten", n, vertices, parent)
    giant = -1 if on_device.directed else most_frequent(launch, parent)
    longest = long_rows(launch, offsets, on_device.m, long)
    launch(
        HEADER, "hook_rest", WARP * n, offsets, neighbours, vertices, few, np.int32(giant), longest,
        np.uint64(len(longest)), np.uint64(long), parent,
    )  # fmt: skip
    launch(HEADER, "flatten", n, vertices, parent)
    if packed is None:
        return labels(launch, parent).get()
    return labels_by_lowest(kernels("int"), parent[packed.numbering.numbers]).get()


def shows_odd_cycle(engine, graph):
    """Whether a search shows a cycle of odd length at once: hubs are joined slowly, and found in a few levels."""
    if graph.m < policy.COMPONENTS.searched_degree * graph.n:
        return False
    plan, on_device = CATALOGUE["hopwave-dense"], uploaded(graph)
    with explained("looking for an odd cycle", graph):
        source = int(on_device.rows[1][graph.m // 2])  # the end of an arc: most likely in the largest component
        search = engine.start(engine.load(graph, plan), (source,), SearchJob(predecessors=False))
        engine.run(search, plan, False)
        odd = cupy.zeros(1, np.int32)
        on_device.launch(
            HEADER, "look_within", graph.m, *on_device.rows, np.int32(graph.n), np.uint64(graph.m), search.distance, odd
        )
        engine.fetch(search)
        return bool(odd.get()[0])


def sides(graph):
    """The side of every vertex, int8 on the host; the lowest of a component is on side 0. None if a cycle is odd."""
    with explained("looking for two sides", graph):
        found = _sides(uploaded(graph))
        return None if found is None else found.get()


def _sides(on_device):
    n, launch = on_device.n, on_device.launch
    vertices, nodes = np.int32(n), 2 * n
    rows = (on_device.__dict__.get("arranged") if not on_device.directed else None) or on_device.rows
    parent, found, odd = cupy.empty(nodes, np.int32), cupy.empty(n, np.int8), cupy.zeros(1, np.int32)
    launch(HEADER, "plant", nodes, np.int32(nodes), parent)
    for name, most, count in (
        ("hook_sides_first", n, np.int32(policy.COMPONENTS.sampled_arcs)),
        ("hook_sides", on_device.m, np.uint64(on_device.m)),
    ):
        launch(HEADER, name, most, *rows, vertices, count, parent)
        launch(HEADER, "flatten", nodes, np.int32(nodes), parent)
        launch(HEADER, "write_sides", n, vertices, parent, found, odd)
        if int(odd.get()[0]):  # most graphs with an odd cycle have one among the first arcs
            return None
    return found


def most_frequent(launch, parent):
    """The most frequent root among some vertices at even distances."""
    n = len(parent)
    count = min(policy.COMPONENTS.sampled_vertices, n)
    roots = cupy.empty(count, np.int32)
    launch(HEADER, "sample_roots", count, np.uint64(n), parent, np.uint64(count), roots)
    found, votes = np.unique(roots.get(), return_counts=True)
    return int(found[np.argmax(votes)])


def labels_by_lowest(launch, part):
    """labels of parts that are named by any number below n; overwrites `part`."""
    n, lowest = len(part), cupy.full(len(part), len(part), np.int32)
    launch(LOWEST, "find_lowest", n, np.int32(n), part, lowest)
    launch(LOWEST, "name_by_lowest", n, np.int32(n), lowest, part)
    return labels(launch, part)


def labels(launch, parent):
    """Turn every vertex's root into the number of its tree; overwrites `parent`.

    A root is the lowest vertex of its tree, so numbering the roots in ascending order numbers the components.
    """
    n, tiles = np.uint64(len(parent)), -(-len(parent) // TILE)
    sums, found = cupy.empty(tiles, np.uint64), cupy.empty(len(parent), np.int32)
    launch(HEADER, "count_roots", BLOCK * tiles, n, parent, sums)
    launch(HEADER, "scan_roots", BLOCK, sums, np.uint64(tiles))
    launch(HEADER, "number_roots", BLOCK * tiles, n, sums, parent)
    launch(HEADER, "write_labels", len(parent), n, parent, found)
    return found
