"""
One append: a sequence of messages leaves the same bytes as its messages one by one.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace

from reference.core.store.commitlog.commit_log import CommitLog
from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.types import NewMessage, PutResult, PutStatus
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    contents,
    message,
    started,
    wire_batch,
)
from spec.host import Host
from spec.store.message_record import decode_record
from spec.wire.message.topic_names import SCHEDULE_TOPIC
from spec.wire.send.batch_body import BatchMessage, encode_batch

PIECES = ["KEYS", "TAGS", "UNIQ_KEY", "a b", "\u00e4", "\ud800", "", "\x01", "\x02"]
PROPERTIES = st.lists(st.sampled_from([*PIECES, "\x01\x02"]), max_size=9).map("".join)
HOSTS = st.sampled_from([Host.of("127.0.0.1", 1), Host.of("::1", 65_535)])
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TOPICS = st.sampled_from(["T", "%RETRY%g", "thema-\u00e4", "x" * 127, SCHEDULE_TOPIC])
MESSAGES = st.builds(
    NewMessage,
    topic=TOPICS,
    queue_id=st.integers(0, 2),
    body=st.binary(max_size=40),
    properties=PROPERTIES,
    system_flags=st.sampled_from([0, 1, 4, 8, 12, -(2**31)]),
    born_host=HOSTS,
    store_host=HOSTS,
    flag=INT32,
    born_at_ms=INT64,
    reconsume_times=INT32,
    prepared_transaction_offset=INT64,
)
MEMBERS = st.builds(
    BatchMessage,
    body=st.binary(max_size=30),
    properties=PROPERTIES.filter(str.isascii),
    flag=INT32,
    magic=INT32,
    body_crc=INT32,
)
BATCHES = st.builds(
    lambda one, members: structs.replace(
        one, body=encode_batch(members), is_batch=True, properties="", system_flags=0
    ),
    MESSAGES,
    st.lists(MEMBERS, max_size=4),
)
REFUSED = [
    message("T", body=bytes(5000)),
    message("a/b"),
    message("T", properties="DELAY\x01x\x02"),
    structs.replace(message("T", body=b"no batch"), is_batch=True),
]
SEQUENCES = st.lists(
    st.one_of(MESSAGES, BATCHES, st.sampled_from(REFUSED)), min_size=1, max_size=12
)
ROOMY = replace(TINY, commit_log_file_size=1 << 16, max_message_size=1 << 12)


def new_log() -> CommitLog:
    return CommitLog(MemoryFiles(), ROOMY, DelayLevels(ROOMY.delay_levels))


@given(messages=SEQUENCES, options=st.sampled_from([TINY, ROOMY]))
@example([message("T"), *REFUSED, message("T", 1), message("T")], ROOMY)
@example([message("T", body=bytes(300))] * 9, TINY)
def test_a_sequence_is_appended_as_its_messages_one_by_one(
    messages: list[NewMessage], options: object
) -> None:
    files, single_files = MemoryFiles(), MemoryFiles()
    store = started(files, TINY if options is TINY else ROOMY)
    singles = started(single_files, TINY if options is TINY else ROOMY)
    results = store.append(messages, NOON_MS)
    expected: list[PutResult] = []
    for one in messages:
        expected += singles.append([one], NOON_MS)
    assert results == expected
    assert store.log.next_queue_offsets == singles.log.next_queue_offsets
    assert store.log.last_stored_at_ms == singles.log.last_stored_at_ms
    assert contents(files) == contents(single_files)


@given(messages=st.lists(st.one_of(MESSAGES, BATCHES), min_size=1, max_size=6))
@example([message("T", properties="KEYS\x01a b\x02UNIQ_KEY\x01u\x02TAGS\x01t\x02")])
def test_the_dispatch_requests_of_an_append_are_those_read_from_the_log(
    messages: list[NewMessage],
) -> None:
    log = new_log()
    for one in messages:
        records = log.append([one], NOON_MS)
        (result,) = records.results
        is_ascii = one.topic.isascii() and one.topic != SCHEDULE_TOPIC
        assert len(records.requests) == (len(result.record_offsets) if is_ascii else 0)
        for request in records.requests:
            place = request.physical_offset
            assert log.read_dispatch_request(place) == request


@given(new=MESSAGES, members=st.lists(MEMBERS, min_size=1, max_size=5))
def test_a_batch_has_the_records_of_its_messages(
    new: NewMessage, members: list[BatchMessage]
) -> None:
    batch = structs.replace(
        new, body=encode_batch(members), is_batch=True, system_flags=0, properties=""
    )
    log, singles = new_log(), new_log()
    (result,) = log.append([batch], NOON_MS).results
    assert result.status is PutStatus.PUT_OK
    offsets: list[int] = []
    for member in members:
        one = structs.replace(
            new,
            body=member.body,
            properties=member.properties,
            flag=member.flag,
            system_flags=0,
            prepared_transaction_offset=0,
            is_batch=False,
        )
        (stored,) = singles.append([one], NOON_MS).results
        offsets += stored.record_offsets
    assert result.record_offsets == offsets
    end = log.files.end
    assert end == singles.files.end
    assert log.files.view(0, end) == singles.files.view(0, end)


def test_host_bits_follow_the_addresses() -> None:
    log = new_log()
    (result,) = log.append([message("T", system_flags=16 | 32)], NOON_MS).results
    data = log.record(result.physical_offset, result.size)
    assert data is not None
    assert decode_record(data).system_flags == 0


def test_a_part_of_a_sequence_is_stored_when_the_disk_is_full() -> None:
    files = MemoryFiles()
    store = started(files, ROOMY)
    store.append([message("T")], NOON_MS)
    size = store.log.files.end
    files.space = 3 * size
    statuses = [one.status for one in store.append([message("T")] * 5, NOON_MS)]
    refused = [PutStatus.SERVICE_NOT_AVAILABLE] * 2
    assert statuses == [*[PutStatus.PUT_OK] * 3, *refused]
    assert store.log.next_queue_offsets == {("T", 0): 4}


def test_an_append_of_a_sequence_is_one_write() -> None:
    log = new_log()
    log.append([message("T")], NOON_MS)
    records = log.append([message("T")] * 20, NOON_MS)
    assert [one.queue_offset for one in records.results] == [*range(1, 21)]
    assert len(records.data) == 20 * log.files.end // 21


def test_a_batch_counts_as_one_call_and_each_of_its_messages() -> None:
    store = started(options=ROOMY)
    batch = structs.replace(
        message("T", body=wire_batch(b"a", b"b", b"c")), is_batch=True
    )
    store.append([batch, message("T")], NOON_MS)
    assert (store.statistics.put_calls, store.statistics.put_count) == (2, 4)
