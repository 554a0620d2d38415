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
    """A file that a run writes from time to time and on Ctrl-C, and continues from when it is started again.

    Blocks are summed in order, so a continued run gives the same bits. A file with the key of another run is refused.
    """

    def __init__(self, path: str | os.PathLike[str], key: str) -> None:
        self.path = file_named(path, "checkpoint")
        if kind := kind_of_special(self.path):  # an error now is better than after the first minute of work
            raise FormatError(f"expected a file for the checkpoint, not a {kind}; give another name", self.path)
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
        """The line that tells a user that the run begins where another one ended."""
        return f"continuing from {self.path}: {done} are done"

    def save(self, run: Stored, done: int) -> str | None:
        """Write the sums over the first `done` blocks; returns None, or why not. The first failure is a warning."""
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
            # On another thread, which a second Ctrl-C does not interrupt, so that the file is written to its end.
            Pool(1).begin(self._write, parts).result()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            if not self._failed:
                self._failed = True
                warnings.warn(
                    f"progress cannot be saved in {self.path} ({reason}); the run goes on and tries again, and its "
                    "scores are handed out whole",
                    RuntimeWarning,
                    stacklevel=2,
                )
            return reason
        return None

    def save_and_tell(self, error: BaseException, run: Stored, done: int) -> bool:
        """Save a run that an error ends, with a note on the error; whether there is a checkpoint, new or earlier."""
        reason = self.save(run, done)
        saved = f"progress is saved in {self.path}; repeat the same call or command to continue"
        error.add_note(f"hopwave: {saved}" if reason is None else f"hopwave: progress could not be saved: {reason}")
        return self.path.exists()

    def _write(self, parts: dict[str, Any]) -> None:
        with replacing(self.path) as stream:
            write_arrays(stream, parts, packed=False)

    def load(self, run: Stored) -> int:
        """Read the sums from the file into the run. Returns how many blocks they cover; 0 if there is no file."""
        if not self.path.exists():
            return 0
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                parts: dict[str, Any] = {name: stored[name] for name in stored.files}
            if (form := str(parts.get("format"))) != FORMAT:
                raise ValueError(f"its form is {form!r}, and this hopwave reads {FORMAT!r}")
            same = str(parts["key"]) == self._key and index(parts["size"]) == run.size
            done, total, certificate = index(parts["done"]), parts["total"], parts["certificate"]
            pairs = ((total, run.total), (certificate, run.certificate))
            if same and any((a.shape, a.dtype) != (b.shape, b.dtype) for a, b in pairs):
                raise ValueError("arrays of another size or type")
            if same and not 0 <= done <= run.blocks:
                raise ValueError(f"{done} blocks of {run.blocks}")
        except Exception as error:  # a damaged file may raise anything: NumPy parses its headers as Python
            raise FormatError(
                f"expected a checkpoint of a betweenness run ({error}); give another name, or delete the file",
                self.path,
            ) from None
        if not same:
            raise GraphError(
                f"checkpoint {str(self.path)!r} is of another graph, question, plan or device; "
                "give another name, delete it, or repeat the same call"
            )
        run.total[:] = total
        run.certificate[:] = certificate
        return done


def key_of(graph: Graph, weighted: bool, *parts: Any) -> str:
    """A digest of the graph, with its weights if they count, and of all that changes a sum: arrays and plain values."""
    weights = np.asarray(graph.weights, np.float64) if weighted else None
    digest = hashlib.sha256(repr((graph.n, graph.m, graph.directed)).encode())
    for part in (graph.indptr, graph.indices, weights, *parts):
        digest.update(b"|")
        is_array = isinstance(part, np.ndarray)
        digest.update(np.ascontiguousarray(part).view(np.uint8).data if is_array else repr(part).encode())
    return digest.hexdigest()
