"""
The columns of many records at once.

A window of a commit-log file holds thousands of records. Their fixed fields are
gathered by numpy, with a dtype derived from the layout; the checksum, the topic
and the tag are taken record by record, because their bytes have no fixed place.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from spark_checks.sources.record_scan import Refused, Window
from spark_checks.sources.schemas import as_dtype
from spec.derive.numpy_dtype import dtype_spec
from spec.integers import tags_code
from spec.store.message_record import MAGIC_V2, SystemFlag, record_layout

SCHEDULE_TOPIC = b"SCHEDULE_TOPIC_XXXX"
"""The topic in which delayed messages wait; their tags code is a time."""
_HOST_FLAGS = int(SystemFlag.BORN_HOST_V6 | SystemFlag.STORE_HOST_V6)
_delay = re.compile(rb"(?:^|\x02)DELAY\x01(-?[0-9]{1,9})(?:\x02|$)")

Ints = npt.NDArray[np.int64]
Delays = Mapping[int, int]
"""Milliseconds of each delay level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordColumns:
    """Equally long columns, one entry a record."""

    fixed: Mapping[str, Ints]
    """The fixed-size fields by name, and ``position`` and ``size``."""
    topics: list[bytes]
    tags_codes: Ints
    """The tags code that a consume queue must have, made of the properties."""
    body_crcs: Ints
    """The checksum that the body has, which ``body_crc`` of *fixed* should be."""


def read_columns(
    window: Window, delays: Delays
) -> tuple[RecordColumns | None, Refused | None]:
    """Return the columns of the records of *window*, and the first that is none."""
    starts = np.array(window.starts, dtype=np.int64)
    fixed = _gather(window.data, starts)
    data = np.frombuffer(window.data, dtype=np.uint8)
    body, topic, topic_size, properties, end = _places(data, fixed, starts)
    wrong = np.flatnonzero(end != starts + fixed["size"])
    refused = None
    if wrong.size:
        first = int(wrong[0])
        refused = _refused(window.starts[first], fixed, end, first)
        fixed = {name: column[:first] for name, column in fixed.items()}
        body, topic, topic_size, properties, end = (
            places[:first] for places in (body, topic, topic_size, properties, end)
        )
        if not first:
            return None, refused
    fixed["position"] = starts[: len(body)] + window.position
    topics = _slices(window.data, topic, topic + topic_size)
    codes = _tags_codes(window.data, properties, end)
    columns = RecordColumns(
        fixed=fixed,
        topics=topics,
        tags_codes=_with_delivery_times(
            window.data, fixed, topics, codes, (properties, end), delays
        ),
        body_crcs=_body_crcs(window.data, body, body + fixed["body_size"]),
    )
    return columns, refused


@cache
def _dtype(host_flags: int) -> np.dtype[Any]:
    return as_dtype(dtype_spec(record_layout, system_flags=host_flags))


def _gather(data: bytes, starts: Ints) -> dict[str, Ints]:
    """Return the fixed fields of the records that begin at *starts*."""
    plain = _view(data, 0)[starts]
    host_flags = plain["system_flags"] & _HOST_FLAGS
    names = [name for name in plain.dtype.names or () if plain[name].dtype.kind != "V"]
    fixed = {name: plain[name].astype(np.int64) for name in names}
    fixed["fixed_size"] = np.full(len(starts), plain.dtype.itemsize, dtype=np.int64)
    for flags in np.unique(host_flags[host_flags != 0]):
        at = np.flatnonzero(host_flags == flags)
        some = _view(data, int(flags))[starts[at]]
        for name in names:
            fixed[name][at] = some[name]
        fixed["fixed_size"][at] = some.dtype.itemsize
    return fixed


def _view(data: bytes, host_flags: int) -> npt.NDArray[Any]:
    """Return *data* as one fixed part a byte position, without copying.

    Entry n is what a record that began at byte n would hold. A record that says it
    has wide hosts may be too short for them, so the data is then lent some zeros.
    """
    dtype = _dtype(host_flags)
    if host_flags:
        data += bytes(dtype.itemsize)
    count = len(data) - dtype.itemsize + 1
    return np.ndarray((count,), dtype=dtype, buffer=data, strides=(1,))


