"""
Differences in pieces of two commit logs, as rows computed by workers.

A log may begin later on one side after cleaning, and end earlier on a slave. The range
between must hold the same bytes. A piece is a range in one file of each side, or of one
side if the other has no file for it.

Most pieces are equal, byte for byte. In others both sides are read as records. A record
at the same place and of the same size is compared by fields. Any other record is on one
side only. Bytes behind a blank's head and behind the written part may differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count, pairwise
from typing import Any

from columns.scan.log_file import WINDOW_SIZE, ReadAt
from spark_checks.against.fields import (
    field_differences,
    first_difference,
    is_other_message,
)
from spark_checks.file_systems import reading
from spark_checks.readers.commit_log import batches
from spark_checks.readers.schemas import COLUMNS, spark_schema
from spark_checks.store_files import Store, StoreFile, file_at

PIECE_SIZE = 16 * 1024 * 1024
"""Bytes compared per piece."""
_RECORD = (
    *("offset", "size", "kind", "topic", "queue_id", "queue_offset"),
    *("born_at_ms", "computed_crc"),
)
SCHEMA = spark_schema(
    {
        "side": "string",
        "piece": "int32",
        "at": "int64",
        **{name: COLUMNS["rocketmq.commitlog"][name] for name in _RECORD},
        **dict.fromkeys(("field", "expected", "found"), "string"),
    }
)
"""A row is a record or region that is not the same on both sides.

``side`` is here, there, or both. ``piece`` is the number of its piece, and ``at`` its
first differing byte.
"""
_Row = Mapping[str, Any]
HEAD_OF_BLANK = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Range of commit-log offsets, and the files that hold it."""

    number: int
    """Adjacent pieces have adjacent numbers."""
    begin: int
    end: int
    here: StoreFile | None
    there: StoreFile | None


def cut(here: Store, there: Store, *, begin: int, end: int) -> list[Piece]:
    """Return the pieces of [begin, end) for which at least one log has a file."""
    logs = here.commit_log, there.commit_log
    edges = {begin, end}
    for file in (*logs[0], *logs[1]):
        edges |= {file.base, file.base + file.size}
    found: list[Piece] = []
    numbers = count()
    for first, last in pairwise(sorted(e for e in edges if begin <= e <= end)):
        of_here, of_there = (file_at(log, first) for log in logs)
        if of_here is None and of_there is None:
            next(numbers)
            continue
        found += [
            Piece(
                number=next(numbers),
                begin=start,
                end=min(start + PIECE_SIZE, last),
                here=of_here,
                there=of_there,
            )
            for start in range(first, last, PIECE_SIZE)
        ]
    return found


def differences(piece: Piece, urls: tuple[str, str]) -> Iterator[_Row]:
    """Yield the rows in which the two sides of *piece* differ."""
    with ExitStack() as stack:
        here, there = (
            None
            if file is None
            else Part(file, stack.enter_context(reading(url, file.path)), piece)
            for url, file in zip(urls, (piece.here, piece.there), strict=True)
        )
        if here and there:
            if not _same_bytes(here, there, piece):
                yield from _differing(here, there, piece)
            return
        for side, part in (("here", here), ("there", there)):
            for record in part.records.values() if part else ():
                if record["offset"] >= piece.begin:
                    yield _row(side, record, piece, at=record["offset"])


class Part:
    """One side of a piece, and of the piece before it, where a record may begin."""

    def __init__(self, file: StoreFile, read_at: ReadAt, piece: Piece) -> None:
        self._where, self._read_at, self._piece = file.whole, read_at, piece

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Return *size* bytes from *offset*; empty before this file."""
        if offset < self._where.base:
            return b""
        return self._read_at(offset - self._where.base, size)

    @property
    def records(self) -> Mapping[int, _Row]:
        """Records, blanks and other regions in the piece, by their offset."""
        begin, end = self._piece.begin, self._piece.end
        base = self._where.base
        start = max(begin - base - PIECE_SIZE, 0)
        where = replace(self._where, start=start, end=end - base)
        return {
            row["offset"]: row
            for batch in batches(self._read_at, where, {})
            for row in batch.select([*_RECORD]).to_pylist()
            if row["offset"] < end and row["offset"] + row["size"] > begin
        }


def _same_bytes(here: Part, there: Part, piece: Piece) -> bool:
    """Return whether *piece* has the same bytes on both sides."""
    for start in range(piece.begin, piece.end, WINDOW_SIZE):
        size = min(WINDOW_SIZE, piece.end - start)
        if here.bytes_at(start, size) != there.bytes_at(start, size):
            return False
    return True


def _differing(here: Part, there: Part, piece: Piece) -> Iterator[_Row]:
    """Yield the records of *piece* that are not the same on both sides.

    A record belongs to the piece with its first differing byte.
    """
    rows, others = here.records, there.records
    for offset in sorted({*rows, *others}):
        row, other = rows.get(offset), others.get(offset)
        first = rows.get(offset) or others[offset]
        kind = first["kind"]
        size = HEAD_OF_BLANK if kind == "blank" else first["size"]
        data = here.bytes_at(offset, size), there.bytes_at(offset, size)
        at = offset + first_difference(*data)
        if data[0] == data[1] or not piece.begin <= at < piece.end:
            continue
        is_pair = (
            row is not None
            and other is not None
            and (kind, row["size"]) == (other["kind"], other["size"])
            and not (kind == "record" and is_other_message(*data))
        )
        if not is_pair:
            for side, one in (("here", row), ("there", other)):
                if one is not None:
                    yield _row(side, one, piece, at=at)
        elif kind != "tail":
            names, texts = field_differences(*data, is_record=kind == "record")
            yield {
                **_row("both", first, piece, at=at),
                "field": names,
                "found": texts[0],
                "expected": texts[1],
            }


def _row(side: str, record: _Row, piece: Piece, *, at: int) -> _Row:
    return {"side": side, "piece": piece.number, "at": at, **record}
