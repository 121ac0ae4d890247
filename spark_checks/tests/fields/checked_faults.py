"""Stores for wrong values of fields, and the check that an audit finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.findings import Finding
from spark_checks.generate.plan import Plan
from spark_checks.tests.fields.field_faults import FaultSites
from spark_checks.tests.fields.planted_fields import (
    Detection,
    FieldFault,
    missed_faults,
    planted,
    unexplained_findings,
)

BASIC = Plan(
    files=4,
    log_size=225 * 1024,
    topics=12,
    queues=20,
    body_size=32,
    queue_units=8,
)
"""Many short queues, so that many faults are first or last in one."""
RICH = Plan(
    files=2,
    log_size=200 * 1024,
    topics=2,
    queues=2,
    body_size=32,
    queue_units=20,
    is_rich=True,
)
MANY_FILES = Plan(files=16, log_size=32 * 1024, topics=2, queues=2, body_size=32)
"""Many blanks and index files, so that one audit finds many faults in them."""
GROUPS = {
    "records": (BASIC, ("message_record", "consume_queue_unit")),
    "index": (BASIC, ("index_item", "index_slot")),
    "blanks": (MANY_FILES, ("blank",)),
    "headers": (MANY_FILES, ("index_header", "checkpoint")),
    "extensions": (RICH, ("consume_queue_extension_unit", "batch_consume_queue_unit")),
}
"""Generated store and structures of each group."""


def auditor(spark: SparkSession) -> Callable[[Path], Sequence[Finding]]:
    """Return a function that audits a store on *spark*."""
    return lambda root: audit_store(spark, str(root)).findings


def check_faults(
    root: Path,
    faults: Iterable[FieldFault],
    findings_of: Callable[[Path], Sequence[Finding]],
) -> None:
    """Require the table's outcome of *faults*, planted into the store at *root*."""
    every, sites = list(faults), FaultSites(root)
    for detection in Detection:
        some = [fault for fault in every if fault.detection is detection]
        for sheet in sites.sheets(some):
            with planted(root, sheet):
                findings = findings_of(root)
            assert [str(one.fault) for one in missed_faults(sheet, findings)] == []
            if detection is not Detection.ALWAYS:
                assert unexplained_findings(sheet, findings) == []
    assert not findings_of(root)
