"""Time and loads of every kernel of TurboBFS and TurboBC, counted by Nsight Compute.

    PYTHONPATH=src:. python -m benchmarks.turbo_kernels [--graphs a,b+c] [--only "TurboBC veCSC"] [--go-on]

Tests three statements of the papers: products take up to 90% of the time; products of whole numbers are up to 2.7 times
faster than those of floats; veCSC's kernels load more than the memory's bandwidth. The program starts itself under ncu,
once per graph or per group of graphs joined by a plus; ncu counts between profilerStart and profilerStop. Writes
the record and the page gpu-turbo-kernels.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.pages import Record
from benchmarks.setting import command_line, gpu, hw
from hopwave.papers.turbobc import TABLE_3

BEGINS = "run_begins"  # the kernel that is launched before each run
METRICS = {  # ncu's names → ours; all are sums over one launch
    "gpu__time_duration.sum": "ns",
    "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum": "loaded bytes",
    "dram__bytes_read.sum": "bytes from memory",
}
FORWARD, BACKWARD = "forward product", "backward product"
ROLES = {  # which kernels are products; all others only prepare or mask
    **dict.fromkeys(("scatter", "pull", "forward_arcs", "forward_columns", "forward_warps"), FORWARD),
    **dict.fromkeys(("backward_arcs", "backward_columns", "backward_warps"), BACKWARD),
}
BANDWIDTH = 4800  # GB/s of the H200's memory, by its data sheet
MTEPS = {"".join(map(str, case.made[:2])): case.stated["MTEPS"] for case in TABLE_3 if case.made}  # the paper's
KINDS = {"unsigned": "whole numbers", "double": "float64"}
GRAPHS = ["mycielskian17", "kron18", "mycielskian15", "mycielskian16", "mycielskian18", "smallworld", "kron20"]
SEARCHES = {"td-sccooc": "scCOOC", "td-sccsc": "scCSC", "td-vecsc": "veCSC", "bu-sc": "bu-sc", "bu-ve": "bu-ve"}
SCORES = {"sccooc": "scCOOC", "sccsc": "scCSC", "vecsc": "veCSC"}
FORCED = 1 << 40  # pretended number of sources that needed float64, so that the others start with it


def searches(graph: Any, root: int, only: str) -> Iterator[tuple[dict[str, str], Callable[[], Any]]]:
    """TurboBFS's algorithms except tdbu, whose levels occur in the others."""
    import cupy

    from hopwave.papers.lab import wrong

    for plan, name in ((plan, name) for plan, name in SEARCHES.items() if only in f"TurboBFS {name}"):
        options: dict[str, Any] = {"device": "cuda", "predecessors": False, "path_counts": plan.startswith("td")}

        def run(plan: str = plan, options: dict[str, Any] = options) -> Any:
            return hw.bfs(graph, root, plan=f"turbobfs-{plan}", **options)

        found = run()
        counts = cupy.asarray(found.path_counts) if options["path_counts"] else None
        if broken := wrong(graph, cupy.asarray(found.distances), counts, root):
            raise SystemExit(f"TurboBFS {name}: {broken}")
        yield {"algorithm": f"TurboBFS {name}", "counts": "double" if counts is not None else ""}, run


def scores(graph: Any, root: int, only: str) -> Iterator[tuple[dict[str, str], Callable[[], Any]]]:
    """TurboBC's algorithms, with both types of path counts."""
    import numpy as np

    from hopwave import engines
    from hopwave.planning.catalogue import CATALOGUE
    from hopwave.planning.jobs import BetweennessJob

    right = 2 * hw.betweenness_centrality(graph.to("cpu"), sources=[root], normalized=False, device="cuda").scores
    for plan, name in ((plan, name) for plan, name in SCORES.items() if only in f"TurboBC {name}"):
        for counts in ("unsigned", "double"):
            job = BetweennessJob(np.array([root], np.int64))
            one: Any = engines.engine("cuda").accumulation(graph, job, CATALOGUE[f"turbobc-{plan}"])

            def run(one: Any = one, counts: str = counts) -> None:
                one.widened = FORCED if counts == "double" else 0
                one.total[:] = 0
                one.advance(0, lambda done: False)

            run()
            np.testing.assert_allclose(one.total, right, rtol=1e-9, atol=1e-290)
            if one.widened != (FORCED + 1 if counts == "double" else 0):
                raise SystemExit(f"TurboBC {name}: path counts do not fit into 32 bits")
            yield {"algorithm": f"TurboBC {name}", "counts": counts}, run


