"""Runs of the suites that end early also end the processes that they started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psutil

from conformance.harness.process.deadline import wait_until
from rocketmq_conformance.paths import module_command

ROOT = Path(__file__).resolve().parents[3]
RECORD = module_command("cli", "evidence", "record", "--release", "4.6.0")


# SIGINT is not tested: a shell ignores it for a job in the background.
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
    assert recording.returncode == 130
