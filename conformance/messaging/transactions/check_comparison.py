"""
Check requests of a broker, compared with a model of its half messages.

Before each check request the broker stores the half message once more. The record at
that new place is compared too.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.harness.failure.failure import record_evidence
from conformance.harness.pytest_plugin.expectations import (
    expect,
    expect_fields,
    expect_that,
)
from conformance.messaging.transactions.producer_groups import FLAG, OWN, ProducerGroups
from conformance.models.transactions import HalfMessage, Place, Transactions
from spec.clause import release_key
from spec.store.message_record import Record
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import HALF_TOPIC
from spec.wire.remoting.command import Command

GRACE_MS = 3000
"""A check that has begun may still cover messages that are decided meanwhile."""


class CheckComparison:
    """Compares the check requests for the half messages of *model*."""

    def __init__(
        self, producers: ProducerGroups, model: Transactions, release: str
    ) -> None:
        self.producers = producers
        self.model = model
        self.given_up = (
            "TXN-CHECK-009" if release_key(release) >= (4, 5, 2) else "TXN-CHECK-010"
        )
        self.early: list[tuple[HalfMessage, Place]] = []
        """Questions that came before an older one about the same message."""

    def compare(self, questions: Iterator[tuple[str, Command]]) -> None:
        """Compare each of *questions* with the model, and record it there.

        Releases send from several threads. A check request of one round may overtake
        that of the round before, for which it then waits.
        """
        received = [*self.early, *(self.question(*one) for one in questions)]
        self.early = []
        for half, place in sorted(received, key=lambda one: one[1].commit_log_offset):
            record = self.producers.record_at(place)
            if self.is_early(half, record):
                self.early.append((half, place))
                continue
            self.check_is_due(half, record)
            self.compare_half("TXN-CHECK-006", half, record, place)
            self.model.check(half, place)

    def has_received_all(self) -> bool:
        """Listen once more, and return whether no question waits for an older one."""
        self.compare(self.producers.questions())
        return not self.early

    def question(self, group: str, found: Command) -> tuple[HalfMessage, Place]:
        """Return message and place of a check request; fail if its group is wrong."""
        half = self.model.halves.get(found.fields["msgId"])
        assert half is not None, f"a question about {found.fields['msgId']}"
        expect(
            "TXN-CHECK-001",
            found=group,
            expected=half.group,
            what="who",
            transcript=self.producers.broker.transcript,
        )
        place = Place(
            commit_log_offset=int(found.fields["commitLogOffset"]),
            queue_offset=int(found.fields["tranStateTableOffset"]),
        )
        return half, place

    def is_early(self, half: HalfMessage, renewed: Record) -> bool:
        """Return whether a question before that about *renewed* is still to come."""
        times = decode_properties(renewed.properties).get("TRANSACTION_CHECK_TIMES", "")
        return times.isdecimal() and int(times) > len(half.places)

    def check_is_due(self, half: HalfMessage, renewed: Record) -> None:
        """Fail if a message is checked that was decided long ago."""
        if half.settled_at_ms is not None:
            late_ms = renewed.stored_at_ms - half.settled_at_ms
            given_up = half.key in self.model.given_up
            expect_that(
                self.given_up if given_up else "TXN-CHECK-008",
                late_ms <= GRACE_MS and not given_up,
                found=f"a question {late_ms} ms after the decision",
                expected="none",
                transcript=self.producers.broker.transcript,
            )
        times = decode_properties(renewed.properties).get("TRANSACTION_CHECK_TIMES")
        expect(
            "TXN-CHECK-006",
            found=times,
            expected=str(len(half.places)),
            what="TRANSACTION_CHECK_TIMES",
            transcript=self.producers.broker.transcript,
        )

    def compare_half(
        self, clause: str, half: HalfMessage, record: Record, place: Place
    ) -> None:
        """Compare what lies at one of the places of *half* with what was sent."""
        properties = decode_properties(record.properties)
        found = (record.topic, record.queue_offset, record.physical_offset)
        expected = (HALF_TOPIC, place.queue_offset, place.commit_log_offset)
        expect(
            clause,
            found=found,
            expected=expected,
            what="topic and offsets",
            transcript=self.producers.broker.transcript,
        )
        real = {"REAL_TOPIC": self.producers.topic, "REAL_QID": str(half.queue_id)}
        expect_fields(
            "STORE-SYSTOPIC-001",
            found=properties,
            expected=real,
            transcript=self.producers.broker.transcript,
        )
        expect_fields(
            "STORE-SYSTOPIC-002",
            found={"body": record.body, **properties},
            expected={"body": half.body, "UNIQ_KEY": half.key, **OWN},
            transcript=self.producers.broker.transcript,
        )
        self.compare_flag("STORE-SYSTOPIC-002", half, record, place)

    def compare_flag(
        self, clause: str, half: HalfMessage, record: Record, place: Place
    ) -> None:
        """Compare a flag, which is forgotten when a message is stored once more."""
        is_first = place == half.places[0]
        expect(
            clause if is_first else "TXN-CHECK-021",
            found=record.flag,
            expected=FLAG if is_first else 0,
            what="flag of the record",
            evidence=record_evidence(record, "flag"),
            transcript=self.producers.broker.transcript,
        )
