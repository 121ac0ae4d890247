"""Files that are missing, stray, empty or wrongly named."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.targets.store_files import StoreFiles
from conformance.recovery.damaged_files.corruption import corrupt_magic
from conformance.recovery.damaged_files.original import EARLY, FEW, MANY, Original
from conformance.recovery.queue_checks import check_ends, ends_of, found_by_key, pulled
from conformance.recovery.restart import starts
from conformance.recovery.small_files import LOG_FILE_SIZE
from spec.store.file_names import (
    CHECKPOINT,
    COMMIT_LOG,
    CONSUME_QUEUE,
    INDEX,
    LOCK,
    file_name,
)

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "kill")]

Damage = Callable[[StoreFiles, Original], None]


def empty_log_file(files: StoreFiles, original: Original) -> None:
    """Leave a log file behind the last that was made and never sized."""
    (files.path / COMMIT_LOG / after_log(files, original)).touch()


def empty_queue_file(files: StoreFiles, original: Original) -> None:
    """Leave such a file in a queue."""
    folder = files.path / CONSUME_QUEUE / original.history.many / "0"
    last = max(path.name for path in folder.iterdir())
    size = (folder / last).stat().st_size
    (folder / file_name(int(last) + size)).touch()


def short_log_file(files: StoreFiles, original: Original) -> None:
    """Leave a log file with half its bytes."""
    path = files.path / COMMIT_LOG / after_log(files, original)
    path.write_bytes(bytes(LOG_FILE_SIZE // 2))


def stray_file(files: StoreFiles, _: Original) -> None:
    """Leave a file of another kind among those of the log."""
    (files.path / COMMIT_LOG / "README").write_text("do not delete\n")


def misnamed_log_file(files: StoreFiles, original: Original) -> None:
    """Leave a copy of a log file under a name that is no offset."""
    folder = files.path / COMMIT_LOG
    shutil.copy(folder / original.log[0].name, folder / f"{original.log[0].name}.old")


def after_log(files: StoreFiles, original: Original) -> str:
    """Return the name of the log file that comes next; one made ahead goes."""
    name = file_name(original.log[-1].begin_offset + LOG_FILE_SIZE)
    (files.path / COMMIT_LOG / name).unlink(missing_ok=True)
    return name


def does_start(original: Original, damage: Damage) -> bool:
    """Return whether the broker starts after *damage*."""
    files = original.restored()
    damage(files, original)
    does = starts(original.target)
    original.target.kill()
    return does


WRONG_SIZES = [empty_log_file, empty_queue_file, short_log_file, stray_file]


@pytest.mark.clause("REC-LOAD-001")
@pytest.mark.parametrize("damage", WRONG_SIZES)
def test_a_file_of_another_size_keeps_a_broker_from_starting(
    original: Original, damage: Damage
) -> None:
    found = does_start(original, damage)
    expect("REC-LOAD-001", found=found, expected=False, what="the broker starts")


@pytest.mark.clause("REC-LOAD-002")
@pytest.mark.parametrize("damage", WRONG_SIZES)
def test_only_an_empty_last_file_is_deleted(original: Original, damage: Damage) -> None:
    found = does_start(original, damage)
    is_empty = damage in (empty_log_file, empty_queue_file)
    expect("REC-LOAD-002", found=found, expected=is_empty, what="the broker starts")


@pytest.mark.clause("REC-LOAD-004")
def test_a_name_that_is_no_offset_keeps_a_broker_from_starting(
    original: Original,
) -> None:
    found = does_start(original, misnamed_log_file)
    expect("REC-LOAD-004", found=found, expected=False, what="the broker starts")


@pytest.mark.clause("REC-LOAD-003")
def test_a_hole_in_the_log_is_not_noticed(original: Original) -> None:
    files = original.restored()
    hole = original.log[1]
    (files.path / COMMIT_LOG / hole.name).unlink()
    does = starts(original.target)
    expect("REC-LOAD-003", found=does, expected=True, what="the broker starts")
    begin, end = hole.begin_offset, hole.begin_offset + LOG_FILE_SIZE
    many = original.history.many
    with original.target.connect_to_broker() as broker:
        ends = ends_of(broker, many)
        queue = list(pulled(broker, many))
    original.target.kill()
    expect("REC-LOAD-003", found=ends, expected=(0, MANY), what="min and max offset")
    left = [
        n for n in original.history.of(many) if not begin <= n.commit_log_offset < end
    ]
    found = [record.queue_offset for record in queue]
    expected = [one.queue_offset for one in left]
    expect("REC-LOAD-003", found=found, expected=expected, what="messages pulled")


def ends_without_the_first_file(original: Original) -> tuple[int, int]:
    """Return the offsets of a queue whose messages are all in a file that is gone."""
    files = original.restored()
    (files.path / COMMIT_LOG / original.log[0].name).unlink()
    with original.started() as broker:
        return ends_of(broker, original.history.early)


@pytest.mark.clause("REC-QUEUE-006")
def test_a_queue_does_not_know_that_its_messages_are_gone(original: Original) -> None:
    found = ends_without_the_first_file(original)
    expect("REC-QUEUE-006", found=found, expected=(0, EARLY), what="min, max offset")


@pytest.mark.clause("REC-QUEUE-007")
def test_a_queue_without_messages_begins_where_it_ends(original: Original) -> None:
    found = ends_without_the_first_file(original)
    expect(
        "REC-QUEUE-007", found=found, expected=(EARLY, EARLY), what="min, max offset"
    )


@pytest.mark.clause("REC-LOAD-005")
def test_what_is_beside_a_store_does_not_matter(original: Original) -> None:
    files = original.restored()
    for place in ("notes.txt", f"{CONSUME_QUEUE}/notes.txt", f"{INDEX}/notes"):
        (files.path / place).write_text("a person wrote this\n")
    many = original.history.many
    (files.path / CONSUME_QUEUE / many / "lost+found").mkdir()
    (files.path / LOCK).unlink()
    (files.path / CHECKPOINT).unlink()
    does = starts(original.target)
    expect("REC-LOAD-005", found=does, expected=True, what="the broker starts")
    with original.target.connect_to_broker() as broker:
        records = list(pulled(broker, many))
        last = original.history.of(many)[-1]
        found = found_by_key(broker, many, last.key)
        check_ends(broker, (many, 0), records)
    original.target.kill()
    expect("REC-LOAD-005", found=len(records), expected=MANY, what="messages pulled")
    expect("REC-LOAD-005", found=found, expected=[last.key], what="keys found")


@pytest.mark.clause("REC-CHECKPOINT-003")
@pytest.mark.parametrize("content", [None, b"", b"\0\0\0\1"])
def test_without_a_checkpoint_a_crash_is_recovered_from_the_first_file(
    original: Original, content: bytes | None
) -> None:
    files = original.restored(crashed=True)
    (files.path / CHECKPOINT).unlink()
    if content is not None:
        (files.path / CHECKPOINT).write_bytes(content)
    placed = original.log[0].scan.records[1]
    corrupt_magic(files, placed.offset)
    found = original.end_after_start()
    what = "end of the log, whose second record was corrupted"
    expect("REC-CHECKPOINT-003", found=found, expected=placed.offset, what=what)


@pytest.mark.clause("REC-DISPATCH-007")
def test_dispatch_passes_over_a_file_with_garbage(original: Original) -> None:
    files = original.restored()
    corrupt_magic(files, original.log[1].scan.records[4].offset)
    shutil.rmtree(files.path / CONSUME_QUEUE)
    begin, end = (original.log[1].scan.records[4].offset, original.log[2].begin_offset)
    many = original.history.many
    left = original.before(begin) + MANY - original.before(end)
    with original.started() as broker:
        found = ends_of(broker, many)
        few = ends_of(broker, original.history.few)
    expect("REC-DISPATCH-007", found=found, expected=(0, left), what="offsets")
    left = original.before(begin, original.history.few) + FEW
    left -= original.before(end, original.history.few)
    expect("REC-DISPATCH-007", found=few, expected=(0, left), what="offsets")


@pytest.mark.clause("REC-FIRSTFILE-005")
def test_garbage_ends_a_log_without_queues(original: Original) -> None:
    files = original.restored()
    garbage = original.log[1].scan.records[4].offset
    corrupt_magic(files, garbage)
    shutil.rmtree(files.path / CONSUME_QUEUE)
    found = original.end_after_start()
    expect("REC-FIRSTFILE-005", found=found, expected=garbage, what="end of the log")
    left = {path.name for path in (files.path / COMMIT_LOG).iterdir()}
    behind = {file.name for file in original.log[3:]}
    expect(
        "REC-FIRSTFILE-005", found=left & behind, expected=set(), what="files behind it"
    )
