"""Fuzzing of the readers: the compiled scanners against their definition in Python, and whole damaged files."""

import random
from pathlib import Path
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.errors import HopwaveError
from hopwave.io import lines, suites
from hopwave.io.lines import LARGEST_NUMBER, Grammar
from questions import Difference

GRAMMARS = {
    "snap": Grammar("", last=LARGEST_NUMBER),
    "snap, weights": Grammar("", last=LARGEST_NUMBER, weight=1),
    "snap, fourth column": Grammar("", last=LARGEST_NUMBER, weight=2),
    "pattern": Grammar("", first=1, last=9, comments=b"%", values=0),
    "real": Grammar("", first=1, last=9, comments=b"%", values=1),
    "real weights": Grammar("", first=1, last=9, comments=b"%", values=1, weight=1),
    "integer weights": Grammar("", first=1, last=9, comments=b"%", values=1, whole=True, weight=1),
    "arcs": Grammar("", first=1, last=12, comments=b"c", prefix=b"a", values=1, weight=1),
    "pairs": Grammar("", comments=b"", values=0),
    **{
        f"table {mark!r}": Grammar(
            "", last=LARGEST_NUMBER, comments=b"", delimiter=mark, lone=True, weight=weight, plain=True, columns=most
        )
        for mark, weight, most in ((b",", 0, 3), (b";", 1, 3), (b"\t", 2, 4), (b"", 0, 2), (b"|", 0, 0))
    },
}
NUMBERS = (b"0", b"1", b"2", b"7", b"12", b"007", b"123456789012345678", b"1234567890123456789", b"2147483648")
PIECES = (
    *NUMBERS,
    *(b" ", b" ", b"  ", b"\t", b"\t", b",", b",", b";", b"|", b"\r", b"\f", b"\v", b"\0", b'"', b"'", b"#", b"%"),
    *(b"c", b"a ", b"a", b"x", b"-", b"+", b".", b"1.5", b"1e3", b"1e400", b"-0.25", b"inf", b"nan", b"1_0", b"e"),
    *(b"\xe9", b"1 000 000", b"\xef\xbb\xbf", b"\x85", b"\xc2\xa0", b"\x1c"),
)
GAPS = (b" ", b"\t", b",", b";", b"|", b" , ", b"  ")
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\r\r\n")


# ---------------------------------------------------------------- lines


def block(draw: random.Random) -> bytes:
    """A few lines: some almost right, some random."""
    lines = []
    for _ in range(draw.randint(1, 4)):
        if draw.random() < 0.5:
            line = b"".join(draw.choices(PIECES, k=draw.randint(0, 7)))
        else:
            line = draw.choice(GAPS).join(draw.choices(NUMBERS, k=draw.randint(1, 4)))
            place = draw.randint(0, len(line))
            line = line[:place] + draw.choice((b"", b"", b"", *PIECES)) + line[place:]
        lines.append(line + draw.choice(ENDS))
    data = b"".join(lines)
    if draw.random() < 0.25:  # any of the 256 bytes at any place
        place = draw.randrange(len(data))
        data = data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :]
    return data if data.endswith(b"\n") else data + b"\n"


def compare(name: str, data: bytes) -> int:
    """Both scanners of a grammar find equal edges, or have the same complaint about the same line."""
    grammar = GRAMMARS[name]
    wide = np.int64 if grammar.last - grammar.first > 2**31 else np.int32
    slow, fast = (lines._parse(data, grammar, wide, how) for how in (False, True))
    same = (fast.lines, fast.trouble) == (slow.lines, slow.trouble)
    pairs = ((fast.u, slow.u), (fast.v, slow.v), (fast.w, slow.w))
    if not same or any(mine.tobytes() != theirs.tobytes() for mine, theirs in pairs):
        raise Difference(f"{name}: {data!r}")
    return 1


