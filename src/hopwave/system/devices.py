"""The devices of this machine: its processor and its GPUs, and why a GPU cannot be used."""

from __future__ import annotations

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
from typing import Any, Literal

from hopwave.system.optional import install

NVIDIA = Path("/proc/driver/nvidia/gpus")  # the driver lists its GPUs here, whether or not CuPy is installed


@dataclass(frozen=True)
class Device:
    """A processor or a GPU.

    Attributes
    ----------
    name : str
        "cpu", or "cuda:0", "cuda:1" and so on.
    kind : str
        "cpu" or "cuda".
    model : str
        The name that its maker gave it.
    cores : int, or None
        The cores that this process may use, or the multiprocessors of a GPU; None if unknown.
    memory_bytes : int, or None
        Its memory; None if unknown.
    available : bool
        Whether hopwave can use it.
    reason : str, or None
        If hopwave cannot use it: why, and what to install.

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
    """The devices of this machine: the processor first, then every GPU.

    Never raises. CuPy is only loaded if it is installed.

    Returns
    -------
    tuple of Device
        A GPU that cannot be used is listed with the reason.

    See Also
    --------
    bfs : takes "cpu" or "cuda" as `device`.

    Examples
    --------
    >>> hw.devices()[0].name
    'cpu'
    """
    return (Device("cpu", "cpu", _processor_model(), host_cores(), host_memory()), *_gpus())


def driver_version() -> int | None:
    """The newest CUDA version that the installed NVIDIA driver can run, as 1000·major + 10·minor, or None.

    Reads it from the driver's library without starting CUDA: a process that has started CUDA cannot fork safely.
    """
    for library in ("libcuda.so.1", "nvcuda.dll"):
        try:
            version = ctypes.c_int(0)
            if ctypes.CDLL(library).cuDriverGetVersion(ctypes.byref(version)) == 0:
                return version.value
        except (OSError, AttributeError):
            continue
    return None


def start_cuda() -> None:
    """Start CUDA in a thread while CuPy is imported: each takes about 0.3 s. Call this if a GPU is sure to be used.

    If there are several GPUs, it is not known yet which one is wanted, so only the driver is started.
    """
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
    version = driver_version()
    return "cuda13" if version is not None and version >= 13000 else "cuda12"


def _processor_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Hardware", "cpu model") and value.strip():
                return value.strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine() or "unknown processor"


def host_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def host_memory() -> int | None:
    """The memory of this machine in bytes, or None if the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _gpus() -> Iterator[Device]:
    if importlib.util.find_spec("cupy") is None:
        reason = f"CuPy is not installed; run: {install(cuda_extra())}"
        yield from _listed(reason)
        return
    try:
        import cupy

        found = [_described(cupy, number) for number in range(cupy.cuda.runtime.getDeviceCount())]
    except Exception as error:  # a missing, outdated or broken driver raises errors of many types
        reason = " ".join(str(error).split()) or type(error).__name__
        yield from _listed(f"CuPy cannot reach it ({reason}); check the NVIDIA driver with nvidia-smi")
        return
    yield from found


def _described(cupy: Any, number: int) -> Device:
    about = cupy.cuda.runtime.getDeviceProperties(number)
    model = about["name"].decode(errors="replace")
    return Device(f"cuda:{number}", "cuda", model, int(about["multiProcessorCount"]), int(about["totalGlobalMem"]))


def _listed(reason: str) -> Iterator[Device]:
    """The GPUs that the driver lists but that cannot be used, with the reason."""
    try:
        folders = sorted(NVIDIA.iterdir())
    except OSError:
        return
    for number, folder in enumerate(folders):
        model = "NVIDIA GPU"
        try:
            for line in (folder / "information").read_text(errors="replace").splitlines():
                name, _, value = line.partition(":")
                model = value.strip() if name.strip() == "Model" and value.strip() else model
        except OSError:
            pass  # the folder itself says that the GPU is there
        yield Device(f"cuda:{number}", "cuda", model, None, None, available=False, reason=reason)
