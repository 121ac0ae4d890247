"""
Processor time of another process, in the finest unit of the system.

``/proc`` counts ticks of ten milliseconds: of five thousand messages that is two
microseconds each. Linux has a clock for every process that counts nanoseconds.
"""

from __future__ import annotations

import ctypes
import time

import psutil


def processor_s(process_id: int) -> float:
    """Return the seconds that it has used since its start, in all its threads."""
    clock_of_process = getattr(ctypes.CDLL(None), "clock_getcpuclockid", None)
    clock = ctypes.c_int()
    if (
        clock_of_process is not None
        and clock_of_process(process_id, ctypes.byref(clock)) == 0
    ):
        return time.clock_gettime(clock.value)
    times = psutil.Process(process_id).cpu_times()
    return times.user + times.system
