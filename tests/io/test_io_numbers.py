"""Numbers in files: read in linear time, and exactly or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hopwave as hw
from hopwave import FormatError
from hopwave.io.lines import NUMERIC

GRAPHML = (
    '<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">'
    '<node id="0"/><node id="1"/><edge source="0" target="1"><data key="w">%s</data></edge></graph></graphml>'
)
FILES = {
    "g.gml": "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight %s ] ]",
    "g.graphml": GRAPHML,
    "g.net": "*Vertices 2\n*Edges\n1 2 %s\n",
    "g.csv": "source,target,weight\n0,1,%s\n",
    "quoted.csv": 'source,target,weight\n"a","b",%s\n',
    "bare.csv": "0,1,%s\n",
    "g.txt": "# Weights: third column\n0 1 %s\n",
    "names.txt": "# Weights: third column\na b %s\n",
    "bare.txt": "0 1 %s\n",
    "g.mtx": "%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 %s\n",
    "g.gr": "p sp 2 1\na 1 2 %s\n",
    "g.wel": "0 1 %s\n",
}
READ = [name for name in FILES if not name.startswith("bare")]
# In each, a row of digits and then a character that no number has: 400 kB took minutes when every split was tried.
MALFORMED = {
    "digits": "1" * 400_000 + "x",
    "fraction": "1." + "1" * 400_000 + "x",
    "exponent": "1e" + "1" * 400_000 + "x",
    "two points": "1" * 200_000 + "." + "1" * 200_000 + ".",
    "spaces": "1" + " " * 400_000 + "x",
    "too large": "1" * 400_000,
}


@pytest.mark.parametrize("text", MALFORMED.values(), ids=MALFORMED)
def test_long_malformed_numbers_take_linear_time(tmp_path: Path, text: str) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content % text)
    (tmp_path / "blank.txt").write_text("\n" * 60_000 + "x")
    (tmp_path / "entity.gml").write_text(f'graph [ node [ id 0 label "&#{text};" ] ]')
    # In a new process, so that a reader that tries every split of the digits ends with the test.
    code = f"""if True:
        import pathlib, warnings
        import hopwave as hw
        warnings.simplefilter("ignore")
        for path in sorted(pathlib.Path({str(tmp_path)!r}).iterdir()):
            try:
                hw.read(path)
            except hw.FormatError:
                pass
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert not NUMERIC.fullmatch(text[:1000] + "x")


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("text", ["1e999", "-1e999", "9007199254740993", "1_000", "١", "nan", "x"])
def test_numbers_that_would_change_are_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(FILES[name] % text, encoding="utf-8")
    if name == "g.mtx" and text.lstrip("-").isdecimal() and text.isascii():  # its header declares real numbers
        assert hw.read(tmp_path / name).weights.tolist() == [float(text)]
        return
    with pytest.raises(FormatError):
        hw.read(tmp_path / name)


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    "text", ["9007199254740992", "1152921504606846976", "9007199254740993.0", "1e300", "-0.0", "00012"]
)
def test_numbers_that_float64_holds_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(FILES[name] % text)
    weights = hw.read(tmp_path / name).weights
    assert weights is not None and {repr(weight) for weight in weights.tolist()} == {repr(float(text))}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1&foo;2", "uses an entity"),
        ("1<x>2</x>3", "'weight' of the edge has elements in it"),
        ('1</data><data key="w">2', "a second 'weight' of one edge"),
        ("1e999", "too large for float64"),
    ],
)
def test_graphml_reads_a_weight_as_it_stands(tmp_path: Path, value: str, message: str) -> None:
    (tmp_path / "g.graphml").write_text('<!DOCTYPE graphml SYSTEM "g.dtd">' + GRAPHML % value)
    with pytest.raises(FormatError, match=message):
        hw.read(tmp_path / "g.graphml")
