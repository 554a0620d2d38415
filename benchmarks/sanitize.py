"""compute-sanitizer over every kernel: the GPU tests run under memcheck, racecheck, synccheck and initcheck.

    python -m benchmarks.sanitize [--seconds 300] [--workers 8] [--tools racecheck memcheck …] [--tests tests/engines …]
                                  [--offsets 64]

This module is a plugin of pytest, too: it records which kernel instances each test launches. A first run of the tests
without a tool compiles everything and makes that list. Of the tests that launch new instances, those with the least
time per new instance then run under each tool, in several processes, until all are done or the time is over. A tool
that reports nothing has found nothing, or has checked nothing: each must also report a deliberate mistake. Grids are as
large as on a GPU with MULTIPROCESSORS multiprocessors, since a tool's time grows with the threads. `--offsets 64` gives
graphs the 64-bit row offsets of graphs with more than 2^31 arcs. The record keeps what earlier runs saw of instances
that this run did not reach.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.pages import ROOT, Record, keep, rows

TOOLS = ("racecheck", "memcheck", "initcheck", "synccheck")  # the slowest first
PLAIN_ALLOCATOR = (
    "memcheck",
    "initcheck",
)  # every array is a separate allocation: a pool would hide reads past its end
FILTERED = ("racecheck", "synccheck", "memcheck")  # not initcheck, which must see other libraries' writes
MULTIPROCESSORS = 8
AT_ONCE = 6  # tests of one process
TESTS = ["tests/questions", "tests/engines"]
ERROR = re.compile(r"^=+ +(?:Error: |Warning: |Invalid |Barrier error|Uninitialized |Program hit|Race reported)")
KERNEL = re.compile(r"hopwave::[\w:]+")
CONTROL = r"""
namespace hopwave { namespace control {
__global__ void memcheck(int *a, int *b) { a[blockDim.x + threadIdx.x] = 1; }  // behind the end
__global__ void initcheck(int *a, int *b) { b[threadIdx.x] = a[threadIdx.x] + 1; }  // nobody has written to a
__global__ void racecheck(int *a, int *b) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = b[threadIdx.x];
    b[threadIdx.x] = s[63 - threadIdx.x];  // without a barrier before it
}
__global__ void synccheck(int *a, int *b) {
    __syncwarp(0xffff);  // half of the threads wait, and are not among those that are waited for
    b[threadIdx.x] = 1;
}
} }
"""


# ---------------------------------------------------------------- the plugin: what a test launches


launched: dict[str, dict[str, float]] = {}  # test → its instances ("header: instance"), and the seconds it took
now = [""]


def pytest_configure() -> None:
    """Record launches, and make the GPU appear small, in processes that this module starts."""
    if "HOPWAVE_SANITIZE" not in os.environ:
        return
    import cupy

    from hopwave.engines.cuda import nvrtc
    from hopwave.engines.cuda.launch import PackedLaunch, PreparedLaunch

    class Few(cupy.cuda.Device):  # type: ignore[misc]
        @property
        def attributes(self) -> dict[str, int]:
            return {**super().attributes, "MultiProcessorCount": MULTIPROCESSORS}

    cupy.cuda.Device = Few
    if os.environ["HOPWAVE_SANITIZE"] in PLAIN_ALLOCATOR:
        cupy.cuda.set_allocator(None)
    if os.environ.get("HOPWAVE_OFFSETS") == "64":
        wide_offsets()
    by_handle: dict[int, str] = {}
    load: Any = nvrtc.loaded.get

    def loaded(header: str, name: str, *more: Any) -> Any:
        function, title = load(header, name, *more), f"{header}: {name}"
        by_handle[function.ptr] = title
        return _Recorded(function, title)

    nvrtc.loaded.get = loaded
    for kind in (PreparedLaunch, PackedLaunch):
        call: Any = kind.__call__

        def recorded(self: Any, *given: Any, call: Any = call, **more: Any) -> Any:
            note(by_handle[self.handle])
            return call(self, *given, **more)

        kind.__call__ = recorded  # type: ignore[method-assign]


class _Recorded:
    """A CuPy function that records its launches."""

    def __init__(self, function: Any, title: str) -> None:
        self.function, self.title, self.ptr = function, title, function.ptr

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        note(self.title)
        return self.function(*arguments, **more)


def note(instance: str) -> None:
    """The running test launches an instance."""
    launched.setdefault(now[0], {})[instance] = 1.0


def wide_offsets() -> None:
    """From now on graphs have 64-bit row offsets."""
    import numpy as np

    from hopwave.engines.cuda import build
    from hopwave.graph import csr

    csr.LARGEST_INT32_OFFSET = -1
    build.offset_dtype = lambda arcs: np.int64


def pytest_runtest_setup(item: Any) -> None:
    """Remember the running test; under a tool, say its name, so that messages can be told apart."""
    now[0] = item.nodeid


def pytest_runtest_logreport(report: Any) -> None:
    """The time of a test is kept with its instances."""
    if report.when == "call" and report.nodeid in launched:
        launched[report.nodeid]["seconds"] = report.duration


def pytest_sessionfinish() -> None:
    """Write what this process has recorded."""
    if (folder := os.environ.get("HOPWAVE_LAUNCHES")) and launched:
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(launched), encoding="utf-8")


# ---------------------------------------------------------------- processes


def start(tool: str, board: Path, words: list[str], number: int, offsets: str) -> tuple[subprocess.Popen[bytes], Path]:
    """pytest, or the control, under a tool, with its output in a file."""
    folder = board / f"{tool}-{number}"
    folder.mkdir()
    known = os.environ | {"HOPWAVE_SANITIZE": tool, "HOPWAVE_LAUNCHES": str(folder), "HOPWAVE_OFFSETS": offsets}
    known |= {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "HOPWAVE_PROGRESS": "0", "HOPWAVE_TESTS": "quick"}
    line = [sys.executable, *words]
    if tool != "none":
        options = ["--tool", tool, "--error-exitcode", "9", "--print-limit", "1000"]
        options += ["--kernel-name", "kns=hopwave"] if tool in FILTERED else []
        line = [sanitizer(), *options, *line]
    log = folder / "log"
    with log.open("wb") as out:  # a process group, so that compute-sanitizer is killed with its program
        return subprocess.Popen(
            line, stdout=out, stderr=subprocess.STDOUT, env=known, cwd=ROOT, process_group=0
        ), folder


def sanitizer() -> str:
    """compute-sanitizer, from the PATH or the CUDA toolkit."""
    found = shutil.which("compute-sanitizer", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if found is None:
        raise SystemExit("there is no compute-sanitizer; it comes with the CUDA toolkit")
    return found


def words_of(tests: list[str], workers: int = 0) -> list[str]:
    """The command of a run of tests with this plugin."""
    spread = ["-n", str(workers), "--dist", "worksteal"] if workers else ["-p", "no:xdist"]
    without = ["-p", "no:cacheprovider", "-p", "no:benchmark"]  # pytest-benchmark warns of workers, an error here
    plain = ["-m", "pytest", "-m", "gpu", "-q", "-p", "benchmarks.sanitize", *without, *spread]
    return [*plain, *tests]


def recorded(folder: Path) -> dict[str, dict[str, float]]:
    """What the tests of one run launched."""
    found: dict[str, dict[str, float]] = {}
    for file in folder.glob("*.json"):
        found |= json.loads(file.read_text(encoding="utf-8"))
    return found


def chosen(tests: dict[str, dict[str, float]]) -> list[str]:
    """Tests that together launch every instance, those with the least time per new instance first.

    >>> chosen({"a": {"x": 1, "seconds": 9}, "b": {"x": 1, "y": 1, "seconds": 2}, "c": {"z": 1, "seconds": 0.5}})
    ['c', 'b']
    """
    left = {name: (set(found) - {"seconds"}, found.get("seconds", 60.0)) for name, found in tests.items()}
    seen: set[str] = set()
    order = []
    while fresh := {name: len(found - seen) for name, (found, _) in left.items() if found - seen}:
        best = min(fresh, key=lambda name: (left[name][1] / fresh[name], name))
        order.append(best)
        seen |= left.pop(best)[0]
    return order


def control(tool: str) -> None:
    """Make the mistake that this tool must find."""
    import cupy

    cupy.cuda.set_allocator(None)
    name = f"hopwave::control::{tool}"
    kernel = cupy.RawModule(code=CONTROL, name_expressions=[name], options=("-std=c++17",)).get_function(name)
    a, b = cupy.empty(64, "int32"), cupy.empty(64, "int32")
    if tool != "initcheck":
        a.fill(0)
        b.fill(0)
    with suppress(cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError):  # memcheck ends the kernel
        kernel((1,), (64,), (a, b))
        cupy.cuda.Device().synchronize()


def messages(log: str) -> list[str]:
    """The kernel that each message of a tool names; "" if it names none of hopwave's.

    >>> text = "========= Invalid __global__ write\\\\n=========     at hopwave::many::search<int>+0x10\\\\n========="
    >>> messages(text.replace("\\\\\\\\n", chr(10)))
    ['hopwave::many::search']
    """
    found, block = [], []
    for line in [*log.splitlines(), "========="]:
        if not line.startswith("========="):
            continue
        if ERROR.match(line):  # a message may begin without an empty line before it
            block = []
        if line.strip("= "):
            block.append(line)
            continue
        if block and ERROR.match(block[0]):
            kernels = KERNEL.findall("\n".join(block))
            found.append(kernels[0] if kernels else "")
        block = []
    return found


def run(given: Any, board: Path) -> tuple[list[Record], list[str]]:
    """All tools over the chosen tests; returns rows of kernels, and what was wrong."""
    until = time.time() + given.seconds
    first, folder = start("none", board, words_of(given.tests, given.workers), 0, given.offsets)
    first.wait()
    tests, wrong = recorded(folder), []
    if first.returncode not in (0, 1) or not tests:
        raise SystemExit((folder / "log").read_text(encoding="utf-8")[-3000:])
    order = chosen(tests)
    print(f"{len(order)} of {len(tests)} tests launch all {len({k for t in tests.values() for k in t}) - 1} instances")
    jobs = [(tool, ["-m", "benchmarks.sanitize", "control", tool]) for tool in given.tools]
    for begin in range(0, len(order), AT_ONCE):
        jobs += [(tool, words_of(order[begin : begin + AT_ONCE])) for tool in given.tools]
    running: list[tuple[str, list[str], Any, Path]] = []
    done: list[tuple[str, Path]] = []
    while (jobs or running) and time.time() < until:
        while jobs and len(running) < given.workers:
            tool, words = jobs.pop(0)
            running.append((tool, words, *start(tool, board, words, len(jobs) + 1, given.offsets)))
        for one in [one for one in running if one[2].poll() is not None]:
            running.remove(one)
            done.append((one[0], one[3]))
        time.sleep(0.2)
    for _, _, process, _ in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    said: dict[str, Counter[str]] = {tool: Counter() for tool in given.tools}
    seen: dict[str, set[str]] = {tool: set() for tool in given.tools}
    for tool, folder in done:
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        said[tool].update(messages(log))
        seen[tool] |= {name for found in recorded(folder).values() for name in found} - {"seconds"}
        wrong += [line for line in log.splitlines() if line.startswith("FAILED")]
    wrong += silent(said)
    return kernel_rows(seen, said), [*wrong, *(f"not finished: {len(jobs)} jobs" for _ in jobs[:1])]


def silent(said: dict[str, Counter[str]]) -> list[str]:
    """A sentence for each tool that does not report its deliberate mistake: it checks nothing."""
    return [
        f"{tool} does not report a deliberate mistake"
        for tool, found in said.items()
        if not found.pop(f"hopwave::control::{tool}", 0)
    ]


def kernel_rows(seen: dict[str, set[str]], said: dict[str, Counter[str]]) -> list[Record]:
    """For each kernel and tool, the instances that ran and what the tool reported."""
    counts = {tool: Counter(name.split("<")[0] for name in names) for tool, names in seen.items()}
    found = []
    for name in sorted({name for some in counts.values() for name in some}):
        row: Record = {"kernel": name.split(": ")[1]}
        for tool, some in counts.items():
            number = said[tool][row["kernel"]]
            row[tool] = f"{some[name]}: {f'**{number} messages**' if number else 'clean'}" if some[name] else None
        found.append(row)
    return found


def values(lines: list[Record]) -> Record:
    """The values of the page's template."""
    from benchmarks.pages import table

    sums = [f"{tool} {sum(row.get(tool) is not None for row in lines)}" for tool in TOOLS]
    bad = [f"{row['kernel']} ({tool})" for row in lines for tool in TOOLS if "messages" in (row.get(tool) or "")]
    return {"kernels": table(lines), "count": len(lines), "sums": ", ".join(sums), "bad": ", ".join(bad) or "none"}


def main() -> int:
    """Run all tools and keep the record; returns 1 if something is wrong."""
    from benchmarks.setting import command_line, gpu

    if sys.argv[1:2] == ["control"]:
        control(sys.argv[2])
        return 0
    given = command_line(
        __doc__, seconds=300.0, workers=8, tools=list(TOOLS), tests=TESTS, offsets="32", board=str
    )  # fmt: skip
    found, wrong = run(given, Path(given.board or tempfile.mkdtemp(prefix="sanitize-")))
    before = {row["kernel"]: row for row in rows("sanitizer")}
    for row in found:
        before[row["kernel"]] = before.get(row["kernel"], {}) | {key: value for key, value in row.items() if value}
    record = {"benchmark": "sanitizer", "title": "Every kernel under compute-sanitizer", "where": gpu(), "note": ""}
    keep([record | {"rows": [before[name] for name in sorted(before)]}])
    wrong += [
        f"{row['kernel']}: {row[tool]}" for row in found for tool in given.tools if "messages" in (row[tool] or "")
    ]
    print("\n".join(wrong) or f"{len(found)} kernels, nothing reported")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
