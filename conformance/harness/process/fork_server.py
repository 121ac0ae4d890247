"""
Fork server: forks children from a process that has already imported their program.

Imports take most of the time of a Python start, and the suites start the reference more
than a hundred times. A fork server imports a program once, by its module name, for all
processes of a run. A child is a copy that only has to run `main`. The fork server ends
with the process that started it, also when that is killed, and its children end with
the fork server.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from conformance.harness.process.fork_request import (
    next_number,
    request_fork,
    short_path,
)
from conformance.harness.process.spawn_thread import run_on_spawn_thread
from conformance.harness.process.workspace import Workspace

IS_POSSIBLE = sys.platform == "linux"
END_S = 1.0
"""Time in which a fork server ends that waits for requests."""
PROGRAM = Path(__file__).with_name("fork_server_program.py")


class ForkServerError(Exception):
    """The fork server has ended, most likely because the program cannot be imported."""


class ForkServer:
    """A process that forks children which run the `main` of *module*.

    With *arguments*, the `prepare` of *module* is called with them before any fork.
    Children with an *own_session* get no signal of the terminal.
    """

    def __init__(
        self,
        module: str,
        *,
        directory: Path,
        arguments: Sequence[str] = (),
        own_session: bool = True,
    ) -> None:
        self._workspace = Workspace()
        self.address = self._workspace.path / "socket"
        """Path of its socket, by which other processes fork children, too."""
        with socket.socket(socket.AF_UNIX) as listener:
            with short_path(str(self.address)) as path:
                listener.bind(path)
            listener.listen()
            number = listener.fileno()
            program = [sys.executable, "-P", str(PROGRAM), str(os.getpid())]
            self._process = run_on_spawn_thread(
                partial(
                    subprocess.Popen[bytes],
                    [*program, str(number), module, *arguments],
                    stdin=subprocess.PIPE,
                    cwd=directory,
                    pass_fds=[number],
                    start_new_session=own_session,
                )
            )
        atexit.register(self.close)

    def fork(self, arguments: Sequence[str], *, log: Path) -> ForkedProcess:
        """Return a new child with these arguments and its output in *log*."""
        return fork_from(self.address, arguments, log=log)

    def close(self) -> None:
        """End the fork server and its running children."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:  # it still imports its program
            self._process.kill()
            self._process.wait()
        self._workspace.close()
        atexit.unregister(self.close)


def fork_from(
    address: Path, arguments: Sequence[str], *, log: Path, directory: Path | None = None
) -> ForkedProcess:
    """Return a new child of the fork server at *address*, with its output in *log*.

    It runs in *directory*, by default that of the fork server. Raises OSError where
    *log* cannot be written.
    """
    log.write_bytes(b"")
    with open(os.devnull, "rb") as nothing, log.open("ab") as output:
        streams = (nothing.fileno(), output.fileno(), output.fileno())
        try:
            connection = request_fork(
                str(address), arguments, streams, directory=str(directory or "")
            )
        except OSError as error:
            raise ForkServerError(f"the fork server has ended: {error}") from None
    pid = next_number(connection)
    if pid is None:
        connection.close()
        raise ForkServerError("the fork server has ended")
    return ForkedProcess(pid=pid, connection=connection)


@dataclass(slots=True, kw_only=True)
class ForkedProcess:
    """Child of a fork server, with the interface of a `subprocess.Popen`."""

    pid: int
    connection: socket.socket = field(repr=False)
    """It becomes readable when the child ends."""
    _code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, None while the child runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the child has ended."""
        if self._code is None:
            if not select.select([self.connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            with self.connection:
                code = next_number(self.connection)
            # Without a code it died with the fork server.
            self._code = -signal.SIGKILL if code is None else code
        return self._code
