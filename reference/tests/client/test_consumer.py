"""A consumer's conversation with its name server and brokers, played by hand."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import pyarrow
import pytest

from reference.core.client.asking import Deliver
from reference.core.client.consumer import Consumer, ConsumerOptions
from reference.core.client.inflating import inflated
from reference.core.client.message import Queue
from reference.core.client.pulling import Received
from reference.core.client.subscription import subscription_of, wants
from reference.tests.client.making import route_of
from reference.tests.client.world import Question, World
from spec.layout import LayoutError
from spec.routing.route_data import encode_route
from spec.store.message_record import Record, SystemFlag, encode_record
from spec.wire.command import Command, CommandFlag
from spec.wire.heartbeat import GroupMembers, Heartbeat
from spec.wire.json_body import decode_body, encode_body
from spec.wire.properties import encode_properties
from spec.wire.queue_locks import LockedQueues, QueueLocks
from spec.wire.request_code import RequestCode

SEND = RequestCode.SEND_MESSAGE_V2
COMMIT, BACK, LEAVE, IDS_CHANGED, UNLOCK = 15, 36, 35, 40, 42
NOT_FOUND_OFFSET = 22

Place = tuple[str, int]
"""A topic and a queue's number."""


class Reading:
    """A consumer in a world where it is known and alone, unless told otherwise."""

    def __init__(self, *, count: int = 1, **options: object) -> None:
        self.world = World()
        given: dict[str, object] = {
            "group": "g",
            "client_id": "me",
            "topic": "T",
            **options,
        }
        self.consumer = Consumer(
            ConsumerOptions(**given),  # type: ignore[arg-type] # tests know the names
            asker=self.world.asker,
            routes=self.world.routes,
            now_ms=self.world.now_ms,
        )
        self.members = ["me"]
        self.committed: dict[Place, int] = {}
        self.ends: dict[Place, int] = {}
        self.found: dict[Place, int] = {}
        """What a search by time finds."""
        self.route = route_of("a", count=count)
        self.held: set[int] = set()
        """Numbers of queues that somebody else has locked."""
        self.searched: int | None = None
        """The time for which an offset was searched."""
        self.pulls: list[Question] = []
        self.others: list[Question] = []
        self.refuses: set[int] = set()
        """Codes of requests that are answered SYSTEM_ERROR."""

    def start(self) -> None:
        """Start the consumer and answer all it asks, until it pulls."""
        self.consumer.start(self.world.now_ms)
        self.go_on()

    def go_on(self) -> None:
        """Answer whatever the consumer asks, but for pulls."""
        while asked := self.world.questions():
            for question in asked:
                self._answer(question)

    def pull(self) -> Question:
        """Return the oldest pull that waits."""
        return self.pulls.pop(0)

    def _answer(self, question: Question) -> None:
        code, fields = question.command.code, question.command.fields
        place = fields.get("topic", ""), int(fields.get("queueId", 0))
        answers = {
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self._say_members,
            RequestCode.QUERY_CONSUMER_OFFSET: self._say_committed,
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self._say_route,
            RequestCode.LOCK_BATCH_MQ: self._lock,
        }
        if code in answers:
            answers[RequestCode(code)](question, place)
        elif code == RequestCode.GET_MAX_OFFSET:
            self.world.answer(question, 0, {"offset": str(self.ends.get(place, 0))})
        elif code == RequestCode.SEARCH_OFFSET_BY_TIMESTAMP:
            self.searched = int(fields["timestamp"])
            self.world.answer(question, 0, {"offset": str(self.found[place])})
        elif code == RequestCode.PULL_MESSAGE:
            self.pulls.append(question)
        else:
            self.others.append(question)
            if not question.command.is_response:
                self.world.answer(question, int(code in self.refuses))

    def _say_route(self, question: Question, place: Place) -> None:
        known = place[0] == "T"
        body = encode_route(self.route) if known else b""
        self.world.answer(question, 0 if known else 17, body=body)

    def _lock(self, question: Question, _: Place) -> None:
        asked = decode_body(QueueLocks, question.command.body)
        granted = tuple(one for one in asked.queues if one.queue_id not in self.held)
        self.world.answer(question, body=encode_body(LockedQueues(queues=granted)))

    def _say_members(self, question: Question, _: Place) -> None:
        body = encode_body(GroupMembers(client_ids=tuple(self.members)))
        self.world.answer(question, body=body)

    def _say_committed(self, question: Question, place: Place) -> None:
        if place in self.committed:
            self.world.answer(question, 0, {"offset": str(self.committed[place])})
        else:
            self.world.answer(question, NOT_FOUND_OFFSET)

    def find(self, question: Question, *records: Record, suggested: int = 0) -> None:
        """Answer a pull with *records*."""
        self.tell(question, 0, records[-1].queue_offset + 1, records, suggested)

    def tell(
        self,
        question: Question,
        code: int,
        next_offset: int,
        records: tuple[Record, ...] = (),
        suggested: int = 0,
    ) -> None:
        """Answer a pull with *code*."""
        fields = {
            "nextBeginOffset": str(next_offset),
            "minOffset": "0",
            "maxOffset": "100",
            "suggestWhichBrokerId": str(suggested),
        }
        body = b"".join(encode_record(record) for record in records)
        self.world.answer(question, code, fields, body)

    def handle(
        self,
        queue: Queue,
        messages: Sequence[Received],
        failed: Sequence[Received] = (),
    ) -> None:
        """Be the application that is done with *messages*."""
        reader = self.consumer.reader
        reader.handled(queue, messages, failed=failed, now_ms=self.world.now_ms)

    def delivered(self) -> list[Deliver]:
        """Return what the application was given, and answer what was asked."""
        self.go_on()
        found = self.world.delivered
        self.world.delivered = []
        return found


