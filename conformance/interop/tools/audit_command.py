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
    command = module_command("cli", "audit", *map(str, stores))
    other = [] if against is None else ["--against", str(against)]
    run = subprocess.run(
        [*command, *other, "--format", "json", "--master", "local[2]"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=AUDIT_DEADLINE_S,
    )
    assert run.stderr == b""
    printed: Any = json.loads(run.stdout)
    found: list[Audited] = printed if isinstance(printed, list) else [printed]
    passed = all(one["verdict"] == "pass" for one in found)
    assert run.returncode == (0 if passed else 1)
    return found


def recover_forecast(store: Path, release: str) -> dict[str, Any]:
    """Return the forecast by ``rmqc recover`` of a start of *release* on *store*."""
    run = subprocess.run(
        [
            *module_command("cli", "recover", str(store)),
            *("--release", release, "--dry-run", "--format", "json"),
        ],
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=AUDIT_DEADLINE_S,
    )
    assert run.stderr == b""
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def finding_lines(found: Audited) -> list[str]:
    """Return the findings of an audit, one line each."""
    return [
        f"{one['invariant']} {one['severity']} {one['file']} @ {one['offset']}:"
        f" {one['message']}; expected {one['expected']}, found {one['found']}"
        for one in found["violations"]
    ]
