"""devices(): the processor, and GPUs in every state; tested without a GPU."""

import ctypes
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import pytest

from hopwave.system import devices as module
from hopwave.system.devices import Device, cuda_extra, devices


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A driver that lists two GPUs, one of them with its model."""
    (tmp_path / "0000:01:00.0").mkdir()
    (tmp_path / "0000:01:00.0" / "information").write_text("Model: \t\t NVIDIA H200\nIRQ: 1\n")
    (tmp_path / "0000:02:00.0").mkdir()
    monkeypatch.setattr(module, "NVIDIA", tmp_path)
    return tmp_path


def test_the_processor_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = devices()[0]
    assert (processor.name, processor.kind, processor.available, processor.reason) == ("cpu", "cpu", True, None)
    assert processor.model and processor.cores and processor.cores >= 1
    assert processor.memory_bytes is None or processor.memory_bytes > 1 << 20
    assert ("cupy" in sys.modules) <= (importlib.util.find_spec("cupy") is not None)
    monkeypatch.setattr(Path, "read_text", MagicMock(side_effect=FileNotFoundError))
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert devices()[0].model == "riscv64"


def test_a_gpu_without_cupy_says_what_to_install(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name == "cupy" else find(name, *rest))
    for version, extra in ((None, "cuda12"), (12080, "cuda12"), (13000, "cuda13")):
        monkeypatch.setattr(module, "driver_version", lambda version=version: version)
        assert cuda_extra() == extra
    found = devices()[1:]
    assert [(device.model, device.available) for device in found] == [("NVIDIA H200", False), ("NVIDIA GPU", False)]
    what = 'pip install "hopwave[cuda13]"'
    assert found[0].reason == f"CuPy is not installed; run: {what}" and found[0].name == "cuda:0"
    monkeypatch.setattr(module, "NVIDIA", driver / "missing")
    assert [device.kind for device in devices()] == ["cpu"], "no GPU is not an error"


def test_a_gpu_with_cupy(driver: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that works, and a driver that does not answer."""
    about = {"name": b"NVIDIA H200", "multiProcessorCount": 132, "totalGlobalMem": 150 << 30}
    cupy, cuda = (ModuleType(name) for name in ("cupy", "cupy.cuda"))
    cupy.__spec__ = importlib.machinery.ModuleSpec("cupy", None)
    vars(cupy)["cuda"] = cuda
    for made in (cupy, cuda):
        monkeypatch.setitem(sys.modules, made.__name__, made)
    vars(cuda)["runtime"] = SimpleNamespace(getDeviceCount=lambda: 1, getDeviceProperties=lambda number: about)
    assert devices()[1:] == (Device("cuda:0", "cuda", "NVIDIA H200", 132, 150 << 30),)
    broken = MagicMock(side_effect=RuntimeError("cudaErrorInsufficientDriver:\n too old"))
    vars(cuda)["runtime"] = SimpleNamespace(getDeviceCount=broken)
    found = devices()[1]
    assert not found.available and found.reason is not None
    assert "cudaErrorInsufficientDriver: too old" in found.reason and "nvidia-smi" in found.reason


@pytest.mark.parametrize(("gpus", "retained"), [(1, 1), (0, 0), (4, 0), (None, 0)])
def test_cuda_starts_while_cupy_is_imported(gpus: int | None, retained: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With several GPUs none is started early, since it is not known which one is wanted; without a driver, none."""
    driver, begun = MagicMock(), []
    driver.cuInit.return_value = driver.cuDeviceGet.return_value = 0
    driver.cuDeviceGetCount.side_effect = lambda count: setattr(count._obj, "value", gpus)
    failing = OSError if gpus is None else None
    monkeypatch.setattr(ctypes, "CDLL", MagicMock(return_value=driver, side_effect=failing))
    module._start_driver()
    assert driver.cuInit.called == (gpus is not None) and driver.cuDevicePrimaryCtxRetain.call_count == retained
    monkeypatch.setattr(module, "start_new_thread", lambda function, arguments: begun.append(function.__name__))
    monkeypatch.setitem(sys.modules, "cupy", None)
    module.start_cuda()  # CuPy is imported already
    monkeypatch.delitem(sys.modules, "cupy")
    module.start_cuda()
    assert begun == ["_start_driver"]
