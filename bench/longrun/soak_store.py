"""
The stored messages of one topic, read from a stopped broker's files alone.

The commit log is read from its first byte to its last, and each queue's units beside
it. Offsets must be dense from 0 on. The unit of an offset must point at the record with
that offset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.longrun.soak_events import KEY_SIZE, Keys
from columns.gather import dtype_of
from columns.log_batch import LogBatch, read_batches
from spec.store.commit_log import Stop
from spec.store.consume_queue import unit_layout
from spec.wire.message.properties import NAME_END, VALUE_END, Property

_NUMBERS = ("queue", "offset", "at", "size")
RECORD = np.dtype([*((name, "i8") for name in _NUMBERS), ("key", f"S{KEY_SIZE}")])
UNIT = dtype_of(unit_layout)
_MARK = f"{Property.UNIQ_KEY}{NAME_END}".encode()
_END = VALUE_END.encode()
Records = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Stored:
    """The messages of a topic."""

    queues: dict[int, Keys]
    """The unique keys of each queue, by offset."""
    gaps: tuple[str, ...]
    """Queues whose offsets are not dense, or that do not agree with the log."""


def read_stored(store: Path, topic: str) -> Stored:
    """Return the messages of *topic* in *store*."""
    gaps: list[str] = []
    parts = [np.empty(0, RECORD), *_records(store / "commitlog", topic, gaps)]
    records = np.concatenate(parts)
    queues: dict[int, Keys] = {}
    for queue_id in np.unique(records["queue"]).tolist():
        of_queue = records[records["queue"] == queue_id]
        of_queue = of_queue[np.argsort(of_queue["offset"], kind="stable")]
        queues[queue_id] = of_queue["key"]
        units = _units(store / "consumequeue" / topic / str(queue_id))
        gaps += (f"queue {queue_id}: {what}" for what in _wrong(of_queue, units))
    return Stored(queues, tuple(gaps))


def _records(folder: Path, topic: str, gaps: list[str]) -> Iterator[Records]:
    """Yield the records of *topic*, and note in *gaps* where the log ends too early."""
    files = sorted(folder.iterdir())
    for file in files:
        reader = read_batches(file.read_bytes(), int(file.name))
        while True:
            try:
                yield _of_topic(next(reader), topic.encode())
            except StopIteration as end:
                ended = end.value
                break
        in_last = file == files[-1] and ended.stop in {Stop.ZEROS, Stop.END}
        if not in_last and ended.stop is not Stop.BLANK:
            gaps.append(f"the log stops at {ended.end_offset}: {ended.stop}")


def _of_topic(batch: LogBatch, topic: bytes) -> Records:
    """Return those records of *batch* that are of *topic*."""
    data, places = batch.data, batch.fields.places
    named = zip(*(part.tolist() for part in places["topic"]), strict=True)
    ours = np.array([data[at : at + size] == topic for at, size in named], np.bool_)
    numbers = batch.fields.numbers
    found = np.empty(int(ours.sum()), RECORD)
    found["queue"] = numbers["queue_id"][ours]
    found["offset"] = numbers["queue_offset"][ours]
    found["at"] = batch.offsets[ours]
    found["size"] = numbers["size"][ours]
    properties = (part[ours].tolist() for part in places["properties"])
    found["key"] = [
        _unique_key(data, at, at + size) for at, size in zip(*properties, strict=True)
    ]
    return found


def _unique_key(data: bytes, begin: int, end: int) -> bytes:
    """Return the end of the unique key in the properties from *begin* to *end*."""
    at = data.find(_MARK, begin, end)
    if at < 0:
        return b""
    at += len(_MARK)
    after = data.find(_END, at, end)
    text = data[at : end if after < 0 else after]
    return bytes.fromhex(text.decode("ascii"))[-KEY_SIZE:]


def _units(folder: Path) -> Records:
    """Return the written units of a queue."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    parts = [np.frombuffer(file.read_bytes(), UNIT) for file in files]
    units = np.concatenate([np.empty(0, UNIT), *parts])
    is_written = units["size"] > 0
    return units if is_written.all() else units[: int(np.argmin(is_written))]


def _wrong(records: Records, units: Records) -> Iterator[str]:
    """Yield the faults of a queue, whose *records* are in the order of offsets."""
    if not np.array_equal(records["offset"], np.arange(len(records))):
        yield "offsets are not dense"
    if len(units) != len(records):
        yield f"{len(units)} units for {len(records)} records"
    elif not (
        np.array_equal(units["commit_log_offset"], records["at"])
        and np.array_equal(units["size"], records["size"])
    ):
        yield "units point elsewhere than at their records"
