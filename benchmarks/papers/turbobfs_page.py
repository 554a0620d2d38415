"""The page of TurboBFS's tables, made from gpu-turbobfs.jsonl, with the paper's own figures. It needs no GPU."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.papers.turbo_tables import ROWS
from benchmarks.setting import remarks, table

Record = dict[str, Any]
PLANS = ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")  # turbobfs-…

# Our name → the paper's graph, and how much faster TurboBFS was there than GraphBLAST, gunrock and
# SuiteSparse:GraphBLAS (Tables I to III; OOM: out of memory).
PAPER = {
    "cit-HepPh": ("SNAP/cit-HepPh", "22.7 · 4.2 · 13.3"),
    "email-Enron": ("SNAP/email-Enron", "4.5 · 1.7 · 6.3"),
    "delaunay_n15": ("DIMACS10/delaunay_n15", "9.0 · 3.1 · 8.5"),
    "delaunay_n16": ("DIMACS10/delaunay_n16", "8.9 · 3.4 · 11.7"),
    "astro-ph": ("Newman/astro-ph", "15.0 · 2.7 · 12.7"),
    "luxembourg_osm": ("DIMACS10/luxembourg_osm", "16.8 · 6.7 · 3.5"),
    "smallworld": ("DIMACS10/smallworld", "8.0 · 2.4 · 24.2"),
    "mycielskian12": ("Mycielski/mycielskian12", "5.5 · 2.2 · 7.5"),
    "mycielskian13": ("Mycielski/mycielskian13", "3.9 · 1.8 · 12.5"),
    "mycielskian14": ("Mycielski/mycielskian14", "2.0 · 1.5 · 23.3"),
    "mycielskian15": ("Mycielski/mycielskian15", "1.3 · 1.7 · 30.9"),
    "mycielskian16": ("Mycielski/mycielskian16", "1.1 · 1.5 · 36.2"),
    "mycielskian17": ("Mycielski/mycielskian17", "0.8 · 1.5 · 42.2"),
    "mycielskian18": ("Mycielski/mycielskian18", "0.8 · 1.7 · 48.0"),
    "mycielskian19": ("Mycielski/mycielskian19", "OOM · 1.8 · 57.3"),
    "kron16": ("DIMACS10/kron_g500-logn16", "2.1 · 1.2 · 28.3"),
    "kron17": ("DIMACS10/kron_g500-logn17", "1.7 · 0.8 · 16.7"),
    "kron18": ("DIMACS10/kron_g500-logn18", "1.3 · 0.9 · 30.0"),
    "kron19": ("DIMACS10/kron_g500-logn19", "1.1 · 0.9 · 17.3"),
    "kron20": ("DIMACS10/kron_g500-logn20", "1.1 · 1.1 · 24.6"),
    "kron21": ("DIMACS10/kron_g500-logn21", "0.9 · 1.2 · 15.4"),
}
BIG = {  # Table III: vertices and arcs in millions, and how much faster than SuiteSparse:GraphBLAS (Figure 4)
    "GenBank/kmer_P1a": (139, 298, 10.0),
    "GenBank/kmer_A2a": (171, 361, 11.5),
    "GenBank/kmer_V1r": (214, 465, 19.1),
    "LAW/it-2004": (41, 1151, 3.3),
    "SNAP/twitter7": (42, 1468, 10.2),
    "GAP/GAP-twitter": (62, 1468, 8.3),
    "GAP/GAP-web": (51, 1930, 4.0),
    "LAW/sk-2005": (51, 1949, 4.6),
}
STATED = {graph: (depth, mteps) for name, graph, depth, mteps in ROWS if name.startswith("TurboBFS")}
OWN_BIG = "kron25"  # as many vertices and arcs as Table III's graphs, and not one of them
TABLES = {
    "Table I: regular graphs": ("TurboBFS I", "The first six are the very files of the paper; smallworld is made here "
    "by the same rule with other random numbers.", "td-sccsc on 55% of its 38 regular graphs, bu-sc on 40%"),
    "Table II: irregular graphs": ("TurboBFS II", "The mycielskian graphs are the paper's, since their construction "
    "leaves no choice. The kron graphs are made here, by Graph500's generator with 48 edges per vertex.",
    "td-vecsc on 30% of its 23 irregular graphs, tdbu on 26%, bu-ve and td-sccooc on 22% each"),
}  # fmt: skip

NOTE = (
    "Milliseconds of a whole call of `hw.bfs` by the host's clock / of its levels by the GPU's, the answers left on "
    "the GPU; from vertex 0 (where it has no neighbour, from the first that has), the mean of up to {trials} trials "
    "(fewer where {seconds} seconds were used up). As in the paper, MTEPS are arcs over the time of the fastest whole "
    "call, d also counts the last, empty level, and the top-down algorithms (td-…) also count paths; bottom-up ones "
    "do not, and tdbu cannot, since it ends bottom-up. *Paper over others*: how many times faster TurboBFS was than "
    "GraphBLAST, gunrock and SuiteSparse:GraphBLAS on the authors' machine. The paper's GPU was a Titan Xp. Before it "
    "was timed, every answer passed this check by CuPy's own operations: no arc leads down more than one level, each "
    "vertex has an arc from the level before, and its path count is the sum over these arcs."
)
MEMORY = (
    "Megabytes that the graph and one search hold on the GPU / bytes per vertex and arc. An undirected graph is held "
    "once; so is a directed one, in columns, with the n + 1 offsets of its rows, because levels count the arcs that "
    "leave the frontier. td-sccooc also holds the column of every arc (COOC). A vertex has a level (4 bytes), in "
    "pulls three bits, top-down a path count (8 bytes), and in td-sccooc a product (12 bytes)."
)
ROOTS = (
    "*Levels.* The paper does not name its roots, and d depends on them: on cit-HepPh it is 33 from vertex 13, for "
    "example. Graphs that are made here are not the paper's own."
)
HOST = (
    "*Small graphs.* Where whole calls have fewer MTEPS than the paper's, a call is mostly the host's time (Python's "
    "launches), which the paper's times do not have; *MTEPS in levels* are arcs over the shortest time inside levels, "
    "with the gaps between their launches. A larger GPU does not shorten launches: the authors' own program takes "
    "19.2 ms for luxembourg_osm on an H200 ([gpu-authors.md](gpu-authors.md)), which is 12 MTEPS; by the paper's 20 "
    "MTEPS it took 12 ms on a Titan Xp."
)
FASTEST = (
    "*The fastest algorithm.* The paper counts over all of its 61 graphs, and does not say which algorithm was the "
    "fastest on which. Here bu-ve is the fastest on {best} of {irregular} irregular graphs: a warp stops at the first "
    "32 neighbours that have a parent among them, and counts no paths. Of the three that count paths the fastest is "
    "{counting}. On the regular graphs, whose levels take hardly longer than launches, several algorithms are so close "
    "that another run may find another one."
)
BIG_NOTE = (
    "The eight graphs of Table III have 0.3 to 1.9 billion arcs and cannot be downloaded here; nothing of ours stands "
    "beside them. Figures 4 and 5 show the last two columns of the paper."
)
OWN_NOTE = (
    " The last row is a graph of that size made here (Graph500's generator, scale 25, 16 edges per vertex), which the "
    "paper does not have."
)


def stated(name: str) -> tuple[int, int]:
    """The paper's d and MTEPS for one of our graphs."""
    return STATED[PAPER[name][0]]


