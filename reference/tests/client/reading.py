"""A consumer whose name server and brokers are played by hand."""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.consumer.push_consumer import PushConsumer
from reference.core.client.effects import DeliverMessages
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.tests.client.routes import route_of
from reference.tests.client.world import Question, World
from spec.routing.route_data import encode_route
from spec.store.message_record import Record, encode_record
from spec.wire.bodies.heartbeat import GetConsumerListByGroupResponseBody
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.consumer.queue_locks import LockBatchRequestBody, LockBatchResponseBody
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

SEND = RequestCode.SEND_MESSAGE_V2
COMMIT, BACK, LEAVE = 15, 36, 35
NOT_FOUND_OFFSET = 22

Place = tuple[str, int]
"""A topic and a queue's number."""


class Reading:
    """A consumer that is alone in its group, unless `members` has others."""

    def __init__(self, *, count: int = 1, **options: object) -> None:
        self.world = World()
        given: dict[str, object] = {
            "group": "g",
            "client_id": "me",
            "topic": "T",
            **options,
        }
        self.consumer = PushConsumer(
            ConsumerOptions(**given),  # type: ignore[arg-type] # tests know the names
            self.world.client,
        )
        self.members = ["me"]
        self.committed: dict[Place, int] = {}
        self.ends: dict[Place, int] = {}
        self.found: dict[Place, int] = {}
        """Results of a search by time."""
        self.route = route_of("a", count=count)
        self.held: set[int] = set()
        """Numbers of queues that another client has locked."""
        self.searched: int | None = None
        """The time for which an offset was searched."""
        self.pulls: list[Question] = []
        self.others: list[Question] = []
        self.refuses: set[int] = set()
        """Codes of requests that are answered SYSTEM_ERROR."""

    def start(self) -> None:
        """Start the consumer and answer its requests, until it pulls."""
        self.consumer.start()
        self.go_on()

    def go_on(self) -> None:
        """Answer the requests of the consumer, except pulls."""
        while requests := self.world.questions():
            for question in requests:
                self._response(question)

    def pull(self) -> Question:
        """Return the oldest pull that waits."""
        return self.pulls.pop(0)

    def _response(self, question: Question) -> None:
        code, fields = question.command.code, question.command.fields
        place = fields.get("topic", ""), int(fields.get("queueId", 0))
        responses = {
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self._send_members,
            RequestCode.QUERY_CONSUMER_OFFSET: self._send_committed,
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self._send_route,
            RequestCode.LOCK_BATCH_MQ: self._lock,
        }
        if code in responses:
            responses[RequestCode(code)](question, place)
        elif code == RequestCode.GET_MAX_OFFSET:
            self.world.response(question, 0, {"offset": str(self.ends.get(place, 0))})
        elif code == RequestCode.SEARCH_OFFSET_BY_TIMESTAMP:
            self.searched = int(fields["timestamp"])
            self.world.response(question, 0, {"offset": str(self.found[place])})
        elif code == RequestCode.PULL_MESSAGE:
            self.pulls.append(question)
        else:
            self.others.append(question)
            if not question.command.is_response:
                self.world.response(question, int(code in self.refuses))

    def _send_route(self, question: Question, place: Place) -> None:
        known = place[0] == "T"
        body = encode_route(self.route) if known else b""
        self.world.response(question, 0 if known else 17, body=body)

    def _lock(self, question: Question, _: Place) -> None:
        sent = decode_body(LockBatchRequestBody, question.command.body)
        granted = tuple(one for one in sent.queues if one.queue_id not in self.held)
        self.world.response(
            question, body=encode_body(LockBatchResponseBody(queues=granted))
        )

    def _send_members(self, question: Question, _: Place) -> None:
        body = encode_body(
            GetConsumerListByGroupResponseBody(client_ids=tuple(self.members))
        )
        self.world.response(question, body=body)

    def _send_committed(self, question: Question, place: Place) -> None:
        if place in self.committed:
            self.world.response(question, 0, {"offset": str(self.committed[place])})
        else:
            self.world.response(question, NOT_FOUND_OFFSET)

    def find(self, question: Question, *records: Record, suggested: int = 0) -> None:
        """Answer a pull with *records*."""
        self.respond_to_pull(
            question, 0, records[-1].queue_offset + 1, records, suggested
        )

    def respond_to_pull(
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
        self.world.response(question, code, fields, body)

    def sent(self, code: int) -> list[Command]:
        """Return the requests sent with *code* so far."""
        return [one.command for one in self.others if one.command.code == code]

    def handle(
        self,
        queue: MessageQueue,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt] = (),
    ) -> None:
        """Be the application that is done with *messages*."""
        pull_loop = self.consumer.pull_loop
        pull_loop.process_consume_result(queue, messages, failed=failed)

    def delivered(self) -> list[DeliverMessages]:
        """Return the deliveries to the application, after answering requests."""
        self.go_on()
        found = self.world.delivered
        self.world.delivered = []
        return found


def record(offset: int, body: bytes = b"x", tag: str = "", flags: int = 0) -> Record:
    """Return a message as the one queue of the topic has it."""
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
    """Return the offset of a pull."""
    return int(question.command.fields["queueOffset"])
