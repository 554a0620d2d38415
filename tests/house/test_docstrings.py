"""Every public function documents its parameters, its result and its own errors, and has an example."""

import importlib
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Any

from docs.site import reference

import hopwave.generate
from hopwave import errors

# A sentence that stands in more sections "Raises" than this belongs to docs/reference.md, which says it once.
REPEATED_AT_MOST = 5


def public_functions() -> dict[str, Any]:
    """Full name → function."""
    found = {}
    for group in reference.GROUPS:
        for name in group.names:
            member = getattr(importlib.import_module(group.module), name)
            if inspect.isroutine(member):
                found[f"{group.module}.{name}"] = member
    return found


FUNCTIONS = public_functions()


def sections(text: str) -> dict[str, str]:
    """The sections of a numpydoc docstring: title → text.

    >>> sections("What it does.\\n\\nReturns\\n-------\\nint\\n")
    {'Returns': 'int\\n'}
    """
    parts = re.split(r"^([A-Z][\w ]+)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text: str) -> set[str]:
    """The names that a section of parameters describes.

    >>> sorted(described("G : Graph\\n    The graph.\\ndevice, threads\\n    See `bfs`.\\n**options\\n    More.\\n"))
    ['G', 'device', 'options', 'threads']
    """
    heads = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: :.*)?$", text, re.MULTILINE)
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def test_there_are_functions_to_look_at() -> None:
    assert len(FUNCTIONS) >= 110 and {"hopwave.bfs", "hopwave.linalg.mxv", "hopwave.distributed.bfs"} <= set(FUNCTIONS)


def test_the_reference_lists_every_public_name_once() -> None:
    listed = [f"{group.module}.{name}" for group in reference.GROUPS for name in group.names]
    wrong = {name for name in listed if listed.count(name) > 1} | (set(listed) ^ reference.public_names())
    assert not wrong, f"list {wrong} in exactly one group of docs/site/reference.py, then run `make docs`"


def test_docstrings_are_complete() -> None:
    for name, function in FUNCTIONS.items():
        found, signature = sections(inspect.getdoc(function) or ""), inspect.signature(function)
        wanted = {"Examples", *(["Parameters"] if signature.parameters else [])}
        if signature.return_annotation in ("Any", inspect.Signature.empty):
            wanted.add("Returns")  # the signature does not say what is returned
        assert not (lacking := wanted - set(found)), f"add the sections {lacking} to the docstring of {name}"
        missing = set(signature.parameters) - described(found.get("Parameters", ""))
        assert not missing, f"describe {missing} in the section Parameters of the docstring of {name}"
        repeats = "Returns" in found and "Returns" not in wanted and "\n    " not in found["Returns"]
        assert not repeats, f"leave out the section Returns of {name}: it repeats the annotation"


def raised(function: Any) -> list[tuple[str, str]]:
    """What the section "Raises" says: the error, and when."""
    text = sections(inspect.getdoc(function) or "").get("Raises", "")
    entries = re.findall(r"^(\w+)\n((?:    .*\n?)+)", text, re.MULTILINE)
    return [(error, " ".join(when.split())) for error, when in entries]


def test_raises_names_errors_of_hopwave_and_repeats_no_common_sentence() -> None:
    entries = [entry for function in FUNCTIONS.values() for entry in raised(function)]
    assert len(entries) >= 30
    for error, when in entries:
        assert issubclass(getattr(errors, error), errors.HopwaveError) and when.endswith((".", ")"))
    assert all(times <= REPEATED_AT_MOST for times in Counter(entries).values()), Counter(entries).most_common(3)


def test_the_reference_names_the_errors_of_every_function() -> None:
    page = (Path(__file__).parents[2] / "docs/reference.md").read_text()
    common = page.partition("## What every function raises")[2]
    assert {"GraphError", "LinalgError", "EngineError"} <= set(re.findall(r"^\| `(\w+)` \|", common, re.MULTILINE))


def test_shared_options_are_described_once() -> None:
    """`described` adds a line for each of them: the page that the line names describes every one."""
    from hopwave.api import options
    from hopwave.checks.keywords import SHARED

    def parameters(name: str) -> str:
        return sections(inspect.getdoc(FUNCTIONS[name]) or "")["Parameters"]

    pages = {
        "hopwave.api.": options.__doc__,
        "hopwave.linalg.": parameters("hopwave.linalg.mxv"),
        "hopwave.linalg.algorithms.": parameters("hopwave.linalg.bfs"),
        "hopwave.distributed.linalg.": parameters("hopwave.linalg.mxv"),
        "hopwave.distributed.": parameters("hopwave.distributed.from_edges"),
        "hopwave.generate.": hopwave.generate.__doc__,
    }
    for home, (names, _) in SHARED.items():
        assert set(names.split()) <= described(pages[home] or ""), home
    assert "device, progress, threads, executor\n" in (inspect.getdoc(FUNCTIONS["hopwave.diameter"]) or "")
