"""Pages of the papers' plans on a GPU, made from lines of JSON. They need no GPU."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from benchmarks.setting import remarks, table

Record = dict[str, Any]
Page = Callable[[list[Record]], str]


def headed(lines: list[Record]) -> str:
    return ", ".join(f"{key} {value}" for key, value in lines[-1]["where"].items())


# ---------------------------------------------------------------- Hiragushi, Figure 4

HIRAGUSHI_PLANS = ["merrill", "hiragushi-hybrid"]
# Of Table 1: the graph of the same kind and size, made here.
TABLE_1 = {"kron20": "kron_g500-logn20", "rmat.1Mv.64Me": "rmat.1Mv.64Me", "random.1Mv.64Me": "random.1Mv.64Me"}
MORE = ["kron18e43", "kron21e44", "uniform20e16", "mycielskian15", "threads-math-sx", "email-Enron", "delaunay_n16",
        "grid1000", "luxembourg_osm"]  # fmt: skip
HIRAGUSHI = """\
Medians over up to {sources} sources (at least 16 where a plan had used up its time). GTEPS are the arcs of the reached
part over the time inside the levels, by the GPU's clock. *Gain* is Figure 4(a): the hybrid over Merrill's push only,
inside the levels / in whole calls by the host's clock; the plans were timed one after the other. *Bottom-up's share* is
Figure 4(b): of the time inside the hybrid's levels. *Arcs read again* are those of vertices that stood in Merrill's
queue more than once: what warp and history culling let through."""
HIRAGUSHI_TABLE_1 = """\
Of Table 1's nine graphs the three that a generator makes, made here by Graph500's and GTgraph's rules with other
random numbers; the other six cannot be downloaded here. The paper gains up to 29× on a Tesla M2050, and does not say
on which graph in its text. Here the most is {most:.1f}×, on {graph}, where Merrill's is our own rendering. A level of
the hybrid takes {level:.0f} µs there, launches and the reading of its counters included, which no faster memory
shortens: that bounds the gain on a GPU of today."""
HIRAGUSHI_MORE = """\
Graphs that the paper does not have. It chose only graphs on which bottom-up pays; on meshes and roads no level does."""


def hiragushi(lines: list[Record]) -> str:
    """gpu-hiragushi.md."""
    by_name = {line["name"]: line for line in lines}
    text = ["# Hiragushi's Figure 4: the hybrid beside Merrill's push only", headed(lines)]
    text += [HIRAGUSHI.format(sources=lines[-1]["where"]["sources"]), *remarks(lines)]
    for title, names, note in (
        ("Graphs of Table 1", TABLE_1, HIRAGUSHI_TABLE_1),
        ("Other graphs", MORE, HIRAGUSHI_MORE),
    ):
        some = [by_name[name] for name in names if name in by_name]
        if some:
            text += [f"## {title}", table(map(hiragushi_row, some)), note.format(**most_gained(some))]
    return "\n\n".join(text) + "\n"


def most_gained(lines: list[Record]) -> Record:
    """The greatest gain inside the levels, on which graph, and microseconds per level of the hybrid there."""
    merrill, hybrid = HIRAGUSHI_PLANS
    one = max(lines, key=lambda line: float(line[merrill]["ms in levels"] / line[hybrid]["ms in levels"]))
    ms = one[hybrid]["ms in levels"]
    return {"most": one[merrill]["ms in levels"] / ms, "graph": one["name"], "level": 1e3 * ms / one[hybrid]["levels"]}


def hiragushi_row(one: Record) -> Record:
    push, hybrid = (one[plan] for plan in HIRAGUSHI_PLANS)
    gains = [push[key] / hybrid[key] for key in ("ms in levels", "ms")]
    return {
        "graph": f"{one['name']} ({'D' if one['directed'] else 'U'})", "n": one["n"], "m": one["m"],
        "levels": round(push["levels"]), "sources": min(push["searches"], hybrid["searches"]),
        "Merrill ms in levels": push["ms in levels"], "hybrid ms in levels": hybrid["ms in levels"],
        "Merrill GTEPS": push["gteps"], "hybrid GTEPS": hybrid["gteps"],
        "gain ×": f"{gains[0]:.1f} / {gains[1]:.1f}", "bottom-up's share": f"{hybrid['pull share']:.0%}",
        "arcs read again": f"{push['read again']:.2%}",
    }  # fmt: skip


# ---------------------------------------------------------------- Hiragushi, Figure 5

WEAK = """\
Graph500 with {vertices} vertices per rank and 16 edges per vertex, plan `hiragushi-hybrid` (α = 48, β = 20), with
predecessors. Every search is valid by Graph500's rules; the first one of each GPU row was also compared with a search
of the whole graph by one GPU. The paper has a GPU for each process and up to 1,024 of them; here all ranks share one
machine, and the GPU ranks take turns on one GPU."""
WEAK_CPU = """\
A rank on the CPU has four threads, as the paper's processes have four cores. CPU and GPU ranks found the same
distances."""
WEAK_5B = """\
Means per search and rank. *Waiting* is the time in exchanges: until the other ranks are there, and until the bytes are.
The rest is computing, packing and unpacking included. Ranks that share a GPU compute longer the more they are, since
they take turns: their rows say what sharing costs, and nothing of a cluster."""
WEAK_NOTE = """\
The paper finds that GPUs shorten the computing and lengthen the communication, by copies between host and device. Here:

