"""Products on the GPU, tested without one: semirings become C++; users' functions are translated or refused."""

import ctypes
import math
import shutil
import subprocess
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from test_kernels import ARCHITECTURES, NEWEST, OLDEST, check_compiled, compiles

from hopwave import EngineError
from hopwave import linalg as la
from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.linalg.translate import translated
from hopwave.linalg.products import arithmetic

OWN = la.Semiring.define("own", lambda x, y: max(x, y), lambda x, y: x // y if y else math.sqrt(x * x), identity=0)
RINGS: list[tuple[str, la.Semiring, str | None, str, str, str]] = [  # kernels, ring, types of A and x, GPU, offsets
    ("products", la.semiring.plus_times, "float64", "float64", OLDEST, "int"),
    ("products", la.semiring.plus_times, "float64", "float64", NEWEST, "int"),
    ("products", la.semiring.any_secondi, None, "bool", NEWEST, "int"),
    ("products", la.semiring.or_and, "bool", "float32", NEWEST, "int"),
    ("products", la.semiring.min_plus, "int64", "int32", NEWEST, "long long"),
    ("products", OWN, "int32", "float32", NEWEST, "int"),
    *(("waves", la.semiring.any_pair, None, "bool", architecture, "int") for architecture in ARCHITECTURES),
    ("waves", la.semiring.any_secondi, None, "int32", NEWEST, "long long"),
    ("waves", la.semiring.any_first, None, "float64", NEWEST, "int"),
    *(("sum_levels", la.semiring.plus_first, None, "int64", architecture, "int") for architecture in ARCHITECTURES),
    ("sum_levels", la.semiring.min_plus, "float32", "float64", NEWEST, "long long"),
    ("sum_levels", la.semiring.or_and, "bool", "bool", NEWEST, "int"),
]


@compiles
@pytest.mark.parametrize("kernel, ring, a, x, architecture, offset", RINGS, ids=str)
def test_a_semiring_compiles(
    kernel: str, ring: la.Semiring, a: str | None, x: str, architecture: str, offset: str
) -> None:
    from hopwave.engines.cuda.linalg import semiring_source, waves
    from hopwave.linalg.fixpoint import settled

    A = la.Matrix.from_dense(np.eye(2))
    matrix = A.pattern() if a is None else A.astype(a)
    if kernel == "products":
        product = arithmetic(ring, matrix, np.dtype(x), False, None, True, True)
        text, wanted = semiring_source.ring_text(product, matrix.dtype, np.dtype(x), a is None), "hopwave"
    else:
        product = settled(ring, matrix, np.dtype(x), None)
        text = semiring_source.ring_text(product, matrix.dtype, product.dtype, a is None)
        wanted = nvrtc.qualified(waves.HEADER, kernel)
    names = defaultdict(list)
    for header, name in (semiring_source if kernel == "products" else waves).instances(offset):
        if name.startswith(wanted):
            names[header].append(name)
    assert names
    for header, some in names.items():
        check_compiled(header, architecture, some, text=text)


@compiles
def test_operators_on_arrays_and_hubs_of_rows_compile() -> None:
    from hopwave.engines.cuda.linalg.semiring_source import array_instances, binary_text, monoid_text, unary_text
    from hopwave.engines.cuda.linalg.waves import HEADER

    kinds = np.dtype(np.int32), np.dtype(np.float64)
    halved = la.UnaryOp.define("halved", lambda x: x / 2 if x > 1 else x % 3)
    (sums, at, two, ordered, one), of_types = array_instances()
    for names, text in (
        ([sums, at], monoid_text(la.binary.max, *kinds)),
        ([two, ordered], binary_text(la.binary.minus, kinds[1], kinds[0], kinds[1])),
        ([one], unary_text(halved, *kinds)),
        ([one], unary_text(la.unary.isfinite, kinds[1], np.dtype(np.bool_))),
        (of_types, ""),
    ):
        check_compiled("linalg/arrays.cuh", NEWEST, names, text=text)
    check_compiled(HEADER, NEWEST, [nvrtc.qualified(HEADER, f"fullest<{kind}>") for kind in ("int", "long long")])


# ---------------------------------------------------------------- users' functions


def helper(a: Any) -> Any:
    return a % 7


def with_a_loop(x: Any, y: Any) -> Any:
    total = 0
    for power in range(3):
        total += helper(x) ** power if y > power else -y
    return total


FUNCTIONS = [
    ("ii", lambda x, y: min(x, y, 3) + max(x, 2)),
    ("ii", lambda x, y: x // y + x % y if y else -1),
    ("ii", with_a_loop),
    ("ii", lambda x, y: (x & y) | (x ^ 5) if x > 0 and y > 0 else x << 2),
    ("ff", lambda x, y: math.sqrt(abs(x)) * np.exp(-(y**2)) if x != y else float("inf")),
    ("ff", lambda x, y: int(x) + math.floor(y) - math.ceil(x / 2)),
    ("fi", lambda x, y: x**y if y >= 0 else x / y),
    ("bi", lambda x, y: bool(y) != x),
    ("if", lambda x, y: float("nan") if math.isnan(y) else x * 0.1),
]
SAMPLES = {"b": (False, True), "i": (-7, -1, 0, 1, 2, 9), "f": (-2.5, 0.0, 0.75, 3.0, 8.25)}
WRITTEN = {"b": "bool", "i": "long long", "f": "double"}


@pytest.fixture(scope="module")
def compiled_by_the_host(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The translated functions, compiled by the host's compiler into a library."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ here to compile the translations with")
    folder = tmp_path_factory.mktemp("functions")
    lines = [
        "#include <cmath>\n#include <cstring>\n#define __device__\nusing namespace std;",
        f'#include "{nvrtc.KERNELS / "linalg/python.cuh"}"',
    ]
    for number, (kinds, function) in enumerate(FUNCTIONS):
        expression, _ = translated("function", function, kinds)
        arguments = ", ".join(f"{WRITTEN[kind]} {letter}" for kind, letter in zip(kinds, "xy", strict=True))
        lines.append(f'extern "C" double function_{number}({arguments}) {{ return (double)({expression}); }}')
    source = folder / "functions.cpp"
    source.write_text("\n".join(lines))
    library = folder / "functions.so"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", source, "-o", library], check=True, capture_output=True)
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_translations_compute_the_same(compiled_by_the_host: Any, number: int) -> None:
    kinds, function = FUNCTIONS[number]
    types = {"b": ctypes.c_bool, "i": ctypes.c_longlong, "f": ctypes.c_double}
    there = getattr(compiled_by_the_host, f"function_{number}")
    there.argtypes, there.restype = [types[kind] for kind in kinds], ctypes.c_double
    for x in SAMPLES[kinds[0]]:
        for y in SAMPLES[kinds[1]]:
            try:
                right = float(function(x, y))
            except (ArithmeticError, ValueError):  # an error in Python gives some number in C++
                continue
            found = there(x, y)
            assert found == pytest.approx(right, rel=1e-14, nan_ok=True), (x, y)


@pytest.mark.parametrize(
    ("kinds", "function", "kind"),
    [
        ("i", lambda x: x > 2, "b"),
        ("i", lambda x: x / 2, "f"),
        ("i", lambda x: x // 2, "i"),
        ("f", lambda x: 1 if x else 0, "i"),
        ("b", lambda x: x + x, "i"),
    ],
)
def test_the_kind_of_a_result(kinds: str, function: Any, kind: str) -> None:
    assert translated("function", function, kinds)[1] == kind


def endless(x: Any) -> Any:
    while x > 0:
        x -= 1
    return x


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (endless, "paths"),
        (lambda x: [1, 2, 3][x], "TypeError"),
        (lambda x: "a word", "not a number"),
        (lambda x: math.gamma(x), "TypeError"),
        (lambda x: x + 2**70, "64 bits"),
    ],
)
def test_what_cannot_be_translated_is_refused(function: Any, reason: str) -> None:
    with pytest.raises(EngineError, match=rf"'mine' cannot be translated.*{reason}.*device='cpu'"):
        translated("mine", function, "i")
