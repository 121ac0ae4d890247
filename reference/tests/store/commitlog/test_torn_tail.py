"""
A log whose last bytes were lost: messages before the damage are kept.
"""

from __future__ import annotations

import pytest

from reference.tests.memory_files import MemoryFiles
from reference.tests.store.small_stores import (
    NOON_MS,
    TINY,
    all_records,
    append_one,
    killed,
    message,
    started,
)

BODIES = [b"first", b"second message", b"", b"third"]
PROPERTIES = "TAGS\x01a\x02KEYS\x01k\x02"


def written() -> tuple[MemoryFiles, list[tuple[int, int]]]:
    """Return the files of a store that was killed, and its records' places."""
    files = MemoryFiles()
    store = started(files)
    results = [
        append_one(store, message("T", 0, body, PROPERTIES), NOON_MS) for body in BODIES
    ]
    store.dispatch()
    files.unlock()
    return files, [(result.physical_offset, result.size) for result in results]


def log_of(files: MemoryFiles) -> bytearray:
    """Return the bytes of the only file of the log."""
    return files.mapped["commitlog/" + "0" * 20].bytes


PLACES = written()[1]
CUTS = range(PLACES[1][0], sum(PLACES[-1]))


@pytest.mark.parametrize("is_clean", [False, True], ids=["killed", "stopped"])
@pytest.mark.parametrize("rest", [0x00, 0xFF], ids=["zeros", "ones"])
def test_a_log_cut_at_any_byte_keeps_the_messages_before(
    rest: int, is_clean: bool
) -> None:
    for cut in CUTS:
        files = written()[0]
        log_of(files)[cut:] = bytes([rest]) * (TINY.commit_log_file_size - cut)
        if is_clean:
            files.delete("abort")
        store = killed(started(MemoryFiles()), files)
        found = [record.body for record in all_records(store, "T", 0)]
        whole = [place for place in PLACES if sum(place) <= cut]
        # Nothing guards the bytes of properties: no checksum, no size after them.
        torn = [
            place
            for place in PLACES
            if sum(place) - len(PROPERTIES) <= cut < sum(place)
        ]
        assert found == BODIES[: len(whole) + len(torn)], f"cut at {cut}"


@pytest.mark.parametrize("is_clean", [False, True], ids=["killed", "stopped"])
def test_a_store_goes_on_after_any_cut(is_clean: bool) -> None:
    for cut in CUTS:
        files = written()[0]
        log_of(files)[cut:] = bytes(TINY.commit_log_file_size - cut)
        if is_clean:
            files.delete("abort")
        store = killed(started(MemoryFiles()), files)
        before = all_records(store, "T", 0)
        result = append_one(store, message("T", 0, b"after"), NOON_MS)
        store.dispatch()
        store = killed(store, files)
        after = all_records(store, "T", 0)
        assert result.queue_offset == len(before)
        assert after[:-1] == before
        assert after[-1].body == b"after"


def test_a_flipped_bit_in_a_body_ends_the_log() -> None:
    files = written()[0]
    offset, size = PLACES[1]
    log_of(files)[offset + size - len(PROPERTIES) - 4 - 3] ^= 1
    store = killed(started(MemoryFiles()), files)
    assert [record.body for record in all_records(store, "T", 0)] == BODIES[:1]
