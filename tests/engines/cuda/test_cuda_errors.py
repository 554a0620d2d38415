"""CUDA's errors as sentences, tested without a GPU."""

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import EngineError, datasets, generate
from hopwave import linalg as la
from hopwave.arrays import Deferred
from hopwave.checks.keywords import suggesting
from hopwave.engines.cuda import errors
from hopwave.graph.csr import Rows
from hopwave.results.scores import VertexScores
from public_calls import functions, options, required


@pytest.mark.parametrize("forked", [True, False])
def test_a_forked_process_is_told_so(forked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = pytest.importorskip("cupy").cuda.runtime
    monkeypatch.setattr(errors, "_imported_by", errors._imported_by + forked)
    monkeypatch.setattr("hopwave.engines.cuda.launch.forget", lambda: None)
    said = errors.translated(runtime.CUDARuntimeError(errors.NOT_INITIALIZED), "uploading the graph")
    assert ("forked from one that had started CUDA" in said) == forked
    assert "use device='cpu'" in said or "continue with device='cpu'" in said
    assert "initialization error" in said.replace("cudaErrorInitializationError", "initialization error")


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """CuPy, on a GPU with 1 of 1024 MiB free."""
    module = pytest.importorskip("cupy")
    monkeypatch.setattr(module.cuda.runtime, "memGetInfo", lambda: (1 << 20, 1 << 30))
    monkeypatch.setattr(module, "get_default_memory_pool", lambda: SimpleNamespace(free_all_blocks=lambda: None))
    return module


@pytest.mark.usefixtures("cupy")
def test_memory_that_a_sort_of_cupy_does_not_get() -> None:
    """CuPy's sort raises Python's MemoryError, not CuPy's own error."""
    said = errors.translated(MemoryError("std::bad_alloc"), "uploading the graph")
    assert said.startswith("the GPU ran out of memory uploading the graph (std::bad_alloc; 1 of 1024 MiB are free)")
    assert errors.translated(MemoryError("Unable to allocate 8 GiB"), "uploading the graph") is None


def test_every_public_function_explains_errors_of_a_gpu() -> None:
    """Linear algebra and what is around it call CuPy outside of the engine too."""
    made = suggesting(len).__code__
    quick = {  # their parts that compute have their own test below
        *("Matrix.from_rows", "Matrix.is_ascending", "Matrix.checked", "Matrix.to", "Vector.sparse", "Vector.dense"),
        *("Vector.count_if_known", "Vector.entries", "Vector.listed", "Vector.arrays"),
        *("Vector.replace", "Vector.to"),
    }
    public = {
        f"{where.__name__}.{name}": getattr(where, name)
        for where, names in (
            *((module, module.__all__) for module in (hw, la, la.algorithms, generate, datasets)),
            *((kind, [name for name in dir(kind) if name[0] != "_"]) for kind in (hw.Graph, la.Matrix, la.Vector)),
        )
        for name in names
        if inspect.isfunction(getattr(where, name)) or inspect.ismethod(getattr(where, name))
    }
    others = {name for name, one in public.items() if getattr(one, "__func__", one).__code__ is not made}
    assert others - quick == {"Graph.index", "Graph.label"}, "they read labels, which are on the host"
    assert quick < others


def test_memory_that_runs_out_outside_of_the_engine(cupy: Any) -> None:
    class Full:
        """A graph or matrix of a GPU without memory for anything that is computed from it."""

        def __getattr__(self, name: str) -> Any:
            raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0)

    algorithms = [(name, getattr(la.algorithms, name)) for name in la.algorithms.__all__]
    asked = [one for _, one in (*functions(), *algorithms) if next(iter(options(one)), "") in ("G", "A")]
    assert {hw.clustering, hw.core_numbers, hw.label_propagation, la.algorithms.label_propagation} < set(asked)
    for function in asked:
        given = required(function) | {next(iter(options(function))): Full()}
        with pytest.raises(EngineError, match=r"the GPU ran out of memory in \w+ \(.*; free arrays of your own, "):
            function(**given)


@pytest.mark.parametrize("error", ["memory", "launch", "sort", "compiler"])
def test_a_result_that_cannot_be_fetched(error: str, cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it again succeeds."""
    from hopwave.engines.cuda import launch, nvrtc

    monkeypatch.setattr(cupy.cuda.runtime, "deviceSynchronize", lambda: None)
    assert launch.BLOCK, "the engine is loaded"
    faults = [
        {
            "memory": lambda: cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0),
            "launch": lambda: cupy.cuda.runtime.CUDARuntimeError(701),
            "sort": lambda: MemoryError("std::bad_alloc"),
            "compiler": lambda: nvrtc.CompilingFailed("linalg/labels.cuh for sm_90"),
        }[error]()
    ]

    def fetch() -> Any:
        if faults:
            raise faults.pop()
        return [0.5]

    scores: Any = VertexScores("core numbers", Deferred(fetch), [0], generate.path(1))  # type: ignore[arg-type]
    with pytest.raises(EngineError, match=r"fetching scores \(.*; .* use device='cpu'"):
        _ = scores.scores
    assert scores.scores == [0.5]


def test_other_errors_stay_as_they_are() -> None:
    for error in (KeyError("a"), hw.GraphError("no")):

        def fails(error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)) as caught:
            suggesting(fails)()
        assert caught.value is error and error.__cause__ is None


def test_properties_and_quick_methods_that_compute(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every product calls these methods, so only what they compute explains errors, and not the call."""

    class There:
        """An array of a GPU without memory for anything that is computed from it."""

        dtype = np.dtype(np.int32)
        __cuda_array_interface__ = property(lambda self: self.full())
        get = __getitem__ = __eq__ = property(lambda self: self.full())  # type: ignore[assignment]

        def full(self, *_: object, **__: object) -> Any:
            raise cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0)

        def __len__(self) -> int:
            return 3

    there: Any = There()
    for name in ("count_nonzero", "flatnonzero", "argsort", "zeros", "repeat", "searchsorted"):
        monkeypatch.setattr(cupy, name, there.full)
    dense, listed = la.Vector.dense(there, there), la.Vector.sparse(3, there, there, ascending=False)
    rows = Rows(there, there, None)
    A, G = la.Matrix.from_rows(rows, (2, 2)), hw.Graph.__new__(hw.Graph)
    G._set(None, rows, False, None, "cuda")
    for compute in (
        *(lambda: dense.nnz, dense._decide, lambda: dense.indices, lambda: dense.values, dense.entries, dense.listed),
        *(lambda: dense[1], listed.entries, listed.arrays, lambda: dense.to("cpu"), lambda: A.columns, A.is_ascending),
        *(lambda: A.to("cpu"), lambda: G.number_of_edges, lambda: repr(G)),
    ):
        with pytest.raises(EngineError, match=r"the GPU (ran out of memory|was lost) \w+ \w+ .*; .*device='cpu'"):
            compute()  # lost: without a GPU, CuPy's other functions fail
