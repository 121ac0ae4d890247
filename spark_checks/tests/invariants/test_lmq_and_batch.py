"""
Extensions, LMQs and batch consume queues of real brokers have no findings.

Messages that were sent alone are in batch consume queues, too.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_checks.audit import audit_store
from spark_checks.readers.multi_dispatch import MultiDispatchSource, places_of
from spark_checks.sampling import SampleSpec
from spark_checks.store_files import list_store
from spark_checks.tables.store_tables import open_log
from spark_checks.tests.building import StoreBuilder, overwrite
from spark_checks.tests.recorded_parts import RELEASES, store_of
from spark_checks.tests.slow import slow_but
from spec.store.batch_queue import BATCH_QUEUE, BatchUnit, encode_batch_unit
from spec.store.file_names import file_name
from spec.store.message_record import SystemFlag, decode_record
from spec.wire.message.multi_dispatch import Dispatch, properties_of
from spec.wire.message.properties import encode_properties


@pytest.mark.parametrize("release", slow_but(RELEASES, "5.5.0"))
def test_what_a_broker_wrote_is_silent(
    spark: SparkSession, tmp_path: Path, release: str
) -> None:
    root = store_of(release, tmp_path)
    has = {one.name for one in root.iterdir()}
    assert "consumequeue_ext" in has
    assert ("batchconsumequeue" in has) == release.startswith("5")
    assert (root / "consumequeue" / "%LMQ%a").exists() == (release >= "4.9")
    for options in (None, SampleSpec(fraction=0.5, seed=3)):
        found = audit_store(spark, str(root), sample_spec=options)
        output = {one.message for one in found.findings if one.file != "checkpoint"}
        assert output == set()


@pytest.mark.parametrize("fraction", [None, 0.5])
def test_a_negative_offset_in_an_lmq_has_a_finding(
    spark: SparkSession, tmp_path: Path, fraction: float | None
) -> None:
    root = store_of("5.3.3", tmp_path)
    file = f"consumequeue/%LMQ%a/0/{0:020}"
    overwrite(root, file, 0, (-1).to_bytes(8, "big", signed=True))
    options = None if fraction is None else SampleSpec(fraction=fraction, seed=3)
    audit = audit_store(spark, str(root), only=["INV-LIGHT-001"], sample_spec=options)
    assert [(one.file, one.offset) for one in audit.findings] == [(file, 0)]


@pytest.mark.parametrize(
    ("properties", "places"),
    [
        ("INNER_MULTI_DISPATCH\x01%LMQ%a\x02", []),
        (
            "INNER_MULTI_DISPATCH\x01%LMQ%a,T\x02INNER_MULTI_QUEUE_OFFSET\x017,3\x02",
            [("lmq", "%LMQ%a", 7, 1), ("shared", "T", 3, 1)],
        ),
        ("INNER_MULTI_DISPATCH\x01%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x017,3\x02", []),
        ("INNER_MULTI_DISPATCH\x01%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x01x\x02", []),
        (
            "INNER_MULTI_DISPATCH\x01T,%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x01,7\x02",
            [],
        ),
        ("INNER_NUM\x013\x02", []),
        ("INNER_NUM\x013\x02INNER_BASE\x0141\x02", [("batch", "Orders", 41, 3)]),
        ("INNER_NUM\x01-3\x02INNER_BASE\x0141\x02", []),
    ],
)
def test_a_record_says_where_it_stands(
    properties: str, places: list[tuple[str, str, int, int]]
) -> None:
    assert list(places_of(properties, "Orders")) == places
    is_batch = any(kind == "batch" for kind, *_ in places)
    alone = [] if is_batch else [("batch", "Orders", 9, 1)]
    found = places_of(properties, "Orders", batch_offset=9)
    assert list(found) == [*places, *alone]


Change = Callable[[list[BatchUnit]], None]


def store_with_single_messages(root: Path, change: Change) -> Path:
    """Write messages that were sent alone to a batch queue, after *change* of units."""
    builder = StoreBuilder()
    units = [_put_alone(builder, 0, tags=f"T{number}") for number in range(4)]
    change(units)
    # A client may set this flag; the message has no unit.
    builder.put("Packed", flags=int(SystemFlag.TRANSACTION_PREPARED))
    del builder.queues["Packed", 0]
    path = builder.write(root) / BATCH_QUEUE / "Packed" / "0" / file_name(0)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(map(encode_batch_unit, units)))
    return root


def _has_other_count(units: list[BatchUnit]) -> None:
    units[2] = replace(units[2], message_count=2)


def _has_other_size(units: list[BatchUnit]) -> None:
    units[1] = replace(units[1], size=units[1].size + 1)


def test_records_of_other_topics_have_no_batch_unit(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = StoreBuilder()
    named = properties_of([Dispatch(queue="%LMQ%a", queue_offset=0)])
    for topic in ("Packed", "Other"):
        builder.put(topic, properties=encode_properties(named))
    store = list_store(str(builder.write(tmp_path)))
    options = {"batch_topics": '["Packed"]'}
    rows = open_log(spark, store, MultiDispatchSource, delays={}, **options).collect()
    places = sorted((row.kind, row.own_topic) for row in rows)
    assert places == [("batch", "Packed"), ("lmq", "Other"), ("lmq", "Packed")]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda _: None, []),
        (_has_other_count, [("INV-BATCH-002", 2 * 46)]),
        (_has_other_size, [("INV-BATCH-001", 46)]),
        (lambda units: units.pop(2), [("INV-BATCH-003", None)]),
    ],
)
def test_messages_sent_alone_are_compared_with_their_batch_units(
    spark: SparkSession,
    tmp_path: Path,
    change: Change,
    found: list[tuple[str, int | None]],
) -> None:
    root = store_with_single_messages(tmp_path, change)
    findings = audit_store(spark, str(root)).findings
    assert [
        (one.invariant.id, one.offset if BATCH_QUEUE in one.file else None)
        for one in findings
        if one.invariant.id.startswith(("INV-BATCH", "INV-CQ"))
    ] == found


def test_lost_batch_queues_of_a_broker_have_a_warning(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = store_of("5.3.3", tmp_path)
    shutil.rmtree(root / BATCH_QUEUE)
    found = audit_store(spark, str(root)).findings
    lost = [one for one in found if one.file != "checkpoint"]
    assert {(one.invariant.id, one.file) for one in lost} == {
        ("INV-BATCH-005", f"commitlog/{file_name(0)}")
    }
    assert all("PartsBatches" in one.message for one in lost)


@pytest.mark.parametrize(
    ("kept", "again", "consumed", "listed", "found"),
    [
        pytest.param([0, 1], 0, 0, "BatchCQ", [], id="intact"),
        pytest.param([0], 0, 0, "BatchCQ", ["INV-BATCH-003"] * 2, id="a-queue-is-lost"),
        pytest.param([], 0, 0, "BatchCQ", ["INV-BATCH-005"] * 4, id="both-causes-fit"),
        pytest.param([], 0, 1, "BatchCQ", ["INV-BATCH-003"] * 4, id="consumed-offsets"),
        pytest.param([], 1, 0, "BatchCQ", [], id="created-again"),
        pytest.param([], 0, 0, None, [], id="deleted"),
    ],
)
def test_a_queue_without_units_is_lost_unless_its_topic_was_created_again(
    spark: SparkSession,
    tmp_path: Path,
    *,
    kept: list[int],
    again: int,
    consumed: int,
    listed: str | None,
    found: list[str],
) -> None:
    builder = StoreBuilder()
    builder.put("Other")
    units: dict[int, list[BatchUnit]] = {0: [], 1: []}
    for number in range(4):
        units[number % 2].append(_put_alone(builder, number % 2))
    units = {queue: units[queue] for queue in kept}
    if again:
        builder.queues.clear()
        builder.put("Other")
        units[0] = [_put_alone(builder, 0)]
    builder.queues = {q: some for q, some in builder.queues.items() if q[0] == "Other"}
    root = builder.write(tmp_path)
    for queue, some in units.items():
        path = root / BATCH_QUEUE / "Packed" / str(queue) / file_name(0)
        path.parent.mkdir(parents=True)
        path.write_bytes(b"".join(map(encode_batch_unit, some)))
    topic = {"Packed": {"attributes": {"queue.type": listed}}} if listed else {}
    for name, table, entries in (
        ("topics", "topicConfigTable", {"Other": {}, **topic}),
        ("consumerOffset", "offsetTable", {"Packed@group": {"0": consumed}}),
    ):
        (root / f"config/{name}.json").write_text(json.dumps({table: entries}))
    findings = audit_store(spark, str(root)).findings
    ids = [one.invariant.id for one in findings]
    assert [one for one in ids if "CHECK" not in one] == found


def _put_alone(builder: StoreBuilder, queue_id: int, tags: str = "") -> BatchUnit:
    """Put a message to a queue of Packed, and return its batch unit."""
    one = builder.put("Packed", queue_id, tags=tags)
    unit = builder.queues["Packed", queue_id][-1]
    record = decode_record(bytes(builder.log[one.offset :][: one.size]))
    return BatchUnit(
        commit_log_offset=one.offset,
        size=one.size,
        tags_code=unit.tags_code,
        stored_at_ms=record.stored_at_ms,
        first_queue_offset=one.queue_offset,
        message_count=1,
    )
