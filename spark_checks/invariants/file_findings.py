"""
Findings in files that the driver reads itself: checkpoint, headers and configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from construct import Struct

from spark_checks.findings import INVARIANTS, LISTED_MAX, TEXTS, Finding, Severity
from spec.derive.numpy_dtype import leading_fields

Place = tuple[str, tuple[int, int]]
"""A file, and an offset and a length in it."""


def file_finding(
    name: str,
    file: str,
    place: tuple[int, int],
    severity: Severity | None = None,
    /,
    **values: object,
) -> Finding:
    """Return a finding of the invariant *name*, at offset and length *place* of *file*.

    Its texts are the invariant's with *values* in them, or else among *values*.
    """
    if "severity" in values:  # mypy accepts it as a value
        raise TypeError("the severity of a finding is its fourth argument")
    invariant = INVARIANTS[name]
    values["file"] = file
    for text in TEXTS:
        if text not in values:
            values[text] = getattr(invariant, text).format_map(values)
    return Finding(
        invariant=invariant,
        severity=severity or invariant.severity,
        file=file,
        offset=place[0],
        length=place[1],
        expected=str(values["expected"]),
        found=str(values["found"]),
        message=str(values["message"]),
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
