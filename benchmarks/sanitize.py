"""compute-sanitizer over every kernel: memcheck, racecheck, synccheck and initcheck, on small traps.

    PYTHONPATH=src python -m benchmarks.sanitize [--seconds 50] [--workers 8] [--tools memcheck,…] [--parts many,…]

Each tool has some workers: processes under compute-sanitizer, which take one part after another (sanitize_parts.py)
until all are done or the time is over. benchmarks/results/sanitizer.jsonl keeps one line per tool and part, the newest
of each; sanitizer.md is the table of kernels and tools that follows from it. A part without a sanitizer:

    PYTHONPATH=src python -m benchmarks.sanitize --work none --parts many
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(os.environ.get("HOPWAVE_RESULTS", ROOT / "benchmarks" / "results"))
TOOLS = ("racecheck", "memcheck", "initcheck", "synccheck")  # the slowest first
PLAIN_ALLOCATOR = ("memcheck", "initcheck")  # every array is an allocation of its own: a pool would hide its ends
ERROR = re.compile(r"^=+ +(?:Error: |Warning: |Invalid |Barrier error|Uninitialized |Program hit|Race reported)")
KERNEL = re.compile(r"hopwave::[\w:]+")


def tasks(parts: list[str]) -> list[tuple[str, int]]:
    """Parts with the bits of row offsets: those of most graphs, and those of graphs with more than 2^31 arcs."""
    from benchmarks import sanitize_parts

    chosen = [name for name in sanitize_parts.PARTS if not parts or any(part in name for part in parts)]
    both = [(name, bits) for bits in (32, 64) for name in chosen]
    return [(name, bits) for name, bits in both if bits == 32 or name not in sanitize_parts.NO_OFFSETS]


# ---------------------------------------------------------------- a worker, under compute-sanitizer or alone


def work(tool: str, bits: int, parts: list[str], board: Path, deadline: float, few: bool) -> int:
    """Take parts that nobody has taken yet; one line of JSON for each."""
    import cupy

    from benchmarks import launches, sanitize_graphs, sanitize_parts

    if tool in PLAIN_ALLOCATOR:
        cupy.cuda.set_allocator(None)
    launches.record()
    if bits == 64:
        sanitize_parts.with_64_bit_offsets()
    if few or tool == "racecheck":
        sanitize_graphs.chosen[:] = sanitize_graphs.FEW
    failed = False
    todo = tasks(parts)
    turn = len(todo) // len(TOOLS) * ([*TOOLS, "none"].index(tool) % len(TOOLS))  # tools do not all compile the same
    for name, wanted in todo[turn:] + todo[:turn]:
        if wanted != bits or time.time() > deadline or not claim(board, tool, name, bits):
            continue
        print(f"== {name}, {bits} bits", flush=True)
        launches.launched.clear()
        began = time.perf_counter()
        row: dict[str, Any] = {"tool": tool, "part": name, "offsets": bits}
        try:
            row["wrong"] = list(sanitize_parts.PARTS[name]())
        except (Exception, SystemExit) as error:
            row["failed"] = f"{type(error).__name__}: {error}"[:2000]
        failed |= "failed" in row or bool(row.get("wrong"))
        row |= {"seconds": round(time.perf_counter() - began, 2), "launched": sorted(launches.launched)}
        with (board / f"{os.getpid()}.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        print(f"   {row['seconds']} s {row.get('failed', row.get('wrong'))}", flush=True)
    return int(failed)


def claim(board: Path, tool: str, name: str, bits: int) -> bool:
    """Whether this process is the first to take that part."""
    try:
        os.close(os.open(board / f"{tool} {bits} {re.sub(r'[^a-z0-9-]+', ' ', name)}.taken", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


# ---------------------------------------------------------------- the workers of all tools


def sanitizer() -> str:
    """compute-sanitizer, from the PATH or the CUDA toolkit."""
    found = shutil.which("compute-sanitizer", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if found is None:
        raise SystemExit("there is no compute-sanitizer; it comes with the CUDA toolkit")
    return found


@cache
def filter_option() -> str | None:
    """The option that has only some kernels looked at, or None where this version has none."""
    told = subprocess.run([sanitizer(), "--help"], capture_output=True, text=True, check=False).stdout
    return next((option for option in ("--kernel-regex", "--kernel-name") if option in told), None)


def command(tool: str, bits: int, parts: list[str], board: Path, deadline: float, few: bool) -> list[str]:
    """One worker."""
    worker = [sys.executable, "-m", "benchmarks.sanitize", "--work", tool, "--offsets", str(bits)]
    worker += ["--board", str(board), "--deadline", str(deadline), "--parts", ",".join(parts), *["--few"] * few]
    if tool == "none":
        return worker
    options = ["--tool", tool, "--error-exitcode", "9", "--print-limit", "30"]
    if tool in ("racecheck", "synccheck") and (only := filter_option()):
        options += [only, "kns=hopwave"]  # not initcheck, which must see what other libraries' kernels write
    return [sanitizer(), *options, *worker]


def run_all(given: argparse.Namespace, board: Path) -> list[dict[str, Any]]:
    """All workers until all parts are taken or the time is over; what they found."""
    tools = given.tools.split(",")
    deadline = time.time() + given.seconds
    known = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "HOPWAVE_PROGRESS": "0"}
    for row in read(RESULTS / "sanitizer.jsonl") if given.missing else ():
        if "launched" in row:
            claim(board, row["tool"], row["part"], row["offsets"])  # so that nobody else does
    running: list[tuple[subprocess.Popen[bytes], str, Path]] = []
    for tool in tools:
        count = max(2, given.workers // len(tools))
        for number in range(count):
            log = board / f"{tool}-{number}.log"
            bits = given.offsets or (64 if number % 2 else 32)
            line = command(tool, bits, given.parts, board, deadline, given.few)
            with log.open("wb") as out:
                worker = subprocess.Popen(
                    line, stdout=out, stderr=subprocess.STDOUT, env=known, cwd=ROOT, start_new_session=True
                )
            running.append((worker, tool, log))
    while time.time() < deadline and any(worker.poll() is None for worker, _, _ in running):
        time.sleep(0.2)
    for worker, _, _ in running:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)  # compute-sanitizer and the process under it
    rows = [json.loads(line) for file in board.glob("*.jsonl") for line in file.read_text().splitlines()]
    finished = {(row["tool"], row["part"], row["offsets"]) for row in rows}
    for tool in tools:
        for name, bits in tasks(given.parts):
            if (tool, name, bits) not in finished:
                rows.append({"tool": tool, "part": name, "offsets": bits, "failed": "not finished in time"})
    for _, tool, log in running:
        rows += complaints(tool, log)
    return rows


def complaints(tool: str, log: Path) -> list[dict[str, Any]]:
    """What the sanitizer said about a worker: one row for each message, with the part and the kernel."""
    found, part, block = [], "", []
    for line in [*log.read_text(errors="replace").splitlines(), "========="]:
        if line.startswith("== "):
            part = line[3:]
        if not line.startswith("========="):
            continue
        if line.strip("= "):
            block.append(line)
            continue
        if block and ERROR.match(block[0]) and "ERROR SUMMARY" not in block[0]:
            kernels = KERNEL.findall("\n".join(block))
            found.append({"tool": tool, "part": part, "kernel": kernels[0] if kernels else "", "message": block[:12]})
        block = []
    return found


def known_kernels() -> list[str]:
    """Every kernel that the engine may launch, products over semirings included."""
    from hopwave.engines.cuda.instances import all_instances
    from hopwave.engines.cuda.linalg import compiled, waves

    pairs = [(header, name) for header, names in all_instances().items() for name in names]
    pairs += [pair for file in (compiled, waves) for pair in file.instances("int")]
    pairs += [("linalg/arrays.cuh", name) for some in compiled.array_instances() for name in some]
    return sorted({f"{header}: {name.split('<')[0]}" for header, name in pairs})


def read(file: Path) -> list[dict[str, Any]]:
    """The rows of earlier runs."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def merged(rows: list[dict[str, Any]], file: Path) -> list[dict[str, Any]]:
    """These rows, and those of earlier runs for parts that did not finish this time."""
    before = read(file)
    new = {(row["tool"], row["part"], row.get("offsets")) for row in rows if "failed" not in row}
    kept = [row for row in before if "launched" in row and (row["tool"], row["part"], row["offsets"]) not in new]
    stands = {(row["tool"], row["part"], row["offsets"]) for row in kept}
    kept += [row for row in rows if "failed" not in row or (row["tool"], row["part"], row.get("offsets")) not in stands]
    return sorted(kept, key=lambda row: (row["part"], row.get("offsets", 0), row["tool"]))


