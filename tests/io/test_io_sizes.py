"""Declared sizes, and what a file unpacks to, are not trusted: a lie costs neither memory nor time."""

import gzip
import random
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import hopwave as hw
from hopwave import FormatError
from hopwave.io import lines

MANY = 10**12
HEADERS = {
    "edges.mtx": b"%%%%MatrixMarket matrix coordinate pattern general\n4 4 %d\n1 2\n" % MANY,
    "vertices.mtx": b"%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n1 2\n" % (MANY, MANY),
    "two billion.mtx": b"%%MatrixMarket matrix coordinate pattern general\n2000000000 2000000000 1\n1 2\n",
    "edges.gr": b"p sp 4 %d\na 1 2 1\n" % MANY,
    "vertices.gr": b"p sp %d 1\na 1 2 1\n" % MANY,
    "edges.graph": b"4 %d\n2\n1\n\n\n" % MANY,
    "vertices.graph": b"%d 1\n2\n1\n" % MANY,
    "vertices.net": b"*Vertices %d\n*Edges\n1 2\n" % MANY,
    "both.txt": b"# Nodes: %d Edges: %d\n0 1\n" % (MANY, MANY),
    "two billion.txt": b"# Nodes: 2000000000 Edges: 1\n0 1\n",
    "edges.sg": struct.pack("<?qq", False, MANY, 4) + bytes(48),
    "vertices.sg": struct.pack("<?qq", False, 4, MANY) + bytes(48),
}
MOST_MEMORY = 200 << 20
MOST_SECONDS = 10  # on a busy machine; an idle one needs less than one


def refused(path: Path, words: str = ".") -> None:
    """The file is refused with little memory and in little time."""
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(FormatError, match=words):
            hw.read(path, progress=False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_MEMORY and time.process_time() - began < MOST_SECONDS


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", HEADERS)
def test_sizes_in_a_header(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(HEADERS[name]) if packed else HEADERS[name])
    refused(path, "vertices; expected at most|; pass n=|ends after|bytes early|bytes of|are listed")


BOMBS = {"zeros.txt": b"\0", "edges.txt": b"0 1\n", "quotes.csv": b'"', "digits.graph": b"1", "zeros.sg": b"\0"}


@pytest.mark.parametrize("name", BOMBS)
def test_a_gzip_file_of_one_byte_again_and_again(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(BOMBS[name] * (20_000_000 // len(BOMBS[name])), compresslevel=6))
    assert path.stat().st_size < 300_000
    refused(path, "unpacks to more than 300 times its size")


@pytest.mark.parametrize("after", [(b"#" + b"x" * 4094 + b"\n") * 256, b"7" * (1 << 20)], ids=["lines", "one line"])
def test_a_gzip_file_that_begins_as_a_graph(after: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "FREE_BYTES", 1 << 18)
    monkeypatch.setattr(lines, "FIRST_BYTES", 1 << 12)
    monkeypatch.setattr(lines, "BLOCK", 1 << 16)
    monkeypatch.setattr(lines, "MOST_TIMES_UNPACKED", 20)
    draw, path = random.Random(1), tmp_path / "a.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"".join(b"%d %d\n" % (draw.randrange(1000), draw.randrange(1000)) for _ in range(2000)))
        for _ in range(8):
            file.write(after)
    refused(path, "unpacks to more than 20 times its size")


def test_a_file_that_packs_well_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    hw.write(path, hw.generate.star(50_000))
    assert hw.read(path, progress=False).m == 2 * 49_999


def test_an_archive_whose_entries_lie(tmp_path: Path) -> None:
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({MANY},), }}".encode()
    text += b" " * (63 - (len(text) + 10) % 64) + b"\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("indptr", "indices", "shape", "format", "data"):
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(80))
    refused(tmp_path / "a.npz", "declares 8,000,000,000,000 bytes and contains")


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["indptr", "indices", "data", "labels"])
def test_an_archive_of_one_byte_again_and_again(entry: str, tmp_path: Path) -> None:
    arrays = {
        "hopwave": np.array(3), "directed": np.array(True), "indptr": np.zeros(4, np.int64),
        "indices": np.zeros(0, np.int32), "weights": np.zeros(0), "labels": np.arange(3),
    }  # fmt: skip
    if entry == "data":
        arrays = {
            "format": np.array("csr"), "shape": np.array([3, 3]), "indptr": np.zeros(4, np.int32),
            "indices": np.zeros(0, np.int32), "data": arrays["weights"],
        }  # fmt: skip
    arrays[entry] = np.zeros(18_000_000, arrays[entry].dtype)
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    assert (tmp_path / "a.npz").stat().st_size < 300_000
    refused(tmp_path / "a.npz", "unpacks to more than 300 times its size")


@pytest.mark.slow
@pytest.mark.parametrize("values", [np.zeros(20_000_000, np.int64), ["x" * 1000] * 200_000], ids=["ids", "names"])
def test_a_parquet_file_of_one_value_again_and_again(values: Any, tmp_path: Path) -> None:
    column = pa.array(values)
    parquet.write_table(pa.table({"source": column, "target": column}), tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 300_000
    del column
    refused(tmp_path / "a.parquet", "unpacks to more than 300 times its size")


def test_an_archive_that_would_pack_too_well_is_written_unpacked(tmp_path: Path) -> None:
    graph = hw.Graph.from_edges([0], [1], n=20_000_000)
    hw.write(tmp_path / "a.npz", graph)
    assert (tmp_path / "a.npz").stat().st_size > 80_000_000
    assert hw.read(tmp_path / "a.npz", progress=False).n == graph.n
