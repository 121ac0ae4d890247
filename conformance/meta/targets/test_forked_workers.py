"""Workers of a run are forks of one process, and the references of all of another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.process.fork_server import (
    IS_POSSIBLE,
    ForkServer,
    ForkServerError,
    fork_from,
)
from conformance.harness.pytest_plugin.forked_workers import NO_AUTOLOAD
from conformance.harness.targets.started.embedded import SOURCES

PROGRAM = """
import time

def prepare(arguments):
    global prepared
    prepared = arguments

def main(arguments):
    print(*prepared, *arguments, flush=True)
    time.sleep(600)
"""
CHECKOUT = """
from cli.main import main
main()
"""
INSTALLATION = """
from cli.main import main
from cli.runs.suites import pytest_run
pytest_run._settings = lambda: pytest_run.INSTALLED
main()
"""
"""The command with the settings of an installation, which are in another folder."""
COLLECTS_TWICE = """
import json
import sys
import pytest
from conformance.harness.pytest_plugin.forked_workers import prepare
prepare(sys.argv[1:])
sys.exit(pytest.main(json.loads(sys.argv[1])["words"]))
"""
NAMES_IN_A_FORK = """
import os
from conformance.harness.pytest_plugin.fixtures import unique_name
print(unique_name("topic").split("_")[1], flush=True)
if os.fork() == 0:
    print(unique_name("topic").split("_")[1], flush=True)
    os._exit(0)
os.wait()
"""
pytestmark = pytest.mark.skipif(not IS_POSSIBLE, reason="needs Linux")


@pytest.mark.parametrize("program", [CHECKOUT, INSTALLATION])
def test_forked_workers_find_what_one_process_finds(program: str) -> None:
    words = ("--suite", "wire", "-k", "test_unreadable_bodies", "--jobs")
    counts = []
    for jobs in ("0", "2"):
        run = subprocess.run(
            [sys.executable, "-c", program, "test", *words, jobs],
            cwd=SOURCES,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = run.stdout.splitlines()
        counts.append([line for line in lines if line.startswith(("wire", "checked"))])
    assert counts[0] == counts[1]
    assert counts[0]


def test_a_module_that_cannot_be_imported_fails_in_a_worker(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    broken = package / "test_broken.py"
    broken.write_text("def test_it(): pass\nraise ValueError('broken')\n")
    words = ["--import-mode=importlib", f"--rootdir={tmp_path}", str(broken)]
    path = [str(tmp_path), *sys.path]
    setup = {"path": path, "words": words, "directory": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", COLLECTS_TWICE, json.dumps(setup)],
        cwd=SOURCES,
        env={**os.environ, NO_AUTOLOAD: "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "ValueError: broken" in run.stdout


def test_a_fork_has_names_of_its_own() -> None:
    run = subprocess.run(
        [sys.executable, "-c", NAMES_IN_A_FORK],
        cwd=SOURCES,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(set(run.stdout.split())) == 2


def test_a_child_ends_with_the_connection_of_who_requested_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    log = tmp_path / "log"
    with closing(
        ForkServer("program", directory=tmp_path, arguments=["first"])
    ) as server:
        child = fork_from(server.address, ["second"], log=log)
        wait_until(lambda: log.read_text() == "first second\n", what="it runs")
        child.connection.close()
        wait_until(lambda: not psutil.pid_exists(child.pid), what="it has ended")
    with pytest.raises(ForkServerError):
        fork_from(server.address, [], log=log)
