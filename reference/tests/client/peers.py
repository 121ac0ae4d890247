"""The name server and the brokers of a consumer under test, with scripted responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference.core.client.message import MessageQueue
from reference.tests.client.routes import route_of
from reference.tests.client.world import STORED, SentRequest, World
from spec.routing.route_data import encode_route
from spec.store.message_record import Record, encode_record
from spec.wire.bodies.heartbeat import GetConsumerListByGroupResponseBody
from spec.wire.bodies.json_body import decode_body, encode_body
from spec.wire.consumer.queue_locks import LockBatchRequestBody, LockBatchResponseBody
from spec.wire.message.properties import encode_properties
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

TOPIC, GROUP, CLIENT_ID = "T", "g", "me"
COMMIT, SEND = RequestCode.UPDATE_CONSUMER_OFFSET, RequestCode.SEND_MESSAGE_V2
BACK, LEAVE = RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.UNREGISTER_CLIENT
QUEUE, OTHER = MessageQueue(TOPIC, "a", 0), MessageQueue(TOPIC, "a", 1)

Place = tuple[str, int]
"""A topic and a queue's number."""


class ScriptedPeers:
    """The peers of a consumer that is alone in its group, unless *members* has others.

    Every request but a pull gets its response in `go_on`.
    """

    def __init__(self, *, count: int) -> None:
        self.world = World()
        self.route = route_of("a", count=count)
        """The route of TOPIC; no other topic has one."""
        self.members = [CLIENT_ID]
        self.committed: dict[Place, int] = {}
        self.first_offset = self.end_offset = 0
        """Offsets of each queue: its first message, and its next one."""
        self.offset_by_time = 0
        """Result of a search by time."""
        self.searched_ms: int | None = None
        """The time for which an offset was searched."""
        self.held: set[int] = set()
        """Numbers of queues that another client has locked."""
        self.refuses: set[int] = set()
        """Codes of `others` whose response is SYSTEM_ERROR."""
        self.silent: set[str] = set()
        """Addresses that never respond."""
        self.pulls: list[SentRequest] = []
        """Pulls without a response, the oldest first."""
        self.others: list[SentRequest] = []
        """All other requests without a result, such as commits, and responses."""

    def go_on(self) -> None:
        """Respond to the consumer's requests, except pulls, until it has no more."""
        while requests := self.world.sent_requests():
            for request in requests:
                if request.address not in self.silent:
                    self._respond(request)

    def wait(self, duration_ms: int) -> None:
        """Let time pass, and respond to the requests."""
        self.go_on()
        self.world.wait(duration_ms)
        self.go_on()

    def pull(self) -> SentRequest:
        """Return the oldest pull that has no response."""
        return self.pulls.pop(0)

    def sent(self, code: int) -> list[Command]:
        """Return the requests of `others` with *code*."""
        return [one.command for one in self.others if one.command.code == code]

    def find(self, pull: SentRequest, *records: Record, suggested: int = 0) -> None:
        """Respond to a pull with *records*."""
        next_offset = records[-1].queue_offset + 1
        self.respond_to_pull(pull, 0, next_offset, records, suggested)

    def respond_to_pull(
        self,
        pull: SentRequest,
        code: int,
        next_offset: int,
        records: tuple[Record, ...] = (),
        suggested: int = 0,
    ) -> None:
        """Respond to a pull with *code*."""
        fields = {
            "nextBeginOffset": str(next_offset),
            "minOffset": "0",
            "maxOffset": "100",
            "suggestWhichBrokerId": str(suggested),
        }
        body = b"".join(map(encode_record, records))
        self.world.response(pull, code, fields, body)

    def _respond(self, request: SentRequest) -> None:
        responses: Mapping[int, Callable[[SentRequest], None]] = {
            RequestCode.PULL_MESSAGE: self.pulls.append,
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self._respond_route,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self._respond_members,
            RequestCode.LOCK_BATCH_MQ: self._respond_locks,
            RequestCode.QUERY_CONSUMER_OFFSET: self._respond_committed,
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: self._respond_search,
            RequestCode.GET_MIN_OFFSET: lambda one: self._respond_offset(
                one, self.first_offset
            ),
            RequestCode.GET_MAX_OFFSET: lambda one: self._respond_offset(
                one, self.end_offset
            ),
        }
        responses.get(request.command.code, self._respond_other)(request)

    def _respond_route(self, request: SentRequest) -> None:
        if request.command.fields["topic"] == TOPIC:
            self.world.response(request, body=encode_route(self.route))
        else:
            self.world.response(request, ResponseCode.TOPIC_NOT_EXIST)

    def _respond_members(self, request: SentRequest) -> None:
        ids = GetConsumerListByGroupResponseBody(client_ids=tuple(self.members))
        self.world.response(request, body=encode_body(ids))

    def _respond_locks(self, request: SentRequest) -> None:
        wanted = decode_body(LockBatchRequestBody, request.command.body).queues
        free = tuple(one for one in wanted if one.queue_id not in self.held)
        body = encode_body(LockBatchResponseBody(queues=free))
        self.world.response(request, body=body)

    def _respond_committed(self, request: SentRequest) -> None:
        fields = request.command.fields
        place = fields["topic"], int(fields["queueId"])
        if place in self.committed:
            self._respond_offset(request, self.committed[place])
        else:
            self.world.response(request, ResponseCode.QUERY_NOT_FOUND)

    def _respond_search(self, request: SentRequest) -> None:
        self.searched_ms = int(request.command.fields["timestamp"])
        self._respond_offset(request, self.offset_by_time)

    def _respond_other(self, request: SentRequest) -> None:
        self.others.append(request)
        if not request.command.is_response:
            is_refused = request.command.code in self.refuses
            self.world.response(request, int(is_refused), STORED)

    def _respond_offset(self, request: SentRequest, offset: int) -> None:
        self.world.response(request, fields={"offset": str(offset)})


def record(offset: int, body: bytes = b"x", tag: str = "", flags: int = 0) -> Record:
    """Return a message as the one queue of the topic has it."""
    properties = encode_properties({"TAGS": tag} if tag else {})
    return Record(
        topic=TOPIC,
        queue_id=0,
        queue_offset=offset,
        physical_offset=1000 + offset,
        body=body,
        properties=properties,
        system_flags=flags,
    )


def offset_of(pull: SentRequest) -> int:
    """Return the offset of a pull."""
    return int(pull.command.fields["queueOffset"])
