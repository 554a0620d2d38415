"""The specification: a search in SciPy products, short enough to read first.

    A   adjacency matrix, A[u, v] = 1 for an arc u → v       q   frontier, a sorted list of vertices
    d   distances, -1 = not visited                          p   predecessors
    σ   path counts, kept as mantissa · 2^exponent, so that no graph overflows them

A push takes the rows of A that the frontier names; a pull takes the rows of Aᵀ that the mask names, and keeps the
columns that are in the operand. Both end with the same list of arcs (u, v) into the next level, and the answer is read
off that list. Early exit and thread mappings change how fast that list is found, never what is in it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from hopwave.arrays import ScaledCounts
from hopwave.errors import EngineError
from hopwave.jobs import Question
from hopwave.plan import Pull
from hopwave.trace import Level


@dataclass
class Search:
    A: object  # CSR by out-arcs
    AT: object  # CSR by in-arcs
    question: Question
    d: np.ndarray
    p: np.ndarray
    mantissa: np.ndarray
    exponent: np.ndarray
    q: np.ndarray
    mu: int
    depth: int = 0

    @property
    def nf(self):
        return len(self.q)

    @property
    def mf(self):
        return int(self.A.indptr[self.q + 1].sum() - self.A.indptr[self.q].sum())


class Engine:
    name = "reference"

    def missing(self):
        return None

    def load(self, graph, plan):
        return graph.to_scipy(np.float64), graph.reversed().to_scipy(np.float64)

    def why_not(self, plan, job):
        if isinstance(job, Question):
            return plan.why_not(job)
        return "the reference engine searches only; use device='cpu' for betweenness"

    def why_not_operation(self, operation, graph):
        return "device='reference' answers one search at a time; use device='cpu' or 'auto'"

    def without(self, plan):
        return ("thread mappings", "early exit", "look ahead", "neighbour order")

    def start(self, loaded, sources, question, threads=None):
        if threads is not None:
            raise EngineError(f"threads={threads!r} is for device='cpu'; the reference engine runs on one")
        A, AT = loaded
        n = A.shape[0]
        q = np.unique(np.array(sources, np.int64))
        d, p = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        mantissa, exponent = np.zeros(n), np.zeros(n, np.int64)
        d[q], p[q] = 0, q
        mantissa[q], exponent[q] = 0.5, 1
        search = Search(A, AT, question, d, p, mantissa, exponent, q, 0)
        search.mu = A.nnz - search.mf
        return search

    def advance(self, search, step, choice):
        began, sizes = time.perf_counter(), (search.nf, search.mf, search.mu)
        unvisited = search.d < 0
        if isinstance(step, Pull):
            # q⟨¬v⟩ = Aᵀ q by rows: masked before the product, or (rows = "all") after it.
            rows = np.arange(len(unvisited)) if step.rows == "all" else np.flatnonzero(unvisited)
            operand = (~unvisited) if step.operand == "visited" else (search.d == search.depth)
            arcs = search.AT[rows].tocoo()
            v, u = rows[arcs.row], arcs.col
            keep = operand[u] & unvisited[v]
        else:
            # q⟨¬v⟩ = q A by columns: the mask can only be applied to what came out.
            arcs = search.A[search.q].tocoo()
            u, v = search.q[arcs.row], arcs.col
            keep = unvisited[v]
        checked = len(u)
        u, v = u[keep], v[keep]
        search.depth += 1
        search.q = np.unique(v)
        search.d[search.q] = search.depth
        search.p[v] = u  # any writer will do: each is a valid parent
        self._count(search, u, v)
        search.mu -= search.mf
        return Level(search.depth, choice, str(step), *sizes, len(search.q), checked, time.perf_counter() - began)

    @staticmethod
    def _count(search, u, v):
        """σ[v] = Σ σ[u]: terms are brought to the greatest exponent among v's own before they are added."""
        if not search.question.path_counts or not len(v):
            return
        search.exponent[search.q] = np.iinfo(np.int64).min
        np.maximum.at(search.exponent, v, search.exponent[u])
        shift = np.maximum(search.exponent[u] - search.exponent[v], -2000)
        np.add.at(search.mantissa, v, np.ldexp(search.mantissa[u], shift))
        search.mantissa[search.q], carried = np.frexp(search.mantissa[search.q])
        search.exponent[search.q] += carried

    def run(self, search, plan, trace):
        return None  # the loop is algorithms/bfs.py, as for every engine that has none of its own

    def fetch(self, search):
        asked = search.question
        return {
            "distances": search.d,
            "predecessors": search.p if asked.predecessors else None,
            "path_counts": ScaledCounts.plain(search.mantissa, search.exponent) if asked.path_counts else None,
            "depth": int(search.d.max(initial=0)),
            "reached": int(np.count_nonzero(search.d >= 0)),
        }
