"""Measure every public question: python -m benchmarks.questions.run here FOLDER [SECONDS] | peers … | page FILE …

`here` asks on one core, on all cores and on the GPU of this machine: code is compiled first by `hopwave warmup`, and
graphs are made once. Then one process has all cores for itself; at last questions go to several processes with one core
each, while another asks the GPU. `peers` (arguments as `here`) asks peers that are installed: NetworKit on all cores,
then the others, which have one thread, in several processes. Each writes one JSON line per question and graph as it
goes; `page` puts such files together into benchmarks/results/questions. Times are the best of up to five calls after up
to three that load code and prepare (a peer's: of up to five). All cores must give the answer of one core, and a GPU
that of the CPU, or the row says so. A profile is of one more call.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import re
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import pages, setting
from benchmarks.questions.calls import ARGUMENTS, GRAPHS, METHODS, Case, call, questions, size
from benchmarks.setting import hw
from hopwave.arrays import is_on_gpu

BEFORE, ROUNDS, SECONDS = 2, 5, 0.12
LONGEST = {"one": 30, "all": 8, "gpu": 8, "peer": 25, "threaded": 10}  # seconds that one question may take altogether
FOR_THE_GPU = 3  # cores that processes of one core leave to it
LINES = 3  # of a profile
PART = [sys.executable, "-m", "benchmarks.questions.run", "part"]


class TooLong(KeyboardInterrupt):
    """The question took its time: the call ends as by Ctrl-C."""


def best(ask: Callable[[], Any], before: int = BEFORE) -> tuple[float, float, Any]:
    """Milliseconds of the best call, the cores that were busy in it, and the answer; calls before load and prepare."""
    began = time.perf_counter()
    for _ in range(before):
        touch(ask())
        if time.perf_counter() - began > 2 * SECONDS:
            break
    shortest, busy, until = float("inf"), 0.0, time.perf_counter() + SECONDS
    for _ in range(ROUNDS):
        began, worked = time.perf_counter(), time.process_time()
        answer = ask()
        touch(answer)
        took, worked = time.perf_counter() - began, time.process_time() - worked
        if took < shortest:
            shortest, busy = took, worked / took
        if time.perf_counter() > until:
            break
    return 1e3 * shortest, busy, answer


def touch(answer: Any) -> None:
    """Wait for an answer that a GPU is still making."""
    for name in ("scores", "distances", "labels"):
        if getattr(answer, name, None) is not None:
            return


def digest(answer: Any) -> float:
    """A number that other answers would hardly have."""
    if isinstance(answer, bool | int | float | np.number):
        return float(answer)
    if isinstance(answer, hw.Graph):
        return float(answer.m)
    for name in ("scores", "distances", "labels", "hubs", "counts", "sizes", "ok", "value", "harmonic"):
        if getattr(answer, name, None) is not None:
            return digest(getattr(answer, name))
    if isinstance(answer, dict):
        return digest(list(answer.values()))
    if isinstance(answer, tuple | list) and not all(isinstance(one, int | float) for one in answer):
        return float(sum(digest(one) for one in answer))
    found = np.asarray(answer.get() if is_on_gpu(answer) else answer, np.float64)
    return float(found[np.isfinite(found)].sum())


def profiled(ask: Callable[[], Any]) -> list[str]:
    """Where the calling thread is during one call: the functions with the greatest shares of its time."""
    watch = cProfile.Profile()
    watch.enable()
    try:
        touch(ask())
    finally:
        watch.disable()  # Python has one profile at a time: the next question could not be asked
    found: dict[Any, Any] = pstats.Stats(watch).stats  # type: ignore[attr-defined]
    whole = sum(one[2] for one in found.values())
    top = sorted(found.items(), key=lambda item: -item[1][2])[:LINES]
    return [f"{one[2] / whole:.0%} {named(*where)}" for where, one in top if one[2] > 0.08 * whole]


def named(file: str, _: int, function: str) -> str:
    """A function as the page shows it."""
    for root in ("hopwave", "site-packages"):
        if f"/{root}/" in file:
            return f"{function} ({file.rpartition(f'/{root}/')[2]})"
    return re.sub(r"^<(?:built-in )?(?:method )?'?([\w.]+)'?.*>$", r"\1", function)


def asked(folder: Path | None = None, scale: int = 18) -> Iterator[tuple[str, str, Case]]:
    sizes = (10, 9, 8) if setting.QUICK else (scale,)
    cases = {name: Case(name, *sizes, folder=folder) for name in GRAPHS}
    for question in [*questions(), *METHODS]:
        yield from ((question, name, case) for name, case in cases.items())


def measure(kind: str, folder: Path, seconds: float, share: int = 0, of: int = 1) -> None:
    """Every `of`-th question on one core, on all cores or on the GPU; one that fails leaves its reason."""
    until = time.monotonic() + seconds
    where = setting.machine() | setting.gpu("cuda" if kind == "gpu" else "cpu")
    with (folder / f"{kind}{share}.jsonl").open("w", encoding="utf-8") as lines:
        for number, (question, name, case) in enumerate(asked(folder)):
            if number % of != share or time.monotonic() > until:
                continue
            row: dict[str, Any] = {"question": question, "graph": name, "kind": kind, "where": where}
            write(lines, row | limited(LONGEST[kind], lambda q=question, c=case: answered(kind, q, c)))


def limited(seconds: float, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What work returns, or why not."""

    def end(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, end)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # repeated, since a destructor may swallow one
            return work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooLong:
        return {"failed": f"not within {seconds} s"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:200]}


