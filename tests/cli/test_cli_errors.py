"""What the command does after an error: it prints one line, returns the right exit code, and loses no file."""

import gzip
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import hopwave as hw
from hopwave.api.validate import Validation, Verdict
from hopwave.cli import files, main, start, terminal
from hopwave.distributed.ranks import _mpi
from hopwave.system import mpi
from together import started

PATTERN = "%%MatrixMarket matrix coordinate pattern symmetric\n"
BAD_FILES = {  # tests/io has the others
    "broken.mtx.gz": gzip.compress(f"{PATTERN}3 3 1\n2 1\n".encode())[:-12],
    "not-zip.npz": b"PK\x03\x04 and then nothing",
    "unknown.xyz": b"0 1\n",
}

BOTH = "cannot be combined"
REJECTED = [  # exit code, words of the message, command
    (2, "No such command 'betweenness'; use 'hopwave bc'", "betweenness path3.mtx"),
    (2, "No such command 'isochrone'; use 'hopwave isochrones'", "isochrone path3.mtx"),
    (2, "call hopwave.clustering in Python", "clustering path3.mtx"),
    (2, "write the file without an option: hopwave generate star OUT", "generate star --n 3 --out star.npz"),
    (2, "Missing argument 'FILE'", "bfs"),
    (2, "--colour", "info path3.mtx --colour"),
    (2, "pass --read-option weight=NAME", "sssp path3.mtx --weight km"),
    (2, "hopwave generate --list", "generate"),
    (2, "'tree' is not a kind of graph; use kronecker, rmat", "generate tree out.npz"),
    (2, "--scale", "generate kronecker out.npz"),
    (2, "cannot be combined with a kind", "generate --list star out.npz --n 3"),
    (2, "--markdown", "plans --json --markdown"),
    (2, "NAME=VALUE", "info path3.mtx -r n"),
    (2, "colour= is not an option", "info path3.mtx -r colour=red"),
    (2, "omit one", "info path3.mtx --directed -r directed=True"),
    (2, "both write to standard output", "bfs path3.mtx --out - --json"),
    (2, BOTH, "fetch karate --list"),
    (2, "lists the known names", "fetch"),
    (2, "ships with hopwave", "fetch karate"),
    (2, "which is missing", "fetch Newman/tiny --to npz"),
    (2, BOTH, "bc path3.mtx --edges --epsilon 0.1"),
    (2, "--top", "bc path3.mtx --top -1"),
    (2, "'many' is not a valid integer", "pagerank path3.mtx --top many"),
    (3, "pass one vertex per option", "nearest named.csv --facility ann,bob"),
    (2, "-k 0 samples no source", "bc path3.mtx -k 0"),
    (2, "add --weights", "bc twice.csv --combine min"),
    (2, "omit --no-weights", "info twice.csv --combine min --no-weights"),
    (2, "add --weights", "closeness clean.csv -r weight=2"),
    (2, "omit it", "bfs clean.csv -r weight=2"),
    (2, "omit --weights to count hops", "closeness named.csv --weights"),
    (2, BOTH, "bc clean.csv --weights -r weights=False"),
    (2, BOTH, "closeness clean.csv --weights --no-weights"),
    (2, "pass --facility VERTEX", "nearest clean.csv"),
    (2, "write, for example, --limit 500,1000", "isochrones clean.csv -s a --limit 5;10"),
    (2, "must be True or False", "info clean.csv -r weights=km"),
    (2, "--top", "closeness path3.mtx --top 0"),
    (2, BOTH, "table path3.mtx -s 0 --sources named.csv"),
    (2, "lacks a number", "accessibility path3.mtx --decay power"),
    (2, "--seed", "bench path3.mtx --seed -1"),
    (2, "': 'gunrock' is not one of", "paper gunrock"),
    (2, "use one of 'Abstract', 'Figures", "paper hiragushi --only Figure"),
    (3, "no such file", "info missing.mtx"),
    (3, "'yaml' is not known", "convert path3.mtx out.npz --to yaml"),
    (3, "--write-option NAME=VALUE", "convert path3.mtx out.xyz"),
    (3, "extension is not known", "convert named.csv -"),
    (3, "the folder does not exist", "convert path3.mtx missing/out.npz"),
    (3, "--drop-labels", "convert named.csv out.mtx"),
    (3, "isolated=False (on the command line: --write-option NAME=VALUE)", "convert tail.mtx out.el"),
    (3, "combine=", "convert twice.csv out.npz"),
    (3, "weights=False (on the command line: --write-option NAME=VALUE)", "convert clean.csv out.sg --drop-labels"),
    (3, "7 is not a vertex", "bfs path3.mtx --source 7"),
    (3, "'1' is not a vertex", "bfs named.csv -s 1"),
    (3, "use .csv", "bfs path3.mtx --out out.txt"),
    (3, "use .png", "bfs path3.mtx --plot out.gif"),
    (3, "the folder does not exist", "bfs path3.mtx --out missing/out.csv"),
    (3, "did you mean 'xbfs'?", "plan xbf"),
    (3, "no such file", "table path3.mtx --sources none.txt"),
    (3, "or ignore all weights with --no-weights", "sssp negative.csv -s a"),
    (3, "no path", "routes named.csv -s ann -t eve"),
    (3, "lists no vertex", "table path3.mtx --sources empty.txt"),
    (3, "2 cells; expected one vertex", "table path3.mtx --targets b-twice.csv"),
    (3, "column 'jobs': found 'many'", "accessibility ring.npz --values bad.csv"),
    (3, "expected a header", "accessibility ring.npz --values numbers.csv"),
    (3, "expected a header", "accessibility ring.npz --values no-header.csv"),
    (3, "two columns have the header 'jobs'", "accessibility ring.npz --values jobs-twice.csv"),
    (3, "vertex 'b' occurs twice", "accessibility ring.npz --values b-twice.csv"),
    (3, "the header has", "accessibility ring.npz --values ragged.csv"),
    (3, "--task betweenness", "bench path3.mtx -p hopwave-block"),
    (3, "no vertices", "bench none.mtx"),
    (4, "device 'tpu' is not known", "bfs path3.mtx --device tpu"),
    (3, "weight=2 to read it, or weights=False", "convert lengths.tsv bare.npz"),
    (3, "--read-option NAME=VALUE", "bc lengths.tsv --weights"),
    (4, "threads=0 is not a valid number of threads", "bench path3.mtx --threads 0"),
]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_wrong_commands_are_one_line_and_write_nothing(fail, folder: Path) -> None:
    before, wrong = contents(folder), []
    for code, words, command in REJECTED:
        found, message = fail(command)
        if found != code or words not in message:
            wrong.append(f"{command}: {found}, {message}")
        assert contents(folder) == before, command
    assert not wrong, "\n".join(wrong)


