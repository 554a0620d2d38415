"""One call of everything public, each on a graph, matrix or vector of its own, for the fuzzers of faults.

`calls(device)[name]()` is a call with nothing prepared; made again, it uses what its first run has prepared.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import hopwave as hw
import mixed
import public_calls
from hopwave import generate
from hopwave import linalg as la
from hopwave.arrays import on_host
from hopwave.graph.edges import Edges
from mixed import vector

Call = Callable[[], Any]
Fresh = Callable[[], Call]  # a call whose graphs have nothing prepared


def graph_of(function: Callable[..., Any], n: int) -> hw.Graph:
    """A graph of n vertices for which the function has an answer, with nothing prepared."""
    name = function.__name__
    if name == "topological_order":
        u, v = generate.uniform_edges(n, 4, seed=1)
        return hw.Graph.from_edges(np.minimum(u, v)[u != v], np.maximum(u, v)[u != v], n=n, directed=True)
    if "strong" in name or "weak" in name or "degree" in name or name == "condensation":
        return hw.Graph.from_edges(*generate.uniform_edges(n, 4, seed=1), n=n, directed=True)
    return generate.grid(15, n // 15) if name == "bipartite_sides" else generate.delaunay(n, seed=1)


# What some functions need besides: an argument of several that may be left out, or a number that fits the graph.
MORE: dict[str, dict[str, Any]] = {
    "hopwave.eigenvector_centrality": {"max_iter": 1000},
    "hopwave.nearest": {"k": 9},
    "hopwave.validate": {"distances": np.zeros(300, np.int32)},
    "hopwave.linalg.select": {"predicate": la.binary.gt, "thunk": 2.0},
    "hopwave.linalg.algorithms.betweenness": {"sources": [0]},
    "hopwave.linalg.algorithms.eigenvector_centrality": {"max_iter": 1000},
    "hopwave.linalg.algorithms.katz_centrality": {"alpha": 0.01},
    "hopwave.generate.smallworld": {"n": 50, "k": 4},
    "Graph.from_edges": {"src": [0, 1], "dst": [1, 2]},
}


# ---------------------------------------------------------------- functions


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, those of linalg.algorithms included."""
    yield from public_calls.functions()
    for name in la.algorithms.__all__:
        yield f"hopwave.linalg.algorithms.{name}", getattr(la.algorithms, name)


def public(device: str = "cpu", compressed: bool = False, n: int = 300) -> dict[str, Fresh]:
    """One call of every public function; of those with device=, if it is a GPU. KeyError: its arguments are unknown."""

    def fresh(title: str, function: Callable[..., Any]) -> Call:
        options = public_calls.options(function)
        given = public_calls.required(function) | MORE.get(title, {})
        if "communities" in given or "distances" in given:  # as many as there are vertices
            given |= (
                {"communities": np.arange(n) % 2} if "communities" in given else {"distances": np.zeros(n, np.int32)}
            )
        for name in {"G", "graph", "g"} & given.keys():
            given[name] = graph_of(function, n)
            if compressed:
                given[name] = given[name].to(device, compressed=True)
        many = title.endswith("algorithms.betweenness")  # of a larger graph, thousands of allocations
        for name in {"A", "B"} & given.keys():
            given[name] = la.Matrix.from_graph(generate.path(3) if many else generate.delaunay(60, seed=1)).to(device)
        for name in {"x", "u", "v", "w"} & given.keys():
            given[name] = vector(60).to(device)
        if "seed" in options:
            given["seed"] = 1
        if device != "cpu":
            given |= {"device": device} if "device" in options else {}
        return partial(function, **given)

    asked = dict(functions())
    if device != "cpu":
        asked = {
            title: one for title, one in asked.items()
            if "device" in public_calls.options(one) or (title.startswith("hopwave.linalg.") and not compressed)
        }  # fmt: skip
    if compressed:
        asked = {title: one for title, one in asked.items() if "G" in public_calls.required(one)}
    return {f"{title}{', compressed' * compressed}": partial(fresh, title, one) for title, one in asked.items()}


# ---------------------------------------------------------------- methods


