"""
Reasons why a reader's results may differ from the writer's, each with its clauses.

A reason applies only if its clauses apply to the releases of both sides and the two
values differ as the clauses state. A difference without a reason is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.interop.handover.cell import BACK, KILL, OVER, Cell, Difference
from conformance.interop.handover.handover import release_of
from conformance.interop.handover.send import BATCH_SIZES
from spec.registry import clause

START = "start"
"""The question whether the reader serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A difference, and the releases of the two sides whose responses differ."""

    difference: Difference
    before: str
    after: str
    ending: str
    """End of the previous broker."""

    def has(self, name: str, *, before: bool) -> bool:
        """Return whether a clause is about one of the two releases."""
        return clause(name).applies_to(self.before if before else self.after)

    def changes(self, older: str, newer: str) -> tuple[object, object] | None:
        """Return the values, the one by the older clause first; None if not so."""
        found = self.difference
        if self.has(older, before=True) and self.has(newer, before=False):
            return found.before, found.after
        if self.has(newer, before=True) and self.has(older, before=False):
            return found.after, found.before
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A way in which answers may differ, by clauses of the specification."""

    clauses: tuple[str, ...]
    text: str
    """Explanation for the reader of the table."""
    holds: Callable[[Hop], bool]


def hop_of(cell: Cell, difference: Difference) -> Hop:
    """Return the sides of a difference."""
    writer, reader = release_of(cell.writer), release_of(cell.reader)
    if difference.hop == OVER:
        return Hop(
            difference=difference, before=writer, after=reader, ending=cell.ending
        )
    return Hop(difference=difference, before=reader, after=writer, ending="stop")


def reason_for(cell: Cell, difference: Difference) -> Reason | None:
    """Return why a cell has a difference; None if nothing explains it."""
    hop = hop_of(cell, difference)
    return next((reason for reason in REASONS if reason.holds(hop)), None)


def _one_more(values: tuple[object, object] | None) -> bool:
    """Return whether the second value is the first and one more."""
    if values is None:
        return False
    one, other = values
    return isinstance(one, int) and isinstance(other, int) and other == one + 1


def _searches_after_the_last(hop: Hop) -> bool:
    found = hop.difference
    return (found.question, found.item) == ("times", "after the last") and _one_more(
        hop.changes("OFFSET-SEARCH-003", "OFFSET-SEARCH-004")
    )


def _searches_between(hop: Hop) -> bool:
    found = hop.difference
    is_checked = found.question == "times" and found.item.startswith("soon after ")
    return is_checked and _one_more(
        hop.changes("OFFSET-SEARCH-005", "OFFSET-SEARCH-006")
    )


def _searches_another_file(hop: Hop) -> bool:
    """Return whether a side that goes by the times of files found another message."""
    found = hop.difference
    if found.question != "times in long queues":
        return False
    right = int(found.item.rpartition(" ")[2])
    is_wrong = {True: found.before != right, False: found.after != right}
    return all(
        hop.has("OFFSET-SEARCH-008", before=before)
        for before, wrong in is_wrong.items()
        if wrong
    )


def _is_indexed_again(hop: Hop) -> bool:
    found = hop.difference
    return (
        hop.ending == KILL
        and found.question in {"keys", "unique keys"}
        and isinstance(found.before, list)
        and found.after == found.before * 2
        and hop.has("REC-CRASH-008", before=False)
    )


def _checks_again(hop: Hop) -> bool:
    """Return whether a release that lacks comma-separated op messages checks again.

    Each check leaves an undecided copy of the message, so that the writer's release
    checks again on the way back.
    """
    found = hop.difference
    left_copies = found.hop == BACK
    if found.question != "half messages" or not (
        hop.has("TXN-OP-003", before=not left_copies)
        and hop.has("TXN-OP-006", before=left_copies)
    ):
        return False
    if found.item == "questions after the decisions":
        return isinstance(found.after, list) and set(found.after) <= DECIDED
    return found.item in DECIDED_ITEMS and found.after == "checked"