def page(lines: list[Record]) -> str:
    """gpu-turbobfs.md, from one line per graph."""
    by_name = {line["name"]: line for line in lines}
    where = dict(lines[-1]["where"])
    trials, seconds = where.pop("trials"), where.pop("seconds per plan")
    seconds = " or ".join(map(str, sorted({seconds, *(line["where"]["seconds per plan"] for line in lines)})))
    text = ["# TurboBFS's tables", ", ".join(f"{key} {value}" for key, value in where.items())]
    text += [NOTE.format(trials=trials, seconds=seconds), *remarks(lines)]
    for title, (number, about, best) in TABLES.items():
        wanted = {name for name, (graph, _) in PAPER.items() if (number, graph) in {(row[0], row[1]) for row in ROWS}}
        records = [by_name[name] for name in PAPER if name in wanted and name in by_name]
        if records:
            text += [f"## {title}", table(map(speed_row, records)), about, fastest(records, best)]
    text += ["## Where this differs from the paper", ROOTS, why_fastest(by_name), HOST]
    text += ["## Memory", table(map(memory_row, lines)), MEMORY]
    text += ["## Table III, Figures 4 and 5: big graphs", table(big_rows(by_name.get(OWN_BIG)))]
    text.append(BIG_NOTE + (OWN_NOTE if OWN_BIG in by_name else ""))
    return "\n\n".join(text) + "\n"


