"""Start of recovery after a crash: the checkpoint's times and those of the log."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import TargetStarter
from conformance.harness.targets.store_files import StoreFiles
from conformance.harness.targets.target import Target
from conformance.recovery.damaged_files.corruption import (
    corrupt_magic,
    overwrite,
    overwrite_part,
    set_checkpoint,
    set_store_times,
)
from conformance.recovery.damaged_files.original import MANY, Original, next_offset
from conformance.recovery.queue_checks import ends_of, found_by_key
from conformance.recovery.small_files import (
    INDEXED_PER_FILE,
    LOG_FILE_SIZE,
    SMALL_FILES,
)
from spec.store.checkpoint import Checkpoint
from spec.store.file_names import CONSUME_QUEUE, INDEX

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "kill")]

BEGIN_MS = 1_700_000_000_000
STEP_MS = 10_000
"""Between the store times of one file's records and the next file's."""
LATE_MS = BEGIN_MS + 1_000_000
INDEX_END_TIME_AT = 8
"""Position of an index file's end time, the time of its last message."""


def crashed(
    original: Original, *, physic_ms: int, logics_ms: int, queues_offset: int = 0
) -> StoreFiles:
    """Return the store of a crash, each log file ten seconds after the one before."""
    files = original.restored(crashed=True)
    times = {n: BEGIN_MS + STEP_MS * n for n in range(len(original.log))}
    set_store_times(files, times)
    checkpoint = Checkpoint(
        physic_ms=physic_ms,
        logics_ms=logics_ms,
        index_ms=LATE_MS,
        queues_offset=queues_offset,
    )
    set_checkpoint(files, checkpoint)
    return files


def began_in(original: Original, files: StoreFiles) -> int:
    """Start on *files*; return the number of the log file where recovery began.

    The second record of every file is corrupted, so the log ends in the first file
    that recovery reads.
    """
    for file in original.log:
        corrupt_magic(files, file.scan.records[1].offset)
    return original.end_after_start() // LOG_FILE_SIZE


@pytest.mark.clause("REC-CHECKPOINT-001")
@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"physic_ms": 35_000, "logics_ms": 35_000}, 3),
        ({"physic_ms": 45_000, "logics_ms": 25_000}, 2),
        ({"physic_ms": 15_000, "logics_ms": 45_000}, 1),
    ],
)
def test_recovery_begins_before_the_smaller_time(
    original: Original, times: Mapping[str, int], expected: int
) -> None:
    since = {name: BEGIN_MS + value for name, value in times.items()}
    files = crashed(original, **since)
    found = began_in(original, files)
    expect("REC-CHECKPOINT-001", found=found, expected=expected, what="first file")


@pytest.mark.clause("REC-FIRSTFILE-003")
@pytest.mark.parametrize(("more_ms", "expected"), [(0, 3), (-1, 2)])
def test_a_file_of_the_very_time_is_old_enough(
    original: Original, more_ms: int, expected: int
) -> None:
    time_ms = BEGIN_MS + 3 * STEP_MS + 3000 + more_ms
    files = crashed(original, physic_ms=time_ms, logics_ms=time_ms)
    found = began_in(original, files)
    expect("REC-FIRSTFILE-003", found=found, expected=expected, what="first file")


@pytest.mark.clause("REC-FIRSTFILE-002")
def test_files_that_begin_with_no_record_are_passed_over(original: Original) -> None:
    files = crashed(original, physic_ms=LATE_MS, logics_ms=LATE_MS)
    corrupt_magic(files, original.log[-1].begin_offset)
    overwrite_part(files, original.log[-2].begin_offset, "stored_at_ms", 0)
    found, third_last = began_in(original, files), len(original.log) - 3
    expect("REC-FIRSTFILE-002", found=found, expected=third_last, what="first file")


@pytest.mark.clause("REC-FIRSTFILE-002")
def test_without_an_old_file_the_first_is_read(original: Original) -> None:
    files = crashed(original, physic_ms=0, logics_ms=LATE_MS)
    found = began_in(original, files)
    expect("REC-FIRSTFILE-002", found=found, expected=0, what="first file")


@pytest.mark.clause("REC-FIRSTFILE-006")
@pytest.mark.parametrize(("more", "expected"), [(0, 3), (-1, 2)])
def test_recovery_begins_by_the_offset_of_the_queues(
    original: Original, more: int, expected: int
) -> None:
    offset = original.log[3].begin_offset + more
    files = crashed(original, physic_ms=0, logics_ms=0, queues_offset=offset)
    found = began_in(original, files)
    expect("REC-FIRSTFILE-006", found=found, expected=expected, what="first file")


