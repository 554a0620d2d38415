"""Jobs over many sources, computed by the workers of a `concurrent.futures.Executor`: executor=.

Blocks are the same as in one process, and are added up in the same order: results are equal bit for bit.
"""

from concurrent.futures import Executor
from typing import Any

from hopwave.errors import GraphError
from hopwave.executors.engine import DealtEngine as DealtEngine
from hopwave.executors.engine import RemoteEngine as RemoteEngine
from hopwave.executors.engine import dealt_core as dealt_core


def check_executor(executor: Any, device: str, threads: int | None) -> str:
    """The device for workers of the executor; raises a GraphError if executor= and threads= do not fit together."""
    if not isinstance(executor, Executor):
        raise GraphError(
            f"executor={executor!r} is not a concurrent.futures.Executor; give for example a ProcessPoolExecutor, "
            "dask.distributed's client.get_executor(), or mpi4py.futures' MPIPoolExecutor"
        )
    if threads is not None:
        raise GraphError(
            f"threads={threads!r} are those of one process, and every worker of an executor runs on one thread; give "
            "the executor one worker per core, and leave out threads="
        )
    # Whether this process has a GPU says nothing about the workers.
    return "cpu" if isinstance(device, str) and device == "auto" else device
