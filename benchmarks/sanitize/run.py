"""compute-sanitizer over every kernel: memcheck, racecheck, synccheck and initcheck, on small traps.

    PYTHONPATH=src python -m benchmarks.sanitize.run [--seconds 150] [--workers 8] [--tools memcheck,…] [--parts many,…]

Everything is compiled first, unless parts are named, and each part (parts.py) runs once without a tool:
compiling under a tool takes minutes. Then workers, which are processes under compute-sanitizer, take one part after
another until all are done or the time is over; parts with the most instances that their tool has not seen come first.
Each tool must also report a deliberate mistake (control.py). Grids are as large as on a GPU with
MULTIPROCESSORS multiprocessors, since a tool's time grows with the threads.

benchmarks/results/sanitizer.jsonl keeps the newest line per tool and part until the kernels change; sanitizer.md is the
table of kernels and tools made from it. A part without a tool:

    PYTHONPATH=src python -m benchmarks.sanitize.run --work none --parts many
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.sanitize import control as sanitize_control
from benchmarks.sanitize.page import TOOLS
from benchmarks.sanitize.workers import Pool, claim, is_prepared, launched_by, module, most_wanted, note, prepared

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(os.environ.get("HOPWAVE_RESULTS", ROOT / "benchmarks" / "results"))
# For these, every array is a separate allocation: a pool would hide reads past its end.
PLAIN_ALLOCATOR = ("memcheck", "initcheck")
MULTIPROCESSORS = 8
ERROR = re.compile(r"^=+ +(?:Error: |Warning: |Invalid |Barrier error|Uninitialized |Program hit|Race reported)")
PART = re.compile(r"^== (.+), (\d+) bits$")  # the line that a worker writes when it begins a part
KERNEL = re.compile(r"hopwave::[\w:]+")
TEXT_OR_COMMENT = re.compile(rb'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


def tasks(parts: list[str]) -> list[tuple[str, int]]:
    """Every part with 32-bit offsets, as most graphs have, and with 64-bit offsets, for more than 2^31 arcs."""
    from benchmarks.sanitize import parts as sanitize_parts

    chosen = [name for name in sanitize_parts.PARTS if not parts or any(part in name for part in parts)]
    both = [(name, bits) for bits in (32, 64) for name in chosen]
    return [(name, bits) for name, bits in both if bits == 32 or name not in sanitize_parts.NO_OFFSETS]


# ---------------------------------------------------------------- a worker, under compute-sanitizer or alone


def work(tool: str, label: str, given: argparse.Namespace, board: Path) -> int:
    """Take parts that no worker has taken; write one JSON line for each. Ends at a failure: the GPU may be lost."""
    import cupy

    from benchmarks.sanitize import graphs as sanitize_graphs
    from benchmarks.sanitize import launches
    from benchmarks.sanitize import parts as sanitize_parts

    if tool in PLAIN_ALLOCATOR:
        cupy.cuda.set_allocator(None)
    with_few_multiprocessors()
    launches.record()
    compiled, seen = count_compilations(), set(json.loads((board / "seen").read_text()).get(tool, ()))
    everything = tasks(given.parts)
    while time.time() < given.deadline:
        left = [task for task in everything if not (board / note(tool, *task)).exists()]
        ready = [task for task in left if tool == "none" or given.alone or is_prepared(board, *task)]
        if not left:
            return 0
        if not ready:
            time.sleep(0.2)
            continue
        name, bits = ready[0] if tool == "none" else most_wanted(board, tool, everything, ready, seen)
        if not claim(board, tool, name, bits):
            continue
        row: dict[str, Any] = {"tool": tool, "part": name, "offsets": bits}
        planned = launched_by(board, name, bits)
        if planned and planned <= seen:
            enter(board, label, row | {"seen": True})
            continue
        sanitize_graphs.brief(tool == "none" and not given.few)
        print(f"== {name}, {bits} bits", flush=True)
        (board / f"{label}.now").write_text(json.dumps([tool, name, bits, time.time()]))
        launches.launched.clear()
        before, began = len(compiled), time.perf_counter()
        filled = sanitize_graphs.values_everywhere() if tool == "initcheck" else nullcontext()
        try:
            with sanitize_graphs.offsets(bits), filled:
                row["wrong"] = list(sanitize_parts.PARTS[name]())
        except (Exception, SystemExit) as error:
            row["failed"] = f"{type(error).__name__}: {error}"[:2000]
        row |= {"seconds": round(time.perf_counter() - began, 2), "launched": sorted(launches.launched)}
        row |= {"compiled": len(compiled) - before, "sources": sources(row["launched"])}
        enter(board, label, row)
        (board / f"{label}.now").unlink()
        if tool == "none" and "failed" in row:  # it would fail under the tools too
            for other in TOOLS:
                claim(board, other, name, bits)
        elif tool == "none":
            prepared(board, name, bits, row["launched"])
        print(f"   {row['seconds']} s, {row['compiled']} compiled {row.get('failed', row.get('wrong'))}", flush=True)
        if "failed" in row:
            return 1
        if given.alone and row["wrong"]:
            return 1
    return 0


def enter(board: Path, label: str, row: dict[str, Any]) -> None:
    """Append a row of a worker."""
    with (board / f"{label}.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row) + "\n")


def with_few_multiprocessors() -> None:
    """Make the GPU appear to have few multiprocessors, so that the engine makes small grids."""
    import cupy

    class Few(cupy.cuda.Device):  # type: ignore[misc]
        @property
        def attributes(self) -> dict[str, int]:
            return {**super().attributes, "MultiProcessorCount": MULTIPROCESSORS}

    cupy.cuda.Device = Few


def count_compilations() -> list[float]:
    """A list that grows with every compilation by NVRTC in this process, hopwave's and CuPy's."""
    from cupy_backends.cuda.libs import nvrtc

    begun: list[float] = []
    compile_program = nvrtc.compileProgram

    def counted(*given: Any) -> Any:
        begun.append(time.perf_counter())
        return compile_program(*given)

    nvrtc.compileProgram = counted
    return begun


def sources(launched: list[str]) -> dict[str, str]:
    """Header → eight digits that change with its code, or with that of what it includes."""
    return {header: header_hash(header) for header in sorted({name.split(": ")[0] for name in launched})}


def included(header: str, seen: dict[str, bytes]) -> dict[str, bytes]:
    """A header and everything that it includes, by name."""
    from hopwave.engines.cuda.nvrtc import KERNELS

    if header not in seen:
        seen[header] = (KERNELS / header).read_bytes()
        for other in re.findall(rb'^#include "(.+)"', seen[header], re.MULTILINE):
            included(other.decode(), seen)
    return seen


def code_of(text: bytes) -> bytes:
    """A header without comments, empty lines and needless blanks: no kernel changes with these."""
    bare = TEXT_OR_COMMENT.sub(lambda found: found[1] or b" ", text)
    return b"\n".join(b" ".join(line.split()) for line in bare.splitlines() if line.strip())


@cache
def header_hash(header: str) -> str:
    """Eight digits that change with a header's code or with what it includes; none for a header that is no more."""
    from hopwave.engines.cuda.nvrtc import KERNELS

    if not (KERNELS / header).exists():
        return ""
    digest = hashlib.sha256()
    for name, text in sorted(included(header, {}).items()):
        digest.update(name.encode() + b"\0" + code_of(text))
    return digest.hexdigest()[:8]


