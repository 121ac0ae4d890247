"""
An intact store has no finding, a killed broker's has warnings, a hole is an error.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from cli.pages.audit import report
from cli.pages.audit.audited_store import AuditedStore
from spark_checks.audit import audit_store
from spark_checks.findings import Finding
from spark_checks.tests.building import BEGAN_AT_MS, StoreBuilder, overwrite
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import file_name
from spec.wire.message.topic_names import SCHEDULE_TOPIC


def _place(found: Finding) -> tuple[str, str, int]:
    return found.invariant.id, found.file, found.offset


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


@pytest.mark.slow
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
        ("INV-LOG-001", last.log_file, last.position + last.size, "warning"),
        ("INV-CQ-005", last.queue_file, last.unit_position, "warning"),
    ]
    assert not audit.has_errors
    assert audit.summary["left_open"] is True
    assert "The file abort is there" in report.as_table([AuditedStore(audit=audit)])


def test_a_hole_among_units_of_deleted_records_is_reported(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    for _ in range(150):
        builder.put("Orders")
    hit = builder.placed["Orders", 0][10]
    store = builder.write(tmp_path / "store")
    (store / hit.log_file).unlink()
    assert audit_store(spark, str(store)).findings == ()
    overwrite(store, hit.queue_file, hit.unit_position, bytes(UNIT_SIZE))
    audit = audit_store(spark, str(store))
    assert [_place(found) for found in audit.findings] == [
        ("INV-CQ-006", hit.queue_file, hit.unit_position)
    ]


def _in_two_queues(builder: StoreBuilder, count: int) -> None:
    for number in range(count):
        builder.put("Orders", number % 2)


@pytest.mark.parametrize("is_created_again", [True, False])
def test_queues_of_a_topic_that_is_created_again_may_stay_empty(
    spark: SparkSession, tmp_path: Path, *, is_created_again: bool
) -> None:
    builder = StoreBuilder()
    _in_two_queues(builder, 20)
    if is_created_again:
        builder.queues.clear()
    for _ in range(3):
        builder.put("Orders", 0)
    builder.queues.pop(("Orders", 1), None)
    found = audit_store(spark, str(builder.write(tmp_path))).findings
    lost = {("INV-CQ-005", f"consumequeue/Orders/1/{file_name(0)}", 0)}
    assert set(map(_place, found)) == (set() if is_created_again else lost)


@pytest.mark.parametrize(
    ("others", "listed", "consumed", "directory", "expected"),
    [
        pytest.param("Other", "Orders", 0, "", "INV-CQ-007", id="both-causes-fit"),
        pytest.param("Other", "Orders", 1, "", "INV-CQ-005", id="consumed-offsets"),
        pytest.param("Other", "Orders", 1, "Orders", "INV-CQ-007", id="of-4.9"),
        pytest.param("Other", "Orders", 1, "Orders/0", "INV-CQ-005", id="lost-files"),
        pytest.param(None, "Orders", 0, "", "INV-CQ-005", id="no-topic-has-units"),
        pytest.param("Other", "Other", 0, "", None, id="deleted"),
    ],
)
def test_a_topic_of_topics_json_without_units_may_be_created_again(
    spark: SparkSession,
    tmp_path: Path,
    *,
    others: str | None,
    listed: str,
    consumed: int,
    directory: str,
    expected: str | None,
) -> None:
    builder = StoreBuilder()
    _in_two_queues(builder, 4)
    builder.queues.clear()
    if others:
        builder.put(others)
    store = builder.write(tmp_path)
    (store / "consumequeue" / directory).mkdir(parents=True, exist_ok=True)
    for name, table, entries in (
        ("topics", "topicConfigTable", {listed: {}}),
        ("consumerOffset", "offsetTable", {"Orders@group": {"0": consumed}}),
    ):
        (store / f"config/{name}.json").write_text(json.dumps({table: entries}))
    found = audit_store(spark, str(store)).findings
    severity = "warning" if expected == "INV-CQ-007" else "error"
    of_queues = [one for one in found if one.invariant.id.startswith("INV-CQ")]
    assert [(one.invariant.id, str(one.severity)) for one in of_queues] == [
        (expected, severity)
    ] * (2 if expected else 0)


def test_a_topic_without_units_may_be_deleted_if_rocksdb_has_the_topics(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    _in_two_queues(builder, 4)
    builder.queues.clear()
    builder.put("Other")
    store = builder.write(tmp_path)
    (store / "config" / "topics.json").unlink(missing_ok=True)
    (store / "config" / "rdb").mkdir()
    (store / "config" / "rdb" / "CURRENT").write_text("MANIFEST-000004\n")
    (store / "config" / "rdb" / "MANIFEST-000004").touch()
    found = audit_store(spark, str(store)).findings
    assert [one.invariant.id for one in found] == ["INV-CQ-007"] * 2


def test_a_queue_with_messages_since_its_topic_was_created_again_needs_units(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    _in_two_queues(builder, 20)
    builder.queues.clear()
    _in_two_queues(builder, 6)
    del builder.queues["Orders", 1]
    found = audit_store(spark, str(builder.write(tmp_path))).findings
    assert [one.message for one in found] == [
        "Records of queue 1 of Orders, from queue offset 0, without a unit: 3."
    ]


def test_a_delay_level_may_have_another_delay_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    delays_ms = [1000, 1000, 1000, 7000, 7000, 1001]
    real = "DELAY\x012\x02REAL_TOPIC\x01Orders\x02REAL_QID\x010\x02"
    for delay_ms in delays_ms:
        stored_at_ms = BEGAN_AT_MS + len(builder.log)
        builder.put(SCHEDULE_TOPIC, 1, properties=real)
        units = builder.queues[SCHEDULE_TOPIC, 1]
        units[-1] = replace(units[-1], tags_code=stored_at_ms + delay_ms)
    found = audit_store(spark, str(builder.write(tmp_path))).findings
    queue = f"consumequeue/{SCHEDULE_TOPIC}/1/{file_name(0)}"
    assert [_place(one) for one in found] == [("INV-CQ-003", queue, 5 * UNIT_SIZE)]


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_deleted_topic_may_have_had_batches(
    spark: SparkSession, tmp_path: Path, *, is_deleted: bool
) -> None:
    builder = StoreBuilder()
    builder.put("Orders")
    units = builder.queues["Batches", 0] = []
    for _ in range(3):
        units += [builder.queues["Orders", 0][0]] * 2  # the places of a batch
        builder.put("Batches")
    if is_deleted:
        del builder.queues["Batches", 0]
    found = audit_store(spark, str(builder.write(tmp_path))).findings
    assert ("INV-LOG-005" in {one.invariant.id for one in found}) is not is_deleted
    assert not (found and is_deleted)


@pytest.mark.parametrize("directory", ["consumequeue", "consumequeue_rocksdb"])
def test_queues_in_rocksdb_are_named_and_not_missed(
    spark: SparkSession, tmp_path: Path, directory: str
) -> None:
    builder = StoreBuilder()
    for _ in range(150):
        builder.put("Orders")
    hit = builder.placed["Orders", 0][10]
    store = builder.write(tmp_path / "store")
    shutil.rmtree(store / "consumequeue")
    databases = ["config/topics", directory]
    for name in databases:
        (store / name).mkdir(parents=True)
        (store / name / "CURRENT").write_text("MANIFEST-000015\n")
        (store / name / "MANIFEST-000015").touch()
    audit = audit_store(spark, str(store))
    assert (audit.findings, audit.summary["not_read"]) == ((), databases)
    assert audit.summary["topics"] == {
        "Orders": {"queues": {"0": {"min": "0", "max": "150", "messages": 150}}}
    }
    assert f"RocksDB: {', '.join(databases)}\n" in report.as_table(
        [AuditedStore(audit=audit)] * 2
    )
    overwrite(store, hit.log_file, hit.position, bytes(8))
    audit = audit_store(spark, str(store))
    assert [one.invariant.id for one in audit.findings] == [
        "INV-LOG-001",
        "INV-LOG-005",
    ]
    assert "rmqc recover" not in report.as_table([AuditedStore(audit=audit)])
