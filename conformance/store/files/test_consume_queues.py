"""Consume queues: one unit for every message, in its place, pointing at its record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pytest

from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import QueueFiles, StoreFiles
from conformance.store.written_store import QUEUE_FILE_SIZE, Written
from spec.integers import tags_code
from spec.routing.topic_config import decode_topic_table
from spec.store.batch_queue import BATCH_QUEUE
from spec.store.commit_log import PlacedRecord
from spec.store.config.config_files import TOPICS_FILE
from spec.store.consume_queue import UNIT_SIZE, Unit
from spec.store.file_names import file_name, offset_of
from spec.store.message_record import Record, SystemFlag
from spec.store.queue_extension import (
    EXTENSION,
    decode_extension_units,
    extension_address,
)
from spec.wire.message.multi_dispatch import dispatches_of
from spec.wire.message.properties import decode_properties

pytestmark = pytest.mark.needs("store")

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
LEVEL_18_MS = 2 * 60 * 60 * 1000
TRANSACTION_BITS = int(SystemFlag.TRANSACTION_ROLLBACK)


def numbered(queue: QueueFiles) -> list[tuple[int, Unit]]:
    """Return the units of *queue* that point at records, with their queue offsets."""
    units = enumerate(queue.units(), queue.first_queue_offset)
    return [(number, unit) for number, unit in units if not unit.is_filler]


def place_in(record: Record, queue: str) -> tuple[str, int, int]:
    """Return topic, queue id and queue offset that *record* states for *queue*.

    A message may name more queues than its own (`spec.wire.message.multi_dispatch`).
    """
    if record.topic != queue:
        for other in dispatches_of(decode_properties(record.properties)):
            if other.queue == queue:
                queue_id = 0 if other.is_light else record.queue_id
                return queue, queue_id, other.queue_offset
    return record.topic, record.queue_id, record.queue_offset


def has_queues(files: StoreFiles) -> Callable[[str], bool]:
    """Return whether a topic has consume queues: others are batches or deleted."""
    path = files.config(TOPICS_FILE)
    existing = decode_topic_table(path.read_bytes()).topics if path.exists() else {}
    queued = {topic for topic, _ in files.queues()}
    batches = files.path / BATCH_QUEUE
    return lambda topic: (
        (topic in queued or topic in existing) and not (batches / topic).is_dir()
    )


def tags_codes(files: StoreFiles, queue: QueueFiles) -> list[int]:
    """Return the tags codes of the units of *queue*, from its extension if it has one.

    An address without an extension unit stays.
    """
    folder = files.path / EXTENSION / queue.topic / str(queue.queue_id)
    extension = {
        offset_of(path.name) + place: unit.tags_code
        for path in (sorted(folder.iterdir()) if folder.is_dir() else ())
        for place, unit in decode_extension_units(path.read_bytes()).items()
    }
    addresses = {extension_address(offset): code for offset, code in extension.items()}
    codes = [unit.tags_code for _, unit in numbered(queue)]
    return [addresses.get(code, code) for code in codes]


def is_queued(placed: PlacedRecord) -> bool:
    """Return whether a record has a place in a consume queue."""
    state = placed.record.system_flags & TRANSACTION_BITS
    return state in (0, int(SystemFlag.TRANSACTION_COMMIT))


@pytest.mark.clause("STORE-QUEUE-001", "STORE-QUEUE-002", "STORE-QUEUE-003")
def test_every_unit_points_at_its_record(readable: StoreFiles) -> None:
    queues = readable.queues()
    at = {placed.offset: placed for placed in readable.records()}
    for (topic, queue_id), queue in queues.items():
        for number, unit in numbered(queue):
            placed = at.get(unit.commit_log_offset)
            record = placed.record if placed else None
            expect(
                "STORE-QUEUE-003",
                found=placed and record and (placed.size, *place_in(record, topic)),
                expected=(unit.size, topic, queue_id, number),
                what=f"size, topic, queue and queue offset at {unit.commit_log_offset}",
            )


@pytest.mark.clause("STORE-QUEUE-007")
def test_every_queued_record_has_one_unit(readable: StoreFiles) -> None:
    records = readable.records()
    last = records[-1].offset if records else -1
    topics = {one.offset: one.record.topic for one in records}
    may_have = has_queues(readable)

    def units() -> list[int]:
        return [
            unit.commit_log_offset
            for (topic, _), queue in readable.queues().items()
            for _, unit in numbered(queue)
            if unit.commit_log_offset <= last
            and topics.get(unit.commit_log_offset, topic) == topic
        ]

    queued = [
        one.offset for one in records if is_queued(one) and may_have(one.record.topic)
    ]
    # A delayed message may have been delivered only now, and get its unit in a moment.
    with suppress(TooLateError):
        wait_until(
            lambda: queued[-1:] <= sorted(units())[-1:],
            what="the last record has its unit",
        )
    found = Counter(units())
    begin = min(found, default=0)
    expected = {offset for offset in queued if offset >= begin}
    expect(
        "STORE-QUEUE-007",
        found={
            "without": sorted(expected - found.keys()),
            "several": sorted(offset for offset, count in found.items() if count > 1),
            "not queued": sorted(found.keys() - expected),
        },
        expected={"without": [], "several": [], "not queued": []},
        what="offsets of records without a unit, with several, with one of no right",
    )


@pytest.mark.clause("STORE-QUEUE-006")
def test_offsets_rise_from_unit_to_unit(files: StoreFiles) -> None:
    for key, queue in files.queues().items():
        offsets = [unit.commit_log_offset for _, unit in numbered(queue)]
        expect(
            "STORE-QUEUE-006",
            found=[(a, b) for a, b in pairwise(offsets) if b <= a],
            expected=[],
            what=f"offsets of {key} that do not rise",
        )


@pytest.mark.clause("STORE-QUEUE-004", "STORE-TAGS-001")
def test_the_tags_code_is_the_hash_of_the_tag(readable: StoreFiles) -> None:
    queues = readable.queues()
    at = {placed.offset: placed.record for placed in readable.records()}
    for (topic, _), queue in queues.items():
        if topic == SCHEDULE_TOPIC:
            continue
        codes = tags_codes(readable, queue)
        for (_, unit), code in zip(numbered(queue), codes, strict=True):
            properties = decode_properties(at[unit.commit_log_offset].properties)
            tag = properties.get("TAGS")
            expect(
                "STORE-QUEUE-004",
                found=code,
                expected=tags_code(tag),
                what=f"tags code of a message with the tag {tag!r}",
            )


@pytest.mark.restores
@pytest.mark.clause("STORE-QUEUE-005")
@pytest.mark.needs("wire", "config")
def test_a_delayed_messages_unit_has_the_time_of_delivery(written: Written) -> None:
    at = {placed.offset: placed.record for placed in written.records()}
    delayed = at[written.delayed.commit_log_offset]
    units = dict(numbered(written.files.queue(delayed.topic, delayed.queue_id)))
    expect(
        "STORE-QUEUE-005",
        found=units[delayed.queue_offset].tags_code,
        expected=delayed.stored_at_ms + LEVEL_18_MS,
        what="tags code of the delayed message",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-QUEUE-007", "STORE-QUEUE-001")
@pytest.mark.needs("wire", "config")
def test_messages_are_units_in_the_order_of_sending(written: Written) -> None:
    for topic in written.topics:
        for queue_id in range(4):
            sent = [
                (message.queue_offset, message.commit_log_offset)
                for message in written.sent
                if (message.message.topic, message.queue_id) == (topic, queue_id)
            ]
            units = numbered(written.files.queue(topic, queue_id))
            places = {number: unit.commit_log_offset for number, unit in units}
            expect(
                "STORE-QUEUE-001",
                found=[(number, places.get(number)) for number, _ in sent],
                expected=sent,
                what=f"queue offsets and commit-log offsets of {topic}, {queue_id}",
            )


@pytest.mark.clause("STORE-QUEUE-008")
def test_zeros_follow_the_last_unit(files: StoreFiles) -> None:
    for key, queue in files.queues().items():
        data = b"".join(content for _, content in queue.files)
        rest = data[len(queue.units()) * UNIT_SIZE :]
        expect(
            "STORE-QUEUE-008",
            found=rest.strip(b"\0"),
            expected=b"",
            what=f"bytes after the last unit of {key} that are not zero",
        )


@pytest.mark.clause("STORE-QUEUE-010", "STORE-NAME-001", "STORE-NAME-002")
def test_queue_files_are_named_after_their_first_byte(files: StoreFiles) -> None:
    for key, queue in files.queues().items():
        if not queue.files:
            continue
        sizes = {len(data) for _, data in queue.files}
        size = max(sizes)
        expect_that(
            "STORE-QUEUE-010",
            sizes == {size} and size % UNIT_SIZE == 0,
            found=sizes,
            expected="one size, a multiple of 20",
            what=f"sizes of the files of {key}",
        )
        begin = int(queue.files[0][0])
        expect(
            "STORE-NAME-002",
            found=[name for name, _ in queue.files],
            expected=[file_name(begin + n * size) for n in range(len(queue.files))],
            what=f"names of the files of {key}",
        )


@pytest.mark.clause("STORE-QUEUE-010", "STORE-NAME-003")
@pytest.mark.needs("wire", "config")
def test_queue_files_have_the_configured_size_rounded_up(written: Written) -> None:
    queue = written.files.queue(written.topics[0], 0)
    expect(
        "STORE-QUEUE-010",
        found={len(data) for _, data in queue.files},
        expected={QUEUE_FILE_SIZE},
        what="sizes of the files of one queue",
    )
    expect_that(
        "STORE-NAME-003",
        len(queue.files) > 1,
        found=f"{len(queue.files)} files",
        expected="several, for there are more than 50 messages",
        what=f"consumequeue/{queue.topic}/{queue.queue_id}",
    )
