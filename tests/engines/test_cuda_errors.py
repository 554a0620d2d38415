"""Errors of CUDA as sentences, where no GPU is needed to see them."""

from __future__ import annotations

import pytest

from hopwave.engines.cuda import errors


@pytest.mark.parametrize("forked", [True, False])
def test_a_forked_process_is_told_so(forked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = pytest.importorskip("cupy").cuda.runtime
    monkeypatch.setattr(errors, "_imported_by", errors._imported_by + forked)
    monkeypatch.setattr("hopwave.engines.cuda.launch.forget", lambda: None)
    said = errors.translated(runtime.CUDARuntimeError(errors.NOT_INITIALIZED), "uploading the graph")
    assert ("forked from one that had started CUDA" in said) == forked
    assert "use device='cpu'" in said or "go on with device='cpu'" in said
    assert "initialization error" in said.replace("cudaErrorInitializationError", "initialization error")
