"""Operations of linalg under compute-sanitizer (parts.py): power iterations, waves, products, assignments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np

import hopwave as hw
from benchmarks.sanitize.graphs import repeated, repeats, same, traps
from hopwave import linalg as la
from hopwave.linalg import algorithms

Part = Callable[[], Iterator[str]]


def power(*names: str) -> Part:
    """Power iterations of these names."""

    def part() -> Iterator[str]:
        for where, graph in traps().items():
            yield from repeated({name: compute for name, compute in powers(graph).items() if name in names}, where)

    return part


def powers(graph: hw.Graph) -> dict[str, Callable[[], Any]]:
    """Every power iteration, with few steps."""
    W, A = la.Matrix.from_graph(graph, 1.0 + np.arange(graph.m) % 7), la.Matrix.from_graph(graph)
    own, near = 1.0 + np.arange(graph.n) % 3, (0.05 if repeats[0] > 1 else 0.4) / graph.n
    rough = 10 * near if repeats[0] > 1 else 0.5 * graph.n**-0.5  # under a tool, a few rounds
    start: dict[str, Any] = {"max_iter": 5000, "tol": rough, "nstart": own, "device": "cuda"}
    return {
        "pagerank": lambda: algorithms.pagerank(A, tol=near, device="cuda"),
        "own pagerank": lambda: algorithms.pagerank(W, 0.7, own, own[::-1], own, tol=near, device="cuda"),
        "eigenvector": lambda: algorithms.eigenvector_centrality(A, **start),
        "weighted eigenvector": lambda: algorithms.eigenvector_centrality(W, **start),
        "katz": lambda: algorithms.katz_centrality(W, 1e-4, own, device="cuda"),
        "hits": lambda: algorithms.hits(A, tol=rough, device="cuda")[0],
        "pagerank in float32": lambda: narrow(la.Matrix.from_graph(graph), max(near, 1e-6)),
    }


def narrow(A: Any, tol: float) -> Any:
    """PageRank that reads ranks in float32, as on large matrices."""
    from hopwave.engines.cuda.linalg import power as rounds

    with patch.object(rounds, "POWER", replace(rounds.POWER, short_row=0, hot_arcs=0)):
        return algorithms.pagerank(A, tol=tol, device="cuda")


def waves(*names: str) -> Part:
    """The named sequences of masked products, each in one launch."""

    def part() -> Iterator[str]:
        for where, graph in traps().items():
            yield from repeated({name: compute for name, compute in sequences(graph).items() if name in names}, where)

    return part


def sequences(graph: hw.Graph) -> dict[str, Callable[[], Any]]:
    """Every kind of sequence of masked products."""
    A, n = la.Matrix.from_graph(graph), graph.n
    ends = la.Vector.from_entries([0, n - 1] if n > 1 else [0], True, n).astype("int64")

    def hops(semiring: Any, **how: Any) -> Any:
        levels, values = la.waves(ends, A, semiring, device="cuda", **how)
        return levels if semiring.any_term else la.ewise_add(levels.astype("int64"), values, la.binary.times)

    return {
        "bfs": lambda: la.bfs(A, 0, device="cuda"),
        "any": lambda: hops(la.semiring.any_pair),
        "pushed": lambda: hops(la.semiring.any_secondi, direction="push"),
        "pulled": lambda: hops(la.semiring.any_first, direction="pull"),
        "some": lambda: hops(la.semiring.any_first, depth_limit=2),
        "path counts": lambda: hops(la.semiring.plus_first, depth_limit=20),
    }


def products(ring: str) -> Part:
    """Single products over a semiring, in both directions, with masks."""

    def part() -> Iterator[str]:
        for where, graph in traps().items():
            n = graph.n
            W = la.Matrix.from_graph(graph, 1 + np.arange(graph.m) % 7)
            x = la.Vector.from_dense(np.arange(n) % 9, np.arange(n) % 3 == 0)
            mask = la.Vector.from_entries([0, n - 1] if n > 1 else [0], True, n)
            for given in ({}, {"mask": mask}, {"mask": mask, "complement": True}):
                right = la.mxv(W, x, la.semiring[ring], device="reference", **given).to_dense(-1)
                for direction in ("push", "pull"):
                    y = la.mxv(W, x, la.semiring[ring], direction=direction, device="cuda", **given)
                    if not same(y.to("cpu").to_dense(-1), right):
                        yield f"{ring} by {direction} on {where}"

    return part


def made_of_products() -> Iterator[str]:
    """Algorithms made of products."""
    for where, graph in traps().items():
        if graph.directed:
            continue
        A = la.Matrix.from_graph(graph)
        yield from repeated(
            {
                "triangles": lambda A=A: algorithms.triangles(A, device="cuda"),
                "components": lambda A=A: algorithms.connected_components(A, device="cuda"),
            },
            where,
        )


def matrices() -> Iterator[str]:
    """Products of matrices by dots and by all terms, with long rows; assignments with repeated places."""
    for where, graph in traps().items():
        W, ones = la.Matrix.from_graph(graph, 1.0 + np.arange(graph.m) % 7), np.ones((2, graph.n))
        ends, corners = la.Matrix.from_dense(ones), la.Matrix.from_dense(np.ones((2, 2)))
        pattern = (W.to_scipy() > 0).toarray() if graph.n < 300 else None
        if pattern is not None:
            square = (W.to_scipy() @ W.to_scipy()).toarray()
            if not same(la.mxm(W, W, direction="push", device="cuda").to("cpu").to_dense(), square):
                yield f"all terms of {where}"
            if not same(la.mxm(W, W, mask=W, direction="pull", device="cuda").to("cpu").to_dense(), square * pattern):
                yield f"dots of {where}"
            if la.mxm(ends.T, ends, direction="push", device="cuda").nnz != graph.n**2:
                yield f"long rows of {where}"
        found = la.mxm(ends, ends.T, mask=corners, direction="pull", device="cuda").to("cpu").to_dense()
        if not same(found, ones @ ones.T):
            yield f"long dots of {where}"
        for accum in (la.binary.plus, la.binary.minus):
            w = la.assign(la.Vector.full(graph.n, 9.0), la.Vector.full(5, 2.0), [0] * 5, accum=accum, device="cuda")
            if w.to("cpu")[0] != (19.0 if accum is la.binary.plus else -1.0):
                yield f"repeated places with {accum}"


def long_row_and_function() -> Iterator[str]:
    """A product by all terms with a row that is cut into pieces; and a function applied to each value."""
    two, row = la.Matrix.from_dense(np.array([[2.0]])), la.Matrix.from_dense(np.ones((1, 1300)))
    if la.mxm(two, row, direction="push", device="cuda").nnz != 1300:
        yield "a long row"
    if la.apply(la.Vector.full(70, 4.0), la.unary.sqrt, device="cuda").to("cpu").to_dense().sum() != 140:
        yield "square roots"
