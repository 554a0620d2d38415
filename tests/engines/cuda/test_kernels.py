"""The kernels, without a GPU: they compile for every architecture, words of plans have kernels, structs one layout."""

import importlib.util
import os
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from hopwave.engines import cuda
from hopwave.engines.cuda import nvrtc, records
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Always, OneWay
from mixed import Events
from together import in_one_test

# The oldest and the newest, to PTX: code that compiles for both compiles in between, and machine code takes more than
# twice the time. HOPWAVE_ARCHITECTURES="sm_80 sm_90" adds machine code for others.
OLDEST, NEWEST = "compute_75", "compute_120"
ARCHITECTURES = (OLDEST, NEWEST, *os.environ.get("HOPWAVE_ARCHITECTURES", "").split())
OFFSETS = ("int", "long long")
HEADERS = sorted(path.relative_to(nvrtc.KERNELS).as_posix() for path in nvrtc.KERNELS.rglob("*.cuh"))
SEARCHES = [plan for plan in CATALOGUE.values() if plan.task == "search"]


def absent() -> str | None:
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed; run: pip install '.[cuda13]'"
    try:
        from cupy_backends.cuda.libs import nvrtc as compiler

        compiler.getVersion()
    except Exception as error:  # the library is loaded on first use and fails in its own ways
        return f"NVRTC cannot be loaded ({error}); run: pip install '.[cuda13]'"
    if not nvrtc.include_folders():
        return "CUDA's headers are not here; run: pip install 'cuda-toolkit[cudart,nvrtc,cccl]==13.*'"
    return None


WHY_NOT = absent()
compiles = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))


@cache
def instances() -> dict[str, list[str]]:
    """Header → the instances of its templates that the engine may use, for both types of offsets."""
    from hopwave.engines.cuda.instances import all_instances

    return all_instances()


def check_compiled(header: str, architecture: str, names: list[str], text: str = "") -> None:
    """Compile instances; fail with the compiler's messages, or if code of some instance is missing.

    PTX is not optimised (-G), which finds the same mistakes in a quarter of the time.
    """
    from cupy_backends.cuda.libs import nvrtc as compiler

    supported = compiler.getSupportedArchs()
    if int(architecture.partition("_")[2]) not in supported:
        pytest.skip(f"NVRTC {compiler.getVersion()} knows no {architecture}, only {supported}")
    machine = architecture.startswith("sm_")
    code, _ = nvrtc._compile(header, architecture, names, () if machine else ("-G",), text)
    assert code.startswith(b"\x7fELF") if machine else code.count(b".entry") >= len(set(names))


@compiles
@pytest.mark.sampled
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("header", HEADERS)
def test_kernels_compile(header: str, architecture: str) -> None:
    # Types do not change what an architecture must support: one instance of each kernel is enough.
    names = instances().get(header, [])
    wide = [name for name in names if "long long" in name]
    if architecture == OLDEST:
        names = [name for name in names if name not in wide]
    elif architecture == NEWEST:
        names = wide or names[:1]
    check_compiled(header, architecture, names)


@compiles
def test_hiragushis_pull_reads_by_the_read_only_cache_and_shares_one_array() -> None:
    """Section 3.4: every read of memory goes through that cache; vertices and updates have one array of words."""
    code, _ = nvrtc._compile("steps/pull.cuh", OLDEST, ["hopwave::steps::pull_compacted<int>"])
    assert set(re.findall(r"ld\.(?:volatile\.)?global[.\w]*", code.decode())) == {"ld.global.nc.u32"}
    arrays = sorted(int(size) for size in re.findall(r"\.shared .*\[(\d+)\];", code.decode()))
    assert arrays[-1] == 4 * 4 * 256 and sum(arrays[:-1]) < 128  # the others are a scan's and a sum's


