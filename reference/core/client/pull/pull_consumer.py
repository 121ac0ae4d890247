"""
A pull consumer: the application names queues, offsets and counts.

It has no assigned queues and commits nothing by itself. Heartbeats register its group,
so that administration tools find it (Java: DefaultMQPullConsumerImpl).
"""

from __future__ import annotations

from collections.abc import Callable

from reference.core.client.client_instance import ClientInstance, GroupMember
from reference.core.client.hooks import ConsumeHooks
from reference.core.client.message import MessageQueue
from reference.core.client.options import PullOptions
from reference.core.client.pull.pull_request import (
    PullResult,
    committed_offset_of,
    offset_of,
    pull_command,
    pull_result,
)
from reference.core.client.pull.subscription import membership, subscription_of
from reference.core.client.remoting import requests
from reference.core.client.remoting.errors import Failure, Reason
from reference.core.client.remoting.rpc_client import Call, Result
from reference.core.client.remoting.tasks import Value
from reference.core.client.route.topic_queues import subscribe_queues
from reference.core.client.validators import check_topic
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.routing.route_data import MASTER_ID
from spec.wire.bodies.heartbeat import ALL_MESSAGES
from spec.wire.remoting.command import Command

PULL_TIMEOUT_MS = 10_000
"""Java: consumerPullTimeoutMillis."""


class PullConsumer(GroupMember):
    """Pulls and offset queries, each a call with a value or an error."""

    def __init__(self, options: PullOptions, client: ClientInstance) -> None:
        super().__init__(options, client)
        self.options = options
        self._hooks = ConsumeHooks(options.group, options.hooks, client.rpc.now_ms)
        self._suggested: dict[MessageQueue, int] = {}
        """Broker id of the next pull, by queue (Java: pullFromWhichNodeTable)."""
        client.consumer = membership(options.group)

    def stop(self) -> None:
        """Leave the group."""
        self._rpc.abandon()
        super().stop()

    def queues(self, topic: str) -> Call[tuple[MessageQueue, ...]]:
        """Fetch the readable queues of *topic*, sorted."""
        check_topic(topic)
        return self._rpc.begin(self._fetch_queues(topic))

    def pull(
        self,
        queue: MessageQueue,
        expression: str = ALL_MESSAGES,
        *,
        offset: int,
        count: int,
        timeout_ms: int = PULL_TIMEOUT_MS,
    ) -> Call[PullResult]:
        """Pull up to *count* messages from *offset*; the broker does not wait."""
        subscription = subscription_of(queue.topic, expression, version=0)
        request = pull_command(
            queue,
            subscription,
            group=self.options.group,
            offset=offset,
            max_count=count,
            waits=False,
        )

        def decode(result: Result) -> PullResult | Failure:
            found = pull_result(result, queue, subscription, self.options.filters)
            if isinstance(found, PullResult):
                self._suggested[queue] = found.suggested_broker_id
                self._hooks.before(queue, found.messages)
                self._hooks.after(queue, found.messages)
            return found

        broker_id = self._suggested.get(queue, MASTER_ID)
        return self._call(queue, request, decode, timeout_ms, broker_id)

    def min_offset(self, queue: MessageQueue) -> Call[int]:
        """Query the offset of the first message of *queue*."""
        return self._call(queue, requests.get_min_offset(queue), offset_of)

    def max_offset(self, queue: MessageQueue) -> Call[int]:
        """Query the offset after the last message of *queue*."""
        return self._call(queue, requests.get_max_offset(queue), offset_of)

    def search_offset(self, queue: MessageQueue, time_ms: int) -> Call[int]:
        """Query the offset of the message of *queue* stored at *time_ms*."""
        request = requests.search_offset(queue, time_ms)
        return self._call(queue, request, offset_of)

    def committed(self, queue: MessageQueue) -> Call[int | None]:
        """Query the group's committed offset; the value is None without any."""
        request = requests.query_consumer_offset(self.options.group, queue)
        return self._call(queue, request, committed_offset_of)

    def commit(self, queue: MessageQueue, offset: int) -> Call[None]:
        """Commit *offset*, without a response."""
        return self._rpc.begin(self._commit(queue, offset))

    def _call(
        self,
        queue: MessageQueue,
        request: Command,
        decode: Callable[[Result], Value | Failure],
        timeout_ms: int = OFFSET_TIMEOUT_MS,
        broker_id: int = MASTER_ID,
    ) -> Call[Value]:
        """Send *request* to a broker of *queue*; *decode* makes the call's value."""

        async def run() -> Value | Failure:
            result = await self._client.invoke_broker(
                queue, request, timeout_ms=timeout_ms, broker_id=broker_id
            )
            return decode(result)

        return self._rpc.begin(run())

    async def _fetch_queues(self, topic: str) -> tuple[MessageQueue, ...] | Failure:
        route = await self._routes.fetch(topic)
        if route is None:
            return self._routes.missing(topic)
        return subscribe_queues(topic, route)

    async def _commit(self, queue: MessageQueue, offset: int) -> Failure | None:
        address = await self._client.find_broker(queue)
        if address is None:
            return Failure(reason=Reason.NO_BROKER)
        request = requests.update_consumer_offset(
            self.options.group, queue, offset, oneway=True
        )
        self._rpc.invoke_oneway(address, request)
        return None
