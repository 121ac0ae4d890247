"""
Process of the early daemon, as the driver starts and ends it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

MODULE = "spark_checks.session.early_daemon"
STOP_S = 10
"""Seconds for the daemon to end after Java."""
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Request of huge pages, with which a survey takes 6 % less processor time."""
_DEFAULTS = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", **HUGE_PAGES}
"""Variables that Python, numpy and the C library read at their start."""


@contextmanager
def early_daemon(path: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Run an early daemon with *environment* that listens at *path*.

    It ends with Java, or with the driver if Spark started no worker. Its process group
    is its own, so that an interrupt of the terminal reaches the driver alone.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(bytes(path))
        listener.listen(1)
        number = listener.fileno()
        process = subprocess.Popen(
            [sys.executable, "-m", MODULE, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={**_DEFAULTS, **os.environ, **environment},
            pass_fds=[number],
            process_group=0,
        )
    try:
        yield
    finally:
        end_process(process, STOP_S)


def end_process(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    """End a *process* that reads its standard input to the end; kill a late one.

    An interrupt kills it, too: Java writes its class archive for some seconds.
    """
    assert process.stdin is not None  # for the type checker
    process.stdin.close()
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=timeout_s)
    finally:
        process.kill()
        process.wait()
