"""
One audit in a process of its own.

    python -m bench.processes.audit_child STORE MASTER

It writes ``ready`` when Spark and its workers have started, waits for a line, audits,
and writes one line of JSON. The parent can thus measure the start and the audit apart,
and the memory of both. The line has the seconds for which workers delay the start of
Spark.
"""

from __future__ import annotations

import json
import sys
import time

from spark_checks.audit import audit_store
from spark_checks.session.session import spark_context
from spark_checks.store_files import list_store

NO_TASKS = {"with_kernels": 0, "without": 0}


def main(url: str, master: str) -> None:
    """Audit the store at *url*, once for every line of the standard input."""
    size = list_store(url).commit_log_size
    began_s = time.perf_counter()

    def note_start_of_workers(_step: str, _size: int | None = None, /) -> None:
        nonlocal began_s
        began_s = time.perf_counter()

    with spark_context(master, size=size, progress=note_start_of_workers) as context:
        workers_s = time.perf_counter() - began_s
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
                "workers_s": workers_s,
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
