"""
Differences in pieces of two commit logs, as rows computed by workers.

Most pieces are equal, byte for byte. In others both sides are read as records. A record
at the same place and of the same size is compared by fields. Any other record is on one
side only. Bytes behind a blank's head and behind the written part may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from spark_checks.against.fields import (
    field_differences,
    first_difference,
    is_other_message,
)
from spark_checks.against.pieces import PIECE_SIZE, Piece, Side
from spark_checks.columns.record_scan import WINDOW_SIZE, FileRange, ReadAt
from spark_checks.readers.commit_log import batches
from spark_checks.readers.schemas import arrow_schema
from spark_checks.store_files import reading

DIFFERENCE_COLUMNS = {
    "side": "string",
    "begin": "int64",
    "offset": "int64",
    "at": "int64",
    "size": "int64",
    "kind": "string",
    "topic": "string",
    "queue_id": "int32",
    "queue_offset": "int64",
    "born_at_ms": "int64",
    "computed_crc": "int32",
    "field": "string",
    "expected": "string",
    "found": "string",
}
"""A row is a record or region that is not the same on both sides.

``side`` is here, there, or both. ``begin`` is its piece, and ``at`` its first differing
byte.
"""
_schema = arrow_schema(DIFFERENCE_COLUMNS)
_Row = Mapping[str, Any]
_OF_A_RECORD = (
    "offset", "size", "kind", "topic", "queue_id", "queue_offset", "born_at_ms",
    "computed_crc",
)  # fmt: skip
HEAD_OF_BLANK = 8


def differences(pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
    """Yield the rows in which the two sides of *pieces* differ."""
    for piece in pieces:
        found = list(_compared(piece))
        if found:
            yield pa.RecordBatch.from_pylist(found, schema=_schema)


def _compared(piece: Piece) -> Iterator[_Row]:
    """Yield the differences in *piece*."""
    with ExitStack() as stack:
        readers = [
            None if side is None else stack.enter_context(reading(side.url, side.path))
            for side in (piece.here, piece.there)
        ]
        here, there = (
            None if side is None or read_at is None else Part(side, read_at, piece)
            for side, read_at in zip((piece.here, piece.there), readers, strict=True)
        )
        if here and there:
            if not _same_bytes(here, there, piece):
                yield from _differing(here, there, piece)
            return
        for name, part in (("here", here), ("there", there)):
            for record in part.records if part else ():
                if record["offset"] >= piece.begin:
                    yield _row(name, record, piece, at=record["offset"])


class Part:
    """One side of a piece, and of the piece before it, where a record may begin."""

    def __init__(self, side: Side, read_at: ReadAt, piece: Piece) -> None:
        self._side, self._read_at, self._piece = side, read_at, piece

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Return *size* bytes from *offset*; empty before this file."""
        if offset < self._side.base:
            return b""
        return self._read_at(offset - self._side.base, size)

    @property
    def records(self) -> list[_Row]:
        """Records, blanks and other regions in the piece."""
        start = max(self._piece.begin - self._side.base - PIECE_SIZE, 0)
        where = FileRange(
            base=self._side.base,
            file_size=self._side.size,
            start=start,
            end=self._piece.end - self._side.base,
        )
        return [
            row
            for batch in batches(self._read_at, where, {})
            for row in batch.select(_OF_A_RECORD).to_pylist()
            if row["offset"] < self._piece.end
            and row["offset"] + row["size"] > self._piece.begin
        ]


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
    others = {row["offset"]: row for row in there.records}
    for row in here.records:
        other = others.pop(row["offset"], None)
        data = _bytes_of(row, here, there)
        if _is_of(piece, row, data):
            yield from _pair(row, other, data, piece)
    for row in others.values():
        data = _bytes_of(row, here, there)
        if _is_of(piece, row, data):
            yield _row("there", row, piece, at=_first(row, data))


def _bytes_of(row: _Row, here: Part, there: Part) -> tuple[bytes, bytes]:
    """Return the bytes of *row* on both sides, as far as they must be equal."""
    size = HEAD_OF_BLANK if row["kind"] == "blank" else row["size"]
    return here.bytes_at(row["offset"], size), there.bytes_at(row["offset"], size)


def _is_of(piece: Piece, row: _Row, data: tuple[bytes, bytes]) -> bool:
    """Return whether the first difference of *row* lies in *piece*."""
    return data[0] != data[1] and piece.begin <= _first(row, data) < piece.end


def _first(row: _Row, data: tuple[bytes, bytes]) -> int:
    """Return the commit-log offset of the first differing byte of *row*."""
    at: int = row["offset"] + first_difference(*data)
    return at


def _pair(
    row: _Row, other: _Row | None, data: tuple[bytes, bytes], piece: Piece
) -> Iterator[_Row]:
    """Yield the differences between *row* and the other side's row at its place."""
    at = _first(row, data)
    kind = row["kind"]
    if other is None:
        yield _row("here", row, piece, at=at)
    elif (kind, row["size"]) != (other["kind"], other["size"]) or (
        kind == "record" and is_other_message(*data)
    ):
        yield _row("here", row, piece, at=at)
        yield _row("there", other, piece, at=at)
    elif kind != "tail":
        names, texts = field_differences(*data, is_record=kind == "record")
        yield {
            **_row("both", row, piece, at=at),
            "field": names,
            "found": texts[0],
            "expected": texts[1],
        }


def _row(side: str, record: _Row, piece: Piece, *, at: int) -> _Row:
    return {"side": side, "begin": piece.begin, "at": at, **record}
