"""Time and loads of every kernel of TurboBFS and TurboBC, counted by Nsight Compute.

    PYTHONPATH=src:. python -m benchmarks.papers.turbo_kernels [--graphs a,b+c] [--only "TurboBC veCSC"] [--go-on]

Tests three statements of the papers: products take up to 90% of the time; products of whole numbers are up to 2.7 times
faster than those of floats; veCSC's kernels load more than the memory's bandwidth. The program starts itself under ncu,
once per graph or per group of graphs joined by a plus; ncu counts between profilerStart and profilerStop. Writes
gpu-turbo-kernels.jsonl, a line per run, and its page (turbo_kernels_page.py).
"""

from __future__ import annotations

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
from benchmarks.papers.turbo_kernels_page import BEGINS, METRICS, by_run, launches
from benchmarks.setting import RESULTS, command_line, hw

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

    from benchmarks.gpu.search import head
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
                runs.append({"graph": name, "n": graph.n, "m": graph.m, "where": head(), **about})
    out.write_text("".join(json.dumps(one) + "\n" for one in runs), encoding="utf-8")


def counted(ncu: str, names: str, only: str, folder: Path) -> list[dict[str, Any]]:
    """The runs on some graphs, with ncu's counts of their kernels. ncu writes its log when the program ends."""
    runs, log = folder / "runs", folder / "log"
    options = ["--profile-from-start", "off", "--clock-control", "none", "--csv", "--print-units", "base"]
    options += ["--metrics", ",".join(METRICS), "--log-file", str(log)]
    program = [sys.executable, "-m", "benchmarks.papers.turbo_kernels", "--graphs", names, "--only", only]
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


def main() -> None:
    given = command_line(__doc__, graphs=",".join(GRAPHS), only="", go_on=False, runs=Path)
    if given.runs:
        work(given.graphs.split("+"), given.only, given.runs)
        return
    ncu = shutil.which("ncu", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
    if ncu is None:
        raise SystemExit("there is no ncu; it comes with the CUDA toolkit")
    lines = pages.earlier("gpu-turbo-kernels") if given.go_on else []
    for names in given.graphs.split(","):
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            found = counted(ncu, names, given.only, Path(folder))
        print(f"{names}: {len(found)} runs in {time.perf_counter() - began:.1f} s", flush=True)
        if not found:
            continue
        again = {named(one) for one in found}
        lines = [one for one in lines if named(one) not in again] + found
        pages.write("gpu-turbo-kernels", RESULTS, lines)


if __name__ == "__main__":
    main()
