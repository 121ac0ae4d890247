"""Children of a fork_server are started, awaited and ended like any other."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from conformance.harness.process.deadline import wait_until
from conformance.harness.process.fork_request import (
    LENGTH_BYTES,
    next_number,
    request_fork,
    short_path,
)
from conformance.harness.process.fork_server import (
    IS_POSSIBLE,
    ForkServer,
    ForkServerError,
)
from conformance.harness.process.process import Child
from conformance.harness.process.workspace import Workspace
from conformance.harness.targets.started.embedded import SOURCES
from conformance.meta.targets.processes import is_alive

SLOW_IMPORT = """
import pathlib, time
pathlib.Path("began").touch()
time.sleep(600)
"""
OWNER = """
import sys, time
from pathlib import Path
from conformance.harness.process.fork_server import ForkServer
server = ForkServer("program", directory=Path(sys.argv[1]))
print(server._process.pid, server.address.parent, flush=True)
time.sleep(600)
"""
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


@pytest.fixture
def importing(tmp_path: Path) -> Path:
    """Return the directory of a program whose import does not end."""
    (tmp_path / "program.py").write_text(SLOW_IMPORT)
    return tmp_path


def test_a_fork_server_ends_with_a_killed_owner_also_during_an_import(
    importing: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(importing)],
        cwd=SOURCES,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        number, left = owner.stdout.readline().split()
        wait_until((importing / "began").exists, what="the import has begun")
        owner.kill()
    wait_until(lambda: not is_alive(int(number)), what="it has ended")
    with closing(Workspace()):
        assert not Path(left).exists(), "the next run removes its directory"


def test_a_fork_server_is_closed_during_an_import(importing: Path) -> None:
    server = ForkServer("program", directory=importing)
    wait_until((importing / "began").exists, what="the import has begun")
    begun = time.monotonic()
    server.close()
    assert time.monotonic() - begun < 30


def test_the_directory_of_temporary_files_may_have_a_long_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    (tmp_path / "program.py").write_text(PROGRAM)
    with closing(ForkServer("program", directory=tmp_path)) as server:
        one = child(server, tmp_path / "log", "leave")
        assert one.wait_end(deadline_s=60) == 5


@pytest.mark.parametrize("sent", [b"", b"\0", bytes([0, 0, 0, 9]) + b"{"])
def test_a_client_that_stops_within_its_request_delays_no_other(
    fork_server: ForkServer, tmp_path: Path, sent: bytes
) -> None:
    with (
        socket.socket(socket.AF_UNIX) as stopped,
        short_path(str(fork_server.address)) as path,
        (tmp_path / "log").open("wb") as log,
    ):
        stopped.connect(path)
        if sent:
            socket.send_fds(stopped, [sent], [0, 1, 2])
        streams = (0, log.fileno(), log.fileno())
        with request_fork(str(fork_server.address), ["leave"], streams) as other:
            other.settimeout(30)
            assert next_number(other) is not None
            assert next_number(other) == 5


def test_a_request_may_arrive_in_parts(fork_server: ForkServer, tmp_path: Path) -> None:
    request = {"run": ["leave"], "environ": {}, "directory": "", "own_group": True}
    body = json.dumps(request).encode()
    whole = len(body).to_bytes(LENGTH_BYTES, "big") + body
    with (
        socket.socket(socket.AF_UNIX) as slow,
        short_path(str(fork_server.address)) as path,
        (tmp_path / "log").open("wb") as log,
    ):
        slow.settimeout(30)
        slow.connect(path)
        socket.send_fds(slow, [whole[:2]], [0, log.fileno(), log.fileno()])
        for part in (whole[2:9], whole[9:]):
            time.sleep(0.05)
            slow.sendall(part)
        assert next_number(slow) is not None
        assert next_number(slow) == 5


def test_a_request_that_ends_early_leaves_no_descriptor(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    def descriptors() -> int:
        one = child(fork_server, tmp_path / "log", "wait")
        one.wait_for_line("began with wait")
        count: int = psutil.Process(fork_server._process.pid).num_fds()
        one.kill()
        return count

    before = descriptors()
    for _ in range(3):
        with (
            socket.socket(socket.AF_UNIX) as connection,
            short_path(str(fork_server.address)) as path,
        ):
            connection.connect(path)
            socket.send_fds(connection, [bytes([0, 0, 0, 9])], [0, 1, 2])
    assert descriptors() == before
