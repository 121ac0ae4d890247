"""Children of a fork_server are started, awaited and ended like any other."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conformance.harness.process.fork_server import (
    IS_POSSIBLE,
    ForkServer,
    ForkServerError,
)
from conformance.harness.process.process import Child

PROGRAM = """
import os, pathlib, sys, time

def main(arguments):
    print("began with", *arguments, flush=True)
    if arguments == ["wait"]:
        time.sleep(600)
    if arguments == ["leave"]:
        sys.exit(5)
    if arguments == ["break"]:
        raise ValueError("of no use")
    print(os.environ.get("NURSERY_TEST"), pathlib.Path.cwd())
    return 3
"""
pytestmark = pytest.mark.skipif(not IS_POSSIBLE, reason="needs Linux")


@pytest.fixture
def fork_server(tmp_path: Path) -> Iterator[ForkServer]:
    """Yield the fork_server of a small program."""
    (tmp_path / "program.py").write_text(PROGRAM)
    with closing(ForkServer("program", directory=tmp_path)) as one:
        yield one


def child(fork_server: ForkServer, log: Path, *words: str) -> Child:
    """Return a new child with these arguments."""
    process = fork_server.fork(words, log=log)
    return Child(name="program", process=process, log=log, command=words)


def test_a_child_has_its_arguments_its_log_and_our_environment(
    fork_server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NURSERY_TEST", "seen")
    one = child(fork_server, tmp_path / "log", "a", "b")
    assert one.wait_end(deadline_s=60) == 3
    assert one.output() == f"began with a b\nseen {tmp_path}\n"


@pytest.mark.parametrize(("word", "code"), [("leave", 5), ("break", 1)])
def test_a_child_ends_with_its_own_code(
    fork_server: ForkServer, tmp_path: Path, word: str, code: int
) -> None:
    one = child(fork_server, tmp_path / "log", word)
    assert one.wait_end(deadline_s=60) == code
    assert ("ValueError: of no use" in one.output()) == (word == "break")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_a_child_and_no_other(
    fork_server: ForkServer, tmp_path: Path, how: signal.Signals
) -> None:
    first, second = (
        child(fork_server, tmp_path / name, "wait") for name in ("first", "second")
    )
    for one in (first, second):
        one.wait_for_line("began with wait")
    assert first.terminate(number=how) == -how
    assert second.running
    assert second.kill() == -signal.SIGKILL


def test_children_end_with_their_fork_server(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    one = child(fork_server, tmp_path / "log", "wait")
    with pytest.raises(subprocess.TimeoutExpired):
        one.process.wait(0)
    fork_server.close()
    assert one.process.wait(60) == -signal.SIGKILL


def test_a_program_that_cannot_be_imported_has_no_children(tmp_path: Path) -> None:
    with (
        closing(ForkServer("absent", directory=tmp_path)) as one,
        pytest.raises(ForkServerError),
    ):
        one.fork([], log=tmp_path / "log")


def test_a_log_that_cannot_be_written_is_an_error(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        fork_server.fork([], log=tmp_path / "absent" / "log")
    one = child(fork_server, tmp_path / "log", "leave")
    assert one.wait_end(deadline_s=60) == 5
