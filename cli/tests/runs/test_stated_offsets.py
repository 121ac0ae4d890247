"""Queue offsets of the units in a queue's files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.runs.stores.stated_offsets import StatedRange, stated_offsets
from reference.core.salvage.queue_offsets import QueueName
from spec.store.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.store.file_names import file_name

RECORD_SIZE = 100
FILE_SIZE = 6_000_000
LOG = range(RECORD_SIZE, 10 * RECORD_SIZE)


def write(directory: Path, number: int, count: int, *, has_hole: bool) -> None:
    """Write file *number* of a queue with the next *count* units of the log.

    A unit without tags ends with zeros.
    """
    path = directory / file_name(number * FILE_SIZE)
    with path.open("wb") as file:
        for one in range(count):
            place = (number * 2 + one + 1) * RECORD_SIZE
            unit = Unit(commit_log_offset=place, size=RECORD_SIZE, tags_code=0)
            file.write(encode_unit(unit))
    if has_hole:
        os.truncate(path, FILE_SIZE)


@pytest.mark.parametrize("has_hole", [False, True])
def test_the_last_unit_counts_though_it_ends_with_zeros(
    tmp_path: Path, *, has_hole: bool
) -> None:
    directory = tmp_path / "consumequeue" / "Topic" / "0"
    directory.mkdir(parents=True)
    write(directory, 0, 2, has_hole=has_hole)
    write(directory, 1, 3, has_hole=has_hole)
    begin = FILE_SIZE // UNIT_SIZE
    assert stated_offsets(tmp_path, LOG, lambda _: None) == {
        QueueName("Topic", 0): StatedRange(0, begin + 3, [RECORD_SIZE, 2 * RECORD_SIZE])
    }
