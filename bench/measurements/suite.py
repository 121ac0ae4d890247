"""
Duration of the suite on the reference, and on a real release.

Each is one run of ``rmqc test`` with its defaults. There are no rounds: a run on a
real release takes minutes. The verdicts do not matter here.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from bench.processes.servers import ServerBenchError, check_release
from bench.report.result import OURS, THEIRS, Report, limit, machine_facts, row
from rocketmq_conformance.paths import module_command

LIMITS_S = {OURS: 60.0, THEIRS: 180.0}
FINDINGS = 1
"""Exit code of a run that came to verdicts, some of them bad."""


def measure(
    release: str, words: tuple[str, ...], *, progress: Callable[[str], None]
) -> Report:
    """Run the suite on both, with *words* more on the command line."""
    check_release(release)
    machine = machine_facts(release)
    targets = {OURS: "embedded:", THEIRS: f"jvm:{release}"}
    turns = {}
    for who, target in targets.items():
        progress(f"the suite on {target}")
        turns[who] = [{"takes_s": _run(target, words)}]
    return Report(
        bench="suite",
        machine=machine,
        rounds=1,
        rows=[row("the suite", turns, unit="s", of="takes_s")],
        goals=[
            limit(f"suite, {who}", turns[who][0]["takes_s"], at_most=most, unit="s")
            for who, most in LIMITS_S.items()
        ],
    )


def _run(target: str, words: tuple[str, ...]) -> float:
    command = module_command("cli", "test", "--target", target, *words)
    began = time.monotonic()
    run = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    if run.returncode > FINDINGS:
        output = (run.stdout + run.stderr).strip()[-300:]
        raise ServerBenchError(f"the suite did not run on {target}: {output}")
    return time.monotonic() - began
