"""The kernels, without a GPU: they compile for every architecture we name, and every word of a plan has a kernel."""

from __future__ import annotations

import importlib.util
import os
import re
from functools import cache
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import pytest

from hopwave.engines.cuda import nvrtc
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push

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
    more = () if architecture.startswith("sm_") else ("-G",)
    code = nvrtc.compile_only(header, architecture, names, more, text)
    if architecture.startswith("sm_"):
        assert code.startswith(b"\x7fELF")
    else:
        assert code.count(b".entry") >= len(set(names))


@compiles
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
def test_a_kernel_that_does_not_compile_says_so() -> None:
    with pytest.raises(RuntimeError, match="no_such_kernel"):
        nvrtc.compile_only("common/threads.cuh", "sm_90", ["hopwave::no_such_kernel<int>"])


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


def enumerators(name: str) -> set[str]:
    text = (nvrtc.KERNELS / "steps/report.cuh").read_text()
    found = re.search(rf"enum class {name} \{{([^}}]*)\}}", text)
    assert found, f"steps/report.cuh has no enum class {name}"
    return {word.strip().removesuffix("_") for word in found[1].split(",")}


@pytest.mark.parametrize(
    ("record", "field"),
    [(Push, "output"), (Push, "claim"), (Pull, "rows"), (Pull, "operand"), (Pull, "balance")],
)
def test_words_of_a_plan_are_enumerators(record: Any, field: str) -> None:
    assert enumerators(field.title()) == set(get_args(get_type_hints(record)[field]))


def test_mappings_of_a_plan_are_enumerators() -> None:
    pushes, pulls = (set(get_args(get_type_hints(record)["mapping"])) for record in (Push, Pull))
    assert enumerators("Mapping") == pushes | pulls


@compiles
@pytest.mark.parametrize("plan", SEARCHES, ids=str)
def test_every_published_plan_has_kernels(plan: Plan) -> None:
    from hopwave.engines.cuda.search.steps import kind_of, why_not

    assert why_not(plan) is None
    assert all(kind_of(step) is not None for step in plan.steps)


@compiles
@pytest.mark.parametrize(
    "step",
    [
        Push("edge", "queue"),
        Push("merge", "scan", "benign"),
        Push("thread", "sort"),
        Push("thread", "queue", "benign"),
        Push("twc", "scan", "atomic"),
        Pull("warp", "compacted"),
        Pull("merge", "unvisited", early_exit=False),
        Pull("merge", "all"),
        Pull("merge", "compacted"),
        Pull("thread", "unvisited", asynchronous=True),
        Pull("thread", "compacted", early_exit=False),
        Pull("thread", "compacted", "visited", balance="warp"),
    ],
    ids=repr,
)
def test_steps_without_a_kernel_are_refused(step: Push | Pull) -> None:
    from hopwave.engines.cuda.search.steps import why_not
    from hopwave.planning.rules import Always

    reason = why_not(Plan("mine", "none", "none", "a step of my own", (step,), Always()))
    assert reason is not None and "'mine'" in reason and "device='cpu'" in reason


@compiles
def test_a_look_ahead_beside_bitmaps_is_refused() -> None:
    from hopwave.engines.cuda.search.steps import why_not
    from hopwave.planning.rules import OneWay

    ahead = Pull("thread", "compacted", asynchronous=True)
    reason = why_not(Plan("mine", "none", "none", "mixed", (Pull("thread"), ahead), OneWay(0.1)))
    assert reason is not None and "asynchronous" in reason


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


@pytest.mark.parametrize("header", HEADERS)
def test_comments_are_wrapped(header: str) -> None:
    """clang-format wraps code but not comments."""
    for number, line in enumerate((nvrtc.KERNELS / header).read_text().splitlines(), 1):
        assert len(line) <= 120, f"{header}:{number} has {len(line)} characters"
