"""Random questions over MPI ranks, beside one process; and ranks that disagree.

    mpiexec -n 3 python tests/fuzz/ranks.py FOLDER SEED COUNT

`inputs` starts such jobs. All ranks draw the same graph, layout and question. Half of the time one rank has another
argument, another graph, another file of the same size or another function: then every rank raises, and goes on.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
PER_JOB = 60  # questions
RANKS = (2, 3, 4)


def inputs(draw: random.Random, folder: Path) -> int:
    """A job of some ranks."""
    sys.path[:0] = [str(HERE.parents[1] / "mpi")]
    from mpi_job import start

    from questions import Difference

    ranks, seed = draw.choice(RANKS), draw.randrange(1 << 40)
    try:
        done = start(ranks, str(HERE), str(folder), str(seed), str(PER_JOB), seconds=240)
    except subprocess.TimeoutExpired as error:
        raise Difference(f"{ranks} ranks, seed {seed}: the job did not end; {error.stdout!r}") from error
    if done.returncode or f"{PER_JOB} questions" not in done.stdout:
        raise Difference(f"{ranks} ranks, seed {seed}: {done.stdout[-300:]} {done.stderr[-1500:]}")
    return PER_JOB


# ---------------------------------------------------------------- on every rank


def job(folder: Path, seed: int, count: int) -> None:
    """The questions of one job, on this rank."""
    sys.path[:0] = [str(HERE.parents[2] / "src"), str(HERE.parents[1])]
    import numpy as np

    import hopwave as hw
    from hopwave import distributed as hd
    from hopwave import linalg as la
    from hopwave.distributed import linalg as da
    from questions.cases import pairs

    world, draw = hd.world(), random.Random(seed)
    odd = world.size - 1  # the rank that disagrees
    path = folder / f"{seed}.mtx"

    def graph() -> hw.Graph:
        n = draw.choice((2, 5, 12, 20, 33))
        u, v = zip(*(pairs(draw, n) or [(0, 1)]), strict=True)
        return hw.Graph.from_edges(list(u), list(v), n=n, directed=draw.random() < 0.5)

    def all_equal(found: Any, right: Any) -> None:
        if found is not None:  # only rank 0 gets what is gathered
            np.testing.assert_allclose(np.asarray(found, float), np.asarray(right, float), rtol=1e-9, atol=1e-12)

    def search(G: hw.Graph, parts: Any, source: int) -> None:
        found = hd.bfs(parts, source)
        gathered = found.gather()
        right = hw.bfs(G, source, device="cpu")
        assert found.reached == right.reached
        if gathered is not None:
            all_equal(gathered[0], right.distances)
            assert hw.validate(G, source, *gathered).ok

    def scores(G: hw.Graph, parts: Any, source: int) -> None:
        split = draw.choice(("graph", "sources", "auto"))
        found = hd.betweenness_centrality(parts, split=split, endpoints=source % 2 == 0)
        all_equal(found.gather(), hw.betweenness_centrality(G, endpoints=source % 2 == 0, device="cpu").scores)

    def file(G: hw.Graph, parts: Any, source: int) -> None:
        directed = draw.choice((None, True)) if G.directed else draw.choice((None, False, True))
        if world.rank == 0:
            hw.write(path, G)
        world.barrier()
        found, right = hd.read(path, directed=directed).replicated(), hw.read(path, directed=directed, progress=False)
        assert (found.n, found.m, found.directed) == (right.n, right.m, right.directed)
        assert np.array_equal(found.indptr, right.indptr) and np.array_equal(found.indices, right.indices)
        world.barrier()

    def products(G: hw.Graph, parts: Any, source: int) -> None:
        """One product over ranks, beside linalg: any semiring, mask and direction."""
        name, direction = draw.choice(dir(la.semiring)), draw.choice(("auto", "push", "pull"))
        ring, layout = la.semiring[name], draw.choice(("1d", "2d", (1, world.size)))
        A = la.Matrix.from_graph(G, np.array([float(draw.randint(1, 4)) for _ in range(G.m)]))
        B = da.DistributedMatrix.from_matrix(A, layout=layout, device="cpu")
        places, let = (sorted(draw.sample(range(G.n), draw.randint(0, G.n))) for _ in range(2))
        values = np.array([float(draw.randint(1, 4)) for _ in places])
        x, y = la.Vector.from_entries(places, values, G.n), B.vector(places, values)
        how = {"structural": True, "complement": draw.random() < 0.5, "direction": direction}
        m, mask = la.Vector.from_entries(let, True, G.n), B.vector(let, True)
        if draw.random() < 0.5:
            right, found = la.vxm(x, A, ring, mask=m, **how), da.vxm(y, B, ring, mask=mask, **how)
        else:
            right, found = la.mxv(A, x, ring, mask=m, **how), da.mxv(B, y, ring, mask=mask, **how)
        whole = found.gather()
        if whole is not None:
            about = f"{name} {how} {layout} {places} {let}"
            assert whole.indices.tolist() == right.indices.tolist(), about
            assert ring.any_term or np.allclose(whole.values, right.values), about

    def refused(call: Callable[[], Any]) -> None:
        try:
            call()
        except hw.HopwaveError as error:
            assert str(error)
        else:
            raise AssertionError("ranks that disagree were not told")

    def disagree(G: hw.Graph, parts: Any, source: int) -> None:
        mine = world.rank == odd
        other = (source + 1) % G.n
        kind = draw.choice(("source", "option", "function", "graph", "file"))
        if kind == "source":
            refused(lambda: hd.bfs(parts, other if mine else source))
        elif kind == "option":
            refused(lambda: hd.betweenness_centrality(parts, endpoints=mine))
        elif kind == "function":
            refused(lambda: hd.betweenness_centrality(parts) if mine else hd.bfs(parts, source))
        elif kind == "graph":
            changed = hw.Graph.from_csr(G.indptr, G.indices, directed=G.directed, labels=[f"v{i}" for i in range(G.n)])
            refused(lambda: hd.betweenness_centrality(changed if mine else G))
        else:
            own = folder / f"{seed}-{world.rank}.mtx"  # of the same size, with another edge on one rank
            edges = "2 1\n3 2\n" if not mine else "2 1\n3 1\n"
            own.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n{edges}")
            refused(lambda: hd.read(own))

    for number in range(count):
        G = graph()
        parts = hd.spread(G, layout=draw.choice(("1d", "2d", (1, world.size))))
        questions = (search, scores, file, products)
        ask = draw.choice((*questions, disagree, disagree) if world.size > 1 else questions)
        try:
            ask(G, parts, draw.randrange(G.n))
        except BaseException as error:
            world.abort(f"question {number}, {ask.__name__}: {error!r}")
    if world.rank == 0:
        print(f"{count} questions", flush=True)


if __name__ == "__main__":
    job(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
