"""MPI calls that fail on one rank, at every place (FILE:LINE:METHOD) where hopwave makes one; the job must end in time.

mpiexec -n 2 python tests/mpi/faulty_calls.py FOLDER [RANK PLACE]      # the first call there fails
python tests/mpi/faulty_calls.py --all [--record FILE]                 # one job for each place and rank
"""

import ast
import atexit
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src" / "hopwave"
RECEIVER = re.compile(r"(^|[._])(comm|mpi|MPI|COMM_WORLD|request|notice|status|machine|Get_info\(\))$")
SECONDS_TO_END = 40  # from the start of a job to the end of every rank, after one of them failed
NOT_INJECTED = {  # method of a place, or what it is inside → why no fault is injected there
    "Abort": "it ends the job",
    "Get_source": "it reads a field of a record of our own process",
    "Status": "it makes a record of our own process",
    "Is_finalized": "MPI may be asked this at any time, and has no error for it",
    "NcclWire": "only NCCL needs it, which needs a GPU for each rank",
    "except": "it is made after another call has failed",
}


def places() -> dict[str, str | None]:
    """Every place that calls MPI → why no fault is injected there, or None."""
    from mpi4py import MPI

    methods = {name for kind in (MPI.Intracomm, MPI.Request, MPI.Status, MPI.Info) for name in dir(kind)}
    methods |= {name for name in dir(MPI) if callable(getattr(MPI, name))}
    found: dict[str, str | None] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "mpi4py" not in text and path.parent.name != "distributed":
            continue
        nodes = list(ast.walk(ast.parse(text)))
        around = [(one, one.name) for one in nodes if isinstance(one, ast.ClassDef)]
        around += [(one, "except") for one in nodes if isinstance(one, ast.ExceptHandler)]
        for node in nodes:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods):
                continue
            if RECEIVER.search(ast.unparse(node.func.value)) is not None:
                inside = [name for one, name in around if one.lineno <= node.lineno <= (one.end_lineno or 0)]
                place = f"{path.relative_to(SOURCES).as_posix()}:{node.lineno}:{node.func.attr}"
                found[place] = next(
                    (NOT_INJECTED[why] for why in (*inside, node.func.attr) if why in NOT_INJECTED), None
                )
    return found


# ---------------------------------------------------------------- one job


class Faulty:
    """A wrapper of a communicator, a request or MPI itself: counts calls by place, and makes one of them fail."""

    calls: ClassVar[Counter[str]] = Counter()
    fails: ClassVar[str] = ""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name == "COMM_WORLD":
            return Faulty(found)
        if type(found).__name__ not in ("method", "builtin_function_or_method", "cython_function_or_method"):
            return found  # a number, a type or an operation of MPI

        def called(*given: Any, **more: Any) -> Any:
            frame = sys._getframe(1)
            file = Path(frame.f_code.co_filename)
            if SOURCES in file.parents:
                place = f"{file.relative_to(SOURCES).as_posix()}:{frame.f_lineno}:{name}"
                Faulty.calls[place] += 1
                if place == Faulty.fails and Faulty.calls[place] == 1:
                    from mpi4py.MPI import ERR_OTHER, Exception

                    raise Exception(ERR_OTHER)
            answer = found(*given, **more)
            kinds = ("Intracomm", "Comm", "Request", "Info", "Cartcomm")
            return Faulty(answer) if type(answer).__name__ in kinds else answer

        return called


def work(folder: Path) -> None:
    """Make calls that reach every place."""
    import numpy as np

    import hopwave as hw
    from hopwave import distributed as hd
    from hopwave.distributed import validate, wire

    world = hd.world()
    wire.takes_device_pointers()
    path = folder / "web.mtx"
    if world.rank == 0:
        hw.write(path, hw.generate.grid(6, 5))
    world.barrier()
    for layout in ("1d", (1, 2)):
        parts = hd.kronecker(6, layout=layout)
        for plan in ("auto", "turbobfs-bu-sc"):
            found = hd.bfs(parts, 1, plan=plan)
    found.gather()
    validate.validate(parts, found.sources, found.distances, found.predecessors)
    parts.replicated()
    hd.betweenness_centrality(hd.read(path), k=9, seed=1, split="sources", progress=False)
    hd.from_edges(np.arange(5) + world.rank, np.arange(5) + 1)
    with suppress(hw.GraphError):
        hd.bfs(parts, world.rank)  # a different argument on every rank


def one_job() -> None:
    """Run one rank of a job."""
    import mpi4py
    from mpi4py import MPI

    folder, *fault = sys.argv[1:]
    rank = MPI.COMM_WORLD.Get_rank()
    mpi4py.MPI = Faulty(MPI)  # type: ignore[assignment]
    if fault and rank == int(fault[0]):
        Faulty.fails = fault[1]
    if not fault:  # after the last calls, which hopwave makes when the interpreter exits
        atexit.register(lambda: Path(folder, f"places-{rank}.json").write_text(json.dumps(Faulty.calls)))
    work(Path(folder))


# ---------------------------------------------------------------- all jobs


def reached(folder: Path) -> dict[str, list[int]]:
    """Every place that a job without a fault reaches → the ranks that reach it."""
    from mpi_job import start

    done = start(2, __file__, folder, seconds=200)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[int]] = {}
    for rank in (0, 1):
        for place in json.loads((folder / f"places-{rank}.json").read_text()):
            found.setdefault(place, []).append(rank)
    return found


def trouble(folder: Path, rank: int, place: str) -> str | None:
    """What is wrong with the end of a job in which this call fails; None if nothing is."""
    from mpi_job import start

    try:
        done = start(2, __file__, folder, str(rank), place, seconds=SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        return f"rank {rank} at {place}: the job did not end"
    said = [line for line in done.stderr.splitlines() if re.search(rf"rank {rank} of 2 failed: .*Exception: ", line)]
    right = done.returncode and len(said) == 1
    return None if right else f"rank {rank} at {place}: status {done.returncode}, {done.stderr[-600:]!r}"


def main(file: Path | None) -> int:
    """Cause a fault at every place, on every rank that reaches it; adds a row to the file."""
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    from recorded import record

    began, known = time.monotonic(), places()
    with tempfile.TemporaryDirectory() as name:
        found = reached(Path(name))
        wrong = [f"{place} is not reached" for place, why in known.items() if why is None and place not in found]
        faults = [(rank, place) for place, ranks in found.items() if known[place] is None for rank in ranks]
        wrong += filter(None, (trouble(Path(name), *fault) for fault in faults))
    print("\n".join(wrong))
    print(record(file, "faults of MPI", len(faults), len(wrong), began, places=len(known)))
    return int(bool(wrong))


if __name__ == "__main__":
    if "--all" in sys.argv:
        sys.exit(main(Path(sys.argv[-1]) if "--record" in sys.argv else None))
    one_job()
