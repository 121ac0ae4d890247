"""
Fork server: forks children from a process that has already imported their program.

Imports take most of the time of a Python start, and the suites start the reference more
than a hundred times. One fork server for each directory of sources imports the program
once, by its module name. A child is a copy that only has to run `main`. The fork server
ends with the process that started it, and its children end with the fork server.

This file is both sides. As a program, ``python -P fork_server.py MODULE``, it is the
fork server. It then imports only MODULE, from the directory in which it was started.
Requests and responses are lines of JSON on its standard input and output.
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
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
ALSO_NEEDED = ("uvloop",)
"""Modules that the reference imports late; preloaded where they are installed."""
IS_POSSIBLE = sys.platform == "linux"


class ForkServerError(Exception):
    """The fork server has ended, most likely because the program cannot be imported."""


class ForkServer:
    """A process that forks children which run the `main` of *module*."""

    def __init__(self, module: str, *, directory: Path) -> None:
        words = [sys.executable, "-P", __file__, module]
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=directory,
            start_new_session=True,
        )
        atexit.register(self.close)

    def fork(self, arguments: Sequence[str], *, log: Path) -> ForkedProcess:
        """Return a new child with these arguments and its output in *log*.

        Raises OSError where *log* cannot be written.
        """
        log.write_bytes(b"")
        request = {"run": list(arguments), "log": str(log), "environ": dict(os.environ)}
        return ForkedProcess(pid=int(self._request(request)), fork_server=self)

    def exit_code_of(self, pid: int) -> int:
        """Return the exit code of the ended child *pid*."""
        return int(self._request({"reap": pid}))

    def close(self) -> None:
        """End the fork server and its running children."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _request(self, request: Mapping[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            except (OSError, ValueError):  # a broken pipe, a closed file
                answer = b""
        if not answer:
            raise ForkServerError("the fork server of the reference has ended")
        return answer.decode()


@dataclass(slots=True, kw_only=True)
class ForkedProcess:
    """Child of a fork server, with the interface of a `subprocess.Popen`."""

    pid: int
    fork_server: ForkServer
    _end: int = field(init=False, repr=False)
    """A descriptor that becomes readable when the child ends."""
    _code: int | None = None

    def __post_init__(self) -> None:
        self._end = os.pidfd_open(self.pid)

    def poll(self) -> int | None:
        """Return the exit code, None while the child runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once the child has ended."""
        if self._code is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            try:
                self._code = self.fork_server.exit_code_of(self.pid)
            except ForkServerError:
                self._code = -signal.SIGKILL  # they died together
            os.close(self._end)
        return self._code


def serve(name: str) -> None:
    """Run the fork server of the module *name* until standard input ends."""
    sys.path.insert(0, str(Path.cwd()))
    program = importlib.import_module(name)
    for other in ALSO_NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(other)
    gc.collect()
    gc.freeze()  # shared pages stay shared: no collection in a child touches them
    own_id = os.getpid()
    for line in sys.stdin:
        request = json.loads(line)
        if "reap" in request:
            _, status = os.waitpid(request["reap"], 0)
            _respond(os.waitstatus_to_exitcode(status))
        elif os.fork() == 0:
            _run_child(program, request, parent=own_id)


def _run_child(program: Any, request: Mapping[str, Any], *, parent: int) -> NoReturn:
    """Report the process id once the session exists, then run the program."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.environ.clear()
    os.environ.update(request["environ"])
    time.tzset()
    _respond(os.getpid())
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        log = os.open(request["log"], os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        code = program.main(request["run"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _respond(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
