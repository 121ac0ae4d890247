"""The commit log's files: whole records one after the other, a blank, then zeros."""

from __future__ import annotations

from itertools import pairwise

import pytest

from conformance.harness.failure.failure import Evidence
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import LogFile, StoreFiles
from conformance.store.workload import Outgoing
from conformance.store.written_store import Written
from spec.integers import body_crc
from spec.store.commit_log import PlacedRecord, Stop
from spec.store.file_names import file_name
from spec.store.message_record import (
    Record,
    SystemFlag,
    record_layout,
)
from spec.wire.message.properties import Property, decode_properties
from spec.wire.send.batch_body import INNER_BATCH

pytestmark = pytest.mark.needs("store")

ATTEMPTS = 20
"""Attempts to find the place of one record while others may be stored."""


def evidence_of(placed: PlacedRecord, file: LogFile) -> Evidence:
    """Return the stored bytes of a record with its checksum marked."""
    begin = placed.offset - file.begin_offset
    data = bytes(file.data[begin : begin + placed.size])
    return Evidence(
        layout=record_layout, data=data, wrong="body_crc", base=placed.offset
    )


@pytest.mark.clause("STORE-LOG-001", "STORE-RECORD-001", "STORE-BLANK-001")
def test_every_file_is_records_and_then_a_blank_or_zeros(files: StoreFiles) -> None:
    log_files = files.log_files()
    assert log_files, "the commit log has no file"
    assert log_files[0].scan.records, "the commit log begins with no record"
    for file in log_files:
        expect_that(
            "STORE-LOG-001",
            file.scan.stop is not Stop.BROKEN,
            found=f"{file.scan.stop} at {file.scan.end_offset}: {file.scan.error}",
            expected="end, blank or zeros",
            what=f"why reading {file.name} ended",
        )


@pytest.mark.clause("STORE-BLANK-001", "STORE-BLANK-002", "STORE-LOG-004")
def test_every_file_but_the_last_ends_with_a_blank(files: StoreFiles) -> None:
    for file in files.log_files()[:-1]:
        at = file.scan.end_offset - file.begin_offset
        blank = file.data[at : at + 8]
        expect(
            "STORE-BLANK-001",
            found=int.from_bytes(blank[4:], "big"),
            expected=0xCBD43194,
            what=f"magic after the last record of {file.name}",
        )
        expect_that(
            "STORE-LOG-004",
            at + len(blank) <= len(file.data),
            found=file.scan.end_offset,
            expected=f"at most {file.begin_offset + len(file.data) - len(blank)}",
            what=f"end of the last record of {file.name}",
        )
        expect(
            "STORE-BLANK-002",
            found=int.from_bytes(blank[:4], "big"),
            expected=len(file.data) - at,
            what=f"size of the blank of {file.name}",
        )


@pytest.mark.clause("STORE-LOG-003")
def test_zeros_fill_the_last_file(readable: StoreFiles) -> None:
    last = readable.log_files()[-1]
    rest = bytes(last.data[last.scan.end_offset - last.begin_offset :])
    expect(
        "STORE-LOG-003",
        found=rest.strip(b"\0"),
        expected=b"",
        what=f"bytes after the last record of {last.name} that are not zero",
    )


@pytest.mark.clause("STORE-NAME-001", "STORE-NAME-002", "STORE-LOG-002")
def test_every_file_is_named_after_its_first_byte(files: StoreFiles) -> None:
    found = files.log_files()
    sizes = {len(file.data) for file in found}
    expect_that(
        "STORE-LOG-002",
        len(sizes) == 1,
        found=sizes,
        expected="one size",
        what="sizes of the commit log's files",
    )
    begin, size = found[0].begin_offset, sizes.pop()
    expect(
        "STORE-NAME-002",
        found=[file.name for file in found],
        expected=[file_name(begin + number * size) for number in range(len(found))],
        what="names of the commit log's files",
    )


@pytest.mark.clause("STORE-RECORD-006")
def test_every_record_says_where_it_lies(files: StoreFiles) -> None:
    for placed in files.records():
        expect(
            "STORE-RECORD-006",
            found=placed.record.physical_offset,
            expected=placed.offset,
            what="physical_offset",
        )


@pytest.mark.clause("STORE-CRC-001")
def test_every_record_has_the_checksum_of_its_body(files: StoreFiles) -> None:
    log_files = files.log_files()
    assert log_files, "the commit log has no file"
    assert log_files[0].scan.records, "the commit log begins with no record"
    for file in log_files:
        for placed in file.scan.records:
            begin = placed.offset - file.begin_offset
            expect(
                "STORE-CRC-001",
                found=int.from_bytes(file.data[begin + 8 : begin + 12], "big"),
                expected=body_crc(placed.record.body),
                what="body_crc",
                evidence=evidence_of(placed, file),
            )


