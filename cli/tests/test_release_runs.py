"""Runs of the suites that are told to end take what they started with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

from conformance.harness.process.deadline import wait_until

ROOT = Path(__file__).resolve().parents[2]
RECORD = [sys.executable, "-m", "cli", "evidence", "record", "--release", "4.6.0"]


# Ctrl-C is not tried: whoever runs the tests in the background ignores it.
def test_a_recording_that_is_told_to_end_leaves_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*RECORD, "--logs", str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL
    ) as recording:
        process = psutil.Process(recording.pid)
        wait_until(lambda: any(process.children()), what="the suites run", timeout_s=60)
        suites = process.children(recursive=True)
        recording.terminate()
        try:
            recording.wait(timeout=60)
        finally:
            recording.kill()
    _, left = psutil.wait_procs(suites, timeout=60)
    assert left == []
    assert recording.returncode == 1
