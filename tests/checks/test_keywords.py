"""A keyword that a public function does not have: the error names the one that was meant."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hopwave as hw
from hopwave import Graph, datasets, generate
from hopwave.checks.keywords import check_keywords, suggesting
from public_calls import functions, options

TABLE = {"origin": ["a", "b"], "dest": ["b", "c"], "year": ["x", "y"], "km": [3, 4]}


@pytest.mark.parametrize(("name", "function"), [*functions(), ("read", hw.read), ("load", datasets.load)])
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


@pytest.mark.parametrize("kind", [one for one in hw.__all__ if inspect.isclass(getattr(hw, one))])
def test_a_misspelt_argument_of_a_method(kind: str) -> None:
    """Of graphs, results and traces."""
    for name, method in inspect.getmembers(getattr(hw, kind), inspect.isfunction):
        known = [one for one, about in options(method).items() if about.default is not about.empty]
        if known and not name.startswith("_") and method.__module__.startswith("hopwave"):
            with pytest.raises(TypeError, match=rf"{name}\(\) has no argument '{known[-1]}z'; did you mean "):
                method(None, **{f"{known[-1]}z": 1})


def test_nothing_near() -> None:
    with pytest.raises(TypeError, match=r"star\(\) has no argument 'colour'; its arguments are n$"):
        generate.star(3, colour="red")  # type: ignore[call-arg]


def test_other_names_of_an_argument() -> None:
    for name in ("damping", "damping_factor"):
        with pytest.raises(TypeError, match=rf"pagerank\(\) has no argument '{name}'; did you mean alpha=\?"):
            hw.pagerank(generate.path(3), **{name: 0.9})  # type: ignore[arg-type]


def test_a_missing_argument_of_a_method_names_the_class_of_the_caller() -> None:
    graph: Any = generate.path(3)
    with pytest.raises(TypeError, match=r"^Graph\.degree\(\) missing 1 required positional argument: 'vertex'"):
        graph.degree()
    with pytest.raises(TypeError, match=r"^Graph\.from_edges\(\) missing 1 required"):
        type(graph).from_edges()
    with pytest.raises(TypeError, match=r"^Graph\.neighbors\(\) takes 2 positional arguments"):
        graph.neighbors(0, 1)


def test_other_errors_are_not_touched() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'source'"):
        hw.bfs(generate.path(3))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        suggesting(lambda **options: list(options["x"]))(x=1)


def test_public_functions_can_be_pickled() -> None:
    for function in (hw.bfs, hw.read, generate.grid, hw.linalg.mxv):
        assert pickle.loads(pickle.dumps(function)) is function


def test_options_of_a_format(tmp_path: Any) -> None:
    (tmp_path / "f.csv").write_text("source,target\n0,1\n")
    with pytest.raises(TypeError, match="direct= is not an option of the format 'table'; did you mean directed="):
        hw.read(tmp_path / "f.csv", direct=True)
    with pytest.raises(TypeError, match="delim= is not an option of the format 'table'; did you mean delimiter="):
        hw.read(tmp_path / "f.csv", delim=",")


def test_options_that_are_handed_on() -> None:
    """The error names the function that was called."""
    table = pd.DataFrame(TABLE)
    with pytest.raises(TypeError, match=r"Graph.from_pandas\(\) has no argument 'weights'; did you mean weight=\?"):
        Graph.from_pandas(table, "origin", "dest", weights="km")
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match=r"Graph.from_arrow\(\) has no argument 'direct'; did you mean directed=\?"):
        Graph.from_arrow(pa.table(TABLE), "origin", "dest", direct=True)
    with pytest.raises(TypeError, match=r"Graph.from_edge_index\(\) has no argument 'weight'; did you mean weights=\?"):
        Graph.from_edge_index(np.zeros((2, 1), int), weight=[1])
    with pytest.raises(TypeError, match=r"its arguments are layout, device"):
        check_keywords("spread", ["xyz"], ["layout", "device"])


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "nullable"])
def test_a_column_of_numbers_is_not_left_out_silently(kind: str) -> None:
    """As `read` does with a file; text is no weight."""
    tables = {"polars": ("polars", "DataFrame"), "arrow": ("pyarrow", "table")}
    library, name = tables.get(kind, ("pandas", "DataFrame"))
    made: Any = getattr(pytest.importorskip(library), name)(TABLE)
    if kind == "nullable":
        made = made.convert_dtypes()
    make = Graph.from_arrow if kind == "arrow" else Graph.from_pandas
    with pytest.warns(
        hw.IgnoredColumnWarning, match="column 'km' may be weights.*give weight='km' to read it, or weight="
    ):
        assert not make(made, "origin", "dest").is_weighted
    assert make(made, "origin", "dest", "km").weights.max() == 4
    assert not make(made, "origin", "dest", weight=False).is_weighted
    with pytest.raises(hw.GraphError, match="no column 'source'; name the ends of an edge with source= and target="):
        make(made)
