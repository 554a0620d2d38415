"""Efficient Hybrid Breadth-First Search on GPUs (Hiragushi & Takahashi, 2013)."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

import hopwave as hw
from hopwave.arrays import on_host
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, WrongAnswer, claimed, ms_of, over
from hopwave.papers.records import Case, Row, left_out, quoted, tables
from hopwave.system.optional import install

PLANS = {"Merrill": "merrill", "hybrid": "hiragushi-hybrid"}
RANKS = (1, 2, 4)
# Open MPI needs two settings to run as root, one to start more ranks than cores, and one (which depends on the version)
# not to bind each of one or two ranks, with all of its threads, to a single core; MPICH needs none.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
RESULT = re.compile(r"\{.*\}")  # the JSON that rank 0 prints; mpiexec may add colours on the same line
SECONDS = 40  # time limit of a job over ranks
(TABLE_1,) = tables("hiragushi")


def one_graph(lab: Lab, case: Case, graph: Graph) -> Row:
    """Trees from random vertices, by both plans in turn: TEPS, the speedup, and the shares of the two directions."""
    runs, sources, right = lab.in_turn(graph, PLANS, lab.effort.sources, parents=True)
    check_tree(lab, graph, sources[0], right[0])
    degrees = np.asarray(graph.degrees)
    arcs = [int(degrees[on_host(one) >= 0].sum(dtype=np.int64)) for one in right]
    row: Row = {"sources": len(runs["hybrid"])}
    for name, some in runs.items():
        row[f"{name} ms"] = median(map(ms_of, some))
        row[f"{name} GTEPS"] = median(m / ms_of(levels) / 1e6 for m, levels in zip(arcs, some, strict=False))
    row["gain"] = row["Merrill ms"] / row["hybrid ms"]
    up = median(ms_of(levels, "pull") / ms_of(levels) for levels in runs["hybrid"])
    return row | {"bottom-up %": 100 * up, "top-down %": 100 * (1 - up)}


searches = over(one_graph, TABLE_1, share=0.4)


def check_tree(lab: Lab, graph: Graph, source: int, distance: object) -> None:
    """Raise WrongAnswer unless the hybrid's parents are one level above their children."""
    found = hw.bfs(graph, source, plan=PLANS["hybrid"], device=lab.device)
    levels, parents = on_host(distance), on_host(found.predecessors)
    reached = levels > 0
    if not (levels[parents[reached]] == levels[reached] - 1).all():
        raise WrongAnswer(f"a parent from {source} is not one level above its child; please report this")


def ranks(lab: Lab) -> list[Row]:
    """Figure 5: Graph500 over ranks of this machine, on its CPU and, if available, on its GPU."""
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    mpiexec = shutil.which("mpiexec", path=here)
    if mpiexec is None:
        return [{"ranks on": lab.device} | left_out(f"mpiexec is missing; run: {install('mpi')}")]
    roots, counts = (4, RANKS[:2]) if lab.quick else (8, RANKS)
    rows = []
    least = 13 if lab.quick else 20 if lab.device == "cuda" else 18
    for device in dict.fromkeys([lab.device, "cpu"]):
        for count, layout in [*((count, "1d") for count in counts), *((count, "2d") for count in counts if count == 4)]:
            scale = least + count.bit_length() - 1
            lab.say(f"{count} ranks, {device}, {layout}, scale {scale}")
            row: Row = {"ranks on": device + (", 2D" if layout == "2d" else ""), "ranks": count, "scale": scale}
            late = lab.late()
            seconds = min(SECONDS, max(1.0, lab.ends - time.perf_counter()))
            job = mpiexec, count, device, layout, scale, roots, seconds
            rows.append(row | (left_out(late) if late else over_ranks(*job)))
    return rows


def over_ranks(mpiexec: str, count: int, device: str, layout: str, scale: int, roots: int, seconds: float) -> Row:
    """TEPS of Graph500 by the hybrid plan over ranks, and its times of computation and of exchanges."""
    command = [mpiexec, "-n", str(count), sys.executable, "-m", "hopwave", "graph500", "--scale", str(scale), "--nbfs",
               str(roots), "--plan", PLANS["hybrid"], "--device", device, "--json"]  # fmt: skip
    command += ["--layout", layout] if count > 1 else []
    command += ["--threads", str(max(1, (os.cpu_count() or 1) // max(RANKS)))] if device == "cpu" else []
    known = {**os.environ, **OPEN_MPI, "HOPWAVE_PROGRESS": "0"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=known, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return left_out(f"not finished after {seconds:.0f} s")
    printed = RESULT.findall(done.stdout)
    if done.returncode or len(printed) != 1:
        said = [line for line in done.stderr.splitlines() if line.strip(" -")]
        return left_out(f"the job failed: {said[-1] if said else 'it printed nothing'}")
    found = json.loads(printed[0])
    if not found["valid"]:
        raise WrongAnswer(f"a search over {count} ranks violates Graph500's rules; please report this")
    share, ms = found.get("waiting_share") or 0.0, 1e3 * found["bfs_median_time"]
    bar = f"{count} on {device}{', 2D' if layout == '2d' else ''}"
    times = {"computing ms": ms * (1 - share), "exchanging ms": ms * share}
    return {"GTEPS": found["bfs_harmonic_mean_TEPS"] / 1e9, **times, "roots": roots, "bar": bar}


def machine(lab: Lab) -> list[Row]:
    """Table 2: the paper's cluster and this machine."""
    ours = {one.kind: one for one in hw.devices()}
    cpu, gpu = ours.get("cpu"), ours.get("cuda")
    here = {
        "CPU": cpu and f"{cpu.model}, {cpu.cores} cores",
        "Main memory": cpu and cpu.memory_bytes and f"{cpu.memory_bytes / 1e9:.0f} GB",
        "GPU": gpu.model if gpu and gpu.available else "none used",
        "GPU memory": gpu and gpu.memory_bytes and f"{gpu.memory_bytes / 1e9:.0f} GB",
        "Interconnection": "the memory of one machine",
        "Computation nodes": "1",
    }
    return [{"": what, "ours": here.get(what), "paper": own} for what, own in quoted("hiragushi")["cluster"].items()]


STUDIES = {"searches": searches, "ranks": ranks, "machine": machine, "claims": claimed("hiragushi")}
