"""
Child processes: started, awaited, stopped and killed; none survives the run.

Every child has its own process group, so that Ctrl-C in the terminal reaches only
pytest, which then stops the children. On Linux the kernel kills the child when its
parent dies (``PR_SET_PDEATHSIG``), even after ``kill -9`` of pytest. Output goes to a
log file, whose tail is part of every error. A target's command may be a wrapper
(``sh``, ``npx``) that ends before its program: `orphans` are what is left of its group.

This module is independent of RocketMQ; ports are in ``ports.py``.
"""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import psutil

from conformance.harness.process.spawn_thread import run_on_spawn_thread

POLL_S = 0.02
"""Pause between two checks of a condition."""

TAIL_LINES = 25
"""Lines of the log that an error shows."""

_LAUNCHER = """
import ctypes, os, signal, sys
parent, slack_ns = int(sys.argv[1]), int(sys.argv[2])
library = ctypes.CDLL(None)
library.prctl(1, signal.SIGKILL)
if slack_ns:
    library.prctl(29, ctypes.c_ulong(slack_ns))
if os.getppid() != parent:
    os._exit(1)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""Program that sets its death signal and timer slack, then executes the target program
(Linux: PR_SET_PDEATHSIG, PR_SET_TIMERSLACK)."""

_living: set[Child] = set()


class Process(Protocol):
    """Interface of a `subprocess.Popen` that this module needs."""

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code once it has ended."""


class ProcessError(Exception):
    """A child did not start, or did not become ready, or died too early."""


@dataclass(eq=False, slots=True)
class Child:
    """One running program, its process group and its log."""

    name: str
    process: Process
    log: Path
    command: tuple[str, ...] = field(repr=False)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its group."""
        return self.process.pid

    @property
    def running(self) -> bool:
        """Whether the program has not ended yet."""
        return self.process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Exit code of the program; negative for a signal, None while it runs."""
        return self.process.poll()

    def output(self) -> str:
        """Return everything that the program has printed, both streams together."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def end_report(self) -> str:
        """Return the exit status and the last lines of output; empty while it runs."""
        code = self.exit_code
        if code is None:
            return ""
        ended = f"{self.name} ended with exit status {code}"
        return f"{ended}; its log ends:\n{self.log_tail()}"

    def log_tail(self, lines: int = TAIL_LINES) -> str:
        """Return the last *lines* of the log, indented for an error message."""
        return "\n".join(f"    {line}" for line in self.output().splitlines()[-lines:])

    def wait_until(
        self, condition: Callable[[], bool], *, what: str, deadline_s: float = 60.0
    ) -> None:
        """Return when *condition* holds; fail when the child dies or time is up."""
        give_up_at = time.monotonic() + deadline_s
        while not condition():
            if not self.running:
                code = self.exit_code
                raise self._failed(f"ended with {code} while we waited for {what}")
            if time.monotonic() > give_up_at:
                raise self._failed(f"no {what} within {deadline_s:g} s")
            time.sleep(POLL_S)

    def wait_for_line(self, prefix: str, *, deadline_s: float = 60.0) -> str:
        """Return the first line of output that begins with *prefix*."""
        found: list[str] = []

        def has_line() -> bool:
            whole = self.output().rpartition("\n")[0].splitlines()
            found.extend(line for line in whole if line.startswith(prefix))
            return bool(found)

        self.wait_until(has_line, what=f"line {prefix!r}", deadline_s=deadline_s)
        return found[0]

    def wait_end(self, *, deadline_s: float = 60.0) -> int:
        """Return the exit code of a program that ends by itself."""
        try:
            code = self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise self._failed(f"did not end within {deadline_s:g} s") from None
        _living.discard(self)
        return code

    def terminate(
        self, *, grace_s: float = 30.0, number: signal.Signals = signal.SIGTERM
    ) -> int:
        """Terminate the program, kill it after *grace_s*, and return its exit code.

        Where the command is a wrapper, its program has the same time.
        """
        give_up_at = time.monotonic() + grace_s
        self._signal(number)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(grace_s)
            while orphans(self.pid) and time.monotonic() < give_up_at:
                time.sleep(POLL_S)
        return self.kill()

    def kill(self) -> int:
        """End the program with SIGKILL, as a power cut would."""
        self._signal(signal.SIGKILL)
        return self._reap()

    def _reap(self) -> int:
        code = self.process.wait()
        _living.discard(self)
        return code

    def _signal(self, number: signal.Signals) -> None:
        if self.running or orphans(self.pid):
            with suppress(ProcessLookupError):  # it ended between the two lines
                os.killpg(self.pid, number)

    def _failed(self, what: str) -> ProcessError:
        return ProcessError(
            f"{self.name}: {what}; log {self.log} ends:\n{self.log_tail()}"
        )


def start(
    name: str,
    command: Sequence[str | Path],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    timer_slack_s: float = 0.0,
) -> Child:
    """
    Start *command* with its output in *log*.

    *environment* is added to our own. On Linux, waits of the program may last
    *timer_slack_s* longer, so that the system joins several of them; by default 50 µs.
    """
    words = [str(word) for word in command]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        try:
            opened = partial(
                subprocess.Popen[bytes],
                launched(words, timer_slack_s),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                cwd=directory,
                start_new_session=True,
            )
            process = run_on_spawn_thread(opened)
        except OSError as error:
            raise ProcessError(f"{name}: cannot start {words[0]}: {error}") from None
    return track(Child(name=name, process=process, log=log, command=tuple(words)))


def end_reports() -> list[str]:
    """Return the exit status and last output of each child that ended by itself."""
    return list(filter(None, (child.end_report() for child in tuple(_living))))


def launched(words: Sequence[str], timer_slack_s: float = 0.0) -> list[str]:
    """Return the command that executes *words* with the death signal of a child."""
    if sys.platform != "linux":
        return list(words)
    launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
    return [*launcher, str(os.getpid()), str(round(timer_slack_s * 1e9)), *words]


def require_program(name: str, directory: Path | None = None) -> None:
    """Raise OSError if *name*, seen from *directory*, cannot be executed.

    The command of `launched` would raise it in the child. A name without a separator
    is one of the PATH.
    """
    path = (directory or Path()) / name
    if shutil.which(path if os.sep in name else name) is None:
        is_there = os.sep in name and path.exists()
        number = errno.EACCES if is_there else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


def track(child: Child) -> Child:
    """Return *child*, which from now on ends with us at the latest."""
    _living.add(child)
    return child


def accepts(host: str, port: int) -> bool:
    """Return whether something listens on *host*:*port*."""
    try:
        with socket.create_connection((host, port), timeout=1.0):
            return True
    except OSError:
        return False


@atexit.register
def _kill_all() -> None:
    for child in tuple(_living):
        child.kill()


def started_processes() -> set[int]:
    """Return the ids of our children and theirs, also of those from a fork server."""
    descendants = psutil.Process().children(recursive=True)
    return {one.pid for one in descendants} | {child.pid for child in tuple(_living)}


def orphans(group: int) -> list[int]:
    """Return the ids of a group's running processes, once its first one has ended.

    Empty where a process has the number of the group. The system gives it to a stranger
    only after the last process of the group.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return []
    members = [one.pid for one in psutil.process_iter() if _is_in(one, group)]
    return [] if group in members else members


def _is_in(process: psutil.Process, group: int) -> bool:
    with suppress(psutil.Error, ProcessLookupError):
        is_of_group = os.getpgid(process.pid) == group
        return is_of_group and process.status() != psutil.STATUS_ZOMBIE
    return False
