"""Checkpoints of another version, of another call, or damaged: refused with a sentence, or the right scores."""

import io
import random
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from machine_code import damaged

import hopwave as hw
from hopwave import generate
from hopwave.algorithms import checkpoint
from hopwave.algorithms.checkpoint import FORMAT, Checkpoint
from questions import Difference

GRAPH = generate.delaunay(300, seed=1)
CALLS: dict[str, Callable[[Path], Any]] = {
    "vertices": lambda path: hw.betweenness_centrality(GRAPH, checkpoint=path, device="cpu").scores,
    "edges": lambda path: hw.edge_betweenness_centrality(GRAPH, checkpoint=path, device="cpu").scores,
    "sample": lambda path: hw.betweenness_centrality(GRAPH, k=64, seed=1, checkpoint=path, device="cpu").scores,
    "paths": lambda path: (
        hw.betweenness_centrality(GRAPH, epsilon=0.1, method="paths", seed=1, checkpoint=path, device="cpu").scores
    ),
}
Parts = dict[str, Any]


def begun(name: str, path: Path, blocks: int) -> bytes:
    """The file of a run that was interrupted at its first save after some blocks."""
    path.unlink(missing_ok=True)
    save, interval = Checkpoint.save, checkpoint.INTERVAL

    def stopping(self: Checkpoint, run: Any, done: int) -> str | None:
        reason = save(self, run, done)
        if done >= blocks:
            raise KeyboardInterrupt
        return reason

    checkpoint.INTERVAL, Checkpoint.save = 0.0, stopping  # type: ignore[method-assign]
    try:
        CALLS[name](path)
    except KeyboardInterrupt:
        pass
    finally:
        checkpoint.INTERVAL, Checkpoint.save = interval, save  # type: ignore[method-assign]
    return path.read_bytes()


def changed(parts: Parts, draw: random.Random, certified: bool) -> Parts:
    """The parts as another version might write them; with other sums if a certificate is known to tell."""
    name = draw.choice(list(parts))
    part = parts[name]
    turns: list[Callable[[], Parts]] = [
        lambda: {key: value for key, value in parts.items() if key != name},
        lambda: {**parts, f"new {name}": part},
        lambda: {**parts, "format": np.array(FORMAT.replace("2", str(draw.choice((0, 1, 3, 99, "")))))},
        lambda: {**parts, name: part.astype(draw.choice(("f4", "i1", "U7", "S9", "c16", "?", "M8[s]")))},
        lambda: {**parts, name: np.array([part, part])},
        lambda: {**parts, name: part.reshape(-1)[:0]},
        lambda: {**parts, name: np.array(draw.choice((-1, 2**63 - 1, np.nan, "", 0.5, 10**30)))},
        lambda: {**parts, "size": parts["size"] + draw.choice((-1, 1))},
    ]
    values: list[Callable[[], Parts]] = [
        lambda: {**parts, "total": parts["total"] * draw.choice((0.0, 0.5, 2.0, -1.0, np.nan, np.inf))},
        lambda: {**parts, "certificate": parts["certificate"] + draw.choice((1.0, -1.0, np.nan))},
        lambda: {**parts, "done": parts["done"] - draw.choice((1, 2))},
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return draw.choice(turns + values if certified else turns)()


@cache
def known(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The scores of every call, and the file of a run that was interrupted."""
    right = {name: np.asarray(call(folder / f"{name}.npz")) for name, call in CALLS.items()}
    return right, {name: begun(name, folder / "run.npz", 1) for name in CALLS}


def inputs(draw: random.Random, folder: Path) -> int:
    """Continue a run from a changed file, or from the file of another call."""
    path, name = folder / "run.npz", draw.choice(list(CALLS))
    right, files = known(folder)
    try:
        with np.load(io.BytesIO(files[name])) as stored:
            parts = changed(dict(stored), draw, name != "paths")
        buffer = io.BytesIO()
        np.savez(buffer, **parts)
        content = buffer.getvalue()
    except (TypeError, ValueError, OverflowError):  # such an array cannot be made
        return 0
    if draw.random() < 0.4:
        content = draw.choice((damaged(draw, content), damaged(draw, files[name]), files[draw.choice(list(CALLS))]))
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = np.asarray(CALLS[name](path))
    except hw.HopwaveError as error:
        if ";" not in str(error):
            raise Difference(f"{name}: no remedy in {error}") from error
    except BaseException as error:
        raise Difference(f"{name}: {error!r} of a file with {describe(content)}") from error
    else:
        if not np.array_equal(found, right[name]):
            raise Difference(f"{name}: wrong scores of a file with {describe(content)}")
    return 1


def describe(content: bytes) -> str:
    """The parts of a file, in short."""
    try:
        with np.load(io.BytesIO(content)) as stored:
            return ", ".join(f"{name}: {stored[name].dtype} {str(stored[name])[:60]}" for name in stored.files)
    except Exception as error:  # it is damaged
        return repr(error)
