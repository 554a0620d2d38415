"""What the command does after an error: it prints one line, returns the right exit code, and loses no file."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from calls import Answer, Fail, Run, environment, hide

import hopwave as hw
from hopwave.api.validate import Validation, Verdict
from hopwave.cli import app, benchmarks, files, main, start, terminal
from hopwave.io import write

BANNER = "%%MatrixMarket matrix coordinate pattern symmetric\n"
BAD_FILES = {
    "empty.mtx": b"",
    "no-size.mtx": BANNER.encode(),
    "truncated.mtx": f"{BANNER}3 3 2\n2 1\n".encode(),
    "too-many.mtx": f"{BANNER}3 3 1\n2 1\n3 1\n".encode(),
    "too-large.mtx": f"{BANNER}3 3 1\n9 1\n".encode(),
    "zero.mtx": f"{BANNER}3 3 1\n0 1\n".encode(),
    "text.mtx": f"{BANNER}3 3 1\ntwo 1\n".encode(),
    "rectangle.mtx": f"{BANNER}3 4 1\n2 1\n".encode(),
    "not-it.mtx": b"hello\n",
    "negative.el": b"0 -1\n",
    "half.el": b"0\n",
    "float.el": b"0 1.5\n",
    "not-zip.npz": b"PK\x03\x04 and then nothing",
    "broken.mtx.gz": gzip.compress(f"{BANNER}3 3 1\n2 1\n".encode())[:-12],
    "short.graph": b"3 2\n2\n",
    "short.sg": b"\x00" * 5,
    "one-column.csv": b"a\nb\n",
    "nonsense.parquet": b"PAR1nonsense",
    "unknown.xyz": b"0 1\n",
}


FILES = {  # what the rows below read
    "path3.mtx": f"{BANNER}3 3 2\n2 1\n3 2\n",
    "named.csv": "from,to\nann,bob\nbob,cyd\n",
    "roads.csv": "source,target,weight\n0,1,2.5\n1,2,4\n2,0,1\n0,1,2\n",
    "clean.csv": "source,target,weight\na,b,1\nb,c,2\n",
    "tail.mtx": f"{BANNER}4 4 1\n2 1\n",
    "none.mtx": f"{BANNER}0 0 0\n",
    "headless.csv": "a,b\nb,c\n",
    "bad.csv": "place,jobs\nb,many\n",
}
BOTH = "cannot be combined"
REJECTED = [  # exit code, words of the message, command
    (2, "No such command 'search'", "search"),
    (2, "Missing argument 'FILE'", "bfs"),
    (2, "--colour", "info path3.mtx --colour"),
    (2, "pass --read-option weight=NAME", "sssp path3.mtx --weight km"),
    (2, "--depth-limit", "bfs path3.mtx --depth-limit few"),
    (2, "--direction", "bfs path3.mtx --direction up"),
    (2, "hopwave generate --list", "generate"),
    (2, "No such command 'tree'", "generate tree out.npz"),
    (2, "--scale", "generate kronecker out.npz"),
    (2, "takes no kind", "generate --list star out.npz --n 3"),
    (2, "--markdown", "plans --json --markdown"),
    (2, "NAME=VALUE", "info path3.mtx -r n"),
    (2, "colour= is not an option", "info path3.mtx -r colour=red"),
    (2, "colour= is not an option", "convert path3.mtx out.npz -w colour=red"),
    (2, "omit one", "info path3.mtx --directed -r directed=True"),
    (2, "both write to standard output", "bfs path3.mtx --out - --json"),
    (2, BOTH, "fetch karate --list"),
    (2, "--k", "bc path3.mtx -k few"),
    (2, "--top", "bc path3.mtx --top -1"),
    (2, BOTH, "bc path3.mtx --edges --epsilon 0.1"),
    (2, BOTH, "bc path3.mtx --edges --endpoints"),
    (2, "-k 0 draws no source", "bc path3.mtx -k 0"),
    (2, "add --weights", "bc roads.csv --combine min"),
    (2, "omit --no-weights", "info roads.csv --combine min --no-weights"),
    (2, "'median'", "info roads.csv --combine median"),
    (2, "add --weights", "closeness clean.csv -r weight=2"),
    (2, "omit it", "bfs clean.csv -r weight=2"),
    (2, "omit --weights to count hops", "closeness named.csv --weights"),
    (2, BOTH, "bc clean.csv --weights -r weights=False"),
    (2, "must be True or False", "info clean.csv -r weights=km"),
    (2, "--top", "closeness path3.mtx --top 0"),
    (2, BOTH, "table path3.mtx -s 0 --sources named.csv"),
    (2, "has no number", "accessibility path3.mtx --decay power"),
    (2, "--seed", "bench path3.mtx --seed -1"),
    (2, "use bfs, sssp, pr, cc, bc, tc or all", "gap path3.mtx --kernel both"),
    (2, "--uniform needs a generated graph", "gap path3.mtx --uniform"),
    (2, "'gunrock'", "paper gunrock"),
    (3, "no such file", "info missing.mtx"),
    (3, "is a folder", "info ."),
    (3, "'yaml' is not known", "info path3.mtx --format yaml"),
    (3, "'yaml' is not known", "convert path3.mtx out.npz --to yaml"),
    (3, "--write-option NAME=VALUE", "convert path3.mtx out.xyz"),
    (3, "no known extension", "convert named.csv -"),
    (3, "no such folder", "convert path3.mtx missing/out.npz"),
    (3, "--drop-labels", "convert named.csv out.mtx"),
    (3, "isolated=False (on the command line: --write-option NAME=VALUE)", "convert tail.mtx out.el"),
    (3, "combine=", "convert roads.csv out.npz"),
    (3, "weights=False (on the command line: --write-option NAME=VALUE)", "convert clean.csv out.sg --drop-labels"),
    (3, "header=True", "bfs headless.csv"),
    (3, "7 is not a vertex", "bfs path3.mtx --source 7"),
    (3, "'seven' is not a vertex", "bfs path3.mtx --source seven"),
    (3, "'1' is not a vertex", "bfs named.csv -s 1"),
    (3, "no vertices", "bfs none.mtx"),
    (3, "depth_limit=-1", "bfs path3.mtx --depth-limit -1"),
    (3, "plan 'magic' is not known", "bfs path3.mtx --plan magic"),
    (3, "computes betweenness", "bfs path3.mtx --plan turbobc-sccsc"),
    (3, "cannot count paths", "bfs path3.mtx --plan xbfs --path-counts"),
    (3, "use .csv", "bfs path3.mtx --out out.txt"),
    (3, "use .png", "bfs path3.mtx --plot out.gif"),
    (3, "no such folder to write to", "bfs path3.mtx --out missing/out.csv"),
    (3, "did you mean 'xbfs'?", "plan xbf"),
    (3, "scale=99", "generate kronecker out.npz --scale 99"),
    (3, "GiB", "generate complete out.npz --n 100000000"),
    (3, "format=", "generate star out.xyz --n 3"),
    (3, "k=99", "bc path3.mtx -k 99"),
    (3, "sources=", "bc path3.mtx -k 2 -s 1"),
    (3, "between 0 and 1", "bc path3.mtx --epsilon 2"),
    (3, "'some' is not known", "bc path3.mtx --epsilon 0.1 --method some"),
    (3, "cutoff=-1", "bc path3.mtx --cutoff -1"),
    (3, "cutoff=1.5", "bc path3.mtx --cutoff 1.5"),
    (3, "plan 'xbfs' is a search", "bc path3.mtx --plan xbfs"),
    (3, "hopwave-block", "bc path3.mtx --plan nonsense"),
    (3, "vertices", "bc path3.mtx --plan hopwave-wide --edges"),
    (3, "folder", "bc path3.mtx --checkpoint missing/run.npz"),
    (3, "checkpoint", "bc path3.mtx --checkpoint path3.mtx"),
    (3, "'z'", "sssp clean.csv -s z"),
    (3, "limit=-1", "sssp clean.csv --limit -1"),
    (3, "'magic' is not known", "sssp clean.csv --method magic"),
    (3, "trace=True", "sssp clean.csv --method dijkstra --trace"),
    (3, "alpha=2", "pagerank path3.mtx --alpha 2"),
    (3, "max_iter", "pagerank path3.mtx --max-iter 1 --tol 0"),
    (3, "99 is not a vertex", "pagerank path3.mtx --restart 99"),
    (3, "interval='wide' is not known", "closeness path3.mtx -k 2 --interval wide"),
    (3, "cannot be read as text", "table path3.mtx --sources none.txt"),
    (3, "use .npy, .parquet or .csv", "table path3.mtx --out table.txt"),
    (3, "is not known", "accessibility clean.csv --decay linear:1"),
    (3, "expected a header", "accessibility named.csv --values bad.csv"),
    (3, "--task betweenness", "bench path3.mtx -p hopwave-block"),
    (3, "scale=31 is out of range", "gap --scale 31 --uniform"),
    (4, "device 'tpu' is not known", "bfs path3.mtx --device tpu"),
    (4, "threads=0 is not a number of threads", "bc path3.mtx --threads 0"),
    (4, "threads=0 is not a number of threads", "bench path3.mtx --threads 0"),
    (4, "raise memory_limit=", "bc path3.mtx --memory-limit 10"),
]


def test_wrong_commands_are_one_line_and_write_nothing(fail: Fail, tmp_path: Path) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    wrong = []
    for code, words, command in REJECTED:
        found, message = fail(*command.split())
        if found != code or words not in message:
            wrong.append(f"{command}: {found}, {message}")
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == FILES, command
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("command", ["info", "bfs", "convert"])
def test_a_malformed_file_gives_one_line_and_leaves_output_alone(fail: Fail, command: str, tmp_path: Path) -> None:
    (tmp_path / "kept.npz").write_text("precious")
    for name, content in BAD_FILES.items():
        Path(name).write_bytes(content)
        arguments = {"info": [], "bfs": ["--out", "kept.npz"], "convert": ["kept.npz"]}[command]
        code, message = fail(command, name, *arguments)
        assert code == 3 and name in message
        Path(name).unlink()
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"kept.npz": "precious"}


@pytest.mark.parametrize(("library", "option"), [("pyarrow", "--out=o.parquet"), ("matplotlib", "--plot=o.png")])
def test_a_missing_extra_says_how_to_get_it(
    fail: Fail, path3: Path, monkeypatch: pytest.MonkeyPatch, library: str, option: str
) -> None:
    hide(monkeypatch, library)
    code, message = fail("bfs", path3, option)
    assert code == 4 and f"needs {library}" in message and "run: pip install " in message


def test_a_write_that_breaks_off_leaves_the_old_file(fail: Fail, path3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("out.npz").write_text("precious")

    def full(*arguments: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_arrays", full)
    code, message = fail("bfs", path3, "--out", "out.npz")
    assert code == 3 and "No space left on device" in message
    assert Path("out.npz").read_text() == "precious" and len(list(Path.cwd().iterdir())) == 2


# -------------------------------------------------------------------- checks that fail


def test_a_wrong_search_fails_validation(
    path3: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Validation((Verdict(2, "levels", False, ("rule 2 (levels): vertex 1 is at level 9",)),))
    monkeypatch.setattr("hopwave.cli.searches.validate", lambda *given, **options: broken)
    assert main(["bfs", str(path3), "--validate", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["validation"]["ok"] is False
    assert "not a breadth-first search: rule 2" in err and err.count("\n") == 1


def test_a_wrong_engine_fails_the_self_test(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "_count_paths", lambda engine: "counted 3 paths, expected 4")
    assert main(["doctor", "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["ok"] is False
    assert "self-test failed" in err and "counted 3 paths" in err and err.count("\n") == 1


def test_the_self_test_survives_what_its_checks_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("libcuda is damaged")

    monkeypatch.setattr("hopwave.engines.engine", broken)
    outcomes = list(start.self_test())
    assert [outcome.passed for outcome in outcomes] == [False] * len(start.engine_names())
    assert "libcuda is damaged" in outcomes[0].note


# -------------------------------------------------------------------- exit codes


def _raising(error: BaseException) -> Callable[..., None]:
    def raising(*arguments: object, **options: object) -> None:
        raise error

    return raising


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (hw.EngineError("the GPU fell off the bus"), 4, "fell off the bus"),
        (MemoryError(), 4, "out of memory"),
        (ZeroDivisionError("two\nlines"), 70, "unexpected ZeroDivisionError: two lines; please report"),
    ],
)
def test_exit_codes(
    fail: Fail, path3: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    monkeypatch.setattr(hw, "bfs", _raising(error))
    found, message = fail("bfs", path3)
    assert found == code and words in message


def test_debug_shows_the_traceback(
    path3: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(hw, "bfs", _raising(ZeroDivisionError("oh")))
    monkeypatch.setenv("HOPWAVE_DEBUG", "1")
    assert main(["bfs", str(path3)]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(terminal, "show", _raising(terminal.Hangup()))
    monkeypatch.setattr(app, "_point_at_nothing", lambda stream: None)
    assert main(["plans"]) == 141
    assert capsys.readouterr().err == ""


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    out, err = capsys.readouterr()
    assert "Usage: hopwave" in out + err and "error" not in err


def _start(*arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "hopwave", *arguments]
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command,
        env=environment(PYTHONIOENCODING="utf-8"),
        text=True,
        encoding="utf-8",
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.mark.slow
def test_a_pipe_that_is_closed_early_gives_no_error_message() -> None:
    for arguments in (["plans"], ["plans", "--json"]):
        reader, writer = os.pipe()
        os.close(reader)  # closed before the first byte is written
        process = _start(*arguments, stdout=writer)
        os.close(writer)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    graph = tmp_path / "path.npz"
    write(graph, hw.generate.path(3))
    script = (
        "import os, signal, sys, hopwave as hw\n"
        "from hopwave.cli import main\n"
        "hw.bfs = lambda *given, **options: os.kill(os.getpid(), signal.SIGINT)\n"
        f"sys.exit(main(['bfs', {str(graph)!r}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "hopwave: error: stopped\n")


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
    done = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.skipif(sys.platform == "win32", reason="these are redirections of a shell")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("plans >&-", (0, "", "")),
        ("plans --json >&-", (0, "", "")),
        ("--version >&- 2>&-", (0, "", "")),
        ("info missing.mtx 2>&-", (3, "", "")),
    ],
)
def test_what_is_printed_to_a_closed_stream_goes_nowhere(command: str, expected: tuple[int, str, str]) -> None:
    shell = ["sh", "-c", f"{shlex.quote(sys.executable)} -m hopwave {command}"]
    done = subprocess.run(shell, env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == expected


def test_labels_that_the_terminal_cannot_show_are_escaped(tmp_path: Path) -> None:
    graph = tmp_path / "named.csv"
    graph.write_text("from,to\nÄnne,Björn\n", encoding="utf-8")
    command = [sys.executable, "-m", "hopwave", "bfs", str(graph), "--device", "reference"]
    ascii_only = environment(PYTHONIOENCODING="ascii")
    done = subprocess.run(command, env=ascii_only, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "\\xc4nne" in done.stdout and "#" in done.stdout


def test_control_characters_of_labels_do_not_reach_the_terminal(
    run: Run, answer: Answer, fail: Fail, tmp_path: Path
) -> None:
    evil = ["\x1b[31mred", "a\x9b2Jb", "\u202egnp.exe", "\x07bell", "plain é 日本"]
    path = tmp_path / "evil.npz"
    write(path, hw.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], labels=evil))
    for command in (["bc", path, "--top", "5"], ["bc", path, "--edges"], ["bfs", path, "--path-counts"]):
        for options in ([], ["--json"]):
            out = run(*command, *options)
            assert not set("\x1b\x9b\u202e\x07") & set(out), (command, options)
    assert "plain é 日本" in run("bc", path, "--top", "5") and "\\x1b[31mred" in run("bfs", path, "--source", evil[0])
    assert answer("bfs", path, "--source", evil[1])["sources"] == [evil[1]]
    assert "\x1b" not in fail("bfs", path, "--source", "\x1b[2J")[1]
    assert terminal.printable("\ud800 \u3000x\n") == "\\ud800 \u3000x\\n"


def test_a_label_that_is_no_text(run: Run, fail: Fail, tmp_path: Path) -> None:
    write(tmp_path / "odd.npz", hw.Graph.from_edges([0], [1], labels=["\ud800", "b"]))
    assert "\\ud800" in run("bc", "odd.npz")
    for out in ("o.csv", "o.parquet"):
        assert "half of a surrogate pair" in fail("bfs", "odd.npz", "--source", "b", "--out", out)[1]
        assert not (tmp_path / out).exists()
    run("bfs", "odd.npz", "--source", "b", "--out", "o.npz")


def test_gap_searches_from_labels_as_often_as_it_is_told(answer: Answer, tmp_path: Path) -> None:
    (tmp_path / "far.txt").write_text("10 20000000\n20000000 300000000\n")
    found = answer("gap", str(tmp_path / "far.txt"), "--trials", "70", "--device", "cpu")
    assert all(len(found[kernel]["seconds"]) == 70 for kernel in ("bfs", "sssp", "pr", "cc", "bc", "tc"))


def test_gap_checks_all_six_kernels_and_names_their_rules(run: Run) -> None:
    shown = run("gap", "--scale", "9", "--trials", "2", "--device", "cpu", "--threads", "2")
    for words in (
        "bfs",
        "sssp",
        "weights 1 to 255",
        "pr",
        "below 1e-4",
        "cc",
        "weak components",
        "bc",
        "tc",
        "per vertex",
    ):
        assert words in " ".join(shown.split())


@pytest.mark.parametrize(
    ("kernel", "answer", "words"),
    [
        ("sssp", ("sssp", lambda d: d + (d > 0)), "an arc leads nearer"),
        ("pr", ("pagerank", lambda x: x[::-1].copy()), "another round changes the ranks"),
        ("cc", ("weakly_connected_components", np.zeros_like), "a component is not connected"),
        ("tc", ("triangle_count", lambda count: count + 1), "counted vertex by vertex"),
    ],
)
def test_gap_refuses_wrong_answers(
    kernel: str, answer: tuple[str, Any], words: str, fail: Fail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, change = answer
    right = getattr(hw, name)

    def wrong(*given: Any, **options: Any) -> Any:
        found = right(*given, **options)
        if kernel == "tc":
            return change(found)
        field = {"sssp": "distances", "pr": "scores", "cc": "labels"}[kernel]
        return SimpleNamespace(**{field: change(getattr(found, field))})

    monkeypatch.setattr(benchmarks, "hw", SimpleNamespace(**{**vars(hw), name: wrong}))
    hw.write(tmp_path / "g.npz", hw.Graph.from_edges([0, 1, 2, 0, 4], [1, 2, 0, 3, 5]))
    assert words in fail("gap", str(tmp_path / "g.npz"), "--kernel", kernel, "--trials", "1", "--device", "cpu")[1]
