"""Compiles template instances of kernels/*/*.cuh when they are first needed, and caches them on disk."""

import atexit
import hashlib
import logging
import os
import threading
import time
from functools import cache
from pathlib import Path

from hopwave.engines.cuda import kernel_files
from hopwave.system.threads import Pool, Task

log = logging.getLogger("hopwave")
KERNELS = Path(__file__).resolve().parent / "kernels"
THREADS = 16  # maximum number of compiling threads
PLAIN_SHARED = 48 << 10  # bytes of shared memory that a block may use without requesting more from CUDA


class CompilingFailed(RuntimeError):
    """NVRTC rejected a kernel, or cannot be loaded."""


def qualified(header, name):
    """The full C++ name of a definition in a header: hopwave::steps::push_shares, hopwave::Extended."""
    folder = header.partition("/")[0]
    return f"hopwave::{name}" if folder == "common" else f"hopwave::{folder}::{name}"


@cache
def sources_hash():
    """A hash of all kernels, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cuh")):
        digest.update(path.relative_to(KERNELS).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def options():
    return ("-std=c++17", f"-I{KERNELS}")


# ---------------------------------------------------------------- compiling


def _compile(header, arch, names, more=(), text=""):
    """The code and symbols of instances, for a GPU that need not be present."""
    from cupy_backends.cuda.libs import nvrtc

    program = nvrtc.createProgram(f'#include "{header}"\n{text}', "hopwave.cu", (), ())
    try:
        for name in names:
            nvrtc.addNameExpression(program, name)
        folders = tuple(f"-I{folder}" for folder in include_folders())
        try:
            nvrtc.compileProgram(program, (*options(), *more, *folders, f"--gpu-architecture={arch}"))
        except nvrtc.NVRTCError as error:
            raise CompilingFailed(f"{header} for {arch}: {error}\n{nvrtc.getProgramLog(program)}") from None
        code = nvrtc.getCUBIN(program) if arch.startswith("sm_") else nvrtc.getPTX(program)
        return code, {name: nvrtc.getLoweredName(program, name) for name in names}
    finally:
        nvrtc.destroyProgram(program)


def include_folders():
    """The folders of cooperative_groups.h and CUDA's other headers: in the toolkit, or in its wheels."""
    from cupy import _environment

    roots = [_environment.get_cuda_path(), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    try:
        import nvidia

        roots += [folder for root in nvidia.__path__ for folder in sorted(Path(root).iterdir(), reverse=True)]
    except ImportError:
        pass
    folders = [Path(root) / "include" for root in roots if root]
    return [folder for folder in folders if (folder / "cooperative_groups.h").is_file()][:1]


@cache
def architecture(capability):
    """The compilation target: machine code for a GPU of this compute capability (90); PTX if NVRTC is older."""
    from cupy_backends.cuda.libs import nvrtc

    known = max((arch for arch in nvrtc.getSupportedArchs() if arch <= capability), default=capability)
    return f"sm_{known}" if known == capability else f"compute_{known}"


class Building:
    """The modules that this process has compiled or is compiling, each once and in its own thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.pool = Pool(min(THREADS, os.cpu_count() or 1))
        self.begun = {}

    def begin(self, header, arch, names, more=(), text="") -> Task:
        """A task that returns the code and symbols of these instances: read from disk, or compiled and cached there."""
        key = header, arch, tuple(names), tuple(more), text
        with self.lock:
            found = self.begun.get(key)
            if found is None:
                try:
                    found = self.begun[key] = self.pool.begin(self._made, *key)
                except BaseException:  # Ctrl-C: the pool may count a thread that did not start
                    self.pool = Pool(self.pool.threads)
                    raise
        if found.error is not None:
            self.begun.pop(key, None)  # the next call tries again: headers may have been installed since
        return found

    @staticmethod
    def _made(header, arch, names, more, text):
        key = file_key(header, arch, names, more, text)
        found = kernel_files.read(key) or _shipped(header, arch, names, more, text)
        if found is None:
            began = time.perf_counter()
            with compiling:
                found = _compile(header, arch, names, more, text)
            log.info("compiled %s for %s in %.2f s", ", ".join(names) or header, arch, time.perf_counter() - began)
            kernel_files.write(key, *found)
        return found


building = Building()


class Compiling:
    """Counts the threads inside NVRTC. A thread still inside when the process ends would crash it."""

    def __init__(self):
        self.inside = []
        atexit.register(self.wait)

    def __enter__(self):
        self.inside.append(None)

    def __exit__(self, *_):
        self.inside.pop()

    def wait(self):
        """Start no more tasks, and wait for the running ones."""
        building.pool.stopped = True
        while self.inside:
            time.sleep(0.01)


compiling = Compiling()


def file_key(header, arch, names, more=(), text=""):
    """All inputs on which the machine code of these instances depends."""
    from cupy_backends.cuda.libs import nvrtc

    return (*shipped_key(header, arch, names, more, text), *map(str, nvrtc.getVersion()))


def shipped_key(header, arch, names, more=(), text=""):
    """The key of code in a wheel: independent of the installed compiler."""
    return (sources_hash(), header, arch, *names, *more, text)


def _shipped(header, arch, names, more, text):
    """The package's code; None if it does not support this GPU and driver."""
    if not kernel_files.SHIPPED.is_dir():
        return None
    import cupy

    return kernel_files.read_shipped(shipped_key(header, arch, names, more, text), cupy.cuda.runtime.driverGetVersion())


def _here():
    import cupy

    device = cupy.cuda.Device()
    return device.id, architecture(int(device.compute_capability))


def begin(header, names, more=(), text=""):
    arch = _here()[1]
    return [building.begin(header, arch, (name,), more, text) for name in names]


def is_kept(header, name):
    arch = _here()[1]
    shipped = kernel_files.path_of(shipped_key(header, arch, (name,)), kernel_files.SHIPPED)
    return shipped.is_file() or kernel_files.holds(file_key(header, arch, (name,)))


# ---------------------------------------------------------------- loading


def _driver():
    """CUDA's driver, after binding the GPU to this thread (launch.find_gpu, which may be imported later)."""
    from cupy_backends.cuda.api import driver, runtime

    if not driver.ctxGetCurrent():
        runtime.setDevice(runtime.getDevice())
    return driver


class Kernel:
    """One instance on one GPU, as CuPy's function and the driver's handle; cooperative or not."""

    def __init__(self, function, cooperative):
        self.function, self.cooperative = function, cooperative
        self.handle = function.ptr

    def __call__(self, grid, block, arguments, shared_mem=0):
        self.function(grid, block, arguments, shared_mem, None, self.cooperative)

    @property
    def registers(self):
        driver = _driver()
        return driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_NUM_REGS, self.handle)

    def allow_shared(self, size):
        """Allow blocks `size` bytes of shared memory: more than PLAIN_SHARED must be requested from CUDA."""
        if size > PLAIN_SHARED:
            driver = _driver()
            driver.funcSetAttribute(self.handle, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, size)


