"""Every message that was sent is a record with the fields that were sent."""

from __future__ import annotations

import pytest

from conformance.harness.blocked.skips import blocked
from conformance.harness.failure.failure import record_evidence
from conformance.harness.pytest_plugin.expectations import expect, expect_fields
from conformance.harness.pytest_plugin.fixtures import need
from conformance.harness.targets.store_files import BODY_CRC_AT
from conformance.harness.targets.target import Capability
from conformance.store.workload import Sent
from conformance.store.written_store import Written
from spec.host import Host
from spec.integers import body_crc
from spec.store.commit_log import PlacedRecord
from spec.store.message_record import (
    Record,
    SystemFlag,
    decode_record,
    encode_record,
)
from spec.wire.message.message_id import decode_message_id
from spec.wire.message.properties import NAME_END, VALUE_END, decode_properties
from spec.wire.remoting.response_code import ResponseCode

MAGIC_V1 = 0xDAA320A7

pytestmark = [pytest.mark.needs("wire", "config"), pytest.mark.restores]


@pytest.fixture
def pairs(written: Written) -> list[tuple[Sent, Record]]:
    """Return the messages with a record at the offset answered, each with it.

    The running test is blocked without any such record.
    """
    at = {placed.offset: placed.record for placed in written.records()}
    found = [
        (sent, at[sent.commit_log_offset])
        for sent in (*written.sent, *written.unqueued)
        if sent.commit_log_offset in at
    ]
    if not found:
        blocked("blocked by STORE-PUT-007: no record is at an answered offset")
    return found


@pytest.mark.clause("STORE-PUT-007", "STORE-LOG-001")
def test_every_answered_offset_has_its_record(written: Written) -> None:
    at = {placed.offset for placed in written.records()}
    expect(
        "STORE-PUT-007",
        found=[
            sent.commit_log_offset
            for sent in (*written.sent, *written.unqueued)
            if sent.commit_log_offset not in at
        ],
        expected=[],
        what="answered offsets without a record",
    )


@pytest.mark.clause("STORE-PUT-002", "STORE-RECORD-015")
def test_every_body_is_stored_as_sent(pairs: list[tuple[Sent, Record]]) -> None:
    for sent, record in pairs:
        clause = "STORE-RECORD-015" if sent.message.system_flags & 1 else None
        expect(
            clause or "STORE-PUT-002",
            found=record.body,
            expected=sent.message.body,
            what="body",
            evidence=record_evidence(record, "body"),
        )


@pytest.mark.clause("STORE-PUT-001")
def test_every_property_is_stored_as_sent(pairs: list[tuple[Sent, Record]]) -> None:
    for sent, record in pairs:
        expect_fields(
            "STORE-PUT-001",
            found=decode_properties(record.properties),
            expected=sent.message.properties,
            evidence=record_evidence(record, "properties"),
        )


@pytest.mark.clause("STORE-RECORD-009")
def test_pairs_and_nothing_else_are_counted_as_properties(
    pairs: list[tuple[Sent, Record]],
) -> None:
    for _, record in pairs:
        pieces = record.properties.removesuffix(VALUE_END).split(VALUE_END)
        expect(
            "STORE-RECORD-009",
            found=[one for one in pieces if one and one.count(NAME_END) != 1],
            expected=[],
            what="pieces of the properties that are no pair",
        )


@pytest.mark.clause(
    "STORE-RECORD-011", "STORE-RECORD-012", "STORE-RECORD-014", "STORE-PUT-003"
)
def test_flags_and_times_are_stored_as_sent(pairs: list[tuple[Sent, Record]]) -> None:
    for sent, record in pairs:
        for clause, name in (
            ("STORE-RECORD-011", "flag"),
            ("STORE-RECORD-012", "born_at_ms"),
            ("STORE-RECORD-014", "system_flags"),
            ("STORE-PUT-003", "reconsume_times"),
        ):
            expect(
                clause,
                found=getattr(record, name),
                expected=getattr(sent.message, name),
                what=name,
                evidence=record_evidence(record, name),
            )


@pytest.mark.clause("STORE-RECORD-012", "STORE-RECORD-013")
def test_hosts_are_the_two_ends_of_the_connection(
    pairs: list[tuple[Sent, Record]], written: Written
) -> None:
    stored_by = written.target.admin or written.target.broker
    assert stored_by is not None
    for sent, record in pairs:
        expect(
            "STORE-RECORD-012",
            found=record.born_host,
            expected=Host.of(*sent.from_address),
            what="born_host",
            evidence=record_evidence(record, "born_host"),
        )
        expect(
            "STORE-RECORD-013",
            found=record.store_host,
            expected=Host.of(*stored_by),
            what="store_host",
            evidence=record_evidence(record, "store_host"),
        )


@pytest.mark.clause("STORE-PUT-004", "STORE-PUT-007", "STORE-RECORD-006")
def test_the_message_id_names_the_records_place(
    pairs: list[tuple[Sent, Record]],
) -> None:
    for sent, record in pairs:
        expect(
            "STORE-PUT-004",
            found=decode_message_id(sent.message_id),
            expected=(record.store_host, record.physical_offset),
            what="host and offset of the answer's msgId",
            evidence=record_evidence(record, "physical_offset"),
        )


@pytest.mark.clause("STORE-PUT-005", "STORE-RECORD-005")
def test_the_response_names_queue_and_queue_offset(
    pairs: list[tuple[Sent, Record]],
) -> None:
    for sent, record in pairs:
        expect(
            "STORE-PUT-005",
            found=(sent.message.topic, sent.queue_id, sent.queue_offset),
            expected=(record.topic, record.queue_id, record.queue_offset),
            what="topic, queueId and queueOffset of the answer",
            evidence=record_evidence(record, "queue_offset"),
        )


