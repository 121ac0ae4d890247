"""
A pull consumer: the application names queues, offsets and counts.

It has no assigned queues and commits nothing by itself. Heartbeats register its group,
so that administration tools find it (Java: DefaultMQPullConsumerImpl).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from reference.core.client.heartbeat import HeartbeatService
from reference.core.client.hooks import ConsumeHooks
from reference.core.client.message import MessageQueue
from reference.core.client.options import PullOptions
from reference.core.client.pull.pull_request import (
    PullResult,
    offset_of,
    pull_command,
    pull_result,
)
from reference.core.client.pull.subscription import subscription_of
from reference.core.client.remoting.errors import ClientError, Failure, Reason
from reference.core.client.remoting.requests import (
    get_max_offset_request,
    get_min_offset_request,
    query_consumer_offset_request,
    search_offset_request,
    update_consumer_offset_request,
)
from reference.core.client.remoting.rpc_client import Result, RpcClient
from reference.core.client.route.routes import Routes
from reference.core.client.route.topic_queues import subscribe_queues
from reference.core.client.validators import check_group, check_topic
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.routing.route_data import MASTER_ID, TopicRoute
from spec.wire.bodies.heartbeat import ALL_MESSAGES, ConsumerMembership, Heartbeat
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode

PULL_TIMEOUT_MS = 10_000
"""Java: consumerPullTimeoutMillis."""


class PullConsumer:
    """Pulls and offset queries, each a call with a number and a result."""

    def __init__(self, options: PullOptions, *, rpc: RpcClient, routes: Routes) -> None:
        check_group(options.group)
        self.options = options
        self._rpc = rpc
        self._routes = routes
        self._numbers = itertools.count(1)
        self._hooks = ConsumeHooks(options.group, options.hooks)
        self._suggested: dict[MessageQueue, int] = {}
        """Broker id of the next pull, by queue (Java: pullFromWhichNodeTable)."""
        self._heartbeats = HeartbeatService(
            rpc,
            routes,
            self.heartbeat,
            self._on_heartbeat_result,
            period_ms=options.periods.heartbeat_ms,
        )

    def start(self, now_ms: int) -> None:
        """Register the group with brokers."""
        self._routes.start(now_ms)
        self._heartbeats.start(now_ms)

    def stop(self, now_ms: int) -> None:
        """Leave the group."""
        self._rpc.abandon()
        self._heartbeats.unregister(now_ms)

    def queues(self, topic: str, now_ms: int) -> int:
        """Fetch the readable queues of *topic*; the result is a tuple of them."""
        check_topic(topic)
        number = next(self._numbers)

        def on_route(route: TopicRoute | None, _later_ms: int) -> None:
            if route is None:
                failure = Failure(reason=Reason.NO_ROUTE, remark=topic)
                self._rpc.finish(number, ClientError(failure))
            else:
                self._rpc.finish(number, subscribe_queues(topic, route))

        self._routes.fetch(topic, on_route, now_ms=now_ms)
        return number

    def pull(
        self,
        queue: MessageQueue,
        expression: str = ALL_MESSAGES,
        *,
        offset: int,
        count: int,
        now_ms: int,
        timeout_ms: int = PULL_TIMEOUT_MS,
    ) -> int:
        """Pull up to *count* messages from *offset*; the result is a PullResult.

        The broker does not hold the request.
        """
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
            if isinstance(found, PullResult):  # [CLIENT-PULL-003]
                self._suggested[queue] = found.suggested_broker_id
                self._hooks.before(queue, found.messages, now_ms)
                self._hooks.after(queue, found.messages, now_ms=now_ms)
            return found

        return self._call(
            queue,
            request,
            decode,
            now_ms=now_ms,
            timeout_ms=timeout_ms,
            broker_id=self._suggested.get(queue, MASTER_ID),
        )

    def min_offset(self, queue: MessageQueue, now_ms: int) -> int:
        """Query the offset of the first message of *queue*."""
        return self._call(queue, get_min_offset_request(queue), now_ms=now_ms)

    def max_offset(self, queue: MessageQueue, now_ms: int) -> int:
        """Query the offset after the last message of *queue*."""
        return self._call(queue, get_max_offset_request(queue), now_ms=now_ms)

    def search_offset(self, queue: MessageQueue, time_ms: int, now_ms: int) -> int:
        """Query the offset of the message of *queue* stored at *time_ms*."""
        return self._call(queue, search_offset_request(queue, time_ms), now_ms=now_ms)

    def committed(self, queue: MessageQueue, now_ms: int) -> int:
        """Query the group's committed offset; the result is None without any."""

        def decode(result: Result) -> int | Failure | None:
            missing = ResponseCode.QUERY_NOT_FOUND
            if not isinstance(result, Failure) and result.code == missing:
                return None
            return offset_of(result)

        request = query_consumer_offset_request(self.options.group, queue)
        return self._call(queue, request, decode, now_ms=now_ms)

    def commit(self, queue: MessageQueue, offset: int, now_ms: int) -> int:
        """Commit *offset* oneway; the result is None."""
        number = next(self._numbers)
        request = update_consumer_offset_request(
            self.options.group, queue, offset, oneway=True
        )

        def on_address(address: str, _later_ms: int) -> None:
            self._rpc.invoke_oneway(address, request)
            self._rpc.finish(number, None)

        self._find_broker(queue, number, on_address, now_ms)
        return number

    def heartbeat(self) -> Heartbeat:
        """Return the body of HEART_BEAT; the group has no subscription."""
        member = ConsumerMembership(
            group=self.options.group,
            consume_type="CONSUME_ACTIVELY",
            message_model="CLUSTERING",
            consume_from="CONSUME_FROM_LAST_OFFSET",
            subscriptions=(),
        )
        return Heartbeat(client_id=self.options.client_id, consumers=(member,))

    def _on_heartbeat_result(self, result: Result, now_ms: int) -> None:
        """Do nothing: there is no rebalance."""

    def _call(
        self,
        queue: MessageQueue,
        request: Command,
        decode: Callable[[Result], object] = offset_of,
        *,
        now_ms: int,
        timeout_ms: int = OFFSET_TIMEOUT_MS,
        broker_id: int = MASTER_ID,
    ) -> int:
        """Send *request* to a broker of *queue*; *decode* makes the call's result."""
        number = next(self._numbers)

        def on_result(result: Result, _later_ms: int) -> None:
            found = decode(result)
            if isinstance(found, Failure):
                self._rpc.finish(number, ClientError(found))
            else:
                self._rpc.finish(number, found)

        def on_address(address: str, later_ms: int) -> None:
            until_ms = later_ms + timeout_ms
            self._rpc.invoke(address, request, on_result, until_ms=until_ms)

        self._find_broker(queue, number, on_address, now_ms, broker_id)
        return number

    def _find_broker(
        self,
        queue: MessageQueue,
        number: int,
        callback: Callable[[str, int], None],
        now_ms: int,
        broker_id: int = MASTER_ID,
    ) -> None:
        """Call back with a broker's address, after fetching the route if needed."""

        def on_route(_route: TopicRoute | None, later_ms: int) -> None:
            address = self._routes.pull_address(queue.broker_name, broker_id)
            if address is None:
                failure = Failure(reason=Reason.NO_BROKER, remark=queue.broker_name)
                self._rpc.finish(number, ClientError(failure))
            else:
                callback(address, later_ms)

        if self._routes.pull_address(queue.broker_name, broker_id) is None:
            self._routes.fetch(queue.topic, on_route, now_ms=now_ms)
        else:
            on_route(None, now_ms)
