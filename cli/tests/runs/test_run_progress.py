"""Progress of ``rmqc test``: with and without workers, on a terminal and in a log."""

from __future__ import annotations

import io
import os
import pty
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cli.options.progress import is_shown
from rocketmq_conformance.paths import SOURCES

STORE = Path(__file__).parents[3] / "fixtures" / "store" / "4.6.0-stopped"
AT_ONCE = """
import os, sys, time
from cli.main import main
import cli.options.progress

cli.options.progress.DELAY_S = 0
main()
"""
SLOW = """
import os, time

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


def slow_run(
    directory: Path, jobs: str, *words: str, action: str = "", **variables: str
) -> tuple[int, str]:
    """Return exit code and output of ``rmqc test`` with slow tests on a terminal."""
    plugin = SLOW.format(action=action.strip() or "pass")
    (directory / "slow.py").write_text(plugin, encoding="utf-8")
    command = ["test", "--target", f"store:{STORE}", "--suite", "store"]
    command += ["--jobs", jobs, "-p", "slow", *words]
    return on_a_terminal(*command, path=directory, **variables)


def environment(*left_out: str) -> dict[str, str]:
    """Return the variables of this process without pytest's and those *left_out*."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in left_out and not name.startswith("PYTEST_")
    }


def on_a_terminal(
    *words: str, path: Path = SOURCES, **variables: str
) -> tuple[int, str]:
    """Return exit code and output of ``rmqc`` with *words* on a terminal."""
    ours = environment("CI", "NO_COLOR")
    ours |= {"TERM": "xterm", "COLUMNS": "100", **variables}
    ours["PYTHONPATH"] = os.pathsep.join([str(path), str(SOURCES)])
    command = [sys.executable, "-P", "-c", AT_ONCE, *words]
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
    code, output = slow_run(tmp_path, jobs, "-k", "checkpoint")
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
    code, output = slow_run(tmp_path, jobs, action=INTERRUPT)
    assert code == 130
    *_, last = output.strip().splitlines()
    # A worker may have finished another test by then.
    assert re.match(r"Error: interrupted after [12] of ", last.strip())
    assert "Traceback" not in output


@pytest.mark.parametrize("jobs", ["0", "2"])
@pytest.mark.parametrize("period_s", [0, 600])
def test_a_pipe_gets_a_line_in_each_period(
    tmp_path: Path, jobs: str, period_s: int
) -> None:
    text = f"""
import cli.runs.suites.run_progress as shown
from cli.main import main

shown.LINE_PERIOD_S = {period_s}
main()
"""
    command = ["test", "--target", f"store:{STORE}", "--suite", "store"]
    command += ["--jobs", jobs, "-k", "checkpoint"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", text, *command],
        env={**environment(), "PYTHONPATH": str(SOURCES)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"tests    (\d+) of (\d+) in \d+ s", done.stderr)
    if period_s:
        assert not lines
        return
    total = int(lines[-1][1])
    assert total > 1
    finished = [(str(number), str(total)) for number in range(1, total + 1)]
    assert lines[-total:] == finished
    estimated = re.findall(r"(\d+) of \d+ in \d+ s, about \d+ s left\n", done.stderr)
    assert estimated == [number for number, _ in finished[:-1]]


def test_only_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert is_shown(Terminal())
    assert not is_shown(io.StringIO())
    monkeypatch.setenv("CI", "1")
    assert not is_shown(Terminal())


def test_progress_without_colours_is_still_progress(tmp_path: Path) -> None:
    words = ("-k", "checkpoint")
    code, output = slow_run(tmp_path, "0", *words, NO_COLOR="1")
    assert code == 0, output
    assert re.search(r"tests \S+ +\d+/\d+ ", output)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["target", "probe"], "probing 127.0.0.1:"),
        (["test", "--suite", "wire", "--target"], "starting "),
        (["admin", "topicList", "-n"], "waiting for 127.0.0.1:"),
    ],
)
def test_a_wait_for_a_silent_peer_is_shown(words: list[str], shown: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        code, output = on_a_terminal(*words, address)
    assert code == 3
    assert shown in output
    assert "sends no response within 5 s" in output


def test_the_written_part_of_a_store_is_shown(tmp_path: Path) -> None:
    store = tmp_path / "made"
    code, output = on_a_terminal("generate", str(store), "--size", "4M")
    assert (code, (store / "checkpoint").exists()) == (0, True)
    assert re.search(r"writing made \S+ +\d+%", output)