DECIDED = {"Uhalf-0", "Uhalf-1"}
"""Unique keys of the half messages that the writer committed or rolled back."""
DECIDED_ITEMS = {"committed, question", "rolled back, question"}


def differences_of(cell: Cell) -> list[Difference]:
    """Return the differences of a cell; a reader that did not start is one, too."""
    if cell.refusal is None:
        return cell.differences
    refusal = Difference(
        hop=OVER, question=START, item=cell.reader, before="starts", after=cell.refusal
    )
    return [refusal, *cell.differences]


def _cannot_read_pull_offsets(hop: Hop) -> bool:
    return (
        hop.difference.question == START
        and hop.has("STORE-CONFIG-018", before=True)
        and hop.has("STORE-CONFIG-019", before=False)
    )


def _has_no_timer(hop: Hop) -> bool:
    found = hop.difference
    return (
        found.question == "timed messages"
        and found.after == "missing"
        and hop.has("STORE-TIMER-009", before=False)
    )


def _has_no_batch_queues(hop: Hop) -> bool:
    found = hop.difference
    is_before = found.hop == BACK
    shown = found.before if is_before else found.after
    return (
        found.question == "whole batches"
        and shown in EMPTY
        and hop.has("STORE-BATCHQUEUE-006", before=is_before)
    )


EMPTY: tuple[object, ...] = ([], [0, 0])


def _counts_batches(hop: Hop) -> bool:
    found = hop.difference
    return (
        (found.question, found.item) == ("whole batches", "ends")
        and hop.ending == KILL
        and found.after == [0, len(BATCH_SIZES)]
        and hop.has("STORE-BATCHQUEUE-007", before=False)
    )


REASONS = (
    Reason(
        clauses=("OFFSET-SEARCH-003", "OFFSET-SEARCH-004"),
        text="A search by a time after the last message finds the last, since 5.1.1 the"
        " queue's end.",
        holds=_searches_after_the_last,
    ),
    Reason(
        clauses=("OFFSET-SEARCH-005", "OFFSET-SEARCH-006"),
        text="A search by a time between two messages finds the nearer, since 5.1.1 the"
        " later.",
        holds=_searches_between,
    ),
    Reason(
        clauses=("OFFSET-SEARCH-008", "OFFSET-SEARCH-009"),
        text="A search by time in a queue of several files goes by the files' times of"
        " change, which are others when another broker has had them open.",
        holds=_searches_another_file,
    ),
    Reason(
        clauses=("REC-CRASH-008",),
        text="After a kill the last message of the newest index file that stayed is"
        " found twice by its keys.",
        holds=_is_indexed_again,
    ),
    Reason(
        clauses=("TXN-OP-003", "TXN-OP-006", "TXN-CHECK-006"),
        text="Releases before 5.1 cannot read an op message with several decisions: the"
        " broker checks decided half messages again, and leaves a copy of each, which"
        " later brokers check as well.",
        holds=_checks_again,
    ),
    Reason(
        clauses=("STORE-TIMER-009",),
        text="Before 5.0 there is no timer: messages that wait for it are not delivered"
        " until a broker that has one opens the store again.",
        holds=_has_no_timer,
    ),
    Reason(
        clauses=("STORE-BATCHQUEUE-006",),
        text="Before 5.0 there are no batch queues: a topic of them looks empty.",
        holds=_has_no_batch_queues,
    ),
    Reason(
        clauses=("STORE-BATCHQUEUE-007",),
        text="After a kill such a reader makes a plain queue of the batches: they are"
        " all there, but its offsets count batches.",
        holds=_counts_batches,
    ),
    Reason(
        clauses=("STORE-CONFIG-018", "STORE-CONFIG-019"),
        text="A broker of 5.4 cannot read the offsets of pulls that 5.5 persists: it"
        " does not start until pullOffsetTable is removed from consumerOffset.json and"
        " its .bak copy.",
        holds=_cannot_read_pull_offsets,
    ),
)
"""In the order in which the table's notes are numbered."""