@pytest.mark.clause("STORE-RECORD-005")
def test_queue_offsets_are_dense(files: StoreFiles) -> None:
    seen: dict[tuple[str, int], int] = {}
    unqueued = int(SystemFlag.TRANSACTION_ROLLBACK)
    for placed in files.records():
        record = placed.record
        state = record.system_flags & unqueued
        if state not in (0, int(SystemFlag.TRANSACTION_COMMIT)):
            continue
        queue = (record.topic, record.queue_id)
        expected = seen.get(queue, record.queue_offset)
        expect(
            "STORE-RECORD-005",
            found=record.queue_offset,
            expected=expected,
            what=f"queue_offset of the record at {placed.offset}, queue {queue}",
        )
        seen[queue] = expected + count_of(record)


def count_of(record: Record) -> int:
    """Return the number of queue offsets of *record*: a batch stored whole has more."""
    if not record.system_flags & INNER_BATCH:
        return 1
    return int(decode_properties(record.properties).get(Property.INNER_NUM, "1"))


@pytest.mark.clause("STORE-LOG-005")
def test_store_times_do_not_fall(files: StoreFiles) -> None:
    times = [placed.record.stored_at_ms for placed in files.records()]
    expect(
        "STORE-LOG-005",
        found=[(a, b) for a, b in pairwise(times) if b < a],
        expected=[],
        what="store times before and after a fall",
    )


@pytest.mark.clause("STORE-RECORD-003")
def test_the_magic_tells_the_width_of_the_topics_size(files: StoreFiles) -> None:
    for placed in files.records():
        long = len(placed.record.topic.encode()) > 127
        expect(
            "STORE-RECORD-003",
            found=placed.record.magic,
            expected=0xDAA320AB if long else 0xDAA320A7,
            what=f"magic of the record at {placed.offset}",
        )


@pytest.mark.restores
@pytest.mark.clause("STORE-LOG-002")
@pytest.mark.needs("wire", "config")
def test_files_have_the_configured_size(written: Written) -> None:
    expect(
        "STORE-LOG-002",
        found={len(file.data) for file in written.files.log_files()},
        expected={written.log_file_size},
        what="sizes of the commit log's files",
    )


def fill_until_eight_and(written: Written, spare: int) -> tuple[LogFile, int, int]:
    """Send one record that leaves 8 + *spare* bytes of a file, if it fits there.

    Return the file that was filled, where the record was to begin and where it does.
    """
    topic = written.topics[1]
    size_of_one = size_of_one_byte(written, topic)
    for _ in range(ATTEMPTS):
        written.approach_end()
        probe = written.send(Outgoing(topic=topic, body=b"x"))
        begin = probe.commit_log_offset + size_of_one
        last = written.files.log_files()[-1]
        left = last.begin_offset + len(last.data) - begin
        size = left - 8 - spare
        if size < size_of_one:
            # Too little is left for a record: let the next file begin.
            written.send(Outgoing(topic=topic, body=bytes(left)))
            continue
        body = bytes(1 + size - size_of_one)
        sent = written.send(Outgoing(topic=topic, body=body))
        files = {file.name: file for file in written.files.log_files()}
        filled = files[last.name]
        begins = {placed.offset for placed in filled.scan.records}
        # A delayed message may have come between the two; then the next file has to do.
        if begin not in begins or sent.commit_log_offset == begin:
            return filled, begin, sent.commit_log_offset
    raise AssertionError(f"in {ATTEMPTS} attempts no record came where it was to")


def size_of_one_byte(written: Written, topic: str) -> int:
    """Return the size of a record of *topic* with one byte of body, else nothing."""
    sent = written.send(Outgoing(topic=topic, body=b"x"))
    records = {placed.offset: placed for placed in written.files.records()}
    return records[sent.commit_log_offset].size


@pytest.mark.restores
@pytest.mark.clause("STORE-BLANK-003")
@pytest.mark.needs("wire", "config")
@pytest.mark.parametrize("spare", [0, 1, 30])
def test_a_record_that_leaves_eight_bytes_fits(written: Written, spare: int) -> None:
    _, wanted, found = fill_until_eight_and(written, spare)
    expect(
        "STORE-BLANK-003",
        found=found,
        expected=wanted,
        what=f"offset of a record that leaves {8 + spare} bytes",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-BLANK-003", "STORE-BLANK-002")
@pytest.mark.needs("wire", "config")
@pytest.mark.parametrize("spare", [-1, -8])
def test_a_record_that_leaves_less_goes_to_the_next_file(
    written: Written, spare: int
) -> None:
    file, wanted, found = fill_until_eight_and(written, spare)
    end = file.begin_offset + len(file.data)
    expect(
        "STORE-BLANK-003",
        found=found,
        expected=end,
        what=f"offset of a record that would leave {8 + spare} bytes",
    )
    expect(
        "STORE-BLANK-002",
        found=(file.scan.stop, file.scan.blank and file.scan.blank.size),
        expected=(Stop.BLANK, end - wanted),
        what="what ends the file, and its size",
    )
