"""Findings of one cause as one group with a count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from cli.pages.audit.start_forecast import number_of
from spark_checks.findings import Finding

DIRECTORIES_MAX = 3
"""Directories of one invariant that have groups of their own."""


def groups_of(findings: Iterable[Finding]) -> list[dict[str, object]]:
    """Return *findings* by severity and invariant, in their order, for JSON output.

    They are grouped by directory too, if the directories are few.
    """
    found: list[list[Finding]] = []
    for kind in by_kind(findings):
        places: dict[str, list[Finding]] = {}
        for one in kind:
            places.setdefault(one.directory, []).append(one)
        is_few = len(places) <= DIRECTORIES_MAX
        found += places.values() if is_few else [list(chain(*places.values()))]
    return list(map(_group, found))


def by_kind(findings: Iterable[Finding]) -> Iterable[list[Finding]]:
    """Return *findings* of one invariant and severity together, in their order."""
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for one in findings:
        kinds.setdefault((str(one.severity), one.invariant.id), []).append(one)
    return kinds.values()


def count_of(findings: Iterable[Finding]) -> int:
    """Return the number of *findings*, with those that are not listed."""
    return sum(1 + one.more for one in findings)


def _group(findings: Sequence[Finding]) -> dict[str, object]:
    """Return the group of *findings*: their number, and the first."""
    first, count = findings[0], count_of(findings)
    message = first.message
    if count > 1:
        directories = len({one.directory for one in findings})
        place = first.directory if directories == 1 else f"{directories:,} directories"
        message = f"{number_of(count, 'finding')} in {place}, the first: {message}"
    return {
        "invariant": first.invariant.id,
        "severity": str(first.severity),
        "count": count,
        "file": first.file,
        "offset": str(first.offset),
        "message": message,
    }