# ---------------------------------------------------------------- the workers of all tools


def run_all(given: argparse.Namespace, board: Path) -> list[dict[str, Any]]:
    """Run all workers until all parts are done or the time is over; returns what they found."""
    from benchmarks import setting

    tools, deadline = given.tools.split(","), time.time() + given.seconds
    where = setting.gpu() | {"hopwave": setting.hw.__version__, "date": time.strftime("%Y-%m-%d")}
    (board / "about").write_text(", ".join(f"{name} {value}" for name, value in where.items()), encoding="utf-8")
    seen = seen_before(tools) if given.missing else {}
    (board / "seen").write_text(json.dumps(seen), encoding="utf-8")
    leave_out(board, seen, tasks(given.parts))
    options = ["--board", str(board), "--deadline", str(deadline), "--parts", ",".join(given.parts)]
    options += ["--few"] * given.few

    def command(tool: str, label: str) -> list[str]:
        return module("benchmarks.sanitize.run", "--work", tool, "--label", label, *options)

    if not given.parts:  # else the run without a tool compiles what they need
        subprocess.run(module("hopwave", "warmup", "--device", "cuda"), timeout=given.seconds, check=False, cwd=ROOT)
    print(f"compiled {time.time() - deadline + given.seconds:.0f} s", flush=True)
    pool = Pool(board, tools, tasks(given.parts), command, given.workers, ROOT)
    for tool in tools:
        pool.start(tool, "--control")
    with suppress(SystemExit):  # ended from outside: keep what is done
        pool.run(deadline)
    return collected(board, tools, given.parts)


