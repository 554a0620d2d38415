"""From kernels/*/*.cuh to something to launch: template instances, compiled when first needed, kept on disk by CuPy.

The namespace of kernels and structs is the folder of their header: `push` of "rank/part.cuh" is hopwave::rank::push.

CuPy's cache knows the text it was given and its options, not the headers that text includes. So a hash of all our
headers goes into the options: a changed kernel is compiled again, an unchanged one never.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

KERNELS = Path(__file__).resolve().parent / "kernels"


def qualified(header, name):
    """The full C++ name of what a header defines.

    >>> qualified("steps/push.cuh", "push_shares"), qualified("common/counts.cuh", "Extended")
    ('hopwave::steps::push_shares', 'hopwave::Extended')
    """
    folder = header.partition("/")[0]
    return f"hopwave::{name}" if folder == "common" else f"hopwave::{folder}::{name}"


@cache
def sources_hash():
    """Sixteen digits that change when any kernel does."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cuh")):
        digest.update(path.relative_to(KERNELS).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def options():
    """What every kernel is compiled with."""
    return ("-std=c++17", f"-I{KERNELS}", f"-DHOPWAVE_SOURCES=0x{sources_hash()}")


def module(header, names, more=(), cooperative=True, text=""):
    """The instances `names` of the templates in one header, as a CuPy module; compiled, or read from CuPy's cache.

    `text` follows the header in the source: types to be used as template arguments.
    """
    import cupy

    return cupy.RawModule(
        code=f'#include "{header}"\n{text}',
        options=(*options(), *more),
        name_expressions=tuple(names),
        backend="nvrtc",
        enable_cooperative_groups=cooperative,
    )


@cache
def _kernel(header, name, device, text):
    return configurable(header, name, False, text).kernel


def kernel(header, name, text=""):
    """One instance on the current GPU: the bare function, which is the cheapest to call."""
    import cupy

    return _kernel(header, name, cupy.cuda.runtime.getDevice(), text)


def configurable(header, name, cooperative=False, text=""):
    """One instance as CuPy's RawKernel, which has attributes; its launches are cooperative or not."""
    return module(header, (name,), cooperative=cooperative, text=text).get_function(name)


@cache
def _cooperative(header, name, block, device, text):
    found = configurable(header, name, True, text)
    return found, resident_blocks(found, block)


def cooperative(header, name, block, text=""):
    """One instance for cooperative launches on the current GPU, and how many blocks of it the GPU holds at once."""
    import cupy

    return _cooperative(header, name, block, cupy.cuda.runtime.getDevice(), text)


def resident_blocks(kernel, block):
    """How many blocks of a RawKernel the current GPU holds at once; block: threads per block."""
    import cupy
    from cupy_backends.cuda.api import driver

    fit = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, block, 0)
    return fit * cupy.cuda.Device().attributes["MultiProcessorCount"]


def forget():
    """Drop every loaded kernel; see launch.forget."""
    _kernel.cache_clear()
    _cooperative.cache_clear()


def include_folders():
    """Where cooperative_groups.h and the other headers of CUDA lie: the toolkit's folder, or its wheels."""
    from cupy import _environment

    roots = [_environment.get_cuda_path(), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    try:
        import nvidia

        roots += [folder for root in nvidia.__path__ for folder in sorted(Path(root).iterdir(), reverse=True)]
    except ImportError:
        pass
    folders = [Path(root) / "include" for root in roots if root]
    return [folder for folder in folders if (folder / "cooperative_groups.h").is_file()][:1]


def compile_only(header, arch, names, more=(), text=""):
    """Compile instances for a GPU that need not be present, as bytes: machine code for an arch such as "sm_90", or PTX,
    which takes less than half the time, for one such as "compute_90".

    Raises RuntimeError with the compiler's messages.
    """
    from cupy_backends.cuda.libs import nvrtc

    program = nvrtc.createProgram(f'#include "{header}"\n{text}', "hopwave.cu", (), ())
    try:
        for name in names:
            nvrtc.addNameExpression(program, name)
        folders = tuple(f"-I{folder}" for folder in include_folders())
        try:
            nvrtc.compileProgram(program, (*options(), *more, *folders, f"--gpu-architecture={arch}"))
        except nvrtc.NVRTCError as error:
            raise RuntimeError(f"{header} for {arch}: {error}\n{nvrtc.getProgramLog(program)}") from None
        return nvrtc.getCUBIN(program) if arch.startswith("sm_") else nvrtc.getPTX(program)
    finally:
        nvrtc.destroyProgram(program)
