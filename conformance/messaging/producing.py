"""
Two groups of producers, and everything that can be seen of their half messages.

The producers are members from the beginning, and hear every question of a broker that
asks all the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.harness.asks.asker import FieldValue
from conformance.harness.deadline import wait_until
from conformance.harness.fixtures import create_topic, unique_name
from conformance.harness.speaker import request, succeeded
from conformance.harness.target import Capability, Target
from conformance.messaging.checking import join, old
from conformance.messaging.half import send_half
from conformance.messaging.reading import records_of
from conformance.models.transactions import HalfMessage, Place
from spec.store.message_record import Record, decode_record
from spec.wire.command import Command
from spec.wire.properties import decode_properties
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode
from spec.wire.transaction_checks import CHECK_GROUP, GIVEN_UP_TOPIC
from spec.wire.transactions import HALF_TOPIC, OPERATIONS_TOPIC, Decision

RESTLESS = {
    "transactionTimeOut": "3000",
    "transactionCheckMax": "1000000",
    "transactionOpBatchInterval": "100",
}
"""A broker that asks until there is an answer; how often is the target's matter."""
LOOKS_AT_REST = 3
"""How often running a broker looks idle before it is: queues fill a little late."""
SOON_S = 0.001
OWN = {"TAGS": "t", "own": "é"}
"""Properties that every half message has from its producer."""
FLAG = 9


def restless_settings(target: Target) -> dict[str, str]:
    """Return the settings of a broker like *target* that asks all the time."""
    interval_ms = "50" if Capability.CLOCK in target.capabilities else "200"
    return {**RESTLESS, "transactionCheckInterval": interval_ms}


class Producing:
    """A topic with two queues, two groups, and a connection to their broker."""

    def __init__(self, target: Target) -> None:
        self.topic = create_topic(target, unique_name("machine"), queue_count=2)
        self.broker = target.speak_to_broker()
        self.members = {
            unique_name("producers"): target.speak_to_broker() for _ in range(2)
        }
        self.groups = list(self.members)
        for group, member in self.members.items():
            join(member, group)
        self._log_offset: int | None = None
        self._noted: set[int] = set()

    def close(self) -> None:
        """Close all connections."""
        for speaker in (self.broker, *self.members.values()):
            speaker.close()

    def key(self, number: int) -> str:
        """Return the unique key of a half message that is sent from here."""
        return f"{self.topic}-{number}"

    def send(self, key: str, group: str, *, queue_id: int, body: bytes) -> HalfMessage:
        """Send a half message that is old enough to be asked about."""
        sent = send_half(
            self.broker,
            self.topic,
            group=group,
            queue_id=queue_id,
            body=body,
            flag=FLAG,
            born_at_ms=old(),
            properties={**OWN, "UNIQ_KEY": key},
        )
        place = Place(
            commit_log_offset=sent.commit_log_offset, queue_offset=sent.queue_offset
        )
        if self._log_offset is None:
            self._log_offset = place.commit_log_offset
        return HalfMessage(
            key=key, group=group, queue_id=queue_id, body=body, places=[place]
        )

    def end(
        self,
        place: Place,
        decision: int,
        *,
        group: str,
        oneway: bool = False,
        from_check: bool = False,
    ) -> Command:
        """Decide what lies at *place*; return the answer, or the oneway request."""
        return self.broker.end_transaction(
            group=group,
            commit_log_offset=place.commit_log_offset,
            queue_offset=place.queue_offset,
            decision=decision,
            message_id="",
            oneway=oneway,
            from_check=from_check,
        )

    def say_unsure(self, half: HalfMessage) -> None:
        """Say that a decision is not known, and do not wait for an answer."""
        fields: dict[str, FieldValue] = {
            "producerGroup": half.group,
            "tranStateTableOffset": half.places[-1].queue_offset,
            "commitLogOffset": half.places[-1].commit_log_offset,
            "commitOrRollback": int(Decision.UNKNOWN),
            "fromTransactionCheck": False,
            "msgId": half.key,
        }
        self.broker.peer.send(request(RequestCode.END_TRANSACTION, fields))

    def questions(self) -> Iterator[tuple[str, Command]]:
        """Yield the questions that have come, and the group of whom was asked."""
        for group, member in self.members.items():
            while not member.peer.is_silent(SOON_S):
                code = RequestCode.CHECK_TRANSACTION_STATE
                yield group, member.peer.receive_request(code)

    def late_questions(self) -> Iterator[tuple[str, Command]]:
        """Yield all questions that a broker at rest has asked."""
        for member in self.members.values():
            succeeded(member.max_offset(topic=self.topic))
        yield from self.questions()

    def record_at(self, place: Place) -> Record:
        """Return the record at *place*."""
        answer = self.broker.view_message(commit_log_offset=place.commit_log_offset)
        return decode_record(succeeded(answer).body)

    def half_topic_at(self, place: Place) -> Record:
        """Pull what the half topic has at *place*."""
        number = place.queue_offset
        self.broker.wait_for_max_offset(topic=HALF_TOPIC, offset=number + 1)
        answer = self.broker.pull(topic=HALF_TOPIC, offset=number, max_count=1)
        return records_of(answer)[0]

    def pulled(self, queue_id: int, count: int) -> list[Record]:
        """Return a queue's messages once there are *count*, or more."""
        self.broker.wait_for_max_offset(
            topic=self.topic, queue_id=queue_id, offset=count
        )
        return list(self._records(self.topic, queue_id, 0))

    def notes(self) -> set[int]:
        """Return the numbers that are noted since the first message was sent."""
        if self._log_offset is None:
            return set()
        while True:
            answer = self.broker.view_message(commit_log_offset=self._log_offset)
            if answer.code != ResponseCode.SUCCESS:
                return self._noted
            self._log_offset += len(answer.body)
            record = decode_record(answer.body, check_crc=False)
            if record.topic == OPERATIONS_TOPIC:
                numbers = record.body.decode().split(",")
                self._noted |= {int(number) for number in numbers if number}

    def wait_for_rest(self, timeout_s: float) -> None:
        """Wait until the broker has looked at all half messages for the last time."""
        looks = 0

        def is_at_rest() -> bool:
            nonlocal looks
            looked = self.broker.query_offset(
                group=CHECK_GROUP, topic=HALF_TOPIC, queue_id=0
            )
            end = succeeded(self.broker.max_offset(topic=HALF_TOPIC)).fields["offset"]
            looks = looks + 1 if looked.fields.get("offset") == end else 0
            return looks == LOOKS_AT_REST

        wait_until(is_at_rest, what="nothing is left to ask", timeout_s=timeout_s)

    def given_up(self) -> list[str]:
        """Return the keys of what was given up, of all that was sent from here."""
        records = self._records(GIVEN_UP_TOPIC, 0, 0)
        keys = [decode_properties(one.properties)["UNIQ_KEY"] for one in records]
        return [key for key in keys if key.rpartition("-")[0] == self.topic]

    def _records(self, topic: str, queue_id: int, offset: int) -> Iterator[Record]:
        """Yield a queue's messages; none while there is no such topic."""
        while True:
            answer = self.broker.pull(topic=topic, queue_id=queue_id, offset=offset)
            if answer.code != ResponseCode.SUCCESS:
                return
            records = records_of(answer)
            offset += len(records)
            yield from records