def record(offset: int, body: bytes = b"x", tag: str = "", flags: int = 0) -> Record:
    properties = encode_properties({"TAGS": tag} if tag else {})
    return Record(
        topic="T",
        queue_id=0,
        queue_offset=offset,
        physical_offset=1000 + offset,
        body=body,
        properties=properties,
        system_flags=flags,
    )


def offset_of(question: Question) -> int:
    return int(question.command.fields["queueOffset"])


def test_a_consumer_joins_shares_and_pulls() -> None:
    reading = Reading(count=2)
    reading.start()
    says = decode_body(Heartbeat, reading.others[0].command.body)
    assert [one.topic for one in says.consumers[0].subscriptions] == ["T", "%RETRY%g"]
    queues = [Queue("T", "a", 0), Queue("T", "a", 1)]
    assert reading.consumer.reader.queues == queues
    assert len(reading.pulls) == 2


def test_it_takes_its_share_only() -> None:
    reading = Reading(count=3)
    reading.members = ["aaa", "me"]
    reading.start()
    assert reading.consumer.reader.queues == [Queue("T", "a", 2)]


def test_who_is_not_named_as_a_member_takes_nothing() -> None:
    reading = Reading()
    reading.members = ["other"]
    reading.start()
    assert reading.consumer.reader.queues == []


@pytest.mark.parametrize(
    ("committed", "from_first", "expected"),
    [(5, False, 5), (None, False, 9), (None, True, 0)],
)
def test_a_queue_begins_where_the_group_was_or_as_it_is_told(
    committed: int | None, from_first: bool, expected: int
) -> None:
    reading = Reading(from_first=from_first)
    reading.ends["T", 0] = 9
    if committed is not None:
        reading.committed["T", 0] = committed
    reading.start()
    assert offset_of(reading.pull()) == expected


def test_a_queue_begins_at_a_time() -> None:
    reading = Reading(from_time_ms=1234)
    reading.found["T", 0] = 7
    reading.start()
    assert offset_of(reading.pull()) == 7
    assert reading.searched == 1234


def test_it_pulls_ahead_and_commits_what_is_handled() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    assert [one.record.queue_offset for one in delivery.messages] == [0, 1]
    pull = reading.pull()
    assert offset_of(pull) == 2
    assert not int(pull.command.fields["sysFlag"]) & 1
    reading.handle(delivery.queue, delivery.messages[:1])
    reading.find(pull, record(2))
    reading.go_on()
    pull = reading.pull()
    assert pull.command.fields["commitOffset"] == "1"
    assert int(pull.command.fields["sysFlag"]) & 1


def test_it_starts_over_where_the_queue_does() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(50))
    (delivery,) = reading.delivered()
    reading.tell(reading.pull(), 21, 0)
    reading.go_on()
    reading.find(reading.pull(), record(0), record(0))
    (again,) = reading.delivered()
    reading.handle(again.queue, again.messages)
    reading.handle(delivery.queue, ())
    reading.world.wait(5000)
    reading.go_on()
    (commit,) = [one.command for one in reading.others if one.command.code == COMMIT]
    assert commit.fields["commitOffset"] == "1"


