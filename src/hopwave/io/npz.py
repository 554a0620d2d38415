"""NumPy `.npz` archives: hopwave's own, and those of `scipy.sparse.save_npz`. Nothing is ever unpickled."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.io.format import Format, Request, Target
from hopwave.io.source import Source
from hopwave.io.vertices import plain_labels

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # a zip archive, an empty one
_OWN = "hopwave"  # only our archives have this entry; its value is the layout: 2 with weights, 1 without


def read(source: Source, request: Request) -> Graph:
    """Read an archive. One of SciPy's is undirected if its pattern is symmetric, as in `Graph.from_scipy`."""
    with _opened(source) as arrays:
        if _OWN not in arrays and "format" not in arrays:
            found = ", ".join(arrays) or "nothing"
            raise source.fail(f"contains {found}; expected an archive of hopwave.write or of scipy.sparse.save_npz")
        try:
            graph = _own(source, request, arrays) if _OWN in arrays else _scipy(source, request, arrays)
        except KeyError as error:
            has = ", ".join(arrays)
            raise source.fail(f"the entry {error.args[0]!r} is missing; expected it next to {has}") from None
        except (GraphError, ValueError, IndexError, TypeError, OverflowError) as error:
            if isinstance(error, FormatError):
                raise
            raise source.fail(f"the arrays are not a graph; expected consistent indptr and indices: {error}") from None
    if request.n not in (None, graph.n):
        raise GraphError(f"n={request.n}, but {source.path} has {graph.n} vertices; leave n out")
    return graph


@contextmanager
def _opened(source: Source) -> Iterator[_Arrays]:
    """The arrays of an archive, each read when it is first asked for."""
    with source.open() as stream:
        # A zip archive is read by seeking, so one inside a .gz is decompressed into memory first.
        seekable: IO[bytes] = (
            io.BytesIO(b"".join(iter(lambda: source.take(stream, 1 << 24), b""))) if source.packed else stream
        )
        try:
            archive = zipfile.ZipFile(seekable)
        except Exception as error:  # a damaged archive may raise anything
            raise _incomplete(source, error) from None
        with archive:
            yield _Arrays(source, archive)


def _incomplete(source: Source, error: Exception) -> FormatError:
    return source.fail(f"not a complete .npz archive ({error}); expected one: truncated, or another format")


class _Arrays(Mapping[str, npt.NDArray[Any]]):
    """The entries of an archive by name. What is not needed is not read, however large it is."""

    def __init__(self, source: Source, archive: zipfile.ZipFile) -> None:
        self._source, self._archive = source, archive
        self._entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        entry = self._entries[name]
        try:
            return _array(self._source, self._archive, entry)
        except (FormatError, MemoryError):
            raise
        except Exception as error:  # a damaged archive may raise anything
            raise _incomplete(self._source, error) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _array(source: Source, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """One entry. Its shape is compared with its size first, so that a false shape cannot allocate memory."""
    with archive.open(entry) as stream:
        try:
            version = np.lib.format.read_magic(stream)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(stream)
        except (EOFError, zlib.error, zipfile.BadZipFile):
            raise
        except Exception as error:  # NumPy parses the header as Python: a damaged one may raise anything
            raise source.fail(f"the entry {entry.filename!r} is not a NumPy array ({error}); expected one") from None
        if dtype.hasobject:
            raise source.fail(
                f"the entry {entry.filename!r} contains Python objects; expected numbers or text: nothing is unpickled"
            )
        size = math.prod(shape) * max(dtype.itemsize, 1)  # texts without characters, too, need memory once read
        if size > entry.file_size:
            raise source.fail(
                f"the entry {entry.filename!r} declares {size:,} bytes, has {entry.file_size:,}; expected all of them"
            )
        source.meter.stage(f"reading {entry.filename} of {source.path.name}")
    with archive.open(entry) as stream:
        array: npt.NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        return array


def _own(source: Source, request: Request, arrays: _Arrays) -> Graph:
    layout = int(arrays[_OWN])
    if layout not in (1, 2):
        raise source.fail(f"layout {layout} of a newer hopwave; expected 1 or 2: upgrade hopwave")
    weights = arrays["weights"] if layout == 2 and request.weights else None
    indptr, indices, directed = arrays["indptr"], arrays["indices"], bool(arrays["directed"])
    labels = arrays.get("labels") if request.labels else None
    if labels is not None:
        labels = labels.astype(object)
    combine = None if weights is None else request.combine
    graph = Graph.from_csr(indptr, indices, directed=directed, labels=labels, weights=weights, combine=combine)
    return request.turned(source, graph)


def _scipy(source: Source, request: Request, arrays: _Arrays) -> Graph:
    import scipy.sparse as sp

    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2 or shape[0] != shape[1]:
        raise source.fail(f"a matrix of shape {shape}; expected a square one, with one row and one column per vertex")
    Request().vertices(source, shape[0])
    if kind in ("csr", "csc", "bsr"):
        make = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[kind]
        A = make((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
        A.check_format(full_check=True)
    elif kind == "coo":
        ends = (arrays["row"], arrays["col"]) if "row" in arrays else tuple(arrays["coords"])
        A = sp.coo_array((arrays["data"], ends), shape=shape)
    elif kind == "dia":
        A = sp.dia_array((arrays["data"], arrays["offsets"]), shape=shape)
    else:
        raise source.fail(f"a SciPy matrix of kind {kind!r}; expected csr, csc, bsr, coo or dia")
    if A.dtype.kind == "b" or not request.weights:
        return Graph.from_scipy(A.astype(np.bool_), directed=request.directed, weights=False)
    return Graph.from_scipy(A, directed=request.directed, combine=request.combine)


def write(target: Target, graph: Graph) -> None:
    """Write the graph's arrays with its weights, compressed, whether it is directed, and labels as text or integers."""
    arrays: dict[str, npt.NDArray[Any]] = {
        _OWN: np.array(2 if graph.is_weighted else 1),
        "directed": np.array(graph.directed),
        "indptr": graph.indptr,
        "indices": graph.indices,
    }
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    names = plain_labels(target, graph, encoded=False)
    if names is not None:
        labels = np.array(names, np.int64 if names and isinstance(names[0], int) else np.str_)
        if labels.tolist() != names:
            raise target.fail("a label ends in a NUL character, which NumPy text drops; relabel, or labels=False")
        arrays["labels"] = labels
    np.savez_compressed(_OneWay(target.stream), allow_pickle=False, **arrays)


class _OneWay:
    """A stream that cannot seek. Without it, zip would try to seek in a gzip stream, which claims to support it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.write, self.flush = stream.write, stream.flush

    def read(self) -> None:
        """Never called: NumPy treats an object with a `read` as a file, and any other as a file name."""
        raise io.UnsupportedOperation("write only")


FORMAT = Format(
    name="npz",
    title="NumPy archive",
    extensions=(".npz",),
    holds_labels=True,
    holds_weights=True,
    directedness="the file says; SciPy's archives: undirected if symmetric",
    read=read,
    write=write,
)