def answered(kind: str, question: str, case: Case) -> dict[str, Any]:
    ask = call(question, case, "cuda" if kind == "gpu" else "cpu")
    if ask is None:
        return {"failed": "the CPU alone"}
    ms, busy, answer = best(ask)
    found: dict[str, Any] = {kind: ms, "digest": digest(answer)}
    if kind == "one":
        return found
    n, m = size(question, case)
    words = ARGUMENTS[question][0] if question in ARGUMENTS else ""
    return found | {"words": words, "n": n, "m": m, "busy": round(busy, 1), "profile": profiled(ask)}


def write(lines: Any, row: dict[str, Any]) -> None:
    lines.write(json.dumps(row) + "\n")
    lines.flush()
    print({key: value for key, value in row.items() if key not in ("where", "digest", "words", "n", "m")}, flush=True)


def here(folder: Path, seconds: float = 100) -> None:
    """One core, all cores and the GPU of this machine, each kind in processes of its own; `seconds` for each half."""
    folder.mkdir(exist_ok=True)
    began = time.perf_counter()
    without = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    warm = subprocess.Popen([sys.executable, "-m", "hopwave", "warmup"], env=without)
    for case in {case.name: case for _, _, case in asked(folder)}.values():
        print(case.name, case.large, case.middle, case.small, flush=True)
    warm.wait()
    print(f"prepared after {time.perf_counter() - began:.0f} s", flush=True)
    given = str(folder), str(seconds)
    subprocess.run([*PART, "all", *given], env=without, check=False)
    print(f"all cores after {time.perf_counter() - began:.0f} s", flush=True)
    for process in (*on_one_core("one", *given), subprocess.Popen([*PART, "gpu", *given])):
        process.wait()
    print(f"one core and the GPU after {time.perf_counter() - began:.0f} s", flush=True)


def peers(folder: Path, seconds: float = 100) -> None:
    """Peers with threads by themselves, then those without, beside each other."""
    folder.mkdir(exist_ok=True)
    given = str(folder), str(seconds)
    subprocess.run([*PART, "threaded", *given], check=False)
    for process in on_one_core("peer", *given):
        process.wait()


def on_one_core(kind: str, *given: str) -> list[subprocess.Popen[bytes]]:
    """Processes of one core each that share the questions."""
    cores = sorted(os.sched_getaffinity(0))
    alone = cores[FOR_THE_GPU:] or cores[:1]
    without = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    return [
        subprocess.Popen([*PART, kind, *given, str(i), str(len(alone)), str(core)], env=without)
        for i, core in enumerate(alone)
    ]


def part(kind: str, folder: str, seconds: str, share: str = "0", of: str = "1", core: str = "") -> None:
    """One process of `here`."""
    if core:
        os.sched_setaffinity(0, {int(core)})  # hopwave then takes one thread
    ask = ask_peers if kind in ("peer", "threaded") else measure
    ask(kind, Path(folder), float(seconds), int(share), int(of))


def ask_peers(kind: str, folder: Path, seconds: float, share: int = 0, of: int = 1) -> None:
    """Every `of`-th question, of peers that have threads or of those that have one."""
    from benchmarks.questions import peers  # imports what a machine for measurements need not have

    until, where = time.monotonic() + seconds, setting.machine() | peers.versions()
    answers = peers.THREADED if kind == "threaded" else peers.ANSWERS
    with (folder / f"{kind}{share}.jsonl").open("w", encoding="utf-8") as lines:
        for number, (question, name, case) in enumerate(asked(folder)):
            for peer, prepare in answers.get(question, {}).items() if number % of == share else ():
                row = {"question": question, "graph": name, "kind": "peer", "peer": peer, "where": where}
                left = min(LONGEST[kind], until - time.monotonic())
                if left > 0:
                    write(lines, row | limited(left, lambda c=case, p=prepare: {"ms": best(p(c), before=0)[0]}))


def read(files: list[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """See the top of this file."""
    what, given = sys.argv[1], sys.argv[2:]
    warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
    if what == "page":
        pages.write("questions", found=read([Path(file) for file in given]))
    elif what == "part":
        part(*given)
    else:
        (peers if what == "peers" else here)(Path(given[0]), *map(float, given[1:]))


if __name__ == "__main__":
    main()
