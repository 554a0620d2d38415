"""Fuzzing of things with a state: vectors that share arrays, files of machine code, checkpoints. See each class.

Hypothesis draws the steps. A machine that fails is shown as the shortest list of steps that fails.
"""

from __future__ import annotations

import logging
import os
import random
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from difference import Attempt
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import hopwave as hw
from hopwave import linalg as la
from hopwave.algorithms import checkpoint
from hopwave.engines.cpu import policy
from hopwave.engines.cuda import kernel_files

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # in memory, since every step writes a file
N = 6  # length of a vector
places = st.lists(st.integers(0, N - 1), unique=True, max_size=N)
numbers = st.integers(-5, 5)


class Counted(RuleBasedStateMachine):
    """Counts the steps of all machines of a class."""

    steps = 0

    @invariant()
    def counts(self) -> None:
        type(self).steps += 1


class Vectors(Counted):
    """Vectors compared with dictionaries: an operation changes only its own result, whatever arrays vectors share."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors: list[la.Vector] = []
        self.models: list[dict[int, int]] = []

    def keep(self, vector: la.Vector, model: dict[int, int]) -> None:
        self.vectors.append(vector)
        self.models.append(model)
        if len(self.vectors) > 5:
            del self.vectors[0], self.models[0]

    def pick(self, data: st.DataObject) -> int:
        return data.draw(st.integers(0, len(self.vectors) - 1))

    @initialize(at=places, value=numbers)
    def first(self, at: list[int], value: int) -> None:
        self.keep(la.Vector.from_entries(np.array(at, np.int64), value, N, dtype="int64"), dict.fromkeys(at, value))

    @rule(values=st.lists(numbers, min_size=N, max_size=N), bits=st.lists(st.booleans(), min_size=N, max_size=N))
    def dense(self, values: list[int], bits: list[bool]) -> None:
        given = np.array(values, np.int64)
        self.keep(la.Vector.from_dense(given, bits), {i: values[i] for i in range(N) if bits[i]})

    @rule(data=st.data(), value=numbers, at=places)
    def assign(self, data: st.DataObject, value: int, at: list[int]) -> None:
        which = self.pick(data)
        found = la.assign(self.vectors[which], value, at)
        self.models[which] = {**self.models[which], **dict.fromkeys(at, value)}
        self.vectors[which] = found

    @rule(data=st.data(), way=st.sampled_from(["negate", "astype", "copy", "identity", "cpu", "select"]))
    def derived(self, data: st.DataObject, way: str) -> None:
        which = self.pick(data)
        u, model = self.vectors[which], dict(self.models[which])
        if way == "negate":
            self.keep(la.apply(u, la.unary.negate), {i: -x for i, x in model.items()})
        elif way == "astype":
            self.keep(u.astype("int64"), model)
        elif way == "copy":
            self.keep(u.copy(), model)
        elif way == "identity":
            self.keep(la.apply(u, la.unary.identity), model)
        elif way == "cpu":
            self.keep(u.to("cpu").copy(), model)  # to() alone may return the vector itself
        else:
            self.keep(la.select(u, la.binary.gt, 0), {i: x for i, x in model.items() if x > 0})

    @rule(data=st.data(), union=st.booleans())
    def both(self, data: st.DataObject, union: bool) -> None:
        i, j = self.pick(data), self.pick(data)
        a, b = self.models[i], self.models[j]
        if union:
            found = la.ewise_add(self.vectors[i], self.vectors[j], la.binary.plus)
            self.keep(found, {k: a.get(k, 0) + b.get(k, 0) for k in {*a, *b}})
        else:
            found = la.ewise_mult(self.vectors[i], self.vectors[j], la.binary.minus)
            self.keep(found, {k: a[k] - b[k] for k in {*a} & {*b}})

    @rule(data=st.data(), complement=st.booleans(), replace=st.booleans())
    def written(self, data: st.DataObject, complement: bool, replace: bool) -> None:
        i, j, m = self.pick(data), self.pick(data), self.pick(data)
        if len({id(self.vectors[i]), id(self.vectors[j]), id(self.vectors[m])}) < 3:
            return
        out, new, mask = self.models[i], self.models[j], self.models[m]
        through = [(bool(mask.get(k, 0)) != complement) for k in range(N)]
        model = {k: new[k] for k in range(N) if through[k] and k in new}
        model |= {k: out[k] for k in range(N) if not through[k] and k in out and not replace}
        self.vectors[i] = la.apply(
            self.vectors[j], la.unary.identity, out=self.vectors[i], mask=self.vectors[m], complement=complement,
            replace=replace,
        )  # fmt: skip
        self.models[i] = model

    @invariant()
    def all_are_right(self) -> None:
        for vector, model in zip(self.vectors, self.models, strict=True):
            found = dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True))
            assert found == model and vector.nnz == len(model)


class Files(Counted):
    """Machine code on disk: reading gives what was written, or nothing, whatever happened to the files."""

    def __init__(self) -> None:
        super().__init__()
        logging.getLogger("hopwave").setLevel(logging.ERROR)  # every damaged file would log a line
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.before = os.environ.get("HOPWAVE_CACHE")
        os.environ["HOPWAVE_CACHE"] = self.folder.name
        self.written: dict[tuple[str, ...], tuple[bytes, dict[str, str]]] = {}
        self.touched: set[tuple[str, ...]] = set()

    def teardown(self) -> None:
        logging.getLogger("hopwave").setLevel(logging.NOTSET)
        if self.before is None:
            del os.environ["HOPWAVE_CACHE"]
        else:
            os.environ["HOPWAVE_CACHE"] = self.before
        self.folder.cleanup()

    keys = st.sampled_from([("a",), ("b",), ("a", "b"), ("ab",)])

    @rule(key=keys, code=st.binary(max_size=40), name=st.text(max_size=5))
    def write(self, key: tuple[str, ...], code: bytes, name: str) -> None:
        kernel_files.write(key, code, {name: "symbol"})
        self.written[key] = code, {name: "symbol"}
        self.touched.discard(key)

    @rule(key=keys, at=st.integers(0, 200), byte=st.integers(0, 255), cut=st.booleans())
    def damage(self, key: tuple[str, ...], at: int, byte: int, cut: bool) -> None:
        path = kernel_files._path(key)
        if path.is_file():
            data = path.read_bytes()
            path.write_bytes(data[:at] if cut else data[:at] + bytes([byte]) + data[at + 1 :])
            if path.read_bytes() != data:
                self.touched.add(key)

    @rule(key=keys)
    def delete(self, key: tuple[str, ...]) -> None:
        kernel_files._path(key).unlink(missing_ok=True)
        self.touched.add(key)

    @rule(key=keys)
    def read(self, key: tuple[str, ...]) -> None:
        found = kernel_files.read(key)
        if key not in self.written:
            assert found is None
        elif key in self.touched:
            assert found in (None, self.written[key])
        else:
            assert found == self.written[key]


class Checkpoints(Counted):
    """A run that is interrupted, continued, given another graph or a damaged file: right scores, or a refusal."""

    graphs = (hw.generate.grid(25, 25), hw.generate.grid(5, 125))
    broken_off = 0

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.path = Path(self.folder.name) / "run.npz"
        self.before = checkpoint.INTERVAL, policy.POLL_SECONDS
        checkpoint.INTERVAL, policy.POLL_SECONDS = 0.0, 0.0005
        self.owner: int | None = None  # the graph whose run is in the file; None: there is no file
        self.damaged = False

    def teardown(self) -> None:
        checkpoint.INTERVAL, policy.POLL_SECONDS = self.before
        self.folder.cleanup()

    @staticmethod
    @cache
    def right(which: int) -> Any:
        """The scores of a graph, computed when a step needs them: importing this module must not compile."""
        return hw.betweenness_centrality(Checkpoints.graphs[which], device="cpu", plan="hopwave-block").scores

    def run(self, which: int, progress: Any) -> Any:
        return hw.betweenness_centrality(
            self.graphs[which],
            device="cpu",
            plan="hopwave-block",
            checkpoint=self.path,
            progress=progress,
            threads=1,
        )

    @rule(which=st.integers(0, 1), after=st.integers(1, 700))
    def broken_off_or_done(self, which: int, after: int) -> None:
        def progress(done: int, of: int) -> None:
            if after <= done < of:
                raise KeyboardInterrupt

        try:
            found = self.run(which, progress)
        except KeyboardInterrupt:
            Checkpoints.broken_off += 1
        except hw.FormatError:
            assert self.damaged
            return
        except hw.GraphError:
            assert self.damaged or self.owner not in (None, which)
            return
        else:
            assert np.array_equal(found.scores, self.right(which))
        assert self.damaged or self.owner in (None, which)
        if self.path.exists():
            self.owner, self.damaged = which, False

    @precondition(lambda self: self.owner is not None)
    @rule()
    def deleted(self) -> None:
        self.path.unlink()
        self.owner, self.damaged = None, False

    @precondition(lambda self: self.owner is not None)
    @rule(share=st.floats(0, 1), flip=st.integers(1, 255), cut=st.booleans())
    def damage(self, share: float, flip: int, cut: bool) -> None:
        data = self.path.read_bytes() or b"nothing was left"
        at = min(len(data) - 1, int(share * len(data)))
        self.path.write_bytes(data[:at] if cut else data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :])
        self.damaged = True


MACHINES: tuple[type[Counted], ...] = (Vectors, Files, Checkpoints)
LONG = settings(
    max_examples=40, stateful_step_count=30, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


def try_machine(machine: type[Counted], draw: random.Random) -> int:
    """Run forty lists of steps from a new seed; returns the number of steps."""
    before = machine.steps
    drawn = seed(draw.randrange(1 << 60))(type(machine.__name__, (machine,), {}))
    run_state_machine_as_test(drawn, settings=LONG)
    return drawn.steps - before


def inputs(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """Run one machine after another; attempts count steps."""
    while True:
        for machine in MACHINES:
            yield lambda machine=machine: try_machine(machine, draw)
