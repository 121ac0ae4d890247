"""Forked runs of pytest clean up after themselves, and end with their owner."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.harness.child_run.forked_pytest import run_forked
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.started.embedded import SOURCES
from conformance.meta.targets.processes import is_alive

TEST = """
import atexit, os, pathlib, random, time

HERE = pathlib.Path(__file__).parent

def test_it():
    atexit.register((HERE / "ended").touch)
    (HERE / f"drawn-{random.random()}").touch()

def test_long():
    (HERE / "pid.part").write_text(str(os.getpid()))
    (HERE / "pid.part").rename(HERE / "pid")
    time.sleep(600)
"""
OWNER = """
import sys
from pathlib import Path
from conformance.harness.child_run.forked_pytest import run_forked
folder = Path(sys.argv[1])
run_forked([str(folder), "-k", "long", "-p", "no:cacheprovider"],
           directory=folder, printed=folder / "printed", timeout_s=600)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the directory of a small file of tests."""
    (tmp_path / "test_made.py").write_text(TEST)
    return tmp_path


def test_a_run_calls_its_exit_functions_and_draws_numbers_of_its_own(
    folder: Path,
) -> None:
    words = [str(folder), "-k", "test_it", "-p", "no:cacheprovider"]
    for _ in range(2):
        printed = folder / "printed"
        code = run_forked(words, directory=folder, printed=printed, timeout_s=60)
        assert code == 0, printed.read_text()
        assert (folder / "ended").exists()
        (folder / "ended").unlink()
    assert len(list(folder.glob("drawn-*"))) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends them for us")
def test_a_run_ends_with_the_process_that_is_killed(folder: Path) -> None:
    words = [sys.executable, "-c", OWNER, str(folder)]
    with subprocess.Popen(words, cwd=SOURCES) as owner:
        wait_until((folder / "pid").exists, what="the test runs", timeout_s=60)
        owner.kill()
    pid = int((folder / "pid").read_text())
    wait_until(lambda: not is_alive(pid), what="the run has ended", timeout_s=20)
