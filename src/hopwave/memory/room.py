"""Whether a question fits: its peak (on_cpu, on_cuda) beside what is free. The one place that compares them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from hopwave.engines.host_memory import available_memory
from hopwave.errors import too_large
from hopwave.graph import Graph
from hopwave.memory.ledger import Ask, Ledger, Shape

MIN_ARCS_TO_ASK = 1 << 27  # below, no GPU of today is too small, and asking takes as long as a small search


def account(ask: Ask, shape: Shape, device: str, gpu: bool) -> tuple[Ledger, int | None]:
    """The arrays of a question on that device, and the bytes that are free there; `gpu`: whether there is one."""
    model = importlib.import_module(f"hopwave.memory.on_{device}")
    if device == "cpu":
        return model.needs(shape, ask), available_memory()
    if not gpu:
        return model.needs(shape, ask), None
    free = free_on_gpu()
    machine = importlib.import_module("hopwave.engines.cuda.betweenness.run").machine()
    return model.needs(shape, ask, machine, free), free


def free_on_gpu() -> int:
    """Bytes that a run may take on the current GPU."""
    found: int = importlib.import_module("hopwave.engines.cuda.memory").free_memory()
    return found


def why_not_on_gpu(graph: Graph) -> str | None:
    """None, or why the GPU cannot even search this graph; graphs that are there already are not asked about."""
    if graph.m < MIN_ARCS_TO_ASK or graph.device == "cuda" or _is_there(graph):
        return None
    from hopwave.memory import on_cuda

    shape = Shape(graph.n, graph.m, graph.directed, graph.indptr.dtype.itemsize)
    needed, free = on_cuda.needs(shape, Ask("bfs")).peak, free_on_gpu()
    if needed <= free:
        return None
    return str(
        too_large("a search of this graph on the GPU", needed, free, "use device='cpu', or split it over MPI ranks")
    )


def _is_there(graph: Graph) -> bool:
    uploaded: Any = sys.modules.get("hopwave.engines.cuda.graph")
    return uploaded is not None and graph._prepared.find(uploaded.CudaGraph) is not None
