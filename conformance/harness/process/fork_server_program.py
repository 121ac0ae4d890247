"""
Program of a fork server: ``fork_server_program.py PARENT SOCKET MODULE [WORD...]``.

It imports only MODULE, from the directory in which it was started, and listens on the
descriptor SOCKET. Each child has a connection: the request and the descriptors of its
standard streams, then its process id, then its exit code (`fork_request`). A client
that stops within its request delays no other. A child whose connection is closed is
killed. The program ends with its standard input, and with
the process PARENT, which may be killed during a long import.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
ALSO_NEEDED = ("uvloop",)
"""Modules that the reference imports late; preloaded where they are installed."""
STREAM_COUNT = 3
"""Standard input, output and error."""
LENGTH_BYTES = 4
"""Size of the length before a request."""
READ_BYTES = 64 * 1024


@dataclass(slots=True, kw_only=True)
class _Arriving:
    """A connection whose request has not arrived completely."""

    connection: socket.socket
    streams: list[int] = field(default_factory=list)
    """Descriptors of the child's standard streams."""
    data: bytes = b""

    def read(self) -> None:
        """Read the bytes that are there; raise EOFError where the client has ended."""
        data, streams, _, _ = socket.recv_fds(self.connection, READ_BYTES, STREAM_COUNT)
        if not data:
            raise EOFError
        self.data += data
        self.streams += streams

    def request(self) -> Any:
        """Return the request, or None before its last byte.

        Raises ValueError for bytes that are not a request.
        """
        length, body = self.data[:LENGTH_BYTES], self.data[LENGTH_BYTES:]
        if len(length) < LENGTH_BYTES or len(body) < int.from_bytes(length, "big"):
            return None
        return json.loads(body)

    def close(self) -> None:
        """Close the connection and the descriptors that came on it."""
        self.connection.close()
        self.close_streams()

    def close_streams(self) -> None:
        """Close the descriptors that came on the connection."""
        for one in self.streams:
            os.close(one)


@dataclass(slots=True, kw_only=True)
class _RunningChild:
    """A child, as the fork server has it."""

    pid: int
    end: int
    """A descriptor that becomes readable when the child ends."""
    connection: socket.socket
    own_group: bool
    is_wanted: bool = True
    """Whether its connection is still open."""

    def kill(self) -> None:
        """End it with SIGKILL."""
        with contextlib.suppress(ProcessLookupError):  # it may just have ended
            os.kill(self.pid, signal.SIGKILL)
            if self.own_group:
                os.killpg(self.pid, signal.SIGKILL)

    def reap(self) -> None:
        """Send the exit code of the ended child."""
        _, status = os.waitpid(self.pid, 0)
        with contextlib.suppress(OSError), self.connection:
            self.connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        os.close(self.end)


class _Server:
    """The fork server's own side."""

    def __init__(self, listener: socket.socket, program: Any) -> None:
        self._listener = listener
        self._program = program
        self._children: list[_RunningChild] = []
        self._arriving: list[_Arriving] = []
        self._own_id = os.getpid()

    def serve(self) -> None:
        """Fork children until standard input ends."""
        while True:
            ends = {one.end: one for one in self._children}
            wanted = {
                one.connection.fileno(): one for one in self._children if one.is_wanted
            }
            listener = self._listener.fileno()
            arriving = {one.connection.fileno(): one for one in self._arriving}
            watched = [0, listener, *ends, *wanted, *arriving]
            ready, _, _ = select.select(watched, [], [])
            if 0 in ready:
                return
            for number in ready:
                if number in wanted:
                    wanted[number].is_wanted = False
                    wanted[number].kill()
            for number in ready:
                if number in ends:
                    ends[number].reap()
                    self._children.remove(ends[number])
            for number in ready:
                if number in arriving:
                    self._receive(arriving[number])
            if listener in ready:
                connection, _ = self._listener.accept()
                self._arriving.append(_Arriving(connection=connection))

    def _receive(self, arriving: _Arriving) -> None:
        """Read more of a request, and fork its child once it is complete."""
        try:
            arriving.read()
            request = arriving.request()
        except (OSError, EOFError, ValueError):  # the client has ended
            self._arriving.remove(arriving)
            arriving.close()
            return
        if request is not None:
            self._arriving.remove(arriving)
            self._fork(request, arriving)

    def _fork(self, request: Mapping[str, Any], arrived: _Arriving) -> None:
        connection, streams = arrived.connection, arrived.streams
        pid = os.fork()
        if pid == 0:
            try:
                self._close_inherited()
                _run_child(self._program, request, streams, connection, self._own_id)
            finally:
                os._exit(1)  # never back into the loop of the server
        arrived.close_streams()
        child = _RunningChild(
            pid=pid,
            end=os.pidfd_open(pid),
            connection=connection,
            own_group=request["own_group"],
        )
        self._children.append(child)

    def _close_inherited(self) -> None:
        """Close the descriptors of the server; an open connection keeps a child."""
        self._listener.close()
        for one in self._arriving:
            one.close()
        for child in self._children:
            child.connection.close()
            os.close(child.end)


def _end_with(parent: int) -> None:
    """End this process when the thread that started it ends, or if it has ended."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _run_child(
    program: Any,
    request: Mapping[str, Any],
    streams: Sequence[int],
    connection: socket.socket,
    parent: int,
) -> NoReturn:
    """Send the process id once the session exists, then run the program."""
    if request["own_group"]:
        os.setsid()
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    with connection:
        connection.sendall(b"%d\n" % os.getpid())
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        if request["directory"]:
            os.chdir(request["directory"])
        code = program.main(request["run"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()  # os._exit calls none
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def serve(parent: int, number: int, name: str, arguments: Sequence[str]) -> None:
    """Run the fork server of the module *name* on the listening descriptor *number*."""
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path.insert(0, str(Path.cwd()))
    program = importlib.import_module(name)
    for other in ALSO_NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(other)
    if arguments:
        program.prepare(arguments)
    gc.collect()
    gc.freeze()  # shared pages stay shared: no collection in a child touches them
    with socket.socket(fileno=number) as listener:
        _Server(listener, program).serve()


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