@compiles
def test_every_kernel_is_an_instance_of_some_step() -> None:
    """A __global__ function that no step uses would never be compiled, and so never be tested."""
    from hopwave.engines.cuda.linalg import semiring_source, waves

    names = [name for some in instances().values() for name in some]
    names += [name for file in (semiring_source, waves) for _, name in file.instances("int")]
    names += [name for some in semiring_source.array_instances() for name in some]
    used = {name.partition("<")[0] for name in names}
    for header in HEADERS:
        text = (nvrtc.KERNELS / header).read_text()
        written = re.findall(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(", text)
        unused = {nvrtc.qualified(header, name) for name in written} - used
        assert not unused, f"{header}: no step uses {sorted(unused)}"


@compiles
@pytest.mark.parametrize("offset", ["int", "long long"])
def test_what_is_compiled_ahead_is_what_there_is(offset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling a name that no template has would fail silently."""
    from hopwave.engines.cuda import launch, many
    from hopwave.engines.cuda.betweenness import batch, block, wide
    from hopwave.engines.cuda.search import one_launch

    begun: list[tuple[str, str]] = []
    monkeypatch.setattr(nvrtc, "begin", lambda header, names: begun.extend((header, name) for name in names))
    monkeypatch.setattr(launch.Device, "__init__", lambda self: setattr(self, "blocks", 1))  # no GPU is needed
    there = launch.Kernels(offset)
    for module in (many, one_launch):
        monkeypatch.setattr(module, "kernels", lambda offset: there)
    for sources in (1, 100, 1000):
        many.begin(offset, sources)
    for n in (34, 1 << 24):
        one_launch.begin(offset, n, SearchJob(path_counts=True))
    for header, groups in launch.TOGETHER.items():
        for group in groups:
            there.begin(header, group)
    for edges in (False, True):
        loaded = SimpleNamespace(on_device=SimpleNamespace(offset=offset), directed=edges)
        block.begin(loaded, SimpleNamespace(edges=edges), True)
        batch.begin(edges)
    wide.begin(offset)
    assert len(begun) > 40
    assert not {name for header, name in begun if name not in instances()[header]}


@pytest.mark.parametrize(
    "words", ["Push.output", "Push.claim", "Pull.rows", "Pull.operand", "Pull.balance", "Push.mapping Pull.mapping"]
)
def test_words_of_a_plan_are_enumerators(words: str) -> None:
    expected, name = set(), ""
    for word in words.split():
        record, _, name = word.partition(".")
        expected |= set(get_args(get_type_hints({"Push": Push, "Pull": Pull}[record])[name]))
    text = (nvrtc.KERNELS / "steps/gather.cuh").read_text()
    found = re.search(rf"enum class {name.title()} \{{([^}}]*)\}}", text)
    assert found and {word.strip().removesuffix("_") for word in found[1].split(",")} == expected


@compiles
@pytest.mark.parametrize("plan", SEARCHES, ids=str)
def test_every_published_plan_has_kernels(plan: Plan) -> None:
    from hopwave.engines.cuda.search.steps import kind_of, why_not

    assert why_not(plan) is None
    assert all(kind_of(step) is not None for step in plan.steps)


@compiles
@pytest.mark.parametrize(
    "steps",
    [
        (Push("edge", "queue"),),
        (Push("merge", "scan", "benign"),),
        (Push("thread", "sort"),),
        (Push("thread", "queue", "benign"),),
        (Push("twc", "scan", "atomic"),),
        (Pull("warp", "compacted"),),
        (Pull("merge", "unvisited", early_exit=False),),
        (Pull("merge", "all"),),
        (Pull("merge", "compacted"),),
        (Pull("thread", "unvisited", asynchronous=True),),
        (Pull("thread", "compacted", early_exit=False),),
        (Pull("thread", "compacted", "visited", balance="warp"),),
        (Pull("thread"), Pull("thread", "compacted", asynchronous=True)),  # a look ahead beside bitmaps
    ],
    ids=repr,
)
def test_steps_without_a_kernel_are_refused(steps: tuple[Push | Pull, ...]) -> None:
    from hopwave.engines.cuda.search.steps import why_not

    reason = why_not(Plan("mine", "none", "none", "my own", steps, Always() if len(steps) == 1 else OneWay(0.1)))
    assert reason is not None and "'mine'" in reason and "device='cpu'" in reason


@compiles
def test_wrong_names_of_arguments_are_refused() -> None:
    from hopwave.engines.cuda.launch import check_names

    check_names("steps/state.cuh", "merge_bits", dict.fromkeys(("visited", "found", "words")))
    check_names("steps/state.cuh", "merge_bits", {"words": None}, 2)
    for wrong in (("found", "visited", "words"), ("visited", "found"), ("visited", "found", "n")):
        with pytest.raises(TypeError, match="has the parameters visited, found, words, not "):
            check_names("steps/state.cuh", "merge_bits", dict.fromkeys(wrong))


def test_the_hash_covers_every_header(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for header in HEADERS:
        (tmp_path / header).parent.mkdir(exist_ok=True)
        (tmp_path / header).write_bytes((nvrtc.KERNELS / header).read_bytes())
    before = nvrtc.sources_hash.__wrapped__()
    monkeypatch.setattr(nvrtc, "KERNELS", tmp_path)
    assert nvrtc.sources_hash.__wrapped__() == before
    for header in HEADERS:
        with (tmp_path / header).open("a") as file:
            file.write("// changed\n")
        after = nvrtc.sources_hash.__wrapped__()
        assert after != before
        before = after


@in_one_test("header", HEADERS)
def test_comments_are_wrapped(header: str) -> None:
    """clang-format wraps code but not comments."""
    for number, line in enumerate((nvrtc.KERNELS / header).read_text().splitlines(), 1):
        assert len(line) <= 120, f"{header}:{number} has {len(line)} characters"


# ---------------------------------------------------------------- structs and constants that Python and kernels share


@cache
def modules() -> list[Any]:
    return [importlib.import_module(found.name) for found in pkgutil.walk_packages(cuda.__path__, f"{cuda.__name__}.")]


def mirrors() -> list[records.Mirrored]:
    """Importing a module registers the structs that it mirrors."""
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


@pytest.fixture(scope="module")
def offsets() -> None:
    try:
        text = 'struct P { int a, b; }; static_assert(__builtin_offsetof(P, b) == 4, "");'
        nvrtc._compile("common/threads.cuh", "sm_90", [], text=text)
    except RuntimeError:
        pytest.skip("this NVRTC does not know __builtin_offsetof")


def check(mirrored: list[records.Mirrored]) -> None:
    texts = defaultdict(list)
    for mirror in mirrored:
        texts[mirror.header] += assertions(mirror)
    for header, lines in texts.items():
        nvrtc._compile(header, "sm_90", [], text="\n".join(lines))


@compiles
@pytest.mark.usefixtures("offsets")
def test_structs_have_one_layout_on_both_sides() -> None:
    check(mirrors())


@compiles
@pytest.mark.usefixtures("offsets")
@pytest.mark.parametrize("offset", OFFSETS)
def test_offsets_within_shared_memory(offset: str) -> None:
    """The team's kernels address shared memory by these constants (one_launch/team.cuh)."""
    frontier, team = f"FrontierShare<{offset}>", f"TeamScratch<{offset}>"
    fields = [(frontier, "begin"), (frontier, "length"), (frontier, "from"), (team, "found"), ("Size", "arcs")]
    lines = (
        f'static_assert(__builtin_offsetof({kind}, {field}) == {kind}::{field.upper()}_AT, "{field}");'
        for kind, field in ((f"hopwave::one_launch::{struct}", field) for struct, field in fields)
    )
    nvrtc._compile("one_launch/team.cuh", "sm_90", [], text="\n".join(lines))


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
        (mirror.header.split("/")[0], mirror.struct): mirror.dtype.itemsize
        - sum(kind.itemsize for kind, *_ in (mirror.dtype.fields or {}).values())
        for mirror in mirrors()
    }
    for partly_known in (("one_launch", "Counters"), ("many", "Counters"), ("shortest_paths", "Counters")):
        assert gaps.pop(partly_known) > 0
    assert gaps.pop(("betweenness", "Board")) == 128 - 44  # aligned to 128 bytes
    assert gaps.pop(("common", "PathBoard")) == 128 - 64
    assert not any(gaps.values()), gaps


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
    ("steps/gather.cuh", COUNTERS, "search.by_level", None),
    ("one_launch/state.cuh", "THREADS TRACE_COLUMNS", "search.workspace", "BLOCK TRACE_COLUMNS"),
    ("betweenness/weighted.cuh", "TOO_MANY CYCLE", "betweenness.weighted", None),
    ("shortest_paths/state.cuh", "THREADS TRACE_COLUMNS", "shortest_paths", None),
    ("many/search.cuh", "SUMS COLUMNS ROWS PAIRS", "many", None),
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
    nvrtc._compile(header, "sm_90", [], text="\n".join(lines))


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