def seen_before(tools: list[str]) -> dict[str, list[str]]:
    """Tool → the instances that it has seen clean and with right answers in earlier runs, if they have not changed."""
    rows = [trimmed(row) for row in read(RESULTS / "sanitizer.jsonl")]
    said = {key(row) for row in rows if "message" in row or row.get("wrong")}
    found: dict[str, list[str]] = {tool: [] for tool in tools}
    for row in rows:
        if row["tool"] in found and "launched" in row and "failed" not in row and key(row) not in said:
            found[row["tool"]] += row["launched"]
    return found


def leave_out(board: Path, seen: dict[str, list[str]], wanted: list[tuple[str, int]]) -> None:
    """Claim the parts of which all tools have seen every instance, so that no worker takes them."""
    launched = {key(row): set(ran(row)) for row in read(RESULTS / "sanitizer.jsonl") if is_current(row)}
    all_seen = set.intersection(*map(set, seen.values())) if seen else set()
    for name, bits in wanted:
        planned = launched.get(("none", name, bits))
        if planned and planned <= all_seen:
            for tool in (*seen, "none"):
                claim(board, tool, name, bits)
                enter(board, f"{tool}-left-out", {"tool": tool, "part": name, "offsets": bits, "seen": True})


def collected(board: Path, tools: list[str], parts: list[str]) -> list[dict[str, Any]]:
    """What the workers of a board found, and a row for each unfinished part."""
    rows = [json.loads(line) for file in board.glob("*.jsonl") for line in file.read_text().splitlines()]
    finished = {(row["tool"], row["part"], row["offsets"]) for row in rows}
    for tool in tools:
        for name, bits in tasks(parts):
            if (tool, name, bits) not in finished:
                rows.append({"tool": tool, "part": name, "offsets": bits, "failed": "not finished in time"})
    rows = [row for row in rows if "seen" not in row]
    said = [row for log in sorted(board.glob("*.log")) for row in complaints(log.stem.split("-")[0], log)]
    for tool in tools:
        reported = any(row["kernel"] == f"hopwave::control::{tool}" for row in said if row["tool"] == tool)
        rows.append({"tool": tool, "part": "control", "offsets": 0, "reported": reported})
    return rows + [row for row in said if "::control::" not in row["kernel"]]


def complaints(tool: str, log: Path) -> list[dict[str, Any]]:
    """The sanitizer's messages about a worker: one row each, with the part and the kernel."""
    found, part, bits, block = [], "", 0, []
    for line in [*log.read_text(errors="replace").splitlines(), "========="]:
        if (begun := PART.match(line)) is not None:
            part, bits = begun[1], int(begun[2])
        if not line.startswith("========="):
            continue
        if ERROR.match(line):  # a message may begin without an empty line before it
            block = []
        if line.strip("= "):
            block.append(line)
            continue
        if block and ERROR.match(block[0]) and "ERROR SUMMARY" not in block[0]:
            kernels = KERNEL.findall("\n".join(block))
            row = {"tool": tool, "part": part, "offsets": bits, "kernel": kernels[0] if kernels else ""}
            found.append(row | {"message": block[:12]})
        block = []
    return found


def known_kernels() -> list[str]:
    """Every instance that the engine may launch; for products over semirings, which have many, only the kernels."""
    from hopwave.engines.cuda.instances import all_instances
    from hopwave.engines.cuda.linalg import compiled, waves

    found = {f"{header}: {name}" for header, names in all_instances().items() for name in names}
    pairs = [pair for file in (compiled, waves) for pair in file.instances("int")]
    pairs += [("linalg/arrays.cuh", name) for some in compiled.array_instances() for name in some]
    return sorted(found | {f"{header}: {name.split('<')[0]}" for header, name in pairs})