class Loaded:
    """The functions that this process has loaded, each once: concurrent threads receive the same function."""

    def __init__(self):
        self.lock = threading.Lock()
        self.functions = {}  # without a reference, a function is unloaded, even while it runs

    def get(self, header, name, device, arch, more, text):
        key = header, name, device, arch, more, text
        found = self.functions.get(key)
        if found is None:
            from cupy.cuda.function import Module

            code, symbols = building.begin(header, arch, (name,), more, text).result()
            with self.lock:
                found = self.functions.get(key)
                if found is None:
                    module = Module()
                    module.load(code)
                    found = self.functions[key] = module.get_function(symbols[name])  # it keeps the module alive
        return found


loaded = Loaded()


def kernel(header, name, text="", more=()):
    return loaded.get(header, name, *_here(), tuple(more), text)


def configurable(header, name, cooperative=False, text="", more=()):
    return Kernel(kernel(header, name, text, more), cooperative)


@cache
def _cooperative(header, name, block, device, text):
    found = configurable(header, name, True, text)
    return found, resident_blocks(found, block)


def cooperative(header, name, block, text=""):
    """One instance for cooperative launches on the current GPU, and the maximum number of its resident blocks."""
    import cupy

    return _cooperative(header, name, block, cupy.cuda.runtime.getDevice(), text)


def resident_blocks(kernel, block):
    import cupy

    fit = _driver().occupancyMaxActiveBlocksPerMultiprocessor(kernel.handle, block, 0)
    return fit * cupy.cuda.Device().attributes["MultiProcessorCount"]


def forget():
    loaded.functions.clear()
    _cooperative.cache_clear()
