"""A lite pull consumer whose name server and brokers are played by hand."""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.client.message import MessageQueue
from reference.core.client.options import LiteOptions
from reference.core.client.pull.lite_pull_consumer import LitePullConsumer
from reference.core.client.pull.message_ext import MessageExt
from reference.tests.client.reading import record
from reference.tests.client.routes import route_of
from reference.tests.client.world import Call, Question, World
from spec.routing.route_data import encode_route
from spec.store.message_record import encode_record
from spec.wire.bodies.heartbeat import GetConsumerListByGroupResponseBody
from spec.wire.bodies.json_body import encode_body
from spec.wire.remoting.request_code import RequestCode

QUEUE, OTHER = MessageQueue("T", "a", 0), MessageQueue("T", "a", 1)
FOUND, NOT_FOUND, OFFSET_MOVED, NO_OFFSET = 0, 19, 21, 22
COMMIT = RequestCode.UPDATE_CONSUMER_OFFSET


class Polling:
    """A consumer in a world where its topic has two queues, with 100 messages each."""

    def __init__(
        self, persisted: Mapping[MessageQueue, int] | None = None, **options: object
    ) -> None:
        self.world = World()
        given: dict[str, object] = {"group": "g", "client_id": "me", **options}
        self.world.client.local_offsets.update(persisted or {})
        self.consumer = LitePullConsumer(
            LiteOptions(**given),  # type: ignore[arg-type] # tests know the names
            self.world.client,
        )
        self.members = ["me"]
        self.committed: int | None = 5
        """The committed offset of each queue at brokers."""
        self.refuses: set[int] = set()
        """Codes of requests that are answered SYSTEM_ERROR."""
        self.pulls: list[Question] = []
        self.others: list[Question] = []
        self.consumer.start()

    def subscribed(self, expression: str = "*") -> Polling:
        """Return this one, subscribed and with its assigned."""
        self.consumer.subscribe("T", expression)
        self.go_on()
        return self

    def assigned(self, *queues: MessageQueue) -> Polling:
        """Return this one with exactly *queues*."""
        self.consumer.assign(queues or (QUEUE,))
        self.go_on()
        return self

    def go_on(self) -> None:
        """Answer the requests of the consumer, except pulls."""
        while requests := self.world.questions():
            for question in requests:
                self._response(question)

    def _response(self, question: Question) -> None:
        code = RequestCode(question.command.code)
        if code == RequestCode.PULL_MESSAGE:
            self.pulls.append(question)
        elif code in self.refuses:
            self.world.response(question, 1)
        elif code == RequestCode.GET_ROUTEINFO_BY_TOPIC:
            self.world.response(question, body=encode_route(route_of("a", count=2)))
        elif code == RequestCode.GET_CONSUMER_LIST_BY_GROUP:
            body = encode_body(
                GetConsumerListByGroupResponseBody(client_ids=tuple(self.members))
            )
            self.world.response(question, body=body)
        elif code == RequestCode.QUERY_CONSUMER_OFFSET:
            known = self.committed is not None
            fields = {"offset": str(self.committed)} if known else {}
            self.world.response(question, 0 if known else NO_OFFSET, fields)
        elif code in (RequestCode.GET_MIN_OFFSET, RequestCode.GET_MAX_OFFSET):
            is_end = code == RequestCode.GET_MAX_OFFSET
            self.world.response(question, 0, {"offset": "100" if is_end else "1"})
        else:
            self.others.append(question)
            self.world.response(question)

    def wait(self, duration_ms: int) -> None:
        """Let time pass, and answer the requests."""
        self.go_on()
        self.world.wait(duration_ms)
        self.go_on()

    def pull(self) -> Question:
        """Return the oldest pull that waits."""
        return self.pulls.pop(0)

    def find(self, question: Question, *offsets: int, tag: str = "") -> None:
        """Answer a pull with messages of these offsets."""
        body = b"".join(encode_record(record(one, tag=tag)) for one in offsets)
        self.respond_to_pull(question, FOUND, offsets[-1] + 1, body)

    def respond_to_pull(
        self, question: Question, code: int, next_offset: int, body: bytes = b""
    ) -> None:
        """Answer a pull with *code*."""
        fields = {
            "nextBeginOffset": str(next_offset),
            "minOffset": "1",
            "maxOffset": "100",
            "suggestWhichBrokerId": "0",
        }
        self.world.response(question, code, fields, body)
        self.go_on()

    def poll(self, timeout_ms: int = 0) -> list[int] | None:
        """Return the offsets of the messages that a poll leads to; None if it waits."""
        return self.polled(self.begin(timeout_ms))

    def begin(self, timeout_ms: int) -> Call:
        """Begin a poll."""
        return self.world.begin(self.consumer.poll(timeout_ms))

    def polled(self, call: Call) -> list[int] | None:
        """Return the offsets of a poll's messages, if it has ended."""
        self.go_on()
        found = self.world.finished.get(call)
        if found is None:
            return None
        assert isinstance(found, tuple), found
        assert all(isinstance(one, MessageExt) for one in found)
        return [one.record.queue_offset for one in found]

    def commits(self) -> list[tuple[int, str, bool]]:
        """Return queue, offset and whether it was oneway, of every commit."""
        self.go_on()
        commands = [one.command for one in self.others if one.command.code == COMMIT]
        return [
            (int(one.fields["queueId"]), one.fields["commitOffset"], one.is_oneway)
            for one in commands
        ]
