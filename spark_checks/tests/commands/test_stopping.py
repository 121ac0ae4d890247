"""
An interrupted audit stops its Spark and removes its files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rocketmq_conformance.paths import module_command
from spark_checks.session.failures import JAVA_HAS_ENDED, SparkError

ROOT = Path(__file__).resolve().parents[3]
STORE = ROOT / "fixtures" / "store" / "4.6.0-stopped"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_audit_leaves_nothing(
    number: signal.Signals, tmp_path: Path
) -> None:
    command = module_command("cli", "audit", STORE)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interrupts,
    ) as audit:
        # Its Java runs, so Spark is being started or is there.
        assert becomes_true(
            lambda: [c for c in children(audit.pid) if "java" in c.name()]
        )
        spark = children(audit.pid)
        audit.send_signal(number)
        _, errors = audit.communicate(timeout=60)
    _, left = psutil.wait_procs(spark, timeout=60)
    assert left == []
    assert list(tmp_path.glob("rmqc-audit-*")) == []
    assert (audit.returncode, errors) == (130, b"Error: interrupted\n")


KILLED = """
from spark_checks.session.session import spark_context

with spark_context("local[1]", size=0) as context:
    context._gateway.proc.kill()
    context.parallelize([1]).count()
"""


def test_a_killed_java_is_a_failure_of_spark(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", KILLED],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Exception occurred during processing" not in run.stderr
    error = f"{SparkError.__module__}.{SparkError.__name__}: {JAVA_HAS_ENDED}"
    assert run.stderr.splitlines()[-1] == error
    assert list(tmp_path.iterdir()) == []


def heed_interrupts() -> None:
    """Have SIGINT interrupt Python, also where the tests run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def children(process_id: int) -> list[psutil.Process]:
    """Return all descendants of a process."""
    return psutil.Process(process_id).children(recursive=True)


def becomes_true(condition: Callable[[], object], timeout_s: float = 60.0) -> bool:
    """Return whether *condition* becomes true in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
