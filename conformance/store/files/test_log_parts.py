"""Records read with nothing but numbers, and the commit log seen as one file."""

from __future__ import annotations

from contextlib import suppress

import pytest

from conformance.harness.client.client import batch_body, require_success
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.targets.store_files import LogFile
from conformance.store.workload import Outgoing
from conformance.store.written_store import LARGE_BODY, Written
from spec.host import Host
from spec.store.file_names import COMMIT_LOG, file_name
from spec.store.record_parts import PART_OFFSETS
from spec.wire.message.message_id import decode_message_id

EMPTY_SIZE = 91

pytestmark = pytest.mark.needs("wire", "config")


def log_bytes(written: Written, offset: int, size: int) -> bytes:
    """Return *size* bytes of the commit log, from the file that must hold them."""
    place = offset % written.log_file_size
    path = written.files.path / COMMIT_LOG / file_name(offset - place)
    if not path.exists():
        return b""
    with path.open("rb") as file:
        file.seek(place)
        return file.read(size)


def number(data: bytes, part: str) -> int:
    """Return a part of a record with IPv4 hosts, as a signed number."""
    begin, size = PART_OFFSETS[part]
    return int.from_bytes(data[begin : begin + size], "big", signed=True)


def ipv4_number(host: Host) -> int:
    """Return an IPv4 address as a signed number."""
    return int.from_bytes(host.address, "big", signed=True)


@pytest.mark.restores
@pytest.mark.clause("STORE-RECORD-019")
def test_every_part_of_a_record_has_its_place(written: Written) -> None:
    for sent in written.sent:
        data = written.record_bytes(sent)
        found = {part: number(data, part) for part in PART_OFFSETS}
        expect_fields(
            "STORE-RECORD-019",
            found=found,
            expected={
                "queue_id": sent.queue_id,
                "flag": sent.message.flag,
                "queue_offset": sent.queue_offset,
                "physical_offset": sent.commit_log_offset,
                "born_at_ms": sent.message.born_at_ms,
                "born_address": ipv4_number(Host.of(*sent.from_address)),
                "born_port": sent.from_address.port,
                "store_address": ipv4_number(decode_message_id(sent.message_id)[0]),
                "reconsume_times": sent.message.reconsume_times,
                "prepared_transaction_offset": 0,
                "body_size": len(sent.message.body),
            },
        )


@pytest.mark.restores
@pytest.mark.clause("STORE-RECORD-020")
def test_a_record_is_91_bytes_and_what_varies(written: Written) -> None:
    for sent in written.sent:
        data = written.record_bytes(sent)
        size, body_size = number(data, "size"), len(sent.message.body)
        topic_size = data[88 + body_size]
        place = 89 + body_size + topic_size
        properties_size = int.from_bytes(data[place : place + 2], "big")
        expect(
            "STORE-RECORD-020",
            found=size,
            expected=EMPTY_SIZE + body_size + topic_size + properties_size,
            what=f"size of the record at {sent.commit_log_offset}",
        )


@pytest.mark.restores
@pytest.mark.needs("store")
@pytest.mark.clause("STORE-LOG-008")
def test_an_offset_says_its_file_and_place(written: Written) -> None:
    wrong = [
        sent.commit_log_offset
        for sent in written.sent
        if log_bytes(written, sent.commit_log_offset, 8)[4:] != b"\xda\xa3\x20\xa7"
    ]
    expect("STORE-LOG-008", found=wrong, expected=[], what="offsets without a record")


@pytest.mark.restores
@pytest.mark.clause("STORE-LOG-010")
def test_all_topics_share_one_log_in_the_order_of_sending(written: Written) -> None:
    offsets = [sent.commit_log_offset for sent in written.sent]
    expect("STORE-LOG-010", found=offsets, expected=sorted(offsets), what="offsets")
    end = offsets[0] + 2**15
    first = {s.message.topic for s in written.sent if s.commit_log_offset < end}
    expect("STORE-LOG-010", found=len(first), expected=2, what="topics of 32 KiB")


