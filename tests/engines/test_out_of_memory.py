"""What the CUDA engine does where memory runs out. The memory is simulated: no GPU is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")

from cupy.cuda.memory import OutOfMemoryError

from hopwave.engines.cuda.betweenness import batch


class BlockRegime:
    """Stands in for the block regime, which takes what leaves a batch: some sources, then memory runs out once."""

    def __init__(self, fails_after: int) -> None:
        self.left, self.fails = fails_after, True

    def add(self, sources: Any, total: Any) -> Any:
        for source in sources:
            if self.fails and not self.left:
                self.fails = False
                raise OutOfMemoryError(1, 1, 1)
            self.left -= 1
            total[source] += 1.0
        return np.ones((len(sources), 2))


@pytest.mark.parametrize("fails_after", [0, 1, 3])
def test_a_piece_done_again_counts_once(fails_after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "cupy", np)
    monkeypatch.setattr(batch, "State", lambda *given: None)
    regime: Any = object.__new__(batch.Batches)
    regime.loaded = SimpleNamespace(n=8, device=SimpleNamespace(multiprocessors=1))
    regime.job, regime.block_regime = None, BlockRegime(fails_after)
    regime.lanes, regime.at_once, regime.least = 4, 1, 1
    monkeypatch.setattr(batch.Batches, "_search", lambda self, state, ids: None)
    total = np.zeros(8)
    certificate = regime.add(np.arange(8), total)
    assert not regime.block_regime.fails, "memory did run out"
    assert total.tolist() == [1.0] * 8 and (certificate == 1.0).all()
