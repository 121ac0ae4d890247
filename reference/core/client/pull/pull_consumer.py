"""
A pull consumer: the application names queues, offsets and counts.

It has no assigned queues and commits nothing by itself. Heartbeats register its group,
so that administration tools find it (Java: DefaultMQPullConsumerImpl).
"""

from __future__ import annotations

from collections.abc import Mapping

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
    queue_command,
)
from reference.core.client.pull.subscription import consumer_data, subscription_of
from reference.core.client.remoting.errors import ClientError, Failure, Reason, value_of
from reference.core.client.routes import subscribe_queues
from reference.core.client.validators import check_topic
from spec.routing.route_data import MASTER_ID
from spec.wire.bodies.heartbeat import ALL_MESSAGES, ConsumerData
from spec.wire.remoting.request_code import RequestCode

PULL_TIMEOUT_MS = 10_000
"""Java: consumerPullTimeoutMillis."""


class PullConsumer(GroupMember):
    """Pulls and offset queries, which raise ClientError if they fail."""

    def __init__(self, options: PullOptions, client: ClientInstance) -> None:
        super().__init__(options, client)
        self.options = options
        self._hooks = ConsumeHooks(options.group, options.hooks, client.rpc.now_ms)
        self._suggested: dict[MessageQueue, int] = {}
        """Broker id of the next pull, by queue (Java: pullFromWhichNodeTable)."""

    def group_data(self) -> ConsumerData:
        """Return the consumer's part of a heartbeat."""
        return consumer_data(self.options.group)

    def stop(self) -> None:
        """Leave the group."""
        self._rpc.abandon()
        super().stop()

    async def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Fetch the readable queues of *topic*, sorted."""
        check_topic(topic)
        route = await self._routes.fetch(topic)
        if route is None:
            raise ClientError(self._routes.missing(topic))
        return subscribe_queues(topic, route)

    async def pull(
        self,
        queue: MessageQueue,
        expression: str = ALL_MESSAGES,
        *,
        offset: int,
        count: int,
        timeout_ms: int = PULL_TIMEOUT_MS,
    ) -> PullResult:
        """Pull up to *count* messages from *offset*; the broker does not wait.

        Nothing is sent for a negative *offset*, to which a broker responds with an
        event in its log, or for a *count* below 1.
        """
        if offset < 0 or count < 1:  # 4.6.0 DefaultMQPullConsumerImpl#pullSyncImpl
            remark = f"{count} messages from the offset {offset}"
            raise ClientError(Failure(reason=Reason.NOT_PULLED, remark=remark))
        subscription = subscription_of(queue.topic, expression, version=0)
        request = pull_command(
            queue,
            subscription,
            group=self.options.group,
            offset=offset,
            max_count=count,
            waits=False,
        )
        broker_id = self._suggested.get(queue, MASTER_ID)
        result = await self._client.invoke_broker(
            queue, request, timeout_ms=timeout_ms, broker_id=broker_id
        )
        filters = self.options.filters
        found = value_of(pull_result(result, queue, subscription, filters))
        self._suggested[queue] = found.suggested_broker_id
        self._hooks.before(queue, found.messages)
        self._hooks.after(queue, found.messages)
        return found

    async def min_offset(self, queue: MessageQueue) -> int:
        """Query the offset of the first message of *queue*."""
        return await self._offset(RequestCode.GET_MIN_OFFSET, queue)

    async def max_offset(self, queue: MessageQueue) -> int:
        """Query the offset after the last message of *queue*."""
        return await self._offset(RequestCode.GET_MAX_OFFSET, queue)

    async def search_offset(self, queue: MessageQueue, time_ms: int) -> int:
        """Query the offset of the message of *queue* stored at *time_ms*."""
        code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
        return await self._offset(code, queue, {"timestamp": time_ms})

    async def committed(self, queue: MessageQueue) -> int | None:
        """Query the group's committed offset; None without any."""
        fields = {"consumerGroup": self.options.group}
        request = queue_command(RequestCode.QUERY_CONSUMER_OFFSET, queue, fields)
        result = await self._client.invoke_broker(queue, request)
        return value_of(committed_offset_of(result))

    async def commit(self, queue: MessageQueue, offset: int) -> None:
        """Commit *offset*, without a response.

        Raises ClientError if no route has the queue's broker.
        """
        address = await self._client.find_broker(queue)
        if address is None:
            raise ClientError(Failure(reason=Reason.NO_BROKER))
        fields = {"consumerGroup": self.options.group, "commitOffset": offset}
        code = RequestCode.UPDATE_CONSUMER_OFFSET
        self._rpc.invoke_oneway(
            address, queue_command(code, queue, fields, oneway=True)
        )

    async def _offset(
        self,
        code: RequestCode,
        queue: MessageQueue,
        fields: Mapping[str, object] | None = None,
    ) -> int:
        request = queue_command(code, queue, fields)
        return value_of(offset_of(await self._client.invoke_broker(queue, request)))
