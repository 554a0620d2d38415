"""Rejections by hopwave.generate."""

from hopwave import GraphError, generate
from rejections import Row, each

SCALES = [{"scale": 63}, {"scale": 4.0}, {"scale": True}]
CALLS = ({"n": "ten"}, {"n": "10", "directed": "maybe"}, {"n": "10", "size": "3"}, {})
INITIATORS = [(0.5, 0.5), (0.5, 0.5, 0.5, 0.5), (1.5, -0.5, 0, 0), (float("nan"), 0, 0, 1), "abcd"]

ROWS: list[Row] = [
    *each(lambda make: make(-1), [generate.complete, generate.cycle, generate.delaunay], GraphError, "n=-1 is out of"),
    *each(lambda make: make(-1), [generate.geometric, generate.path, generate.star], GraphError, "n=-1 is out of"),
    *each(lambda make: make(-1), [generate.uniform, generate.uniform_edges], GraphError, "n=-1 is out of"),
    *each(lambda make: make(-1, 2), [generate.barabasi_albert, generate.smallworld], GraphError, "n=-1"),
    *each(lambda make: make(-1), [generate.diamonds, generate.mycielskian], GraphError, "k=-1"),
    *each(lambda make: make(-1), [generate.kronecker, generate.kronecker_edges, generate.rmat], GraphError, "scale=-1"),
    (lambda: generate.grid(-1, 2), GraphError, "rows=-1"),
    (lambda: generate.erdos_renyi, AttributeError, "use `generate.uniform`"),  # type: ignore[attr-defined]
    *each(lambda given: generate.kronecker(**given), SCALES, GraphError, "scale="),
    (lambda: generate.kronecker(31), GraphError, "ids have 31 bits"),
    (lambda: generate.kronecker(4, edge_factor=0), GraphError, "edge_factor=0"),
    *each(lambda seed: generate.kronecker(4, seed=seed), [-1, None, 2**64], GraphError, "seed="),
    *each(lambda cells: generate.kronecker(4, initiator=cells), INITIATORS, GraphError, "initiator"),
    (lambda: generate.kronecker_edges(4, first=300), GraphError, "first=300"),
    (lambda: generate.kronecker_edges(4, first=200, count=57), GraphError, "count=57"),
    *each(generate.uniform, [0, 2**31], GraphError, "n="),
    (lambda: generate.uniform_edges(4, count=65), GraphError, "count=65"),
    *each(lambda make: make(0), [generate.diamonds, generate.mycielskian], GraphError, "k=0"),
    (lambda: generate.mycielskian(1), GraphError, "k=1"),
    (lambda: generate.cycle(2), GraphError, "n=2"),
    (lambda: generate.star("many"), GraphError, "n='many'"),
    (lambda: generate.grid(1 << 20, 1 << 20), GraphError, "columns=1048576"),
    *each(lambda share: generate.grid(3, 3, missing=share), [1.5, float("nan")], GraphError, "missing="),
    (lambda: generate.smallworld(10, 3), GraphError, "k=3 is odd"),
    (lambda: generate.smallworld(10, 10), GraphError, "k=10"),
    (lambda: generate.smallworld(10, 4, -0.1), GraphError, "p=-0.1"),
    (lambda: generate.barabasi_albert(4, 4), GraphError, "n=4"),
    (lambda: generate.delaunay(0), GraphError, "n=0"),
    (lambda: generate.geometric(10, -1), GraphError, "radius=-1"),
    (lambda: generate.complete(2**30), GraphError, "GiB"),
    (lambda: generate.mycielskian(30), GraphError, "GiB"),
    *(
        (lambda given=given: generate.generators()["path"].call(given), GraphError, word)
        for given, word in zip(CALLS, ["cannot be read", "pass true or false", "no parameter", "needs n"], strict=True)
    ),
]
