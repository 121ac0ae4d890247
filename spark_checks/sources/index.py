"""
The Spark source ``rocketmq.index``: a row for every item of every index file.

A partition is one file. The chains of a file are checked here, where all its items are
at hand: an item must name the one before it in its slot, a slot its last. A slot that
names another makes a row of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from spark_checks.sources.record_scan import ReadAt
from spark_checks.sources.schemas import (
    INDEX_COLUMNS,
    arrow_schema,
    as_dtype,
    spark_schema,
)
from spark_checks.sources.store_files import reading
from spec.derive.numpy_dtype import dtype_spec
from spec.layout import LayoutError
from spec.store.index_file import (
    HEADER_SIZE,
    ITEM_SIZE,
    SLOT_SIZE,
    IndexHeader,
    decode_header,
    item_layout,
    item_position,
)

ITEMS_PER_SLOT = 4
"""Places for items that a file has for every slot, unless a broker has other wishes."""
ROWS_AT_ONCE = 200_000
_schema = arrow_schema(INDEX_COLUMNS)
_dtype = as_dtype(dtype_spec(item_layout))
_Items = npt.NDArray[Any]


class ItemFlaw(IntFlag):
    """Something that is wrong with an item or a slot."""

    PREVIOUS = 1
    """It does not name the item before it in its slot."""
    SECONDS = 2
    """Its seconds are not within the time of its file."""
    HASH = 4
    """Its hash is negative."""
    SLOT = 8
    """The slot does not name its last item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile(InputPartition):
    """One index file."""

    path: str
    size: int


class IndexSource(DataSource):
    """Reads index files. Options: ``url``, ``files`` (JSON)."""

    @classmethod
    def name(cls) -> str:
        """Return the name for ``spark.read.format``."""
        return "rocketmq.index"

    def schema(self) -> str:
        """Return the columns of a row."""
        return spark_schema(INDEX_COLUMNS)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002
        """Return the reader of the store that the options name."""
        return IndexReader(self.options)


class IndexReader(DataSourceReader):
    """Reads one file a partition."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.url = options["url"]
        self.files: list[tuple[str, int]] = json.loads(options["files"])

    def partitions(self) -> Sequence[InputPartition]:
        """Return the files."""
        return [IndexFile(path=path, size=size) for path, size in self.files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one file."""
        if not isinstance(partition, IndexFile):
            raise TypeError(f"{partition!r} is not an index file")
        with reading(self.url, partition.path) as read_at:
            yield from batches(read_at, partition)


def slot_count_of(size: int) -> int:
    """Return how many slots a file of *size* bytes has, 0 if that cannot be said."""
    per_slot = SLOT_SIZE + ITEMS_PER_SLOT * ITEM_SIZE
    slots, rest = divmod(size - HEADER_SIZE, per_slot)
    return slots if size > HEADER_SIZE and not rest else 0


def batches(read_at: ReadAt, file: IndexFile) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *file*; none where its header or size cannot be believed."""
    slot_count = slot_count_of(file.size)
    try:
        header = decode_header(read_at(0, HEADER_SIZE))
    except LayoutError:
        return
    count = header.index_count
    if not slot_count or not 1 <= count <= slot_count * ITEMS_PER_SLOT:
        return
    begin = item_position(1, slot_count)
    data = read_at(begin, (count - 1) * ITEM_SIZE)
    items = np.frombuffer(data[: len(data) // ITEM_SIZE * ITEM_SIZE], dtype=_dtype)
    slots = np.frombuffer(read_at(HEADER_SIZE, slot_count * SLOT_SIZE), dtype=">i4")
    previous, last = _chains(items, slot_count)
    flaws = _flaws(items, previous, header)
    for start in range(0, len(items), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        yield _item_rows(
            items[part], (previous[part], flaws[part]), (file.path, begin, start)
        )
    wrong = np.flatnonzero(slots != last)
    if wrong.size:
        yield _slot_rows(file.path, wrong, slots[wrong], last[wrong])


def _chains(items: _Items, slot_count: int) -> tuple[_Items, _Items]:
    """Return what item each should name, and what item each slot."""
    of_slot = items["key_hash"].astype(np.int64) % slot_count
    order = np.argsort(of_slot, kind="stable")
    sorted_slots = of_slot[order]
    previous = np.zeros(len(items), dtype=np.int64)
    if len(items) > 1:
        same = sorted_slots[1:] == sorted_slots[:-1]
        previous[order[1:][same]] = order[:-1][same] + 1
    last = np.zeros(slot_count, dtype=np.int64)
    last[sorted_slots] = order + 1  # of several for one slot, the last one stays
    return previous, last


def _flaws(items: _Items, previous: _Items, header: IndexHeader) -> _Items:
    found = np.zeros(len(items), dtype=np.int64)
    found[items["previous_item"] != previous] |= int(ItemFlaw.PREVIOUS)
    found[items["key_hash"] < 0] |= int(ItemFlaw.HASH)
    took_ms = header.end_stored_at_ms - header.begin_stored_at_ms
    seconds = items["seconds"]
    outside = seconds < 0
    if header.begin_stored_at_ms > 0 and took_ms >= 0:
        outside |= seconds > took_ms // 1000 + 1
    if len(outside):
        outside[0] = False  # after a full file it counts from the end of that one
    found[outside] |= int(ItemFlaw.SECONDS)
    return found


def _item_rows(
    items: _Items, checked: tuple[_Items, _Items], place: tuple[str, int, int]
) -> pa.RecordBatch:
    previous, flaws = checked
    path, begin, start = place
    numbers = np.arange(start + 1, start + 1 + len(items))
    known: dict[str, Any] = {
        "file": pa.repeat(pa.scalar(path), len(items)),
        "number": numbers,
        "position": begin + (numbers - 1) * ITEM_SIZE,
        "key_hash": items["key_hash"].astype(np.int32),
        "commit_log_offset": items["commit_log_offset"].astype(np.int64),
        "seconds": items["seconds"].astype(np.int32),
        "names": items["previous_item"].astype(np.int32),
        "should_name": previous.astype(np.int32),
        "flaws": flaws.astype(np.int32),
    }
    return _batch(known)


def _slot_rows(path: str, wrong: _Items, names: _Items, last: _Items) -> pa.RecordBatch:
    nothing = pa.nulls(len(wrong), pa.int64())
    known: dict[str, Any] = {
        "file": pa.repeat(pa.scalar(path), len(wrong)),
        "number": nothing,
        "position": HEADER_SIZE + wrong.astype(np.int64) * SLOT_SIZE,
        "key_hash": nothing.cast(pa.int32()),
        "commit_log_offset": nothing,
        "seconds": nothing.cast(pa.int32()),
        "names": names.astype(np.int32),
        "should_name": last.astype(np.int32),
        "flaws": np.full(len(wrong), int(ItemFlaw.SLOT), dtype=np.int32),
    }
    return _batch(known)


def _batch(known: Mapping[str, Any]) -> pa.RecordBatch:
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for field in _schema
        for column in (known[field.name],)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema)
