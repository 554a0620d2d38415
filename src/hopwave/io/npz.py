"""NumPy `.npz` archives: written by hopwave or by `scipy.sparse.save_npz`. Nothing is ever unpickled."""

import io
import itertools
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hopwave.checks.options import flag
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import map_array
from hopwave.graph.csr import Rows, check_rows
from hopwave.io.format import Ids, Request, Target, plain_labels
from hopwave.io.lines import FREE_BYTES, MOST_TIMES_UNPACKED, Source
from hopwave.system.files import LOCAL_HEADER, Archive, joined_crc, write_arrays
from hopwave.system.threads import each

# Only hopwave's archives contain _OWN, the layout. Labels are integers, or concatenated UTF-8 bytes with offsets.
_OWN, _LAYOUT = "hopwave", 3
_PART_BYTES = 1 << 24  # bytes per part in which arrays are read
_THREADS = 8  # enough to saturate memory bandwidth


def read(source: Source, request: Request, *, mmap: bool = False) -> Graph:
    """Read an archive. A SciPy archive is undirected if its pattern is symmetric. `mmap=True` checks nothing."""
    mmap = flag("mmap", mmap)
    with source.open() as stream:
        with _complete(source):  # a zip archive is read by seeking, so one inside a .gz is decompressed into memory
            archive = Archive(io.BytesIO(source.whole(stream)) if source.packed else stream)
        with archive:
            graph = _graph(source, request, _Arrays(source, archive, mmap))
    request.check_n(source, graph.n)
    return graph


def _graph(source: Source, request: Request, arrays: "_Arrays") -> Graph:
    has = ", ".join(arrays)
    if _OWN not in arrays and "format" not in arrays:
        raise source.fail(f"contains {has or 'nothing'}; expected an .npz of hopwave or SciPy; save tables as CSV")
    if arrays.mapped and _OWN not in arrays:
        raise source.fail("an archive of SciPy, which cannot be mapped; omit mmap=, or write it with hopwave.write")
    if arrays.mapped and request.combine is not None:
        raise GraphError(f"combine={request.combine!r} reads all arcs, but mmap=True reads none; omit one of them")
    try:
        return _own(source, request, arrays) if _OWN in arrays else _scipy(source, request, arrays)
    except KeyError as error:
        raise source.fail(f"the entry {error.args[0]!r} is missing; the archive contains {has}") from None
    except FormatError:
        raise
    except (GraphError, ValueError, IndexError, TypeError, OverflowError) as error:
        raise source.fail(f"the arrays are not a graph: {error}") from None


@contextmanager
def _complete(source: Source) -> Iterator[None]:
    """Turn any exception about a damaged archive into a FormatError."""
    try:
        yield
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        raise source.fail(f"not a complete .npz archive ({error}): truncated, or another format") from None


class _Arrays(dict[str, Any]):
    """The entries of an archive by name, each read on first access."""

    def __init__(self, source: Source, archive: zipfile.ZipFile, mapped: bool) -> None:
        super().__init__((entry.filename.removesuffix(".npy"), entry) for entry in archive.infolist())
        self._source, self._archive, self.mapped = source, archive, mapped

    def __getitem__(self, name: str) -> Ids:
        entry = super().__getitem__(name)
        with _complete(self._source):
            return _array(self._source, self._archive, entry, self.mapped)


