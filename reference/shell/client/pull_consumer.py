"""
Pull consumers for applications; a call that fails raises ClientError.

    async with PullClient("127.0.0.1:9876", options) as consumer:
        for queue in await consumer.queues("TopicTest"):
            found = await consumer.pull(queue, offset=0, count=32)
"""

from __future__ import annotations

import ssl
from pathlib import Path

from reference.core.client.options import LiteOptions, PullOptions
from reference.core.client.pull.lite_pull_consumer import LitePullConsumer
from reference.core.client.pull.pull_consumer import PullConsumer
from reference.shell.client.client_host import (
    ClientHost,
    RunningClient,
    forward,
    forward_call,
)


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
        persisted = host.offsets.read() if options.broadcasts else None
        consumer = LitePullConsumer(options, host.client, persisted=persisted)
        super().__init__(consumer, host)

    queues = forward_call(LitePullConsumer.queues)
    committed = forward_call(LitePullConsumer.committed)
    subscribe = forward(LitePullConsumer.subscribe)
    unsubscribe = forward(LitePullConsumer.unsubscribe)
    assign = forward(LitePullConsumer.assign)
    poll = forward_call(LitePullConsumer.poll)
    seek = forward_call(LitePullConsumer.seek)
    commit = forward_call(LitePullConsumer.commit_polled)
    pause = forward(LitePullConsumer.pause)
    resume = forward(LitePullConsumer.resume)
