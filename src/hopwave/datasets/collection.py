"""Small graphs that need no network, and graphs of the papers' tables in the SuiteSparse Matrix Collection.

The papers count stored arcs: an undirected edge twice. Most sizes are rounded, to thousands or millions (`rounded_to`).
Sizes are left out where a paper used another edition of the graph, or changed it: push-pull made directed graphs
undirected. The collection publishes no checksums that could be stated here; `download` records what it received.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from hopwave import generate, io
from hopwave.errors import GraphError
from hopwave.generate import counter
from hopwave.graph import Graph


@dataclass(frozen=True)
class Published:
    """One graph of the papers' tables: its name in the collection, its stated size, and who used it.

    >>> entry = next(entry for entry in published() if entry.name == "SNAP/email-Enron")
    >>> entry.vertices, entry.arcs, entry.papers
    (36692, 367662, ('TurboBFS Table I',))
    """

    name: str
    vertices: int | None
    arcs: int | None
    rounded_to: int  # 1: exact
    papers: tuple[str, ...]

    def differs(self, vertices: int, arcs: int) -> str | None:
        """What differs from the stated size, in words; None if nothing does."""
        slack = 0 if self.rounded_to == 1 else self.rounded_to  # the papers round some numbers and cut others
        sizes = ("vertices", vertices, self.vertices), ("arcs", arcs, self.arcs)
        wrong = (f"{n:,} {what}, not {m:,}" for what, n, m in sizes if m is not None and abs(n - m) > slack)
        return "; ".join(wrong) or None


# Name; thousands of vertices and of arcs as the papers state them, or exact numbers below; tables.
_THOUSANDS = """
Hollinger/g7jac100sc                 30     385   TurboBFS Table I
Hollinger/g7jac120sc                 36     475   TurboBFS Table I
Hollinger/g7jac140sc                 42     566   TurboBFS Table I, TurboBC Table 1
Hollinger/g7jac160sc                 47     657   TurboBFS Table I, TurboBC Table 1
Hollinger/g7jac180sc                 53     747   TurboBFS Table I, TurboBC Tables 2 and 5
Hollinger/g7jac200sc                 59     838   TurboBFS Table I, TurboBC Tables 2 and 5
Hollinger/mark3jac060sc              28     171   TurboBC Tables 1 and 5
Hollinger/mark3jac080sc              37     228   TurboBC Tables 1 and 5
Hollinger/mark3jac100sc              46     285   TurboBC Table 1
Hollinger/mark3jac120sc              55     343   TurboBC Table 1
Hollinger/mark3jac140sc              64     400   TurboBC Table 2
DIMACS10/delaunay_n17               131     786   TurboBFS Table I
DIMACS10/delaunay_n18               262    1573   TurboBFS Table I
DIMACS10/delaunay_n19               524    3146   TurboBFS Table I
DIMACS10/ri2010                      25     126   TurboBFS Table I
DIMACS10/me2010                      70     336   TurboBFS Table I
DIMACS10/az2010                     242    1196   TurboBFS Table I
DIMACS10/nc2010                     289    1417   TurboBFS Table I
DIMACS10/fl2010                     484    2346   TurboBFS Table I
DIMACS10/ca2010                     710    3489   TurboBFS Table I
LAW/enron                            69     276   TurboBFS Table I
Pajek/Wordnet3                       83     133   TurboBFS Table I
Sandia/ASIC_100ks                    99     579   TurboBFS Table I, TurboBC Table 2
Sandia/ASIC_320ks                   322    1828   TurboBFS Table I
Sandia/ASIC_680ks                   683    2329   TurboBFS Table I, TurboBC Table 2
DIMACS10/smallworld                 100    1000   TurboBFS Table I, TurboBC Table 2
DIMACS10/netherlands_osm           2217    4883   TurboBFS Table I
Pajek/internet                      125     207   TurboBFS Table I, TurboBC Table 1
SNAP/amazon0302                     262    1235   TurboBFS Table I
SNAP/amazon0312                     401    3200   TurboBFS Table I
SNAP/amazon0601                     403    3387   TurboBFS Table I
SNAP/amazon0505                     410    3357   TurboBFS Table I
LAW/amazon-2008                     735    5158   TurboBFS Table I
SNAP/web-NotreDame                  326    1497   TurboBFS Table I
SNAP/roadNet-PA                    1091    3084   TurboBFS Table I
SNAP/roadNet-TX                    1393    3843   TurboBFS Table I
SNAP/roadNet-CA                    1971    5533   TurboBFS Table I, push-pull Table 3
Mycielski/mycielskian12               3     407   TurboBFS Table II
Mycielski/mycielskian13               6    1228   TurboBFS Table II
Mycielski/mycielskian14              12    3696   TurboBFS Table II
Mycielski/mycielskian15              24   11111   TurboBFS Table II, TurboBC Table 3
Mycielski/mycielskian16              49   33383   TurboBFS Table II, TurboBC Tables 3 and 5
Mycielski/mycielskian17              98  100246   TurboBFS Table II, TurboBC Tables 3 and 5
Mycielski/mycielskian18             197  300934   TurboBFS Table II, TurboBC Table 3
Mycielski/mycielskian19             393  903195   TurboBFS Table II, TurboBC Table 3
Pajek/EAT_SR                         23     326   TurboBFS Table II
DIMACS10/kron_g500-logn16            66    4913   TurboBFS Table II
DIMACS10/kron_g500-logn17           131   10229   TurboBFS Table II
DIMACS10/kron_g500-logn18           262   21166   TurboBFS Table II, TurboBC Table 3
DIMACS10/kron_g500-logn19           524   43563   TurboBFS Table II, TurboBC Table 3
DIMACS10/kron_g500-logn20          1049   89241   TurboBFS Table II, TurboBC Table 3, Hiragushi Table 1
DIMACS10/kron_g500-logn21          2097  182084   TurboBFS Table II, TurboBC Table 3, push-pull Tables 2 and 3
SNAP/soc-Epinions1                   76     509   TurboBFS Table II
Sorensen/Linux_call_graph           324    1209   TurboBFS Table II
SNAP/web-Stanford                   282    2313   TurboBFS Table II
SNAP/com-LiveJournal               3998   69362   TurboBFS Table II, XBFS Table 1, Hiragushi Table 1
SNAP/com-Orkut                     3072  234370   TurboBFS Table II, XBFS Table 1
SNAP/soc-LiveJournal1              4848   68994   TurboBFS Table II, push-pull Table 3
SNAP/com-Youtube                   1135    5975   TurboBC Table 2, Hiragushi Table 1
MAWI/mawi_201512012345            18571   38040   TurboBFS Table II, TurboBC Table 2
MAWI/mawi_201512020000            35991   74485   TurboBFS Table II, TurboBC Table 2
MAWI/mawi_201512020030            68863  143415   TurboBC Table 2
"""
_MILLIONS = """
GenBank/kmer_P1a                    139     298   TurboBFS Table III
GenBank/kmer_A2a                    171     361   TurboBFS Table III
GenBank/kmer_V1r                    214     465   TurboBFS Table III, TurboBC Table 4
LAW/it-2004                          41    1151   TurboBFS Table III, TurboBC Table 4
SNAP/twitter7                        42    1468   TurboBFS Table III
GAP/GAP-twitter                      62    1468   TurboBFS Table III, TurboBC Table 4
GAP/GAP-web                          51    1930   TurboBFS Table III
LAW/sk-2005                          51    1949   TurboBFS Table III, TurboBC Table 4
LAW/hollywood-2009                    1       -   push-pull Table 3
LAW/indochina-2004                    7       -   push-pull Table 3
DIMACS10/road_usa                    24       -   push-pull Table 3
"""
_EXACT = """
DIMACS10/luxembourg_osm          114599  239332   TurboBFS Table I, TurboBC Table 1
DIMACS10/delaunay_n15             32768  196548   TurboBFS Table I, TurboBC Table 1
DIMACS10/delaunay_n16             65536  393150   TurboBFS Table I, TurboBC Table 1
SNAP/email-Enron                  36692  367662   TurboBFS Table I
Newman/astro-ph                   16706  242502   TurboBFS Table I
SNAP/cit-HepPh                    34546  421578   TurboBFS Table I
SNAP/cit-Patents                3774768       -   XBFS Table 1
SNAP/com-Friendster                   -       -   XBFS Table 1
DIMACS10/packing-500x100x100-b050     -       -   Hiragushi Table 1
Gleich/wikipedia-20070206             -       -   Hiragushi Table 1
SNAP/soc-Pokec                        -       -   Hiragushi Table 1
SNAP/wiki-Talk                        -       -   Hiragushi Table 1
"""

ELSEWHERE = {  # graphs of the tables that the collection does not have → where they are
    **dict.fromkeys(
        ("DBpedia", "DBLP-author", "EnWiki", "Trackers", "Wiki-dbpedia", "Wiki-link"),
        "is in KONECT, not in the SuiteSparse collection; download it there",
    ),
    "soc-orkut": "is in the Network Repository, not in the SuiteSparse collection; download it there",
    **dict.fromkeys(
        ("rmat_s22_e64", "rmat_s23_e32", "rmat_s24_e16", "rgg_n_24", "random.1Mv.64Me", "rmat.1Mv.64Me"),
        "was generated by its authors; make one like it with hw.generate",
    ),
}


def published() -> tuple[Published, ...]:
    """Every graph of the papers' tables that the collection has, in the order of the papers.

    Examples
    --------
    >>> len(published()), published()[0].name
    (85, 'Hollinger/g7jac100sc')
    """
    return _PUBLISHED


def find(name: str) -> Published | None:
    """The entry of this name, with its group or without; None if the tables do not have it."""
    return _BY_NAME.get(name)


def nearest(name: str) -> list[str]:
    """Up to three names of the tables that are spelled like this one."""
    spelled = {key.lower(): entry.name for key, entry in _BY_NAME.items()}
    close = get_close_matches(name.lower(), spelled, 6, 0.6)
    return list(dict.fromkeys(spelled[key] for key in close))[:3]


def _read(text: str, unit: int) -> list[Published]:
    entries = []
    for line in text.strip().splitlines():
        name, vertices, arcs, papers = line.split(maxsplit=3)
        n, m = (None if size == "-" else int(size) * unit for size in (vertices, arcs))
        entries.append(Published(name, n, m, unit, tuple(papers.split(", "))))
    return entries


_PUBLISHED = (*_read(_THOUSANDS, 1000), *_read(_MILLIONS, 1_000_000), *_read(_EXACT, 1))
_BY_NAME = {entry.name: entry for entry in _PUBLISHED} | {entry.name.partition("/")[2]: entry for entry in _PUBLISHED}


# ---------------------------------------------------------------- small graphs

BLOCK = 100.0  # metres between two crossings of `road`
DISPLACED = 30.0  # metres by which a crossing is moved, at most, along each axis


def names() -> tuple[str, ...]:
    """The names that `load` knows.

    Examples
    --------
    >>> names()
    ('karate', 'les-miserables', 'mesh', 'road')
    """
    return tuple(_GRAPHS)


def load(name: str) -> Graph:
    """A small graph by its name. No network is needed.

    - karate: 34 members of a karate club and their 78 friendships (W. W. Zachary, "An information flow model for
      conflict and fission in small groups", Journal of Anthropological Research 33, 1977).
    - les-miserables: 77 characters of the novel, as labels; the weight of an edge is the number of chapters in which
      both appear (D. E. Knuth, The Stanford GraphBase, 1993).
    - mesh: the Delaunay triangulation of 1,000 random points.
    - road: about 1,200 crossings of a made-up town and its streets; the weights are lengths in metres.

    Parameters
    ----------
    name : str
        One of `names()`.

    Raises
    ------
    GraphError
        The name is unknown; the nearest known names are given.

    Examples
    --------
    >>> load("les-miserables")
    Graph(77 vertices, 254 edges, undirected, weighted, labelled)
    >>> load("carate")
    Traceback (most recent call last):
    hopwave.errors.GraphError: 'carate' is not a graph that ships with hopwave; the nearest names: 'karate'
    """
    if name in _GRAPHS:
        return _GRAPHS[name]()
    if (entry := find(name)) is not None:
        raise GraphError(f"{name!r} does not ship with hopwave; download it with datasets.fetch({entry.name!r})")
    near = get_close_matches(str(name), names(), 3, 0.5)
    found = f"the nearest names: {', '.join(map(repr, near))}" if near else f"use one of {', '.join(names())}"
    raise GraphError(f"{name!r} is not a graph that ships with hopwave; {found}")


def _from_file(name: str, **options: Any) -> Graph:
    return io.read(Path(__file__).with_name(name), progress=False, **options)


def _road() -> Graph:
    """Crossings on a grid, moved a little, so that streets differ in length; some streets are missing."""
    rows, columns = 30, 40
    streets = generate.grid(rows, columns, missing=0.15, seed=1)
    across = np.arange(streets.n) % columns * BLOCK
    along = np.arange(streets.n) // columns * BLOCK
    across = across + DISPLACED * (2 * counter.fractions(1, "datasets.road.x", 0, streets.n) - 1)
    along = along + DISPLACED * (2 * counter.fractions(1, "datasets.road.y", 0, streets.n) - 1)
    source, target = np.repeat(np.arange(streets.n), np.diff(streets.indptr)), streets.indices
    lengths = np.sqrt((across[source] - across[target]) ** 2 + (along[source] - along[target]) ** 2)
    return streets.with_weights(np.round(lengths, 1)).largest_component().relabel(None)


_GRAPHS: dict[str, Callable[[], Graph]] = {
    "karate": lambda: _from_file("karate.mtx"),
    "les-miserables": lambda: _from_file("les-miserables.tsv", header=True, weight="chapters", directed=False),
    "mesh": lambda: generate.delaunay(1000, seed=1),
    "road": _road,
}
