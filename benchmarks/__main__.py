"""`make bench`: every benchmark that runs on a CPU, one after another. Tables go to benchmarks/results/.

    python -m benchmarks [--quick] [name …]

A benchmark that fails does not stop the others. At the end, a summary says which failed and which graphs were left out
because their files are not there; the exit status is 1 if any failed. `--quick` (`make bench-quick`) runs small graphs
with few rounds, two benchmarks at once: it shows that everything runs. It used 309 s of processor time with nothing
compiled before. Its tables go to build/bench-quick/, and its times are not to be compared.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.setting import LEFT_OUT, ROOT

AT_ONCE = 2  # benchmarks of a quick run at a time; its times do not count


@dataclass(frozen=True)
class Benchmark:
    """A module below this folder, and its options for a full and a quick run."""

    module: str
    quick: str = ""
    whole: str = ""
    title: str = ""

    @property
    def name(self) -> str:
        return self.title or self.module

    def command(self, quick: bool) -> list[str]:
        options = self.quick if quick else self.whole
        return [sys.executable, "-m", f"benchmarks.{self.module}", *shlex.split(options)]


@dataclass(frozen=True)
class Outcome:
    """How one benchmark ended."""

    name: str
    status: int
    seconds: float
    left_out: tuple[str, ...]
    processor_seconds: float = 0.0  # sum over its threads and processes


ORDER = (
    Benchmark("first_minute", "bfs --runs 1"),
    Benchmark("first_minute", "--baselines --scale 12 --runs 1", whole="--baselines", title="first_minute baselines"),
    Benchmark("graphs", "--scale 14 --edge-factor 8 --publish", whole="--scale 20 --edge-factor 16 --publish"),
    Benchmark("graphs", "--files --scale 14 --rounds 1", whole="--files --edge-factor 16", title="graphs files"),
    Benchmark("harness"),
    Benchmark("sampling", "time intervals --runs 3", whole="time promise k-bounds intervals"),
    Benchmark("products", "--scale 13 --repeats 3"),
    Benchmark("plans_checked", "--graphs kron12,grid --ranks 2"),
    Benchmark("ranks", "--ranks 1 2 --strong 13 --weak 0 --threads 1 --roots 4"),
    Benchmark("networkx_calls", "karate large --sample 10", whole="karate small large"),
    Benchmark("questions", "--seconds 30"),
)


def run(name: str, command: list[str], environment: Mapping[str, str], live: bool = True) -> Outcome:
    """Run one benchmark, show its output (live, or all at the end), and keep the lines about what it left out."""
    began, printed = time.perf_counter(), [f"== {name}\n"]
    if live:
        print(printed[0], end="", flush=True)
    with subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if live:
                print(line, end="", flush=True)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if not live:
        print("".join(printed), end="", flush=True)
    left_out = tuple(line.strip().removeprefix(LEFT_OUT) for line in printed if line.startswith(LEFT_OUT))
    return Outcome(name, process.returncode, time.perf_counter() - began, left_out, used.ru_utime + used.ru_stime)


def summary(outcomes: list[Outcome], seconds: float) -> str:
    """One line per benchmark, then what was left out."""
    failed = [outcome for outcome in outcomes if outcome.status]
    used = sum(outcome.processor_seconds for outcome in outcomes)
    lines = [
        f"== {len(outcomes) - len(failed)} of {len(outcomes)} benchmarks ran to their end, in {seconds:.0f} s; "
        f"processors: {used:.0f} s"
    ]
    for outcome in outcomes:
        state = f"FAILED, exit status {outcome.status}" if outcome.status else "ok"
        taken = f"{outcome.seconds:6.0f} s   processors {outcome.processor_seconds:5.0f} s"
        lines.append(f"   {outcome.name:<26} {taken}   {state}")
        lines += [f"      left out: {sentence}" for sentence in outcome.left_out]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named on the command line, or all; returns 1 if one failed."""
    known = {one.name: one for one in ORDER}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}")
    parser.add_argument("--quick", action="store_true", help="small graphs, few rounds: minutes")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in known]:
        parser.error(f"{', '.join(unknown)}: not a benchmark; use {', '.join(known)}")
    environment = dict(os.environ)
    if given.quick:
        folder = ROOT / "build" / "bench-quick"
        folder.mkdir(parents=True, exist_ok=True)
        environment |= {"HOPWAVE_BENCH": "quick", "HOPWAVE_RESULTS": str(folder)}
    began, at_once = time.perf_counter(), AT_ONCE if given.quick else 1

    def run_one(name: str) -> Outcome:
        return run(name, known[name].command(given.quick), environment, live=at_once == 1)

    with ThreadPoolExecutor(at_once) as pool:
        outcomes = list(pool.map(run_one, given.names or known))
    print(summary(outcomes, time.perf_counter() - began), flush=True)
    return int(any(outcome.status for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
