"""
``python -m conformance.wrong_clients [ID ...]``: run the suite on wrong Java clients.

Each run has the tests of the clauses that must detect the fault. The outcomes are kept
in ``fixtures/mutants/wrong_clients_5.3.3.json``. The exit code is 1 if one is missed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from conformance.harness.report.outcome import Outcome
from conformance.harness.targets.started.embedded import SOURCES
from conformance.mutants.matrix import run_clauses
from conformance.wrong_clients.wrong_clients import WRONG_CLIENTS, WrongClient

RELEASE = "5.3.3"
FILE = SOURCES / "fixtures" / "mutants" / f"wrong_clients_{RELEASE}.json"
COMMAND = f"python -m conformance.client.adapters.java {RELEASE}"
TIMEOUT_S = 900.0


def recorded(file: Path = FILE) -> Mapping[str, Mapping[str, str]]:
    """Return the recorded outcomes of each wrong client, by clause."""
    if not file.exists():
        return {}
    found: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return found


def missed_by(one: WrongClient, outcomes: Mapping[str, str]) -> list[str]:
    """Return the clauses of *one* that did not fail."""
    return [name for name in one.caught_by if outcomes.get(name) != Outcome.FAIL.value]


def main(names: list[str]) -> int:
    """Run the wrong clients of these *names*, or all; return 1 if one is missed."""
    code = 0
    for one in [WRONG_CLIENTS[name] for name in names or WRONG_CLIENTS]:
        begun = time.monotonic()
        run = run_clauses(
            f"wrong-client:{one.id} {COMMAND}", one.caught_by, timeout_s=TIMEOUT_S
        )
        outcomes = {name: run.outcomes[name].value for name in sorted(run.outcomes)}
        missed = missed_by(one, outcomes)
        code = 1 if missed else code
        keep(one.id, outcomes)
        verdict = f"MISSED by {', '.join(missed)}" if missed else "caught"
        line = f"{verdict}  {one.id}  {time.monotonic() - begun:.0f} s\n"
        sys.stdout.write(line + (run.output[-2000:] if missed else ""))
        sys.stdout.flush()
    return code


def keep(name: str, outcomes: Mapping[str, str], file: Path = FILE) -> None:
    """Write the *outcomes* of one wrong client into the record."""
    every = {**recorded(file), name: dict(outcomes)}
    kept = {one: every[one] for one in WRONG_CLIENTS if one in every}
    rows = [f"{json.dumps(one)}: {json.dumps(kept[one])}" for one in kept]
    file.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
