"""
The index: keys go in, places come out, and the hashes are Java's.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from reference.core.store.commitlog.dispatch_request import tags_hash
from reference.core.store.index.index_file import index_hash
from reference.core.store.index.index_service import index_name
from reference.core.store.message_store import MessageStore
from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    append_one,
    killed,
    message,
    started,
)
from spec.integers import java_string_hash
from spec.store.index_file import key_hash
from spec.store.message_record import decode_record

OPTIONS = replace(TINY, commit_log_file_size=1 << 16)
FOREVER = (0, 2**62)


@given(topic=st.text(max_size=20), key=st.text(max_size=40))
@example(topic="", key="polygenelubricants")
@example(topic="T", key="")
@example(topic="T", key="\ud800")
@example(topic="T", key="k" * 2000)
@example(topic="T", key="7F00000100002A139B4C2F1A5B7E0003")
@example(topic="%RETRY%\u00e4", key="7F00000100002A139B4C2F1A5B7EFFFF")
@example(topic="T", key="\u00e42A139B4C00")
@example(topic="T", key="12345678")
@example(topic="T", key="123456789")
@example(topic="T", key="A" * 64)
@example(topic="T", key="A" * 65)
@example(topic="T", key="k" * 64)
@example(topic="T", key="k" * 65)
def test_the_fast_hashes_are_the_plain_ones(topic: str, key: str) -> None:
    assert index_hash(topic, key) == key_hash(topic, key)
    assert tags_hash(key) == java_string_hash(key)


def test_the_smallest_hash_is_filed_under_zero() -> None:
    # -2147483648 has no absolute value among Java's ints. In base 31 a hash is a text.
    target = (2**31 - java_string_hash("T#") * 31**7) % 2**32
    key = "".join(chr(target // 31**place % 31) for place in reversed(range(7)))
    assert java_string_hash(f"T#{key}") == -(2**31)
    assert index_hash("T", key) == key_hash("T", key) == 0


def filled(keys: list[str]) -> MessageStore:
    """Return a store with one message for each element of *keys*."""
    store = started(options=OPTIONS)
    for number, key in enumerate(keys):
        put = message(body=b"%d" % number, properties=f"KEYS\x01{key}\x02")
        append_one(store, put, NOON_MS + 1000 * number)
    store.dispatch()
    return store


def bodies(
    store: MessageStore, key: str, count: int = 64, between: tuple[int, int] = FOREVER
) -> list[bytes]:
    """Return the bodies that a query finds."""
    found = store.query("T", key, count, *between).records
    return [decode_record(record).body for record in found]


def test_each_of_several_keys_finds_the_message() -> None:
    store = filled(["a b", "  b c ", "c"])
    assert bodies(store, "a") == [b"0"]
    assert bodies(store, "b") == [b"0", b"1"]
    assert bodies(store, "c") == [b"1", b"2"]
    assert bodies(store, "d") == []
    assert store.query("U", "a", 64, *FOREVER).records == ()


def test_the_newest_messages_are_found_first_and_told_in_log_order() -> None:
    store = filled(["k"] * 20)
    assert bodies(store, "k", 3) == [b"17", b"18", b"19"]
    assert bodies(store, "k") == [b"%d" % number for number in range(20)]


@pytest.mark.parametrize(
    ("begin_s", "end_s", "expected"),
    [(0, 3, range(4)), (2, 3, [2, 3]), (9, 11, [9, 10, 11]), (18, 99, [18, 19])],
)
def test_a_query_is_for_a_stretch_of_time(
    begin_s: int, end_s: int, expected: list[int]
) -> None:
    store = filled(["k"] * 20)
    between = (NOON_MS + begin_s * 1000, NOON_MS + end_s * 1000)
    assert bodies(store, "k", 64, between) == [b"%d" % number for number in expected]


def test_a_unique_key_is_a_key() -> None:
    store = started(options=OPTIONS)
    append_one(
        store,
        message(body=b"me", properties="UNIQ_KEY\x01u1\x02KEYS\x01k\x02"),
        NOON_MS,
    )
    store.dispatch()
    assert bodies(store, "u1") == bodies(store, "k") == [b"me"]


def test_a_rollback_is_not_indexed_and_a_half_message_is() -> None:
    store = started(options=OPTIONS)
    for flags, body in ((4, b"half"), (12, b"rollback"), (8, b"commit")):
        append_one(store, message("T", 0, body, "KEYS\x01k\x02", flags), NOON_MS)
    store.dispatch()
    assert bodies(store, "k") == [b"half", b"commit"]


def test_full_files_vouched_for_by_the_checkpoint_outlive_a_crash() -> None:
    files = MemoryFiles()
    store = started(files, OPTIONS)
    for number in range(10):  # 7 items fill a file
        put = message(body=b"%d" % number, properties="KEYS\x01k\x02")
        append_one(store, put, NOON_MS + number)
    store.dispatch()
    names = files.names("index")
    store = killed(store, files)
    assert len(names) == 2
    assert files.names("index")[0] == names[0]
    # 6 ended the full file; 4.6.0, too, only skips what is older than that.
    assert bodies(store, "k") == [b"%d" % n for n in (0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9)]


def test_the_last_update_is_told() -> None:
    store = filled(["k", "k"])
    result = store.query("T", "k", 64, *FOREVER)
    assert result.index_last_update_ms == NOON_MS + 1000
    assert result.index_last_update_offset == int.from_bytes(
        result.records[-1][28:36], "big"
    )


def test_names_are_times_and_rise() -> None:
    name = index_name(1_600_000_000_123, "")
    assert name == "20200913122640123"
    assert index_name(1_600_000_000_123, name) == "20200913122640124"
