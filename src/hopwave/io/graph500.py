"""Graph500 edge lists: binary pairs without a header. An edge is two int64, or packed into 12 bytes.

A packed edge is three little-endian uint32: the low 32 bits of both ends, then the next 16 bits of each in one word.
The weights of Graph500's second kernel, one float32 per edge, are in a file of the same name with `.weights` behind it.
The size of the file and the numbers in it tell the two apart; if they do not, `packed=` must say which it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.io.format import Format, Request, Target, require_last_vertex
from hopwave.io.source import BLOCK, Source


def read(source: Source, request: Request, *, packed: bool | None = None) -> Graph:
    """Read a Graph500 edge list, undirected by default; n is the largest id plus one, or `n=`."""
    with source.open() as stream:
        data = b"".join(iter(lambda: source.take(stream, BLOCK), b""))
    if not data:
        raise source.fail("empty; expected edges of 12 or 16 bytes")
    if packed is None:
        packed = _is_packed(source, data)
    size = 12 if packed else 16
    if len(data) % size:
        raise source.fail(f"{len(data):,} bytes; expected a multiple of {size}, the bytes of one edge: truncated?")
    u, v = columns_of(data, packed)
    for ends in (u, v):
        bad = (ends < 0) | (ends >= LARGEST_VERTEX_COUNT)
        if bad.any():
            at = int(bad.argmax())
            message = f"edge {at} has the end {ends[at]}; expected ids from 0 to {LARGEST_VERTEX_COUNT - 1}"
            raise source.fail(f"{message} (packed={not packed} reads it as the other kind)")
    n = max(int(u.max()), int(v.max())) + 1
    weights = _weights(source, len(u)) if request.weights else None
    return request.graph(source, u, v, request.vertices(source, n), directed=None, weights=weights)


def _weights(source: Source, edges: int) -> npt.NDArray[np.float32] | None:
    """The weights in the file beside the list, None if there is none."""
    path = source.path.with_name(source.path.name + ".weights")
    if not path.exists():
        return None
    beside = Source(path, source.meter)
    with beside.open() as stream:
        weights = np.frombuffer(beside.exactly(stream, 4 * edges, f"weights of {edges} edges"), "<f4")
        if beside.take(stream, 1):
            raise beside.fail(f"continues after {edges} weights; expected one float32 per edge of {source.path.name}")
    return weights.astype(np.float32)


def _is_packed(source: Source, data: bytes) -> bool:
    fits = {True: len(data) % 12 == 0, False: len(data) % 16 == 0}
    if not any(fits.values()):
        raise source.fail(
            f"{len(data):,} bytes; expected a multiple of 12 (packed edges) or 16 (pairs of int64): truncated?"
        )
    plausible = [
        packed
        for packed, fit in fits.items()
        if fit and all(((ends >= 0) & (ends < LARGEST_VERTEX_COUNT)).all() for ends in columns_of(data, packed))
    ]
    if len(plausible) > 1:
        raise source.fail(
            "fits packed edges and pairs of int64 equally; expected only one: say packed=True or packed=False"
        )
    # If neither gives usable ids, the check in `read` reports the first bad one.
    return plausible[0] if plausible else fits[True]


def columns_of(data: bytes, packed: bool) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The two ends of every edge, as two arrays."""
    return _unpacked(data) if packed else _pairs(data)


def _pairs(data: bytes) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    edges = np.frombuffer(data, "<i8").reshape(-1, 2)
    return edges[:, 0], edges[:, 1]


def _unpacked(data: bytes) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    words = np.frombuffer(data, "<u4").reshape(-1, 3)
    high = words[:, 2].astype(np.int64)
    return words[:, 0] | (high & 0xFFFF) << 32, words[:, 1] | (high >> 16) << 32


def write(target: Target, graph: Graph, *, packed: bool = False, isolated: bool = True) -> None:
    """Write edges as pairs of int64, or packed; `isolated=False` drops last vertices without an edge."""
    require_last_vertex(target, graph, isolated)
    u, v = graph.to_edges()
    if packed:
        edges = np.column_stack([u, v, np.zeros_like(u)]).astype("<u4")
    else:
        edges = np.column_stack([u, v]).astype("<i8")
    if len(v):  # An edge that does not end at 0 comes first: read as the other kind, its ids would be too large.
        first = int((v != 0).argmax())  # Arcs that all end at 0 begin elsewhere, which tells as much.
        edges[[0, first]] = edges[[first, 0]]
    target.stream.write(edges.tobytes())


FORMAT = Format(
    name="graph500",
    title="Graph500 edge list",
    extensions=(".graph500", ".g500", ".bin"),
    holds_labels=False,
    holds_weights=False,
    directedness="not in the file; undirected",
    read=read,
    write=write,
    content_decides=True,
)
