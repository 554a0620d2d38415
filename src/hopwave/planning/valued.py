"""Values at vertices, and how they fade with distance: what a sweep that keeps "values" adds up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

Fading = Literal["exponential", "gaussian", "power"]
NONE, EXPONENTIAL, GAUSSIAN, POWER = range(4)  # as kernels know them
KINDS = dict(zip(get_args(Fading), (EXPONENTIAL, GAUSSIAN, POWER), strict=True))


@dataclass(frozen=True)
class Decay:
    """f(d) by kind: 1, exp(−d / scale), exp(−d² / (2 · scale²)), or max(d, least)^−scale."""

    kind: int = NONE
    scale: float = 1.0
    least: float = 1.0

    def __call__(self, d: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """f of some distances.

        >>> Decay(POWER, 2.0)(np.array([0.0, 2.0])).tolist()
        [1.0, 0.25]
        """
        if self.kind == EXPONENTIAL:
            return np.exp(-d / self.scale)
        if self.kind == GAUSSIAN:
            return np.exp(-0.5 * (d / self.scale) ** 2)
        if self.kind == POWER:
            return np.maximum(d, self.least) ** -self.scale
        return np.ones(len(d))


@dataclass(frozen=True)
class Valued:
    """Σ value · f(d) over the vertices within each limit, for every column of values.

    Limits ascend, and the last is the limit of the sweep.
    """

    columns: npt.NDArray[np.float64]  # columns × vertices
    limits: npt.NDArray[np.float64]
    decay: Decay = Decay()
