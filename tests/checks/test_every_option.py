"""Checks of every public function at once: impossible options and misspelt keywords. Single calls: tests/rejections."""

import inspect
import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice, product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hopwave as hw
from every_call import MORE, graph_of, plain
from every_call import functions as every_function
from hopwave import Graph, datasets, generate
from hopwave.api.memory_estimate import OPTIONS
from hopwave.checks.keywords import suggesting
from hopwave.results.tables import Tabled
from public_calls import MATRIX, SQUARE, VECTOR, functions, options, required
from together import in_one_test

RING = generate.cycle(4, directed=True)
EMPTY, SMALL = Graph.from_edges([], [], n=0), SQUARE.with_weights(np.full(8, 5e-324))
TWO = np.array([1, 0])
BAD_FLAGS = ("no", "", 2, float("nan"), TWO, [True], np.ma.masked)
BAD_WORDS = ("misspelt", 3, TWO, ["cpu"], None)
BAD_THREADS = ("2", "", 2.5, 2.0, True, 0, -1, TWO, [2], float("nan"), float("inf"), np.ma.masked)
WORDS = ("device", "direction", "interval", "method", "plan", "repeats", "combine")
NONE_IS_KNOWN = {"combine"}


def cases() -> Iterator[Any]:
    """Every option of every function that is a flag, one of several words, or a number of threads."""
    for _, function in functions():
        for option in inspect.signature(function).parameters.values():
            kind = str(option.annotation)
            if option.name == "threads":
                values: tuple[Any, ...] = BAD_THREADS
            elif kind in ("bool", "bool | None"):
                values = BAD_FLAGS
            elif option.name in WORDS:
                values = tuple(v for v in BAD_WORDS if v is not None or option.name not in NONE_IS_KNOWN)
            else:
                continue
            yield function, option.name, values


@in_one_test(("function", "option", "values"), cases())
def test_a_value_that_it_cannot_have(function: Callable[..., Any], option: str, values: tuple[Any, ...]) -> None:
    """hopwave's own error names the value and a remedy; no guess, and no error from NumPy."""
    given = required(function)
    if option == "complement":
        given["mask"] = VECTOR
    if function is hw.estimate_memory and option == "directed":
        given |= {"G": (3, 4), "what": "from_edges"}
    if "strong" in function.__name__ or "weak" in function.__name__:
        given["G"] = RING
    for value in values:
        with pytest.raises(hw.HopwaveError) as error:
            found = function(**given | {option: value})
            list(found) if hasattr(found, "__next__") else None
        assert "; " in str(error.value) or " use " in str(error.value), error.value


VERTICES = ("source", "target", "vertex", "sources", "group", "facilities", "pairs")
ASKED = [
    pytest.param(one, {}, id=name) for name, one in functions() if "G" in options(one) and "what" not in options(one)
]
ASKED += [pytest.param(hw.estimate_memory, {"what": what}, id=f"memory of {what}") for what in [*OPTIONS][:-1]]


def by_position(answer: Any, names: list[str]) -> Any:
    """An answer in which positions stand for the vertices with these names."""
    if isinstance(answer, dict | np.ndarray):
        answer = [*answer.items()] if isinstance(answer, dict) else answer.tolist()
    if (text := repr(answer)) in names:
        return repr(names.index(text))
    several = isinstance(answer, list | tuple | set) or hasattr(answer, "__next__")
    return [by_position(one, names) for one in answer] if several else plain(answer)


@pytest.mark.parametrize(("function", "more"), ASKED)
def test_labels_change_no_answer(function: Callable[..., Any], more: dict[str, Any]) -> None:
    """Of every public function, on graphs whose labels are text, tuples and large numbers."""
    G = graph_of(function, 60)
    given = required(function) | MORE.get(f"hopwave.{function.__name__}", {}) | more | {"G": G}
    sizes = {"distances": np.zeros(60, np.int32), "communities": np.arange(60) % 2}
    given |= {name: value for name, value in sizes.items() if name in given}
    given |= {"seed": 1} if "seed" in options(function) else {}

    def named(vertices: Any, names: list[Any]) -> Any:
        return names[vertices] if isinstance(vertices, int) else [named(one, names) for one in vertices]

    expected = by_position(function(**given), [])
    words = ["vertex", "source", "score", "distance", "nan", *(f"v{v}" for v in range(55))]
    for names in (words, [(v, str(v)) for v in range(60)], [2**70 + v for v in range(60)]):
        chosen = {name: named(given[name], names) for name in VERTICES if name in given}
        found = function(**given | chosen | {"G": G.relabel(names)})
        assert by_position(found, [*map(repr, names)]) == expected
        for one in found if type(found) is hw.HubsAndAuthorities else [found]:
            if names is not words or not isinstance(one, Tabled):
                continue
            titles = [*one._names(), *one._columns()]
            assert titles == list(dict.fromkeys(titles)) == one.to_polars().columns == pa.table(one).column_names


