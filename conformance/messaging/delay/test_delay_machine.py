"""
Messages are delayed, sent back repeatedly, and delivered on time.

The machine reads the whole commit log of the broker. It compares every record with the
model: nothing missing, nothing else, nothing early. On a target with the clock
capability a minute passes in less than a second. A real broker gets short levels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from operator import itemgetter

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from conformance.harness.client.client import Client, require_success
from conformance.harness.client.transcript import Transcript
from conformance.harness.failure.failure import record_evidence
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import (
    charged,
    expect,
    expect_fields,
    expect_that,
)
from conformance.harness.pytest_plugin.fixtures import (
    another_target,
    create_topic,
    need,
    unique_name,
)
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.targets.target import Capability, Target
from conformance.messaging.stored_messages import bodies_of, offset_of, records_from
from conformance.models.delays import DelayedMessage, Delays, Destination
from spec.clause import release_key
from spec.store.message_record import Record, record_size
from spec.wire.message.delay_levels import decode_delay_levels, level_of_queue
from spec.wire.message.message_id import encode_message_id
from spec.wire.message.properties import decode_properties
from spec.wire.message.system_topics import real_place
from spec.wire.message.topic_names import DLQ_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC
from spec.wire.remoting.response_code import ResponseCode

pytestmark = pytest.mark.long

CLOCK_RATE = 100.0
HASTENED_LEVELS = "1s 5s 10s 30s 1m 20s 40s"
SHORT_LEVELS = "1s 2s 1s 2s 1s 3s 1s"
PATIENCE_S = 20.0
FLAG = 5
FIRST = b"first"
"""The body of the message before all others, with which the reading begins."""

levels = st.sampled_from([-1, 0, 1, 2, 3, 4, 6, 8])
"""Delay levels of a producer; there are seven."""
consumer_levels = st.sampled_from([-1, 0, 0, 0, 1, 2, 9])
"""Delay levels of a consumer; mostly 0, with which the broker chooses."""


@pytest.fixture(scope="module")
def swift(pytestconfig: pytest.Config, target: Target) -> Iterator[Target]:
    """Yield a target whose delays are soon over."""
    need(target, Capability.WIRE, Capability.CONFIG)
    is_hastened = Capability.CLOCK in target.capabilities
    text = HASTENED_LEVELS if is_hastened else SHORT_LEVELS
    own = another_target(pytestconfig, {"messageDelayLevel": text})
    own.clock_rate = CLOCK_RATE if is_hastened else 1.0
    with own:
        yield own


class DelayMachine(RuleBasedStateMachine):
    """Sends and hands back messages of a topic with two queues."""

    def __init__(self, target: Target, used: set[str]) -> None:
        """Prepare an example; *used* are the topics of all examples.

        An example that fails leaves messages that are delivered during later ones.
        """
        super().__init__()
        self.earlier = frozenset(used)
        self.target = target
        self.topic = create_topic(target, unique_name("later"), queue_count=2)
        self.group = unique_name("group")
        used |= {self.topic, RETRY_PREFIX + self.group, DLQ_PREFIX + self.group}
        self.model = Delays(
            decode_delay_levels(target.conf["messageDelayLevel"]).delays_ms,
            waits_again=release_key(target.release) < (4, 9, 2),
            forgets=release_key(target.release) < (4, 9),
        )
        with target.connect_to_broker() as broker:
            require_success(broker.update_group(group=self.group))
            first = broker.send_message(topic=self.topic, body=FIRST)
            self.log_offset = offset_of(first)
        self.stored: list[DelayedMessage] = []
        """Messages just sent that are not seen in the log yet."""
        self.records: dict[int, Record] = {}
        """Records that have come, by number."""
        self.all: list[DelayedMessage] = []
        self.expect_stored(self.new(queue_id=0, body=FIRST, level=0))

    def new(self, *, queue_id: int, body: bytes, level: int) -> DelayedMessage:
        """Return a message as a producer sends it."""
        return DelayedMessage(
            number=len(self.all),
            to=Destination(topic=self.topic, queue_id=queue_id),
            body=body,
            reconsume_times=0,
            level=self.model.level(level),
        )

    def teardown(self) -> None:
        """Wait for all that is to come, and pull it."""
        if sys.exception() is not None:
            return
        for number in range(len(self.all)):
            self.wait(number)
        for queue, expected in self.model.come.items():
            if not queue.topic.startswith(DLQ_PREFIX):
                self.compare_pulled(queue, [one.body for one in expected])

    @rule(level=levels, queue_id=st.integers(0, 1))
    def send(self, level: int, queue_id: int) -> None:
        """Send a message, delayed or not."""
        body = b"message %d" % len(self.all)
        with self.target.connect_to_broker() as broker:
            require_success(
                broker.send_message(
                    topic=self.topic,
                    queue_id=queue_id,
                    body=body,
                    flag=FLAG,
                    properties={"DELAY": str(level), "own": "é"},
                )
            )
        self.expect_stored(self.new(queue_id=queue_id, body=body, level=level))

    @rule(
        which=st.integers(0, 20), consumer_level=consumer_levels, most=st.integers(0, 3)
    )
    def send_back(self, which: int, consumer_level: int, most: int) -> None:
        """Hand back something once it has come, perhaps not for the first time."""
        one = self.all[-1 - which % len(self.all)]
        record = self.wait(one.number)
        with self.target.connect_to_broker() as broker:
            require_success(
                broker.send_back(
                    group=self.group,
                    commit_log_offset=record.physical_offset,
                    delay_level=consumer_level,
                    origin_topic=self.topic,
                    max_reconsume_times=most,
                )
            )
        message_id = encode_message_id(record.store_host, record.physical_offset)
        back = self.model.sent_back(
            one,
            number=len(self.all),
            group=self.group,
            consumer_level=consumer_level,
            most=most,
            message_id=message_id,
        )
        self.expect_stored(back)

    @rule(which=st.integers(0, 20))
    def wait_for_one(self, which: int) -> None:
        """Wait for something to come."""
        self.wait(self.all[which % len(self.all)].number)

    def wait(self, number: int) -> Record:
        """Wait until the message of this number has come; return its record."""

        def has_come() -> bool:
            self.read_log()
            return number in self.records

        self.comes_true("DELAY-SEND-001", has_come, f"{self.all[number]} comes")
        return self.records[number]

    def expect_stored(self, one: DelayedMessage) -> None:
        """Read the log until *one* is there, waiting or where it belongs."""
        self.stored.append(one)
        self.all.append(one)

        def is_stored() -> bool:
            self.read_log()
            return not self.stored

        self.comes_true(self.clause_of(one), is_stored, f"{one} is stored")

    def read_log(self) -> None:
        """Compare what is new in the commit log with what is expected."""
        with self.target.connect_to_broker() as broker:
            for record in records_from(broker, self.log_offset):
                self.log_offset = record.physical_offset + record_size(record)
                self.check_record(record, broker.transcript)

    def check_record(self, record: Record, transcript: Transcript) -> None:
        """Find the message of a record, and check that the record may be there."""
        to, level = Destination(topic=record.topic, queue_id=record.queue_id), 0
        if record.topic == SCHEDULE_TOPIC:
            with charged("STORE-SYSTOPIC-001", transcript):
                real = real_place(decode_properties(record.properties))
            to = Destination(topic=real.topic, queue_id=real.queue_id)
            level = level_of_queue(record.queue_id)
        if to.topic in self.earlier:
            return
        one = next((o for o in self.stored if _is(o, record, to)), None)
        if not level and (one is None or one.level):
            self.has_waited(record, to, transcript)
        elif one is not None:
            self.is_stored(one, record, level, transcript)
        else:
            expect(
                "DELAY-SEND-006",
                found=f"{record.body!r} for {to}",
                expected="-",
                transcript=transcript,
            )

    def is_stored(
        self, one: DelayedMessage, record: Record, level: int, transcript: Transcript
    ) -> None:
        """Compare how what was just sent is stored with how it must be."""
        stated = decode_properties(record.properties).get("DELAY")
        expect(
            self.clause_of(one),
            found=(level, stated if one.level else "-"),
            expected=(one.level, str(one.level) if one.level else "-"),
            what=f"level, and DELAY, at which waits {one}",
            transcript=transcript,
        )
        self.stored.remove(one)
        if level:
            self.model.wait(one, stored_at_ms=record.stored_at_ms)
        else:
            self.has_come(one, record, transcript)

    def has_waited(
        self, record: Record, to: Destination, transcript: Transcript
    ) -> None:
        """Compare what has come with the first that waited at its level.

        Its level is its DELAY, or without one that of the message due first.
        """
        queues = [queue for queue in self.model.waiting.values() if queue]
        stated = decode_properties(record.properties).get("DELAY")
        is_level = any(stated == str(queue[0][0].level) for queue in queues)
        firsts = sorted((queue[0] for queue in queues), key=itemgetter(1))
        found = [
            (one, due_at_ms)
            for one, due_at_ms in firsts
            if _is(one, record, to) and (stated == str(one.level) or not is_level)
        ]
        expect_that(
            self.clause_of(self.stored[0]) if self.stored else "DELAY-SEND-006",
            bool(found),
            found=f"{record.body!r} in {to} of level {stated}",
            expected=f"one of {[one for one, _ in firsts]}",
            what="what comes next",
            transcript=transcript,
        )
        one, due_at_ms = found[0]
        self.model.waiting[one.level].pop(0)
        expect(
            "DELAY-SEND-002",
            found=stated,
            expected=str(one.level),
            what=f"DELAY of the delivered {one}",
            evidence=record_evidence(record, "properties"),
            transcript=transcript,
        )
        expect_that(
            "DELAY-LEVEL-006",
            record.stored_at_ms >= due_at_ms,
            found=record.stored_at_ms,
            expected=f"{due_at_ms} or later",
            what=f"when a message of level {one.level} has come",
            transcript=transcript,
        )
        self.has_come(one, record, transcript)

    def clause_of(self, one: DelayedMessage) -> str:
        """Return the clause about the first place of *one*."""
        if one.to.topic.startswith(DLQ_PREFIX):
            if self.model.waits_again:
                return "RETRY-DLQ-004" if one.level else "RETRY-DLQ-001"
            return "RETRY-DLQ-005"
        if one.reconsume_times:
            return "RETRY-SENDBACK-004"
        return "DELAY-LEVEL-005" if one.level else "DELAY-LEVEL-003"

    def has_come(
        self, one: DelayedMessage, record: Record, transcript: Transcript
    ) -> None:
        """Compare a record in its own queue with what was sent."""
        self.model.arrive(one)
        self.records[one.number] = record
        properties = decode_properties(record.properties)
        if one.body != FIRST:
            expect_fields(
                "RETRY-SENDBACK-001" if one.reconsume_times else "DELAY-SEND-001",
                found={"flag": record.flag, "own": properties.get("own")},
                expected={"flag": FLAG, "own": "é"},
                transcript=transcript,
            )
        if one.level:
            real = {"REAL_TOPIC": one.to.topic, "REAL_QID": str(one.to.queue_id)}
            expect_fields(
                "DELAY-SEND-003",
                found=properties,
                expected=real,
                evidence=record_evidence(record, "properties"),
                transcript=transcript,
            )
        if one.first_topic is not None:
            expect_fields(
                "RETRY-SENDBACK-005",
                found=properties,
                expected={"RETRY_TOPIC": one.first_topic},
                transcript=transcript,
            )
            expect(
                "RETRY-SENDBACK-005" if one.first_id else "RETRY-DLQ-006",
                found=properties.get("ORIGIN_MESSAGE_ID"),
                expected=one.first_id,
                what="ORIGIN_MESSAGE_ID",
                transcript=transcript,
            )

    def compare_pulled(self, queue: Destination, expected: list[bytes]) -> None:
        """Pull a whole queue and compare it with what has come."""
        with self.target.connect_to_broker() as broker:
            broker.wait_for_max_offset(
                topic=queue.topic, queue_id=queue.queue_id, offset=len(expected)
            )
            found = pulled(broker, queue)
        expect(
            "DELAY-SEND-001",
            found=found,
            expected=expected,
            what=f"in {queue}",
            transcript=broker.transcript,
        )

    def comes_true(self, clause: str, condition: Callable[[], bool], what: str) -> None:
        """Fail *clause* unless a condition comes true in time."""
        try:
            wait_until(condition, what=what, timeout_s=PATIENCE_S)
        except TooLateError as late:
            expect(clause, found=str(late), expected=what)


def pulled(broker: Client, queue: Destination) -> list[bytes]:
    """Return the bodies of a whole queue."""
    found: list[bytes] = []
    while True:
        response = broker.pull(
            topic=queue.topic, queue_id=queue.queue_id, offset=len(found)
        )
        if response.code != ResponseCode.SUCCESS:
            return found
        found += bodies_of(response)


def _is(one: DelayedMessage, record: Record, to: Destination) -> bool:
    """Return whether *record* can be *one*, that goes *to* some queue."""
    found = (to, record.body, record.reconsume_times)
    return found == (one.to, one.body, one.reconsume_times)


@pytest.mark.clause(
    "DELAY-SEND-001",
    "DELAY-SEND-002",
    "DELAY-SEND-003",
    "DELAY-SEND-006",
    "DELAY-LEVEL-003",
    "DELAY-LEVEL-005",
    "DELAY-LEVEL-006",
    "STORE-SYSTOPIC-001",
    "RETRY-SENDBACK-001",
    "RETRY-SENDBACK-004",
    "RETRY-SENDBACK-005",
    "RETRY-DLQ-001",
    "RETRY-DLQ-004",
    "RETRY-DLQ-005",
    "RETRY-DLQ-006",
)
def test_what_comes_later_does_what_lists_do(
    swift: Target, pytestconfig: pytest.Config
) -> None:
    used: set[str] = set()
    run_machine(pytestconfig, lambda: DelayMachine(swift, used), examples=8, steps=14)