def _array(source: Source, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, mapped: bool) -> Ids:
    """One entry. Its shape is compared with its size first, so a false shape cannot allocate memory."""
    with archive.open(entry) as stream:
        try:
            version = np.lib.format.read_magic(stream)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(stream)
        except (EOFError, zlib.error, zipfile.BadZipFile):
            raise
        except Exception as error:  # NumPy parses the header as Python: a damaged header may raise any exception
            raise source.fail(f"the entry {entry.filename!r} is not a NumPy array ({error})") from None
        if dtype.hasobject:
            expected = "expected numbers or text, because unpickling is unsafe"
            raise source.fail(f"the entry {entry.filename!r} contains Python objects; {expected}")
        size = math.prod(shape) * max(dtype.itemsize, 1)  # empty strings also need memory once read
        if size > entry.file_size:
            declares = f"declares {size:,} bytes and contains {entry.file_size:,}"
            raise source.fail(f"the entry {entry.filename!r} {declares}; the file is damaged")
        source.unpack(entry.file_size)
        source.meter.stage(f"reading {entry.filename} of {source.path.name}")
        begin = stream.tell()
    plain = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1 and not source.packed
    if plain and len(shape) == 1 and dtype.itemsize:
        return _in_one_piece(source, entry, begin, shape[0], dtype, mapped)
    if mapped and len(shape):
        raise source.fail(f"the entry {entry.filename!r} is compressed, so it cannot be mapped; omit mmap=")
    with archive.open(entry) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _in_one_piece(
    source: Source, entry: zipfile.ZipInfo, begin: int, count: int, dtype: np.dtype[Any], mapped: bool
) -> Ids:
    """An uncompressed array, mapped or read; `begin` is its offset in the entry."""
    with source.path.open("rb") as file:
        file.seek(entry.header_offset)
        place = entry.header_offset + LOCAL_HEADER.size + sum(LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size)))
    if mapped:
        return map_array(source.path, place + begin, count, dtype) if count else np.empty(0, dtype)
    piece = np.empty(entry.file_size, np.uint8)

    def read_part(begin: int) -> tuple[int, int]:
        part = piece[begin : begin + _PART_BYTES].data
        with source.path.open("rb", buffering=0) as file:
            file.seek(place + begin)
            size = 0
            while size < len(part) and (more := file.readinto(part[size:])):
                size += more
        return zlib.crc32(part), size

    parts = range(0, len(piece), _PART_BYTES)
    crc = size = 0
    for part_crc, part_size in each(_THREADS, parts, read_part) if len(parts) > 1 else map(read_part, parts):
        crc = joined_crc(crc, part_crc, part_size) if size else part_crc
        size += part_size
    if size < entry.file_size or crc != entry.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {entry.filename!r}")
    return piece[begin : begin + count * dtype.itemsize].view(dtype)


def _own(source: Source, request: Request, arrays: _Arrays) -> Graph:
    layout = int(arrays[_OWN])
    if layout != _LAYOUT:
        raise source.fail(f"layout {layout} is not supported, only {_LAYOUT}; write the file again, or upgrade hopwave")
    weights = arrays["weights"] if "weights" in arrays and request.weights else None
    indptr, indices, directed = arrays["indptr"], arrays["indices"], bool(arrays["directed"])
    labels: Any = None
    if request.labels and "label_offsets" in arrays:
        labels = _texts(arrays["label_bytes"], arrays["label_offsets"])
    elif request.labels and "labels" in arrays:
        labels = arrays["labels"].astype(np.int64, casting="same_kind").astype(object)
    combine, mapped = None if weights is None else request.combine, arrays.mapped
    if "parallel" in arrays and combine is None and not mapped:
        return request.turned(source, _with_parallel_arcs(indptr, indices, directed, weights, labels))
    if mapped and not (len(indptr) and indptr[0] == 0 and indptr[-1] == len(indices)):
        raise ValueError("indptr does not increase from 0 to the number of arcs")
    graph = Graph.from_csr(indptr, indices, directed, labels=labels, weights=weights, combine=combine, check=not mapped)
    if mapped and "in_indptr" in arrays:
        back = Rows(arrays["in_indptr"], arrays["in_indices"], None if weights is None else arrays["in_weights"])
        if [part.dtype for part in back[:2]] != [graph.indptr.dtype, np.int32] or len(back.indices) != graph.m:
            raise ValueError("in_indptr and in_indices are not the transpose of indptr and indices")
        graph = Graph._of(graph._rows, None, True, graph.labels, "cpu", "ascending", back)
    return request.turned(source, graph)


