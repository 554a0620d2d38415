"""The workers of sanitize.py: which parts are taken, and processes that are replaced when they end or are late."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

Task = tuple[str, int]  # the name of a part, and the bits of row offsets
SECONDS = 90.0  # per part: a worker that takes longer is killed, and another takes the next part
FILTERED = ("racecheck", "synccheck", "memcheck")  # not initcheck, which must see other libraries' writes

# ---------------------------------------------------------------- the board: files that say what is taken and prepared


def note(tool: str, name: str, bits: int) -> str:
    """The file that says who has taken a part."""
    return f"{tool} {bits} {re.sub(r'[^a-z0-9-]+', ' ', name)}.taken"


def claim(board: Path, tool: str, name: str, bits: int) -> bool:
    """Whether this process is the first to take this part."""
    try:
        os.close(os.open(board / note(tool, name, bits), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def prepared(board: Path, name: str, bits: int, launched: Iterable[str] = ()) -> None:
    """Record that everything that a part launches is compiled, so that the tools may take it."""
    (board / note("prepared", name, bits)).write_text(json.dumps(sorted(launched)), encoding="utf-8")


def is_prepared(board: Path, name: str, bits: int) -> bool:
    """Whether the tools may take a part."""
    return (board / note("prepared", name, bits)).exists()


def launched_by(board: Path, name: str, bits: int) -> set[str]:
    """The instances that a part launched when it was prepared."""
    try:
        return set(json.loads((board / note("prepared", name, bits)).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return set()


def most_wanted(board: Path, tool: str, all_tasks: list[Task], ready: list[Task], seen: set[str]) -> Task:
    """The part with the most instances that the tool has not seen, before or in a part that is taken."""
    for task in all_tasks:
        if (board / note(tool, *task)).exists():
            seen = seen | launched_by(board, *task)
    return max(ready, key=lambda task: len(launched_by(board, *task) - seen))


# ---------------------------------------------------------------- compute-sanitizer


def sanitizer() -> str:
    """compute-sanitizer, from the PATH or the CUDA toolkit."""
    found = shutil.which("compute-sanitizer", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if found is None:
        raise SystemExit("there is no compute-sanitizer; it comes with the CUDA toolkit")
    return found


@cache
def filter_option() -> str | None:
    """The option that restricts the tool to some kernels; None if this version has none."""
    told = subprocess.run([sanitizer(), "--help"], capture_output=True, text=True, check=False).stdout
    return next((option for option in ("--kernel-name", "--kernel-regex") if option in told), None)


def under(tool: str, line: list[str]) -> list[str]:
    """The command that runs `line` under a tool; without a tool, `line` itself."""
    if tool == "none":
        return line
    options = ["--tool", tool, "--error-exitcode", "9", "--print-limit", "100"]
    if tool in FILTERED and (only := filter_option()):
        options += [only, "kns=hopwave"]
    return [sanitizer(), *options, *line]


# ---------------------------------------------------------------- processes


@dataclass
class Worker:
    """One process, its output, and its tool."""

    tool: str
    label: str
    process: subprocess.Popen[bytes]
    log: Path

    def end(self) -> None:
        """Kill the process, and compute-sanitizer with it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@dataclass
class Pool:
    """A fixed number of workers at a time: first those that prepare parts, then those of tools with most parts left."""

    board: Path
    tools: list[str]
    tasks: list[Task]
    command: Callable[[str, str], list[str]]  # tool and label → the command of a worker
    size: int
    root: Path
    running: list[Worker] = field(default_factory=list)
    ended: list[Worker] = field(default_factory=list)

    def left(self, tool: str) -> int:
        """How many parts no worker has taken."""
        return sum(not (self.board / note(tool, *task)).exists() for task in self.tasks)

    def start(self, tool: str, *more: str) -> None:
        """Start one more worker."""
        label = f"{tool}-{len(self.running) + len(self.ended)}"
        folders = [str(self.root / "src"), str(self.root), *filter(None, [os.environ.get("PYTHONPATH")])]
        known = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "HOPWAVE_PROGRESS": "0"}
        log = self.board / f"{label}.log"
        with log.open("wb") as out:  # a process group, so that it can be killed; no session, which would outlive ours
            process = subprocess.Popen(
                under(tool, [*self.command(tool, label), *more]),
                stdout=out,
                stderr=subprocess.STDOUT,
                env=known,
                cwd=self.root,
                process_group=0,
            )
        self.running.append(Worker(tool, label, process, log))

    def next_tool(self) -> str | None:
        """The tool whose worker starts next; None if every part is taken."""
        if self.left("none"):
            return "none"
        waiting = {tool: self.left(tool) for tool in self.tools}
        shares = {
            tool: count / (1 + sum(worker.tool == tool for worker in self.running))
            for tool, count in waiting.items()
            if count
        }
        return max(shares, key=lambda tool: shares[tool]) if shares else None

    def run(self, deadline: float) -> None:
        """Run until all parts are done or the time is over."""
        try:
            while time.time() < deadline:
                for worker in [one for one in self.running if one.process.poll() is not None or self.is_late(one)]:
                    worker.end()
                    self.running.remove(worker)
                    self.ended.append(worker)
                    (self.board / f"{worker.label}.now").unlink(missing_ok=True)
                while len(self.running) < self.size and (tool := self.next_tool()) is not None:
                    self.start(tool)
                if not self.running:
                    return
                time.sleep(0.2)
        finally:
            for worker in self.running:
                worker.end()
            self.ended += self.running
            self.running = []

    def is_late(self, worker: Worker) -> bool:
        """Whether the part takes too long. If it was not prepared in time, the tools run it anyway."""
        try:
            tool, name, bits, began = json.loads((self.board / f"{worker.label}.now").read_text())
        except (FileNotFoundError, ValueError):
            return False
        if time.time() - began < SECONDS:
            return False
        if tool == "none":
            prepared(self.board, name, bits)
        row = {"tool": tool, "part": name, "offsets": bits, "failed": f"not finished in {SECONDS:.0f} s"}
        with (self.board / f"{worker.label}.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")
        return True


def module(name: str, *options: str) -> list[str]:
    """A Python command."""
    return [sys.executable, "-m", name, *options]
