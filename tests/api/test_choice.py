"""When device="auto" chooses a GPU, and how a GPU groups its work: decided in Python, so tested without a GPU."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwave import EngineError, engines
from hopwave.api import choice
from hopwave.engines.cuda import Engine as CudaEngine
from hopwave.engines.cuda.policy import pair_bits, words_for


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "has_gpu", lambda: True)


def on_gpu(**sizes: int) -> Any:
    """A graph that is on the GPU already, so that it need not fit, with plain rows."""
    return SimpleNamespace(device="cuda", _prepared=SimpleNamespace(find=lambda kind: None), **sizes)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    ("arcs", "searches", "device"),
    [
        (367_662, 36_692, "cuda"),  # closeness of all of email-Enron
        (367_662, 100, "cpu"),
        (367_662, 1, "cpu"),
        (1 << 20, 1, "cuda"),  # like one search
        (156, 34, "cpu"),
        (1 << 30, 0, "cpu"),  # one path, searched from both ends
    ],
)
def test_auto_takes_the_gpu_for_large_work(arcs: int, searches: int, device: str) -> None:
    graph = on_gpu(m=arcs)
    work = choice.search_work(graph, searches)
    assert choice.choose_device(work, "auto", graph, None) == device
    assert choice.choose_device(work, "auto", graph, 2) == "cpu"
    assert choice.choose_device(work, "cuda", graph, None) == "cuda"


@pytest.mark.usefixtures("gpu", "cuda_without_a_gpu")
@pytest.mark.parametrize(
    ("arcs", "searches", "device"),
    [
        (367_662, 1000, "cuda"),
        (367_662, 100, "cpu"),
        (1 << 24, 1, "cpu"),  # one search is left to the CPU even if the graph is large
        (1 << 24, 16, "cuda"),
    ],
)
def test_along_weights_auto_takes_the_gpu_for_many_searches(arcs: int, searches: int, device: str) -> None:
    graph = on_gpu(m=arcs)
    assert choice.distance_engine(True, "auto", graph, None, searches).name == device
    assert choice.distance_engine(True, "auto", graph, 2, searches).name == "cpu"
    assert choice.distance_engine(True, "cuda", graph, None, searches).name == "cuda"


def test_without_a_gpu_auto_takes_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "has_gpu", lambda: False)
    graph = on_gpu(m=1 << 30)
    assert choice.choose_device(choice.search_work(graph, 1 << 20), "auto", graph, None) == "cpu"


@pytest.fixture
def cuda_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part of the CUDA engine that works without a GPU."""
    real, cuda = engines.engine, CudaEngine()
    monkeypatch.setattr(cuda, "_cooperative", lambda: True)
    monkeypatch.setattr(engines, "engine", lambda name: cuda if name == "cuda" else real(name))


@pytest.mark.usefixtures("gpu", "cuda_without_a_gpu")
def test_operations_that_a_gpu_lacks_run_on_the_cpu() -> None:
    large = on_gpu(m=1 << 30, n=1 << 20, directed=True)
    assert choice.engine_for("sweep", "auto", large, None).name == "cuda"
    assert choice.engine_for("components", "auto", large, None).name == "cuda"
    assert choice.engine_for("strong_components", "auto", large, None).name == "cuda"
    assert choice.engine_for("local_efficiencies", "auto", large, None).name == "cpu"
    with pytest.raises(EngineError, match=r"no local efficiency.*device='cpu'"):
        choice.engine_for("local_efficiencies", "cuda", large, None)


@pytest.mark.usefixtures("gpu", "cuda_without_a_gpu")
def test_a_gpu_that_cannot_launch_cooperatively_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.engine("cuda"), "_cooperative", lambda: False)
    large = on_gpu(m=1 << 30, n=1 << 20, directed=False)
    assert choice.engine_for("sweep", "auto", large, None).name == "cpu"
    with pytest.raises(EngineError, match="cannot launch cooperatively"):
        choice.engine_for("sweep", "cuda", large, None)


@given(st.integers(1, 10**6), st.integers(1, 2**31 - 2), st.integers(0, 10**11))
def test_rows_fit_into_the_memory(sources: int, n: int, free: int) -> None:
    words = words_for(sources, n, free)
    assert words == 2 or (24 * words * n <= free and sources > 128)


@given(st.integers(1, 2**31 - 2), st.none() | st.integers(0, 2**40))
def test_a_pair_fits_into_64_bits(n: int, limit: int | None) -> None:
    vertex, depth, width = pair_bits(n, limit, 1024)
    assert 1 <= width <= 1024
    assert n - 1 < 1 << vertex and min(n - 1, n if limit is None else limit) < 1 << depth
    assert (width - 1).bit_length() + depth + vertex <= 64
