"""
Consumers for applications; a call that fails raises ClientError.

    async with ConsumerClient("127.0.0.1:9876", options) as consumer:
        async for message in consumer.messages():
            print(message.body)

    async with PullClient("127.0.0.1:9876", options) as consumer:
        for queue in await consumer.queues("TopicTest"):
            found = await consumer.pull(queue, offset=0, count=32)
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from reference.core.client.consumer.push_consumer import PushConsumer
from reference.core.client.effects import DeliverMessages
from reference.core.client.options import ConsumerOptions, LiteOptions, PullOptions
from reference.core.client.pull.lite_pull_consumer import (
    POLL_TIMEOUT_MS,
    LitePullConsumer,
)
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_consumer import PullConsumer
from reference.core.client.remoting.errors import ClientError
from reference.shell.client.client_host import ClientHost
from reference.shell.client.running_client import RunningClient, forward, forward_call
from reference.shell.clock import now_ms


class ConsumerClient(RunningClient[PushConsumer]):
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
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._delivered: asyncio.Queue[DeliverMessages] = asyncio.Queue()
        """Deliveries of one message each."""
        self._unread: deque[DeliverMessages] = deque()
        """Messages of loops that were left."""
        host = ClientHost(
            name_servers,
            options,
            deliver=self._deliver,
            offset_folder=offset_folder,
            tls=tls,
        )
        super().__init__(PushConsumer(options, host.client), host)

    async def __aenter__(self) -> Self:
        """Join the group; raise ClientError if a broker refuses the expression."""
        try:
            await self.host.call(self.core.check_expression())
        except ClientError:
            await self.host.stop()
            raise
        return await super().__aenter__()

    @property
    def has_route(self) -> bool:
        """Whether a name server has returned a route of the topic."""
        return self.core.has_route

    async def messages(self) -> AsyncGenerator[MessageExt, None]:
        """Yield messages; the request of the next one acknowledges a message.

        A loop that is left has not acknowledged its last message. The next loop begins
        with this one.
        """
        while True:
            one = self._unread.popleft() if self._unread else await self.take()
            try:
                yield one.messages[0]
            except GeneratorExit:
                self._unread.appendleft(one)
                raise
            self.process_consume_result(one)

    async def take(self) -> DeliverMessages:
        """Return the next message, whose result has to be processed later.

        Messages of a queue that was lost or reset since are left out.
        """
        while True:
            delivery = await self._delivered.get()
            if self.core.begin_consume(delivery):
                return delivery
            self.host.perform()

    process_consume_result = forward(PushConsumer.process_consume_result)

    def _deliver(self, delivery: DeliverMessages) -> None:
        for one in delivery.messages:
            self._delivered.put_nowait(replace(delivery, messages=(one,)))


class PullClient(RunningClient[PullConsumer]):
    """A consumer that pulls on demand."""

    def __init__(
        self,
        name_servers: str,
        options: PullOptions,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        host = ClientHost(name_servers, options, tls=tls)
        super().__init__(PullConsumer(options, host.client), host)

    queues = forward_call(PullConsumer.queues)
    pull = forward_call(PullConsumer.pull)
    min_offset = forward_call(PullConsumer.min_offset)
    max_offset = forward_call(PullConsumer.max_offset)
    search_offset = forward_call(PullConsumer.search_offset)
    committed = forward_call(PullConsumer.committed)
    commit = forward_call(PullConsumer.commit)


class LitePullClient(RunningClient[LitePullConsumer]):
    """A consumer that pulls ahead and is polled.

    A broadcasting one persists its offsets in *offset_folder*, by default in the
    user's home.
    """

    def __init__(
        self,
        name_servers: str,
        options: LiteOptions,
        *,
        offset_folder: Path | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        host = ClientHost(name_servers, options, offset_folder=offset_folder, tls=tls)
        super().__init__(LitePullConsumer(options, host.client), host)

    queues = forward_call(LitePullConsumer.queues)
    committed = forward_call(LitePullConsumer.committed)
    subscribe = forward(LitePullConsumer.subscribe)
    unsubscribe = forward(LitePullConsumer.unsubscribe)
    assign = forward(LitePullConsumer.assign)
    seek = forward_call(LitePullConsumer.seek)
    commit = forward_call(LitePullConsumer.commit_polled)
    pause = forward(LitePullConsumer.pause)
    resume = forward(LitePullConsumer.resume)

    async def poll(self, timeout_ms: int = POLL_TIMEOUT_MS) -> tuple[MessageExt, ...]:
        """Poll a batch, waiting for one up to *timeout_ms*; return () without one.

        A cancelled poll takes no batch. A later commit would lose its messages.
        """
        end_ms = now_ms() + timeout_ms
        while await self.host.call(self.core.wait_for_batch(end_ms - now_ms())):
            if messages := self.core.pull_loop.poll():
                return messages
        return ()