@pytest.mark.clause("STORE-PUT-006")
def test_records_lie_in_the_order_of_the_responses(written: Written) -> None:
    offsets = [sent.commit_log_offset for sent in written.sent]
    expect(
        "STORE-PUT-006",
        found=offsets,
        expected=sorted(offsets),
        what="offsets in the order of sending",
    )


@pytest.mark.clause("STORE-PUT-008")
def test_unqueued_records_take_no_queue_offset(written: Written) -> None:
    at = {placed.offset: placed.record for placed in written.records()}
    expect(
        "STORE-PUT-008",
        found=[at[sent.commit_log_offset].queue_offset for sent in written.unqueued],
        expected=[0 for _ in written.unqueued],
        what="queue offsets of a prepared and a rolled back record",
    )


@pytest.mark.clause("STORE-RECORD-005")
def test_queue_offsets_count_from_zero(pairs: list[tuple[Sent, Record]]) -> None:
    found: dict[tuple[str, int], list[int]] = {}
    for sent, record in pairs:
        if not sent.message.system_flags & int(SystemFlag.TRANSACTION_ROLLBACK):
            queue = (record.topic, record.queue_id)
            found.setdefault(queue, []).append(record.queue_offset)
    for queue, offsets in found.items():
        expect(
            "STORE-RECORD-005",
            found=offsets,
            expected=list(range(len(offsets))),
            what=f"queue offsets of {queue} in the order of sending",
        )


@pytest.mark.clause("STORE-PUT-009", "STORE-RECORD-018")
def test_a_half_message_and_its_commit_are_two_records(written: Written) -> None:
    topic = written.topics[0]
    expect(
        "STORE-PUT-009",
        found=written.commit.code,
        expected=ResponseCode.SUCCESS,
        what=f"code of the answer to the commit, {written.commit.remark}",
    )
    found = {p.offset: p for p in written.records()}
    half = found[written.half.commit_log_offset].record
    properties = decode_properties(half.properties)
    expect(
        "STORE-PUT-009",
        found=(
            half.topic,
            half.queue_id,
            properties.get("REAL_TOPIC"),
            properties.get("REAL_QID"),
        ),
        expected=("RMQ_SYS_TRANS_HALF_TOPIC", 0, topic, "0"),
        what="topic, queue, REAL_TOPIC and REAL_QID of the half message",
        evidence=record_evidence(half, "topic"),
    )
    prepared = {
        placed.record.prepared_transaction_offset: placed.record.topic
        for placed in found.values()
        if placed.record.prepared_transaction_offset
    }
    expect(
        "STORE-RECORD-018",
        found=prepared,
        expected={half.physical_offset: topic},
        what="topics by prepared transaction offset, where it is not 0",
    )


@pytest.mark.clause("STORE-PUT-010")
def test_a_delayed_message_waits_in_the_schedule_topic(written: Written) -> None:
    at = {placed.offset: placed.record for placed in written.records()}
    record = at[written.delayed.commit_log_offset]
    properties = decode_properties(record.properties)
    level = int(written.delayed.message.properties["DELAY"])
    expect(
        "STORE-PUT-010",
        found=(
            record.topic,
            record.queue_id,
            properties.get("REAL_TOPIC"),
            properties.get("REAL_QID"),
        ),
        expected=("SCHEDULE_TOPIC_XXXX", level - 1, written.topics[0], "3"),
        what="topic, queue, REAL_TOPIC and REAL_QID",
        evidence=record_evidence(record, "topic"),
    )


@pytest.mark.clause("STORE-RECORD-002")
def test_a_sent_message_is_a_record_of_the_first_version(written: Written) -> None:
    for sent in written.sent:
        data = written.record_bytes(sent)
        record = decode_record(data, check_crc=False)
        expect(
            "STORE-RECORD-002",
            found=(record.magic, without_checksum(data)),
            expected=(MAGIC_V1, without_checksum(encode_record(record))),
            what="magic of the record, and its bytes but its checksum",
        )


@pytest.mark.needs("store")
@pytest.mark.clause("STORE-RECORD-002")
def test_a_record_of_a_short_topic_is_byte_for_byte_the_first_version(
    written: Written,
) -> None:
    need(written.target, Capability.CONFIG)  # Others have records of both versions.
    for file in written.files.log_files():
        if any(file.data[:8]):  # One that was made ahead has nothing.
            expect(
                "STORE-RECORD-002",
                found=int.from_bytes(file.data[4:8], "big"),
                expected=MAGIC_V1,
                what="magic of the file's first record",
            )
        for placed in file.scan.records:
            begin = placed.offset - file.begin_offset
            data = bytes(file.data[begin : begin + placed.size])
            expect(
                "STORE-RECORD-002",
                found=without_checksum(data),
                expected=without_checksum(encode_record(_first_version(placed))),
                what="bytes of the record but its checksum",
            )


def without_checksum(record: bytes) -> bytes:
    """Return the bytes of *record* but its checksum, which has clauses of its own."""
    return record[:BODY_CRC_AT] + record[BODY_CRC_AT + 4 :]


def _first_version(placed: PlacedRecord) -> Record:
    """Return the record, which must be of the first version."""
    assert placed.record.magic == MAGIC_V1
    assert body_crc(placed.record.body) >= 0
    return placed.record
