"""
Findings in files that the driver reads itself: checkpoint, headers and configuration.
"""

from __future__ import annotations

from construct import Struct

from spark_checks.findings import Finding, Invariant, Severity
from spark_checks.store_files import Store
from spec.derive.numpy_dtype import leading_fields


def file_finding(
    invariant: Invariant,
    path: str,
    place: tuple[int, int],
    *,
    expected: str,
    found: str,
    severity: Severity = Severity.ERROR,
    message: str | None = None,
) -> Finding:
    """Return a finding at *place*, offset and length, of the file at *path*.

    Without a *message* it is made of *found* and *expected*.
    """
    return Finding(
        invariant=invariant,
        severity=severity,
        file=path,
        offset=place[0],
        length=place[1],
        expected=expected,
        found=found,
        message=message or f"{path} has {found}; expected: {expected}.",
    )


def places_in(layout: Struct) -> dict[str, tuple[int, int]]:
    """Return offset and length of each fixed-size field of *layout*, by name."""
    fields = leading_fields(layout)
    return {field.name: (field.offset, field.size) for field in fields}


def severity_if_closed(store: Store) -> Severity:
    """Return ERROR for a closed store; a killed broker leaves such values behind."""
    return Severity.WARNING if store.was_left_open else Severity.ERROR
