"""Structs and constants that Python and the kernels share, compared by the compiler. No GPU needed."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_kernels import HEADERS, OFFSETS, WHY_NOT, compiles

from hopwave.engines import cuda
from hopwave.engines.cuda import nvrtc, records
from mixed import Events


@cache
def offsets_are_unknown() -> str | None:
    """Why offsets cannot be compared, or None: not every NVRTC knows __builtin_offsetof."""
    try:
        nvrtc.compile_only(
            "common/threads.cuh",
            "sm_90",
            [],
            text='struct P { int a, b; }; static_assert(__builtin_offsetof(P, b) == 4, "");',
        )
    except RuntimeError:
        return "this NVRTC does not know __builtin_offsetof"
    return None


@pytest.fixture(autouse=True)
def offsets_can_be_compared() -> None:
    if WHY_NOT is None and (reason := offsets_are_unknown()):
        pytest.skip(reason)


@cache
def modules() -> list[Any]:
    """Every module of the engine: importing a module registers the structs that it mirrors."""
    return [importlib.import_module(found.name) for found in pkgutil.walk_packages(cuda.__path__, f"{cuda.__name__}.")]


def mirrors() -> list[records.Mirrored]:
    modules()
    return records.MIRRORED


def assertions(mirror: records.Mirrored) -> Iterator[str]:
    for offset in OFFSETS if "<int>" in mirror.struct else ("int",):  # one record serves both types of offsets
        struct = nvrtc.qualified(mirror.header, mirror.struct).replace("<int>", f"<{offset}>")
        yield f'static_assert(sizeof({struct}) == {mirror.dtype.itemsize}, "size of {mirror.struct}");'
        for field, (kind, at, *_) in (mirror.dtype.fields or {}).items():
            same = [f"__builtin_offsetof({struct}, {field}) == {at}", f"sizeof({struct}::{field}) == {kind.itemsize}"]
            if kind.base.kind == "f":
                same.append(f"(decltype({struct}::{field}))0.5 > 0")  # true only for floating-point types
            yield f'static_assert({" && ".join(same)}, "{mirror.struct}.{field}");'


def check(mirrored: list[records.Mirrored]) -> None:
    texts = defaultdict(list)
    for mirror in mirrored:
        texts[mirror.header] += assertions(mirror)
    for header, lines in texts.items():
        nvrtc.compile_only(header, "sm_90", [], text="\n".join(lines))


@compiles
def test_structs_have_one_layout_on_both_sides() -> None:
    check(mirrors())


@compiles
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(
    ("struct", "field", "constant"),
    [
        ("FrontierShare<{}>", "begin", "BEGIN_AT"),
        ("FrontierShare<{}>", "length", "LENGTH_AT"),
        ("FrontierShare<{}>", "from", "FROM_AT"),
        ("TeamScratch<{}>", "found", "FOUND_AT"),
        ("Size", "arcs", "ARCS_AT"),
    ],
)
def test_offsets_within_shared_memory(struct: str, field: str, constant: str, offset: str) -> None:
    """The team's kernels address shared memory by these constants (one_launch/team.cuh)."""
    kind = f"hopwave::one_launch::{struct.format(offset)}"
    text = f'static_assert(__builtin_offsetof({kind}, {field}) == {kind}::{constant}, "{field}");'
    nvrtc.compile_only("one_launch/team.cuh", "sm_90", [], text=text)


@compiles
@pytest.mark.parametrize(
    ("declarations", "message"),
    [
        (["ptr starts shifts"], "size of Names"),
        (["ptr shifts starts", "i64 count"], "Names.shifts"),
        (["ptr starts shifts", "i32 count"], "Names.count"),
        (["ptr starts shifts", "f64 count"], "Names.count"),
    ],
)
def test_another_layout_is_noticed(declarations: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MIRRORED", [])
    records.record("rank/part.cuh", "Names", *declarations)
    with pytest.raises(RuntimeError, match=message):
        check(records.MIRRORED)


@compiles
def test_no_field_is_left_out() -> None:
    """A dtype without gaps is as large as its fields, so a field that only C++ has would change the size."""
    gaps = {
        (mirror.header.split("/")[0], mirror.struct): mirror.dtype.itemsize - sum(size_of_fields(mirror.dtype))
        for mirror in mirrors()
    }
    for partly_known in (("one_launch", "Counters"), ("many", "Counters"), ("shortest_paths", "Counters")):
        assert gaps.pop(partly_known) > 0
    assert gaps.pop(("betweenness", "Board")) == 128 - 44  # aligned to 128 bytes
    assert gaps.pop(("common", "PathBoard")) == 128 - 64
    assert not any(gaps.values()), gaps


def size_of_fields(dtype: np.dtype[Any]) -> list[int]:
    return [kind.itemsize for kind, *_ in (dtype.fields or {}).values()]


@compiles
def test_every_dtype_of_the_engine_is_a_record() -> None:
    known = {id(mirror.dtype) for mirror in mirrors()}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, np.dtype) and value.names:
                assert id(value) in known, f"{module.__name__}.{name} is a struct: declare it with record(...)"
        written = re.search(r"np\.dtype\(\s*\[", Path(module.__file__).read_text())
        assert written is None, f"{module.__name__}: declare structs with record(...)"