def try_lists(draw: random.Random) -> int:
    """Run both scanners of METIS's neighbour lists on one block: equal lists, or the same complaint."""
    data = block(draw)
    slow, fast = (suites.parse_lists(data, how) for how in (False, True))
    if [part.tolist() for part in fast[:2]] != [part.tolist() for part in slow[:2]] or fast[2:] != slow[2:]:
        raise Difference(f"lists: {data!r}")
    return 1


# ---------------------------------------------------------------- files

FILES = {
    "a.txt": b"# Nodes: 4 Edges: 3\n# Directed graph\n0 1\n1 2\n2 3\n",
    "b.txt": b"# Weights: third column\n10 20 1.5\n20 30 2\n",
    "c.txt": b"# Ids: text\n# Node: ann\nann\tbob\nbob\tcyd\n",
    "a.csv": b"source,target,weight\n0,1,2.5\n1,2,3\n7,,\n",
    "b.csv": b'"a","b"\n"b","c, d"\n',
    "c.csv": b"0 1\n1 2\n2 0\n",
    "d.csv": b"# a comment\n#source,target\n0,1\n1,2\n",
    "a.tsv": b"0\t1\n1\t2\n",
    "a.el": b"0 1\n1 2\n",
    "a.wel": b"0 1 3\n1 2 4\n",
    "a.mtx": b"%%MatrixMarket matrix coordinate real general\n% c\n3 3 3\n1 2 0.5\n2 3 1e-3\n3 1 7\n",
    "a.gr": b"c x\np sp 3 3\na 1 2 1\na 2 3 5\na 3 1 1\n",
    "a.col": b"p edge 3 2\ne 1 2\ne 2 3\n",
    "a.graph": b"% c\n3 2 1\n2 5\n1 5 3 6\n2 6\n",
    "a.net": b'*Vertices 3\n1 "a"\n2 "b c"\n3 d\n*Edges\n1 2 0.5\n2 3\n',
    "a.gml": b'graph [ directed 1 node [ id 0 label "a" ] node [ id 1 ] edge [ source 0 target 1 weight 2 ] ]\n',
}


def damaged(data: bytes, draw: random.Random) -> bytes:
    """The file after a few small changes."""
    for _ in range(draw.randint(0, 3)):
        begin = draw.randint(0, len(data))
        end = min(len(data), begin + draw.choice((0, 0, 1, 1, 3, 20)))
        new = draw.choice((b"", b"\n", data[begin:end] * 2, draw.choice(PIECES), bytes([draw.randrange(256)])))
        data = data[:begin] + new + data[end:]
    return data


def outcome(path: Path, least: int) -> Any:
    """The graph of a file, or why there is none. The compiled scanner reads files of at least `least` bytes."""
    before, lines.MIN_BYTES_FOR_SCANNER = lines.MIN_BYTES_FOR_SCANNER, least
    try:
        G = hw.read(path, progress=False)
        return G.n, G.directed, G.indptr.tolist(), G.indices.tolist(), repr(G.weights), repr(G.labels)
    except HopwaveError as error:
        return str(error)
    finally:
        lines.MIN_BYTES_FOR_SCANNER = before


def try_file(draw: random.Random, folder: Path) -> int:
    """A damaged file is read or refused, in the same way by both scanners; no other error is raised."""
    name = draw.choice(list(FILES))
    data = damaged(FILES[name], draw)
    if not data:
        return 0
    path = folder / name
    path.write_bytes(data)
    try:
        slow, fast = outcome(path, 1 << 40), outcome(path, 1)
    except Exception as error:
        raise Difference(f"{name}: {data!r} raises {type(error).__name__}: {error}") from error
    if slow != fast:
        raise Difference(f"{name}: {data!r}\nslow: {slow}\nfast: {fast}")
    return 1


def inputs(draw: random.Random, folder: Path) -> int:
    """A block of lines for every grammar, a block of lists, and a file."""
    return sum(compare(name, block(draw)) for name in GRAMMARS) + try_lists(draw) + try_file(draw, folder)
