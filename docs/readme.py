"""Follows README.md to the letter in a new environment: `make readme`, or `python docs/readme.py [folder]`.

Makes a virtual environment and runs only the README's install line in it. Then runs every Python example and compares
its output, and every command of "Command line", on small graphs with the README's names. Commands that need a network
are skipped, with a printed line. Needs only the standard library.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SMALLER = {"--scale": "8", "-k": "5", "-n": "2"}  # the README's sizes are for real work
NEEDS_NETWORK = {"fetch"}
GRAPHS = """
import hopwave as hw
hw.write("web.mtx.gz", hw.generate.kronecker(8, 4, seed=1))
grid = hw.generate.grid(20, 20)
hw.write("roads.csv", grid.with_weights([2.5] * grid.m))
"""
EXAMPLES = """
import doctest, sys
text = open(sys.argv[1], encoding="utf-8").read()
example = doctest.DocTestParser().get_doctest(text, {}, "README.md", "README.md", 0)
ran = doctest.DocTestRunner().run(example)
print(f"{ran.attempted} lines of Python")
sys.exit(ran.failed > 0)
"""


def blocks(language: str, text: str = README) -> list[str]:
    """The code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """The lines of the README's section about the command, without their comments."""
    lines = blocks("sh", README.partition("## Command line")[2])[0].splitlines()
    return [line.partition(" #")[0].strip() for line in lines]


def smaller(words: list[str]) -> list[str]:
    """The command with small sizes."""
    return [SMALLER.get(before, word) for before, word in zip(["", *words], words, strict=False)]


def step(words: list[str], folder: Path, shown: str = "") -> bool:
    """Run a program and print how it went."""
    begin = time.perf_counter()
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    state = "ok" if ran.returncode == 0 else f"FAILED, exit status {ran.returncode}"
    print(f"{state:>4}  {time.perf_counter() - begin:6.1f} s  {shown or shlex.join(words)}", flush=True)
    if ran.returncode:
        print((ran.stdout + ran.stderr)[-3000:])
    return ran.returncode == 0


def main(folder: Path) -> int:
    """Install, then run everything; the exit status is 1 if anything failed."""
    venv.create(folder / "venv", with_pip=True)
    bin_ = folder / "venv" / "bin"
    line = blocks("sh")[0].partition("#")[0].strip()
    assert line.startswith("pip install "), f"the README's first command is {line!r}, not its install line"
    install = [str(bin_ / "python"), "-m", *shlex.split(line)]
    if not step([*install, "--quiet"], ROOT, line):
        return 1
    work = folder / "work"
    work.mkdir()
    (work / "examples.py").write_text("\n".join(blocks("python")), encoding="utf-8")
    python = str(bin_ / "python")
    good = step([python, "-c", EXAMPLES, "examples.py"], work, "the Python examples")
    good &= step([python, "-c", GRAPHS], work, "two small graphs")
    for command in commands():
        words = shlex.split(command)
        if words[1] in NEEDS_NETWORK:
            print(f"left out, needs a network: {command}")
            continue
        program = str(bin_ / words[0])
        inner = [str(bin_ / word) if word == "hopwave" else word for word in smaller(words)[1:]]
        good &= step([program, *inner], work, command)
    print("the README holds" if good else "the README does not hold")
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        sys.exit(main(Path(sys.argv[1]).resolve()))
    with tempfile.TemporaryDirectory() as place:
        sys.exit(main(Path(place)))