@pytest.mark.restores
@pytest.mark.needs("store")
@pytest.mark.clause("STORE-LOG-009")
def test_what_is_written_stays(written: Written) -> None:
    files = written.files.log_files()
    # A running broker may delete its first files meanwhile.
    begin = files[0 if written.is_alone else -1].begin_offset
    end = files[-1].scan.end_offset

    def log() -> bytes:
        files = written.files.log_files()
        return b"".join(file.data for file in files if file.begin_offset >= begin)

    before = log()
    written.send(Outgoing(topic=written.topics[0], body=b"one more"))
    kept = log()[: end - begin] == before[: end - begin]
    expect("STORE-LOG-009", found=kept, expected=True, what="the bytes are the same")


@pytest.mark.restores
@pytest.mark.needs("store")
@pytest.mark.clause("STORE-LOG-006", "STORE-LOG-007")
def test_files_are_whole_and_those_ahead_are_zeros(written: Written) -> None:
    last = written.files.log_files()[-1].name
    paths = sorted((written.files.path / COMMIT_LOG).iterdir())
    expect(
        "STORE-LOG-006",
        found={path.stat().st_size for path in paths},
        expected={written.log_file_size},
        what="sizes",
    )
    ahead = [path for path in paths if path.name > last]
    dirty = [path.name for path in ahead if path.read_bytes().strip(b"\0")]
    expect("STORE-LOG-007", found=dirty, expected=[], what="files that are not empty")


@pytest.mark.restores
@pytest.mark.needs("store")
@pytest.mark.clause("STORE-LOG-011")
def test_the_next_file_exists_soon_after_a_file_has_begun(written: Written) -> None:
    written.approach_end()
    size, topic = written.log_file_size, written.topics[1]
    before = written.send(Outgoing(topic=topic, body=b"before")).commit_log_offset
    offset = before
    while offset // size == before // size:
        sent = written.send(Outgoing(topic=topic, body=bytes(size_of_piece(size))))
        offset = sent.commit_log_offset
    path = written.files.path / COMMIT_LOG / file_name((offset // size + 1) * size)
    with suppress(TooLateError):
        wait_until(path.exists, what=f"{path.name} exists")
    expect("STORE-LOG-011", found=path.exists(), expected=True, what=path.name)


def size_of_piece(file_size: int) -> int:
    """Return the size of bodies that fill the rest of a file of the commit log."""
    return min(file_size // 8, LARGE_BODY)


def _room(file: LogFile) -> int:
    return file.begin_offset + len(file.data) - file.scan.end_offset


def fill_to(written: Written, room: int) -> LogFile:
    """Send until less than *room* bytes of a file are left; return that file."""
    topic = written.topics[1]
    while True:
        written.approach_end()
        last = written.files.log_files()[-1]
        left = _room(last)
        if 2000 < left < room:
            return last
        size = left - room // 2 if left > room else left
        written.send(Outgoing(topic=topic, body=bytes(max(size - 400, 1))))


def send_batch(written: Written, bodies: list[bytes]) -> list[int]:
    """Send a batch to a queue; return the commit-log offsets of its records."""
    with written.target.connect_to_broker() as broker:
        body = batch_body([(one, {}) for one in bodies])
        response = require_success(
            broker.send_batch(topic=written.topics[1], body=body)
        )
    return [decode_message_id(one)[1] for one in response.fields["msgId"].split(",")]


@pytest.mark.restores
@pytest.mark.needs("store")
@pytest.mark.clause("SEND-BATCH-012")
def test_a_batch_lies_in_one_file(written: Written) -> None:
    file = fill_to(written, 20_000)
    room = _room(file)
    offsets = send_batch(written, [bytes(room // 2)] * 3)
    end = file.begin_offset + len(file.data)
    expect_that(
        "SEND-BATCH-012",
        offsets[0] == end,
        found=offsets[0],
        expected=f"the beginning of the next file, {end}, for {room} bytes were left",
        what="offset of the first record",
    )
    sizes = [number(log_bytes(written, o, EMPTY_SIZE), "size") for o in offsets]
    expect(
        "SEND-BATCH-012",
        found=offsets,
        expected=[end, end + sizes[0], end + sizes[0] + sizes[1]],
        what="offsets",
    )