def work(names: list[str], only: str, out: Path) -> None:
    """Run every algorithm on some graphs, once without ncu's counters and once with them; list the runs in a file."""
    import cupy
    from cupy.cuda import runtime

    from hopwave.papers.graphs import MADE, ON_GPU

    begins = cupy.RawKernel(f'extern "C" __global__ void {BEGINS}() {{}}', BEGINS)
    begins((1,), (1,), ())
    runs: list[dict[str, Any]] = []
    for name in names:
        family = name.rstrip("0123456789")
        graph = ON_GPU[family](int(name[len(family) :]), 48) if family in ON_GPU else MADE[family](100_000, 10)
        root = int(cupy.asarray(graph.degrees).argmax())
        for some in (searches, scores):
            for about, run in some(graph, root, only):
                cupy.cuda.Device().synchronize()
                runtime.profilerStart()
                begins((1,), (1,), ())
                run()
                cupy.cuda.Device().synchronize()
                runtime.profilerStop()
                runs.append({"graph": name, "n": graph.n, "m": graph.m, **about})
    out.write_text("".join(json.dumps(one) + "\n" for one in runs), encoding="utf-8")


def counted(ncu: str, names: str, only: str, folder: Path) -> list[dict[str, Any]]:
    """The runs on some graphs, with ncu's counts of their kernels. ncu writes its log when the program ends."""
    runs, log = folder / "runs", folder / "log"
    options = ["--profile-from-start", "off", "--clock-control", "none", "--csv", "--print-units", "base"]
    options += ["--metrics", ",".join(METRICS), "--log-file", str(log)]
    program = [sys.executable, "-m", "benchmarks.turbo_kernels", "--graphs", names, "--only", only]
    program += ["--runs", str(runs)]
    try:
        subprocess.run([ncu, *options, *program], check=True)
    except subprocess.CalledProcessError as failed:
        print(f"{names}: left out, since {failed}", log.read_text(encoding="utf-8") if log.exists() else "", sep="\n")
        return []
    listed = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()]
    return by_run(launches(log.read_text(encoding="utf-8")), listed)


def named(one: dict[str, Any]) -> tuple[str, str, str]:
    """What identifies a run."""
    return one["graph"], one["algorithm"], one["counts"]


# ---------------------------------------------------------------- the page


def launches(text: str) -> list[Record]:
    """ncu's metrics of every launch, in order: from its --csv output, one line per launch and metric.

    >>> head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    >>> line = '"0","void hopwave::steps::mask<int>(int)","gpu__time_duration.sum","ns","1,250"'
    >>> launches(f"==PROF== Connected to process 1\\n{head}\\n{line}")
    [{'kernel': 'mask', 'ns': 1250.0}]
    """
    found: dict[str, Record] = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        one = found.setdefault(row["ID"], {"kernel": plain_name(row["Kernel Name"])})
        if row["Metric Name"] in METRICS:
            one[METRICS[row["Metric Name"]]] = float(row["Metric Value"].replace(",", ""))
    return list(found.values())


def plain_name(name: str) -> str:
    """A kernel's name without its type, namespace, template arguments and parameters.

    >>> plain_name("void hopwave::steps::pull<int, (hopwave::steps::Mapping)1>(const int *)"), plain_name("pull")
    ('pull', 'pull')
    """
    return name.partition("(")[0].partition("<")[0].rpartition("::")[2].split()[-1]


def by_run(found: list[Record], runs: list[Record]) -> list[Record]:
    """The runs, each with the sums of its kernels. A launch of BEGINS precedes the kernels of every run."""
    parts: list[dict[str, Record]] = []
    for one in found:
        if one["kernel"] == BEGINS:
            parts.append({})
            continue
        sums = parts[-1].setdefault(one["kernel"], {"launches": 0} | dict.fromkeys(METRICS.values(), 0.0))
        sums["launches"] += 1
        for key in METRICS.values():
            sums[key] += one[key]
    if len(parts) != len(runs):
        raise ValueError(f"ncu saw {len(parts)} runs and there were {len(runs)}")
    return [run | {"kernels": part} for run, part in zip(runs, parts, strict=True)]


