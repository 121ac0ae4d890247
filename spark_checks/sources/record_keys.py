"""
The Spark source ``rocketmq.keys``: a row for every key of every record of a log.

It is read only where the sums of keys that a survey makes differ from what the index
holds. What is damaged is passed over; that is told elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from spark_checks.sources.commit_log import LogRange, LogReader
from spark_checks.sources.gather import NOWHERE, Gathered, Ints, gather, numbers_at
from spark_checks.sources.key_hashes import KeyHashes, key_hashes
from spark_checks.sources.log_batch import record_plans
from spark_checks.sources.record_properties import properties_of
from spark_checks.sources.record_scan import (
    SIZE,
    FileRange,
    ReadAt,
    Refused,
    Region,
    Window,
    scan_range,
)
from spark_checks.sources.schemas import arrow_schema
from spark_checks.sources.spark_hash import xor_of
from spark_checks.sources.table_source import TableSource
from spark_checks.sources.topics import topics_of

KEY_COLUMNS: Final[dict[str, str]] = {
    "file_base": "int64",
    "offset": "int64",
    "key_hash": "int32",
    "is_tag": "int32",
}
Ranges = Sequence[tuple[int, int]]
"""Commit-log offsets behind which, and up to which, the index speaks of records."""
_key_schema = arrow_schema(KEY_COLUMNS)


class KeyReader(LogReader):
    """Reads the keys of the records in a range of the log."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self.ranges: Ranges = json.loads(options["ranges"])

    def batches_in(self, read_at: ReadAt, part: LogRange) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one range."""
        return key_batches(read_at, part.where, self.ranges)


class KeySource(TableSource):
    """
    Reads the keys of records. Options: ``url``, ``files`` and ``ranges`` (JSON), and
    ``parts`` (JSON): the ranges of the log that are looked at.
    """

    source_name = "rocketmq.keys"
    columns = KEY_COLUMNS
    reader_type = KeyReader


def key_batches(
    read_at: ReadAt, where: FileRange, ranges: Ranges
) -> Iterator[pa.RecordBatch]:
    """Yield the keys of the records in *where* that the index must know."""
    for window, starts, found in sound_records(read_at, where):
        begins, sizes = found.places["properties"]
        split = properties_of(window.data, begins, begins + sizes)
        keys = key_hashes(found, topics_of(window.data, found), split)
        offsets = where.base + window.position + starts[keys.record]
        wanted = within(offsets, ranges)
        columns = (
            np.full(int(wanted.sum()), where.base),
            offsets[wanted],
            keys.code[wanted].astype(np.int32),
            keys.is_tag[wanted].astype(np.int32),
        )
        yield pa.RecordBatch.from_arrays(
            [pa.array(column) for column in columns], schema=_key_schema
        )


def sound_records(
    read_at: ReadAt, where: FileRange
) -> Iterator[tuple[Window, Ints, Gathered]]:
    """Yield windows, where in them records begin, and the fields of those."""
    scan = scan_range(read_at, where)
    seen = next(scan, None)
    while seen is not None:
        refused = None
        if not isinstance(seen, Region):
            starts, found, refused = _fields_of(seen)
            if len(starts):
                yield seen, starts, found
        try:
            seen = scan.send(refused)
        except StopIteration:
            return


def _fields_of(window: Window) -> tuple[Ints, Gathered, Refused | None]:
    """Return the records of *window* up to the first that is none."""
    starts = window.starts
    limits = starts + numbers_at(window.data, starts, SIZE)
    found = gather(window.data, starts, limits, record_plans)
    wrong = np.flatnonzero(found.ends != limits)
    if not wrong.size:
        return starts, found, None
    first = int(wrong[0])
    past = found.ends[first] == NOWHERE
    reason = "a field reaches past its end" if past else "its fields end elsewhere"
    refused = Refused(start=int(starts[first]), reason=reason)
    return starts[:first], found.first(first), refused


def meeting(ranges: Ranges, begin: int, end: int) -> Ints:
    """Return those of *ranges* that have an offset between *begin* and *end*."""
    met = [(low, high) for low, high in ranges if low < end and begin <= high]
    return np.array(met, dtype=np.int64).reshape(-1, 2)


def within(offsets: Ints, ranges: Ranges) -> npt.NDArray[np.bool_]:
    """Return which of *offsets* lie behind the begin of a range and not behind it."""
    inside = np.zeros(len(offsets), dtype=np.bool_)
    if not len(offsets):
        return inside
    least, most = int(offsets.min()), int(offsets.max())
    for begin, end in ranges:  # as many as index files, of which a window meets few
        if begin < most and least <= end:
            inside |= (offsets > begin) & (offsets <= end)
    return inside


def sums_of_keys(keys: KeyHashes, offsets: Ints, ranges: Ranges) -> tuple[int, int]:
    """Return what the keys of records at *offsets* within *ranges* sum up to.

    Without tags, as most releases index them, and with them.
    """
    wanted = within(offsets, ranges)
    offsets, codes, is_tag = offsets[wanted], keys.code[wanted], keys.is_tag[wanted]
    plain = xor_of(offsets[~is_tag], codes[~is_tag])
    return plain, plain ^ xor_of(offsets[is_tag], codes[is_tag])
