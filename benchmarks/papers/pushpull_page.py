"""The page of push-pull's Figures 5 to 7 and Table 3, made from gpu-pushpull.jsonl. It needs no GPU."""

from __future__ import annotations

from typing import Any

from benchmarks.setting import remarks, table

Record = dict[str, Any]

# Figure 7, milliseconds on a Tesla K40c (SuiteSparse and Ligra: CPUs), and MTEPS of the paper's own; Table 3: arcs in
# millions, greatest degree, diameter. The graphs marked r cannot be downloaded here.
PAPER = {
    "soc-orkut (r)": (212.7, 27466, 9, 2165, 244.9, 122.4, 26.1, 5.573, 7.280, 29217),
    "soc-Livejournal1 (r)": (85.7, 20333, 16, 1483, 263.6, 51.32, 42.4, 14.05, 14.16, 6049),
    "hollywood-09 (r)": (112.8, 11467, 11, 596.7, 855.2, 23.39, 12.8, 5.835, 7.138, 15775),
    "indochina-04 (r)": (302, 256425, 26, 1866, 17609, 71.81, 157, 77.21, 80.37, 3709),
    "kron_g500-logn21": (182.1, 213904, 6, 1694, 237.9, 108.7, 18.5, 4.546, 4.088, 44550),
    "rmat_s22_e64": (483, 421607, 5, 4226, 1354, None, 22.6, 3.943, 4.781, 101038),
    "rmat_s23_e32": (505.6, 440396, 6, 6033, 1423, None, 45.6, 7.997, 8.655, 58417),
    "rmat_s24_e16": (519.7, 432152, 6, 8193, 1234, None, 89.6, 16.74, 16.59, 31327),
    "rgg_n_24": (265.1, 40, 2622, 230602, 68202, 9147, 918, 593.9, 2991, 92.59),
    "roadNet_CA (r)": (5.5, 12, 849, 342, 288.5, 284.9, 82.1, 130.9, 214.4, 25.75),
    "road_USA (r)": (577.1, 9, 6809, 9413, 36194, 26594, 978, 676.2, 7155, 8.065),
}
COLUMNS = ("SuiteSparse", "CuSha", "baseline", "Ligra", "Gunrock", "push-pull")
SAME = {"kron21e44": "kron_g500-logn21", "rmat22e64": "rmat_s22_e64", "rmat23e32": "rmat_s23_e32",
        "rmat24e16": "rmat_s24_e16"}  # fmt: skip


def whole(lines: list[Record]) -> str:
    rows = []
    for one in lines:
        paper = PAPER.get(SAME.get(one["graph"], ""))
        row = {"graph": one["graph"], "vertices": f"{one['n']:,}", "arcs": f"{one['m']:,}",
               "greatest degree": one["degree"], "levels": one["levels"], "baseline ms": one["pushpull-baseline"],
               "push-pull ms": one["pushpull"], "GTEPS": one["m"] / one["pushpull"] / 1e6,
               "baseline ÷ push-pull": one["pushpull-baseline"] / one["pushpull"],
               "hopwave-gpu ms": one["hopwave-gpu"]}  # fmt: skip
        if paper:
            row |= {"paper: arcs, degree": f"{paper[0]} M, {paper[1]:,}", "paper ms": paper[8],
                    "paper GTEPS": paper[9] / 1e3,
                    "paper: baseline ÷ push-pull": None if paper[5] is None else paper[5] / paper[8]}  # fmt: skip
        rows.append(row)
    quoted = [{"graph": name, "million arcs": row[0], "greatest degree": row[1], "diameter": row[2],
               **{f"{column} ms": ms for column, ms in zip(COLUMNS, row[3:9], strict=True)}, "push-pull MTEPS": row[9]}
              for name, row in PAPER.items()]  # fmt: skip
    return f"{table(rows)}\n\nThe paper's Table 3 and Figure 7:\n\n{table(quoted)}"


def kinds(rows: list[Record]) -> str:
    return table(
        {"iteration": number + 1, "frontier": f"{row['vertices']:,}", "unvisited": f"{row['unvisited']:,}",
         "arcs from the frontier": f"{row['back'] + row['across'] + row['on']:,}", "back a level": f"{row['back']:,}",
         "in the level": f"{row['across']:,}", "to the next level": f"{row['on']:,}"}
        for number, row in enumerate(rows)
    )  # fmt: skip


