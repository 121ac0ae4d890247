"""Findings of a comparison, at places in the files of this store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spark_checks.against.differences import Piece
from spark_checks.against.differing_rows import is_parted
from spark_checks.against.sides import NAMES, Comparison
from spark_checks.findings import LISTED_MAX, Finding, in_order
from spark_checks.invariants.file_findings import file_finding


def findings_of(compared: Comparison) -> list[Finding]:
    """Return the findings of *compared*, in the files of this store."""
    found = (
        *_changed(compared),
        *_shifted(compared),
        *_lacking(compared),
        *_gaps(compared),
        *compared.unit_findings,
    )
    return in_order(found)


def _changed(compared: Comparison) -> Iterator[Finding]:
    for row in compared.changed:
        name = f"record of {row.topic}, queue {row.queue_id}, offset {row.queue_offset}"
        if row.kind != "record":
            name = "damaged region"
        place = compared.place(row.offset, row.size)
        message = (
            f"The {name} at {place[1][0]} differs in {row.field}, first at byte"
            f" {row.at - row.offset} of it."
        )
        texts = {"expected": row.expected, "found": row.found, "message": message}
        one = file_finding("INV-AGAINST-001", *place, **texts)
        more = compared.changed_count - len(compared.changed)
        yield one.with_more(more if row is compared.changed[-1] else 0)


def _shifted(compared: Comparison) -> Iterator[Finding]:
    """Yield the ranges in which the two logs have different records."""
    gaps = {piece.begin for piece in compared.gaps}
    parted = (one for one in compared.ranges if is_parted(one))
    for one in [one for one in parted if one.begin not in gaps][:LISTED_MAX]:
        place = compared.place(one.begin, one.end - one.begin)
        yield file_finding("INV-AGAINST-001", *place, range=one)


def _lacking(compared: Comparison) -> Iterator[Finding]:
    """Yield the messages of one queue that one side lacks."""
    for one in compared.one_sided:
        lacks = NAMES["there" if one.side == "here" else "here"]
        span = f"queue offsets {one.first} to {one.last}"
        texts = [f"{one.messages} messages, {span}", "none of them"]
        found, expected = texts if one.side == "here" else reversed(texts)
        names = {"span": span, "has": NAMES[one.side], "lacks": lacks}
        yield file_finding(
            "INV-AGAINST-002",
            *compared.place(one.offset, 0),
            **{**names, "one": one, "expected": expected, "found": found},
        )


def _gaps(compared: Comparison) -> Iterator[Finding]:
    """Yield the ranges for which only one side has files."""
    for begin, end, side in _joined(compared.gaps):
        place = compared.place(begin, end - begin)
        values = {"begin": begin, "end": end, "side": NAMES[side]}
        yield file_finding("INV-AGAINST-003", *place, size=end - begin, **values)


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
