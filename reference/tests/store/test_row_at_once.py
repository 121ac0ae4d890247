"""
The records of a row that are made in one go are those of messages that come alone.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from reference.core.store.api import NewMessage, PutStatus
from reference.core.store.commit_log import CommitLog
from reference.core.store.delay_levels import DelayLevels
from reference.core.store.files import MemoryFiles
from reference.tests.store.making import NOON_MS, TINY, message
from reference.tests.store.test_told import MESSAGES
from spec.host import Host

USUAL = message("T", properties="UNIQ_KEY\x01u\x02WAIT\x01true\x02")
HOSTS = st.sampled_from([Host.of("127.0.0.1", 1), Host.of("::1", 65_535)])
LARGE = replace(TINY, commit_log_file_size=1 << 20)
MUCH_ALIKE = st.builds(
    USUAL._replace,
    topic=st.sampled_from(["T", "%RETRY%g"]),
    queue_id=st.sampled_from([0, 1]),
    body=st.sampled_from([b"", b"a", b"b", b"abc"]),
    properties=st.sampled_from(
        ["", "KEYS\x01a b\x02TAGS\x01t\x02", "UNIQ_KEY\x01\u00e4"]
    ),
    system_flags=st.sampled_from([0, 1, 8]),
    born_at_ms=st.sampled_from([NOON_MS, NOON_MS + 1]),
    reconsume_times=st.sampled_from([0, 1]),
)


def new_log() -> CommitLog:
    """Return a log with a message in it, and room."""
    log = CommitLog(MemoryFiles(), LARGE, DelayLevels(LARGE.delay_levels))
    assert log.append(message("T"), NOON_MS - 1).status is PutStatus.PUT_OK
    return log


def state(log: CommitLog) -> tuple[object, ...]:
    """Return all that a put changes."""
    data = bytes(log.queue.view(0, log.queue.end) or b"")
    offsets = dict(log.next_queue_offsets)
    return data, list(log.fresh), offsets, log.last_stored_at_ms, log.queue.end


@given(
    row=st.lists(st.one_of(MUCH_ALIKE, MESSAGES), min_size=1, max_size=12),
    hosts=st.none() | st.tuples(HOSTS, HOSTS),
)
@example([USUAL, USUAL, USUAL._replace(queue_id=1), USUAL], None)
@example([USUAL, USUAL._replace(body=b"longer"), USUAL._replace(flag=3)], None)
def test_a_row_is_its_messages_one_by_one(
    row: list[NewMessage], hosts: tuple[Host, Host] | None
) -> None:
    if hosts is not None:
        born, store = hosts
        row = [one._replace(born_host=born, store_host=store) for one in row]
    quick, plain = new_log(), new_log()
    made = quick.row_of(row, NOON_MS)
    event("made at once" if made else "not made")
    assume(made is not None)
    assert made is not None
    quick.append_row(made)
    for one in row:
        assert plain.append(one, NOON_MS).status is PutStatus.PUT_OK
    assert state(quick) == state(plain)


def test_what_is_usual_is_made_at_once() -> None:
    log = new_log()
    row = log.row_of([USUAL] * 20, NOON_MS)
    assert row is not None
    assert len(row.told) == 20
    assert row.next_queue_offsets == {("T", 0): 21}


def test_what_is_unusual_is_left_to_the_plain_way() -> None:
    unusual = {
        "delayed": USUAL._replace(properties="DELAY\x011\x02"),
        "half": USUAL._replace(system_flags=4),
        "rolled back": USUAL._replace(system_flags=12),
        "of a transaction": USUAL._replace(prepared_transaction_offset=1),
        "of another host": USUAL._replace(born_host=Host.of("127.0.0.9", 9)),
        "waits for its time": USUAL._replace(topic="SCHEDULE_TOPIC_XXXX"),
        "no ASCII": USUAL._replace(topic="thema-\u00e4"),
        "half a character": USUAL._replace(properties="A\x01\ud800\x02"),
        "long properties": USUAL._replace(properties="A\x01" + "x" * 32_768),
        "too large": USUAL._replace(body=bytes(LARGE.max_message_size)),
    }
    log = new_log()
    before = state(log)
    for what, one in unusual.items():
        assert log.row_of([USUAL, one, USUAL], NOON_MS) is None, what
    assert state(log) == before


def test_a_row_that_has_no_room_in_the_file_is_not_made() -> None:
    log = new_log()
    size = len(log.row_of([USUAL], NOON_MS).data)  # type: ignore[union-attr] # has room
    fitting = (log.queue.space() - 8) // size
    assert log.row_of([USUAL] * fitting, NOON_MS) is not None
    assert log.row_of([USUAL] * (fitting + 1), NOON_MS) is None
