"""Every seeded fault is found, at its place and under its name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import Audit, audit_store
from spark_checks.findings import Finding
from spark_checks.tests.building import StoreBuilder
from spark_checks.tests.faults import (
    QUEUE_FAULTS,
    RECORD_FAULTS,
    Seeded,
    Where,
    seed_all,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """A damaged store and its audit."""

    seeded: Seeded
    audit: Audit
    changed: bool
    """The audit has written to the store."""


def _place(found: Finding) -> Where:
    return found.invariant.id, found.file, found.offset


def _fingerprint(root: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(root.rglob("*"))
    }


def _audited(spark: SparkSession, seeded: Seeded) -> Audited:
    before = _fingerprint(seeded.root)
    audit = audit_store(spark, str(seeded.root))
    changed = before != _fingerprint(seeded.root)
    return Audited(seeded=seeded, audit=audit, changed=changed)


@pytest.fixture(scope="module")
def bad_records(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Audited:
    root = tmp_path_factory.mktemp("bad_records")
    return _audited(spark, seed_all(root, RECORD_FAULTS))


@pytest.fixture(scope="module")
def bad_queues(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Audited:
    root = tmp_path_factory.mktemp("bad_queues")
    return _audited(spark, seed_all(root, QUEUE_FAULTS))


@pytest.mark.parametrize("fault", RECORD_FAULTS)
def test_a_damaged_record_is_found(bad_records: Audited, fault: str) -> None:
    found = {_place(finding) for finding in bad_records.audit.findings}
    assert set(bad_records.seeded.expected[fault]) <= found


@pytest.mark.parametrize("fault", QUEUE_FAULTS)
def test_a_damaged_unit_is_found(bad_queues: Audited, fault: str) -> None:
    found = {_place(finding) for finding in bad_queues.audit.findings}
    assert set(bad_queues.seeded.expected[fault]) <= found


def test_a_damaged_unit_is_found_once_and_nothing_else(bad_queues: Audited) -> None:
    expected = [where for all_ in bad_queues.seeded.expected.values() for where in all_]
    found = [_place(finding) for finding in bad_queues.audit.findings]
    assert sorted(found) == sorted(expected)


def test_a_damaged_store_fails_and_is_left_alone(bad_records: Audited) -> None:
    assert not bad_records.audit.is_clean
    assert not bad_records.changed


def test_a_store_in_order_is_silent(spark: SparkSession, tmp_path: Path) -> None:
    builder = StoreBuilder()
    for number in range(120):
        builder.put("Orders", number % 3, tags="TagA" if number % 2 else "")
        if number % 10 == 0:
            builder.put("Wide", body=b"\xda\xa3\x20\xa7" * 30)
            builder.put_half("Orders", flags=0x4)
            builder.put_half("Orders", flags=0xC)
    audit = audit_store(spark, str(builder.write(tmp_path)))
    assert audit.findings == ()
    topics = audit.summary["topics"]
    assert isinstance(topics, dict)
    assert topics["Orders"]["queues"]["0"] == {
        "min": "0",
        "max": "40",
        "messages": 40,
    }


def test_what_a_killed_broker_leaves_is_a_warning(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    for _ in range(10):
        builder.put("Orders")
    last = builder.placed["Orders", 0][-1]
    builder.queues["Orders", 0].pop()
    builder.log += bytes([0, 0, 0, 0x7F, 0xDA, 0xA3])
    (builder.write(tmp_path) / "abort").touch()
    audit = audit_store(spark, str(tmp_path))
    assert [(*_place(found), found.severity) for found in audit.findings] == [
        ("INV-CQ-005", last.queue_file, last.unit_position, "warning"),
        ("INV-LOG-001", last.log_file, last.position + last.size, "warning"),
    ]
    assert audit.is_clean
