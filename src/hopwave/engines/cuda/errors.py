"""CUDA's errors in our words: what failed, why, and what to do."""

from __future__ import annotations

from hopwave.errors import EngineError

# What to do where memory runs out: our regimes can do with less, TurboBC cannot.
LESS_MEMORY, OTHERS_LESS = "give a memory_limit= below what is free", "end other programs on this GPU"


class explained:
    """CUDA's errors as ours, with what to do; the next call finds everything in order, if the GPU still answers.

    Nothing is imported or formatted until something fails: this stands around every level.
    """

    def __init__(self, doing, graph, remedy="take a plan with fewer buffers such as 'turbobfs-td-sccsc'"):
        self.doing, self.graph, self.remedy = doing, graph, remedy

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None or isinstance(error, EngineError):
            return
        import cupy
        from cupy.cuda import compiler, driver, runtime

        if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
            cupy.get_default_memory_pool().free_all_blocks()
            free, total = runtime.memGetInfo()
            raise EngineError(
                f"the GPU ran out of memory {self.doing} ({error}; {free >> 20} of {total >> 20} MiB are free); free "
                f"arrays of your own, {self.remedy}, or use device='cpu'"
            ) from error
        if isinstance(error, compiler.CompileException):
            raise EngineError(
                f"a kernel could not be compiled {self.doing} ({str(error).strip().splitlines()[0]}); install CUDA's "
                "headers and NVRTC with pip install 'hopwave[cuda13]' (or cuda12), or use device='cpu'"
            ) from error
        if isinstance(error, runtime.CUDARuntimeError | driver.CUDADriverError):
            raise EngineError(self._failure(runtime, error)) from error

    def _failure(self, runtime, error):
        try:
            runtime.deviceSynchronize()
        except runtime.CUDARuntimeError:
            from hopwave.engines.cuda import nvrtc
            from hopwave.engines.cuda.graph import CudaGraph

            self.graph._prepared.drop(CudaGraph)  # its arrays are gone with the context
            nvrtc.forget()
            return (
                f"the GPU was lost {self.doing} ({error}); this process cannot use it again: restart Python, look at "
                "nvidia-smi, or go on with device='cpu'"
            )
        return f"CUDA failed {self.doing} ({error}); try again, or use device='cpu'"