def read(file: Path) -> list[dict[str, Any]]:
    """The rows of earlier runs."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def is_current(row: dict[str, Any]) -> bool:
    """Whether the kernels are unchanged since a row was written."""
    headers = row.get("sources", {})
    return bool(headers) and all(header_hash(header) == known for header, known in headers.items())


def merged(rows: list[dict[str, Any]], file: Path) -> list[dict[str, Any]]:
    """These rows, and earlier ones for parts that did not finish this time; kernels that changed are left out.

    A row keeps its `sources`: a part with a changed kernel counts as not finished.
    """
    before = [trimmed(row) for row in read(file) if ("launched" in row and "failed" not in row) or "message" in row]
    new = {key(row) for row in rows if "launched" in row and "failed" not in row}
    stands = {key(row) for row in before if row.get("launched")} - new
    kept = [row for row in before if key(row) in stands]
    kept += [trimmed(row) for row in rows if "failed" not in row or key(row) not in stands]
    return sorted(with_use(kept), key=lambda row: (row["part"], row["offsets"], row["tool"]))


def with_use(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop rows of parts that no longer exist, unless only they have seen some instance."""
    from benchmarks.sanitize.parts import PARTS

    def is_old(row: dict[str, Any]) -> bool:
        return row["part"] not in (*PARTS, "control")

    seen = {(row["tool"], name) for row in rows if not is_old(row) and "failed" not in row for name in ran(row)}
    useless = {key(row) for row in rows if is_old(row) and all((row["tool"], name) in seen for name in ran(row))}
    useful = {key(row) for row in rows if is_old(row)} - useless
    return [row for row in rows if not is_old(row) or key(row) in useful]


def ran(row: dict[str, Any]) -> list[str]:
    """The instances of a row."""
    return list(row.get("launched", ()))


def trimmed(row: dict[str, Any]) -> dict[str, Any]:
    """A row without the instances whose kernels have changed."""
    if "launched" not in row:
        return row
    known = row.get("sources", {})
    same = {header for header, digits in known.items() if header_hash(header) == digits}
    return row | {"launched": [name for name in row["launched"] if name.split(": ")[0] in same]}


def key(row: dict[str, Any]) -> tuple[str, str, int]:
    """What identifies a row."""
    return row["tool"], row["part"], row["offsets"]


def main(argv: list[str] | None = None) -> int:
    """Run all workers, or act as one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=150.0, help="for everything")
    parser.add_argument("--workers", type=int, default=8, help="processes at the same time: more only wait for the GPU")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--parts", default=[], type=lambda text: [part for part in text.split(",") if part])
    parser.add_argument("--missing", action="store_true", help="only parts with instances that a tool has not seen")
    parser.add_argument("--few", action="store_true", help="three graphs without a tool too")
    parser.add_argument("--board", type=Path, help="the folder in which workers claim parts")
    parser.add_argument("--collect", action="store_true", help="only write what the workers of a board have found")
    parser.add_argument("--work", help="be a worker of this tool, or of 'none'")
    parser.add_argument("--control", action="store_true", help="make this tool's mistake, and end")
    parser.add_argument("--label", default="")
    parser.add_argument("--deadline", type=float, default=float("inf"))
    given = parser.parse_args(argv)
    if given.work and given.control:
        sanitize_control.run(given.work)
        return 0
    given.alone = given.board is None
    if given.work:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "seen").write_text("{}", encoding="utf-8")
            return work(given.work, given.label or given.work, given, given.board or Path(folder))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    board = Path(given.board or tempfile.mkdtemp(prefix="sanitize-"))
    board.mkdir(exist_ok=True, parents=True)
    tools = given.tools.split(",")
    rows = collected(board, tools, given.parts) if given.collect else run_all(given, board)
    rows = merged(rows, RESULTS / "sanitizer.jsonl")
    rows[0] |= {"about": (board / "about").read_text(encoding="utf-8"), "known": known_kernels()}
    pages.write("sanitizer", RESULTS, rows)
    bad = [row for row in rows if row.get("wrong") or "message" in row or "failed" in row]
    bad += [row for row in rows if row.get("reported") is False]
    for row in bad:
        print({key: value for key, value in row.items() if key not in ("launched", "known", "sources")})
    print(f"{len(rows)} rows, {len(bad)} with something to say; logs in {board}")
    return int(any("failed" not in row for row in bad))


if __name__ == "__main__":
    sys.exit(main())
