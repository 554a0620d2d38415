"""CUDA's errors as EngineErrors: what failed, why, and what to do."""

import os
from contextlib import ContextDecorator

from hopwave.errors import EngineError
from hopwave.system.optional import install

# Alternative remedies if memory runs out.
FEWER_BUFFERS = "choose a plan with fewer buffers, such as 'turbobfs-td-sccsc'"
LESS_MEMORY = "pass a memory_limit= below the free memory"
OTHERS_LESS = "end other programs on this GPU"
FEWER_ROWS = "compute fewer rows at a time"

BAD_ALLOC = "std::bad_alloc"  # error text of failed allocations in CuPy's sorts
NOT_INITIALIZED = 3  # CUDA's error, from runtime and driver, in a process that was forked after CUDA had started
_imported_by = os.getpid()


class explained(ContextDecorator):
    """A context, or a decorator, whose CUDA errors become EngineErrors."""

    def __init__(self, doing, graph=None, remedy=FEWER_BUFFERS):
        self.doing, self.graph, self.remedy = doing, graph, remedy

    def __enter__(self):
        pass

    def __exit__(self, kind, error, traceback):
        if error is None or isinstance(error, EngineError):
            return
        reason = translated(error, self.doing, self.graph, self.remedy)
        if reason is not None:
            raise EngineError(reason) from error


def translated(error, doing, graph=None, remedy=FEWER_BUFFERS):
    """A message for an error of CUDA or CuPy; None for any other error. graph: the graph on the GPU, if any."""
    import cupy
    from cupy.cuda import compiler, driver, runtime

    from hopwave.engines.cuda.nvrtc import CompilingFailed

    if isinstance(error, cupy.cuda.memory.OutOfMemoryError) or BAD_ALLOC in str(error):
        cupy.get_default_memory_pool().free_all_blocks()
        free, total = runtime.memGetInfo()
        return (
            f"the GPU ran out of memory {doing} ({error}; {free >> 20} of {total >> 20} MiB are free); free "
            f"arrays of your own, {remedy}, or use device='cpu'"
        )
    if isinstance(error, CompilingFailed | compiler.CompileException):
        said = str(error).strip().splitlines() or [type(error).__name__]
        return (
            f"a kernel could not be compiled {doing} ({said[0]}); install CUDA's headers and NVRTC with "
            f"{install('cuda13')} (cuda12 for CUDA 12 drivers), or use device='cpu'"
        )
    if isinstance(error, runtime.CUDARuntimeError | driver.CUDADriverError):
        return _failure(runtime, error, doing, graph)
    return None


def _failure(runtime, error, doing, graph):
    if error.status == NOT_INITIALIZED and os.getpid() != _imported_by:
        return (
            f"CUDA does not work {doing} ({error}): this process was forked from one that had started CUDA; start "
            "processes with multiprocessing.get_context('spawn'), or use device='cpu'"
        )
    try:
        runtime.deviceSynchronize()
    except runtime.CUDARuntimeError:
        from hopwave.engines.cuda import launch
        from hopwave.engines.cuda.graph import CudaGraph

        if graph is not None:
            graph._prepared.pop(CudaGraph, None)  # its arrays are lost with the context
        launch.forget()
        return (
            f"the GPU was lost {doing} ({error}); this process cannot use it again: restart Python, check "
            "nvidia-smi, or continue with device='cpu'"
        )
    return f"CUDA failed {doing} ({error}); try again, or use device='cpu'"
