"""Measure every public question: python -m benchmarks.questions.run cores FILE | gpu FILE | peers FILE | page FILE …

`cores` asks on one core and on all cores of this machine, `gpu` on a GPU, `peers` asks peers that are installed here
beside hopwave. Each writes one JSON line per question and graph to FILE as it goes; `page` puts such files together
into benchmarks/results/questions. Times are the best of up to five calls after one that compiles, within 0.3 seconds.
All cores must give the answer of one core, and a GPU that of the CPU, or the time does not count.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import pages, setting
from benchmarks.questions.calls import ARGUMENTS, GRAPHS, METHODS, Case, call, questions, size
from benchmarks.setting import hw

ROUNDS, SECONDS = 5, 0.3


def best(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of the best call, and the answer of the last; the first call is not timed."""
    answer = ask()
    shortest, until = float("inf"), time.perf_counter() + SECONDS
    for _ in range(ROUNDS):
        began = time.perf_counter()
        answer = ask()
        touch(answer)
        shortest = min(shortest, time.perf_counter() - began)
        if time.perf_counter() > until:
            break
    return 1e3 * shortest, answer


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
    for name in ("scores", "distances", "labels", "hubs", "counts", "ok", "value", "harmonic"):
        if getattr(answer, name, None) is not None:
            return digest(getattr(answer, name))
    if isinstance(answer, dict):
        return digest(list(answer.values()))
    if isinstance(answer, tuple | list) and not all(isinstance(one, int | float) for one in answer):
        return float(sum(digest(one) for one in answer))
    found = np.asarray(answer, np.float64)
    return float(found[np.isfinite(found)].sum())


@contextmanager
def one_core() -> Iterator[None]:
    """This thread on one core: hopwave then takes one thread."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def asked() -> Iterator[tuple[str, str, Case]]:
    for name in GRAPHS:
        case = Case(name, 10, 8) if setting.QUICK else Case(name)
        for question in [*questions(), *METHODS]:
            yield question, name, case


def measure(kind: str, file: Path) -> None:
    """All questions on the cores or on the GPU; one that fails leaves its reason."""
    done = {(line["question"], line["graph"]) for line in read([file])} if file.exists() else set()
    where = setting.machine() | setting.gpu("cuda" if kind == "gpu" else "cpu")
    with file.open("a", encoding="utf-8") as lines:
        for question, name, case in asked():
            if (question, name) in done:
                continue
            row: dict[str, Any] = {"question": question, "graph": name, "kind": kind, "where": where}
            try:
                row |= on_gpu(question, case) if kind == "gpu" else on_cores(question, case)
            except Exception as error:
                row["failed"] = f"{type(error).__name__}: {error}"[:200]
            lines.write(json.dumps(row) + "\n")
            lines.flush()
            print(
                question, name, {key: row[key] for key in row if key not in ("where", "question", "graph")}, flush=True
            )


def on_cores(question: str, case: Case) -> dict[str, Any]:
    ask = call(question, case, "cpu")
    assert ask is not None
    n, m = size(question, case)
    all_ms, answer = best(ask)
    found = digest(answer)
    with one_core():
        one_ms, answer = best(ask)
    agree = np.isclose(found, digest(answer), rtol=1e-6)
    words = ARGUMENTS[question][0] if question in ARGUMENTS else ""
    return {"words": words, "n": n, "m": m, "one": one_ms, "all": all_ms, "digest": found} | (
        {} if agree else {"failed": "one core and all cores give different answers"}
    )


def on_gpu(question: str, case: Case) -> dict[str, Any]:
    ask = call(question, case, "cuda")
    if ask is None:
        return {"gpu": None}
    ms, answer = best(ask)
    return {"gpu": ms, "digest": digest(answer)}


def beside_peers(file: Path) -> None:
    """Peers that are installed here, each beside hopwave in turn on the same graph."""
    from benchmarks.questions import peers  # imports what a machine for measurements need not have

    where = setting.machine() | peers.versions()
    with file.open("a", encoding="utf-8") as lines:
        for question, name, case in asked():
            for peer, prepare in peers.ANSWERS.get(question, {}).items():
                row: dict[str, Any] = {
                    "question": question,
                    "graph": name,
                    "kind": "peer",
                    "peer": peer,
                    "where": where,
                }
                try:
                    theirs, ours = prepare(case), call(question, case, "cpu")
                    assert ours is not None
                    row |= {"beside": best(ours)[0], "ms": best(theirs)[0]}
                except Exception as error:
                    row["failed"] = f"{type(error).__name__}: {error}"[:200]
                lines.write(json.dumps(row) + "\n")
                print(row["question"], name, peer, row.get("beside"), row.get("ms"), row.get("failed"), flush=True)


def read(files: list[Path]) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """See the top of this file."""
    what, files = sys.argv[1], [Path(argument) for argument in sys.argv[2:]]
    warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
    if what == "page":
        pages.write("questions", found=read(files))
    elif what == "peers":
        beside_peers(files[0])
    else:
        measure(what, files[0])


if __name__ == "__main__":
    main()
