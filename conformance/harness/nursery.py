"""
Children that are forked from a process which has imported their program already.

Python needs most of the time of a start for its imports, and the suites start the
reference more than a hundred times. So a nursery, one for each directory of sources,
imports the program once, by its name; a child of it is a copy that only has to run
`main`. The nursery ends with whoever started it, and its children end with the nursery.

This file is both sides: as a program, ``python -P nursery.py MODULE``, it is the
nursery itself, and imports nothing but MODULE, from the directory that it is started
in. Orders and answers are lines of JSON on its standard input and output.
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
"""What the reference imports only when it runs, where it is installed."""
IS_POSSIBLE = sys.platform == "linux"


class NurseryError(Exception):
    """The nursery has ended, most likely because the program cannot be imported."""


class Nursery:
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

    def fork(self, arguments: Sequence[str], *, log: Path) -> Forked:
        """Return a new child with these arguments and its output in *log*."""
        order = {"run": list(arguments), "log": str(log), "environ": dict(os.environ)}
        return Forked(pid=int(self._ask(order)), nursery=self)

    def code_of(self, pid: int) -> int:
        """Return with what the child *pid*, which has ended, ended."""
        return int(self._ask({"reap": pid}))

    def close(self) -> None:
        """End the nursery, and what still runs of its children."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _ask(self, order: Mapping[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._lock:
            try:
                self._process.stdin.write(json.dumps(order).encode() + b"\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            except (OSError, ValueError):  # a broken pipe, a closed file
                answer = b""
        if not answer:
            raise NurseryError("the nursery of the reference has ended")
        return answer.decode()


@dataclass(slots=True, kw_only=True)
class Forked:
    """A child of a nursery, to be waited for like a `subprocess.Popen`."""

    pid: int
    nursery: Nursery
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
                self._code = self.nursery.code_of(self.pid)
            except NurseryError:
                self._code = -signal.SIGKILL  # they died together
            os.close(self._end)
        return self._code


def serve(name: str) -> None:
    """Be the nursery of the program *name* until nobody gives orders any more."""
    sys.path.insert(0, str(Path.cwd()))
    program = importlib.import_module(name)
    for other in ALSO_NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(other)
    gc.collect()
    gc.freeze()  # nothing of this is looked at again in the children
    own_id = os.getpid()
    for line in sys.stdin:
        order = json.loads(line)
        if "reap" in order:
            _, status = os.waitpid(order["reap"], 0)
            _answer(os.waitstatus_to_exitcode(status))
        elif os.fork() == 0:
            _be_child(program, order, parent=own_id)


def _be_child(program: Any, order: Mapping[str, Any], *, parent: int) -> NoReturn:
    """Tell our own id once we are a group of our own, and run the program."""
    os.setsid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    os.environ.clear()
    os.environ.update(order["environ"])
    time.tzset()
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    _answer(os.getpid())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 1
    try:
        code = program.main(order["run"])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