{said}

Computing is shorter on the GPU here too. Waiting is not longer: {waiting} on CPUs. One reason is what is counted:
packing, and the copies to pinned host memory that the paper counts as communication, are computing here. Another may be
that waiting lasts until the slowest rank is there, and ranks on CPUs compute longer; that was not measured apart.
Messages do not leave the machine, and have the same compressed bytes on both."""


def weak(lines: list[Record]) -> str:
    """ranks-weak-h200.md."""
    record = lines[-1]
    rows = sorted(record["rows"], key=lambda row: (row["device"], row["ranks"]))
    where = ", ".join(f"{key} {value}" for key, value in record["where"].items())
    vertices = f"2^{rows[0]['scale'] - rows[0]['ranks'].bit_length() + 1}"
    text = [f"# Hiragushi's Figure 5: weak scaling with {vertices} vertices per rank", where]
    text += [WEAK.format(vertices=vertices), WEAK_CPU]
    text += ["## Figure 5a: speed", table(map(speed_row, rows))]
    text += ["## Figure 5b: computing and communication", table(map(split_row, rows)), WEAK_5B, weak_note(rows)]
    return "\n\n".join(filter(None, text)) + "\n"


def where_of(row: Record) -> Record:
    return {"ranks on": {"cpu": "CPU", "cuda": "one GPU"}[row["device"]], "ranks": row["ranks"], "scale": row["scale"]}


def speed_row(row: Record) -> Record:
    return where_of(row) | {
        "MB of arcs per rank": row["MB of arcs per rank"], "construction s": row["construction s"],
        "median search ms": row["median search ms"], "harmonic mean MTEPS": row["harmonic mean MTEPS"],
        "searches valid": row["searches valid"],
    }  # fmt: skip


def split_row(row: Record) -> Record:
    return where_of(row) | {
        "computing ms": row["mean computing ms"], "waiting ms": row["mean waiting ms"],
        "share of time waiting": f"{row['share of time waiting']:.0%}", "KB sent per search": row["KB sent per search"],
        "KB uncompressed": row["KB uncompressed"], "transport": row["transport"],
    }  # fmt: skip


def weak_note(rows: list[Record]) -> str:
    """Computing and waiting on both devices, for the numbers of ranks that both were measured with."""
    times = {(row["device"], row["ranks"]): (row["mean computing ms"], row["mean waiting ms"]) for row in rows}
    both = sorted(ranks for device, ranks in times if device == "cpu" and ("cuda", ranks) in times)
    said = table(
        {"ranks": ranks, "computing ms, CPU": times["cpu", ranks][0], "computing ms, GPU": times["cuda", ranks][0],
         "waiting ms, CPU": times["cpu", ranks][1], "waiting ms, GPU": times["cuda", ranks][1]}
        for ranks in both
    )  # fmt: skip
    shares = [times["cuda", ranks][1] / times["cpu", ranks][1] for ranks in both if times["cpu", ranks][1]]
    waiting = f"{min(shares):.2f} to {max(shares):.2f} times that"
    return WEAK_NOTE.format(said=said, waiting=waiting)


# ---------------------------------------------------------------- plans beside their authors' programs

TURBOBFS = [f"turbobfs-{name}" for name in ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")]
AUTHORS_PLANS = ["hopwave-gpu", *TURBOBFS, "xbfs", "pushpull"]
# Milliseconds of the authors' programs on an H200, median of 6 sources: TurboBFS, XBFS (its kernels alone), GraphBLAST.
# Collected before hopwave was written. The last are Gunrock 1.2 and GSWITCH, of which there is no plan.
AUTHORS: dict[str, tuple[float | None, float | str | None, float | None, float, float]] = {
    "email-Enron": (1.52, 0.57, 1.10, 0.79, 1.12),
    "kron18e43": (1.85, 0.40, 0.76, 0.55, 11.8),
    "kron21e44": (7.4, 0.87, None, 0.64, 47),
    "rmat22e64": (15, 1.33, None, 0.73, 104),
    "uniform20e16": (2.47, 0.59, 1.00, 0.80, 1.70),
    "mycielskian17": (1.79, 0.19, 0.46, 3.74, 12),
    "delaunay20": (56, "> 25.9", 69.8, 41.6, 10.9),
    "grid1000": (499, 90, 215, 146, 32.5),
    "luxembourg_osm": (19.2, 45, 146, 108, 21.8),
    "osm-netherlands-cities": (20.9, 39, 100, 71, 15.4),
}
AUTHORS_NOTE = """\
Milliseconds. *Ours* are whole calls of `hw.bfs` by the host's clock / the levels alone by the GPU's, in a second call
with a trace; medians over up to {sources} sources of the largest component, distances only; of TurboBFS's six
algorithms the fastest. *Theirs* were measured on the same GPU model and graph families before hopwave was written, the
median of 6 other sources, and not again: XBFS is the time of its kernels alone, which is to be compared with our
levels; kron, rmat, uniform and meshes were drawn with other random numbers. *Theirs / ours* above 1 means that our
rendering is faster: for TurboBFS and GraphBLAST by whole calls, for XBFS by levels.

