"""The page of every public question, from the lines that run.py wrote; reasons.json says why a row is as it is.

A row needs a reason where all cores help less than ENOUGH times, a GPU takes longer than all cores, or a peer is ahead.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.questions.calls import GRAPHS, METHODS, questions

Record = dict[str, Any]
REASONS: dict[str, Any] = json.loads((Path(__file__).parent / "reasons.json").read_text(encoding="utf-8"))
ENOUGH = 4.0
ALIKE = 1.1  # times that are as close as this are the same
ONE_OF_MANY = {"shortest_path", "shortest_paths", "shortest_path, weights"}
SAME = 1e-3  # share by which answers may differ: eigenvectors are computed to 10⁻⁴


def values(lines: list[Record]) -> Record:
    """One list of rows per graph, and the machines."""
    machines = {line["kind"]: line["where"] for line in lines}
    sizes = {
        f"{line['graph']}_size": f"{line['n']:,} vertices, {line['m']:,} arcs"
        for line in lines
        if line["kind"] == "all" and line["question"] == "bfs" and "n" in line
    }
    return {
        "kron_size": "not measured",
        "delaunay_size": "not measured",
        "cores": machines["all"].get("cores"),
        "cpu": machines["all"].get("cpu"),
        "gpu": machines.get("gpu", {}).get("gpu"),
        "peers": ", ".join(f"{key} {value}" for key, value in machines.get("peer", {}).items()) or None,
        **{name: [row(name, question, lines) for question in [*questions(), *METHODS]] for name in GRAPHS},
    } | sizes


def row(graph: str, question: str, lines: list[Record]) -> Record:
    """What the table shows of one question on one graph."""
    same = [line for line in lines if (line["question"], line["graph"]) == (question, graph)]
    by_kind = {line["kind"]: line for line in same}
    one, together, gpu = (by_kind.get(kind, {}) for kind in ("one", "all", "gpu"))
    peers = [line for line in same if line["kind"] == "peer" and "ms" in line]
    peer = min(peers, key=lambda line: line["ms"], default=None)
    found: Record = {
        "question": question + (f" ({together['words']})" if together.get("words") else ""),
        "one": one.get("one"),
        "all": together.get("all"),
        "times": one["one"] / together["all"] if "one" in one and "all" in together else None,
        "gpu": gpu.get("gpu"),
        "peer": peer and peer["peer"],
        "ahead": peer["ms"] / together["all"] if peer and "all" in together else None,
        "floor": floor(together) if together else None,
    }
    about = {"cores": together, "gpu": gpu, "peer": together}
    given = [reason(question, graph, what, about[what]) for what in wanting(found)]
    failed = [
        f"{name}: {line['failed']}"
        for name, line in (("one core", one), ("all cores", together), ("GPU", gpu))
        if "failed" in line
    ]
    differ = [
        f"{name} gives another answer" for name, line in (("one core", one), ("the GPU", gpu)) if apart(line, together)
    ]
    return found | {"reason": "; ".join(dict.fromkeys([*failed, *differ, *(one for one in given if one)])) or None}


def apart(line: Record, other: Record) -> bool:
    """Whether two answers differ by more than tolerances of the questions allow; any shortest path is right."""
    both = [found["digest"] for found in (line, other) if "digest" in found and found["question"] not in ONE_OF_MANY]
    return len(both) == 2 and abs(both[0] - both[1]) > SAME * max(map(abs, both))


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


def reason(question: str, graph: str, about: str, line: Record) -> str | None:
    """Why: what reasons.json says of the question on one graph or on both, and else what was measured."""
    for name in (f"{question}, {graph}", question):
        if about in REASONS.get(name, {}):
            return str(REASONS[name][about])
    spent = ", ".join(line.get("profile", ()))
    if about == "gpu":
        return spent and f"GPU: {spent}"
    busy = f"{line['busy']:.1f} cores busy" if "busy" in line else ""
    return "; ".join(part for part in (busy, spent) if part) or None


def without_reason(lines: list[Record]) -> list[str]:
    """Rows that need a reason and have none."""
    return [
        f"{question}, {graph}: {wanting(found)}"
        for graph, question in dict.fromkeys((line["graph"], line["question"]) for line in lines)
        for found in [row(graph, question, lines)]
        if wanting(found) and not found["reason"]
    ]
