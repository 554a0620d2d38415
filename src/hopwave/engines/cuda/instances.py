"""Every kernel that the engine may launch, for tests that compile all of them."""

from __future__ import annotations

from collections import defaultdict

from hopwave.engines.cuda import (
    arcs,
    blocks,
    build,
    components,
    kronecker,
    many,
    many_each,
    many_tables,
    many_weighted,
    numbering,
    packed,
    renumber,
    row_lengths,
    strong,
)
from hopwave.engines.cuda.betweenness import core_run, run, sampled_paths, turbobc
from hopwave.engines.cuda.linalg import cores, independent_set, labels, lanczos, power, triangles
from hopwave.engines.cuda.rank import lengths, part
from hopwave.engines.cuda.search import one_launch, steps
from hopwave.engines.cuda.shortest_paths import lengths as path_lengths
from hopwave.engines.cuda.shortest_paths import search as paths

OFFSETS, PACKED = ("int", "long long"), "unsigned long long"
WITH_OFFSETS = (
    steps, many, many_each, many_tables, many_weighted, components, blocks, strong, arcs, renumber, row_lengths,
    turbobc, paths, sampled_paths, power, lanczos, cores, labels, independent_set, triangles,
)  # fmt: skip


WITH_PACKED_ROWS = many, many_each, components, row_lengths, power


def all_instances() -> dict[str, list[str]]:
    """Header → the instances of its templates, for both types of offsets; without products over semirings."""
    found = defaultdict(list)
    for header, name in (
        *(pair for file in WITH_OFFSETS for wide in OFFSETS for pair in file.instances(wide)),
        *(pair for file in WITH_PACKED_ROWS for pair in file.instances(PACKED)),
        *one_launch.instances(),
        *run.instances(),
        *core_run.instances(),
        *part.instances(),
        *lengths.instances(),
        *path_lengths.instances(),
        *kronecker.instances(),
        *numbering.instances(),
        *build.instances(),
        *packed.instances(),
    ):
        found[header].append(name)
    return dict(found)
