"""Each message sent has a record, a unit and index items, each at its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.harness.client.client import Client
from conformance.harness.failure.failure import Evidence
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.targets.store_files import StoreFiles, offsets_of_key
from conformance.store.workload import Outgoing, Sent, key_with_hash, send
from conformance.store.written_store import QUEUE_FILE_SIZE, Written
from conformance.strategies.boundaries import OVER_THE_WIRE, int32s, int64s
from conformance.strategies.messages import bodies, properties, tags
from spec.integers import INT32_MIN, body_crc, tags_code
from spec.store.consume_queue import UNIT_SIZE
from spec.store.message_record import decode_record, record_layout
from spec.wire.message.properties import decode_properties

pytestmark = pytest.mark.needs("store", "wire", "config")

ROOM = 20_000
"""Bytes of a body: less than a third of the workload's commit-log file."""


@pytest.fixture
def client(written: Written) -> Iterator[Client]:
    """Yield a connection to the broker whose files are small."""
    with written.target.connect_to_broker() as opened:
        yield opened


def stored(files: StoreFiles, sent: Sent) -> bytes:
    """Return the bytes of the record of *sent*, which must be there already."""
    data = files.record_bytes(sent.commit_log_offset)
    expect_that(
        "STORE-PUT-007",
        data is not None,
        found=data,
        expected="a record",
        what=f"bytes at {sent.commit_log_offset}, the offset answered",
    )
    assert data is not None
    return data


@pytest.mark.clause("STORE-PUT-001", "STORE-PUT-002", "STORE-PUT-003", "STORE-PUT-005")
@pytest.mark.clause("STORE-PUT-007")
@pytest.mark.clause("STORE-RECORD-006", "STORE-RECORD-011", "STORE-RECORD-012")
@pytest.mark.clause("STORE-CRC-001")
@OVER_THE_WIRE
@given(
    body=bodies(most=ROOM),
    own=properties(),
    flag=int32s(),
    born_at_ms=int64s(),
    reconsume_times=int32s(),
    queue_id=st.integers(0, 3),
)
@example(  # A body whose checksum is 0: some recoveries take 0 for "none".
    body=bytes.fromhex("9d0ad96d"),
    own={},
    flag=-1,
    born_at_ms=-1,
    reconsume_times=-1,
    queue_id=3,
)
def test_any_message_is_a_record_as_sent(
    written: Written,
    client: Client,
    body: bytes,
    own: dict[str, str],
    flag: int,
    born_at_ms: int,
    reconsume_times: int,
    queue_id: int,
) -> None:
    outgoing = Outgoing(
        topic=written.topics[0],
        queue_id=queue_id,
        body=body,
        properties=own,
        flag=flag,
        born_at_ms=born_at_ms,
        reconsume_times=reconsume_times,
    )
    sent = send(client, outgoing)
    data = stored(written.files, sent)
    record = decode_record(data, check_crc=False)
    for clause, name, expected in (
        ("STORE-PUT-002", "body", body),
        ("STORE-RECORD-006", "physical_offset", sent.commit_log_offset),
        ("STORE-RECORD-011", "flag", flag),
        ("STORE-RECORD-012", "born_at_ms", born_at_ms),
        ("STORE-PUT-003", "reconsume_times", reconsume_times),
        ("STORE-PUT-005", "queue_offset", sent.queue_offset),
    ):
        expect(
            clause,
            found=getattr(record, name),
            expected=expected,
            what=name,
            evidence=Evidence(layout=record_layout, data=data, wrong=name),
        )
    expect(
        "STORE-CRC-001",
        found=int.from_bytes(data[8:12], "big"),
        expected=body_crc(body),
        what="body_crc",
        evidence=Evidence(layout=record_layout, data=data, wrong="body_crc"),
    )
    expect_fields(
        "STORE-PUT-001", found=decode_properties(record.properties), expected=own
    )


@pytest.mark.clause("STORE-QUEUE-001", "STORE-QUEUE-002", "STORE-QUEUE-003")
@pytest.mark.clause("STORE-QUEUE-004", "STORE-TAGS-001")
@OVER_THE_WIRE
@given(tag=st.one_of(st.none(), tags()), queue_id=st.integers(0, 3))
@example(tag="polygenelubricants", queue_id=0)  # Java's hash of it is INT32_MIN.
@example(tag=None, queue_id=1)
def test_any_message_is_a_unit_with_its_tags_code(
    written: Written, client: Client, tag: str | None, queue_id: int
) -> None:
    own = {} if tag is None else {"TAGS": tag}
    topic = written.topics[0]
    sent = send(client, Outgoing(topic=topic, queue_id=queue_id, properties=own))
    with suppress(TooLateError):
        # A reader may see a part of a unit that is being written. The max offset counts
        # whole ones.
        client.wait_for_max_offset(
            topic=topic, queue_id=queue_id, offset=sent.queue_offset + 1
        )
    files = written.files
    found = files.unit_at(topic, queue_id, sent.queue_offset, QUEUE_FILE_SIZE)
    expect_that(
        "STORE-QUEUE-001",
        found is not None,
        found=found,
        expected="a unit",
        what=f"unit {sent.queue_offset} of {topic}, queue {queue_id}",
    )
    assert found is not None
    expect(
        "STORE-QUEUE-003",
        found=(found.commit_log_offset, found.size),
        expected=(sent.commit_log_offset, len(stored(files, sent))),
        what=f"offset and size in the unit at byte {sent.queue_offset * UNIT_SIZE}",
    )
    expect(
        "STORE-QUEUE-004",
        found=found.tags_code,
        expected=tags_code(tag),
        what=f"tags code of a message with the tag {tag!r}",
    )


def keys() -> st.SearchStrategy[str]:
    """One word each: what separates keys is a space."""
    planted = ("Aa", "BB", "键", "😀", "a#b", "%s", "x" * 300)
    words = st.text("abcXYZ#%-", min_size=1, max_size=12)
    return st.one_of(st.sampled_from(planted), words)


@pytest.mark.clause("INDEX-KEY-001", "INDEX-KEY-003", "INDEX-SLOT-001")
@pytest.mark.clause("INDEX-KEY-002")
@OVER_THE_WIRE
@given(words=st.lists(keys(), min_size=1, max_size=4), smallest=st.booleans())
@example(words=["Aa", "BB"], smallest=False)  # One hash, two keys.
def test_every_word_of_any_keys_leads_to_the_message(
    written: Written, client: Client, words: list[str], smallest: bool
) -> None:
    topic = written.topics[1]
    if smallest:
        words = [*words, key_with_hash(f"{topic}#", INT32_MIN)]
    sent = send(client, Outgoing(topic=topic, properties={"KEYS": " ".join(words)}))
    missing = set(words)

    def indexed() -> bool:
        found = {word for word in missing if leads_to(written.files, topic, word, sent)}
        missing.difference_update(found)
        return not missing

    with suppress(TooLateError):
        wait_until(indexed, what="every word leads to the message")
    expect(
        "INDEX-KEY-003",
        found=missing,
        expected=set(),
        what=f"words that do not lead to {sent.commit_log_offset}",
    )


def leads_to(files: StoreFiles, topic: str, word: str, sent: Sent) -> bool:
    """Return whether the index has the message under a key."""
    return sent.commit_log_offset in offsets_of_key(files.index_files(), topic, word)
