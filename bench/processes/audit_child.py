"""
One audit in a process of its own.

    python -m bench.processes.audit_child STORE MASTER [started]

It writes ``ready`` when Spark has started, waits for a line, audits, and writes one
line of JSON. The parent can thus measure the start and the audit apart, and the memory
of both. Local Python workers start in the audit, or before it if ``started`` is given.
Those of a cluster start with Spark.
"""

from __future__ import annotations

import json
import sys
import time

from spark_checks.audit import audit_store
from spark_checks.session.cluster_workers import start_workers
from spark_checks.session.session import spark_context
from spark_checks.store_files import list_store

STARTED = "started"
"""Argument that requests the start of the Python workers before the audit."""
NO_TASKS = {"with_kernels": 0, "without": 0}


def main(url: str, master: str, workers: str = "") -> None:
    """Audit the store at *url*, once for every line of the standard input."""
    size = list_store(url).commit_log_size
    with spark_context(master, size=size) as context:
        if workers == STARTED:
            start_workers(context)
        _write_line("ready")
        for _ in sys.stdin:
            steps: list[list[object]] = []
            began_s = time.perf_counter()

            def note(
                step: str,
                _size: int | None = None,
                /,
                *,
                began_s: float = began_s,
                steps: list[list[object]] = steps,
            ) -> None:
                steps.append([round(time.perf_counter() - began_s, 3), step])

            found = audit_store(context, url, progress=note)
            took_s = time.perf_counter() - began_s
            response = {
                "seconds": took_s,
                "findings": len(found.findings),
                "records": found.summary["commitlog"]["records"],  # type: ignore[index] # JSON
                "steps": steps,
                "tasks": found.summary.get("survey_tasks", NO_TASKS),
            }
            _write_line(json.dumps(response))


def _write_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