HUGE, TINY = np.longdouble("1e4000"), 5e-324
ODD: list[Any] = [
    10**400, -(10**400), 10**5000, 2**63, -0.0, TINY, 1e308, float("nan"), float("inf"), np.float16(1), HUGE, None,
    np.uint64(2**63), np.int8(1), np.complex64(1), np.timedelta64(1, "s"), np.datetime64("NaT", "s"), object(), {}, [],
    np.ma.masked, np.array([]), np.empty((0, 2)), np.array(1.0), [[1], [1, 2]], {0: 10**400}, [10**400], "", [10**5000],
    *(np.full(size, value) for size in (4, 8) for value in (TINY, 1e300, HUGE, np.nan, 1j)), [10**400] * 4,
]  # fmt: skip
LEFT_ALONE = {"dtype", "progress", "executor", "out", "checkpoint"}  # DeprecationWarnings of NumPy; not numbers


@pytest.mark.parametrize(("name", "function"), [*every_function()])
def test_odd_values_raise_no_foreign_errors(name: str, function: Callable[..., Any]) -> None:
    """Every option of every public function: an answer or hopwave's own error, and no warning of NumPy."""
    given = required(function) | MORE.get(name, {})
    graphs = [SQUARE, EMPTY, SMALL] if "G" in given and name != "hopwave.validate" else [given.get("G")]
    for option in options(function).keys() - LEFT_ALONE:
        for graph, value in product(graphs, ODD):
            chosen = deepcopy(given, {id(kept): kept for kept in (SQUARE, MATRIX)}) | ({"G": graph} if graph else {})
            try:
                found = function(**chosen | {option: value})
                repr([*islice(found, 5)] if hasattr(found, "__next__") else found)
            except (hw.HopwaveError, hw.IgnoredWeightsWarning, hw.SparseIdsWarning):
                continue
            except Exception as error:
                error.add_note(f"{name} of {graph} with {option}={value!r:.80}")
                raise


def test_lengths_near_zero() -> None:
    """Scores beyond float64 are infinite, without a warning."""
    for ask, k in product((hw.harmonic_centrality, hw.closeness_centrality), (None, 2, 3)):
        assert np.isinf(ask(SMALL, weights=True, k=k, seed=1).scores).all()
    assert hw.isochrone(SMALL, 0, 1).arcs().fraction.tolist() == [1.0] * 8
    assert hw.modularity(SMALL, [[0, 1], [2, 3]]) == hw.modularity(SQUARE, [[0, 1], [2, 3]]) == 0.0


@pytest.mark.parametrize("value", [1, 0, np.True_, np.False_, np.int8(1), 1.0])
def test_numbers_and_bools_of_numpy_are_flags(value: Any) -> None:
    assert Graph.from_edges([0], [1], directed=value).directed is bool(value)
    scores = [hw.betweenness_centrality(SQUARE, normalized=flag).scores.tolist() for flag in (value, bool(value))]
    assert scores[0] == scores[1]
    assert (hw.bfs(SQUARE, 0, path_counts=value, device="cpu").path_counts is not None) is bool(value)


@in_one_test(("name", "function"), [*functions(), ("read", hw.read), ("load", datasets.load)])
def test_a_misspelt_argument(name: str, function: Any) -> None:
    """Every public function suggests its own argument for one with a letter too many."""
    own = [
        one for one, about in options(function).items() if about.kind not in (about.VAR_KEYWORD, about.VAR_POSITIONAL)
    ]
    known = next((one for one in reversed(own) if one.lower() == one and len(one) > 2), None)
    if known is None or name == "read":
        return
    short = name.rpartition(".")[2]
    with pytest.raises(TypeError, match=rf"{short}\(\) has no argument '{known}z'; did you mean {known}=\?"):
        function(**{f"{known}z": 1})


@in_one_test("kind", [one for one in hw.__all__ if inspect.isclass(getattr(hw, one))])
def test_a_misspelt_argument_of_a_method(kind: str) -> None:
    """Of graphs, results and traces."""
    for name, method in inspect.getmembers(getattr(hw, kind), inspect.isfunction):
        known = [one for one, about in options(method).items() if about.default is not about.empty]
        if known and not name.startswith("_") and method.__module__.startswith("hopwave"):
            with pytest.raises(TypeError, match=rf"{name}\(\) has no argument '{known[-1]}z'; did you mean "):
                method(None, **{f"{known[-1]}z": 1})


def test_other_errors_are_not_touched() -> None:
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        suggesting(lambda **options: list(options["x"]))(x=1)


def test_public_functions_can_be_pickled() -> None:
    for function in (hw.bfs, hw.read, generate.grid, hw.linalg.mxv):
        assert pickle.loads(pickle.dumps(function)) is function
