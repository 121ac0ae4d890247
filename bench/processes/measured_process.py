"""
A process that works on order, with the resources of it and its children.

Memory is the proportional share (PSS), in which a page that processes share counts
once. It is read before and after an order, and on request often meanwhile. Processor
time is what each process had used when it was last seen.
"""

from __future__ import annotations

import ctypes
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.processes.command_process import CommandProcess

INTERVAL_S = 0.05
"""Seconds between two readings of memory; each walks the page tables of all processes.

At five readings a second, an audit on two processors took 0.1 s longer.
"""


class MeasuredProcessError(Exception):
    """The process ended without a response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Cost of one order."""

    response: str
    processor_s: float
    peak: int
    """Most memory of all processes together, in bytes."""
    peaks: Mapping[str, int]
    """The same of the processes of each name, each at its own worst moment."""


class MeasuredProcess(CommandProcess):
    """A process that is given orders, a line each, and answers with a line."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        began_s = time.perf_counter()
        super().__init__(command, environment=environment)
        self._used: dict[tuple[int, float], float] = {}
        self._peak, self._peaks = 0, dict[str, int]()
        try:
            self.ready = self._response()
        except MeasuredProcessError:
            self.close()
            raise
        self.start_s = time.perf_counter() - began_s

    def _end(self) -> None:
        """Let the process end, which it does when there are no more orders."""
        self._orders.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=60)
        super()._end()

    def order(self, line: str, *, is_watched: bool = False) -> Turn:
        """Give an order, wait for the response, and return it with what it cost.

        With *is_watched*, memory is read meanwhile, which makes busy processes slower.
        """
        self._used.clear()
        self._peak, self._peaks = 0, {}
        self._look()
        before = sum(self._used.values())
        with self._watched() if is_watched else nullcontext():
            self._order(line)
            response = self._response()
        self._look()
        return Turn(
            response=response,
            processor_s=sum(self._used.values()) - before,
            peak=self._peak,
            peaks=dict(self._peaks),
        )

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Read the memory of the processes in a thread."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(done,))
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(INTERVAL_S):
            self._look()

    def _look(self) -> None:
        """Note what the processes use now."""
        sizes: dict[str, int] = {}
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._process.pid)
            for process in [root, *root.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess, OSError):
                    place = process.pid, process.create_time()
                    self._used[place] = processor_s(process.pid)
                    name = "driver" if process == root else process.name()
                    sizes[name] = sizes.get(name, 0) + share_of(process.pid)
        self._peak = max(self._peak, sum(sizes.values()))
        for name, size in sizes.items():
            self._peaks[name] = max(self._peaks.get(name, 0), size)

    def _response(self) -> str:
        line = self._line()
        if not line:
            self._process.wait()
            error = self._complaint()
            raise MeasuredProcessError(
                error.splitlines()[-1] if error else "it just ended"
            )
        return line.strip()


def share_of(process_id: int) -> int:
    """Return the proportional share of memory of a process, in bytes."""
    for line in Path(f"/proc/{process_id}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def processor_s(process_id: int) -> float:
    """Return the seconds that it has used since its start, in all its threads.

    ``/proc`` counts ticks of ten milliseconds: of five thousand messages that is two
    microseconds each. Linux has a clock for every process that counts nanoseconds.
    """
    clock_of_process = getattr(ctypes.CDLL(None), "clock_getcpuclockid", None)
    clock = ctypes.c_int()
    if (
        clock_of_process is not None
        and clock_of_process(process_id, ctypes.byref(clock)) == 0
    ):
        return time.clock_gettime(clock.value)
    times = psutil.Process(process_id).cpu_times()
    return times.user + times.system
