"""`make against REV=…`: every public question under two source trees, in alternation.

    python -m benchmarks.against REV [--scale 16] [--device cpu] [--only bfs …] [--rounds 6] [--seconds 16]

checks out REV into build/against, starts one process per tree, and asks both in turn. It prints every question whose
answers differ, and every one whose time differs by more than 5%, with the best times of both; the exit status is 1 if
answers differ. --seconds limits one question in one tree, compiling included; graphs are made before. REV may also be a
folder with a source tree. Run it before a merge into main: on the cores and on the GPU (--device cuda; --scale 24 shows
what small graphs hide) of a machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from benchmarks.questions import GRAPHS, LONGEST, METHODS, Case, call, calls_of, differ, limited, questions
from benchmarks.setting import ROOT, command_line

DIFFERENT = 1.05  # ratio of times from which a question is printed
SURELY = 0.02  # milliseconds by which times must differ besides


def tree_of(revision: str) -> Path:
    """The source tree of a revision, checked out once."""
    if (Path(revision) / "src" / "hopwave").is_dir():
        return Path(revision).resolve()
    found = subprocess.run(["git", "rev-parse", revision], capture_output=True, text=True, check=True, cwd=ROOT)
    tree = ROOT / "build" / "against" / found.stdout.strip()
    if not tree.exists():
        tree.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", revision, "src"], capture_output=True, check=True, cwd=ROOT).stdout
        subprocess.run(["tar", "xf", "-"], input=archive, check=True, cwd=tree)
    return tree


class Tree:
    """A process that asks questions with the hopwave of one source tree."""

    def __init__(self, tree: Path, given: argparse.Namespace) -> None:
        options = ["--device", given.device, "--scale", given.scale, "--seconds", given.seconds]
        words = [sys.executable, "-m", "benchmarks.against", "-", *map(str, options)]
        known = os.environ | {"HOPWAVE_SOURCE": str(tree / "src"), "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{ROOT}"}
        known |= {"HOPWAVE_PROGRESS": "0"}
        self.process = subprocess.Popen(
            words, env=known, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def asked(self, question: str, graph: str, least: int) -> dict[str, Any]:
        """Times of some calls and the answer's digest, or why not."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps([question, graph, least]), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        return dict(json.loads(line)) if line else {"failed": f"the process ended with {self.process.wait()}"}

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()  # its input ends, and so does it


def serve(device: str, scale: int, seconds: float) -> None:
    """The other side of Tree: reads questions, writes answers."""
    warnings.simplefilter("ignore")
    cases = {name: Case(name, scale) for name in GRAPHS}
    asks: dict[tuple[str, str], Any] = {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else may write between answers
    for line in sys.stdin:
        question, graph, least = json.loads(line)
        cases[graph].graph(question)  # is made once, outside the time limit: kron 24 takes longer

        def work(question: str = question, graph: str = graph, least: int = least) -> dict[str, Any]:
            if (question, graph) not in asks:
                asks.clear()
                asks[question, graph] = call(question, cases[graph], device)
            ask = asks[question, graph]
            if ask is None:
                return {"failed": "the CPU alone"}
            times, value = calls_of(ask, least, 0.05)
            return {"times": times, "digest": value}

        print(json.dumps(limited(seconds, work)), file=answers, flush=True)


def compared(old: Tree, new: Tree, question: str, graph: str, rounds: int) -> dict[str, Any]:
    """The best times of both, and whether answers differ."""
    times: dict[str, list[float]] = {"old": [], "new": []}
    digests: dict[str, float] = {}
    for number in range(rounds):
        for name, tree in (("old", old), ("new", new)) if number % 2 else (("new", new), ("old", old)):
            found = tree.asked(question, graph, 3 if number == 0 else 1)
            if "failed" in found:
                return {"failed": f"{name}: {found['failed']}"}
            times[name] += found["times"][2 if number == 0 else 0 :]
            digests[name] = found["digest"]
        if number >= 1 and sum(times["old"]) + sum(times["new"]) > 1e3 * LONGEST:
            break
    best = {name: min(some) for name, some in times.items()}
    return best | {"ratio": best["new"] / best["old"], "differ": differ(question, digests["old"], digests["new"], 1e-9)}


def main() -> int:
    """Compare, print, and return 1 if an answer differs."""
    asks = {"device": "cpu", "scale": 16, "only": [str], "graphs": list(GRAPHS), "rounds": 6}
    given = command_line(__doc__, {"revision": []}, **asks, seconds=2.0 * LONGEST, out=Path)
    if given.revision == ["-"]:
        serve(given.device, given.scale, given.seconds)
        return 0
    (revision,) = given.revision
    asked = [(graph, question) for graph in given.graphs for question in given.only or [*questions(), *METHODS]]
    rows, wrong, trees = [], 0, (tree_of(revision), ROOT)
    with Tree(trees[0], given) as old, Tree(trees[1], given) as new:
        for graph, question in asked:
            row = {"graph": f"{graph} {given.scale}", "question": question, "device": given.device}
            row |= compared(old, new, question, graph, given.rounds)
            rows.append(row)
            wrong += bool(row.get("differ"))
            slower = abs(row.get("ratio", 1.0) - 1) > DIFFERENT - 1 and abs(row["new"] - row["old"]) > SURELY
            if "failed" in row and "the CPU alone" not in row["failed"]:
                print(f"{graph}, {question}: {row['failed']}", flush=True)
            elif row.get("differ") or slower:
                note = "  ANSWERS DIFFER" if row["differ"] else ""
                times = f"{row['old']:10.4g} → {row['new']:10.4g} ms  × {row['ratio']:.2f}"
                print(f"{graph:<9} {question:<32} {times}{note}", flush=True)
    ratios = sorted(row["ratio"] for row in rows if "ratio" in row)
    if ratios:
        spread = f"median {ratios[len(ratios) // 2]:.3f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(f"{len(ratios)} questions; new / old: {spread}; {wrong} answers differ")
    if given.out:
        given.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
