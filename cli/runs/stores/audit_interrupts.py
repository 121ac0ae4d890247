"""End of ``rmqc audit`` by Ctrl-C or SIGTERM."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cli.runs.stores.audits import fail

SIGNALLED = 128
"""Exit code of a command that a signal ended, without the signal's number."""


@contextmanager
def ended_by_interrupt() -> Iterator[None]:
    """End the program with one line on Ctrl-C or SIGTERM, after all cleaning up.

    PySpark and Py4J raise other errors for calls that a signal interrupts. Python
    therefore writes the number of each signal to a pipe.
    """
    numbers, to_write = os.pipe()
    for end in (numbers, to_write):
        os.set_blocking(end, False)
    before = signal.set_wakeup_fd(to_write, warn_on_full_buffer=False)
    try:
        yield
    except BaseException:
        with suppress(BlockingIOError):  # no signal was received
            fail("interrupted", code=SIGNALLED + os.read(numbers, 1)[0])
        raise
    finally:
        signal.set_wakeup_fd(before)
        for end in (numbers, to_write):
            os.close(end)
