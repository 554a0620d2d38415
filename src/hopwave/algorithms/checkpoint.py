"""A long run on disk: what its first blocks of sources summed to, and where to go on."""

from __future__ import annotations

import hashlib
import os
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hopwave.atomic_file import replacing
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph

if TYPE_CHECKING:
    from hopwave.jobs import Accumulation, Job

INTERVAL = 60.0  # seconds between two checkpoints
FORMAT = "hopwave betweenness checkpoint 1"


class Checkpoint:
    """A file that a run writes from time to time and on Ctrl-C, and goes on from when it is started again.

    Blocks are summed in order, so a run that went on is equal to an unbroken one, bit for bit. The file knows its graph
    and its question: it refuses to be mixed with others.
    """

    def __init__(self, path: str | os.PathLike[str], graph: Graph, job: Job, plan: str) -> None:
        self.path = Path(path)
        if not self.path.resolve().parent.is_dir():  # told now, not after the first minute of work
            raise FormatError(f"there is no folder {self.path.parent} for the checkpoint; make it first", self.path)
        self._last = time.monotonic()
        self._of = fingerprint(graph, job, plan)

    def is_due(self) -> bool:
        """Whether it is time for the next one."""
        return time.monotonic() - self._last > INTERVAL

    def save(self, run: Accumulation, done: int) -> None:
        """Write down what the first `done` blocks summed to."""
        with replacing(self.path) as stream:
            np.savez(
                stream,
                format=np.array(FORMAT),
                fingerprint=np.array(self._of),
                size=np.array(run.size),
                done=np.array(done),
                total=run.total,
                certificate=run.certificate,
            )
        self._last = time.monotonic()

    def load(self, run: Accumulation) -> int:
        """Take up what the file holds; returns how many blocks that is, 0 without a file."""
        if not self.path.exists():
            return 0
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                parts: dict[str, Any] = {name: stored[name] for name in stored.files}
            if str(parts["format"]) != FORMAT:
                raise KeyError("format")
            same = str(parts["fingerprint"]) == self._of and int(parts["size"]) == run.size
            done, total, certificate = int(parts["done"]), parts["total"], parts["certificate"]
            if same and (total.shape, certificate.shape) != (run.total.shape, run.certificate.shape):
                raise ValueError("arrays of another size")
            if same and not 0 <= done <= run.blocks:
                raise ValueError(f"{done} blocks of {run.blocks}")
        except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise FormatError(
                f"expected a checkpoint of a betweenness run ({error}); give another name, or delete the file",
                self.path,
            ) from None
        if not same:
            raise GraphError(
                f"checkpoint {str(self.path)!r} is of another graph, question, plan or device; "
                "give another name, delete it, or ask the same again"
            )
        run.total[:] = total
        run.certificate[:] = certificate
        return done


def fingerprint(graph: Graph, job: Job, plan: str) -> str:
    """A digest of the graph, of the plan and of everything in the job that changes a sum."""
    digest = hashlib.sha256(repr((graph.n, graph.m, graph.directed, plan)).encode())
    for array in (graph.indptr, graph.indices, job.sources, job.targets):
        if array is not None:
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        digest.update(b"|")
    digest.update(repr((job.cutoff, job.endpoints, job.edges, job.squares)).encode())
    return digest.hexdigest()
