"""Checkpoints of a long betweenness run: the sums over its first blocks of sources, and the number of these blocks."""

import hashlib
import os
import time
import warnings
from operator import index
from typing import Any

import numpy as np

from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.system.files import checked, file_named, kind_of_special, replacing, write_arrays
from hopwave.system.threads import Pool

INTERVAL = 60.0  # seconds between two checkpoints
FORMAT = "hopwave betweenness checkpoint 2"

File = str | os.PathLike[str] | None


Stored = Any  # a run: the `size` and number of its `blocks`, `total` over the first of them, and their `certificate`


class Checkpoint:
    """A file that a run writes every minute and on Ctrl-C, and from which the same run resumes.

    Blocks are summed in order, so a resumed run is bitwise identical. A file with the key of another run is rejected.
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self.path = file_named(path, "checkpoint")
        if kind := kind_of_special(self.path):  # raise the error before the first minute of work
            raise FormatError(f"checkpoint= is a {kind}, not a file; pass another path", self.path)
        try:
            if not os.access(self.path, os.R_OK):
                checked(self.path)
        except OSError as error:
            raise FormatError(f"{error.strerror} (for the checkpoint)", error.filename) from None
        self._last, self._failed, self._key = time.monotonic(), False, key

    def is_due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self._last > INTERVAL

    def continues(self, done: str) -> str:
        """The message that a run resumes from this checkpoint."""
        return f"continuing from {self.path}: {done} are done"

    def save(self, run: Stored, done: int) -> str | None:
        """Write the sums over the first `done` blocks; returns None or the error. The first error is a warning."""
        self._last = time.monotonic()
        parts = {
            "format": np.array(FORMAT),
            "key": np.array(self._key),
            "size": np.array(run.size),
            "done": np.array(done),
            "total": run.total,
            "certificate": run.certificate,
        }
        try:
            # On another thread, which a second Ctrl-C does not interrupt, so that the file is complete.
            Pool(1).begin(self._write, parts).result()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            if not self._failed:
                self._failed = True
                warnings.warn(
                    f"progress cannot be saved in {self.path} ({reason}); the run continues, tries again later, and "
                    "still returns complete scores",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return reason
        return None

    def save_and_tell(self, error: BaseException, run: Stored, done: int) -> bool:
        """Save a run that failed, and add a note to the error; returns whether a checkpoint exists, new or old."""
        reason = self.save(run, done)
        saved = f"progress is saved in {self.path}; repeat the same call or command to continue"
        error.add_note(f"hopwave: {saved}" if reason is None else f"hopwave: progress could not be saved: {reason}")
        return self.path.exists()

    def _write(self, parts: dict[str, Any]) -> None:
        with replacing(self.path) as stream:
            write_arrays(stream, parts, packed=False)

    def load(self, run: Stored) -> int:
        """Read the sums from the file into the run. Returns the number of blocks that they cover; 0 without a file."""
        if not self.path.exists():
            return 0
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                parts: dict[str, Any] = {name: stored[name] for name in stored.files}
            if (form := str(parts.get("format"))) != FORMAT:
                raise ValueError(f"its format is {form!r}, but this version of hopwave reads {FORMAT!r}")
            same = str(parts["key"]) == self._key and index(parts["size"]) == run.size
            done, total, certificate = index(parts["done"]), parts["total"], parts["certificate"]
            pairs = ((total, run.total), (certificate, run.certificate))
            if same and any((a.shape, a.dtype) != (b.shape, b.dtype) for a, b in pairs):
                raise ValueError("its arrays have another size or type")
            if same and not 0 <= done <= run.blocks:
                raise ValueError(f"{done} of {run.blocks} blocks")
        except Exception as error:  # NumPy parses headers as Python, so a damaged file may raise any exception
            reason = f"not a checkpoint of a betweenness run ({error})"
            raise FormatError(f"{reason}; pass another path, or delete the file", self.path) from None
        if not same:
            problem = f"checkpoint {str(self.path)!r} belongs to another graph, function, sample, plan or device"
            raise GraphError(f"{problem}; pass another path, delete the file, or repeat the same call")
        run.total[:] = total
        run.certificate[:] = certificate
        return done


def key_of(graph: Graph, weighted: bool, *parts: Any) -> str:
    """A digest of the graph (with its weights if `weighted`) and of all values that change a sum."""
    weights = np.asarray(graph.weights, np.float64) if weighted else None
    digest = hashlib.sha256(repr((graph.n, graph.m, graph.directed)).encode())
    for part in (graph.indptr, graph.indices, weights, *parts):
        digest.update(b"|")
        is_array = isinstance(part, np.ndarray)
        digest.update(np.ascontiguousarray(part).view(np.uint8).data if is_array else repr(part).encode())
    return digest.hexdigest()
