"""The table of sanitize.py: kernels × tools of compute-sanitizer."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

TOOLS = ("racecheck", "memcheck", "initcheck", "synccheck")  # the slowest first
OTHERS = "A vector's places without a value hold anything, and are copied with the others."


def page(rows: list[dict[str, Any]]) -> str:
    """sanitizer.md: kernels × tools."""
    instances: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        for name in row.get("launched", ()) if "failed" not in row else ():
            instances[name.split("<")[0]][row["tool"]].add(name)
    messages: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        if "message" in row:
            messages[row["kernel"], row["tool"]] += 1
    tools = [tool for tool in TOOLS if any(row["tool"] == tool for row in rows)]
    about = next((row for row in rows if "about" in row), {})
    lines = ["# Every kernel under compute-sanitizer", "", about.get("about", ""), ""]
    lines += [
        "Instances of each kernel template that ran on the traps of `benchmarks/sanitize/parts.py` under each tool, "
        "and what it reported. Made by `python -m benchmarks.sanitize.run`.",
        "",
        "| kernel | " + " | ".join(tools) + " |",
        "|---|" + "---|" * len(tools),
    ]
    for name in sorted(name for name, some in instances.items() if any(some[tool] for tool in tools)):
        kernel = name.split(": ")[1]
        cells = []
        for tool in tools:
            count, said = len(instances[name][tool]), messages[kernel, tool]
            cells.append(f"{count}: {'clean' if not said else f'**{said} messages**'}" if count else "–")
        lines.append(f"| `{kernel}` | " + " | ".join(cells) + " |")
    known = set(about.get("known", ()))
    ran = {tool: {name for some in instances.values() for name in some[tool]} for tool in tools}
    kernels = {name.split("<")[0] for name in known}
    plain = {name for name in known if not (name.startswith("linalg/") and "<" not in name)}
    lines += ["", "| | " + " | ".join(tools) + " |", "|---|" + "---|" * len(tools)]
    cells = [str(len(kernels & {name.split("<")[0] for name in ran[tool]})) for tool in tools]
    lines.append(f"| kernels, of {len(kernels)} | " + " | ".join(cells) + " |")
    lines.append(f"| instances, of {len(plain)} | " + " | ".join(str(len(plain & ran[tool])) for tool in tools) + " |")
    cells = [str(len(ran[tool] - plain)) for tool in tools]
    lines.append("| instances that are made for a semiring | " + " | ".join(cells) + " |")
    control = {row["tool"]: row["reported"] for row in rows if "reported" in row}
    told = {True: "reported", False: "**not reported**", None: "–"}
    lines.append("| a mistake made for the tool | " + " | ".join(told[control.get(tool)] for tool in tools) + " |")
    seconds = {tool: sum(row.get("seconds", 0) for row in rows if row["tool"] == tool) for tool in tools}
    lines.append("| seconds in parts | " + " | ".join(f"{seconds[tool]:.0f}" for tool in tools) + " |")
    for tool in tools:
        seen = ran[tool] | {name.split("<")[0] for name in ran[tool]}
        if missing := sorted(known - seen):
            listed = ", ".join(f"`{name.split(': ')[1]}`" for name in missing)
            lines += ["", f"{len(missing)} instances not yet under {tool}: {listed}."]
    for tool in tools:
        others = Counter(
            next((line.split(" at ")[1].split("+")[0] for line in row["message"] if " at " in line), "cudaMemcpy")
            for row in rows
            if row["tool"] == tool and "message" in row and not row["kernel"]
        )
        if others:
            listed = ", ".join(f"`{name}` {count}" for name, count in sorted(others.items()))
            lines += ["", f"Messages of {tool} about what is not a kernel of hopwave: {listed}. {OTHERS}"]
    if wrong := [row for row in rows if row.get("wrong")]:
        said = (f"{row['tool']}, {row['part']}, {row['offsets']} bits ({'; '.join(row['wrong'])})" for row in wrong)
        lines += ["", f"**Wrong answers**: {', '.join(said)}."]
    if left := [row for row in rows if "failed" in row and row["tool"] in tools]:
        said = (f"{row['tool']}, {row['part']}, {row['offsets']} bits ({row['failed'][:80]})" for row in left)
        lines += ["", f"Not finished: {'; '.join(said)}."]
    return "\n".join(lines) + "\n"
