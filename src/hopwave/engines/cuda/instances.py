"""Every kernel that the engine may launch, for whoever compiles all of them."""

from __future__ import annotations

from collections import defaultdict

from hopwave.engines.cuda import build, components, kronecker, many
from hopwave.engines.cuda.betweenness import paths, run, turbobc
from hopwave.engines.cuda.linalg import power
from hopwave.engines.cuda.rank import lengths, part
from hopwave.engines.cuda.search import one_launch, steps

OFFSETS = ("int", "long long")


def all_instances() -> dict[str, list[str]]:
    """Header → the instances of its templates, for both types of offsets; without products over semirings."""
    found = defaultdict(list)
    by_offset = steps, many, components, turbobc, paths, power
    for header, name in (
        *(pair for file in by_offset for wide in OFFSETS for pair in file.instances(wide)),
        *one_launch.instances(),
        *run.instances(),
        *part.instances(),
        *lengths.instances(),
        *kronecker.instances(),
        *build.instances(),
    ):
        found[header].append(name)
    return dict(found)
