"""Products on the CPU."""

from __future__ import annotations

from hopwave.engines import reference_linalg


class Algebra(reference_linalg.Algebra):
    """See hopwave.linalg.engine.Algebra."""

    name = "cpu"
