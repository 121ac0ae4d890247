"""
Delayed messages: where they wait, and when they come out.
"""

from __future__ import annotations

from itertools import count

import pytest
from msgspec import structs
from msgspec.structs import replace

from reference.core.store.delay.delay_levels import DelayLevels
from reference.core.store.mapped.files import FilesError
from reference.core.store.types import PutStatus
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_one,
    killed,
    message,
    started,
    wire_batch,
)
from spec.store.config.config_files import DELAY_OFFSETS_FILE
from spec.store.consume_queue import decode_unit
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import SCHEDULE_TOPIC

LEVELS = replace(TINY, delay_levels="1s 1m", commit_log_file_size=4096)


def delayed(level: str, body: bytes = b"later") -> str:
    """Return the status of a put with this DELAY property."""
    store = started(options=LEVELS)
    put = message(body=body, properties=f"DELAY\x01{level}\x02")
    return append_one(store, put, NOON_MS).status.name


def test_a_delayed_message_waits_in_the_queue_of_its_level() -> None:
    store = started(options=LEVELS)
    put = message("Mine", 3, b"later", "TAGS\x01a\x02DELAY\x012\x02")
    append_one(store, put, NOON_MS)
    store.dispatch()
    (waiting,) = all_records(store, SCHEDULE_TOPIC, 1)
    words = decode_properties(waiting.properties)
    assert words == {
        "TAGS": "a",
        "DELAY": "2",
        "REAL_TOPIC": "Mine",
        "REAL_QID": "3",
    }
    queue = store.queues.table.get((SCHEDULE_TOPIC, 1))
    assert queue is not None
    units = queue.units_from(0)
    assert units is not None
    assert decode_unit(units).tags_code == NOON_MS + 60_000
    assert all_records(store, "Mine", 3) == []


def test_a_level_above_the_highest_is_the_highest() -> None:
    store = started(options=LEVELS)
    append_one(store, message(properties="DELAY\x0199\x02"), NOON_MS)
    store.dispatch()
    (waiting,) = all_records(store, SCHEDULE_TOPIC, 1)
    assert decode_properties(waiting.properties)["DELAY"] == "2"


@pytest.mark.parametrize("level", ["", "abc", "9" * 40, "1.5"])
def test_a_delay_that_is_no_number_ends_neither_dispatch_nor_recovery(
    level: str,
) -> None:
    """A batch may contain any DELAY; 4.6.0 loses the messages behind it."""
    files = MemoryFiles()
    store = started(files, LEVELS)
    text = f"DELAY\x01{level}\x02TAGS\x01a\x02".encode()
    batch = message(SCHEDULE_TOPIC, 0, wire_batch(b"bad", properties=text))
    put = [message(), structs.replace(batch, is_batch=True), message(body=b"behind")]
    results = store.append(put, NOON_MS)
    assert [one.status for one in results] == [PutStatus.PUT_OK] * 3
    store.dispatch()
    for running in (store, killed(store, files)):
        bodies = [one.body for one in all_records(running, "T", 0)]
        assert bodies == [b"hello", b"behind"]
        (bad,) = all_records(running, SCHEDULE_TOPIC, 0)
        assert bad.body == b"bad"


@pytest.mark.parametrize(
    ("level", "status"),
    [
        ("0", "PUT_OK"),
        ("-1", "PUT_OK"),
        ("x", "UNKNOWN_ERROR"),
        ("2147483647", "PUT_OK"),
        ("2147483648", "UNKNOWN_ERROR"),
        ("1 ", "UNKNOWN_ERROR"),
    ],
)
def test_a_level_is_an_integer(level: str, status: str) -> None:
    assert delayed(level) == status


@pytest.mark.parametrize(("waited_ms", "is_due"), [(999, False), (1000, True)])
def test_a_message_is_delivered_when_it_is_due(waited_ms: int, is_due: bool) -> None:
    store = started(options=LEVELS)
    put = message("Mine", 3, b"later", "TAGS\x01a\x02DELAY\x011\x02")
    append_one(store, put, NOON_MS)
    store.dispatch()
    results = store.deliver_delayed_messages(NOON_MS + waited_ms)
    store.dispatch()
    assert [result.status for result in results] == [PutStatus.PUT_OK] * is_due
    found = all_records(store, "Mine", 3)
    assert [record.body for record in found] == [b"later"] * is_due
    for record in found:  # the property stays, and does not delay again
        assert decode_properties(record.properties)["DELAY"] == "1"
        assert record.born_at_ms == put.born_at_ms
        assert record.stored_at_ms == NOON_MS + waited_ms
    assert store.deliver_delayed_messages(NOON_MS + waited_ms) == []


def test_levels_do_not_wait_for_each_other() -> None:
    store = started(options=LEVELS)
    for number, level in enumerate([2, 1, 2, 1]):
        put = message(body=b"%d" % number, properties=f"DELAY\x01{level}\x02")
        append_one(store, put, NOON_MS + number)
    store.dispatch()
    store.deliver_delayed_messages(NOON_MS + 2000)
    store.dispatch()
    assert [record.body for record in all_records(store, "T", 0)] == [b"1", b"3"]