def _with_parallel_arcs(indptr: Ids, indices: Ids, directed: bool, weights: Ids | None, labels: Any) -> Graph:
    """The graph of adjacency lists with repeated neighbours, which `from_csr` would merge."""
    n = len(indptr) - 1
    check_rows(indptr, indices, n)
    source = np.repeat(np.arange(n), np.diff(indptr))
    once = slice(None) if directed else source <= indices
    graph = Graph.from_edges(
        source[once], indices[once], n, directed, repeats="keep", labels=labels,
        weights=None if weights is None else weights[once],
    )  # fmt: skip
    same: list[Any] = [(graph.indptr, indptr), (graph.indices, indices), (graph.weights, weights)]
    if not all(np.array_equal(mine, theirs) for mine, theirs in same):
        raise ValueError("adjacency lists are not sorted, or not symmetric for an undirected graph")
    return graph


def _texts(data: Ids, offsets: Ids) -> list[str]:
    if data.dtype != np.uint8 or data.ndim != 1 or offsets.dtype.kind != "i" or offsets.ndim != 1 or not len(offsets):
        raise ValueError("label_bytes must be a uint8 array, and label_offsets an array of integers")
    if offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
        raise ValueError("offsets of labels do not increase from 0 to the number of bytes")
    text = data.tobytes()
    return [text[i:j].decode("utf-8", "surrogatepass") for i, j in itertools.pairwise(offsets.tolist())]


def _scipy(source: Source, request: Request, arrays: _Arrays) -> Graph:
    import scipy.sparse as sp

    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    shape = tuple(arrays["shape"].tolist())
    if len(shape) != 2 or shape[0] != shape[1]:
        raise source.fail(f"a matrix of shape {shape}; a graph needs a square matrix, with one row per vertex")
    Request().vertices(source, shape[0])
    if kind not in ("csr", "csc", "bsr", "coo", "dia"):
        raise source.fail(f"a SciPy matrix of kind {kind!r}; expected csr, csc, bsr, coo or dia")
    made: tuple[Any, ...]
    if kind == "coo":
        made = arrays["data"], (arrays["row"], arrays["col"]) if "row" in arrays else tuple(arrays["coords"])
    else:
        made = arrays["data"], *(arrays[name] for name in (("offsets",) if kind == "dia" else ("indices", "indptr")))
    A = getattr(sp, f"{kind}_array")(made, shape=shape)
    if kind in ("csr", "csc", "bsr"):
        A.check_format(full_check=True)
    if A.dtype.kind == "b" or not request.weights:
        return Graph.from_scipy(A.astype(np.bool_), directed=request.directed, weights=False)
    return Graph.from_scipy(A, directed=request.directed, combine=request.combine)


def write(target: Target, graph: Graph, *, compress: bool = False, reverses: bool = False) -> None:
    """Write the graph's arrays. `reverses=True` also writes a directed graph's arcs by their heads, for `mmap=True`."""
    compress, reverses = flag("compress", compress), flag("reverses", reverses)
    graph = graph._ascending()
    arrays = {_OWN: np.array(_LAYOUT), "directed": np.array(graph.directed)}
    arrays |= {"indptr": graph.indptr, "indices": graph.indices}
    if graph.has_parallel_arcs:
        arrays["parallel"] = np.array(True)
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    if reverses and graph.directed:
        arrays |= {"in_indptr": graph.in_indptr, "in_indices": graph.in_indices}
        arrays |= {} if graph.in_weights is None else {"in_weights": graph.in_weights}
    names = plain_labels(target, graph, encoded=False)
    if names is not None:
        if names and isinstance(names[0], int):
            arrays["labels"] = np.array(names, np.int64)
        else:
            texts = [str(name).encode("utf-8", "surrogatepass") for name in names]
            arrays["label_offsets"] = np.cumsum([0, *map(len, texts)], dtype=np.int64)
            arrays["label_bytes"] = np.frombuffer(b"".join(texts), np.uint8)
    write_arrays(target.stream, arrays, packed=compress and not any(map(_packs_too_well, arrays.values())))


def _packs_too_well(array: Ids) -> bool:
    """Whether an array compresses so well that a reader would reject it, such as 10⁸ zero offsets."""
    if array.nbytes <= FREE_BYTES // 8:
        return False
    packed = zlib.compress(np.ascontiguousarray(array).view(np.uint8).data, 1)
    return len(packed) * MOST_TIMES_UNPACKED <= 2 * array.nbytes