def methods(device: str) -> dict[str, Fresh]:
    """One call of every public method and property of a graph, a matrix and a vector that lie on the device."""
    u, v = generate.uniform_edges(300, 4, seed=1)
    lengths = 1.0 + np.arange(len(u)) % 7

    def there(array: Any) -> Any:
        if device == "cpu":
            return array
        import cupy

        return cupy.asarray(array)

    tails, heads, given_lengths, numbers, thirds = map(
        there, (u, v, lengths, np.arange(300.0), np.arange(300) % 3 == 0)
    )
    places, ones = there(np.arange(9)), there(np.ones(9))

    def graph() -> hw.Graph:
        return hw.Graph.from_edges(tails, heads, n=300, directed=True, weights=given_lengths, combine="min")

    def matrix() -> la.Matrix:
        return la.Matrix.from_graph(graph()).to(device)

    def dense() -> la.Vector:
        return la.Vector.from_dense(numbers, thirds)

    G, x = graph(), vector(300)
    given: dict[str, dict[str, Any]] = {
        "Graph": {
            "vertex": 7, "vertices": range(0, 300, 2), "labels": [f"v{i}" for i in range(300)], "combine": "max",
            "weights": np.ones(G.m), "device": "cpu" if device == "cuda" else device,
        },
        "Matrix": {"dtype": "float32", "device": "cpu"},
        "Vector": {"dtype": "float32", "device": "cpu", "other": x.to(device), "to": None},
    }  # fmt: skip
    makers: dict[str, tuple[Callable[[], Any], type]] = {
        "Graph": (graph, hw.Graph),
        "Matrix": (matrix, la.Matrix), "Matrix, turned": (lambda: matrix().T, la.Matrix),
        "Vector": (lambda: vector(300).to(device), la.Vector), "Vector, dense": (dense, la.Vector),
    }  # fmt: skip
    found: dict[str, Fresh] = {}
    for title, (make, kind) in makers.items():
        for name in dir(kind):
            static = inspect.getattr_static(kind, name)
            if name.startswith("_") or name == "prepared" or (name == "to_igraph" and find_spec("igraph") is None):
                continue
            if isinstance(static, property | cached_property):
                found[f"{title}.{name}"] = partial(lambda make, name: partial(getattr, make(), name), make, name)
            elif inspect.isfunction(static):
                known, options = given[kind.__name__], public_calls.options(static)
                needed = [p.name for p in options.values() if p.default is p.empty and p.name != "self"]
                more = {name: known[name] for name in {*needed, *({"combine", "to"} & options.keys())}}
                found[f"{title}.{name}"] = partial(
                    lambda make, name, more: partial(getattr(make(), name), **more), make, name, more
                )
    made: dict[str, Call] = {
        "Graph.from_edges, here": graph,
        "Graph.from_csr, here": partial(hw.Graph.from_csr, *map(there, (G.indptr, G.indices)), True),
        "Graph.from_scipy": partial(hw.Graph.from_scipy, G.to("cpu").to_scipy()),
        "Graph.from_networkx": partial(hw.Graph.from_networkx, G.to("cpu").to_networkx()),
        "Graph.to cuda": lambda: hw.Graph.from_edges(u, v).to(device),
        "Matrix.from_graph": matrix,
        "Matrix.from_scipy": partial(la.Matrix.from_scipy, matrix().to_scipy()),
        "Matrix.from_edges": partial(la.Matrix.from_edges, u, v, lengths),
        "Matrix.from_dense": partial(la.Matrix.from_dense, np.eye(30)),
        "Matrix.to": lambda: la.Matrix.from_dense(np.eye(30)).to(device),
        "Vector.from_entries": partial(la.Vector.from_entries, places, ones, 20),
        "Vector.from_dense": dense,
        "Vector.full": partial(la.Vector.full, 9, 2.0, device=device),
        "Vector[]": lambda: (vector(300).to(device)[3], dense()[3]),
    }
    return found | {name: partial(lambda call: call, call) for name, call in made.items()}


# ---------------------------------------------------------------- all


def others(device: str) -> dict[str, Fresh]:
    """The questions of mixed.py, and graphs of which betweenness takes chains of vertices out."""
    G = mixed.graph()
    path = np.column_stack([np.zeros((9, 1), int), 2 + np.arange(9 * 12).reshape(9, 12), np.ones((9, 1), int)])
    u, v = path[:, :-1].ravel(), path[:, 1:].ravel()

    def chains(function: Callable[..., Any], **how: Any) -> Call:
        return partial(function, hw.Graph.from_edges(u, v, weights=1.0 + (u + v) % 7), device=device, **how)

    asked = {
        name: partial(lambda name: partial(mixed.QUESTIONS[name], mixed.fresh(G), device), name)
        for name in mixed.QUESTIONS
    }
    return asked | {
        "chains": partial(chains, hw.betweenness_centrality, weights=False),
        "chains, lengths": partial(chains, hw.betweenness_centrality, weights=True),
        "chains, edges": partial(chains, hw.edge_betweenness_centrality, weights=False),
        "demand": partial(chains, hw.betweenness_centrality, weights=False, source_weights=np.arange(110) % 4 / 4),
        "the highest": partial(chains, hw.harmonic_centrality, weights=False, top=5),
        "sampled sources": partial(
            chains, hw.betweenness_centrality, weights=False, epsilon=0.1, method="sources", seed=1
        ),
    }


