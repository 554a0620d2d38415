"""Shortcuts of the CPU that are passes over all rows; each is compiled when it is first needed."""

from __future__ import annotations

from hopwave.algebra.matrix import Matrix
from hopwave.arrays import Array
from hopwave.graph.csr import Rows
from hopwave.planning.jobs import LabelRounds


class Passes:
    """See hopwave.engines.Shortcuts."""

    def triangles(self, part: Rows) -> Array | None:
        from hopwave.engines.cpu.linalg.triangles_each import triangles_each

        return triangles_each(part)

    def core_numbers(self, A: Matrix, both: bool) -> Array:
        from hopwave.engines.cpu.linalg.cores import core_numbers

        return core_numbers(A.rows, A.columns if both else None)

    def label_propagation(self, A: Matrix, order: Array) -> LabelRounds:
        from hopwave.engines.cpu.linalg.labels import Labels

        return Labels(A.rows, order)

    def independent_set(self, A: Matrix, seed: int) -> Array:
        from hopwave.engines.cpu.linalg.independent_set import independent_set

        return independent_set(A.rows, seed)

    def lanczos(self, A: Matrix, Q: Array, k: int) -> list[tuple[Array, float]] | None:
        from hopwave.engines.cpu.linalg.lanczos import step

        return [step(A, Q, k)]
