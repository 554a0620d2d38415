"""The values of ranks-weak-h200.md: Hiragushi's Figure 5, with as many vertices per rank as in the paper."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]


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