FORMATS = ("txt", "csv", "mtx", "npz", "graph", "gr", "gml", "graphml", "net", "txt.gz", "sg")


def files(folder: Path) -> dict[str, Fresh]:
    """Files of every kind, written over an old one and read, and runs that save."""
    old, new = generate.path(40), generate.grid(6, 6)
    found: dict[str, Fresh] = {}
    for extension in FORMATS:
        path = folder / f"graph.{extension}"

        def write(path: Path = path) -> Any:
            hw.write(path, new)
            return path.read_bytes()

        def fresh(path: Path = path, write: Call = write) -> Call:
            hw.write(path, old)
            return write

        found[f"write {extension}"] = fresh
        read = folder / f"read.{extension}"
        hw.write(read, new)
        found[f"read {extension}"] = lambda read=read: partial(hw.read, read, directed=False, progress=False)

    def asked(read: str = "scores", **how: Any) -> Fresh:
        def run(G: hw.Graph) -> Any:
            result = hw.betweenness_centrality(G, device="cpu", progress=False, **how)
            with suppress(OSError, KeyError):
                how["checkpoint"].unlink(missing_ok=True)
            return getattr(result, read)

        return lambda: partial(run, generate.delaunay(200, seed=1))

    return found | {
        "a saved run": asked(checkpoint=folder / "exact.npz"),
        "a saved sample": asked(checkpoint=folder / "sample.npz", epsilon=0.1, method="paths", seed=1),
        "an executor": asked(executor=ThreadPoolExecutor(2)),
        "bounds": asked("bounds", k=30, seed=1),
    }


def calls(device: str = "cpu", n: int = 300) -> dict[str, Fresh]:
    """Every call by name; functions are asked about graphs of n vertices."""
    packed = public(device, True, n) if device == "cuda" else {}
    return public(device, n=n) | packed | methods(device) | others(device)


# ---------------------------------------------------------------- answers


OF_OTHERS: dict[str, Callable[[Any], Any]] = {  # module → what one of its graphs or matrices holds
    "networkx": lambda g: list(g.edges(data="weight")),
    "igraph": lambda g: (g.get_edgelist(), g.es["weight"]),
    "scipy": lambda A: (A.indptr, A.indices, A.data),
    "cupyx": lambda A: (A.indptr, A.indices, A.data),
}


def plain(found: Any) -> Any:
    """An answer as something that can be compared to the last bit."""
    if isinstance(found, bytes):
        return found
    if hasattr(found, "__cuda_array_interface__"):
        found = on_host(found)
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.shape, found.tobytes()
    if isinstance(found, hw.Graph):
        return plain((found.indptr, found.indices, found.weights, found.directed))
    if isinstance(found, la.Vector):
        return plain((found.indices, found.values))
    if isinstance(found, la.Matrix):
        return plain((found.rows.indptr, found.rows.indices, found.stored_values()))
    if isinstance(found, Edges):
        return plain((found.source, found.target, found.weights))
    for module, arrays in OF_OTHERS.items():
        if type(found).__module__.startswith(module):
            return plain(arrays(found))
    if isinstance(found, hw.MemoryEstimate):
        return found.bytes, found.parts  # the free memory changes
    if isinstance(found, dict):
        return plain(list(found.items()))
    if isinstance(found, tuple | list) or hasattr(found, "__next__"):
        return [plain(one) for one in found]
    for name in ("scores", "distances", "labels", "counts", "hubs", "sizes", "pairs", "sums", "name", "values"):
        if hasattr(found, name):
            return plain(getattr(found, name))
    return repr(found)


def close(found: Any, right: Any) -> bool:
    """Whether two plain answers are the same up to rounding: a GPU adds up floats in another order each time."""
    if found == right:
        return True
    if isinstance(found, list) and isinstance(right, list):
        return len(found) == len(right) and all(map(close, found, right))
    if isinstance(found, tuple) and isinstance(right, tuple) and found[:2] == right[:2] and "f" in str(found[0]):
        off = 1e-5 if found[0] == "<f4" else 1e-9
        return np.allclose(*(np.frombuffer(one[2], found[0]) for one in (found, right)), off, 1e-12, equal_nan=True)
    with suppress(TypeError, ValueError):
        return math.isclose(float(found), float(right), rel_tol=1e-9, abs_tol=1e-12)
    return False
