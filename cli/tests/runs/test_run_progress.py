"""Progress of ``rmqc test``: on a terminal only, with and without workers."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from cli.runs.suites.run_progress import is_shown
from rocketmq_conformance.paths import module_command

STORE = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-stopped"
AT_ONCE = """
import os, time
import cli.runs.suites.run_progress as run_progress

run_progress.DELAY_S = 0

def pytest_runtest_logreport(report):
    if report.when == "teardown" and "PYTEST_XDIST_WORKER" not in os.environ:
        time.sleep(0.2)  # the progress is drawn ten times in a second
        {action}
"""
INTERRUPT = """
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.kill(os.getpid(), signal.SIGINT)
"""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """A text file that is a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


def on_a_terminal(
    directory: Path, jobs: str, *words: str, action: str = ""
) -> tuple[int, str]:
    """Return exit code and output of ``rmqc test`` on a terminal."""
    plugin = AT_ONCE.format(action=action.strip() or "pass")
    (directory / "at_once.py").write_text(plugin, encoding="utf-8")
    ours = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    ours = {k: v for k, v in ours.items() if k not in ("CI", "NO_COLOR")}
    path = os.pathsep.join([str(directory), os.environ.get("PYTHONPATH", "")])
    ours |= {"TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": path}
    command = module_command("cli", "test", "--target", f"store:{STORE}")
    command += ["--suite", "store", "--jobs", jobs, "-p", "at_once", *words]
    controller, terminal = pty.openpty()
    with subprocess.Popen(command, stdout=terminal, stderr=terminal, env=ours) as child:
        os.close(terminal)
        output = b"".join(iter(lambda: _read(controller), b""))
    os.close(controller)
    return child.returncode, ESCAPES.sub("", output.decode("utf-8", "replace"))


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_a_terminal_shows_done_total_and_rate(tmp_path: Path, jobs: str) -> None:
    code, output = on_a_terminal(tmp_path, jobs, "-k", "checkpoint")
    assert code == 0, output
    shown = re.findall(r"tests \S+ +(\d+)/(\d+) ", output)
    assert len(shown) > 1
    assert shown[-1][0] == shown[-1][1]
    assert re.search(r"\d+\.\d/s", output)
    assert "bringing up nodes" not in output
    assert "[100%]" not in output


@pytest.mark.parametrize("jobs", ["0", "2"])
def test_an_interrupt_ends_the_progress_with_one_line(
    tmp_path: Path, jobs: str
) -> None:
    code, output = on_a_terminal(tmp_path, jobs, action=INTERRUPT)
    assert code == 130
    *_, last = output.strip().splitlines()
    # A worker may have finished another test by then.
    assert re.match(r"Error: interrupted after [12] of ", last.strip())
    assert "Traceback" not in output


@pytest.mark.parametrize("name", ["CI", "NO_COLOR"])
def test_pipes_and_logs_are_quiet(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert is_shown(Terminal())
    assert not is_shown(io.StringIO())
    monkeypatch.setenv(name, "1")
    assert not is_shown(Terminal())
