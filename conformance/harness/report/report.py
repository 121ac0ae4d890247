"""
The report of a run, ``report.json``: one entry a clause, for machines and matrices.

``report_json.py`` has its structures. Values that may have 64 bits are text.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from conformance.harness.report.outcome import Outcome
from conformance.harness.report.pages import run_page
from conformance.harness.report.report_json import (
    ClauseEntry,
    FailureEntry,
    Report,
    ReportError,
    TargetEntry,
    decode_report,
    encode_report,
)
from conformance.harness.report.run_record import ClauseResult
from conformance.harness.targets.probing.probe import names_of
from conformance.harness.targets.shared_target import refuses_of, violations_of
from spec.registry import all_clauses

FAILURES = (Outcome.FAIL, Outcome.ERROR, Outcome.KNOWN)
"""Outcomes with a failure's text."""
FILE_NAME = "report.json"


def report_of(
    results: list[ClauseResult],
    description: Mapping[str, str],
    *,
    interrupted: str = "",
) -> Report:
    """Return the report of a run.

    *interrupted* is the progress of a run that was interrupted.
    """
    return Report(
        target=_target(description),
        suite_version=suite_version(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]),
        interrupted=interrupted or None,
        results=[entry_of(result) for result in results],
        totals=totals(results),
    )


def write_report(directory: Path, report: Report) -> Path:
    """Write *report* and its pages into *directory* and return the report's file."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / FILE_NAME
    write_whole(file, encode_report(report))
    write_pages(directory, report)
    return file


def write_pages(directory: Path, report: Report) -> None:
    """Write page, summary and badge of a run into *directory*."""
    for name in run_page.FILES:
        page = run_page.run_page(report, Path(name).suffix)
        write_whole(directory / name, page)


def write_whole(file: Path, text: str) -> None:
    """Write *text* into *file*, which is removed where that fails."""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        with suppress(OSError):
            file.unlink()
        raise OSError(error.errno, error.strerror, str(file)) from None


def read_report(file: Path) -> Report:
    """Return the report in *file*."""
    try:
        return decode_report(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(f"{file}: {error}") from None


def totals(results: list[ClauseResult]) -> dict[str, int]:
    """Return the number of clauses with each outcome, zeros included."""
    counted = Counter(result.outcome for result in results)
    return {outcome.value: counted[outcome] for outcome in Outcome}


def suite_version() -> str:
    """Return the version of the suite; 0 where it runs from bare sources."""
    try:
        return metadata.version("rocketmq-conformance")
    except metadata.PackageNotFoundError:
        return "0"


def _target(description: Mapping[str, str]) -> TargetEntry:
    return TargetEntry(
        text=description.get("text", ""),
        release=description.get("release", ""),
        capabilities=sorted(
            filter(None, description.get("capabilities", "").split(","))
        ),
        refuses=names_of(refuses_of(description)),
        violations=violations_of(description),
        broker=description.get("broker_name", ""),
        cluster=description.get("cluster", ""),
        error=description.get("error"),
    )


def entry_of(result: ClauseResult) -> ClauseEntry:
    """Return the entry of one clause."""
    return ClauseEntry(
        id=result.id,
        level=all_clauses()[result.id].level,
        outcome=result.outcome,
        tests=result.tests,
        duration_s=result.duration_s,
        reason=result.reason or None,
        failure=_failure(result),
    )


def _failure(result: ClauseResult) -> FailureEntry | None:
    verdict = result.failure
    if verdict is None or not (verdict.text or verdict.outcome is Outcome.ERROR):
        return None
    if result.outcome not in FAILURES:
        return None
    return FailureEntry(
        test=verdict.test,
        expected=verdict.expected,
        found=verdict.found,
        text=verdict.text or verdict.reason,
        again=verdict.again or None,
        capture=verdict.capture or None,
        vector=verdict.vector or None,
    )
