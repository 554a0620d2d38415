"""Fuzzers of promises that need no other program: certificates, options, samples, the same bits, files."""

import inspect
import io
import os
import pickle
import random
import re
import stat
import string
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import interrupts
import numpy as np
import scipy  # its stats take two seconds to import: only where they are used
from kills import forked, status_of

import every_call
import hopwave as hw
import mixed
import oracle
import public_calls
from hopwave import engines, generate
from hopwave.engines import host_memory
from hopwave.system.files import why_not_trusted
from questions import Difference, cases


def graph(draw: random.Random, directed: bool | None = None) -> hw.Graph:
    """A small odd graph of cases.py."""
    n, directed = draw.choice((2, 3, 5, 8, 12, 20, 33)), draw.random() < 0.5 if directed is None else directed
    u, v = zip(*(cases.pairs(draw, n) or [(0, 1)]), strict=True)
    return hw.Graph.from_edges(list(u), list(v), n=n, directed=directed)


# ---------------------------------------------------------------- answers


def certificates(draw: random.Random, folder: Path) -> int:
    """An engine loses or adds a part of its sums: an error, exactly if the sums were changed."""
    engine = engines.engine("cpu")
    accumulation = engine.accumulation
    G = graph(draw)
    ask = draw.choice((hw.betweenness_centrality, hw.edge_betweenness_centrality))
    off = draw.choice((0.0, 1e-6, -1e-6, 0.01, -0.5, 1.0, float("nan"), float("inf")))
    each, changed = draw.random() < 0.5, False

    def damaged(*given: Any) -> Any:
        run = accumulation(*given)
        advance = run.advance

        def wrong(*arguments: Any) -> Any:
            nonlocal changed
            done = advance(*arguments)
            sums = run.certificate[:, 0] if each else run.total
            place = int(np.argmax(sums)) if len(sums) else 0
            if off and len(sums) and sums[place] and not changed:
                sums[place] *= 1 + off
                changed = True
            return done

        run.advance = wrong
        return run

    with patch.object(engine, "accumulation", damaged):
        try:
            ask(G, device="cpu")
            refused = False
        except hw.EngineError as error:
            refused = "please report" in str(error)
    if refused != changed:
        raise Difference(f"{ask.__name__} of {G.indptr.tolist()} {G.indices.tolist()}: off by {off}, {refused=}")
    return 1


