"""
Messages that the store accepts or refuses.
"""

from __future__ import annotations

import pytest
from msgspec import structs

from reference.core.store.types import NewMessage, PutStatus, StoreOptions
from reference.tests.store.small_stores import (
    NOON_MS,
    all_records,
    append_batch,
    append_one,
    message,
    started,
)
from reference.tests.store.small_stores import wire_batch as batch
from spec.host import Host
from spec.wire.message.properties import encode_properties

ROOMY = StoreOptions(
    commit_log_file_size=1 << 20,
    consume_queue_file_size=2000,
    index_slot_count=5,
    index_item_count=100,
    max_message_size=40_000,
)
HALF, COMMIT, ROLLBACK = 4, 8, 12


def status_of(put: NewMessage) -> PutStatus:
    """Return the status of *put* in a fresh store."""
    return append_one(started(options=ROOMY), put, NOON_MS).status


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("t" * 127, PutStatus.PUT_OK),
        ("t" * 128, PutStatus.MESSAGE_ILLEGAL),
        ("ü" * 63, PutStatus.PUT_OK),
        ("ü" * 64, PutStatus.MESSAGE_ILLEGAL),
        ("", PutStatus.MESSAGE_ILLEGAL),
        ("..", PutStatus.MESSAGE_ILLEGAL),
        ("a/b", PutStatus.MESSAGE_ILLEGAL),
        ("a\0b", PutStatus.MESSAGE_ILLEGAL),
    ],
)
def test_a_topic_has_at_most_127_bytes_and_names_a_directory(
    topic: str, expected: PutStatus
) -> None:
    assert status_of(message(topic)) is expected


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ("p" * 32767, PutStatus.PUT_OK),
        ("p" * 32768, PutStatus.PROPERTIES_SIZE_EXCEEDED),
        ("ü" * 16384, PutStatus.MESSAGE_ILLEGAL),
    ],
)
def test_properties_have_at_most_32767_bytes(
    properties: str, expected: PutStatus
) -> None:
    assert status_of(message(properties=properties)) is expected


@pytest.mark.parametrize(("more", "is_stored"), [(0, True), (1, False)])
def test_the_whole_record_counts_against_the_largest_message(
    more: int, is_stored: bool
) -> None:
    result = append_one(
        started(options=ROOMY), message(body=bytes(40_000 - 92 + more)), 0
    )
    assert result.is_stored is is_stored


def test_a_stopped_store_takes_nothing() -> None:
    store = started(options=ROOMY)
    store.stop()
    assert (
        append_one(store, message(), NOON_MS).status is PutStatus.SERVICE_NOT_AVAILABLE
    )
    assert append_batch(store, message(), 0).status is PutStatus.SERVICE_NOT_AVAILABLE


@pytest.mark.parametrize("flags", [HALF, ROLLBACK])
def test_half_messages_and_rollbacks_enter_no_queue(flags: int) -> None:
    store = started(options=ROOMY)
    append_one(store, message(body=b"before"), NOON_MS)
    result = append_one(store, message(body=b"half", system_flags=flags), NOON_MS)
    append_one(store, message(body=b"commit", system_flags=COMMIT), NOON_MS)
    store.dispatch()
    assert result.is_stored
    assert result.queue_offset == 0
    bodies = [record.body for record in all_records(store, "T", 0)]
    assert bodies == [b"before", b"commit"]


@pytest.mark.parametrize("flags", [HALF, COMMIT, ROLLBACK])
def test_a_batch_is_no_transaction(flags: int) -> None:
    put = message(body=batch(b"a"), system_flags=flags)
    assert append_batch(started(), put, NOON_MS).status is PutStatus.MESSAGE_ILLEGAL


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DELAY", "1", PutStatus.MESSAGE_ILLEGAL),
        ("DELAY", "99", PutStatus.MESSAGE_ILLEGAL),
        ("DELAY", "x", PutStatus.UNKNOWN_ERROR),
        ("DELAY", "0", PutStatus.PUT_OK),
        ("DELAY", "-1", PutStatus.PUT_OK),
        ("MY_DELAY", "1", PutStatus.PUT_OK),
    ],
)
def test_a_batch_has_no_level_of_delay(
    name: str, value: str, expected: PutStatus
) -> None:
    put = structs.replace(
        message(body=batch(b"a")), properties=encode_properties({name: value})
    )
    assert append_batch(started(), put, NOON_MS).status is expected


@pytest.mark.parametrize("cut", range(1, len(batch(b"ab", b"c", properties=b"p"))))
def test_a_batch_cut_anywhere_is_stored_not_at_all(cut: int) -> None:
    whole = batch(b"ab", b"c", properties=b"p")
    store = started()
    result = append_batch(store, message(body=whole[:cut]), NOON_MS)
    if cut == len(batch(b"ab", properties=b"p")):
        assert len(result.record_offsets) == 1
    else:
        assert result.status is PutStatus.UNKNOWN_ERROR
        assert store.log.files.end == 0


def test_hosts_may_be_ipv6() -> None:
    store = started(options=ROOMY)
    put = structs.replace(
        message(), born_host=Host.of("::1", 5), store_host=Host.of("::2", 6)
    )
    append_one(store, put, NOON_MS)
    store.dispatch()
    (record,) = all_records(store, "T", 0)
    assert (record.born_host, record.store_host) == (put.born_host, put.store_host)
    assert record.system_flags == 0b110000
