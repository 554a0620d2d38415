"""CUDA's errors as sentences, tested without a GPU."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import hopwave as hw
from hopwave import EngineError
from hopwave import linalg as la
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


def test_memory_that_a_sort_of_cupy_does_not_get(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy's sort raises Python's MemoryError, not CuPy's own error."""
    cupy = pytest.importorskip("cupy")
    monkeypatch.setattr(cupy.cuda.runtime, "memGetInfo", lambda: (1 << 20, 1 << 30))
    monkeypatch.setattr(cupy, "get_default_memory_pool", lambda: SimpleNamespace(free_all_blocks=lambda: None))
    said = errors.translated(MemoryError("std::bad_alloc"), "uploading the graph")
    assert said.startswith("the GPU ran out of memory uploading the graph (std::bad_alloc; 1 of 1024 MiB are free)")
    assert errors.translated(MemoryError("Unable to allocate 8 GiB"), "uploading the graph") is None


def test_matrices_and_vectors_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = pytest.importorskip("cupy")

    def full(*_: object) -> None:
        raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0)

    monkeypatch.setattr(cupy, "asarray", full)
    for operand in (la.Matrix.from_graph(hw.generate.path(9)), la.Vector.full(9, 1.0)):
        with pytest.raises(EngineError, match=r"out of memory for an array of .* bytes .*; free arrays of your own"):
            operand.to("cuda")
