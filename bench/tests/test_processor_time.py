"""The processor time of another process, finely and as ``/proc`` counts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from bench.processes.measured_process import processor_s

TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def test_our_own_is_what_our_clock_says() -> None:
    before = time.process_time()
    found = processor_s(os.getpid())
    assert before <= found <= time.process_time()
    assert processor_s(os.getpid()) > found


def test_without_such_a_clock_ticks_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: SimpleNamespace())
    before = time.process_time()
    found = processor_s(os.getpid())
    assert before - 2 * TICK_S <= found <= time.process_time() + 2 * TICK_S
    assert found / TICK_S == pytest.approx(round(found / TICK_S))


def test_of_a_process_that_is_gone_nothing_is_said() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    with pytest.raises(psutil.NoSuchProcess):
        processor_s(gone.pid)
