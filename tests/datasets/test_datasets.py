"""Small graphs compared with NetworkX's copies, and downloads from a local server; others: tests/fuzz/servers.py."""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import hopwave as hw
from hopwave import datasets
from hopwave.cli import main
from hopwave.datasets import collection, fetching
from hopwave.papers.graphs import Limits, Shelf
from hopwave.papers.records import table

NAME, PART = "Newman/tiny", ".tiny.tar.gz.download.part"
EDGES = "".join(f"{2 + i} {1 + i}\n" for i in range(3000))
MTX = f"%%MatrixMarket matrix coordinate pattern symmetric\n3001 3001 3000\n{EDGES}".encode()


def archive(member: str = "tiny/tiny.mtx", content: bytes = MTX, **about: Any) -> bytes:
    """A .tar.gz with an irrelevant file, then this member."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in (("tiny/tiny_coord.mtx", b"no graph"), (member, content)):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            if name == member:
                for key, value in about.items():
                    setattr(entry, key, value)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        wanted, data = self.headers["Range"], self.server.files.get(self.path)
        self.server.asked.append(wanted)
        if data is None:
            return self.send_error(404)
        first = int(re.findall(r"\d+", wanted)[0]) if wanted else 0
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(data) - first))
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.send_header("ETag", '"first"')
        self.end_headers()
        self.wfile.write(data[first:][: self.server.cuts.pop(0) if self.server.cuts else None])
        return None

    def log_message(self, *_: object) -> None:
        pass


class Site(ThreadingHTTPServer):
    """What the server has, after how many bytes its next responses break off, and the Range header of every request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {f"/{NAME}.tar.gz": archive()}
        self.cuts: list[int] = []
        self.asked: list[str | None] = []


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with Site() as server, ThreadPoolExecutor(1) as pool:
        pool.submit(server.serve_forever, 0.01)
        monkeypatch.setenv("HOPWAVE_MIRROR", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("HOPWAVE_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("no_proxy", "*")
        yield server
        server.shutdown()


def files(tmp_path: Path) -> set[str]:
    """The files in the cache folder."""
    return {file.name for file in (tmp_path / "cache").rglob("*") if file.is_file()}


# ---------------------------------------------------------------- small graphs

FAMOUS = {"karate": nx.karate_club_graph, "les-miserables": nx.les_miserables_graph}


@pytest.mark.parametrize("name", datasets.names())
def test_small_graphs_are_connected_and_the_same_every_time(name: str) -> None:
    G, again = datasets.load(name), datasets.load(name)
    assert 30 < G.n < 2000 and nx.is_connected(ours := G.to_networkx())
    assert np.array_equal(G.indices, again.indices) and np.array_equal(G.weights, again.weights)
    if name in FAMOUS:
        expected = FAMOUS[name]()
        assert {frozenset(edge) for edge in ours.edges} == {frozenset(edge) for edge in expected.edges}
        assert name == "karate" or all(expected[u][v]["weight"] == w for u, v, w in ours.edges(data="weight"))
    if name == "road":  # lengths of streets in metres
        assert G.weights is not None and G.weights.min() > 100 - 2 * 30 and G.weights.max() < 100 + 2 * 60


# ---------------------------------------------------------------- the papers' table


def test_stated_sizes_are_those_of_the_files_at_hand(data: Path) -> None:
    """Reads the first two lines of each file; no symmetric matrix has self-loops."""
    seen = 0
    for entry in datasets.published():
        file = data / f"{entry.name.partition('/')[2]}.mtx.gz"
        if file.exists():
            with gzip.open(file, "rt") as lines:
                kind, size = next(lines), next(line for line in lines if not line.startswith("%"))
            n, _, stored = map(int, size.split())
            m = 2 * stored if "symmetric" in kind else stored
            assert entry.differs(n, m) is None and entry.differs(n, m + 1)
            seen += 1
    assert seen >= 6


@pytest.mark.parametrize("k", [12, 13])
def test_rounded_sizes_fit_the_graphs_that_we_generate(k: int) -> None:
    G, entry = hw.generate.mycielskian(k), collection.find(f"mycielskian{k}")
    assert entry is not None and entry.differs(G.n, G.m) is None
    assert entry.differs(G.n + 2000, G.m) and entry.differs(G.n, G.m - 2000)


def test_a_graph_of_another_size_than_stated_is_refused(site: Site) -> None:
    site.files["/Newman/astro-ph.tar.gz"] = archive("astro-ph/astro-ph.mtx")
    with pytest.raises(hw.FormatError, match=r"3,001 vertices, not 16,706; 6,000 arcs, not 242,502 as stated in"):
        datasets.fetch("astro-ph")


def test_a_paper_takes_a_graph_that_can_be_had_and_a_stand_in_for_one_that_cannot(site: Site, tmp_path: Path) -> None:
    """From a server that has one of two graphs; after the first failure the network is not asked again."""
    G = hw.generate.kronecker(9, seed=1)
    hw.write(tmp_path / "graph.mtx", G)
    site.files["/Group/here.tar.gz"] = archive("here/here.mtx", (tmp_path / "graph.mtx").read_bytes())
    shelf = Shelf("cpu", Limits(1_000_000, 0, 20_000, download=True))
    here, gone, later = table("a Group/here social U 1 10\nb Group/gone road U 2 5\nc Group/later mesh U 1 6", (), "1")
    found = shelf.get(here)
    assert found.graph is not None and (found.graph.n, found.graph.m, found.origin) == (G.n, G.m, "the paper's file")
    for case, what in ((gone, "stand-in: 2,000 vertices in "), (later, "stand-in: Delaunay triangulation")):
        found = shelf.get(case)
        assert found.graph is not None and found.origin.startswith(what)
    assert len(site.asked) == 2 and "gone" in shelf.offline


# ---------------------------------------------------------------- downloads


def test_a_graph_is_downloaded_once_into_a_private_cache(site: Site, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:  # each thread opens the lock itself, as processes do
        assert {G.m for G in pool.map(lambda _: datasets.fetch(NAME, progress=False), range(4))} == {6000}
    assert files(tmp_path) == {"tiny.mtx", "tiny.sha256"}
    cache = tmp_path / "cache" / "Newman"
    assert stat.S_IMODE(cache.parent.stat().st_mode) == stat.S_IMODE(cache.stat().st_mode) == 0o700
    cache.chmod(0o500)  # a shared cache may be read-only
    assert datasets.fetch(NAME, url="http://127.0.0.1:9").m == 6000 and site.asked == [None]
    cache.chmod(0o700)
    file = datasets.download(NAME)
    lines = dict(line.split()[::-1] for line in file.with_suffix(".sha256").read_text().splitlines())
    assert lines == {"tiny.mtx": fetching.digest(file), "tiny.tar.gz": lines["tiny.tar.gz"]}
    file.write_bytes(MTX[:-10])  # no longer the file of the checksum
    assert datasets.download(NAME).read_bytes() == MTX and len(site.asked) == 2


def test_a_cut_connection_is_continued_in_the_same_call_or_in_the_next(site: Site, tmp_path: Path) -> None:
    site.cuts = [100] * (1 + fetching.RETRIES)
    with pytest.raises(hw.DownloadError, match=r"lost 4 times after 400 bytes of .*; call again to resume"):
        datasets.fetch(NAME)
    assert files(tmp_path) == {PART, f"{PART}.json"}
    with pytest.raises(hw.DownloadError, match="no connection"):
        datasets.fetch(NAME, url="http://127.0.0.1:9")
    site.cuts = [1000]
    assert datasets.fetch(NAME).m == 6000
    assert site.asked == [None, *(f"bytes={have}-" for have in (100, 200, 300, 400, 1400))]


def test_a_graph_that_the_server_lacks(site: Site, tmp_path: Path) -> None:
    with pytest.raises(hw.DownloadError, match=r"no such file \(404\); did you mean 'SNAP/email-Enron'") as caught:
        datasets.fetch("SNAP/email-enron")
    assert caught.value.status == 404 and files(tmp_path) == set()
    with pytest.raises(hw.DownloadError, match="responded 404"):
        datasets.fetch("Zoo/qqqqqq")
    with pytest.raises(hw.DownloadError, match=r"no connection \(.*refused.*\); check the network, or set a mirror"):
        datasets.fetch(NAME, url="http://127.0.0.1:9")


# ---------------------------------------------------------------- archives

GOOD = archive()


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        (GOOD[:3000] + bytes(40) + GOOD[3040:], "damaged"),
        (GOOD[:-8] + bytes(8), "damaged"),  # the checksum at the end
        (b"<html>maintenance</html>", "damaged"),
        (archive("tiny/other.mtx"), "is not in this archive"),
        (archive("../tiny.mtx"), "is not in this archive"),
        (archive(type=tarfile.SYMTYPE, linkname="/etc/passwd", size=0, content=b""), "is a link or a device"),
    ],
)
def test_a_bad_archive_leaves_nothing_behind(site: Site, tmp_path: Path, packed: bytes, said: str) -> None:
    site.files[f"/{NAME}.tar.gz"] = packed
    with pytest.raises(hw.FormatError, match=said):
        datasets.fetch(NAME)
    assert files(tmp_path) == set()
    site.files[f"/{NAME}.tar.gz"] = GOOD
    assert datasets.fetch(NAME).m == 6000


def test_a_long_header_of_an_archive_is_not_read(site: Site, tmp_path: Path) -> None:
    long = archive(pax_headers={"comment": "x" * 30_000_000})
    assert len(long) < 200_000
    site.files[f"/{NAME}.tar.gz"] = long
    tracemalloc.start()
    with pytest.raises(hw.FormatError, match=r"a header of 30\.00 MB exceeds"):
        datasets.fetch(NAME)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15_000_000 and files(tmp_path) == set()


def test_a_graph_that_cannot_be_read_as_asked_is_kept(site: Site) -> None:
    twice = b"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 5\n1 2 6\n"
    site.files[f"/{NAME}.tar.gz"] = archive(content=twice)
    with pytest.raises(hw.FormatError, match="different weights"):
        datasets.fetch(NAME)
    assert datasets.fetch(NAME, weights=False).m == 1 and len(site.asked) == 1


def test_trouble_with_files_is_a_download_error(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = datasets.download(NAME)
    file.with_suffix(".sha256").write_bytes(b"\xff\xfe")
    assert datasets.download(NAME) == file and len(site.asked) == 2, "a record that cannot be read is none"
    file.with_suffix(".sha256").unlink()
    (file.parent / PART).mkdir()
    with pytest.raises(hw.DownloadError, match=r"tiny\.mtx: not downloaded \(Is a directory\); .* cache="):
        datasets.download(NAME)
    for cache in ("a\0b", "\ud800"):
        with pytest.raises(hw.DownloadError, match="not downloaded"):
            datasets.download(NAME, cache=tmp_path / cache)
    with pytest.raises(hw.DownloadError, match=r"not downloaded|no connection"):
        datasets.download(NAME, url="http://" + "ä" * 70 + ".example", cache=tmp_path / "other")


def test_sizes_are_limited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.datasets.fetching.MOST", len(MTX) - 1)
    with pytest.raises(hw.FormatError, match="check the name"):
        datasets.fetch(NAME)
    monkeypatch.setattr("hopwave.datasets.fetching.MOST", 1000)
    with pytest.raises(hw.DownloadError, match="this graph may have"):
        datasets.fetch(NAME)


# ---------------------------------------------------------------- the command


def test_the_command(site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fetch", NAME]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'cache' / 'Newman' / 'tiny.mtx'}\n"
    out = tmp_path / "tiny.npz"
    assert main(["fetch", NAME, str(out)]) == 0 and hw.read(out).m == 6000
    assert main(["fetch", "karate", str(tmp_path / "karate.metis")]) == 0
    assert hw.read(tmp_path / "karate.metis").m == 156
    assert main(["fetch", "--list"]) == 0 and "SNAP/email-Enron" in capsys.readouterr().out
    assert main(["fetch", "Zoo/ape", "--url", "http://127.0.0.1:9"]) == 4