# ---------------------------------------------------------------- the page


def page(rows: list[dict[str, Any]]) -> str:
    """sanitizer.md: kernels × tools."""
    instances: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        for name in row.get("launched", ()):
            instances[name.split("<")[0]][row["tool"]].add(name)
    messages: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        if "message" in row:
            messages[row["kernel"], row["tool"]] += 1
    tools = [tool for tool in TOOLS if any(row["tool"] == tool for row in rows)]
    about = rows[0].get("about", "") if rows else ""
    lines = ["# Every kernel under compute-sanitizer", "", about, ""]
    lines += [
        "Instances of each kernel template that ran on the traps of `benchmarks/sanitize_parts.py` under each tool, "
        "and what it reported. Made by `python -m benchmarks.sanitize`.",
        "",
        "| kernel | " + " | ".join(tools) + " |",
        "|---|" + "---|" * len(tools),
    ]
    for name in sorted(instances):
        kernel = name.split(": ")[1]
        cells = []
        for tool in tools:
            count, said = len(instances[name][tool]), messages[kernel, tool]
            cells.append(f"{count}: {'clean' if not said else f'**{said} messages**'}" if count else "–")
        lines.append(f"| `{kernel}` | " + " | ".join(cells) + " |")
    known = set(rows[0].get("known", ())) if rows else set()
    left = [row for row in rows if "failed" in row]
    every = {name for some in instances.values() for names in some.values() for name in names}
    total = {tool: len({n for some in instances.values() for n in some[tool]}) for tool in tools}
    counts = ", ".join(f"{total[tool]} under {tool}" for tool in tools)
    lines += ["", f"{len(instances)} kernels, {len(every)} instances: {counts}."]
    if missing := sorted(name.split(": ")[1] for name in known - set(instances)):
        lines += ["", f"{len(missing)} kernels under no tool yet: {', '.join(f'`{name}`' for name in missing)}."]
    if left:
        said = (f"{row['tool']}, {row['part']}, {row['offsets']} bits ({row['failed'][:80]})" for row in left)
        lines += ["", f"Not finished: {'; '.join(said)}."]
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> int:
    """Run all workers, or be one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=50.0, help="for everything")
    parser.add_argument("--workers", type=int, default=8, help="processes at the same time: more only wait for the GPU")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--parts", default=[], type=lambda text: [part for part in text.split(",") if part])
    parser.add_argument("--work", help="be a worker of this tool, or of 'none'")
    parser.add_argument("--offsets", type=int, choices=(32, 64), help="by default both")
    parser.add_argument("--missing", action="store_true", help="only parts that earlier runs did not finish")
    parser.add_argument("--few", action="store_true", help="three graphs, as racecheck always")
    parser.add_argument("--board", type=Path, help="the folder in which workers claim parts")
    parser.add_argument("--deadline", type=float, default=float("inf"))
    given = parser.parse_args(argv)
    if given.work:
        with tempfile.TemporaryDirectory() as folder:
            board = given.board or Path(folder)
            return work(given.work, given.offsets or 32, given.parts, board, given.deadline, given.few)
    from benchmarks import setting

    board = Path(given.board or tempfile.mkdtemp(prefix="sanitize-"))
    board.mkdir(exist_ok=True, parents=True)
    rows = run_all(given, board)
    where = setting.gpu() | {"hopwave": setting.hw.__version__}
    about = ", ".join(f"{key} {value}" for key, value in where.items())
    rows = merged(rows, RESULTS / "sanitizer.jsonl")
    rows[0] |= {"about": about, "known": known_kernels()}
    (RESULTS / "sanitizer.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (RESULTS / "sanitizer.md").write_text(page(rows), encoding="utf-8")
    bad = [row for row in rows if row.get("wrong") or "message" in row or "failed" in row]
    for row in bad:
        print({key: value for key, value in row.items() if key != "launched"})
    print(f"{len(rows)} rows, {len(bad)} with something to say; logs in {board}")
    return int(any("failed" not in row for row in bad))


if __name__ == "__main__":
    sys.exit(main())
