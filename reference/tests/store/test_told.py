"""
What the log tells dispatch of a new record is what reading the record would give.
"""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reference.core.store.api import SCHEDULE_TOPIC, NewMessage, PutStatus
from reference.core.store.commit_log import CommitLog
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.files import MemoryFiles
from reference.core.store.message_store import MessageStore
from reference.tests.store.making import (
    NOON_MS,
    TINY,
    killed,
    message,
    started,
    wire_batch,
)
from spec.host import Host

TOPICS = st.sampled_from(["T", "%RETRY%g", "thema-\u00e4", "x" * 127, SCHEDULE_TOPIC])
PIECES = st.sampled_from(
    [
        "KEYS",
        "TAGS",
        "UNIQ_KEY",
        "a b",
        "\u00e4",
        "\ud800",
        "",
        "\x01",
        "\x02",
        "\x01\x02",
    ]
)
PROPERTIES = st.lists(PIECES, max_size=9).map("".join)
FLAGS = st.sampled_from([0, 1, 4, 8, 12, -(2**31)])
HOSTS = st.sampled_from([Host.of("127.0.0.1", 1), Host.of("::1", 65_535)])
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
MESSAGES = st.builds(
    NewMessage,
    topic=TOPICS,
    queue_id=st.integers(0, 2**31 - 1),
    body=st.binary(max_size=40),
    properties=PROPERTIES,
    system_flags=FLAGS,
    born_host=HOSTS,
    store_host=HOSTS,
    flag=INT32,
    born_at_ms=INT64,
    reconsume_times=INT32,
    prepared_transaction_offset=INT64,
    wait_until_stored=st.booleans(),
)
ROWS = st.lists(st.tuples(MESSAGES, st.booleans()), max_size=12)


@given(new=st.lists(MESSAGES, min_size=1, max_size=6))
@example([message("T", properties="KEYS\x01a b\x02UNIQ_KEY\x01u\x02TAGS\x01t\x02")])
def test_what_is_told_is_what_is_found(new: list[NewMessage]) -> None:
    levels = DelayLevels(TINY.delay_levels)
    log = CommitLog(MemoryFiles(), TINY, levels)
    for one in new:
        told_before = len(log.fresh)
        result = log.append(one, NOON_MS)
        assert result.status is PutStatus.PUT_OK
        told = list(log.fresh)[told_before:]
        found = log.find(result.physical_offset, check_crc=True)
        is_plain = one.topic.isascii() and one.topic != SCHEDULE_TOPIC
        assert told == ([found] if is_plain else [])


@given(rows=ROWS)
@example([(message("T"), True), (message(SCHEDULE_TOPIC), False), (message("T"), True)])
def test_a_store_is_the_same_whether_dispatch_was_told_or_reads(
    rows: list[tuple[NewMessage, bool]],
) -> None:
    """Row by row: a message, and whether what was put is dispatched after it."""
    told, reading = MemoryFiles(), MemoryFiles()
    stores = started(told), started(reading)
    for new, dispatches in rows:
        one, other = (store.put(new, NOON_MS) for store in stores)
        assert one == other
        if dispatches:
            seen = stores[0].dispatch()
            stores[1].log.fresh.clear()
            assert seen == stores[1].dispatch()
    assert stores[0].dispatch() == stores[1].dispatch()
    assert not stores[0].log.fresh
    assert contents(told) == contents(reading)


def test_batches_are_told_one_by_one() -> None:
    files = MemoryFiles()
    store = started(files)
    store.put_batch(message("T", 1, wire_batch(b"a", b"b", b"c")), NOON_MS)
    told = list(store.log.fresh)
    assert [found.queue_offset for found in told] == [0, 1, 2]
    read = [store.log.find(one.physical_offset, check_crc=True) for one in told]
    assert told == read
    assert len(store.dispatch()) == 3


def test_what_was_told_of_an_old_store_is_no_news_to_the_next() -> None:
    files = MemoryFiles()
    store: MessageStore = started(files)
    store.put(message("T"), NOON_MS)
    again = killed(store, files)
    assert not again.log.fresh
    assert again.max_offset("T", 0) == 1


def contents(files: MemoryFiles) -> dict[str, bytes]:
    """Return the bytes of all mapped files."""
    return {name: bytes(file.bytes) for name, file in files.mapped.items()}
