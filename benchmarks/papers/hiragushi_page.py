"""The values of gpu-hiragushi.md and ranks-weak-h200.md: Hiragushi's Figures 4 and 5."""

from __future__ import annotations

from typing import Any

from benchmarks.setting import remarks

Record = dict[str, Any]
PLANS = ["merrill", "hiragushi-hybrid"]
# Our graph → the graph of Table 1 of the same kind and size.
TABLE_1 = {"kron20": "kron_g500-logn20", "rmat.1Mv.64Me": "rmat.1Mv.64Me", "random.1Mv.64Me": "random.1Mv.64Me"}
MORE = ["kron18e43", "kron21e44", "uniform20e16", "mycielskian15", "threads-math-sx", "email-Enron", "delaunay_n16",
        "grid1000", "luxembourg_osm"]  # fmt: skip
GRAPHS = [*TABLE_1, *MORE]


def values(lines: list[Record]) -> Record:
    """Figure 4: the rows of both tables, and where the hybrid gains most."""
    by_name = {line["name"]: line | computed(line) for line in lines}
    table_1, more = ([by_name[name] for name in some if name in by_name] for some in (TABLE_1, MORE))
    return {
        "sources": lines[-1]["where"]["sources"], "remarks": remarks(lines),
        "table_1": table_1, "more": more, "most": most_gained(table_1) if table_1 else None,
    }  # fmt: skip


def computed(one: Record) -> Record:
    push, hybrid = (one[plan] for plan in PLANS)
    return {
        "kind": "D" if one["directed"] else "U", "levels": round(push["levels"]),
        "least": min(push["searches"], hybrid["searches"]),
    }  # fmt: skip


def most_gained(lines: list[Record]) -> Record:
    """The greatest gain inside the levels, its graph, and the hybrid's microseconds per level there."""
    merrill, hybrid = PLANS
    one = max(lines, key=lambda line: float(line[merrill]["ms in levels"] / line[hybrid]["ms in levels"]))
    ms = one[hybrid]["ms in levels"]
    return {"gain": one[merrill]["ms in levels"] / ms, "graph": one["name"], "level": 1e3 * ms / one[hybrid]["levels"]}


def weak_scaling(lines: list[Record]) -> Record:
    """Figure 5: the rows by device and number of ranks, and the numbers of ranks that both devices have."""
    rows = sorted(lines[-1]["rows"], key=lambda row: (row["device"], row["ranks"]))
    devices = {"cpu": "CPU", "cuda": "one GPU"}
    by_device = {(row["device"], row["ranks"]): row for row in rows}
    both = [{"ranks": ranks, "cpu": row, "cuda": by_device["cuda", ranks]} for (device, ranks), row in by_device.items()
            if device == "cpu" and ("cuda", ranks) in by_device]  # fmt: skip
    waiting = "mean waiting ms"
    shares = [row["cuda"][waiting] / row["cpu"][waiting] for row in both if row["cpu"][waiting]]
    return {
        "rows": [row | {"ranks on": devices[row["device"]]} for row in rows], "both": both,
        "exponent": rows[0]["scale"] - rows[0]["ranks"].bit_length() + 1,
        "least": min(shares, default=None), "most": max(shares, default=None),
    }  # fmt: skip
