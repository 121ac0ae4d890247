"""
Runs: many records of a commit-log file read at once, for starts on large stores.

This is the quick twin of ``recovery_scan.read_record``, which says what a record is.
Where the fields of a record stand follows from its declaration; sizes are followed
one by one, and what they lead to is looked at in columns. A record that is not the
usual sound one is given to the plain reader, which alone refuses any. numpy takes a
tenth of a second to load, so this module is imported when there is enough to read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from reference.core.store.api import SCHEDULE_TOPIC
from reference.core.store.layouts import blank_codec
from reference.core.store.records import BORN_V6, STORE_V6, crc32
from reference.core.store.recovery_rules import REFERENCE
from reference.core.store.recovery_scan import Sighted, read_record
from spec.derive.batch_plan import BatchRun, batch_plans
from spec.integers import INT32_MAX
from spec.store.message_record import FIXED_SIZE_V4, MAGIC_V1, record_layout

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Rows = npt.NDArray[Any]

MOST = 8192
"""Records of a run: enough for numpy, and few enough for a processor's cache."""
_USUAL = {"magic": MAGIC_V1, "system_flags": 0}
_plans = batch_plans(record_layout)
_HEAD, _TOPIC, _PROPERTIES = _plans.plan(
    tuple(_USUAL[placed.name] for placed in _plans.deciding)
)
"""The fields before the body, between body and topic, between topic and properties."""
_DTYPES = {
    run: np.dtype([(placed.name, placed.format) for placed in run.fields])
    for run in (_HEAD, _TOPIC, _PROPERTIES)
}
_SCHEDULE = np.frombuffer(SCHEDULE_TOPIC.encode(), np.uint8)


class Run(NamedTuple):
    """Records that stand one behind the other, as equally long columns.

    All of them are sound. Of those that are not usual only ``at`` and ``size`` count.
    """

    at: Ints
    """Where each begins in the file."""
    size: Ints
    is_usual: Flags
    """Whether it has IPv4 hosts and is not for the schedule topic."""
    head: Rows
    """The fields before the body, by the names of the layout."""
    topic_at: Ints
    topic_size: Ints
    properties_at: Ints
    properties_size: Ints
    end: int
    """Where the last record ends in the file."""


def read_run(data: memoryview, begin: int, *, most: int, check_crc: bool) -> Run:
    """Return up to *most* sound records of a file, the first of them at *begin*.

    They end before the first that `read_record` refuses, or where none begins.
    """
    at, end = _followed(data, begin, most)
    head = rows_at(data, at, _HEAD)
    size, body = head["size"].astype(np.int64), head["body_size"].astype(np.int64)
    room = size - FIXED_SIZE_V4
    is_usual = (head["system_flags"] & (BORN_V6 | STORE_V6)) == 0
    is_usual &= (body >= 0) & (body <= room)
    size_at = np.where(is_usual, at + _HEAD.size + body, at)
    topic = rows_at(data, size_at, _TOPIC)["topic_size"].astype(np.int64)
    is_usual &= (topic >= 0) & (topic <= room - body)
    topic_at = size_at + _TOPIC.size
    size_at = np.where(is_usual, topic_at + topic, at)
    words = rows_at(data, size_at, _PROPERTIES)["properties_size"].astype(np.int64)
    is_usual &= (words >= 0) & (body + topic + words == room)
    is_usual &= ~_is_scheduled(data, topic_at, np.where(is_usual, topic, 0))
    if check_crc:
        sums = _checksums(data, at + _HEAD.size, np.where(is_usual, body, 0))
        is_usual &= (sums == head["body_crc"]) | (body == 0)
    words_at = size_at + _PROPERTIES.size
    run = Run(at, size, is_usual, head, topic_at, topic, words_at, words, end)
    return _believed(data, run, check_crc=check_crc)


def rows_at(data: memoryview, at: Ints, run: BatchRun) -> Rows:
    """Return the fields of *run* at each place, all of which are in *data*.

    numpy copies an opaque row at once, and one with names field by field.
    """
    return opaque_at(data, at, run.size).view(_DTYPES[run])


def opaque_at(data: memoryview, at: Ints, size: int) -> Rows:
    """Return the *size* bytes at each place, all of which are in *data*."""
    count = max(len(data) - size + 1, 0)
    rows: Rows = np.ndarray((count,), f"V{size}", data, 0, (1,))
    return rows[at]


def _followed(data: memoryview, at: int, most: int) -> tuple[Ints, int]:
    """Return where records seem to begin, and where the last of them ends.

    Each has a size that the file has room for, so that its fixed fields can be read.
    """
    places: list[int] = []
    unpack, size_of_file = blank_codec.unpack_from, len(data)
    last = size_of_file - FIXED_SIZE_V4
    while at <= last and len(places) < most:
        size, magic = unpack(data, at)  # a record begins as a blank does
        if magic != MAGIC_V1 or not FIXED_SIZE_V4 <= size <= size_of_file - at:
            break
        places.append(at)
        at += size
    return np.array(places, np.int64), at


def _is_scheduled(data: memoryview, at: Ints, size: Ints) -> Flags:
    """Return which of the topics at these places is the schedule topic."""
    found: Flags = size == len(_SCHEDULE)
    index = np.flatnonzero(found)
    if index.size:
        topics = opaque_at(data, at[index], len(_SCHEDULE)).view(np.uint8)
        same = topics.reshape(-1, len(_SCHEDULE)) == _SCHEDULE
        found[index] = same.all(axis=1)
    return found


def _checksums(data: memoryview, at: Ints, size: Ints) -> Ints:
    """Return the checksum of each body, as a record states it."""
    places = zip(at.tolist(), (at + size).tolist(), strict=True)
    sums = np.array([crc32(data[begin:end]) for begin, end in places], np.int64)
    return sums & INT32_MAX


def _believed(data: memoryview, run: Run, *, check_crc: bool) -> Run:
    """Return *run* up to the first record that the plain reader refuses."""
    for index in np.flatnonzero(~run.is_usual).tolist():
        at = int(run.at[index])
        seen = read_record(data, at, REFERENCE, check_crc=check_crc)
        if not isinstance(seen, Sighted):
            return Run._make([*(column[:index] for column in run[:-1]), at])
    return run
