"""Core numbers on the GPU: all vertices are peeled off in one cooperative launch (kernels/linalg/peel.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.launch import BLOCK, NULL, expression, kernels, offset_type
from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import declare
from hopwave.errors import EngineError

HEADER = "linalg/peel.cuh"
PIECE = 512  # ROW_PIECE in kernels/common/arcs.cuh
PER_MULTIPROCESSOR = 2  # blocks: more would only wait for entries
PEELING = record(HEADER, "Peeling", "u32 arrived least[2] head tail pending")


def peel_arrays(n, entries):
    """The arrays of one run: neighbours left, the list of removed rows, and the answer."""
    return declare(np.int32, left=n) | declare(np.uint64, list=entries) | declare(np.int64, core=n)


def core_numbers(A, both):
    """The core number of every vertex, int64 on the GPU. Loops do not count. both: whether arcs in and out count."""
    rows, n = A.rows, A.shape[0]
    columns = A.columns if both else None
    entries = (2 if both else 1) * (n + A.nnz // PIECE)
    kernel, fit = nvrtc.cooperative(HEADER, expression(HEADER, "peel", offset_type(rows.indptr)), BLOCK)
    if not fit or entries >= 1 << 32:
        raise EngineError("this GPU cannot peel the graph in one cooperative launch; use device='cpu'")
    arrays = allocate(peel_arrays(n, entries))
    if not n:
        return arrays["core"]
    at = np.zeros(1, PEELING)
    at["least"] = np.iinfo(np.uint32).max
    at = cupy.asarray(at.view(np.uint8))
    into = (NULL, NULL) if columns is None else columns[:2]
    blocks = min(fit, PER_MULTIPROCESSOR * kernels().attributes["MultiProcessorCount"])
    kernel(
        (blocks,), (BLOCK,),
        (*rows[:2], *into, np.int32(n), np.uint64(entries), arrays["left"], arrays["list"], at, arrays["core"]),
    )  # fmt: skip
    return arrays["core"]
