"""
Time from a command to a name server and a broker that serve.

Ours is ``rmqc serve`` on an empty directory, until it prints its ready line. Apache's
are its two programs, until the broker is registered and takes connections.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.processes.servers import OPENS, ServerBenchError, check_release
from bench.report.result import (
    OURS,
    THEIRS,
    Goal,
    Report,
    Turn,
    goal_result,
    limit,
    machine_facts,
    row,
)
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.process.ports import free_port_block
from rocketmq_conformance.paths import module_command

READY_MAX_S = 0.5
READY = "ready "
END_TIMEOUT_S = 60.0


def measure(release: str, rounds: int, *, progress: Callable[[str], None]) -> Report:
    """Start the reference and Apache's *release* in turns; return the report."""
    check_release(release)
    machine = machine_facts(release)
    turns: dict[str, list[Turn]] = {OURS: [], THEIRS: []}
    for number in range(1, rounds + 1):
        for who in turns:
            progress(f"round {number} of {rounds}: {who}")
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                directory = Path(folder)
                seconds = _ours(directory) if who == OURS else _apache(release, folder)
            turns[who].append({"ready_s": seconds})
    found = row("ready to serve", turns, unit="s", of="ready_s")
    goal = Goal(figure="ready_s", at_least=1, less_is_better=True)
    quickest = min(found.sides[OURS].rounds)
    return Report(
        bench="start",
        machine=machine,
        rounds=rounds,
        rows=[found],
        goals=[
            goal_result("ready to serve", turns, goal),
            # Other work on the machine can only make a start longer.
            limit("quickest start", quickest, at_most=READY_MAX_S, unit="s"),
        ],
    )


def _ours(directory: Path) -> float:
    ports = free_port_block()
    words = ["--namesrv-port", ports.name_server, "--broker-port", ports.broker]
    command = module_command("cli", "serve", *map(str, words))
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--store", str(directory / "store")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        seconds = time.monotonic() - began
        if not line.startswith(READY):
            raise ServerBenchError(f"rmqc serve said {line!r}")
        process.terminate()
        process.communicate(timeout=END_TIMEOUT_S)
        return seconds
    finally:
        process.kill()
        process.communicate()
        ports.release()


def _apache(release: str, folder: str) -> float:
    cluster = ApacheCluster(release, directory=Path(folder), java_options=OPENS)
    try:
        began = time.monotonic()
        cluster.start()
        return time.monotonic() - began
    finally:
        cluster.close()