def test_what_was_delivered_is_remembered_over_a_stop() -> None:
    files = MemoryFiles()
    store = started(files, LEVELS)
    append_one(store, message(properties="DELAY\x011\x02"), NOON_MS)
    store.dispatch()
    store.deliver_delayed_messages(NOON_MS + 1000)
    store.stop()
    assert files.read_text(f"config/{DELAY_OFFSETS_FILE}") == (
        '{\n\t"offsetTable":{1:1\n\t}\n}'
    )
    store = started(files, LEVELS, NOON_MS + 5000)
    assert store.deliver_delayed_messages(NOON_MS + 9000) == []


def test_what_was_delivered_but_not_remembered_is_delivered_again() -> None:
    files = MemoryFiles()
    store = started(files, LEVELS)
    append_one(store, message(body=b"twice", properties="DELAY\x011\x02"), NOON_MS)
    store.dispatch()
    store.deliver_delayed_messages(NOON_MS + 1000)
    store = killed(store, files)
    store.deliver_delayed_messages(NOON_MS + 2000)
    store.dispatch()
    assert [record.body for record in all_records(store, "T", 0)] == [b"twice"] * 2


def test_a_due_time_beyond_the_level_is_due_now() -> None:
    # The clock was set back after the put: 4.6.0 does not wait for it to catch up.
    store = started(options=LEVELS)
    append_one(store, message(properties="DELAY\x011\x02"), NOON_MS)
    store.dispatch()
    assert len(store.deliver_delayed_messages(NOON_MS - 1)) == 1


def test_durations_are_read_in_seconds_minutes_hours_and_days() -> None:
    levels = DelayLevels("1s 2m 3h 4d")
    durations = [levels.duration_ms(level) for level in range(1, 5)]
    assert durations == [1000, 120_000, 10_800_000, 345_600_000]
    assert levels.deliver_at_ms(9, 5) == 1005
    with pytest.raises(ValueError, match="'5' is not a duration"):
        DelayLevels("1s 5")


@pytest.mark.parametrize(
    "properties",
    [
        "",
        "REAL_TOPIC\x01T\x02",
        "REAL_QID\x010\x02",
        "REAL_TOPIC\x01T\x02REAL_QID\x01abc\x02",
        "REAL_TOPIC\x01T\x02REAL_QID\x0199999999999\x02",
        "REAL_TOPIC\x01T\x02REAL_QID\x01-1\x02",
        f"REAL_TOPIC\x01{'T' * 300}\x02REAL_QID\x010\x02",
        "REAL_TOPIC\x01../T\x02REAL_QID\x010\x02",
    ],
)
def test_an_undeliverable_message_is_dropped(properties: str) -> None:
    files = MemoryFiles()
    store = started(files, LEVELS)
    append_one(store, message(body=b"before", properties="DELAY\x011\x02"), NOON_MS)
    append_one(store, message(SCHEDULE_TOPIC, properties=properties), NOON_MS)
    append_one(store, message(body=b"behind", properties="DELAY\x011\x02"), NOON_MS)
    store.dispatch()
    lines: list[str] = []
    for second in (1, 2, 3):
        store.deliver_delayed_messages(NOON_MS + second * 1000, lines.append)
    store.dispatch()
    found = [record.body for record in all_records(store, "T", 0)]
    assert found == [b"before", b"behind"]
    assert len(lines) == 1
    assert lines[0].startswith("delayed message 1 of level 1 is dropped: Undeliverable")


def test_a_failing_level_stops_no_other_and_delivers_nothing_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = started(options=LEVELS)
    for body in (b"1s", b"next"):
        append_one(store, message(body=body, properties="DELAY\x011\x02"), NOON_MS)
    append_one(store, message(body=b"1m", properties="DELAY\x012\x02"), NOON_MS)
    store.dispatch()
    read, calls = store.log.record, count(1)

    def fails_once(offset: int, size: int) -> memoryview | None:
        if next(calls) == 2:
            raise FilesError("the disk fails")
        return read(offset, size)

    monkeypatch.setattr(store.log, "record", fails_once)
    lines: list[str] = []
    for minute in (1, 2):
        store.deliver_delayed_messages(NOON_MS + minute * 60_000, lines.append)
    store.dispatch()
    found = [record.body for record in all_records(store, "T", 0)]
    assert found == [b"1s", b"1m", b"next"]
    assert lines == ["delay level 1 failed: FilesError: the disk fails"]


def test_a_delayed_message_of_the_largest_size_is_delivered() -> None:
    options = replace(LEVELS, max_message_size=1000)
    store = started(options=options)
    topic, size = "long" * 30, 1000

    def put(size: int) -> PutStatus:
        delayed = message(topic, body=bytes(size), properties="DELAY\x011\x02")
        return append_one(store, delayed, NOON_MS).status

    while put(size) is PutStatus.MESSAGE_ILLEGAL:
        size -= 1
    append_one(store, message(properties="DELAY\x011\x02"), NOON_MS)
    store.dispatch()
    store.deliver_delayed_messages(NOON_MS + 1000)
    store.dispatch()
    assert [len(one.body) for one in all_records(store, topic, 0)] == [size]
    assert store.max_offset("T", 0) == 1
