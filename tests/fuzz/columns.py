"""Fuzzing of ids, labels, weights and files: every input comes back unchanged, or raises one of our errors.

The oracle is Python itself: a dictionary of labels, fractions for weights, `float` for the text of a number.
"""

import datetime
import decimal
import fractions
import math
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

import hopwave as hw
from hopwave.errors import HopwaveError
from hopwave.graph import Graph
from questions import Difference

BIG = 2**53
NAMES = (
    "a", "a\0", "\0", "", " ", "b", "b ", "é", "e\u0301", "1", "01", "-1", "1.0", "nan", "x" * 500, "\ud800", "a\nb",
    "a,b", '"', "#", "%", "a\tb", "&#38;", "<x>", "\x85", "\u2028", "*Edges", "]", " a", "a b", "a\n", "\ra", "a\r",
    "a\r\nb", "\ta", "\fa", "a\v", "\u2028a", "\x85a", "a\x1c", "#a", "%a", "c a", "\ufeffa", 'a"b', "'a", "a;b",
    "日本", "🙂", "&amp;", "]]>", "\x1b[31m", "\x7f", "\x01", "NA", "None", "true",
)  # fmt: skip
NUMBERS = (0, 1, 2, 3, -1, 7, BIG, BIG + 1, -BIG - 1, 2**62, 2**63, 10**20, 10**400, 0.5, -0.0, 2.0, 1e300)
OTHERS = (
    True,
    None,
    math.nan,
    math.inf,
    1j,
    b"a",
    b"a\0",
    (1, 2),
    ("a",),
    fractions.Fraction(1, 3),
    decimal.Decimal(1),
)
DATES = (
    datetime.date(2026, 1, 1),
    datetime.datetime(2026, 1, 1),
    datetime.timedelta(1),
    np.datetime64("2026-01-01", "ns"),
)
DATES += (
    np.datetime64(1, "ns"),
    np.datetime64("NaT", "ns"),
    np.timedelta64(3, "s"),
    np.timedelta64(3, "D"),
    pd.Timestamp(1),
    pd.NaT,
)
SCALARS = (np.int64(BIG + 1), np.uint64(2**64 - 1), np.int8(-3), np.float32(0.1), np.float16(2.0), np.bool_(True))
SCALARS += (np.complex128(1 + 2j), np.str_("a"), np.longdouble(1) / 3)
ANYTHING = (*NAMES, *NUMBERS, *OTHERS, *DATES, *SCALARS)
KINDS: tuple[tuple[Any, ...], ...] = (NAMES, NUMBERS, ANYTHING, (*NAMES, *NUMBERS), (*DATES, *SCALARS))
EXTENSIONS = tuple(dict.fromkeys(known.extensions[0] for known in hw.formats()))


