"""The files of a store beside messages, queues and index: names, locks, times."""

from __future__ import annotations

import fcntl
import re
from contextlib import suppress

import pytest

from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect, expect_that
from conformance.harness.targets.store_files import StoreFiles
from conformance.store.written_store import Written
from spec.layout import LayoutError
from spec.store.checkpoint import checkpoint_layout
from spec.store.config.config_files import DELAY_OFFSETS_FILE, decode_delay_offsets
from spec.store.file_names import ABORT, LOCK, FileKind, store_file
from spec.store.message_record import decode_record

pytestmark = pytest.mark.needs("store")


@pytest.mark.clause("STORE-NAME-004")
def test_index_files_are_named_after_a_time(files: StoreFiles) -> None:
    names = [file.name for file in files.index_files()]
    wanted = re.compile(
        r"20[0-9]{2}(0[1-9]|1[0-2])([0-2][0-9]|3[01])"
        r"([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9][0-9]{3}"
    )
    expect(
        "STORE-NAME-004",
        found=[name for name in names if not wanted.fullmatch(name)],
        expected=[],
        what="names that are no time",
    )


@pytest.mark.clause("STORE-NAME-001", "STORE-NAME-003", "STORE-NAME-004")
def test_every_file_in_the_three_directories_is_known(files: StoreFiles) -> None:
    wrong = {}
    kinds = set()
    for directory in ("commitlog", "consumequeue", "index"):
        for path in (files.path / directory).rglob("*"):
            if path.is_file():
                relative = path.relative_to(files.path)
                try:
                    kinds.add(store_file(relative).kind)
                except LayoutError as error:
                    wrong[str(relative)] = error.reason
    expect("STORE-NAME-001", found=wrong, expected={}, what="files of unknown kinds")
    expect_that(
        "STORE-NAME-003",
        FileKind.COMMIT_LOG in kinds,
        found=sorted(kinds),
        expected="commit log among them",
        what="kinds of files",
    )


@pytest.mark.clause("STORE-CHECKPOINT-001", "STORE-CHECKPOINT-002")
def test_the_checkpoint_is_one_page_of_times(readable: StoreFiles) -> None:
    data = readable.checkpoint_bytes()
    expect(
        "STORE-CHECKPOINT-002",
        found=(len(data), data[checkpoint_layout.sizeof() :].strip(b"\0")),
        expected=(4_096, b""),
        what="size, bytes after the fields that are not zero",
    )
    last_ms = max((p.record.stored_at_ms for p in readable.records()), default=0)
    checkpoint = readable.checkpoint()
    times = (checkpoint.physic_ms, checkpoint.logics_ms, checkpoint.index_ms)
    expect(
        "STORE-CHECKPOINT-001",
        found=[time_ms for time_ms in times if not 0 <= time_ms <= last_ms],
        expected=[],
        what=f"times that are negative or after the last record's {last_ms}",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-CHECKPOINT-001")
@pytest.mark.needs("wire", "config")
def test_the_checkpoint_reaches_the_last_record(written: Written) -> None:
    def times() -> tuple[int, int]:
        checkpoint = written.files.checkpoint()
        return checkpoint.physic_ms, checkpoint.logics_ms

    def reached() -> bool:
        first_two = set(times())
        if 0 in first_two:
            return False
        # Read after the times: the broker goes on to write records of its own.
        return first_two <= {one.record.stored_at_ms for one in written.files.records()}

    has_reached = True
    try:
        wait_until(reached, what="the checkpoint is written", timeout_s=75)
    except TooLateError:
        has_reached = False
    expect_that(
        "STORE-CHECKPOINT-001",
        has_reached,
        found=times(),
        expected="the store times of two records",
        what="first two times",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-CHECKPOINT-004")
@pytest.mark.needs("wire", "config")
def test_the_checkpoint_reaches_the_last_unit(written: Written) -> None:
    def reached() -> bool:
        found = written.files.checkpoint().queues_offset
        return found in {one.offset for one in written.files.records()}

    with suppress(TooLateError):
        wait_until(reached, what="the offset is that of a record", timeout_s=75)
    expect_that(
        "STORE-CHECKPOINT-004",
        reached(),
        found=written.files.checkpoint().queues_offset,
        expected="the commit-log offset of a record",
        what="bytes 40 to 48",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-NAME-005", "STORE-NAME-006")
@pytest.mark.needs("wire", "config")
def test_a_running_broker_shows_abort_and_holds_the_lock(written: Written) -> None:
    expect(
        "STORE-NAME-005",
        found=(written.files.path / ABORT).is_file(),
        expected=True,
        what="the file abort is there",
    )
    with (written.files.path / LOCK).open("rb+") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
            held = False
        except OSError:
            held = True
    expect("STORE-NAME-006", found=held, expected=True, what="somebody holds the lock")


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-010")
@pytest.mark.needs("wire", "config")
def test_the_file_abort_is_empty(written: Written) -> None:
    content = (written.files.path / ABORT).read_bytes()
    expect("STORE-CONFIG-010", found=content, expected=b"", what="content of abort")


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-011")
@pytest.mark.needs("wire", "config")
def test_the_file_abort_has_a_process_id(written: Written) -> None:
    content = (written.files.path / ABORT).read_bytes()
    expect_that(
        "STORE-CONFIG-011",
        content.strip().isdigit(),
        found=content,
        expected="decimal digits",
        what="content of abort",
    )


@pytest.mark.restores
@pytest.mark.clause("STORE-CONFIG-007")
@pytest.mark.needs("wire", "config")
def test_a_delivered_message_moves_the_offset_of_its_level(written: Written) -> None:
    path = written.files.config(DELAY_OFFSETS_FILE)
    # Queue offsets in the topic of delayed messages: 0 where no other was delayed.
    delivered, delayed = (
        decode_record(written.record_bytes(sent)).queue_offset
        for sent in (written.delivered, written.delayed)
    )

    def moved() -> bool:
        offsets = decode_delay_offsets(path.read_bytes()) if path.exists() else {}
        return offsets.get(1, 0) > delivered

    wait_until(
        moved, what=f"{DELAY_OFFSETS_FILE} has an offset of level 1", timeout_s=30
    )
    offsets = decode_delay_offsets(path.read_bytes())
    one, eighteen = offsets.get(1, 0), offsets.get(18, 0)
    # A running broker may have delivered another message since.
    is_next = one == delivered + 1 or (not written.is_alone and one > delivered)
    expect_that(
        "STORE-CONFIG-007",
        is_next and eighteen <= delayed,
        found=(one, eighteen),
        expected=f"{delivered + 1} and at most {delayed}",
        what="offsets of level 1, which was delivered, and of level 18, which was not",
    )
