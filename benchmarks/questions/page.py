"""The page of every public question, from the lines that run.py wrote; reasons.json says why a row is as it is.

A row needs a reason where all cores help less than ENOUGH times, a GPU takes longer than all cores, or a peer is ahead.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Record = dict[str, Any]
REASONS: dict[str, Any] = json.loads((Path(__file__).parent / "reasons.json").read_text(encoding="utf-8"))
ENOUGH = 4.0
SHORT = 1.0  # ms on one core: waking the other cores takes a tenth of that
ALIKE = 1.1  # times that are as close as this are the same


def values(lines: list[Record]) -> Record:
    """One list of rows per graph, and the machines."""
    cores = [line for line in lines if line["kind"] == "cores"]
    rows: dict[str, list[Record]] = {}
    for line in cores:
        rows.setdefault(line["graph"], []).append(row(line, lines))
    machines = {line["kind"]: line["where"] for line in lines}
    sizes = {
        f"{name}_size": f"{found['n']:,} vertices, {found['m']:,} arcs"
        for name in rows
        for found in [next(line for line in cores if line["graph"] == name and line["question"] == "bfs")]
    }
    return {
        "kron": rows.get("kron", []),
        "delaunay": rows.get("delaunay", []),
        "cores": machines["cores"].get("cores"),
        "cpu": machines["cores"].get("cpu"),
        "gpu": machines.get("gpu", {}).get("gpu"),
        "peers": ", ".join(f"{key} {value}" for key, value in machines.get("peer", {}).items()) or None,
    } | sizes


def row(line: Record, lines: list[Record]) -> Record:
    """What the table shows of one question on one graph."""
    same = [other for other in lines if (other["question"], other["graph"]) == (line["question"], line["graph"])]
    gpu = next((other.get("gpu") for other in same if other["kind"] == "gpu"), None)
    peers = [other for other in same if other["kind"] == "peer" and "ms" in other]
    peer = min(peers, key=lambda other: other["ms"] / other["beside"], default=None)
    one, together = line.get("one"), line.get("all")
    found: Record = {
        "question": line["question"] + (f" ({line['words']})" if line.get("words") else ""),
        "one": one,
        "all": together,
        "times": one / together if one and together else None,
        "gpu": gpu,
        "peer": peer and peer["peer"],
        "ahead": peer and peer["ms"] / peer["beside"],
        "floor": floor(line),
    }
    return found | {"reason": "; ".join(reasons_of(line, found)) or None}


def floor(line: Record) -> float | None:
    """MB of rows that are read and of answers that are written at least, for questions that look at every arc."""
    answer = REASONS["bytes per vertex of the answer"].get(line["question"])
    return None if answer is None or "n" not in line else (4 * line["m"] + (4 + answer) * line["n"]) / 1e6


def wanting(found: Record) -> list[str]:
    """For what a row needs a reason: "cores", "gpu", "peer"."""
    about = []
    if found["times"] is not None and found["times"] < ENOUGH:
        about.append("cores")
    if found["gpu"] is not None and found["all"] is not None and found["gpu"] > ALIKE * found["all"]:
        about.append("gpu")
    if found["ahead"] is not None and found["ahead"] * ALIKE < 1:
        about.append("peer")
    return about


def reason(question: str, graph: str, about: str, found: Record) -> str | None:
    """Why; what is said of one graph goes before what is said of both."""
    for name in (f"{question}, {graph}", question):
        if about in REASONS.get(name, {}):
            return str(REASONS[name][about])
    short = found["one"] is not None and found["one"] < SHORT
    return str(REASONS["short"][about]) if short and about in REASONS["short"] else None


def reasons_of(line: Record, found: Record) -> list[str]:
    """The reasons of a row, each once."""
    given = (reason(line["question"], line["graph"], about, found) for about in wanting(found))
    failed = [line["failed"]] if "failed" in line else []
    return list(dict.fromkeys([*failed, *(one for one in given if one)]))


def without_reason(lines: list[Record]) -> list[str]:
    """Rows that need a reason and have none."""
    return [
        f"{line['question']}, {line['graph']}: {about} ({found})"
        for line in lines
        if line["kind"] == "cores"
        for found in [row(line, lines)]
        for about in wanting(found)
        if reason(line["question"], line["graph"], about, found) is None
    ]