@cache
def structs() -> dict[tuple[str, str], str]:
    found = {}
    for header in HEADERS:
        text = re.sub(r"//[^\n]*", "", (nvrtc.KERNELS / header).read_text())
        for name, body in re.findall(r"^struct (?:__align__\(\d+\) )?(\w+)[^{;]*\{\s*\n(.*?)^\};", text, re.M | re.S):
            found[header.split("/")[0], name] = re.sub(r"__device__.*", "", body, flags=re.S)
    return found


def named_in(text: str, folder: str) -> set[tuple[str, str]]:
    words = re.findall(r"((?:\w+::)?)(\w+)", text)
    places = [(place, name) for scope, name in words for place in ([scope[:-2]] if scope else [folder, "common"])]
    return {place for place in places if place in structs()}


@compiles
def test_every_struct_that_a_kernel_is_given_has_a_mirror() -> None:
    """Structs in a kernel's parameters, by value or address, or inside another such struct: the host allocates them."""
    mirrored = {(mirror.header.split("/")[0], mirror.struct.partition("<")[0]) for mirror in mirrors()}
    given = set()
    for header in HEADERS:
        text = re.sub(r"//[^\n]*", "", (nvrtc.KERNELS / header).read_text())
        for parameters in re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?\w+\s*\(([^)]*)\)", text):
            given |= named_in(parameters, header.split("/")[0])
    assert {("one_launch", "Graph"), ("betweenness", "Batch"), ("linalg", "Progress")} <= given
    within = set(chain.from_iterable(named_in(structs()[one], one[0]) for one in given if one[1] != "Counters"))
    assert ("one_launch", "Chunk") in within
    assert given | within == mirrored


COUNTERS = "FOUND EDGES CHECKED AHEAD AHEAD_EDGES TAIL GATHERED TICKET GREATEST LEAST COUNTERS"
CONSTANTS = [  # header; its constants; the Python module; other names in Python
    ("common/threads.cuh", "WARP BLOCK", "launch", None),
    ("common/counts.cuh", "LARGEST SMALLEST", "search.by_level", None),
    ("steps/report.cuh", COUNTERS, "search.by_level", None),
    ("one_launch/state.cuh", "THREADS TRACE_COLUMNS", "search.workspace", "BLOCK TRACE_COLUMNS"),
    ("betweenness/weighted.cuh", "TOO_MANY CYCLE", "betweenness.weighted", None),
    ("shortest_paths/state.cuh", "THREADS TRACE_COLUMNS", "shortest_paths", None),
    ("many/state.cuh", "SUMS COLUMNS ROWS PAIRS", "many", None),
    ("linalg/products.cuh", "PIECE", "linalg.scratch", None),
    ("betweenness/sampled_paths.cuh", "PATH_THREADS", "betweenness.sampled_paths", "THREADS"),
    ("linalg/power.cuh", "POWER_THREADS POWER_BLOCKS TILE_KINDS", "linalg.power", "THREADS BLOCKS KINDS"),
    ("betweenness/batch.cuh", "LANES", "betweenness.regimes", None),
    ("betweenness/wide.cuh", "PIECE MAX_LEVELS MAPPED", "betweenness.regimes", "PIECE_ARCS MAX_BATCH_LEVELS MAPPED"),
]


@compiles
@pytest.mark.parametrize(("header", "names", "module", "here"), CONSTANTS)
def test_constants_are_the_same_on_both_sides(header: str, names: str, module: str, here: str | None) -> None:
    python = importlib.import_module(f"{cuda.__name__}.{module}")
    pairs = zip(names.split(), (here or names).split(), strict=True)
    lines = [f'static_assert({nvrtc.qualified(header, a)} == {getattr(python, b)}, "{a}");' for a, b in pairs]
    nvrtc.compile_only(header, "sm_90", [], text="\n".join(lines))


@compiles
def test_what_a_kernel_tells_the_host_fits() -> None:
    from hopwave.engines.cuda.linalg import scratch

    text = (nvrtc.KERNELS / "linalg/products.cuh").read_text()
    told = max(int(place) for place in re.findall(r"host\[(\d)\]", text))
    assert 8 * (told + 1) <= scratch.SLOT


def test_ctrl_c_while_a_record_is_passed_to_a_kernel_is_not_lost() -> None:
    """CuPy asks NumPy for the address, and NumPy drops what its description of the fields raises."""
    passed = pytest.importorskip("cupy.cuda.function").CNumpyArray
    made, events = records.filled(np.dtype([("offsets", np.uint64), ("n", np.int64)]), n=3), Events(KeyboardInterrupt)

    def steps(fails: int) -> int:
        events.begin(fails)
        sys.setprofile(lambda frame, event, called: events() if event in ("call", "c_return") else None)
        try:
            passed(made)
        finally:
            sys.setprofile(None)
        return events.count - 1  # the last one is the end of the profile

    for fails in range(1, steps(0) + 1):
        with pytest.raises(KeyboardInterrupt):
            steps(fails)
    assert made.copy()["n"] == 3
