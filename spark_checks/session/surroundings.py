"""Surroundings of Spark's start: its directory, variables, output and interrupts."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from spark_checks.session.failures import SparkError

START_SIZE = 32 << 10
"""Bytes of files at Spark's start. On a full disk PySpark waits for Java for ever."""


@contextmanager
def own_directory() -> Iterator[Path]:
    """Yield a new temporary directory that has room for a start; SparkError."""
    try:
        held = tempfile.TemporaryDirectory(prefix="rmqc-audit-")
    except OSError as error:
        raise SparkError(f"Spark did not start: {error.strerror or error}") from None
    with held as name:
        probe = Path(name, "probe")
        try:
            probe.write_bytes(bytes(START_SIZE))
        except OSError as error:
            reason = f"{name} cannot be written: {error.strerror}"
            raise SparkError(f"Spark did not start: {reason}") from None
        probe.unlink()
        yield Path(name)


@contextmanager
def environment_variables(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables, and restore them at the end."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def output_to(log: Path) -> Iterator[None]:
    """Redirect the output and the errors of child processes to *log*.

    Java reports on standard output that it cannot write a class archive.
    """
    kept = {}
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    try:
        with log.open("wb") as file:
            for number in (1, 2):
                kept[number] = os.dup(number)
                os.dup2(file.fileno(), number)
        yield
    finally:
        for number, stream_before in kept.items():
            os.dup2(stream_before, number)
            os.close(stream_before)


@contextmanager
def own_interrupt_handler() -> Iterator[None]:
    """Restore the handler of SIGINT, which a SparkContext replaces.

    Spark's handler calls Java, amid another call on the same connection.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