def is_missing(value: Any) -> bool:
    """Whether a value cannot be a label: None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


# ---------------------------------------------------------------- labels


def as_objects(values: list[Any]) -> Any:
    """An object array of these values."""
    array = np.empty(len(values), object)
    array[:] = [None] * len(values)
    for i, value in enumerate(values):
        array[i] = value
    return array


def networkx_graph(u: list[Any], v: list[Any], weights: list[Any] | None = None) -> Any:
    """The graph of these edges in NetworkX; it refuses None as a node with a ValueError of its own."""
    g = nx.MultiDiGraph()
    for i, ends in enumerate(zip(u, v, strict=True)):
        g.add_edge(*ends, **({} if weights is None else {"weight": weights[i]}))
    return g


ENDS: dict[str, Callable[..., Graph]] = {
    "lists": lambda u, v, **how: Graph.from_edges(u, v, directed=True, **how),
    "objects": lambda u, v, **how: Graph.from_edges(as_objects(u), as_objects(v), directed=True, **how),
    "pandas": lambda u, v, **how: Graph.from_pandas(
        pd.DataFrame({"source": pd.Series(u, dtype=object), "target": pd.Series(v, dtype=object)}), directed=True, **how
    ),
    "networkx": lambda u, v: Graph.from_networkx(networkx_graph(u, v), weight=None),
}


def try_labels(draw: random.Random) -> int:
    """Ends of edges of all types: index(label) finds the vertex, other numbers raise; edges keep their labels."""
    way, pool = draw.choice(list(ENDS)), draw.choice(KINDS)
    u, v = (draw.choices(pool, k=draw.randint(1, 5)) for _ in range(2))
    u, v = u[: len(v)], v[: len(u)]
    how = {"names": True} if way != "networkx" and draw.random() < 0.5 else {}
    given = f"{way} {how}: {u!r:.300} {v!r:.300}"
    try:
        G = ENDS[way](u, v, **how)
    except HopwaveError:
        return 1
    except ValueError as error:
        if way == "networkx" and str(error) in ("None cannot be a node", "Can't hash generic timedelta64"):
            return 0
        raise Difference(f"{given} raises {error!r}") from error
    texts = {end.strip() for end in u + v if isinstance(end, str)}
    if any(map(is_missing, u + v)) or (way != "networkx" and not how and texts & {"", "nan"}):
        raise Difference(f"{given}: a missing label names a vertex")
    # Without labels, whole floats are ids, and an id is found as an integer.
    # True is the vertex 1 where both are ends, and by the name 1 alone: a list of True and False is taken for a mask.
    plain = [[int(end) if G.labels is None or isinstance(end, bool | np.bool_) else end for end in x] for x in (u, v)]
    ends = [tuple(map(G.index, edge)) for edge in zip(*plain, strict=True)]
    if {(int(a), int(b)) for a, b in zip(*G.to_edges(), strict=True)} != set(ends):
        raise Difference(f"{given}: other edges")
    named = {position for pair in ends for position in pair}
    if G.labels is not None:
        if len(named) != G.n or any(G.index(G.label(i)) != i for i in range(G.n)):
            raise Difference(f"{given}: a label that does not find its vertex")
        if any(i in G and not any(label == i for label in G) for i in range(G.n)):
            raise Difference(f"{given}: a position names a vertex")
    return 1


def try_names(draw: random.Random) -> int:
    """labels= and relabel with any objects: labels that differ in Python stay different."""
    names = draw.choices(draw.choice(KINDS), k=draw.randint(2, 5))
    given = draw.choice((names, as_objects(names), pd.Series(names, dtype=object)))
    ids = np.arange(len(names) - 1)
    try:
        if draw.random() < 0.5:
            G = Graph.from_edges(ids, ids + 1, labels=given)
        else:
            G = Graph.from_edges(ids, ids + 1).relabel(given)
    except HopwaveError:
        return 1
    if any(map(is_missing, names)) or [G.index(name) for name in names] != list(range(len(names))):
        raise Difference(f"labels={names!r:.300} are not found")
    return 1


# ---------------------------------------------------------------- weights

WEIGHTS: dict[str, Callable[[list[Any]], Graph]] = {
    "list": lambda w: Graph.from_edges(range(len(w)), range(1, len(w) + 1), weights=w, directed=True),
    "objects": lambda w: Graph.from_edges(range(len(w)), range(1, len(w) + 1), weights=as_objects(w), directed=True),
    "pandas": lambda w: Graph.from_edges(
        range(len(w)), range(1, len(w) + 1), weights=pd.Series(w, dtype=object), directed=True
    ),
    "networkx": lambda w: Graph.from_networkx(networkx_graph(list(range(len(w))), list(range(1, len(w) + 1)), w)),
    "numpy": lambda w: Graph.from_edges(range(len(w)), range(1, len(w) + 1), weights=np.array(w), directed=True),
}


def try_weights(draw: random.Random) -> int:
    """Weights of all types are kept to the last bit, or refused."""
    way, pool = draw.choice(list(WEIGHTS)), draw.choice((NUMBERS, NUMBERS, (*NUMBERS, *SCALARS), ANYTHING))
    weights = draw.choices(pool, k=draw.randint(1, 4))
    if way == "numpy":  # NumPy may have rounded already
        weights = [draw.choice([w for w in NUMBERS if isinstance(w, int) and abs(w) < 2**63])] * len(weights)
    try:
        G = WEIGHTS[way](weights)
    except HopwaveError:
        return 1
    kept = G.weights.tolist() if G.weights is not None else []
    for mine, given in zip(kept, weights, strict=True):
        given = int(given) if isinstance(given, np.integer) else given
        if mine != given or math.copysign(1, mine) != math.copysign(1, float(given)):
            raise Difference(f"{way}: {weights!r:.300} became {kept}")
    return 1


# ---------------------------------------------------------------- files


def try_format(draw: random.Random, folder: Path) -> int:
    """A graph with odd labels, weights and parallel arcs reads back unchanged, or is not written."""
    extension, n, m = draw.choice(EXTENSIONS), draw.randint(1, 6), draw.randint(0, 9)
    u, v = ([draw.randrange(n) for _ in range(m)] for _ in range(2))
    weights = draw.choice((None, [draw.choice((1, 2, -0.0, 0.1, 1e300, BIG, -5, math.inf)) for _ in range(m)]))
    labels = None
    if draw.random() < 0.6:
        texts = [name for name in NAMES if name != "nan"]
        labels = draw.sample(draw.choice((texts, [*range(2 * n), BIG + 1, 2**62], texts + list(range(3)))), n)
    merge = {"combine": "first"} if weights is not None else {}
    how: dict[str, Any] = {"repeats": "keep"} if draw.random() < 0.5 else merge
    G = Graph.from_edges(u, v, n, draw.random() < 0.5, weights=weights, labels=labels, **how)
    path = folder / f"graph{extension}"
    try:
        hw.write(path, G)
    except HopwaveError:
        return 1
    try:
        back = hw.read(path, directed=G.directed, progress=False)
    except Exception as error:
        raise Difference(f"{extension}: {list(G.edges())!r:.300} of {list(G)!r:.300}: {error!r}") from error
    if canonical(back) != canonical(G):
        raise Difference(
            f"{extension}: {list(G.edges())!r:.300} of {list(G)!r:.300} became {list(back.edges())!r:.300}"
        )
    return 1


def canonical(G: Graph) -> Any:
    """A graph by its labels: files may number integer labels in ascending order, and 0 … n − 1 need no labels."""
    edges = []
    for u, v, *weight in G.edges():
        ends = [repr(u), repr(v)]
        edges.append((*(ends if G.directed else sorted(ends)), repr(weight)))
    return G.directed, sorted(map(repr, G)), sorted(edges)


TEXTS = {
    "a.gml": "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight %s ] ]",
    "a.graphml": '<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">'
    '<node id="0"/><node id="1"/><edge source="0" target="1"><data key="w">%s</data></edge></graph></graphml>',
    "a.net": "*Vertices 2\n*Arcs\n1 2 %s\n",
    "a.csv": "source,target,weight\n0,1,%s\n",
    "b.csv": 'source,target,weight\n"a","b",%s\n',
    "a.txt": "# Directed graph\n# Weights: third column\n0 1 %s\n",
    "b.txt": "# Directed graph\n# Weights: third column\na b %s\n",
    "a.mtx": "%%%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 %s\n",
    "a.gr": "p sp 2 1\na 1 2 %s\n",
    "a.wel": "0 1 %s\n",
}
PARTS = (*"019..eE-+5_x١#\xa0", "00", "-0", "308", "1e999", "9007199254740993", "36028797018963968", "inf", "nan")
PARTS += ("&amp;", "&foo;", "<x/>")
SECONDS = 20.0  # limit for a file of 100 kB, which takes milliseconds unless every split of its digits is tried


def try_number(draw: random.Random, folder: Path) -> int:
    """The text of a number, good or bad: read as Python reads it, integers exactly, or refused in time."""
    name = draw.choice(list(TEXTS))
    parts = draw.choices(PARTS, k=draw.randint(1, 5))
    if draw.random() < 0.05:
        place = draw.randrange(len(parts))
        parts[place] *= 100_000 // len(parts[place])
    text = "".join(parts)
    path = folder / name
    path.write_text(TEXTS[name] % text, encoding="utf-8")
    began = time.monotonic()
    try:
        weights = hw.read(path, directed=True, progress=False).weights
    except HopwaveError:
        weights = None
    except Exception as error:
        raise Difference(f"{name}: {text!r:.200} raises {error!r}") from error
    if time.monotonic() - began > SECONDS:
        raise Difference(f"{name}: {text!r:.200} of {len(text):,} characters takes {time.monotonic() - began:.0f} s")
    if weights is None or len(weights) != 1:
        return 1
    plain, found = text.split("#")[0].strip(), float(weights[0])
    digits = plain.lstrip("+-")
    exact = not digits.isdecimal() or int(digits.lstrip("0") or "0") == abs(found)
    if "_" in plain or not plain.isascii() or repr(float(plain)) != repr(found) or not exact:
        raise Difference(f"{name}: {text!r:.200} became {found!r}")
    return 1


def inputs(draw: random.Random, folder: Path) -> int:
    """One input of every kind; labels and weights, which take less time, more often."""
    few = sum(attempt(draw) for attempt in (try_labels, try_names, try_weights) for _ in range(10))
    return few + try_format(draw, folder) + try_number(draw, folder)
