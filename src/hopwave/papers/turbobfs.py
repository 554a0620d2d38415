"""TurboBFS: GPU Based Breadth-First Search Algorithms in the Language of Linear Algebra (Artiles & Saeed, 2021)."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import module_of, on_host
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, WrongAnswer, check_search, degree_of, log2_of, no_suitesparse, over
from hopwave.papers.records import Case, Drawing, Exhibit, Paper, Row, numbers, table
from hopwave.planning.jobs import SearchJob

PLANS = ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")
STATED = ("degree", "d", "MTEPS", "(GBLAST)x", "(gunrock)x", "(GBLAS)x")

TABLE_I = table("""
g7jac100sc     Hollinger/g7jac100sc        matrix  D     30     385 153/13/22            14    769   8.4  2.2  10.4
g7jac120sc     Hollinger/g7jac120sc        matrix  D     36     475 153/13/23            14    792   7.0  2.0   8.3
g7jac140sc     Hollinger/g7jac140sc        matrix  D     42     566 153/14/24            15   1132   9.0  2.4  15.6
g7jac160sc     Hollinger/g7jac160sc        matrix  D     47     657 153/14/24            16   1094   8.0  2.5  13.3
g7jac180sc     Hollinger/g7jac180sc        matrix  D     53     747 153/14/24            17   1068   7.4  2.3  13.4
g7jac200sc     Hollinger/g7jac200sc        matrix  D     59     838 153/14/25            17   1047   6.2  2.4  10.6
cit-HepPh      SNAP/cit-HepPh              goods   D     35     422 411/12/15            33    703  22.7  4.2  13.3
email-Enron    SNAP/email-Enron            social  U     37     368 1383/10/36           10    613   4.5  1.7   6.3
delaunayn15    DIMACS10/delaunay_n15       mesh    U     33     197 18/6/2               84    109   9.0  3.1   8.5
delaunayn16    DIMACS10/delaunay_n16       mesh    U     66     393 17/6/2              110    164   8.9  3.4  11.7
delaunayn17    DIMACS10/delaunay_n17       mesh    U    131     786 17/6/1              157    161   7.6  2.2  15.9
delaunayn18    DIMACS10/delaunay_n18       mesh    U    262    1573 21/6/1              197    225   9.1  2.0  12.7
delaunayn19    DIMACS10/delaunay_n19       mesh    U    524    3146 21/6/1              306    115   3.6  1.0   9.2
astro-ph       Newman/astro-ph             social  U     17     243 360/15/21            10    808  15.0  2.7  12.7
ri2010         DIMACS10/ri2010             mesh    U     25     126 44/5/3               66     90  11.1  3.2   7.4
me2010         DIMACS10/me2010             mesh    U     70     336 73/5/3              108    112   9.4  2.5   8.3
az2010         DIMACS10/az2010             mesh    U    242    1196 137/5/4             128    150   4.1  1.3   9.4
nc2010         DIMACS10/nc2010             mesh    U    289    1417 83/5/3              207    104   4.6  1.2   9.1
fl2010         DIMACS10/fl2010             mesh    U    484    2346 177/5/4             151    165   3.8  0.9  10.6
ca2010         DIMACS10/ca2010             mesh    U    710    3489 141/5/3             216    126   2.9  0.8   8.0
enron          LAW/enron                   social  D     69     276 1392/4/28             8    690   8.8  2.0  13.0
Wordnet3       Pajek/Wordnet3              goods   D     83     133 64/2/2               20    190  10.6  2.3   6.6
ASIC-100ks     Sandia/ASIC_100ks           matrix  D     99     579 206/6/6              33    482   9.0  2.7  14.2
ASIC-320ks     Sandia/ASIC_320ks           matrix  D    322    1828 412/6/8              31    870   7.6  1.8  17.1
ASIC-680ks     Sandia/ASIC_680ks           matrix  D    683    2329 210/3/4              31    776   5.1  1.4  21.7
smallworld     smallworld:100000:10       goods   U    100    1000 17/10/1               9   2000   8.0  2.4  24.2
luxemb-osm     DIMACS10/luxembourg_osm     road    U    115     239 6/2/1              1035     20  16.8  6.7   3.5
netherl-osm    DIMACS10/netherlands_osm    road    U   2217    4883 7/2/1              1796     26   2.5  0.8   1.9
internet       Pajek/internet              social  D    125     207 138/2/4              21    345   8.3  3.2  29.2
amazon0302     SNAP/amazon0302             goods   D    262    1235 5/5/1                72    363   6.8  2.1  11.8
amazon0312     SNAP/amazon0312             goods   D    401    3200 10/8/3               45    593   3.5  0.9   9.1
amazon0601     SNAP/amazon0601             goods   D    403    3387 1/8/3                36    847   3.9  1.0  12.0
amazon0505     SNAP/amazon0505             goods   D    410    3357 10/8/3               36    839   3.9  1.0  13.3
amazon-2008    LAW/amazon-2008             goods   D    735    5158 10/7/4               32    992   2.9  0.8  14.2
web-NtDame     SNAP/web-NotreDame          web     D    326    1497 3455/5/22            52    454   9.5  1.6   8.5
roadNet-PA     SNAP/roadNet-PA             road    U   1091    3084 9/3/1               542     71   4.3  1.0   9.5
roadNet-TX     SNAP/roadNet-TX             road    U   1393    3843 12/31               723     62   4.0  0.9   8.8
roadNet-CA     SNAP/roadNet-CA             road    U   1971    5533 12/3/1              555     87   3.6  1.0  10.1
""", STATED, "I")  # fmt: skip

TABLE_II = table("""
mycielski12    mycielskian:12              social  U      3     407 1535/133/149          3   2036   5.5  2.2   7.5
mycielski13    mycielskian:13              social  U      6    1228 3071/200/247.0        3   4092   3.9  1.8  12.5
mycielski14    mycielskian:14              social  U     12    3696 6143/301/407          3   6159   2.0  1.5  23.3
mycielski15    mycielskian:15              social  U     24   11111 12287/452/664         3  11111   1.3  1.7  30.9
mycielski16    mycielskian:16              social  U     49   33383 24575/679/1080        3  16691   1.1  1.5  36.2
mycielski17    mycielskian:17              social  U     98  100246 49151/1020/1747       3  22277   0.8  1.5  42.2
mycielski18    mycielskian:18              social  U  196.6  300934 98303/1531/2817       3  31347   0.8  1.7  48.0
mycielski19    mycielskian:19              social  U    393  903195 196607/2297/4530      3  39778   OOM  1.8  57.3
EAT-SR         Pajek/EAT_SR                social  D   23.2     326 78/14/20              7   1085   6.3  2.7  16.7
kron-logn16    kron:16:48                  social  U     66    4913 17999/75/313          6   4466   2.1  1.2  28.3
kron-logn17    kron:17:48                  social  U  131.1   10229 29937/78/378          6   4447   1.7  0.8  16.7
kron-logn18    kron:18:48                  social  U    262   21166 49164/81/454          6   5292   1.3  0.9  30.0
kron-logn19    kron:19:48                  social  U    524   43563 80676/83/541          6   5808   1.1  0.9  17.3
kron-logn20    kron:20:48                  social  U   1049   89241 131505/85/641         6   3984   1.1  1.1  24.6
kron-logn21    kron:21:48                  social  U   2097  182084 213906/87/756         6   2642   0.9  1.2  15.4
soc-Epinio1    SNAP/soc-Epinions1          social  D     76     509 1801/7/26            11    848   8.0  2.3  16.7
Linux-call     Sorensen/Linux_call_graph   goods   D    324    1209 712/4/6              45    432   6.5  1.2   3.2
web-Stanf      SNAP/web-Stanford           web     D    282    2313 255/8/11            147    160   6.8  0.8   3.3
com-LiveJ      SNAP/com-LiveJournal        social  D   3998   69362 14815/17/43          14   1286   0.9  0.8   9.6
com-Orkut      SNAP/com-Orkut              social  U   3072  234370 33133/76/155          8   1698   0.9  0.8   6.4
soc-LiveJour1  SNAP/soc-LiveJournal1       social  D   4848   68994 20293/14/36          15    940   1.3  0.9   7.5
mawi-12345     MAWI/mawi_201512012345      hub     U  18571   38040 16.4M/2/3806         11   1330   5.7  0.7  28.4
mawi-20000     MAWI/mawi_201512020000      hub     U  35991   74485 32.5M/2/5414         11   1357   5.2  0.7  29.1
""", STATED, "II")  # fmt: skip

TABLE_III = table("""
kmer-P1a       GenBank/kmer_P1a            chains  U    139     298 40/2/1              487    110   OOM  OOM  10.0
kmer-A2a       GenBank/kmer_A2a            chains  U    171     361 40/2/1              515    109   OOM  OOM  11.5
kmer-V1r       GenBank/kmer_V1r            chains  U    214     465 8/2/1               342    240   OOM  OOM  19.1
it-2004        LAW/it-2004                 web     D     41    1151 9964/28/67           50    892   OOM  OOM   3.3
twitter7       SNAP/twitter7               social  D     42    1468 3M/35/2420           13   1537   OOM  OOM  10.2
GAP-twitter    GAP/GAP-twitter             social  D     62    1468 3M/24/1990           15    811   OOM  OOM   8.3
GAP-web        GAP/GAP-web                 web     D     51    1930 12869/38/78          56   1038   OOM  OOM   4.0
sk-2005        LAW/sk-2005                 web     D     51    1949 12870/39/78          54   1147   OOM  OOM   4.6
""", STATED, "III", unit=1_000_000)  # fmt: skip


def one_graph(lab: Lab, case: Case, graph: Graph) -> Row:
    """The six algorithms on one graph, checked, then timed; those that count paths do."""
    root, ms = lab.root_of(graph), {}
    first: Any = None
    for plan in PLANS:
        record = hw.plan(f"turbobfs-{plan}")
        counted = record.why_not(SearchJob(path_counts=True)) is None

        def call(record: Any = record, counted: bool = counted) -> Any:
            return hw.bfs(graph, root, plan=record, device=lab.device, predecessors=False, path_counts=counted)

        found = call()
        counts = found.path_counts if counted else None
        if first is None:
            check_search(graph, found.distances, counts, root)
            first, depth = (found.distances, counts), found.depth
        elif not bool((found.distances == first[0]).all()) or not same(counts, first[1], module_of(first[0])):
            raise WrongAnswer(f"{case.shown}: turbobfs-{plan} differs from turbobfs-{PLANS[0]}; please report this")
        ms[plan] = lab.mean_ms(call)
    best = min(ms, key=lambda plan: ms[plan])
    row: Row = {"degree": degree_of(graph), "d": depth + 1, "best": best, "MTEPS": graph.m / ms[best] / 1e3}
    row |= {f"{plan} ms": taken for plan, taken in ms.items()} | {"paths ms": min(ms[plan] for plan in PLANS[:3])}
    if graph.m <= lab.effort.limits.host:
        suite = lab.suitesparse_ms(graph, root, on_host(first[0]))
        row |= {"SuiteSparse ms": suite, "(GBLAS)x": suite and suite / ms[best]}
    return row


searches = over(one_graph, TABLE_I, TABLE_II, TABLE_III)


def same(counts: Any, first: Any, xp: Any) -> bool:
    """Whether path counts agree, if both are there: beyond 2^53 they are rounded."""
    if counts is None or first is None:
        return True
    return bool(xp.allclose(log2_of(counts, xp), log2_of(first, xp), rtol=0, atol=1e-9))


def histograms(lab: Lab) -> list[Row]:
    """Figure 2: the relative histogram of degrees of a regular and of an irregular graph."""
    chosen = {"delaunayn19", "mycielski19" if lab.device == "cuda" else "mycielski15"}
    rows = []
    for case in (*TABLE_I, *TABLE_II):
        if case.shown not in ({"delaunayn15", "mycielski12"} if lab.quick else chosen):
            continue
        if (graph := lab.shelf.get(case).graph) is None:
            continue
        degrees = np.asarray(graph.degrees)
        edges = np.linspace(0, degrees.max() + 1, min(40, int(degrees.max()) + 2))
        counts, _ = np.histogram(degrees, edges)
        for low, count in zip(edges, counts / graph.n, strict=False):
            name = f"{case.shown}, {lab.shelf.get(case).origin}"
            rows.append({"graph": name, "degree from": float(low), "share of vertices": float(count)})
    return rows


EXAMPLE = Graph.from_edges([1, 1, 0, 3, 0], [0, 3, 2, 2, 4], n=5, directed=True)  # of Figures 1 and 3, from 0


def example(lab: Lab) -> list[Row]:
    """Figure 3: f and σ of every level of the example, root 2 (here 1), by TurboBFS-tdscCSC."""
    found = hw.bfs(EXAMPLE, 1, plan="turbobfs-td-sccsc", device=lab.device, path_counts=True, predecessors=False)
    distance, counts = on_host(found.distances), on_host(found.path_counts)
    paper = {0: ("0 1 0 0 0", "0 1 0 0 0"), 1: ("1 0 0 1 0", "1 1 0 1 0"), 2: ("0 0 2 0 0", "1 1 2 1 1")}
    rows = []
    for level, (f, sigma) in paper.items():
        new, all_found = (
            np.where(mask, counts, 0).astype(int) for mask in (distance == level, (distance >= 0) & (distance <= level))
        )
        ours = {"f": " ".join(map(str, new)), "σ": " ".join(map(str, all_found))}
        rows.append({"d": level, **ours, "paper: f": f, "paper: σ": sigma})
    return rows


def formats(lab: Lab) -> list[Row]:
    """Figure 1: the arrays of the example in both formats, one-based as in the paper."""
    order = np.lexsort((np.repeat(np.arange(EXAMPLE.n), EXAMPLE.degrees), EXAMPLE.indices))
    rows = np.repeat(np.arange(EXAMPLE.n), EXAMPLE.degrees)[order] + 1
    columns = EXAMPLE.indices[order] + 1
    starts = np.concatenate([[1], 1 + np.cumsum(EXAMPLE.in_degrees)])
    arrays: dict[str, Any] = {"row_A (both formats)": rows, "col_A (COOC)": columns, "CP_A (CSC)": starts}
    return [{"array": name, "values": " ".join(map(str, array))} for name, array in arrays.items()]


def fastest(lab: Lab) -> list[Row]:
    """IV-A and IV-B: how often each algorithm is the fastest of its table."""
    paper: dict[str, dict[str, float]] = {
        "I": {"td-sccsc": 55, "bu-sc": 40},
        "II": {"td-vecsc": 30, "tdbu": 26.1, "bu-ve": 21.7, "td-sccooc": 21.7},
    }
    rows = []
    for number, shares in paper.items():
        best = Counter(row["best"] for row in lab.measured("searches") if row["table"] == number and "best" in row)
        for plan in PLANS:
            ours = {"% of graphs": 100 * best[plan] / best.total() if best.total() else None}
            rows.append({"table": number, "algorithm": plan, **ours, "paper: % of graphs": shares.get(plan)})
    return rows


# The abstract's averages, and the means of Tables I and II, whose 61 graphs they are of.
CLAIMS = {
    f"× {name}": (value, fmean(numbers((*TABLE_I, *TABLE_II), column)))
    for name, value, column in (("SuiteSparse:GraphBLAS", 15.7, "(GBLAS)x"), ("GraphBLAST", 5.8, "(GBLAST)x"),
                                ("gunrock", 1.8, "(gunrock)x"))
}  # fmt: skip


def averages(lab: Lab) -> list[Row]:
    """The abstract: GTEPS, and the mean speed-ups."""
    suite = "(GBLAS)x", "mean of {} graphs, on this machine's CPU", no_suitesparse()
    gteps = "GTEPS, up to", 40.0, "the fastest of each graph"
    return lab.promised("searches", "MTEPS", gteps, CLAIMS, {"× SuiteSparse:GraphBLAS": suite})


COLUMNS = ("graph", "kind", "n", "m", "degree", "paper: degree", "d", "paper: d", "MTEPS", "best", "paper: MTEPS",
           *(f"{plan} ms" for plan in PLANS),
           "(GBLAS)x", "paper: (GBLAS)x", "paper: (GBLAST)x", "paper: (gunrock)x", "from")  # fmt: skip
BIG = Drawing("bars", "graph", ("(GBLAS)x", "paper: (GBLAS)x"), "times faster than SuiteSparse:GraphBLAS")

PAPER = Paper(
    "turbobfs",
    "TurboBFS: GPU Based Breadth-First Search (BFS) Algorithms in the Language of Linear Algebra",
    "O. Artiles and F. Saeed, IPDPSW 2021",
    "NVIDIA Titan Xp; SuiteSparse:GraphBLAS on 22 Xeon Gold 6152",
    {"formats": formats, "searches": searches, "histograms": histograms, "example": example, "fastest": fastest,
     "averages": averages},
    (
        Exhibit("Abstract", "What the paper promises", "averages",
                ("claim", "ours", "paper", "paper's tables", "remark")),
        Exhibit("Figure 1", "COOC and CSC formats of the example", "formats", ("array", "values"),
                note="The picture is not in the paper's text; Figure 3's vectors determine the arcs, but for whether 5 "
                "is reached from 1 or from 4."),
        Exhibit("Figure 2", "Relative histograms of the degrees of a regular and an irregular graph", "histograms",

                drawings=(Drawing("lines", "degree from", ("share of vertices",), "share of vertices", (True, True),
                                  "graph"),),
                note="The paper draws delaunay_n23 and mycielskian19. Bins without vertices are left out.",
                listed=False),
        Exhibit("Figure 3", "The search of the example, from root 2", "example",
                ("d", "f", "paper: f", "σ", "paper: σ"),
                note="The paper prints 0 for vertex 5 in row f of depth 2, where its f_t and σ have 1."),
        Exhibit("Table I", "Regular graphs", "searches", COLUMNS, ("table", "I")),
        Exhibit("Table II", "Irregular graphs", "searches", COLUMNS, ("table", "II")),
        Exhibit("Sections IV-A, IV-B", "The fastest algorithm, share of the graphs", "fastest",
                ("table", "algorithm", "% of graphs", "paper: % of graphs")),
        Exhibit("Table III", "Big graphs", "searches", COLUMNS, ("table", "III")),
        Exhibit("Figure 4", "Speed-up over SuiteSparse:GraphBLAS on the big graphs", "searches",
                ("graph", "(GBLAS)x", "paper: (GBLAS)x", "from"), ("table", "III"), (BIG,)),
        Exhibit("Figure 5", "MTEPS on the big graphs", "searches", ("graph", "MTEPS", "paper: MTEPS", "from"),
                ("table", "III"), (Drawing("bars", "graph", ("MTEPS", "paper: MTEPS"), "MTEPS", (False, True)),)),
    ),
    "From vertex 0, or where that reaches less than 1% of the vertices from that of highest degree; the mean of the "
    "trials; MTEPS are arcs over the time of a whole call of the fastest algorithm; d counts the last, empty level. "
    "The top-down algorithms count paths, as in the paper. Before it was timed, every answer was checked by array "
    "operations: no arc leads down more than one level, each vertex has an arc from the level before, and its path "
    "count is the sum over these.",
)  # fmt: skip
