"""Vectors that share arrays: after any list of steps, an operation has changed only its own result."""

import random
from pathlib import Path

import numpy as np

from hopwave import linalg as la
from questions import Difference

N = 6  # length of a vector
ONES = la.Matrix.from_dense(np.eye(N, dtype=int))
Model = dict[int, int]


def inputs(draw: random.Random, folder: Path) -> int:
    """Thirty steps on a few vectors, compared with dictionaries after each."""
    kept: list[tuple[la.Vector, Model]] = []
    story: list[str] = []
    for _ in range(30):
        at, value = draw.sample(range(N), draw.randint(0, N)), draw.randint(-5, 5)
        if len(kept) < 3 or draw.random() < 0.2:
            values, bits = draw.choices(range(-5, 6), k=N), [i in at for i in range(N)]
            dense = draw.random() < 0.5
            new = (
                (la.Vector.from_dense(np.array(values), bits), {i: values[i] for i in at})
                if dense
                else (la.Vector.from_entries(np.array(at, np.int64), value, N, dtype="int64"), dict.fromkeys(at, value))
            )
            kept = [*kept[-4:], new]
            story.append(f"new {new[1]}")
        else:
            story.append(step(draw, kept, at, value))
        kept[-1][0].convert(draw.choice(("sparse", "dense", None)))
        for vector, model in kept:
            found = dict(zip(vector.indices.tolist(), vector.values.tolist(), strict=True))
            single = [vector[place] for place in range(N)]
            if found != model or vector.nnz != len(model) or single != [model.get(place) for place in range(N)]:
                raise Difference(f"{story}: {found}, expected {model}")
    return len(story)


def step(draw: random.Random, kept: list[tuple[la.Vector, Model]], at: list[int], value: int) -> str:
    """One operation: it replaces a vector by its result, or adds the result."""
    i, j, m = draw.sample(range(len(kept)), 3)
    (u, a), (v, b), (mask, c) = kept[i], kept[j], kept[m]
    complement, replace = draw.random() < 0.5, draw.random() < 0.5
    through = {k for k in range(N) if bool(c.get(k, 0)) != complement}
    written = {k: b[k] for k in b if k in through} | {k: a[k] for k in a if k not in through and not replace}
    name, call, model = draw.choice((
        ("assign", lambda: la.assign(u, value, at), {**a, **dict.fromkeys(at, value)}),
        ("negate", lambda: la.apply(u, la.unary.negate), {k: -x for k, x in a.items()}),
        ("astype", lambda: u.astype("int64"), dict(a)),
        ("copy", lambda: u.copy(), dict(a)),
        ("identity", lambda: la.apply(u, la.unary.identity), dict(a)),
        ("to", lambda: u.to("cpu").copy(), dict(a)),  # to() alone may return the vector itself
        ("bound", lambda: la.apply(u, la.binary.first, right=3), dict(a)),
        ("extract", lambda: la.extract(u), dict(a)),
        ("product", lambda: la.mxv(ONES, u, la.semiring.any_second), dict(a)),
        ("assigned", lambda: la.assign(la.Vector(N, u.dtype), u), dict(a)),
        ("accumulate", lambda: la.apply(u, la.unary.abs, out=la.Vector.full(N, 1), accum=la.binary.plus),
         {k: 1 + abs(a.get(k, 0)) for k in range(N)}),
        ("select", lambda: la.select(u, la.binary.gt, 0), {k: x for k, x in a.items() if x > 0}),
        ("add", lambda: la.ewise_add(u, v, la.binary.plus), {k: a.get(k, 0) + b.get(k, 0) for k in {*a, *b}}),
        ("multiply", lambda: la.ewise_mult(u, v, la.binary.minus), {k: a[k] - b[k] for k in {*a} & {*b}}),
        (
            "write",
            lambda: la.apply(v, la.unary.identity, out=u, mask=mask, complement=complement, replace=replace),
            written,
        ),
    ))  # fmt: skip
    if name in ("assign", "write"):
        kept[i] = call(), model
    else:
        kept[:] = [*kept[-4:], (call(), model)]
    return f"{name} {i} {j} {m}: {model}"
