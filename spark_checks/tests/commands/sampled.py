"""Findings of an audit of a sample, and the invariants that it leaves out."""

from __future__ import annotations

from spark_checks.audit import Audit
from spark_checks.sampling import (
    NEEDS_WHOLE_LOG,
)

LEFT_OUT = set(NEEDS_WHOLE_LOG)


def places(found: Audit) -> set[tuple[str, str, int]]:
    """Return the places of the findings."""
    return {(one.invariant.id, one.file, one.offset) for one in found.findings}
