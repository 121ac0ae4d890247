"""
A producer for applications.

    async with ProducerClient("127.0.0.1:9876", options) as producer:
        result = await producer.send(Message(topic="TopicTest", body=b"hello"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from reference.core.client.heartbeat import HeartbeatService
from reference.core.client.message import Message, Mode, SendResult
from reference.core.client.options import ProducerOptions
from reference.core.client.producer.producer import Producer
from reference.core.client.producer.request_reply import Reply, RequestReplyService
from reference.core.client.producer.select_queue import RoundRobin
from reference.core.client.producer.send_call import Selector
from reference.core.client.producer.transaction import (
    LocalTransactionState,
    TransactionCheck,
    TransactionService,
    half_message,
)
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.remoting.rpc_client import RpcClient
from reference.shell.client.client_host import ClientHost, routes_from
from reference.shell.client.identity import (
    client_id,
    random_start,
    unique_id_generator,
)
from reference.shell.clock import now_ms
from spec.wire.bodies.heartbeat import Heartbeat, ProducerMembership


def _unknown(_half: MessageExt) -> LocalTransactionState:
    """Decide nothing."""
    return LocalTransactionState.UNKNOWN


class ProducerClient:
    """A producer of messages, batches, transactions and requests.

    For transactions *check* returns the state of a half message.
    """

    def __init__(
        self,
        name_servers: str,
        options: ProducerOptions,
        *,
        check: TransactionCheck = _unknown,
        own_id: str | None = None,
    ) -> None:
        rpc = RpcClient()
        self._host = ClientHost(rpc)
        self._routes = routes = routes_from(name_servers, rpc, options.periods)
        self.producer = Producer(
            options,
            rpc=rpc,
            routes=routes,
            unique_ids=unique_id_generator(),
            round_robin=RoundRobin(random_start()),
        )
        own_id = own_id or client_id()
        membership = ProducerMembership(group=options.group)
        heartbeat = Heartbeat(client_id=own_id, producers=(membership,))
        self._heartbeats = HeartbeatService(
            rpc, routes, lambda: heartbeat, period_ms=options.periods.heartbeat_ms
        )
        self.transactions = TransactionService(
            options.group, check, rpc=rpc, routes=routes
        )
        self.requests = RequestReplyService(
            self.producer,
            own_id,
            rpc=rpc,
            send_heartbeats=self._heartbeats.send_heartbeats,
        )

    async def __aenter__(self) -> Self:
        self._routes.start(now_ms())
        self._heartbeats.start(now_ms())
        self._host.perform()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.producer.is_running = False
        self._heartbeats.unregister(now_ms())
        await self._host.stop()

    async def send(
        self,
        message: Message,
        *,
        mode: Mode = Mode.SYNC,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> SendResult | None:
        """Send *message* and return its result, None for a oneway send.

        Raises ClientError. The mode ASYNC has the retries and timeouts of Java's
        asynchronous send; the caller need not await the result.
        """
        result = await self._host.call(
            lambda at_ms: self.producer.send(
                message,
                now_ms=at_ms,
                mode=mode,
                selector=selector,
                timeout_ms=timeout_ms,
            )
        )
        assert result is None or isinstance(result, SendResult)
        return result

    async def request(self, message: Message, *, timeout_ms: int) -> Reply:
        """Send *message* and return the reply.

        Raises ClientError, with the reason NO_REPLY if only the reply is missing.
        """
        result = await self._host.call(
            lambda at_ms: self.requests.request(
                message, now_ms=at_ms, timeout_ms=timeout_ms
            )
        )
        assert isinstance(result, Reply)
        return result

    async def send_batch(
        self,
        messages: Sequence[Message],
        *,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> SendResult:
        """Send *messages* in one request; the result has the first one's offset."""
        result = await self._host.call(
            lambda at_ms: self.producer.send_batch(
                messages, now_ms=at_ms, selector=selector, timeout_ms=timeout_ms
            )
        )
        assert isinstance(result, SendResult)
        return result

    async def send_in_transaction(
        self, message: Message, act: Callable[[], LocalTransactionState]
    ) -> tuple[SendResult, LocalTransactionState]:
        """Send a half message, run the local transaction *act*, and end it."""
        half = half_message(message, self.producer.options.group)
        result = await self.send(half)
        assert result is not None, "a synchronous send has a result"
        state = self.transactions.end_transaction(result, act)
        self._host.perform()
        return result, state
