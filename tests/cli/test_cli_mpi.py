"""Commands under mpiexec: one process computes, or nothing does; doctor names a launcher that does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwave.cli import main
from hopwave.distributed.ranks import _mpi
from hopwave.errors import EngineError
from hopwave.system import mpi


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
    assert found is None if fits else found is not None and f"{launcher} is of Open MPI and mpi4py uses MPICH" in found
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")  # that launcher started us: MPICH would abort in `import`
    monkeypatch.delitem(mpi.sys.modules, "mpi4py.MPI", raising=False)
    with pytest.raises(EngineError, match="is of Open MPI and mpi4py uses MPICH: programs abort"):
        _mpi()
