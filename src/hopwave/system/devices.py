"""The devices of this machine: the CPU, the GPUs, and the reason if a GPU cannot be used."""

import contextlib
import ctypes
import importlib.util
import os
import platform
import sys
from _thread import start_new_thread
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hopwave.system.optional import install
from hopwave.system.threads import host_cores

NVIDIA = Path("/proc/driver/nvidia/gpus")  # the driver lists its GPUs here, whether or not CuPy is installed


@dataclass(frozen=True)
class Device:
    """A CPU or a GPU.

    Attributes
    ----------
    name : str
        "cpu", or "cuda:0", "cuda:1" and so on.
    kind : str
        "cpu" or "cuda".
    model : str
        Model name from the manufacturer.
    cores : int, or None
        Number of CPU cores that this process may use, or of GPU multiprocessors; None if unknown.
    memory_bytes : int, or None
        Memory of the device in bytes; None if unknown.
    available : bool
        Whether hopwave can use the device.
    reason : str, or None
        Why hopwave cannot use the device, and what to install; None if it can.

    Examples
    --------
    >>> hw.devices()[0].kind
    'cpu'
    """

    name: str
    kind: Literal["cpu", "cuda"]
    model: str
    cores: int | None
    memory_bytes: int | None
    available: bool = True
    reason: str | None = None


def devices() -> tuple[Device, ...]:
    """The devices of this machine: the CPU first, then every GPU.

    Never raises an error. Imports CuPy if it is installed.

    Returns
    -------
    tuple of Device
        A GPU that cannot be used is listed with the reason.

    Examples
    --------
    >>> hw.devices()[0].name
    'cpu'
    """
    model = _line(Path("/proc/cpuinfo"), "model name", "Hardware", "cpu model")
    model = model or platform.processor() or platform.machine() or "unknown processor"
    return (Device("cpu", "cpu", model, host_cores(), host_memory()), *_gpus())


def driver_version() -> int | None:
    """The newest CUDA version that the NVIDIA driver supports, 1000·major + 10·minor, or None. Does not start CUDA."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        with contextlib.suppress(OSError, AttributeError):
            version = ctypes.c_int(0)
            if ctypes.CDLL(library).cuDriverGetVersion(ctypes.byref(version)) == 0:
                return version.value
    return None


def start_cuda() -> None:
    """Start CUDA in a thread while CuPy is imported: each takes about 0.3 s. Does nothing if there are several GPUs."""
    if "cupy" not in sys.modules:
        start_new_thread(_start_driver, ())


def _start_driver() -> None:
    count, first, context = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_void_p()
    with contextlib.suppress(OSError, AttributeError):  # no driver: CuPy will report that
        driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or count.value != 1:
            return
        if driver.cuDeviceGet(ctypes.byref(first), 0) == 0:
            driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), first)


def cuda_extra() -> str:
    """The name of hopwave's extra whose CuPy fits the installed driver; "cuda12" if there is no driver."""
    return "cuda13" if (driver_version() or 0) >= 13000 else "cuda12"


def lacks_gpu() -> bool:
    """Whether the system shows no NVIDIA GPU: neither Linux nor, under WSL, Windows (/dev/dxg)."""
    there = NVIDIA.exists() or any(path for name in ("nvidia*", "nvhost*", "dxg") for path in Path("/dev").glob(name))
    return sys.platform == "darwin" or (sys.platform == "linux" and not there)


def _line(file: Path, *names: str) -> str | None:
    """The value of the first line "name: value" of a file whose name is one of `names`."""
    with contextlib.suppress(OSError):  # not Linux
        for line in file.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in names and value.strip():
                return value.strip()
    return None


def host_memory() -> int | None:
    """The memory of this machine in bytes; None if the system does not report it."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _gpus() -> Iterator[Device]:
    """The GPUs that CuPy sees, or the GPUs that the driver lists, with the reason why hopwave cannot use them."""
    if importlib.util.find_spec("cupy") is None:
        reason = f"CuPy is not installed; run: {install(cuda_extra())}"
    else:
        try:
            from cupy.cuda import runtime

            found = [runtime.getDeviceProperties(number) for number in range(runtime.getDeviceCount())]
        except Exception as error:  # a missing, outdated or broken driver raises errors of many types
            said = " ".join(str(error).split()) or type(error).__name__
            reason = f"CuPy cannot use the GPU ({said}); check the NVIDIA driver with nvidia-smi"
        else:
            for number, about in enumerate(found):
                cores, memory = int(about["multiProcessorCount"]), int(about["totalGlobalMem"])
                yield Device(f"cuda:{number}", "cuda", about["name"].decode(errors="replace"), cores, memory)
            return
    with contextlib.suppress(OSError):
        for number, folder in enumerate(sorted(NVIDIA.iterdir())):
            model = _line(folder / "information", "Model") or "NVIDIA GPU"
            yield Device(f"cuda:{number}", "cuda", model, None, None, available=False, reason=reason)
