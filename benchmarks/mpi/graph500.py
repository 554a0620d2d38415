"""Graph500 on the GPU of this machine: generated, built, searched and validated there.

PYTHONPATH=src python -m benchmarks.mpi.graph500 [--scale 26 28] [--roots 64] [--seed 1] [--sssp] [--device cuda]
"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.setting import command_line, gpu, publish, tell
from hopwave import graph500


def measure(scale: int, device: str, roots: int, seed: int, sssp: bool) -> dict[str, Any]:
    began = time.perf_counter()
    outcome = graph500.run(scale, device=device, roots=roots, seed=seed, sssp=sssp)
    if not outcome.valid:
        raise SystemExit(f"scale {scale}: not every search is valid: {outcome.searches}")
    values = outcome.values()
    row: dict[str, Any] = {
        "scale": scale,
        "edge factor": outcome.edge_factor,
        "searches, all valid": len(outcome.searches),
        "construction s": values["construction_time"],
        "median ms": values["bfs_median_time"] * 1e3,
        "slowest ms": values["bfs_max_time"] * 1e3,
        "GTEPS, harmonic mean": values["bfs_harmonic_mean_TEPS"] / 1e9,
        "deviation": values["bfs_harmonic_stddev_TEPS"] / 1e9,
        "slowest GTEPS": values["bfs_min_TEPS"] / 1e9,
        "whole run s": time.perf_counter() - began,
        "device": outcome.about["device"],
        "GB used": outcome.about.get("device_bytes_used", 0) / 1e9,
    }
    if sssp:
        row["SSSP median ms"] = values["sssp_median_time"] * 1e3
        row["SSSP GTEPS, harmonic mean"] = values["sssp_harmonic_mean_TEPS"] / 1e9
    return tell(row)


def main() -> None:
    given = command_line(__doc__, scale=[26, 28], roots=64, seed=1, device="cuda", sssp=False, name="graph500")
    rows = [measure(scale, given.device, given.roots, given.seed, given.sssp) for scale in given.scale]
    note = (
        "TEPS are the input edges of the component divided by the time from the launch to its end, measured on the "
        "host. Searches write distances and predecessors. Every search was validated on the device, by the five rules, "
        "against every input edge."
    )
    publish(given.name, "Graph500", rows, note, gpu(given.device))


if __name__ == "__main__":
    main()