def span(values: list[float], form: str) -> str:
    low, middle, high = (format(value, form) for value in values)
    return f"{middle} ({low} to {high})"


def iterations(one: Record) -> str:
    rows = []
    for number in range(max(len(one["push"]), len(one["pull"]))):
        push, pull = (one[way][number] if number < len(one[way]) else None for way in ("push", "pull"))
        rows.append({
            "iteration": number + 1, "searches": (push or pull)["searches"],
            "frontier": span((push or pull)["frontier"], ",.0f"),
            "unvisited": span((push or pull)["unvisited"], ",.0f"),
            "push ms": push and span(push["ms"], ".3f"), "pull ms": pull and span(pull["ms"], ".3f"),
            "parents read per vertex found, pull": pull and f"{pull['looks']:.2f}",
        })  # fmt: skip
    return table(rows)


def reuse(one: Record) -> str:
    beside = {
        "without operand reuse": f"once a bitmap of the frontier: {one['µs']:.1f} µs for {one['vertices']:,} vertices",
        "with": "after each a merge of two bitmaps",
    }
    return table(
        {"": what, "ms per search": row["ms"], "ms in pushes": row["ms in pushes"], "ms in pulls": row["ms in pulls"],
         "pulls": round(row["pulls"]), "arcs checked in pulls": f"{row['checked']:,}",
         "in pulls beside the product": more}
        for (what, more), row in zip(beside.items(), (one["pushpull-exit"], one["pushpull"]), strict=True)
    )  # fmt: skip


def page(lines: list[Record]) -> str:
    """gpu-pushpull.md."""
    where = ", ".join(f"{key} {value}" for key, value in lines[-1]["where"].items())
    text = ["# Push-pull's Figures 5 to 7 and Table 3", where, ABOUT, *remarks(lines)]
    parts = {line["part"]: line for line in lines}
    graphs = [one for one in lines if one["part"] == "whole"]
    if "kinds" in parts:
        text += [
            f"## Figure 5: the arcs of each iteration, {parts['kinds']['graph']}",
            kinds(parts["kinds"]["rows"]),
            NOTE_5,
        ]
    if "iterations" in parts:
        one = parts["iterations"]
        text += [
            f"## Figure 6: only push, only pull; {one['sources']} sources of {one['graph']}",
            iterations(one),
            note_6(one),
        ]
    if "reuse" in parts:
        text += ["## 5.4: what operand reuse saves", reuse(parts["reuse"]), note_reuse(parts["reuse"], graphs[0]["n"])]
    left_out = [name for graph, name in SAME.items() if graph not in {one["graph"] for one in graphs}]
    text += [
        "## Table 3 and Figure 7: whole searches",
        whole(graphs),
        note_7(graphs, parts) if {"iterations", "reuse"} <= parts.keys() else "",
    ]
    text += [f"Not measured in this run: {', '.join(left_out)}."] if left_out else []
    return "\n\n".join(part for part in text if part) + "\n"