def test_it_waits_while_the_application_is_far_behind() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), *(record(offset) for offset in range(1001)))
    (delivery,) = reading.delivered()
    assert reading.pulls == []
    reading.handle(delivery.queue, delivery.messages[:1])
    reading.world.wait(50)
    reading.go_on()
    assert offset_of(reading.pull()) == 1001


@pytest.mark.parametrize("code", [19, 20, 21])
def test_without_messages_it_goes_on_where_it_is_told(code: int) -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.tell(reading.pull(), code, 42)
    assert reading.delivered() == []
    assert offset_of(reading.pull()) == 42


def test_after_an_error_it_pulls_again_in_three_seconds() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.world.answer(reading.pull(), 1)
    reading.world.wait(2999)
    reading.go_on()
    assert reading.pulls == []
    reading.world.wait(1)
    reading.go_on()
    assert offset_of(reading.pull()) == 0


def test_a_slave_is_asked_where_it_is_suggested_and_told_no_offset() -> None:
    reading = Reading(from_first=True)
    addresses = {0: "master:1", 1: "slave:1"}
    (data,) = reading.route.broker_datas
    broker = replace(data, addresses=addresses)
    reading.route = replace(reading.route, broker_datas=(broker,))
    reading.start()
    first = reading.pull()
    reading.find(first, record(0), suggested=1)
    reading.go_on()
    second = reading.pull()
    assert (first.address, second.address) == ("master:1", "slave:1")
    assert not int(second.command.fields["sysFlag"]) & 1


def test_tags_of_the_same_hash_are_told_apart() -> None:
    reading = Reading(from_first=True, expression="Aa || C")
    reading.start()
    reading.find(reading.pull(), record(0, tag="Aa"), record(1, tag="BB"), record(2))
    (delivery,) = reading.delivered()
    assert [one.properties for one in delivery.messages] == [{"TAGS": "Aa"}]


def test_a_compressed_body_is_inflated() -> None:
    reading = Reading(from_first=True)
    reading.start()
    body = zlib.compress(b"hello")
    reading.find(reading.pull(), record(0, body, flags=SystemFlag.COMPRESSED))
    (delivery,) = reading.delivered()
    (message,) = delivery.messages
    assert isinstance(message, Received)
    assert message.body == b"hello"


@pytest.mark.parametrize(("method", "codec"), [(1, "lz4"), (2, "zstd")])
def test_a_body_is_inflated_by_the_method_that_its_flags_name(
    method: int, codec: str
) -> None:
    body = pyarrow.compress(b"hello", codec=codec, asbytes=True)
    assert inflated(body, method << 8 | SystemFlag.COMPRESSED) == b"hello"


@pytest.mark.parametrize("method", [0, 1, 2, 3, 7])
def test_a_body_that_cannot_be_inflated_is_an_error_of_layout(method: int) -> None:
    with pytest.raises(LayoutError, match=r"inflated|unknown method"):
        inflated(b"hello", method << 8 | SystemFlag.COMPRESSED)


def test_what_failed_is_handed_back() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages, failed=delivery.messages[1:])
    reading.go_on()
    back = [one.command for one in reading.others if one.command.code == BACK]
    assert [one.fields["offset"] for one in back] == ["1001"]
    assert back[0].fields["maxReconsumeTimes"] == "16"


@pytest.mark.parametrize("refuses", [{BACK}, {BACK, SEND}])
def test_what_is_not_taken_back_is_sent_anew_or_stays(refuses: set[int]) -> None:
    reading = Reading(from_first=True)
    reading.refuses = refuses
    reading.start()
    reading.world.routes.keep("%RETRY%g", reading.route)
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages, failed=delivery.messages[:1])
    reading.go_on()
    (sent,) = [one.command for one in reading.others if one.command.code == SEND]
    assert (sent.fields["b"], sent.fields["j"]) == ("%RETRY%g", "1")
    reading.world.wait(5000)
    again = reading.delivered()
    assert [one.messages[0].record.reconsume_times for one in again] == [1] * (
        len(refuses) - 1
    )