def _places(
    data: npt.NDArray[np.uint8], fixed: Mapping[str, Ints], starts: Ints
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return begins of body, topic, topic's size, begins of properties, and ends.

    A place that would lie outside the record is replaced by one inside, and the
    end is then wrong.
    """
    limit = starts + fixed["size"] - 3
    body = starts + fixed["fixed_size"]
    wide = fixed["magic"] == MAGIC_V2
    length_at = body + fixed["body_size"]
    inside = (fixed["body_size"] >= 0) & (length_at < limit)
    at = np.where(inside, length_at, starts)
    topic_size = np.where(wide, data[at].astype(np.int64) << 8 | data[at + 1], data[at])
    topic = at + np.where(wide, 2, 1)
    size_at = topic + topic_size
    inside &= size_at <= limit + 1
    size_at = np.where(inside, size_at, starts)
    properties_size = data[size_at].astype(np.int64) << 8 | data[size_at + 1]
    properties = size_at + 2
    end = np.where(inside, properties + properties_size, -1)
    return body, topic, topic_size, properties, end


def _refused(start: int, fixed: Mapping[str, Ints], end: Ints, first: int) -> Refused:
    """Return why the record of index *first* is none."""
    size = int(fixed["size"][first])
    if end[first] < 0:
        return Refused(
            start=start, reason=f"a field reaches past the record's {size} bytes"
        )
    taken = int(end[first]) - start
    return Refused(
        start=start, reason=f"size says {size} bytes, the fields take {taken}"
    )


def _slices(data: bytes, begins: Ints, ends: Ints) -> list[bytes]:
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    return [data[begin:end] for begin, end in pairs]


def _body_crcs(data: bytes, begins: Ints, ends: Ints) -> Ints:
    view, crc32 = memoryview(data), zlib.crc32
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    found = [crc32(view[begin:end]) for begin, end in pairs]
    return np.array(found, dtype=np.int64) & 0x7FFFFFFF


def _tags_codes(data: bytes, begins: Ints, ends: Ints) -> Ints:
    """Return the hash of each record's TAGS property."""
    pairs = zip(begins.tolist(), ends.tolist(), strict=True)
    return np.array([_tags_code(data, begin, end) for begin, end in pairs], np.int64)


def _tags_code(data: bytes, begin: int, end: int) -> int:
    at = data.find(b"TAGS\x01", begin, end)
    while at > begin and data[at - 1] != 2:
        at = data.find(b"TAGS\x01", at + 1, end)
    if at < 0:
        return 0
    stop = data.find(b"\x02", at, end)
    return _hash_of(data[at + 5 : end if stop < 0 else stop])


_hashes: dict[bytes, int] = {}


def _hash_of(tags: bytes) -> int:
    """Return the hash of *tags*; a topic has few tags, so they are remembered."""
    code = _hashes.get(tags)
    if code is None:
        if len(_hashes) > 100_000:
            _hashes.clear()
        code = _hashes[tags] = tags_code(tags.decode("utf-8", "replace"))
    return code


def _with_delivery_times(
    data: bytes,
    fixed: Mapping[str, Ints],
    topics: list[bytes],
    codes: Ints,
    properties: tuple[Ints, Ints],
    delays: Delays,
) -> Ints:
    """Return *codes*, with the delivery time of each message that waits for one."""
    for index, topic in enumerate(topics):
        if topic == SCHEDULE_TOPIC:
            begin, end = int(properties[0][index]), int(properties[1][index])
            found = _delay.search(data[begin:end])
            level = min(int(found[1]), max(delays, default=0)) if found else 0
            if level > 0:
                stored_at_ms = int(fixed["stored_at_ms"][index])
                codes[index] = stored_at_ms + delays.get(level, 1000)
    return codes
