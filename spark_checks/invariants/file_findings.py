"""
Findings in files that the driver reads itself: checkpoint, headers and configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from construct import Struct

from spark_checks.findings import INVARIANTS, LISTED_MAX, Finding, Severity
from spec.derive.numpy_dtype import leading_fields


def file_finding(
    name: str,
    path: str,
    place: tuple[int, int],
    *,
    expected: str,
    found: str,
    severity: Severity | None = None,
    message: str | None = None,
) -> Finding:
    """Return a finding of the invariant *name*, in the file at *path*.

    *place* is its offset and length. Without a *severity* it has the invariant's,
    without a *message* that is made of *found* and *expected*.
    """
    invariant = INVARIANTS[name]
    return Finding(
        invariant=invariant,
        severity=severity or invariant.severity,
        file=path,
        offset=place[0],
        length=place[1],
        expected=expected,
        found=found,
        message=message or f"{path} has {found}; expected: {expected}.",
    )


def listed(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield at most LISTED_MAX *findings* of each invariant."""
    counts: Counter[str] = Counter()
    for one in findings:
        counts[one.invariant.id] += 1
        if counts[one.invariant.id] <= LISTED_MAX:
            yield one


def places_in(layout: Struct) -> dict[str, tuple[int, int]]:
    """Return offset and length of each fixed-size field of *layout*, by name."""
    fields = leading_fields(layout)
    return {field.name: (field.offset, field.size) for field in fields}
