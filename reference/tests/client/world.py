"""
The peers of a client under test: recorded requests and scripted responses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reference.core.client.client_instance import ClientInstance
from reference.core.client.effects import DeliverMessages, PersistOffsets, Write
from reference.core.client.message import MessageQueue, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.producer import Producer
from reference.core.client.producer.send_request import UniqueIdGenerator
from reference.core.client.remoting.errors import ClientError, Reason
from reference.core.client.remoting.tasks import Task, start
from reference.core.remoting.connection import decode_request
from reference.core.remoting.effects import SetTimer
from spec.routing.route_data import TopicRoute, encode_route
from spec.wire.remoting.command import (
    Command,
    CommandFlag,
    decode_command,
    encode_command,
)

NAME_SERVER = "names:9876"
OTHER_NAME_SERVER = "names2:9876"
NO_TOPIC = 17
STORED = {"msgId": "offset-id", "queueId": "1", "queueOffset": "7"}


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request that the client wrote."""

    address: str
    command: Command
    opaque: int | None


class Call:
    """A call of the application."""


class World:
    """A client's rpc, the clock, and what the client has done so far."""

    def __init__(self, *name_servers: str) -> None:
        self.now_ms = 1_000_000
        self.client = ClientInstance(
            "me",
            name_servers=name_servers or (NAME_SERVER,),
            clock=lambda: self.now_ms,
            local_offsets={},
        )
        self.rpc, self.routes = self.client.rpc, self.client.routes
        self.finished: dict[Call, object] = {}
        self.wake_ms: int | None = None
        self.delivered: list[DeliverMessages] = []
        self.persisted: dict[MessageQueue, int] = {}
        self.expects_errors = False
        """Whether lines of the operator's log are collected, not failures."""
        self.logged: list[str] = []
        self._sent: list[SentRequest] = []

    def producer(self, **options: object) -> Producer:
        """Return a producer in this world."""
        given: dict[str, object] = {"group": "g", **options}
        return Producer(
            ProducerOptions(**given),  # type: ignore[arg-type] # tests know the names
            self.client,
            unique_ids=UniqueIdGenerator(address=bytes(4), process_id=1),
        )

    def begin(self, task: Task[object]) -> Call:
        """Begin a call of the application; `finished` has its result, then."""
        call = Call()

        async def run() -> None:
            try:
                self.finished[call] = await task
            except Exception as error:
                self.finished[call] = error

        start(run())
        return call

    def sent_requests(self) -> list[SentRequest]:
        """Return the requests that the client wrote since the last call."""
        for effect in self.rpc.take_effects():
            if isinstance(effect, Write):
                command = decode_command(effect.frame)
                request = SentRequest(effect.address, command, effect.opaque)
                self._sent.append(request)
            elif isinstance(effect, DeliverMessages):
                self.delivered.append(effect)
            elif isinstance(effect, PersistOffsets):
                self.persisted = dict(effect.offsets)
            elif isinstance(effect, SetTimer):
                self.wake_ms = effect.at_ms
            else:
                assert self.expects_errors, effect
                self.logged.append(effect.text)
        found, self._sent = self._sent, []
        return found

    def sent_request(self) -> SentRequest:
        """Return the one request that the client wrote since the last call."""
        (found,) = self.sent_requests()
        return found

    def response(
        self,
        request: SentRequest,
        code: int = 0,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> None:
        """Send the response to *request*."""
        response = Command(
            code=code,
            opaque=request.command.opaque,
            flag=CommandFlag.RESPONSE,
            fields=fields or {},
            body=body,
        )
        self.receive(request.address, response)

    def receive(self, address: str, command: Command) -> None:
        """Receive *command* from *address*."""
        frame = encode_command(command)
        request = decode_request(frame, 0, len(frame))
        self.rpc.command_received(address, request)

    def fail(self, request: SentRequest, reason: Reason = Reason.CONNECT) -> None:
        """Report that *request* could not be written, or has no response."""
        assert request.opaque is not None
        self.rpc.request_failed(request.opaque, reason)

    def give_route(self, route: TopicRoute | None) -> None:
        """Respond to the request for a route."""
        request = self.sent_request()
        assert request.command.code == 105
        if route is None:
            self.response(request, NO_TOPIC)
        else:
            self.response(request, body=encode_route(route))

    def store(self, request: SentRequest, code: int = 0) -> None:
        """Respond to a send as a broker that stored the message."""
        self.response(request, code, STORED)

    def wait(self, duration_ms: int) -> None:
        """Let time pass."""
        self.now_ms += duration_ms
        self.rpc.run_timers(self.now_ms)

    def wait_to_be_woken(self) -> None:
        """Let time pass until the next timer of the client."""
        assert self.wake_ms is not None, "the client waits for nothing"
        self.wait(max(self.wake_ms - self.now_ms, 0))

    def result(self, call: Call) -> SendResult:
        """Return the result of *call*, which it has."""
        self._sent += self.sent_requests()
        found = self.finished[call]
        assert isinstance(found, SendResult), found
        return found

    def error(self, call: Call) -> ClientError:
        """Return the error of *call*, which it has."""
        self._sent += self.sent_requests()
        found = self.finished[call]
        assert isinstance(found, ClientError), found
        return found
