"""Damage to the files of a store, as a crash, a bad disk or a person causes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.harness.targets.store_files import StoreFiles
from conformance.recovery.small_files import LOG_FILE_SIZE, UNITS_PER_FILE
from spec.store.checkpoint import Checkpoint, encode_checkpoint
from spec.store.consume_queue import UNIT_SIZE
from spec.store.file_names import CHECKPOINT, COMMIT_LOG, CONSUME_QUEUE, file_name
from spec.store.record_parts import PART_OFFSETS

WRONG_MAGIC = b"\x01\x02\x03\x04"
GARBAGE = bytes((7 * number + 13) % 255 + 1 for number in range(4096))
"""No byte of it is zero."""


def log_file(files: StoreFiles, offset: int) -> tuple[Path, int]:
    """Return the file of the log that has *offset*, and where in it that is."""
    place = offset % LOG_FILE_SIZE
    return files.path / COMMIT_LOG / file_name(offset - place), place


def overwrite(path: Path, place: int, data: bytes) -> None:
    """Write *data* over what a file has at *place*."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(data)


def overwrite_log(files: StoreFiles, offset: int, data: bytes) -> None:
    """Write *data* over what the commit log has at *offset*, in one file."""
    path, place = log_file(files, offset)
    overwrite(path, place, data[: LOG_FILE_SIZE - place])


def clear_log(files: StoreFiles, offset: int, filling: bytes = b"") -> None:
    """Make zeros of the log from *offset* on to the end of its file.

    With *filling* these bytes come first, as often as they fit.
    """
    _, place = log_file(files, offset)
    left = LOG_FILE_SIZE - place
    data = (filling * (left // len(filling) + 1))[:left] if filling else bytes(left)
    overwrite_log(files, offset, data)


def overwrite_part(files: StoreFiles, offset: int, part: str, value: int) -> None:
    """Write another number into a part of the record at *offset*."""
    begin, size = PART_OFFSETS[part]
    overwrite_log(files, offset + begin, value.to_bytes(size, "big", signed=True))


def corrupt_magic(files: StoreFiles, offset: int) -> None:
    """Make the record at *offset* none."""
    overwrite_log(files, offset + 4, WRONG_MAGIC)


def set_checkpoint(files: StoreFiles, times: Checkpoint) -> None:
    """Write another checkpoint."""
    (files.path / CHECKPOINT).write_bytes(encode_checkpoint(times))


def set_store_times(files: StoreFiles, times_ms: Mapping[int, int]) -> None:
    """Let the records of some files of the log, counted from 0, be stored then."""
    for number, file in enumerate(files.log_files()):
        if number in times_ms:
            for placed in file.scan.records:
                overwrite_part(files, placed.offset, "stored_at_ms", times_ms[number])


def queue_file(files: StoreFiles, topic: str, index: int) -> tuple[Path, int]:
    """Return the file that has unit *index* of queue 0, and where in it that is."""
    place = index % UNITS_PER_FILE
    name = file_name((index - place) * UNIT_SIZE)
    folder = files.path / CONSUME_QUEUE / topic / "0"
    return folder / name, place * UNIT_SIZE


def overwrite_unit(files: StoreFiles, topic: str, index: int, unit: bytes) -> None:
    """Write *unit* over a unit of queue 0 of *topic*."""
    overwrite(*queue_file(files, topic, index), unit)


def clear_queue(files: StoreFiles, topic: str, index: int) -> None:
    """Make zeros of the units of queue 0 from *index* on, in all its files."""
    path, place = queue_file(files, topic, index)
    for one in sorted(path.parent.iterdir()):
        begin = place if one == path else 0
        if one >= path:
            overwrite(one, begin, bytes(one.stat().st_size - begin))
