"""``rmqc test`` ends with one line on Ctrl-C, and for a target that does not start."""

from __future__ import annotations

import getpass
import importlib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from conformance.harness.process.workspace import PREFIX
from rocketmq_conformance.paths import module_command

STORE = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-stopped"
PLUGIN = """
import os, signal

def pytest_runtest_logreport(report):
    if report.when == "teardown" and "PYTEST_XDIST_WORKER" not in os.environ:
        # A job in the background of a shell ignores the signal.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
"""

BUSY_FOLDERS = """
import errno, os

remove = os.rmdir

def rmdir(path, **where):
    if "garbage-" in str(path):
        raise OSError(errno.ENOTEMPTY, "another run writes to it", path)
    remove(path, **where)

os.rmdir = rmdir
"""


def run(
    *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Return the result of ``rmqc test``, in a process of its own."""
    ours = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        module_command("cli", "test", *words),
        capture_output=True,
        text=True,
        env={**ours, **(environment or {})},
    )


def beside(directory: Path) -> dict[str, str]:
    """Return the variable with which the modules in *directory* are found."""
    path = os.pathsep.join([str(directory), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path}


@pytest.mark.parametrize("jobs", ["0", "1"])
def test_an_interrupted_run_prints_its_progress_in_one_line(
    tmp_path: Path, jobs: str
) -> None:
    (tmp_path / "interrupting.py").write_text(PLUGIN, encoding="utf-8")
    words = ["--target", f"store:{STORE}", "--suite", "store", "--jobs", jobs]
    report = tmp_path / "report"
    words += ["--report", str(report)]
    left = tmp_path / f"{PREFIX}of-a-killed-worker"
    left.mkdir()
    (left / "owner.lock").touch()
    ours = {"TMPDIR": str(tmp_path), **beside(tmp_path)}
    ended = run(*words, "-p", "interrupting", environment=ours)
    assert (ended.returncode, left.exists()) == (130, False)
    assert "KeyboardInterrupt" not in ended.stdout
    progress = re.fullmatch(
        r"Error: (interrupted after 1 of \d+ tests)\n", ended.stderr
    )
    assert progress is not None, ended.stderr
    for name in ("report.html", "report.json", "summary.md", "junit.xml"):
        assert progress[1] in (report / name).read_text(encoding="utf-8"), name
    assert ", interrupted" in (report / "badge.svg").read_text(encoding="utf-8")


def test_a_run_that_is_interrupted_before_a_verdict_names_no_report(
    tmp_path: Path,
) -> None:
    begins = PLUGIN.replace("logreport(report)", "logstart()")
    begins = begins.replace('report.when == "teardown" and ', "")
    (tmp_path / "interrupting.py").write_text(begins, encoding="utf-8")
    ended = run(
        *("--target", f"store:{STORE}", "--suite", "store", "--jobs", "0"),
        *("--report", str(tmp_path / "report"), "-p", "interrupting"),
        environment=beside(tmp_path),
    )
    assert ended.returncode == 130, ended.stderr
    assert not (tmp_path / "report" / "report.html").exists()
    assert "report.html" not in ended.stdout


def test_folders_of_former_runs_that_cannot_be_removed_do_not_end_a_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "busy_folders.py").write_text(BUSY_FOLDERS, encoding="utf-8")
    for number in range(5):
        (tmp_path / f"pytest-of-{getpass.getuser()}" / f"pytest-{number}").mkdir(
            mode=0o700, parents=True
        )
    ended = run(
        *("--target", f"store:{STORE}", "--suite", "store", "--only", "STORE-CRC-001"),
        *("--jobs", "1", "-p", "busy_folders"),
        environment={"PYTEST_DEBUG_TEMPROOT": str(tmp_path), **beside(tmp_path)},
    )
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout
    assert list(tmp_path.rglob("garbage-*")), "nothing was left to remove"


def test_every_command_ends_with_130_on_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    command = importlib.import_module("cli.commands.suites.spec")
    monkeypatch.setattr(command, "listed", interrupt)
    ended = CliRunner().invoke(main, ["spec", "list"])
    assert ended.exit_code == 130
    assert ended.output == "Error: interrupted\n"


@pytest.mark.parametrize("jobs", ["0", "1"])
def test_the_reason_why_a_target_does_not_start_is_printed_once(jobs: str) -> None:
    ended = run("--target", "127.0.0.1:1", "--suite", "wire", "--jobs", jobs)
    assert ended.returncode == 3
    reason = "the target 127.0.0.1:1 cannot be tested: no listener on 127.0.0.1:1"
    assert ended.stderr == f"Error: {reason}\n"
    assert reason not in ended.stdout
