"""
Thread that starts child processes, and lives as long as this process.

Linux ties ``PR_SET_PDEATHSIG`` to the *thread* that started a child, not to its
process. A child of a short-lived thread is killed as soon as that thread returns. This
thread therefore runs such calls for others. The main thread does not need it.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


def run_on_spawn_thread(call: Callable[[], Result]) -> Result:
    """Return the result of *call*, run on a thread that ends with the process."""
    if threading.current_thread() is threading.main_thread():
        return call()
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # the traceback is that of the caller's thread
            outcome.set_exception(error)

    _calls_of(os.getpid()).put(run)
    return outcome.result()


@functools.cache
def _calls_of(process_id: int) -> SimpleQueue[Callable[[], None]]:
    """Return the calls that wait; a forked process begins with a thread of its own."""
    calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
    name = f"starts children of {process_id}"
    threading.Thread(target=_run_all, args=(calls,), name=name, daemon=True).start()
    return calls


def _run_all(calls: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        calls.get()()
