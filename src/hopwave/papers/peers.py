"""Other programs that the papers compare with, where they are installed: SuiteSparse:GraphBLAS."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

import numpy as np

from hopwave.graph import Graph
from hopwave.papers.lab import Lab, WrongAnswer
from hopwave.papers.records import Row

ELSEWHERE = "another program, which hopwave does not bring"


def claimed(claims: Mapping[str, tuple[float, float]], ours: Mapping[str, tuple[float | None, str]]) -> list[Row]:
    """A row for each claim of a paper: its number, that of its own tables, and ours where we have the other program."""
    rows: list[Row] = []
    for claim, (paper, own) in claims.items():
        value, remark = ours.get(claim, (None, ELSEWHERE))
        rows.append({"claim": claim, "ours": value, "paper": paper, "paper's tables": own, "remark": remark})
    return rows


def missing() -> str:
    """Why SuiteSparse:GraphBLAS cannot be compared with; "" if it can."""
    if importlib.util.find_spec("graphblas") is not None:
        return ""
    return "SuiteSparse:GraphBLAS is not installed; run: pip install python-graphblas"


def suitesparse_ms(lab: Lab, graph: Graph, source: int, right: Any) -> float | None:
    """Milliseconds of a search by python-graphblas on this machine's CPU, as its documentation writes it; or None.

    Its distances must be `right`. It changes the direction by itself.
    """
    if missing():
        return None
    from graphblas import Matrix, Vector, semiring  # type: ignore[import-untyped]

    graph = graph.to("cpu")
    A = Matrix.ss.import_csr(
        nrows=graph.n, ncols=graph.n, indptr=graph.indptr.astype(np.uint64),
        col_indices=graph.indices.astype(np.uint64), values=np.array([True]), is_iso=True, sorted_cols=True,
    )  # fmt: skip
    A.wait()

    def search() -> Any:
        level, frontier, depth = Vector("INT32", graph.n), Vector(bool, graph.n), 0
        frontier[source] = True
        while frontier.nvals:
            level(frontier.S)[:] << depth
            frontier(~level.S, replace=True) << frontier.vxm(A, semiring.any_pair[bool])
            depth += 1
        return level

    if not np.array_equal(search().to_dense(-1), right):
        raise WrongAnswer("SuiteSparse:GraphBLAS finds other distances; please report this")
    return lab.mean_ms(search)