def values(lines: list[Record]) -> Record:
    """The rows of each table, and the numbers of the notes."""
    lines = sorted(lines, key=lambda one: str(one["graph"]))  # a graph's runs keep their order
    runs, loads = [one | computed(one) for one in lines], load_rows(lines)
    products = {paper: [one["products"] for one in runs if one["algorithm"].startswith(f"{paper} ")]
                for paper in ("TurboBFS", "TurboBC")}  # fmt: skip
    pairs = type_rows(lines)
    gains = [row["gain"] for row in pairs]
    return {
        "runs": runs, "bfs": extremes(products["TurboBFS"]), "bc": extremes(products["TurboBC"]),
        "pairs": pairs, "gain": extremes(gains), "loads": loads,
        "most": {role: max((row[role][0] for row in loads), default=0) / BANDWIDTH for role in (FORWARD, BACKWARD)},
    }  # fmt: skip


def extremes(some: list[float]) -> list[float | None]:
    """The least and the greatest; two None if there are none."""
    return [min(some, default=None), max(some, default=None)]


def spent(one: Record, role: str = "") -> float:
    """Microseconds in the kernels of one run, or only in those with this role."""
    return sum(sums["ns"] for name, sums in one["kernels"].items() if not role or ROLES.get(name) == role) / 1e3


def computed(one: Record) -> Record:
    """The time of one run in its kernels, and its products' shares."""
    whole, forward, backward = spent(one), spent(one, FORWARD), spent(one, BACKWARD)
    return {
        "kind": KINDS.get(one["counts"]), "launches": sum(sums["launches"] for sums in one["kernels"].values()),
        "µs": whole, "forward": forward / whole, "backward": backward / whole if backward else None,
        "products": (forward + backward) / whole,
    }  # fmt: skip


def type_rows(lines: list[Record]) -> list[Record]:
    """Forward products of runs that differ only in the type of path counts: whole numbers and float64."""
    found = {(one["graph"], one["algorithm"], one["counts"]): spent(one, FORWARD) for one in lines}
    return [{"graph": graph, "algorithm": algorithm, "whole": whole, "float64": other, "gain": other / whole}
            for (graph, algorithm, counts), whole in found.items()
            if counts == "unsigned" and (other := found.get((graph, algorithm, "double")))]  # fmt: skip


def load_rows(lines: list[Record]) -> list[Record]:
    """For each veCSC product on the mycielskian graphs: GB/s that threads load, and GB/s from memory."""
    rows = []
    for one in lines:
        if one["algorithm"] != "TurboBC veCSC" or one["counts"] != "unsigned" or "mycielskian" not in one["graph"]:
            continue
        row: Record = {"graph": one["graph"], "mteps": round(one["m"] / spent(one)), "paper": MTEPS.get(one["graph"])}
        for role in (FORWARD, BACKWARD):
            (sums,) = (sums for name, sums in one["kernels"].items() if ROLES.get(name) == role)
            row[role] = [round(sums[key] / sums["ns"]) for key in ("loaded bytes", "bytes from memory")]
        rows.append(row)
    return rows


def main() -> None:
    given = command_line(__doc__, graphs=",".join(GRAPHS), only="", go_on=False, runs=Path)
    if given.runs:
        work(given.graphs.split("+"), given.only, given.runs)
        return
    ncu = shutil.which("ncu", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if ncu is None:
        raise SystemExit("there is no ncu; it comes with the CUDA toolkit")
    lines = pages.rows("gpu-turbo-kernels") if given.go_on else []
    for names in given.graphs.split(","):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            found = counted(ncu, names, given.only, Path(folder))
        print(f"{names}: {len(found)} runs in {time.perf_counter() - began:.1f} s", flush=True)
        if not found:
            continue
        again = {named(one) for one in found}
        lines = [one for one in lines if named(one) not in again] + found
        title = "The kernels of TurboBFS and TurboBC"
        pages.keep([{"benchmark": "gpu-turbo-kernels", "title": title, "where": gpu(), "rows": lines, "note": ""}])


if __name__ == "__main__":
    main()
