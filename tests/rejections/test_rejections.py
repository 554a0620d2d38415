"""One table of rejections: a call, the class of its error, and a key word of the message.

How to add a row. Each room of src/hopwave has a file here (api.py, graph.py, io.py, …) with one list, ROWS:

    (lambda: hw.bfs(PATH, -1), GraphError, "is not a vertex"),
    *each(lambda x: hw.bfs(PATH, 0, device=x), ["gpu", None, 0], EngineError, "is not known"),
    (lambda device: hw.sssp(PATH, 0, limit=-1, device=device), GraphError, "is not a length"),
    (lambda tmp: hw.read(file(tmp, "a.mtx", "%%no")), FormatError, "banner"),
    (lambda patch: (patch.setattr(memory, "LIMIT", 0), hw.bfs(PATH, 0)), EngineError, "memory"),

The word is looked for as it is: take what a reader needs to mend the call, such as the option's name. A parameter
without a default asks for something: `device` runs the row on the CPU, on the reference, and on a GPU if there is one;
`tmp` is a new folder, `patch` a pytest.MonkeyPatch. GPU_ROWS are rows that need a GPU. Call public functions by their
module (hw.bfs, la.mxv, generate.grid): a function that no row names fails the last test.
"""

import importlib
import inspect
import linecache
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import public_calls
import rejections
from hopwave import HopwaveError

ROOMS = sorted(name for _, name, _ in pkgutil.iter_modules(rejections.__path__) if not name.startswith("test_"))
EVERYWHERE = ("cpu", "reference")
# Functions without an argument that could be wrong.
NEVER_REJECT = {
    "hw.plans", "hw.devices", "hw.formats", "generate.generators", "datasets.names", "datasets.published",
    "datasets.cache_folder",
}  # fmt: skip


def rows(room: str, which: str = "ROWS") -> list[rejections.Row]:
    """The rows of one file."""
    found: list[rejections.Row] = getattr(importlib.import_module(f"rejections.{room}"), which, [])
    return found


def needs(call: Any) -> list[str]:
    """What a row asks for."""
    given = inspect.signature(call).parameters.values()
    return [one.name for one in given if one.default is one.empty and one.kind is not one.VAR_KEYWORD]


def why_wrong(row: rejections.Row, folder: Path, device: str) -> str | None:
    """What is wrong with the outcome of a call; None if it is rejected as the row says."""
    call, kind, word = row
    with pytest.MonkeyPatch.context() as patch:
        offered = {"device": device, "tmp": folder, "patch": patch}
        try:
            returned = call(**{name: offered[name] for name in needs(call)})
            inspect.isgenerator(returned) and next(returned)
        except BaseException as error:
            message = str(error)
            if not isinstance(error, kind):
                return f"raised {type(error).__name__}: {message}, expected {kind.__name__}"
            if isinstance(error, HopwaveError) and ("\n" in message or message.endswith(".")):
                return f"has a message of several lines or with a full stop: {message}"
            return None if word in message else f"has no {word!r} in its message: {message}"
    return f"was accepted, and returned {returned!r:.80}"


def place(call: Any) -> str:
    """File, line and text of a row."""
    value = f" with {call.args[0]!r:.60}" if isinstance(call, partial) else ""
    code = (call.func if isinstance(call, partial) else call).__code__
    text = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return f"rejections/{Path(code.co_filename).name}:{code.co_firstlineno}: {text}{value}"


def run(room: str, which: str, devices: tuple[str, ...], root: Path) -> None:
    """Try all rows, and name every one that is wrong."""
    wrong = []
    for number, row in enumerate(rows(room, which)):
        for device in devices if "device" in needs(row[0]) else devices[:1]:
            folder = root / f"{number}-{device}"
            if "tmp" in needs(row[0]):
                folder.mkdir()
            if said := why_wrong(row, folder, device):
                wrong.append(f"{place(row[0])}\n    on {device}: {said}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("room", ROOMS)
def test_rejections(room: str, tmp_path: Path) -> None:
    run(room, "ROWS", EVERYWHERE, tmp_path)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("room", ROOMS)
def test_rejections_on_a_gpu(room: str, tmp_path: Path) -> None:
    run(room, "GPU_ROWS", ("cuda",), tmp_path)
    on_devices = [row for row in rows(room) if "device" in needs(row[0])]
    wrong = [f"{place(row[0])}\n    {said}" for row in on_devices if (said := why_wrong(row, tmp_path, "cuda"))]
    assert not wrong, "\n".join(wrong)


def unnamed() -> Iterator[str]:
    """Public functions that no row names."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("[!_t]*.py"))
    for name, called in public_calls.callables():
        if called not in NEVER_REJECT and not re.search(rf"(?<![\w.]){called}\b", text):
            row = f'(lambda: {called}(…), GraphError, "word of the message")'
            yield f"{name} has no row; add one to ROWS of its room in tests/rejections, such as {row}"


def test_every_public_function_has_a_row() -> None:
    missing = list(unnamed())
    assert not missing, "\n".join(missing)
