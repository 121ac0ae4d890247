"""The command ``rmqc``, also as ``python -m rocketmq_conformance``."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

from rocketmq_conformance.paths import add_to_path

NOT_RUN = 3
INTERRUPTED = 130
CLEANUP_S = 10.0
"""Seconds after an interrupt in which another one has no effect."""
REASON_SIZE = 200
"""Characters of an unexpected error in its line, at most."""


def main() -> None:
    """Run the command with the project's own packages first on the path."""
    _open_standard_streams()
    try:
        _interrupt_on_signals()
        add_to_path()
        importlib.import_module("cli.main").main(prog_name="rmqc")
    except KeyboardInterrupt:  # before the command could handle it
        sys.stderr.write("Error: interrupted\n")
        sys.exit(INTERRUPTED)
    except Exception as error:  # Python would end with 1, the code of findings
        with suppress(OSError):
            sys.stderr.write(f"Error: {_failure(error)}\n")
        sys.exit(NOT_RUN)


def _interrupt_on_signals() -> None:
    """Let SIGTERM and SIGHUP end like Ctrl-C, so that all context managers clean up.

    They would end Python without a cleanup of its child processes. A further signal
    does not interrupt the cleanup: a second Ctrl-C left Spark's Java running.
    """
    last_s = -CLEANUP_S

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal last_s
        now_s = time.monotonic()
        if now_s - last_s >= CLEANUP_S:
            last_s = now_s
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as SIGHUP is by nohup
            signal.signal(number, interrupt)


def _failure(error: Exception) -> str:
    """Return a line with *error* and the file of its traceback.

    Where no file can be written, the traceback follows.
    """
    import tempfile  # now, because both take 6 ms of each command's start
    import traceback

    text = "".join(traceback.format_exception(error))
    reason = f"rmqc failed with {type(error).__name__}: {str(error)[:REASON_SIZE]!r}"
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="backslashreplace",
            prefix="rmqc-traceback-",
            suffix=".txt",
            delete=False,
        ) as file:
            file.write(text)
    except OSError:
        return f"{reason}\n{text}"
    return f"{reason}; its traceback is in {file.name}"


def _open_standard_streams() -> None:
    """Open closed standard streams on the null device, as if they were redirected.

    The first file to be opened would get the number of the stream otherwise.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = os.fdopen(os.open(os.devnull, os.O_RDWR), mode)
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    # With PYTHONUNBUFFERED, Python drops the rest of a text that a full disk cuts.
    out = sys.stdout
    if isinstance(out.buffer, io.RawIOBase):
        sys.stdout = os.fdopen(
            out.fileno(), "w", 1, out.encoding, out.errors, closefd=False
        )


if __name__ == "__main__":
    main()
