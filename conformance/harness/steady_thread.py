"""
Linux ties ``PR_SET_PDEATHSIG`` to the *thread* that started a child, not to its
process: a child that a short thread started is killed as soon as that thread returns.

So one thread does nothing but run calls for the others and lives as long as the
process. What is started there dies with the process and not before. The main thread
needs no such help.
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


def run_steadily(call: Callable[[], Result]) -> Result:
    """Return what *call* returns, run on a thread that ends only with the process."""
    if threading.current_thread() is threading.main_thread():
        return call()
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:  # it belongs to the thread that asked
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
