"""Searches over 1, 2 and 4 ranks of one machine: strong scaling, weak scaling, bytes sent, and ranks that share a GPU.

    PYTHONPATH=src python -m benchmarks.ranks [--ranks 1 2 4] [--strong 20] [--weak 18] [--threads 4] [--roots 16]
        [--gpu 20] [--plan P] [--weak-gpu 0] [--go-on]

Each row is a separate job under mpiexec. Nothing is written unless every search is valid by Graph500's rules and jobs
on the same graph find the same distances. CPU ranks have the same number of threads in every row. A scale of 0 leaves a
table out. Hiragushi's Figure 5 is `--strong 0 --weak 21 --weak-gpu 21 --plan hiragushi-hybrid`: 2^21 vertices per rank,
and how long ranks compute and wait in exchanges, on CPUs and on GPUs (here ranks share one GPU). --go-on keeps the rows
of the newest run, so that each number of ranks can be a separate run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import publish
from benchmarks.pages import rows as kept_rows
from benchmarks.setting import ROOT, command_line

RANKS = (1, 2, 4)
RESULT = re.compile(r"\{.*\}")  # the JSON that rank 0 prints; mpiexec may add other lines, and colours on the same line
# Open MPI needs two settings to run as root, one to start more ranks than cores, and one (by version) not to bind each
# of one or two ranks, with all of its threads, to a single core; MPICH needs none.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def run_job(ranks: int, module: str = "benchmarks.ranks", **settings: Any) -> dict[str, Any]:
    """Start one job of a module that has --job; returns what its rank 0 printed."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    mpiexec = shutil.which("mpiexec", path=places)
    if mpiexec is None:
        raise SystemExit("mpiexec is missing; run: pip install mpich")
    command = [mpiexec, "-n", str(ranks), sys.executable, "-m", module, "--job", json.dumps(settings)]
    known = {**os.environ, **OPEN_MPI, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, capture_output=True, text=True, env=known, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(f"{ranks} ranks, {settings}: {done.stdout}{done.stderr}")
    printed = RESULT.findall(done.stdout)
    if len(printed) != 1:
        raise SystemExit(f"{ranks} ranks, {settings}: no result; {done.stdout}{done.stderr}")
    return dict(json.loads(printed[0]))


def work(settings: dict[str, Any]) -> None:
    """The work of every rank of a job: build the graph, search it, print the row on rank 0."""
    from hopwave import distributed
    from hopwave.graph500 import Outcome, draw_roots
    from hopwave.graph500.on_host import OverRanks

    world, scale = distributed.world(), settings["scale"]
    threads = settings["threads"] if settings["device"] == "cpu" else None
    machine = OverRanks(scale, 16, settings["device"], 1, settings["layout"], threads, settings["plan"])
    roots = list(draw_roots(machine, 1 << scale, settings["roots"], 1))
    machine.search(roots[0])
    outcome = Outcome(scale, 16, machine.construction_seconds, [machine.search(root) for root in roots])
    found = distributed.bfs(machine.graph, roots[0], plan=machine.plan)
    plain = distributed.bfs(machine.graph, roots[0], plan=machine.plan, compress=False)
    sums = world.allgather(int(found.distances.sum(dtype=np.int64)))
    pulls = [level for level in found.trace if level.direction == "pull"]
    if world.rank:
        return
    if settings["device"] == "cuda":
        agree_with_one_gpu(scale, roots[0], found.depth, sum(sums))
    values = outcome.values()
    waiting = 1e3 * sum(one.waiting or 0.0 for one in outcome.searches) / len(outcome.searches)
    row = {
        "device": settings["device"],
        "layout": settings["layout"],
        "plan": machine.plan.name,
        "scale": scale,
        "ranks": world.size,
        "threads per rank": threads,
        "MB of arcs per rank": machine.about["bytes_per_rank"] / 1e6,
        "construction s": values["construction_time"],
        "median search ms": values["bfs_median_time"] * 1e3,
        "harmonic mean MTEPS": values["bfs_harmonic_mean_TEPS"] / 1e6,
        "mean computing ms": values["bfs_mean_time"] * 1e3 - waiting,
        "mean waiting ms": waiting,
        "share of time waiting": outcome.waiting_share,
        "KB sent per search": sum(level.sent for level in found.trace) / 1e3,
        "KB uncompressed": sum(level.sent for level in plain.trace) / 1e3,
        "most KB of one rank in a pull": max((level.sent_by_one for level in pulls), default=0) / 1e3,
        "the same without parents": max((level.sets_by_one for level in pulls), default=0) / 1e3,
        "n/8 in KB": (1 << scale) / 8e3,
        "transport": machine.about["transport"],
        "first search": f"{found.reached} vertices, depth {found.depth}, sum of distances {sum(sums)}",
        "searches valid": f"{sum(not one.broken for one in outcome.searches)} of {len(outcome.searches)}",
    }
    print(json.dumps({"row": row, "valid": outcome.valid}))


def agree_with_one_gpu(scale: int, root: int, depth: int, total: int) -> None:
    """Compare with the same search by one GPU in one launch: other arrays, another kernel, the same result."""
    from hopwave.graph500.on_cuda import OnCuda

    alone = OnCuda(scale, 16, 1)
    searched = alone.search(root)
    if searched.broken or (searched.depth, int(alone.distance.sum(dtype=np.int64))) != (depth, total):
        raise SystemExit(f"scale {scale}, root {root}: ranks found depth {depth}, one GPU found {searched.depth}")


def rows(title: str, kind: str, jobs: list[tuple[int, dict[str, Any]]], found: dict[int, str]) -> list[dict[str, Any]]:
    """The rows of one table, one job each; `found`: scale → what the first search on that graph found."""
    made: list[dict[str, Any]] = []
    for ranks, settings in jobs:
        done = run_job(ranks, **settings)
        if not done["valid"]:
            raise SystemExit(f"{title}: a search of {settings} on {ranks} ranks is not valid")
        if found.setdefault(settings["scale"], done["row"]["first search"]) != done["row"]["first search"]:
            raise SystemExit(f"{title}: {ranks} ranks found other distances than the job before: {settings}")
        made.append({"table": kind} | done["row"])
        print(made[-1], flush=True)
    return made


def main() -> None:
    given = command_line(
        __doc__,
        ranks=RANKS,
        strong=20,
        weak=18,
        gpu=0,
        weak_gpu=0,
        name="ranks-cpu",
        threads=4,
        roots=16,
        plan="auto",
        title="Searches over ranks of one machine",
        go_on=False,
        job=json.loads,
    )
    if given.job is not None:
        work(given.job)
        return
    common = {"threads": given.threads, "roots": given.roots, "plan": given.plan}
    cpu = common | {"device": "cpu", "layout": "1d"}
    made: list[dict[str, Any]] = kept_rows(given.name) if given.go_on else []
    found = {row["scale"]: row["first search"] for row in made}
    if given.strong:
        strong = cpu | {"scale": given.strong}
        jobs = [*((p, strong) for p in given.ranks), *((p, strong | {"layout": "2d"}) for p in given.ranks if p == 4)]
        made += rows("strong scaling", "strong", jobs, found)
    if given.weak:
        weak = [(p, cpu | {"scale": given.weak + p.bit_length() - 1}) for p in given.ranks]
        made += rows("weak scaling", "weak", weak, found)
    if given.gpu:
        gpu = common | {"device": "cuda", "layout": "1d", "scale": given.gpu}
        made += rows("ranks on one GPU", "one GPU, shared", [(p, gpu) for p in given.ranks], found)
    if given.weak_gpu:
        gpu = common | {"device": "cuda", "layout": "1d"}
        weak = [(p, gpu | {"scale": given.weak_gpu + p.bit_length() - 1}) for p in given.ranks]
        made += rows("weak scaling on one GPU", "weak, one GPU shared", weak, found)
    note = (
        "Jobs on the same graph found the same distances. Ranks on one machine exchange through its memory. Ranks that "
        "share a GPU take turns on it: their rows show that they agree and what sharing costs, not a speed-up. Waiting "
        "is the time of a rank in exchanges, until the others are there and until the bytes are; the mean of all ranks."
    )
    publish(given.name, given.title, made, note)


if __name__ == "__main__":
    main()
