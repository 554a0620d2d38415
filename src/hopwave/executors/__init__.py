"""The option executor=: workers of a `concurrent.futures.Executor` compute jobs over many sources.

The blocks and the order of their sums are the same as in one process, so results are bitwise identical.
"""

from concurrent.futures import Executor
from typing import Any

from hopwave.errors import GraphError
from hopwave.executors.engine import DealtEngine as DealtEngine
from hopwave.executors.engine import RemoteEngine as RemoteEngine
from hopwave.executors.engine import dealt_core as dealt_core


def check_executor(executor: Any, device: str, threads: int | None) -> str:
    """The device for workers of the executor; raises a GraphError if executor= is combined with threads=."""
    if not isinstance(executor, Executor):
        raise GraphError(
            f"executor={executor!r} is not a concurrent.futures.Executor; pass, for example, a ProcessPoolExecutor, "
            "dask.distributed's client.get_executor(), or mpi4py.futures' MPIPoolExecutor"
        )
    if threads is not None:
        problem = f"threads={threads!r} cannot be combined with executor=: each worker uses one thread"
        raise GraphError(f"{problem}; omit threads=, and create the executor with one worker per core")
    # A GPU in this process says nothing about the workers' machines.
    return "cpu" if isinstance(device, str) and device == "auto" else device