def test_offsets_are_committed_every_five_seconds_and_at_the_end() -> None:
    reading = Reading(from_first=True)
    reading.start()
    reading.tell(reading.pull(), 19, 3)
    reading.go_on()
    reading.world.wait(5000)
    reading.go_on()
    reading.tell(reading.pull(), 19, 4)
    reading.go_on()
    reading.consumer.stop(reading.world.now_ms)
    reading.go_on()
    commits = [one.command for one in reading.others if one.command.code == COMMIT]
    assert [one.fields["commitOffset"] for one in commits] == ["3", "4"]
    assert all(one.is_oneway for one in commits)
    assert reading.others[-1].command.code == LEAVE
    assert reading.world.asker.is_idle


def test_a_word_of_the_broker_makes_it_share_anew() -> None:
    reading = Reading(count=2)
    reading.start()
    reading.members = ["me", "you"]
    fields = {"consumerGroup": "g"}
    told = Command(code=IDS_CHANGED, flag=CommandFlag.ONE_WAY, fields=fields)
    reading.world.receive("a:10911", told)
    reading.go_on()
    assert reading.consumer.reader.queues == [Queue("T", "a", 0)]


def test_a_queue_that_is_gone_is_pulled_no_more() -> None:
    reading = Reading(count=1, from_first=True)
    reading.start()
    pull = reading.pull()
    reading.members = ["aaa", "me"]
    reading.consumer.rebalance(reading.world.now_ms)
    reading.go_on()
    reading.find(pull, record(0))
    assert reading.delivered() == []
    assert reading.pulls == []


def test_in_broadcasting_every_queue_is_ours_and_no_broker_keeps_offsets() -> None:
    reading = Reading(count=2, broadcasts=True, from_first=True)
    reading.members = []
    reading.start()
    assert len(reading.pulls) == 2
    reading.tell(reading.pull(), 19, 3)
    reading.go_on()
    reading.world.wait(5000)
    reading.go_on()
    assert [one for one in reading.others if one.command.code == COMMIT] == []


def test_an_unknown_question_is_answered_with_code_3() -> None:
    reading = Reading()
    reading.start()
    reading.world.receive("a:10911", Command(code=999, opaque=77))
    (answer,) = reading.world.questions()
    assert (answer.command.code, answer.command.opaque) == (3, 77)
    assert answer.command.is_response


def test_an_expression_is_taken_apart() -> None:
    found = subscription_of("T", " A||B ||  || A", version=1)
    assert found.tags == ("A", "B")
    assert found.codes == (65, 66)
    assert not wants(found, {})
    assert wants(subscription_of("T", "*", version=1), {})


def test_in_order_only_locked_queues_are_read() -> None:
    reading = Reading(count=2, in_order=True, from_first=True)
    reading.held = {0}
    reading.start()
    assert reading.consumer.reader.queues == [Queue("T", "a", 1)]
    assert len(reading.pulls) == 1
    reading.held = set()
    reading.world.wait(20_000)
    reading.go_on()
    assert len(reading.pulls) == 2


def test_in_order_a_queue_that_cannot_be_locked_again_is_left() -> None:
    reading = Reading(in_order=True, from_first=True)
    reading.start()
    pull = reading.pull()
    reading.consumer.reader.lock_all(reading.world.now_ms)
    reading.go_on()
    assert len(reading.consumer.reader.queues) == 1
    reading.held = {0}
    reading.consumer.reader.lock_all(reading.world.now_ms)
    reading.go_on()
    assert reading.consumer.reader.queues == []
    reading.find(pull, record(0))
    assert reading.delivered() == []


def test_in_order_what_failed_comes_first_again() -> None:
    reading = Reading(in_order=True, from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0), record(1))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages[:1], failed=delivery.messages[:1])
    reading.world.wait(999)
    assert reading.delivered() == []
    assert reading.pulls == []
    reading.world.wait(1)
    (again,) = reading.delivered()
    assert [one.record.reconsume_times for one in again.messages] == [1]
    assert [one.record.queue_offset for one in again.messages] == [0]
    reading.handle(delivery.queue, delivery.messages)
    reading.go_on()
    assert offset_of(reading.pull()) == 2


def test_in_order_a_queue_is_unlocked_at_the_end_after_its_offset() -> None:
    reading = Reading(in_order=True, from_first=True)
    reading.start()
    reading.find(reading.pull(), record(0))
    (delivery,) = reading.delivered()
    reading.handle(delivery.queue, delivery.messages)
    reading.go_on()
    reading.consumer.stop(reading.world.now_ms)
    reading.go_on()
    last = [one.command.code for one in reading.others][-3:-1]
    assert last == [COMMIT, UNLOCK]
