"""The example of masked products in a sparse neural network, run unchanged."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest


def test_masked_inference_reads_less_and_gives_the_same(root: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    ran = runpy.run_path(str(root / "docs" / "gallery" / "sparse_network.py"))
    assert np.allclose(ran["found"], ran["right"], rtol=1e-9) and np.count_nonzero(ran["right"]) > 10
    assert 0 < ran["reads"] < ran["all_reads"] / 5
    assert [part.nnz for part in ran["needed"]][-1] == len(ran["wanted"])
    outside = np.setdiff1d(np.arange(ran["NEURONS"]), ran["wanted"])
    assert ran["some"].to_scipy().toarray()[:, outside].sum() == 0
