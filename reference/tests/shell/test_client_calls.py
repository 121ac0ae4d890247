"""Calls of an application that are cancelled, or pending when their client stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Self

import pytest

from reference.core.client.consumer.push_pull_loop import PushPullLoop
from reference.core.client.effects import DeliverMessages
from reference.core.client.message import Message, MessageQueue
from reference.core.client.options import (
    ConsumerOptions,
    LiteOptions,
    ProducerOptions,
    PullOptions,
)
from reference.core.client.pull.message_ext import message_ext
from reference.core.client.pull.subscription import subscription_of
from reference.core.client.rebalance.assigned_queue import PushQueue
from reference.core.client.remoting.errors import ClientError, Reason
from reference.core.remoting.connection import Connection
from reference.core.remoting.request import Request
from reference.core.remoting.response import Response, encode_response
from reference.shell.client import client_host
from reference.shell.client.consumers import ConsumerClient, LitePullClient, PullClient
from reference.shell.client.producer import ProducerClient
from reference.shell.loop_host import LoopHost
from reference.tests.client.peers import GROUP, QUEUE, TOPIC, record
from reference.tests.client.routes import queue_data
from spec.host import Host
from spec.routing.route_data import BrokerData, TopicRoute, encode_route
from spec.store.message_record import encode_record
from spec.wire.remoting.request_code import RequestCode as Code

LONG_MS = 600_000
PULLED = {
    "nextBeginOffset": 1,
    "minOffset": 0,
    "maxOffset": 1,
    "suggestWhichBrokerId": 0,
}


class Peer:
    """A name server and broker of one queue, which has a message after `arrival`.

    It responds to no other request: not to sends, and not to the second pull.
    """

    def __init__(self) -> None:
        self.arrival = asyncio.Event()
        self.is_asked = asyncio.Event()
        """Set by the first request without a response."""
        self.unanswered: list[Request] = []
        self.address = ""
        self._served: set[asyncio.Task[None] | None] = set()

    @property
    def route(self) -> TopicRoute:
        """The route of its queue."""
        addresses = {0: self.address}
        broker = BrokerData(cluster="C", broker_name="a", addresses=addresses)
        return TopicRoute(queue_datas=(queue_data("a", 1),), broker_datas=(broker,))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        """End when the client has closed its connection."""
        self._server.close()
        self.arrival.set()
        await asyncio.gather(*filter(None, self._served))

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._served.add(asyncio.current_task())
        connection = Connection(0, Host.ANY_V4)
        with suppress(ConnectionError):  # the client stops
            while data := await reader.read(65_536):
                connection.receive(data, 0)
                while (request := connection.next_request()) is not None:
                    response = await self._response(request)
                    if response is not None:
                        writer.write(encode_response(request.opaque, response))
            writer.close()
            await writer.wait_closed()

    async def _response(self, request: Request) -> Response | None:
        match request.code:
            case Code.GET_ROUTEINFO_BY_TOPIC:
                return Response(body=encode_route(self.route))
            case Code.QUERY_CONSUMER_OFFSET:
                return Response(fields={"offset": 0})
            case Code.PULL_MESSAGE if request.fields["queueOffset"] == "0":
                await self.arrival.wait()
                return Response(fields=PULLED, body=encode_record(record(0)))
            case Code.HEART_BEAT | Code.UNREGISTER_CLIENT:
                return Response()
        self.unanswered.append(request)
        self.is_asked.set()
        return None


def test_a_cancelled_poll_loses_no_message() -> None:
    async def poll_twice() -> list[int]:
        options = LiteOptions(group=GROUP, auto_commits=False)
        async with Peer() as peer, LitePullClient(peer.address, options) as client:
            client.assign([QUEUE])
            cancelled = asyncio.create_task(client.poll(LONG_MS))
            await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.wait([cancelled])
            peer.arrival.set()
            found = await asyncio.wait_for(client.poll(LONG_MS), 60)
            return [one.record.queue_offset for one in found]

    assert asyncio.run(poll_twice()) == [0]


def test_polls_at_the_same_time_wait_for_a_batch_each() -> None:
    async def poll_twice() -> list[int]:
        options = LiteOptions(group=GROUP, auto_commits=False)
        async with Peer() as peer:
            async with LitePullClient(peer.address, options) as client:
                client.assign([QUEUE])
                polls = [asyncio.create_task(client.poll(LONG_MS)) for _ in range(2)]
                await asyncio.sleep(0)
                peer.arrival.set()
                await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
                done = [one.done() for one in polls]
            counts = [len(one) for one in await asyncio.gather(*polls)]
            assert sorted(done) == [False, True]
            return sorted(counts)

    assert asyncio.run(poll_twice()) == [0, 1]


async def pulls(peer: Peer) -> None:
    async with PullClient(peer.address, PullOptions(group=GROUP)) as client:
        queue = MessageQueue(TOPIC, "a", 0)
        pending = client.pull(queue, offset=1, count=1, timeout_ms=LONG_MS)
        await stopped_during(pending, peer, client.__aexit__)


async def sends(peer: Peer) -> None:
    options = ProducerOptions(group=GROUP)
    async with ProducerClient(peer.address, options) as client:
        message = Message(topic=TOPIC, body=b"x")
        pending = client.send(message, timeout_ms=LONG_MS)
        await stopped_during(pending, peer, client.__aexit__)


async def requests(peer: Peer) -> None:
    options = ProducerOptions(group=GROUP)
    async with ProducerClient(peer.address, options) as client:
        message = Message(topic=TOPIC, body=b"x")
        pending = client.request(message, timeout_ms=LONG_MS)
        await stopped_during(pending, peer, client.__aexit__)


async def stopped_during(
    pending: Awaitable[object], peer: Peer, stop: Callable[[], Awaitable[None]]
) -> None:
    """Stop a client while a call waits; the call ends with ClientError."""
    call = asyncio.ensure_future(pending)
    await peer.is_asked.wait()
    await stop()
    with pytest.raises(ClientError) as error:
        await asyncio.wait_for(call, 60)
    assert error.value.failure.reason is Reason.NOT_RUNNING


@pytest.mark.parametrize("call", [pulls, sends, requests])
def test_a_call_that_is_pending_at_the_stop_ends(
    call: Callable[[Peer], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_host, "STOP_TIMEOUT_S", 0.0)

    async def run() -> None:
        async with Peer() as peer:
            await call(peer)

    asyncio.run(run())


def test_an_address_with_an_impossible_port_cannot_be_connected_to() -> None:
    async def find_queues() -> None:
        async with PullClient("127.0.0.1:99999", PullOptions(group=GROUP)) as client:
            await client.queues(TOPIC)

    with pytest.raises(ClientError) as error:
        asyncio.run(find_queues())
    assert error.value.failure.remark.endswith(Reason.CONNECT)


def test_a_loop_over_messages_that_is_left_loses_none() -> None:
    async def read_twice() -> list[int]:
        client = ConsumerClient(
            "127.0.0.1:1", ConsumerOptions(group=GROUP, topic=TOPIC)
        )
        pulled = tuple(message_ext(record(offset), QUEUE) for offset in range(3))
        everything = subscription_of(TOPIC, "*", version=0)
        assigned = PushQueue(queue=QUEUE, subscription=everything)
        pull_loop: PushPullLoop[Any] = client.core.pull_loop
        pull_loop.assigned[QUEUE] = assigned
        delivery = DeliverMessages(QUEUE, pulled, assigned.process_queue)
        client.host.client.rpc.emit(delivery)
        client.host.perform()
        found = []
        for last in (0, 2):
            messages = client.messages()
            async for message in messages:
                found.append(message.record.queue_offset)
                if found[-1] == last:
                    break
            await messages.aclose()
        return found

    assert asyncio.run(read_twice()) == [0, 0, 1, 2]


def test_a_request_that_has_failed_is_not_sent_once_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_host, "STOP_TIMEOUT_S", 0.0)
    connect = LoopHost._create_connection

    async def pull_twice() -> list[str]:
        may_connect = asyncio.Event()

        async def connect_later(host: LoopHost, *given: Any, **named: Any) -> None:
            await may_connect.wait()
            await connect(host, *given, **named)

        monkeypatch.setattr(LoopHost, "_create_connection", connect_later)
        options = PullOptions(group=GROUP)
        async with Peer() as peer, PullClient(peer.address, options) as client:
            client.host.client.routes.table[TOPIC] = peer.route
            with pytest.raises(ClientError) as error:
                await client.pull(QUEUE, offset=1, count=1, timeout_ms=1)
            assert error.value.failure.reason is Reason.TIMEOUT
            later = client.pull(QUEUE, offset=2, count=1, timeout_ms=LONG_MS)
            pending = asyncio.create_task(later)
            may_connect.set()
            await peer.is_asked.wait()
            pending.cancel()
            return [one.fields["queueOffset"] for one in peer.unanswered]

    assert asyncio.run(pull_twice()) == ["2"]