@pytest.mark.filterwarnings("always:PageRank stopped")
def test_a_warning_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    hw.write("large.npz", hw.generate.star(10_001))
    assert main(["pagerank", "large.npz"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("hopwave: warning: PageRank stopped") and said.count("\n") == 1, said


@pytest.mark.parametrize("command", ["info {}", "bfs {} --out kept.npz", "convert {} kept.npz"])
def test_a_malformed_file_gives_one_line_and_leaves_output_alone(fail, command: str, folder: Path) -> None:
    Path("kept.npz").write_text("precious")
    for name, content in BAD_FILES.items():
        Path(name).write_bytes(content)
        before = contents(folder)
        code, message = fail(command.format(name))
        assert code == 3 and name in message and contents(folder) == before


@pytest.mark.parametrize(("library", "option"), [("pyarrow", "--out=o.parquet"), ("matplotlib", "--plot=o.png")])
def test_a_missing_extra_says_how_to_get_it(fail, hide, library: str, option: str) -> None:
    hide(library)
    code, message = fail(f"bfs path3.mtx {option}")
    assert code == 4 and f"needs {library}" in message and "run: pip install " in message


def test_a_write_that_breaks_off_leaves_the_old_file(fail, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out.npz").write_text("precious")
    before = contents(folder)
    monkeypatch.setattr(files, "write_arrays", Mock(side_effect=OSError(28, "No space left on device")))
    code, message = fail("bfs path3.mtx --out out.npz")
    assert code == 3 and "out.npz: No space left on device" in message and contents(folder) == before


BROKEN = Validation((Verdict(2, "levels", False, ("rule 2 (levels): vertex 1 is at level 9",)),))


@pytest.mark.parametrize(
    ("command", "name", "wrong", "words"),
    [
        ("bfs path3.mtx --validate", "searches.validate", lambda *given, **more: BROKEN, "not a breadth-first search"),
        ("doctor", "start.CHECKS", {"count paths": lambda engine: "counted 3 paths"}, "the self-test failed"),
    ],
)
def test_a_wrong_result_fails_its_check(
    command: str, name: str, wrong: Any, words: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(f"hopwave.cli.{name}", wrong)
    assert main([*command.split(), "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out).get("validation", json.loads(out))["ok"] is False
    assert words in err and err.count("\n") == 1 and ("vertex 1 is at level 9" in err or "counted 3 paths" in err)


def test_the_self_test_survives_what_its_checks_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.engines.engine", Mock(side_effect=ImportError("libcuda is damaged")))
    outcomes = list(start.self_test())
    assert [outcome.passed for outcome in outcomes] == [False] * len(hw.engines.NAMES)
    assert "libcuda is damaged" in outcomes[0].note


# -------------------------------------------------------------------- exit codes, signals, streams


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (hw.EngineError("the GPU fell off the bus"), 4, "fell off the bus"),
        (MemoryError(), 4, "out of memory"),
        (ZeroDivisionError("two\nlines"), 70, "unexpected ZeroDivisionError: two lines; please report"),
    ],
)
def test_exit_codes(fail, capsys, monkeypatch: pytest.MonkeyPatch, error: Any, code: int, words: str) -> None:
    monkeypatch.setattr(hw, "bfs", Mock(side_effect=error))
    found, message = fail("bfs path3.mtx")
    assert found == code and words in message
    monkeypatch.setenv("HOPWAVE_DEBUG", "1")
    assert main(["bfs", "path3.mtx"]) == code
    assert ("Traceback" in capsys.readouterr().err) == (code != 130)


def test_ctrl_c_says_how_to_continue(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stopped = KeyboardInterrupt()
    stopped.add_note("hopwave: progress is saved in run.npz")
    monkeypatch.setattr(hw, "betweenness_centrality", Mock(side_effect=stopped))
    assert main(["bc", "path3.mtx"]) == 130
    assert capsys.readouterr() == ("", "hopwave: progress is saved in run.npz\nhopwave: error: stopped\n")


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    out, err = capsys.readouterr()
    assert "Usage: hopwave" in out + err and "error" not in err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["plans", "plans --json"])
def test_a_pipe_that_is_closed_early_gives_no_error_message(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # closed before the first byte is written
    words = [sys.executable, "-m", "hopwave", *command.split()]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(words, env=environment, text=True, stderr=subprocess.PIPE, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=600)
    assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("module", ["hopwave", "numpy", "hopwave.cli.scores"])
def test_ctrl_c_while_the_program_is_imported_ends_quietly(module: str) -> None:
    script = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *others):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from _hopwave_command import main\n"
        "sys.exit(main())\n"
    )
    assert started(sys.executable, "-c", script) == (130, "", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="these are redirections of a shell")
@pytest.mark.parametrize(
    ("command", "code"),
    [("plans >&-", 0), ("plans --json >&-", 0), ("--version >&- 2>&-", 0), ("info missing.mtx 2>&-", 3)],
)
def test_what_is_printed_to_a_closed_stream_goes_nowhere(command: str, code: int) -> None:
    assert started("sh", "-c", f"{shlex.quote(sys.executable)} -m hopwave {command}") == (code, "", "")


def test_labels_that_the_terminal_cannot_show_are_escaped() -> None:
    Path("named.csv").write_text("from,to\nÄnne,Björn\n", encoding="utf-8")
    command = [sys.executable, "-m", "hopwave", "bfs", "named.csv", "--device", "reference"]
    code, out, _ = started(*command, PYTHONIOENCODING="ascii")
    assert code == 0 and "\\xc4nne" in out and "#" in out


def test_control_characters_of_labels_do_not_reach_the_terminal(run, answer, fail) -> None:
    evil = ["\x1b[31mred", "a\x9b2Jb", "\u202egnp.exe", "\x07bell", "plain é 日本"]
    hw.write("evil.npz", hw.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], labels=evil))
    for command in ("bc evil.npz --top 5", "bc evil.npz --edges", "bfs evil.npz --path-counts"):
        for option in ("", " --json"):
            assert not set("\x1b\x9b\u202e\x07") & set(run(command + option)), command + option
    assert "plain é 日本" in run("bc evil.npz --top 5")
    assert "\\x1b[31mred" in run(f"bfs evil.npz --source {evil[0]}")
    assert answer(f"bfs evil.npz --source {evil[1]}")["sources"] == [evil[1]]
    assert "\x1b" not in fail("bfs evil.npz --source \x1b[2J")[1]
    assert terminal.printable("\ud800 \u3000x\n") == "\\ud800 \u3000x\\n"


def test_a_label_that_is_no_text(run, fail) -> None:
    hw.write("odd.npz", hw.Graph.from_edges([0], [1], labels=["\ud800", "b"]))
    assert "\\ud800" in run("bc odd.npz")
    for out in ("o.csv", "o.parquet"):
        assert "half of a surrogate pair" in fail(f"bfs odd.npz --source b --out {out}")[1] and not Path(out).exists()
    run("bfs odd.npz --source b --out o.npz")


# -------------------------------------------------------------------- mpiexec


@pytest.fixture(params=[("PMI_SIZE", "PMI_RANK"), ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")])
def rank(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """Makes this process one of two, as MPICH's or Open MPI's launcher would."""

    def become(number: int, size: int = 2) -> None:
        for name, value in zip(request.param, (size, number), strict=True):
            monkeypatch.setenv(name, str(value))

    return become


def test_copies_of_a_command_are_refused_and_write_nothing(rank, fail, capsys) -> None:
    rank(0)
    code, message = fail("bfs named.csv --out x.csv")
    assert code == 2 and "mpiexec started 2 copies of 'hopwave bfs', which runs in one process" in message
    assert "omit mpiexec, or call hopwave.distributed" in message
    rank(1)
    assert main(["bfs", "named.csv", "--out", "x.csv"]) == 2
    assert capsys.readouterr() == ("", "")  # the first copy has said it
    assert not Path("x.csv").exists()


def test_one_copy_and_commands_of_all_ranks_run(rank, run) -> None:
    rank(0, size=1)
    assert "named.csv" in run("info named.csv")
    rank(1)
    assert "Graph500" in run("graph500 --help")


@pytest.mark.parametrize(
    ("said", "fits"), [("HYDRA build details:", True), ("mpiexec (OpenRTE) 4.1.4", False), ("something", True)]
)
def test_a_launcher_that_does_not_fit_is_named(
    said: str, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mpi4py")
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\necho '{said}'\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    if mpi._family([mpi.sys.executable, "-c", mpi._ASK]) != mpi.OTHER:
        pytest.skip("mpi4py does not use MPICH here")
    found = mpi.mismatch()
    assert found is None if fits else found is not None and f"{launcher} belongs to Open MPI, but mpi4py" in found
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")  # that launcher started us: MPICH would abort in `import`
    monkeypatch.delitem(mpi.sys.modules, "mpi4py.MPI", raising=False)
    with pytest.raises(hw.EngineError, match="belongs to Open MPI, but mpi4py uses MPICH: programs abort"):
        _mpi()
