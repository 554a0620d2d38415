"""The simulation of many ranks (benchmarks/simulated.py) counts what real ranks look at and send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.simulated import Search
from rank_setup import WORLD

from hopwave import distributed as hd
from hopwave.planning.catalogue import CATALOGUE


def check_simulated_counts_are_those_of_real_ranks() -> None:
    """Vertices found, arcs looked at, bytes and packets of every level, in both layouts."""
    for scale, layout, plan in ((11, "1d", "hopwave"), (11, "2d", "hopwave"), (11, "1d", "merrill"),
                                (11, "2d", "merrill"), (15, "1d", "hopwave"), (15, "2d", "hopwave")):  # fmt: skip
        graph = hd.kronecker(scale, layout=layout, threads=1)
        whole = graph.replicated()
        packets = counted_packets(graph.wire)
        for root in (1, 77) if scale == 11 else (5,):
            packets.clear()
            real = hd.bfs(graph, root, plan=plan).trace
            packets_of_all = WORLD.total(sum(packets))
            if WORLD.rank:
                continue
            simulated = Search(whole, graph.layout, CATALOGUE[plan]).run(root)
            for ours, theirs in zip(simulated, real, strict=True):
                mine = (ours.direction, ours.vertices, ours.edges, ours.found, int(ours.checked.sum()))
                assert mine == (theirs.direction, theirs.vertices, theirs.edges, theirs.found, theirs.checked)
                bytes_sent = int(ours.sent.sum()), int(ours.for_parents.sum()), int(ours.sent.max())
                assert bytes_sent == (theirs.sent, theirs.sent_for_parents, theirs.sent_by_one)
                assert int((ours.sent - ours.for_parents).max()) == theirs.sets_by_one
            assert sum(int(level.packets.sum()) for level in simulated) == packets_of_all


def counted_packets(wire: Any) -> list[int]:
    """Counts the packets with data that this rank sends to others from now on, one number per exchange."""
    counts: list[int] = []

    def counting(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(comm: Any, data: Any, *sizes: Any) -> Any:
            each = sizes[0] if len(sizes) == 2 else [len(data)] * comm.Get_size()  # alltoallv: bytes to each rank
            counts.append(sum(size > 0 for rank, size in enumerate(each) if rank != comm.Get_rank()))
            return method(comm, data, *sizes)

        return call

    wire.allgatherv, wire.alltoallv = counting(wire.allgatherv), counting(wire.alltoallv)
    return counts
