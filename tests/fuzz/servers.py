"""Fuzzing of `datasets.fetch`: servers that cut, lie about lengths and ranges, redirect, and send other content.

A server answers each request in a way that is drawn: right, or with one or more mistakes. It has two versions of a
graph. What `fetch` returns must be one of them, whole; anything else is an error of hopwave's with a remedy. Afterwards
the server is honest, and the next call gives a graph: no mistake outlives its call.
"""

import io
import random
import socketserver
import tarfile
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hopwave as hw
from hopwave import datasets, generate
from hopwave.datasets import fetching
from questions import Difference

NAME = "Newman/tiny"
PATIENCE = 0.2  # seconds
GRAPHS = (generate.path(900), generate.cycle(700))


def archive(graph: hw.Graph) -> bytes:
    """The .tar.gz of a graph, in which no long text repeats, so that it can be cut in many places."""
    u, v = graph.to_edges()
    lines = "".join(f"{b + 1} {a + 1}\n" for a, b in zip(u.tolist(), v.tolist(), strict=True))
    text = f"%%MatrixMarket matrix coordinate pattern symmetric\n{graph.n} {graph.n} {len(u)}\n{lines}".encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        entry = tarfile.TarInfo("tiny/tiny.mtx")
        entry.size = len(text)
        tar.addfile(entry, io.BytesIO(text))
    return packed.getvalue()


ARCHIVES = tuple(map(archive, GRAPHS))


class Server(socketserver.ThreadingTCPServer):
    """Answers as `draw` says; honest, with the version that it has, once `draw` is None."""

    allow_reuse_address, daemon_threads = True, True

    def __init__(self, draw: random.Random | None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.draw, self.version, self.story = draw, 0, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.ended = threading.Event()


class Handler(socketserver.StreamRequestHandler):
    """One request."""

    server: Any

    def handle(self) -> None:
        lines = []
        while (line := self.rfile.readline().strip()) and len(lines) < 50:
            lines.append(line.decode("latin-1"))
        wanted = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        first = int(wanted["range"].strip("bytes=-")) if "range" in wanted else 0
        draw, data, tag = self.server.draw, ARCHIVES[self.server.version], f'"v{self.server.version}"'
        if wanted.get("if-range") != tag or first >= len(data):
            first = 0
        if draw is None:
            self.answer(206 if first else 200, data[first:], {"Content-Length": len(data) - first, "ETag": tag}, first)
            return
        how = draw.choice(("right", "right", "cut", "cut", "length", "range", "other", "status", "tag", "slow", "raw"))
        self.server.story.append(how)
        if draw.random() < 0.1:
            self.server.version = 1 - self.server.version
        headers: dict[str, Any] = {"Content-Length": len(data) - first, "ETag": tag}
        status, body = 206 if first else 200, data[first:]
        if how == "cut":
            body = body[: draw.randrange(len(body))]
        elif how == "length":
            lie = draw.choice((None, 0, 1, len(body) - 1, len(body) + 1, -1, "x", "9" * 5000, 2**70, "١٢"))
            headers["Content-Length"] = lie
        elif how == "range":
            status, lie = 206, draw.choice((None, "bytes 0-1/2", f"bytes {first}-/9", "x", f"bytes 0-{len(data)}/*"))
            headers["Content-Range"] = lie or f"bytes {first}-{len(data) - 1}/{len(data)}"
        elif how == "other":
            body = draw.choice((b"", b"<html>", ARCHIVES[1 - self.server.version][first:], bytes(2000), body[::-1]))
            headers["Content-Length"] = draw.choice((len(body), None))
        elif how == "status":
            status = draw.choice((204, 301, 302, 307, 400, 403, 404, 416, 429, 500, 503, 999))
            headers["Location"] = draw.choice(("/loop", "/", "file:///etc/hostname", "http://[", "http://127.0.0.1:9/"))
        elif how == "tag":
            other = f'"{draw.random()}"'
            headers["ETag"] = draw.choice((None, f"W/{other}", other, '"v0"', "ä", '"\r\nX: y"'))
            body = body[: draw.choice((len(body), len(body) // 2))]
        elif how == "raw":
            self.wfile.write(draw.choice((b"", b"\r\n", b"HTTP/9.9 what\r\n\r\n", b"HTTP/1.1 200", bytes(70_000))))
            return
        pause = draw.randrange(len(body) + 1) if how == "slow" else None
        if how == "right" and draw.random() < 0.3:
            headers["Transfer-Encoding"], headers["Content-Length"] = "chunked", None
            lie = draw.choice(("", "", "zz\r\n", "5\r\nab"))
            body = f"{len(body):x}\r\n".encode() + body + f"\r\n{lie}0\r\n\r\n".encode()
        self.answer(status, body, headers, first, pause)

    def answer(self, status: int, body: bytes, headers: dict[str, Any], first: int, pause: int | None = None) -> None:
        if status == 206 and "Content-Range" not in headers:
            whole = first + len(body) if self.server.draw is None else len(ARCHIVES[self.server.version])
            headers["Content-Range"] = f"bytes {first}-{whole - 1}/{whole}"
        lines = [f"HTTP/1.1 {status} Said", *(f"{key}: {value}" for key, value in headers.items() if value is not None)]
        head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("utf-8")
        try:
            self.wfile.write(head + body[:pause])
            if pause is not None:
                self.wfile.flush()
                self.server.ended.wait(2 * PATIENCE)
                self.wfile.write(body[pause:])
        except OSError:  # the client has left
            pass


def inputs(draw: random.Random, folder: Path) -> int:
    """Fetch from one server a few times, then from an honest one."""
    cache, server = folder / str(draw.random()), Server(draw)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    found: list[Any] = []
    try:
        for _ in range(draw.randint(1, 3)):
            found.append(fetched(server, cache))
        server.draw = None
        server.ended.set()
        last = fetched(server, cache)
        if isinstance(last, hw.HopwaveError):  # the rest of a cut download may be useless: the next call begins anew
            last = fetched(server, cache)
        if isinstance(last, hw.HopwaveError):
            raise Difference(f"after {server.story}: an honest server is not believed: {last}")
        had = [one for one in found if not isinstance(one, hw.HopwaveError)]
        if had and last != had[0]:
            raise Difference(f"after {server.story}: a cached graph changed")
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
    if left := [file.name for file in cache.rglob("*.*") if file.suffix not in (".mtx", ".sha256")]:
        raise Difference(f"after {server.story}: {left} are left")
    return len(found) + 1


def fetched(server: Server, cache: Path) -> Any:
    """One of the two graphs, or the error."""
    try:
        with patch.object(fetching, "PATIENCE", PATIENCE):
            graph = datasets.fetch(NAME, url=server.url, cache=cache, progress=False)
    except hw.HopwaveError as error:
        if "; " not in str(error):
            raise Difference(f"after {server.story}: no remedy in {error}") from error
        return error
    except Exception as error:
        raise Difference(f"after {server.story}: {type(error).__name__}: {error}") from error
    if graph not in GRAPHS:
        raise Difference(f"after {server.story}: {graph}, which no server has")
    return graph