@pytest.mark.clause("REC-FIRSTFILE-007")
@pytest.mark.parametrize(("more_ms", "expected"), [(0, 3), (-1, 2)])
def test_without_an_offset_the_second_time_decides(
    original: Original, more_ms: int, expected: int
) -> None:
    time_ms = BEGIN_MS + 3 * STEP_MS + more_ms
    files = crashed(original, physic_ms=0, logics_ms=time_ms)
    found = began_in(original, files)
    expect("REC-FIRSTFILE-007", found=found, expected=expected, what="first file")


def looking_at_three(
    files: StoreFiles, start_target: TargetStarter, directory: Path
) -> Target:
    """Start a broker on a copy of *files* that reads three files of the log."""
    store = directory / "store"
    shutil.copytree(files.path, store)
    settings = {**SMALL_FILES, "commitLogRecoverMaxNum": "3"}
    return start_target(settings, store=store)


@pytest.mark.clause("REC-FIRSTFILE-008")
def test_recovery_looks_at_the_last_files_only(
    original: Original, start_target: TargetStarter, tmp_path: Path
) -> None:
    files = crashed(original, physic_ms=0, logics_ms=0)
    for file in original.log:
        corrupt_magic(files, file.scan.records[1].offset)
    target = looking_at_three(files, start_target, tmp_path)
    with target.connect_to_broker() as broker:
        found = next_offset(broker, original.history.few) // LOG_FILE_SIZE
    expected = len(original.log) - 3
    expect("REC-FIRSTFILE-008", found=found, expected=expected, what="first file")


@pytest.mark.clause("REC-FIRSTFILE-008")
def test_queues_that_are_made_again_begin_in_the_last_files(
    original: Original, start_target: TargetStarter, tmp_path: Path
) -> None:
    files = original.restored()
    shutil.rmtree(files.path / CONSUME_QUEUE)
    target = looking_at_three(files, start_target, tmp_path)
    many = original.history.many
    with target.connect_to_broker() as broker:
        least, most = ends_of(broker, many)
    expected = original.before(original.log[-3].begin_offset)
    expect("REC-FIRSTFILE-008", found=least, expected=expected, what="min offset")
    expect("REC-FIRSTFILE-008", found=most, expected=MANY, what="max offset")


def set_index_times(files: StoreFiles) -> list[str]:
    """Let the index files end ten seconds apart; return their names."""
    names = [file.name for file in files.index_files()]
    for number, name in enumerate(names):
        time_ms = BEGIN_MS + STEP_MS * number
        path = files.path / INDEX / name
        overwrite(path, INDEX_END_TIME_AT, time_ms.to_bytes(8, "big"))
    return names


@pytest.mark.clause("REC-CHECKPOINT-002", "REC-CRASH-007")
def test_an_index_file_after_the_checkpoint_goes(original: Original) -> None:
    files = crashed(original, physic_ms=LATE_MS, logics_ms=LATE_MS)
    names = set_index_times(files)
    assert len(names) > 2
    checkpoint = Checkpoint(
        physic_ms=LATE_MS, logics_ms=LATE_MS, index_ms=BEGIN_MS + STEP_MS - 1
    )
    set_checkpoint(files, checkpoint)
    with original.started() as broker:
        left = [file.name for file in files.index_files() if file.name in names]
        sent = original.history.sent
        found = [bool(found_by_key(broker, o.topic, o.key)) for o in sent]
    expect("REC-CHECKPOINT-002", found=left, expected=names[:1], what="old files")
    last = original.log[-1].begin_offset
    kept = INDEXED_PER_FILE
    owed = [
        number < kept or one.commit_log_offset >= last
        for number, one in enumerate(sent)
    ]
    expect("REC-CRASH-007", found=found, expected=owed, what="which keys are found")


@pytest.mark.clause("REC-CRASH-008")
def test_the_last_message_of_an_index_file_is_indexed_again(
    original: Original,
) -> None:
    files = crashed(original, physic_ms=0, logics_ms=0)
    set_index_times(files)
    set_checkpoint(files, Checkpoint(index_ms=BEGIN_MS + STEP_MS - 1))
    last = original.history.sent[INDEXED_PER_FILE - 1]
    with original.started() as broker:
        found = found_by_key(broker, last.topic, last.key)
    expect("REC-CRASH-008", found=found, expected=[last.key] * 2, what="messages")
