"""Index files: their size, and the number of items of a full one."""

from __future__ import annotations

from contextlib import suppress

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import IndexFile, StoreFiles
from conformance.store.workload import Outgoing
from conformance.store.written_store import Written
from spec.store.index_file import file_size

pytestmark = pytest.mark.needs("store")

ITEMS = "maxIndexNum"
"""Setting of the number of items of an index file."""
LARGEST_FILLED = 100_000
"""Largest number of items of a running broker's index file that a test fills."""
KEYS = 2000
"""Keys of a message that fills an index file."""


def full_files(files: StoreFiles) -> list[IndexFile]:
    """Return the files that another one follows."""
    return files.index_files()[:-1]


@pytest.mark.restores
@pytest.mark.clause("INDEX-FILE-001")
@pytest.mark.needs("wire", "config")
def test_index_files_have_the_configured_room(written: Written) -> None:
    size = file_size(written.setting("maxHashSlotNum"), written.setting(ITEMS))
    expect(
        "INDEX-FILE-001",
        found={len(file.data) for file in written.files.index_files()},
        expected={size},
        what="sizes of the index files",
    )


@pytest.mark.restores
@pytest.mark.clause("INDEX-FILE-002")
@pytest.mark.needs("wire", "config")
def test_a_full_index_file_has_one_item_less_than_room(written: Written) -> None:
    room = written.setting(ITEMS)
    fill_an_index_file(written, room)
    full = full_files(written.files)
    expect_that(
        "INDEX-FILE-002",
        bool(full) and {len(file.items()) for file in full} == {room - 1},
        found=[len(file.items()) for file in full],
        expected=f"{room - 1} in every file that another one follows",
        what="items of the full index files",
    )


def fill_an_index_file(written: Written, room: int) -> None:
    """Send messages with many keys until an index file of *room* items is full."""
    if written.is_alone:
        return
    if room > LARGEST_FILLED:
        wanted = f"{ITEMS} of at most {LARGEST_FILLED}"
        unsupported(f"it fills an index file, so it needs {wanted} ({room} there)")
    keys = " ".join(f"{number:x}" for number in range(KEYS))
    message = Outgoing(topic=written.topics[1], properties={"KEYS": keys})
    for _ in range(room // KEYS + 1):
        if full_files(written.files):
            return
        written.send(message)
    with suppress(TooLateError):
        wait_until(
            lambda: bool(full_files(written.files)), what="an index file is full"
        )