ABOUT = """\
Times are inside the levels, by the GPU's clock (`hopwave-gpu`: a whole call). Every search was compared with the
distances of `hopwave-gpu`. The paper's GPU was a Tesla K40c. Table 2 is on [gpu-ablations.md](gpu-ablations.md). Made
by `benchmarks/papers/pushpull.py`."""
NOTE_5 = """\
As in the paper's figure, two iterations have few vertices, and then two have nearly all arcs, most of which lead back
or stay within the level. The rule (more than 1% of the vertices) turns to pulling at the third iteration."""
NOTE_6 = """\
Median, and from the tenth to the ninetieth percentile{sources}. The paper's oval: with a frontier of about
{growing:,.0f} vertices that grows (iteration 3) a push takes {slow:.2g} ms, with one of {shrinking:,.0f} that shrinks
(iteration 5) {quick:.2g} ms, because hubs are found first. Its backwards L: a pull takes {first:.2g} ms while nothing
is visited, since rows are read to their end by one thread each, and {third:.2g} ms two iterations later. The faster
direction of each iteration is {order}; in the paper push, push, pull, pull, pull, then either. The paper read 79
parents before it found a valid one, and 1.3 after two iterations; the last column also counts the parents of rows
that found none, which are nearly all rows at first."""
NOTE_REUSE = """\
From each source both plans search in turn. Operand reuse gains {gain:.2f} × in these searches and {pulls:.2f} × in
their pulls, which alone it changes; the paper has 2.68 ×. A row finds the same parent whether it looks among the
frontier or among all visited vertices, so the arcs checked are the same to the last one, and the visited bitmap is
there anyway, as it is the mask. What is saved is a bitmap of the frontier, made once per search: n/8 bytes set to 0 and
one pass over its queue, {made:.0f} µs. What it costs is a launch after every pull, since all visited vertices are read
while new ones are found: it merges two bitmaps. {rest:.0f} µs are left of what is saved, so that a merge takes about
{merge:.0f} µs; it moves {bytes:.1f} MB, for which the memory takes 0.2 µs. A search takes most of its time elsewhere:
{pushes:.0f} µs in pushes, the same code in both."""
NOTE_7 = """\
The mean of 16 sources (the paper: of 10 runs). The kron and rmat graphs have the paper's sizes and are drawn anew. The
other seven are not to be had: six cannot be downloaded here, and a random geometric graph of 2^24 vertices takes the
host too long to make.

The paper's GPU was a K40c, so only ratios can be compared: push-pull is {least:.0f} to {most:.0f} × faster than its
push-only baseline, {here:.1f} × on kron 21, and {there:.1f} × there in the paper. The baseline sorts nearly all arcs,
for which an H200 takes 1/{sorts:.0f} of the K40c's time; of push-pull's time it takes 1/{whole:.0f}. Most of its
iterations move few bytes: they are launches, and the host reads counters after each. And the mean is that of sources
which differ: a frontier of less than 1% of the vertices is pushed, also where it has hubs, and its arcs are sorted
(Figure 6, iteration 3: {few:,.0f} vertices, {sorting:.2g} ms). On kron 21 the median of 64 sources is {median:.2g} ms;
16 other sources, earlier on 16 November 2026, had a mean of 0.64 ms, and push-pull was 12.6 × faster."""


def note_6(one: Record) -> str:
    """The paragraph below Figure 6: medians of its iterations."""
    push, pull = one["push"], one["pull"]
    if min(len(push), len(pull)) < 5:
        return ""
    pairs = [(there["ms"][1], back["ms"][1]) for there, back in zip(push[:6], pull, strict=False)]
    order = ", ".join("push" if there < back else "pull" for there, back in pairs)
    return NOTE_6.format(
        sources="" if one["sources"] >= 1000 else ". The paper took 1,000 sources", order=order,
        growing=push[2]["frontier"][1], slow=push[2]["ms"][1], shrinking=push[4]["frontier"][1], quick=push[4]["ms"][1],
        first=pull[0]["ms"][1], third=pull[2]["ms"][1],
    )  # fmt: skip


def note_reuse(one: Record, n: int) -> str:
    """The paragraph on operand reuse, of a graph with n vertices."""
    gain, pulls = (one["pushpull-exit"][key] / one["pushpull"][key] for key in ("ms", "ms in pulls"))
    rest = 1e3 * (one["pushpull-exit"]["ms in pulls"] - one["pushpull"]["ms in pulls"])
    return NOTE_REUSE.format(
        gain=gain, pulls=pulls, made=one["µs"], rest=rest, merge=(one["µs"] - rest) / one["pushpull"]["pulls"],
        bytes=3 * n / 8 / 1e6, pushes=1e3 * one["pushpull"]["ms in pushes"],
    )  # fmt: skip


def note_7(graphs: list[Record], parts: dict[str, Record]) -> str:
    """The paragraphs below Figure 7."""
    ratios = {one["graph"]: one["pushpull-baseline"] / one["pushpull"] for one in graphs}
    figure_6, reused = parts["iterations"]["push"][2], parts["reuse"]["pushpull"]
    kron, paper = next(one for one in graphs if one["graph"] == "kron21e44"), PAPER[SAME["kron21e44"]]
    return NOTE_7.format(
        least=min(ratios.values()), most=max(ratios.values()), here=ratios["kron21e44"], there=paper[5] / paper[8],
        sorts=paper[5] / kron["pushpull-baseline"], whole=paper[8] / kron["pushpull"],
        few=figure_6["frontier"][0], sorting=figure_6["ms"][0], median=reused["ms"],
    )  # fmt: skip
