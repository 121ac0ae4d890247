"""
Two groups of producers, and everything that can be seen of their half messages.

The producers are members from the beginning. They receive every check request of a
broker that checks without pause.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.harness.client.client import request, require_success
from conformance.harness.client.requests.invoker import FieldValue
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import create_topic, unique_name
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import records_of
from conformance.messaging.transactions.half import send_half
from conformance.messaging.transactions.transaction_checks import join, old
from conformance.models.transactions import HalfMessage, Place
from spec.store.message_record import Record, decode_record
from spec.wire.message.properties import decode_properties
from spec.wire.message.topic_names import (
    HALF_TOPIC,
    OP_TOPIC,
    TRANS_CHECK_MAX_TIME_TOPIC,
    TRANSACTION_CHECK_GROUP,
)
from spec.wire.message.transactions import Decision
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

RESTLESS = {
    "transactionTimeOut": "3000",
    "transactionCheckMax": "1000000",
    "transactionOpMsgMaxSize": "1",
}
"""A broker that checks until it has a decision; the target decides the interval."""
LOOKS_AT_REST = 3
"""Number of checks after which a broker counts as idle: queues fill a little late."""
SOON_S = 0.001
OWN = {"TAGS": "t", "own": "é"}
"""Properties that every half message has from its producer."""
FLAG = 9


def restless_settings(target: Target) -> dict[str, str]:
    """Return the settings of a broker like *target* that checks without pause."""
    interval_ms = "50" if Capability.CLOCK in target.capabilities else "200"
    return {**RESTLESS, "transactionCheckInterval": interval_ms}


class ProducerGroups:
    """A topic with two queues, two groups, and a connection to their broker."""

    def __init__(self, target: Target) -> None:
        self.topic = create_topic(target, unique_name("machine"), queue_count=2)
        self.broker = target.connect_to_broker()
        self.members = {
            unique_name("producers"): target.connect_to_broker() for _ in range(2)
        }
        self.groups = list(self.members)
        for group, member in self.members.items():
            join(member, group)
        self._log_offset: int | None = None
        self._noted: set[int] = set()

    def close(self) -> None:
        """Close all connections."""
        for client in (self.broker, *self.members.values()):
            client.close()

    def key(self, number: int) -> str:
        """Return the unique key of a half message that is sent from here."""
        return f"{self.topic}-{number}"

    def send(self, key: str, group: str, *, queue_id: int, body: bytes) -> HalfMessage:
        """Send a half message that is old enough to be checked."""
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
        """Decide what lies at *place*; return the response, or the oneway request."""
        return self.broker.end_transaction(
            group=group,
            commit_log_offset=place.commit_log_offset,
            queue_offset=place.queue_offset,
            decision=decision,
            message_id="",
            oneway=oneway,
            from_check=from_check,
        )

    def end_unknown(self, half: HalfMessage) -> None:
        """Send END_TRANSACTION with type unknown, oneway."""
        fields: dict[str, FieldValue] = {
            "producerGroup": half.group,
            "tranStateTableOffset": half.places[-1].queue_offset,
            "commitLogOffset": half.places[-1].commit_log_offset,
            "commitOrRollback": int(Decision.UNKNOWN),
            "fromTransactionCheck": False,
            "msgId": half.key,
        }
        command = request(RequestCode.END_TRANSACTION, fields)
        self.broker.peer.send(command)

    def questions(self) -> Iterator[tuple[str, Command]]:
        """Yield the check requests received so far, with the group of each."""
        for group, member in self.members.items():
            while not member.peer.is_silent(SOON_S):
                code = RequestCode.CHECK_TRANSACTION_STATE
                yield group, member.peer.receive_request(code)

    def late_questions(self) -> Iterator[tuple[str, Command]]:
        """Yield all check requests that a broker at rest has sent."""
        for member in self.members.values():
            require_success(member.max_offset(topic=self.topic))
        yield from self.questions()

    def record_at(self, place: Place) -> Record:
        """Return the record at *place*."""
        response = self.broker.view_message(commit_log_offset=place.commit_log_offset)
        return decode_record(require_success(response).body)

    def half_topic_at(self, place: Place) -> Record:
        """Pull what the half topic has at *place*."""
        number = place.queue_offset
        self.broker.wait_for_max_offset(topic=HALF_TOPIC, offset=number + 1)
        response = self.broker.pull(topic=HALF_TOPIC, offset=number, max_count=1)
        return records_of(response)[0]

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
            response = self.broker.view_message(commit_log_offset=self._log_offset)
            if response.code != ResponseCode.SUCCESS:
                return self._noted
            self._log_offset += len(response.body)
            record = decode_record(response.body, check_crc=False)
            if record.topic == OP_TOPIC:
                numbers = record.body.decode().split(",")
                self._noted |= {int(number) for number in numbers if number}

    def wait_for_rest(self, timeout_s: float) -> None:
        """Wait until the broker has checked all half messages for the last time."""
        looks = 0

        def is_at_rest() -> bool:
            nonlocal looks
            looked = self.broker.query_offset(
                group=TRANSACTION_CHECK_GROUP, topic=HALF_TOPIC, queue_id=0
            )
            end = require_success(self.broker.max_offset(topic=HALF_TOPIC)).fields[
                "offset"
            ]
            looks = looks + 1 if looked.fields.get("offset") == end else 0
            return looks == LOOKS_AT_REST

        wait_until(is_at_rest, what="nothing is left to ask", timeout_s=timeout_s)

    def given_up(self) -> list[str]:
        """Return the keys of what was given up, of all that was sent from here."""
        records = self._records(TRANS_CHECK_MAX_TIME_TOPIC, 0, 0)
        keys = [decode_properties(one.properties)["UNIQ_KEY"] for one in records]
        return [key for key in keys if key.rpartition("-")[0] == self.topic]

    def _records(self, topic: str, queue_id: int, offset: int) -> Iterator[Record]:
        """Yield a queue's messages; none while there is no such topic."""
        while True:
            response = self.broker.pull(topic=topic, queue_id=queue_id, offset=offset)
            if response.code != ResponseCode.SUCCESS:
                return
            records = records_of(response)
            offset += len(records)
            yield from records
