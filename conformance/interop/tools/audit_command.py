"""``rmqc audit`` and ``recover`` on stores that real brokers have left."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from rocketmq_conformance.paths import module_command

ROOT = Path(__file__).resolve().parents[3]
AUDIT_DEADLINE_S = 1800
Audited = dict[str, Any]
"""An audit of one store, as design.md has it in JSON."""


def audited(*stores: Path | str, against: Path | None = None) -> list[Audited]:
    """Return the audits of *stores*, by one Spark; against *against* if given."""
    other = [] if against is None else ["--against", str(against)]
    words = ("audit", *map(str, stores), *other, "--master", "local[2]")
    printed, exit_code = _json_of(*words)
    found: list[Audited] = printed if isinstance(printed, list) else [printed]
    passed = all(one["verdict"] == "pass" for one in found)
    assert exit_code == (0 if passed else 1)
    return found


def recover_forecast(store: Path, release: str) -> dict[str, Any]:
    """Return the forecast by ``rmqc recover`` of a start of *release* on *store*."""
    found: dict[str, Any]
    found, _ = _json_of("recover", str(store), "--release", release, "--dry-run")
    return found


def _json_of(*words: str) -> tuple[Any, int]:
    """Return the JSON that ``rmqc`` prints with *words*, and its exit code."""
    run = subprocess.run(
        [*module_command("cli", *words), "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=AUDIT_DEADLINE_S,
    )
    assert run.stderr == b""
    return json.loads(run.stdout), run.returncode


def finding_lines(found: Audited) -> list[str]:
    """Return the findings of an audit, one line each."""
    return [
        f"{one['invariant']} {one['severity']} {one['file']} @ {one['offset']}:"
        f" {one['message']}; expected {one['expected']}, found {one['found']}"
        for one in found["violations"]
    ]
