"""
A consumer for applications: the core's decisions, with sockets and a clock.

    async with ConsumerClient("127.0.0.1:9876", options) as consumer:
        async for message in consumer.messages():
            print(message.body)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from reference.core.client.asking import Asker, Deliver
from reference.core.client.consumer import Consumer, ConsumerOptions
from reference.core.client.expression_check import ExpressionCheck
from reference.core.client.failure import ClientError
from reference.core.client.pulling import Received
from reference.shell.client.links import Links, routes_from
from reference.shell.client.offset_file import OffsetFile
from reference.shell.client.pulling_client import MemberClient
from reference.shell.clock import now_ms


class ConsumerClient(MemberClient[Consumer]):
    """A consumer whose messages are taken as they come.

    One that broadcasts keeps its offsets in *offset_folder*, or in the user's home.
    """

    def __init__(
        self,
        name_servers: str,
        options: ConsumerOptions,
        *,
        offset_folder: Path | None = None,
    ) -> None:
        asker = Asker()
        routes = routes_from(name_servers, asker, options.periods)
        file = OffsetFile(offset_folder, options.client_id, options.group)
        consumer = Consumer(
            options,
            asker=asker,
            routes=routes,
            now_ms=now_ms(),
            remembered=file.read() if options.broadcasts else None,
        )
        self._check = ExpressionCheck(
            options.group, options.client_id, asker=asker, routes=routes
        )
        self._delivered: asyncio.Queue[Deliver] = asyncio.Queue()
        links = Links(asker, self._delivered.put_nowait, file.write)
        super().__init__(consumer, links)

    async def __aenter__(self) -> Self:
        """Join the group; raises ClientError if a broker cannot filter so."""
        (wanted, *_) = self.consumer.subscriptions
        try:
            await self._links.call(lambda at_ms: self._check.begin(wanted, at_ms))
        except ClientError:
            await self._links.stop()
            raise
        return await super().__aenter__()

    async def messages(self) -> AsyncIterator[Received]:
        """Yield messages for ever; asking for the next one says that one is handled."""
        while True:
            delivery = await self.take()
            for message in delivery.messages:
                yield message
                self.handled(replace(delivery, messages=(message,)))

    async def take(self) -> Deliver:
        """Return what some queue had; ``handled`` says later what was done."""
        delivery = await self._delivered.get()
        self.consumer.taken(delivery, now_ms())
        return delivery

    def handled(
        self,
        delivery: Deliver,
        failed: Sequence[Received] = (),
        *,
        error: str | None = None,
    ) -> None:
        """Note that *delivery*, or a part, is handled; *failed* go back."""
        self.consumer.handled(delivery, failed, error=error, now_ms=now_ms())
        self._links.perform()
