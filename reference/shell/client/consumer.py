"""
A push consumer for applications.

    async with ConsumerClient("127.0.0.1:9876", options) as consumer:
        async for message in consumer.messages():
            print(message.body)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

from reference.core.client.consumer.push_consumer import Consumer
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.subscription import SubscriptionCheck
from reference.core.client.remoting.errors import ClientError
from reference.core.client.remoting.rpc_client import DeliverMessages, RpcClient
from reference.shell.client.client_host import ClientHost, routes_from
from reference.shell.client.local_offset_store import LocalOffsetStore
from reference.shell.clock import now_ms


class Startable(Protocol):
    """A consumer of the core that starts and stops."""

    def start(self, now_ms: int) -> None:
        """Join the group."""

    def stop(self, now_ms: int) -> None:
        """Leave the group."""


Started = TypeVar("Started", bound=Startable)


class MemberClient(Generic[Started]):
    """A consumer that is in its group while its context is entered."""

    def __init__(self, consumer: Started, host: ClientHost) -> None:
        self.consumer = consumer
        self._host = host

    async def __aenter__(self) -> Self:
        self.consumer.start(now_ms())
        self._host.perform()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.consumer.stop(now_ms())
        await self._host.stop()


class ConsumerClient(MemberClient[Consumer]):
    """A push consumer with an iterator instead of a listener.

    A broadcasting one persists its offsets in *offset_folder*, by default in the
    user's home.
    """

    def __init__(
        self,
        name_servers: str,
        options: ConsumerOptions,
        *,
        offset_folder: Path | None = None,
    ) -> None:
        rpc = RpcClient()
        routes = routes_from(name_servers, rpc, options.periods)
        store = LocalOffsetStore(offset_folder, options.client_id, options.group)
        consumer = Consumer(
            options,
            rpc=rpc,
            routes=routes,
            now_ms=now_ms(),
            persisted=store.read() if options.broadcasts else None,
        )
        self._check = SubscriptionCheck(
            options.group, options.client_id, rpc=rpc, routes=routes
        )
        self._delivered: asyncio.Queue[DeliverMessages] = asyncio.Queue()
        host = ClientHost(rpc, self._delivered.put_nowait, store.persist)
        super().__init__(consumer, host)

    async def __aenter__(self) -> Self:
        """Join the group; raise ClientError if a broker refuses the expression."""
        subscription = self.consumer.subscriptions[0]
        try:
            await self._host.call(lambda at: self._check.begin(subscription, at))
        except ClientError:
            await self._host.stop()
            raise
        return await super().__aenter__()

    async def messages(self) -> AsyncIterator[MessageExt]:
        """Yield messages; the request of the next one acknowledges a message."""
        while True:
            delivery = await self.take()
            for message in delivery.messages:
                yield message
                self.process_consume_result(replace(delivery, messages=(message,)))

    async def take(self) -> DeliverMessages:
        """Return the next delivery, whose result has to be processed later."""
        delivery = await self._delivered.get()
        self.consumer.on_delivered(delivery, now_ms())
        return delivery

    def process_consume_result(
        self,
        delivery: DeliverMessages,
        failed: Sequence[MessageExt] = (),
        *,
        error: str | None = None,
    ) -> None:
        """Acknowledge *delivery* or a part of it; *failed* messages are sent back."""
        self.consumer.process_consume_result(
            delivery, failed, error=error, now_ms=now_ms()
        )
        self._host.perform()
