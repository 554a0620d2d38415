"""The values of sanitizer.md: kernels × tools of compute-sanitizer."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from benchmarks.setting import table

Record = dict[str, Any]
TOOLS = ("racecheck", "memcheck", "initcheck", "synccheck")  # the slowest first


def values(rows: list[Record]) -> Record:
    """What each tool reported of each kernel, the sums, and sentences about what is missing or wrong."""
    tools = [tool for tool in TOOLS if any(row["tool"] == tool for row in rows)]
    ran: dict[str, set[str]] = {tool: set() for tool in tools}
    for row in rows:
        if row["tool"] in ran and "failed" not in row:
            ran[row["tool"]].update(row.get("launched", ()))
    about = next((row for row in rows if "about" in row), {})
    known = set(about.get("known", ()))
    missing = {tool: sorted(known - ran[tool] - set(map(template, ran[tool]))) for tool in tools}
    others = {tool: outside(row for row in rows if row["tool"] == tool) for tool in tools}
    wrong = [f"{place(row)} ({'; '.join(row['wrong'])})" for row in rows if row.get("wrong")]
    failed = [f"{place(row)} ({row['failed'][:80]})" for row in rows if "failed" in row and row["tool"] in tools]
    return {
        "where": about.get("about", ""),
        "kernels": table(kernels) if (kernels := kernel_rows(rows, ran)) else "",
        "sums": table(sum_rows(rows, ran, known)),
        "missing": [f"{len(some)} instances not yet under {tool}: {', '.join(map(quoted, some))}."
                    for tool, some in missing.items() if some],
        "others": [f"Messages of {tool} about what is not a kernel of hopwave: {said}. A vector's places without a "
                   "value hold anything, and are copied with the others." for tool, said in others.items() if said],
        "wrong": ", ".join(wrong) or None,
        "failed": "; ".join(failed) or None,
    }  # fmt: skip


def template(name: str) -> str:
    """The kernel of an instance: its name without template arguments."""
    return name.split("<")[0]


def quoted(name: str) -> str:
    """A kernel's name without its file."""
    return f"`{name.split(': ')[1]}`"


def place(row: Record) -> str:
    """The tool, the part and the bits of offsets of a row."""
    return f"{row['tool']}, {row['part']}, {row['offsets']} bits"


def kernel_rows(rows: list[Record], ran: dict[str, set[str]]) -> list[Record]:
    """For each kernel and tool, the instances that ran and what the tool reported."""
    messages = Counter((row["kernel"], row["tool"]) for row in rows if "message" in row)
    instances = {tool: Counter(map(template, names)) for tool, names in ran.items()}
    found = []
    for name in sorted({name for counts in instances.values() for name in counts}):
        row: Record = {"kernel": quoted(name)}
        for tool, counts in instances.items():
            said = messages[name.split(": ")[1], tool]
            row[tool] = f"{counts[name]}: {f'**{said} messages**' if said else 'clean'}" if counts[name] else None
        found.append(row)
    return found


def sum_rows(rows: list[Record], ran: dict[str, set[str]], known: set[str]) -> list[Record]:
    """How many of the known instances each tool has seen, and whether it reports its control mistake."""
    kernels = set(map(template, known))
    plain = {name for name in known if not (name.startswith("linalg/") and "<" not in name)}
    reported = {row["tool"]: row["reported"] for row in rows if "reported" in row}
    seconds: dict[str, float] = defaultdict(float)
    for row in rows:
        seconds[row["tool"]] += row.get("seconds", 0)
    return [
        {"": f"kernels, of {len(kernels)}"} | {tool: len(kernels & set(map(template, ran[tool]))) for tool in ran},
        {"": f"instances, of {len(plain)}"} | {tool: len(plain & ran[tool]) for tool in ran},
        {"": "instances that are made for a semiring"} | {tool: len(ran[tool] - plain) for tool in ran},
        {"": "a mistake made for the tool"}
        | {tool: {True: "reported", False: "**not reported**"}.get(reported.get(tool)) for tool in ran},
        {"": "seconds in parts"} | {tool: f"{seconds[tool]:.0f}" for tool in ran},
    ]


def outside(rows: Any) -> str:
    """Messages that name no kernel of hopwave, counted by the function they name."""
    some = [row["message"] for row in rows if "message" in row and not row["kernel"]]
    found = Counter(next((line.split(" at ")[1].split("+")[0] for line in text if " at " in line), "cudaMemcpy")
                    for text in some)  # fmt: skip
    return ", ".join(f"`{name}` {count}" for name, count in sorted(found.items()))