def best_of(one: Record) -> str:
    return min(PLANS, key=lambda plan: float(one[plan]["ms"]))


def speed_row(one: Record) -> Record:
    name, best = one["name"], best_of(one)
    depth, mteps = stated(name)
    row = {"graph": f"{name} ({'D' if one['directed'] else 'U'})", "n": one["n"], "m": one["m"]}
    row |= {"degree max/mean/std": one["degree"], "d": one["d"], "paper's d": depth}
    row |= {plan: f"{one[plan]['ms']:.3g} / {one[plan]['ms in levels']:.3g}" for plan in PLANS}
    row["MTEPS"] = f"{one['m'] / one[best]['ms'] / 1e3:.0f} ({best})"
    row["MTEPS in levels"] = round(one["m"] / min(one[plan]["ms in levels"] for plan in PLANS) / 1e3)
    return row | {"paper's MTEPS": mteps, "paper over others ×": PAPER[name][1]}


def fastest(records: list[Record], paper: str) -> str:
    """How often each algorithm was the fastest, here and in the paper, and where the depth is not the paper's."""
    counts = Counter(map(best_of, records))
    often = ", ".join(f"{plan} {count}" for plan, count in counts.most_common())
    other = [f"{one['name']} ({one['d']} for {stated(one['name'])[0]})" for one in records
             if one["d"] != stated(one["name"])[0]]  # fmt: skip
    text = f"Fastest here, by whole calls: {often}; in the paper {paper}."
    text += f" d differs on {', '.join(other)}." if other else " d is the paper's on all of them."
    lower = [one["name"] for one in records if one["m"] / one[best_of(one)]["ms"] / 1e3 < stated(one["name"])[1]]
    if lower:
        text += f" Whole calls have fewer MTEPS than the paper's on {', '.join(lower)}."
    return text


def why_fastest(by_name: dict[str, Record]) -> str:
    """The paragraph on the algorithms that are the fastest on irregular graphs."""
    irregular = {graph for number, graph, *_ in ROWS if number == "TurboBFS II"}
    some = [by_name[name] for name, (graph, _) in PAPER.items() if graph in irregular and name in by_name]
    top = Counter(min(PLANS[:3], key=lambda plan: float(one[plan]["ms"])) for one in some)
    counting = ", ".join(f"{plan} on {count}" for plan, count in top.most_common())
    best = sum(best_of(one) == "bu-ve" for one in some)
    return FASTEST.format(best=best, irregular=len(some), counting=counting)


def memory_row(one: Record) -> Record:
    size = one["n"] + one["m"]
    row: Record = {"graph": one["name"], "(n + m) words, MB": 4 * size / 1e6}
    return row | {plan: f"{one[plan]['bytes'] / 1e6:.3g} / {one[plan]['bytes'] / size:.1f}" for plan in PLANS}


def big_rows(own: Record | None) -> list[Record]:
    rows: list[Record] = []
    for graph, (vertices, arcs, gain) in BIG.items():
        depth, mteps = STATED[graph]
        rows.append({"graph": graph, "n, millions": vertices, "m, millions": arcs, "paper's d": depth, "d": None,
                     "MTEPS": None, "paper's MTEPS (Figure 5)": mteps,
                     "paper over GraphBLAS × (Figure 4)": gain})  # fmt: skip
    if own:
        best = best_of(own)
        rows.append({"graph": f"{own['name']}, made here", "n, millions": round(own["n"] / 1e6),
                     "m, millions": round(own["m"] / 1e6), "d": own["d"],
                     "MTEPS": f"{own['m'] / own[best]['ms'] / 1e3:.0f} ({best})"})  # fmt: skip
    return rows