def overflow(draw: random.Random, folder: Path) -> int:
    """Layers of random widths, up to 2^2000 paths from end to end, beside integers of any length."""
    widths = [draw.randint(1, 5) for _ in range(draw.choice((20, 40, 300, 900)))]
    if draw.random() < 0.3:
        widths = [1, 2] * (len(widths) // 2)
    starts = np.cumsum([0, *widths])
    u, v = [], []
    for layer in range(len(widths) - 1):
        for a in range(starts[layer], starts[layer + 1]):
            for b in range(starts[layer + 1], starts[layer + 2]):
                if draw.random() < 0.9 or a == starts[layer]:
                    u.append(a)
                    v.append(b)
    G = hw.Graph.from_edges(u, v, n=int(starts[-1]), directed=draw.random() < 0.5)
    sources = draw.sample(range(G.n), 2)
    found = hw.betweenness_centrality(
        G,
        sources=sources,
        normalized=False,
        device="cpu",
        plan=draw.choice(("auto", "hopwave-block", "hopwave-wide")),
    )
    right = oracle.betweenness(G, sources, normalized=False, exact=False)
    if not np.allclose(found.scores, np.array(right, np.float64), rtol=1e-9, atol=1e-9):
        raise Difference(f"layers {widths}, sources {sources}: {found.scores.tolist()}")
    return 1


# ---------------------------------------------------------------- options


def odd(draw: random.Random) -> Any:
    """A value that hardly any option can have."""
    return draw.choice((
        lambda: "".join(draw.choices(string.printable, k=draw.randint(0, 9))),
        lambda: draw.uniform(-9, 9),
        lambda: draw.choice((-1, -(10**30), 10**30, 2, 7, 1 << 63)),
        lambda: draw.choice((float("nan"), float("inf"), -float("inf"), 1e300, 5e-324, complex(1, 2))),
        lambda: np.array([draw.randint(-3, 3) for _ in range(draw.randint(0, 3))]),
        lambda: draw.choice((np.float32(2.5), np.int8(-3), np.bool_(True), np.str_("x"), np.datetime64("NaT"))),
        lambda: draw.choice((np.ma.masked, object(), object, len, b"cpu", bytearray(b"x"), Ellipsis, NotImplemented)),
        lambda: draw.choice(([], [None], {}, {"a": 1}, set(), (), ((),), [[1], [1, 2]], range(0), iter(()), slice(2))),
        lambda: np.zeros((2, 2)),
    ))()  # fmt: skip


def wanted(option: inspect.Parameter, value: Any) -> bool:
    """Whether the value must be refused: neither True nor False, no number of threads, or an unknown word."""
    kind = str(option.annotation)
    if option.name == "threads":
        return not (isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0)
    if kind in ("bool", "bool | None"):
        return not (np.ndim(value) == 0 and isinstance(value, int | float | np.bool_ | np.number) and value in (0, 1))
    return option.name in ("device", "direction", "method", "repeats")


LEFT_ALONE = {"progress", "checkpoint", "executor", "out", "memory_limit"}  # they call, open or replace what they get


def options(draw: random.Random, folder: Path) -> int:
    """Random values for random options of random functions: an answer or hopwave's error, never another program's."""
    known = [
        (name, function, option)
        for name, function in every_call.functions()
        for option in public_calls.options(function).values()
        if option.kind not in (option.VAR_KEYWORD, option.VAR_POSITIONAL) and option.name not in LEFT_ALONE
    ]

    name, function, option = draw.choice(known)
    given, value = public_calls.required(function), odd(draw)
    if "strong" in name or "weak" in name:
        given["G"] = generate.cycle(4, directed=True)
    where = f"{name}({option.name}={' '.join(repr(value).split())})"
    try:
        found = function(**given | {option.name: value})
        list(found) if hasattr(found, "__next__") else None
    except hw.HopwaveError as error:
        if not str(error):
            raise Difference(f"{where}: {error!r} says nothing") from error
    except Exception as error:
        raise Difference(f"{where}: {error!r}") from error
    else:
        if wanted(option, value) and not (value is None and "None" in str(option.annotation)):
            raise Difference(f"{where} is accepted")
    return 1


# ---------------------------------------------------------------- samples


TRIED: Counter[str] = Counter()
FAILED: Counter[str] = Counter()


def samples(draw: random.Random, folder: Path) -> int:
    """Bounds that hold with risk delta: too many that fail are an error. A chance of 10⁻⁶ for one false alarm."""
    G, seed, delta = graph(draw, directed=False), draw.randrange(1 << 30), 0.3
    k = draw.randint(1, G.n)
    kinds: dict[str, Callable[[], Any]] = {
        "k": lambda: hw.betweenness_centrality(G, k=k, seed=seed, delta=delta),
        "harmonic": lambda: hw.harmonic_centrality(G, k=k, seed=seed, delta=delta),
        "paths": lambda: hw.betweenness_centrality(G, epsilon=0.15, method="paths", seed=seed, delta=delta),
        "sources": lambda: hw.betweenness_centrality(G, epsilon=0.15, method="sources", seed=seed, delta=delta),
    }
    kind = draw.choice(list(kinds))
    found = kinds[kind]()
    right = (hw.harmonic_centrality if kind == "harmonic" else hw.betweenness_centrality)(G).scores
    off = np.abs(found.scores - right)
    if kind in ("paths", "sources") and found.bounds.max() > 0.15 + 1e-12:
        raise Difference(f"{kind} {seed}: a bound of {found.bounds.max()}")
    TRIED[kind] += 1
    FAILED[kind] += bool((off > found.bounds + 1e-12).any())
    if scipy.stats.binom.sf(FAILED[kind] - 1, TRIED[kind], delta) < 1e-6:
        raise Difference(f"{kind}: {FAILED[kind]} of {TRIED[kind]} samples are outside of their bounds")
    return 1


# ---------------------------------------------------------------- the same bits


POOL = ThreadPoolExecutor(3)


def bits(draw: random.Random, folder: Path) -> int:
    """Threads, less memory and executors change no bit."""
    interrupts.eager()
    seed = draw.randrange(99)
    G = draw.choice((
        lambda: generate.delaunay(draw.randint(50, 400), seed=seed),
        lambda: generate.kronecker(8, 4, seed=seed, directed=draw.random() < 0.5),
        lambda: graph(draw),
    ))()  # fmt: skip
    some = draw.sample(range(G.n), min(G.n, draw.randint(1, 40)))
    questions: dict[str, Callable[..., Any]] = {
        "betweenness": lambda H, **how: hw.betweenness_centrality(H, sources=some, device="cpu", **how).scores,
        "edges": lambda H, **how: hw.edge_betweenness_centrality(H, sources=some, device="cpu", **how).scores,
        "closeness": lambda H, **how: hw.closeness_centrality(H, sources=some, device="cpu", **how).scores,
        "harmonic": lambda H, **how: hw.harmonic_centrality(H, device="cpu", **how).scores,
        "many": lambda H, **how: hw.bfs_many(H, some, device="cpu", **how),
    }
    name = draw.choice(list(questions))
    how = draw.choice(({"threads": draw.randint(2, 7)}, {"memory_limit": 1}, {"executor": POOL}))
    if ("memory_limit" in how and name not in ("betweenness", "edges")) or ("executor" in how and name == "many"):
        how = {"threads": draw.randint(2, 7)}
    if "memory_limit" in how:
        how = {"memory_limit": 56 * G.n + 68 * G.m + 4096 + 512 * G.n * (name == "edges"), "threads": 5}
    with np.errstate(all="ignore"):
        right = questions[name](mixed.fresh(G), threads=1)
        found = questions[name](mixed.fresh(G), **how)
    if not np.array_equal(found, right, equal_nan=True):
        raise Difference(f"{name} of {G} (seed {seed}) with {how}: other bits")
    return 1


# ---------------------------------------------------------------- files


def sizes(draw: random.Random, folder: Path) -> int:
    """Numbers of a file's header become enormous: an error or a graph, with little memory."""
    formats = ("mtx", "graph", "net", "gr", "txt", "gml", "graphml", "sg", "npz")
    name = draw.choice(formats)
    path = folder / f"a.{name}"
    hw.write(path, generate.grid(3, 4))
    data, huge = path.read_bytes(), draw.choice((10**9, 2**31, 2**32 + 5, 2**40, 2**63, 10**30))
    if name in ("sg", "npz"):
        at = draw.randrange(len(data))
        data = data[:at] + (huge % 2**64).to_bytes(8, "little")[: draw.randint(1, 8)] + data[at + 8 :]
    else:
        numbers = list(re.finditer(rb"\d+", data))
        at = draw.choice(numbers[:6])
        data = data[: at.start()] + b"%d" % huge + data[at.end() :]
    path.write_bytes(data)
    tracemalloc.start()
    began = time.process_time()
    try:
        hw.read(path, progress=False)
    except hw.HopwaveError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    if peak > 200 << 20 or time.process_time() - began > 20:
        raise Difference(f"{name} {data[:200]!r}: {peak:,} bytes, {time.process_time() - began:.1f} s")
    return 1


class Planted:
    """Unpickling this makes a folder."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.place),)


@cache
def heard() -> list[str]:
    """The unpickled classes and system calls of this process from now on."""
    events: list[str] = []
    sys.addaudithook(lambda event, _: events.append(event) if event in ("pickle.find_class", "os.system") else None)
    return events


def pickles(draw: random.Random, folder: Path) -> int:
    """Pickles and Python text wherever a file may hold something: nothing of it is run."""
    place = folder / "was-run"
    bomb = np.empty(1, object)
    bomb[0] = Planted(place)
    text = f"__import__('os').mkdir({str(place)!r})"
    names = ("indptr", "indices", "weights", "labels", "directed", "data", "shape", "format", "row", "col", "hopwave")
    events = heard()
    events.clear()
    kind = draw.choice(("npz", "pickle", "text"))
    if kind == "npz":
        path, stream = folder / "a.npz", io.BytesIO()
        arrays = {n: draw.choice((bomb, np.array([0, 1]), np.array(text))) for n in draw.sample(names, 4)}
        np.savez(stream, **arrays, other=bomb)
        path.write_bytes(stream.getvalue())
    elif kind == "pickle":
        path = folder / draw.choice(("a.npz", "a.mtx", "a.txt", "a.parquet", "a.sg", "a.pkl"))
        path.write_bytes(pickle.dumps(Planted(place), protocol=draw.randint(0, 5)))
        events.clear()
    else:
        path = folder / draw.choice(("a.txt", "a.csv", "a.mtx", "a.gml", "a.net", "a.graphml", "a.graph"))
        lines = ["0 1", "1,2", "source,target", f"graph [ node [ id {text} ] ]", text, f"{text} 1", f"0 {text}"]
        path.write_text("\n".join(draw.choices(lines, k=4)))
    with suppress(hw.HopwaveError):
        hw.read(path, progress=False)
    if events or place.exists():
        raise Difference(f"{path.name} {path.read_bytes()!r} was run: {events}")
    return 1


def folders(draw: random.Random, folder: Path) -> int:
    """A folder of any mode and owner: trusted exactly if nobody else can write to it."""
    place = Path(tempfile.mkdtemp(dir=folder))
    mode, owner = draw.randrange(0o1000) | stat.S_IRWXU, draw.choice((0, os.getuid(), 65534, 1000))
    if os.getuid() == 0:
        os.chown(place, owner, -1)
    place.chmod(mode)
    owner = place.stat().st_uid
    for shared in (False, True):
        mine = owner == os.getuid() or (shared and owner == 0)
        safe = mine and not mode & (stat.S_IWOTH if shared else stat.S_IWOTH | stat.S_IWGRP)
        if (why_not_trusted(place, shared=shared) is None) != safe:
            raise Difference(f"a folder of {owner} with mode {mode:o}, {shared=}, is safe: {safe}")
    place.rmdir()
    return 2


def writers(draw: random.Random, folder: Path) -> int:
    """Processes write one file, or save to one checkpoint, at once: none fails, and the file is one of theirs."""
    graphs = [generate.grid(20, 20), generate.path(300), generate.star(200)]
    mesh = generate.delaunay(150, seed=1)
    right = hw.betweenness_centrality(mesh, device="cpu", threads=1).scores
    interrupts.checkpoint.INTERVAL = 0.0

    name = draw.choice(("a.txt", "a.npz", "a.mtx", "a.csv.gz", "run"))
    path, count = folder / name, draw.randint(2, 4)

    def work(number: int) -> None:
        for turn in range(6):
            if name != "run":
                hw.write(path, graphs[(number + turn) % 3])
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = hw.betweenness_centrality(mesh, device="cpu", threads=1, checkpoint=path, progress=False)
            if not np.array_equal(found.scores, right):
                raise Difference("other scores")

    codes = [status_of(child) for child in [forked(partial(work, number)) for number in range(count)]]
    left = [other.name for other in folder.iterdir() if other.name.endswith(".part")]
    if any(codes) or left:
        raise Difference(f"{count} writers of {name} end with {codes} and leave {left}")
    if name != "run":
        found = hw.read(path, directed=False, progress=False)
        if not any(found.n == G.n and np.array_equal(found.indices, G.indices) for G in graphs):
            raise Difference(f"{name} is no writer's graph")
    path.unlink(missing_ok=True)
    return 6 * count


# ---------------------------------------------------------------- memory


def memory(draw: random.Random, folder: Path) -> int:
    """The peaks of all questions about a graph, in any order in a new process, beside their estimates."""
    from benchmarks import memory as measured

    os.environ["HOPWAVE_NUM_THREADS"] = "2"

    scale, seed = draw.randint(14, 16), draw.randrange(99)
    G = draw.choice((
        lambda: generate.kronecker(scale, draw.randint(4, 16), seed=seed, directed=draw.random() < 0.5),
        lambda: generate.smallworld(1 << scale, 10, 0.1, seed=seed),
        lambda: generate.grid(1 << (scale // 2), 1 << (scale - scale // 2)),
    ))()  # fmt: skip
    asked, wrong = measured.asks(G), []
    for name, peak in measured.in_a_process(G, draw.sample(list(asked), len(asked))).items():
        said = measured.estimated(G, *asked[name], "cpu")
        if abs(said - peak) > max(0.25 * peak, 16e6):
            wrong.append(f"{name}: {said / 1e6:.1f} MB said, {peak / 1e6:.1f} MB taken")
    if wrong:
        raise Difference(f"{G}, seed {seed}: {'; '.join(wrong)}")
    return len(asked)


def too_large(draw: random.Random, folder: Path) -> int:
    """With little free memory: an answer or a refusal that says so, before arrays of that size are made."""
    asked: dict[str, Callable[[hw.Graph], Any]] = {
        "many": lambda G: hw.bfs_many(G, range(G.n), device="cpu"),
        "lengths": lambda G: hw.sssp_many(G, range(G.n), device="cpu", weights=False),
        "pairs": lambda G: hw.pairs_within(G, 3, device="cpu"),
        "closeness": lambda G: hw.closeness_centrality(G, device="cpu"),
        "betweenness": lambda G: hw.betweenness_centrality(G, device="cpu"),
    }

    G, free = generate.delaunay(draw.randint(200, 900), seed=1), 2 ** draw.randint(8, 24)
    name = draw.choice(list(asked))
    asked[name](mixed.fresh(G))  # compiles
    tracemalloc.start()
    try:
        with patch.multiple(host_memory, available_memory=lambda: free, BYTES_ANYWHERE=0):
            asked[name](mixed.fresh(G))
    except hw.HopwaveError as error:
        peak = tracemalloc.get_traced_memory()[1]
        if " and may use " not in str(error):
            raise Difference(f"{name} of {G.n} vertices in {free:,} bytes: {error}") from error
        if name in ("many", "lengths") and peak > 4 * G.n * G.n // 2 + 200_000:
            raise Difference(f"{name} of {G.n} vertices took {peak:,} bytes before it was refused") from error
    finally:
        tracemalloc.stop()
    return 1
