"""
Findings of a comparison, at places in the files of this store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyspark.sql import Row

from spark_checks.against.differing_ranges import is_parted
from spark_checks.against.pieces import Piece
from spark_checks.against.sides import NAMES, Comparison
from spark_checks.findings import LISTED_MAX, Finding, in_order
from spark_checks.invariants.file_findings import file_finding


def findings_of(compared: Comparison) -> list[Finding]:
    """Return the findings of *compared*, in the files of this store."""
    found = (
        *_changed(compared),
        *_shifted(compared),
        *(_lacking(compared, one) for one in compared.one_sided),
        *_gaps(compared),
        *compared.unit_findings,
    )
    return in_order(found)


def _changed(compared: Comparison) -> Iterator[Finding]:
    rows = compared.changed
    for row in rows:
        file, offset = compared.place(row.offset)
        one = file_finding(
            "INV-AGAINST-001",
            file,
            (offset, row.size),
            expected=row.expected,
            found=row.found,
            message=f"{_name_of(row)} at {offset} differs in {row.field}, first at"
            f" byte {row.at - row.offset} of it.",
        )
        more = compared.changed_count - len(rows)
        yield one.with_more(more if row is rows[-1] else 0)


def _name_of(row: Row) -> str:
    if row.kind != "record":
        return "The damaged region"
    return f"The record of {row.topic}, queue {row.queue_id}, offset {row.queue_offset}"


def _shifted(compared: Comparison) -> Iterator[Finding]:
    """Yield the ranges in which the two logs have different records."""
    gaps = {piece.begin for piece in compared.gaps}
    parted = (one for one in compared.ranges if is_parted(one))
    for one in [one for one in parted if one.begin not in gaps][:LISTED_MAX]:
        file, offset = compared.place(one.begin)
        yield file_finding(
            "INV-AGAINST-001",
            file,
            (offset, one.end - one.begin),
            expected=f"{one.there} records that are not here",
            found=f"{one.here} records that are not there",
            message=f"From commit-log offset {one.begin} to {one.end} the logs hold"
            f" different records: {one.here} that only this store has there,"
            f" {one.there} that only the other has.",
        )


def _lacking(compared: Comparison, one: Row) -> Finding:
    """Return the finding for messages of one queue that one side lacks."""
    file, offset = compared.place(one.offset)
    lacks = NAMES["there" if one.side == "here" else "here"]
    span = f"queue offsets {one.first} to {one.last}"
    texts = [f"{one.messages} messages, {span}", "none of them"]
    found, expected = texts if one.side == "here" else reversed(texts)
    return file_finding(
        "INV-AGAINST-002",
        file,
        (offset, 0),
        expected=expected,
        found=found,
        message=f"{one.messages} messages of queue {one.queue_id} of {one.topic},"
        f" {span}, are in {NAMES[one.side]} and not in {lacks}.",
    )


def _gaps(compared: Comparison) -> Iterator[Finding]:
    """Yield the ranges for which only one side has files."""
    for begin, end, side in _joined(compared.gaps):
        file, offset = compared.place(begin)
        yield file_finding(
            "INV-AGAINST-003",
            file,
            (offset, end - begin),
            expected=f"commit-log offsets {begin} to {end} in both stores",
            found=f"only {NAMES[side]} has them",
            message=f"Commit-log offsets {begin} to {end}, {end - begin} bytes, are in"
            f" {NAMES[side]} only.",
        )


def _joined(gaps: Iterable[Piece]) -> list[tuple[int, int, str]]:
    """Return begin, end and owner of the ranges of adjacent *gaps*."""
    found: list[tuple[int, int, str]] = []
    for piece in gaps:
        side = "there" if piece.here is None else "here"
        if found and found[-1][1:] == (piece.begin, side):
            found[-1] = (found[-1][0], piece.end, side)
        else:
            found.append((piece.begin, piece.end, side))
    return found