Plans were timed one after another. Times of small levels are mostly the host's, which vary: on 16 November 2026 the
levels of push-pull on kron 21 took 0.32 ms in one run and 0.47 ms in another, from the same 64 sources. A ratio below
about 1.5 is therefore no sure lead."""
AUTHORS_SLOWER = """\
Slower than its authors' program: {names}."""
AUTHORS_HOST = """\
What a whole call takes beyond its levels is the host's time: {rule} ms in the median of the calls of XBFS and
push-pull above, {ahead} ms of TurboBFS's algorithms but for tdbu. Python checks the arguments, begins the search, and
launches every kernel; launches also lie between the kernels of a level, and a level of few arcs takes as long as its
launches. After each level of a plan with a rule (XBFS, push-pull) the host reads the counters, for which it waits 12
µs, and asks the rule. TurboBFS's algorithms, but for tdbu, need nothing from the host between levels, so that their
levels are launched ahead."""
OTHERS = "Other programs on the same GPU model, of which there is no plan, beside hopwave's own: milliseconds."


def authors(lines: list[Record]) -> str:
    """gpu-authors.md."""
    text = ["# The papers' plans beside their authors' programs", headed(lines)]
    text += [AUTHORS_NOTE.format(sources=lines[-1]["where"]["sources"]), *remarks(lines)]
    text.append(table(map(authors_row, lines)))
    slower = [f"{program} on {one['name']} ({gain:.2g})" for one in lines
              for program, gain in gains_of(one).items() if gain is not None and gain < 1]  # fmt: skip
    text.append(AUTHORS_SLOWER.format(names=", ".join(slower) or "none"))
    each = {name: host_time(lines, plans) for name, plans in (("rule", ["xbfs", "pushpull"]), ("ahead", TURBOBFS[:5]))}
    text.append(AUTHORS_HOST.format(**each))
    text += ["## Other programs", OTHERS, table(map(others_row, lines))]
    return "\n\n".join(text) + "\n"


def host_time(lines: list[Record], plans: list[str]) -> str:
    """Milliseconds that whole calls take beyond their levels: the median over graphs and plans."""
    rows = [one[plan] for one in lines for plan in plans]
    return f"{median(row['ms'] - row['ms in levels'] for row in rows):.2f}"


def fastest_turbobfs(one: Record) -> str:
    return min(TURBOBFS, key=lambda plan: float(one[plan]["ms"]))


def gains_of(one: Record) -> dict[str, float | None]:
    """Theirs over ours, by program."""
    turbobfs, xbfs, graphblast, *_ = AUTHORS[one["name"]]
    return {
        "TurboBFS": turbobfs and turbobfs / one[fastest_turbobfs(one)]["ms"],
        "XBFS": xbfs / one["xbfs"]["ms in levels"] if isinstance(xbfs, (int, float)) else None,
        "GraphBLAST": graphblast and graphblast / one["pushpull"]["ms"],
    }


def authors_row(one: Record) -> Record:
    theirs, gains, best = AUTHORS[one["name"]], gains_of(one), fastest_turbobfs(one)
    row: Record = {"graph": one["name"], "n": one["n"], "m": one["m"], "levels": round(one[best]["levels"])}
    plans = {"TurboBFS": best, "XBFS": "xbfs", "GraphBLAST": "pushpull"}
    for (program, plan), value in zip(plans.items(), theirs, strict=False):
        named = f" ({plan.removeprefix('turbobfs-')})" if program == "TurboBFS" else ""
        row[f"{program}: ours"] = f"{one[plan]['ms']:.3g} / {one[plan]['ms in levels']:.3g}{named}"
        row[f"{program}: theirs"] = value
        row[f"{program}: theirs / ours"] = gains[program]
    return row


def others_row(one: Record) -> Record:
    *_, gunrock, gswitch = AUTHORS[one["name"]]
    return {"graph": one["name"], "hopwave-gpu": one["hopwave-gpu"]["ms"], "Gunrock 1.2": gunrock, "GSWITCH": gswitch}


PAGES: dict[str, tuple[list[str], list[str], Page]] = {
    "hiragushi": (HIRAGUSHI_PLANS, [*TABLE_1, *MORE], hiragushi),
    "authors": (AUTHORS_PLANS, list(AUTHORS), authors),
}
