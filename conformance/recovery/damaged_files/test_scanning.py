"""Validation of the log at a start: records with one wrong field, garbage in blanks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.harness.blocked.skips import unsupported
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.fixtures import TargetStarter
from conformance.recovery.damaged_files.corruption import (
    GARBAGE,
    clear_log,
    overwrite_part,
    set_checkpoint,
)
from conformance.recovery.damaged_files.original import (
    EMPTY_BODY,
    MANY,
    Original,
    next_offset,
)
from conformance.recovery.queue_checks import ends_of, pulled
from conformance.recovery.small_files import LOG_FILE_SIZE, SMALL_FILES
from spec.store.checkpoint import Checkpoint
from spec.store.commit_log import PlacedRecord
from spec.store.file_names import CONSUME_QUEUE

pytestmark = [pytest.mark.long, pytest.mark.needs("store", "wire", "config", "kill")]

NEAR_THE_END = 175
"""The number of a message in the last file of the log."""


@pytest.mark.clause("REC-SCAN-002", "STORE-BLANK-004", "REC-SCAN-001")
def test_blanks_are_passed_over_whatever_they_hold(original: Original) -> None:
    files = original.restored(crashed=True)
    set_checkpoint(files, Checkpoint())
    shutil.rmtree(files.path / CONSUME_QUEUE)
    for file in original.log[:-1]:
        after_words = file.scan.end_offset + 8
        if after_words % LOG_FILE_SIZE:
            clear_log(files, after_words, GARBAGE)
    with original.started() as broker:
        found = next_offset(broker, original.history.few)
        count = len(list(pulled(broker, original.history.many)))
    expect("REC-SCAN-002", found=found, expected=original.end, what="end of the log")
    expect("STORE-BLANK-004", found=count, expected=MANY, what="messages pulled")


def message(original: Original, number: int = NEAR_THE_END) -> PlacedRecord:
    """Return the record of a message of the large topic, as it was."""
    return original.placed(original.history.of(original.history.many)[number])


def end_with(original: Original, record: PlacedRecord, part: str, value: int) -> int:
    """Return the log's end that a start finds if *part* of *record* is *value*."""
    overwrite_part(original.restored(), record.offset, part, value)
    return original.end_after_start()


@pytest.mark.clause("REC-SCAN-003")
@pytest.mark.parametrize("more", [1, -1])
def test_a_size_that_is_not_the_sum_ends_the_log(original: Original, more: int) -> None:
    record = message(original)
    found = end_with(original, record, "size", record.size + more)
    expect("REC-SCAN-003", found=found, expected=record.offset, what="end of the log")


@pytest.mark.clause("REC-SCAN-004")
def test_a_record_from_elsewhere_is_believed(original: Original) -> None:
    found = end_with(original, message(original), "physical_offset", 91)
    expect("REC-SCAN-004", found=found, expected=original.end, what="end of the log")


@pytest.mark.clause("REC-SCAN-005")
def test_no_body_needs_no_checksum(original: Original) -> None:
    record = message(original, EMPTY_BODY)
    if record.record.body:
        unsupported("the target takes no message without a body")
    found = end_with(original, record, "body_crc", 4711)
    expect("REC-SCAN-005", found=found, expected=original.end, what="end of the log")


@pytest.mark.clause("REC-SCAN-001")
def test_a_wrong_checksum_ends_the_log(original: Original) -> None:
    record = message(original)
    found = end_with(original, record, "body_crc", 4711)
    expect("REC-SCAN-001", found=found, expected=record.offset, what="end of the log")


def most_after_forced_checks(
    original: Original, start_target: TargetStarter, directory: Path
) -> int:
    """Return the queue's max offset of a broker that requires checksums of properties.

    It starts on the store of one that did not write them.
    """
    files = original.restored()
    store = directory / "store"
    shutil.copytree(files.path, store)
    forced = {"enabledAppendPropCRC": "true", "forceVerifyPropCRC": "true"}
    target = start_target({**SMALL_FILES, **forced}, store=store)
    with target.connect_to_broker() as broker:
        _, most = ends_of(broker, original.history.many)
    return most


@pytest.mark.clause("REC-SCAN-009")
def test_forced_checks_lose_the_last_file(
    original: Original, start_target: TargetStarter, tmp_path: Path
) -> None:
    found = most_after_forced_checks(original, start_target, tmp_path)
    expected = original.before(original.log[-1].begin_offset)
    expect("REC-SCAN-009", found=found, expected=expected, what="max offset")


@pytest.mark.clause("REC-SCAN-014")
def test_forced_checks_lose_the_last_ten_files(
    original: Original, start_target: TargetStarter, tmp_path: Path
) -> None:
    found = most_after_forced_checks(original, start_target, tmp_path)
    lost = original.log[-10:]
    expected = original.before(lost[0].begin_offset)
    expect("REC-SCAN-014", found=found, expected=expected, what="max offset")
