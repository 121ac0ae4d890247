"""
The page docs/handover.md: the matrix of recorded cells, every difference explained.

``rmqc report handover -o docs/handover.md`` runs the cells that are not recorded yet
and writes the page anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from conformance.interop.handover.cell import (
    BACK,
    ENDINGS,
    KILL,
    MAKES,
    OVER,
    Cell,
    Difference,
)
from conformance.interop.handover.reasons import REASONS, differences_of, reason_for
from spec.registry import clause

SAME, BOTH_WAYS, FOUND, MISSING = "same", "same, and back", "✗", "not run"

QUESTIONS: Mapping[str, str] = {
    "messages": "every message of every queue, its bytes, pulled from the beginning:"
    " ordinary, of batches, to be retried, dead letters",
    "queue ends": "smallest offset and end of every queue",
    "group offsets": "what a group has committed, one of them past the queue's end",
    "ids": "the message of every id",
    "keys": "the messages of every key",
    "unique keys": "the message of every unique key",
    "times": "searches by times before, at, between and after a queue's messages",
    "times in long queues": "searches by store times in queues of several files",
    "first store times": "when the oldest message of each queue was stored",
    "topic settings": "queue counts, permissions, flags and order of every topic",
    "group settings": "what consumer groups may, and their retries",
    "whole batches": "a topic of batch queues (writers since 5.0)",
    "delayed messages": "18 levels: delivered once, not before their time, or waiting",
    "timed messages": "17 messages of the timer, likewise (writers since 5.0)",
    "delay offsets": "how far each level was delivered, from the reader's file",
    "half messages": "one committed, one rolled back, two undecided that the reader"
    " checks, and no others; then one more is delivered",
    "next messages": "one more message a queue: it takes the next offset and is found",
}
"""Each query of a handover with its subject, in the order of the page."""

_HEAD = """\
# Stores that change hands

Handover of stores between releases. One broker writes a store and ends, by a stop or a
kill. Another opens it and answers the same queries. It finishes the writer's unfinished
operations and accepts more messages. This page is written by

    rmqc report handover -o docs/handover.md

from the cells that are recorded in `conformance/interop/handover/handover_cells.json`.
Missing cells are run first. The release of the reference is 4.6.0.
"""
_BESIDE = """\
One combination is not in the matrix: a store of 5.x with a record of a topic of more
than 127 characters, such as a retry topic, and a reader before 5.0. The record ends the
log for that reader (REC-SCAN-012). The record and all messages behind it are lost, and
new messages overwrite them. The tests of `tox -e handover` show it with the reference,
4.9.7 and 5.4.0.
"""
_AFTER_A_KILL = """\
The last message is found twice by its keys also without a handover: a broker that opens
its own store after a kill, on the diagonal, does the same. Nothing that was committed
or delivered half a second before the kill is lost.
"""
_LEGEND = f"""\
`{SAME}`: all results are equal. `{BOTH_WAYS}`: after a stop of the reader, the writer's
release also opens the store again, with equal results. A number is a note below, which
explains all differences; those after `back` were found on the way back. `{FOUND}`: a
difference that no clause explains.
"""


def page(cells: Mapping[str, Cell]) -> str:
    """Return the page that shows *cells*."""
    blocks = [_HEAD, "## The matrix\n", _LEGEND]
    for ending in ENDINGS:
        how = "was killed" if ending == KILL else "stopped in order"
        blocks.append(f"### After the writer {how}\n")
        blocks.append("\n".join(_matrix(cells, ending)) + "\n")
        if ending == KILL:
            blocks.append(_AFTER_A_KILL)
    blocks += ["## Notes\n", "\n".join(_notes()) + "\n", _BESIDE]
    if unexplained := list(_unexplained(cells)):
        blocks += ["## Not explained\n", "\n".join(unexplained) + "\n"]
    blocks += ["## The questions\n", "\n".join(_questions(cells)) + "\n"]
    return "\n".join(blocks)


def _matrix(cells: Mapping[str, Cell], ending: str) -> Iterator[str]:
    yield "| writer ↓ reader → | " + " | ".join(MAKES) + " |"
    yield "|---" * (len(MAKES) + 1) + "|"
    for writer in MAKES:
        row = [
            shown(cells.get(Cell(writer=writer, reader=reader, ending=ending).name))
            for reader in MAKES
        ]
        yield f"| **{writer}** | " + " | ".join(row) + " |"


def shown(cell: Cell | None) -> str:
    """Return the few characters that the matrix has for a cell."""
    if cell is None:
        return MISSING
    if any(reason_for(cell, one) is None for one in differences_of(cell)):
        return FOUND
    over, back = (notes_of(cell, hop) for hop in (OVER, BACK))
    if cell.refusal:
        return f"does not start {over}"
    if not cell.comes_back:
        return over or SAME
    if not over and not back:
        return BOTH_WAYS
    return f"{over or SAME}; back {back or SAME}"


def notes_of(cell: Cell, hop: str) -> str:
    """Return the numbers of the notes that explain a cell's differences of a hop."""
    found = {
        REASONS.index(reason) + 1
        for one in differences_of(cell)
        if one.hop == hop and (reason := reason_for(cell, one)) is not None
    }
    return " ".join(map(str, sorted(found)))


def _notes() -> Iterator[str]:
    for number, reason in enumerate(REASONS, start=1):
        yield f"{number}. {reason.text}"
        for name in reason.clauses:
            one = clause(name)
            yield f"   - {name} ({_range(one.since, one.until)}): {one.text}"


def _range(since: str, until: str | None) -> str:
    return f"since {since}" if until is None else f"{since} to {until}"


def _unexplained(cells: Mapping[str, Cell]) -> Iterator[str]:
    for cell in cells.values():
        for one in differences_of(cell):
            if reason_for(cell, one) is None:
                yield f"- {cell.name}, {difference_line(one)}"


def difference_line(one: Difference) -> str:
    """Return a difference as a line."""
    return f"{one.hop}: {one.question}, {one.item}: {one.before} became {one.after}"


def _questions(cells: Mapping[str, Cell]) -> Iterator[str]:
    counted: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    for cell in cells.values():
        for name, count in cell.compared.items():
            counted[name.partition(": ")[2]] += count
        differ.update(one.question for one in cell.differences)
    yield "| question | about | compared | other |"
    yield "|---|---|---|---|"
    for name, about in QUESTIONS.items():
        yield f"| {name} | {about} | {counted[name]:,} | {differ[name]:,} |"
    yield (
        f"| **{len(cells)} cells** | | {sum(counted.values()):,}"
        f" | {sum(differ.values()):,} |"
    )
