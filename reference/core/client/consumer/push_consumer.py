"""
A push consumer: a member of a group, with its share of the queues of one topic.

It sends heartbeats, rebalances, and leaves pulling to the pull loop. A change of the
group's members is handled after a broker's notification, or within 20 seconds (Java:
DefaultMQPushConsumerImpl).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reference.core.client.consumer.admin_request_handler import AdminRequestHandler
from reference.core.client.consumer.pull_loop import PullLoop
from reference.core.client.heartbeat import HeartbeatService
from reference.core.client.hooks import ConsumeHooks
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.subscription import subscription_of
from reference.core.client.rebalance.rebalance import Rebalance
from reference.core.client.remoting.rpc_client import DeliverMessages, RpcClient
from reference.core.client.route.routes import Routes
from reference.core.client.validators import check_group, check_topic
from spec.routing.route_data import TopicRoute
from spec.wire.bodies.heartbeat import (
    ALL_MESSAGES,
    ConsumerMembership,
    Heartbeat,
    Subscription,
)
from spec.wire.message.topic_names import RETRY_PREFIX


class Consumer:
    """A push consumer without sockets and threads."""

    def __init__(
        self,
        options: ConsumerOptions,
        *,
        rpc: RpcClient,
        routes: Routes,
        now_ms: int,
        persisted: Mapping[MessageQueue, int] | None = None,
    ) -> None:
        check_group(options.group)
        check_topic(options.topic)
        self.options = options
        self.subscriptions = _subscriptions(options, version=now_ms)
        self._rpc = rpc
        self._routes = routes
        self.pull_loop = PullLoop(options, rpc=rpc, routes=routes, persisted=persisted)
        self._rebalance = Rebalance(
            options,
            rpc=rpc,
            routes=routes,
            subscriptions=lambda: self.subscriptions,
            assign=self.pull_loop.assign,
        )
        self._member = _membership(options, self.subscriptions)
        self._heartbeats = HeartbeatService(
            rpc,
            routes,
            self.heartbeat,
            self._rebalance.on_heartbeat_result,
            period_ms=options.periods.heartbeat_ms,
        )
        self._hooks = ConsumeHooks(options.group, options.hooks)
        self._admin = AdminRequestHandler(
            options,
            self._member,
            rpc=rpc,
            routes=routes,
            pull_loop=self.pull_loop,
            rebalance=self._rebalance.rebalance,
            started_ms=now_ms,
        )

    def start(self, now_ms: int) -> None:
        """Join the group."""
        self._rebalance.start(now_ms)
        self.pull_loop.start(now_ms)
        self._routes.start(now_ms)
        self._heartbeats.start(now_ms)

        def on_route(_route: TopicRoute | None, later_ms: int) -> None:
            self._heartbeats.send_heartbeats(later_ms)

        self._routes.fetch(self.options.topic, on_route, now_ms=now_ms)

    def stop(self, now_ms: int) -> None:
        """Commit offsets and leave the group."""
        self.pull_loop.commit_all(now_ms)
        for subscription in self.subscriptions:
            self.pull_loop.assign((), subscription, now_ms)
        self._rpc.abandon()
        self._heartbeats.unregister(now_ms)

    def heartbeat(self) -> Heartbeat:
        """Return the body of HEART_BEAT."""
        return Heartbeat(client_id=self.options.client_id, consumers=(self._member,))

    def on_delivered(self, delivery: DeliverMessages, now_ms: int) -> None:
        """Run the hooks before the listener is called."""
        if delivery.ticket is None:
            self._hooks.before(delivery.queue, delivery.messages, now_ms)

    def process_consume_result(
        self,
        delivery: DeliverMessages,
        failed: Sequence[MessageExt] = (),
        *,
        error: str | None = None,
        now_ms: int,
    ) -> None:
        """Process the listener's result; *error* is its exception."""
        queue, messages = delivery.queue, delivery.messages
        if delivery.ticket is None:
            self._hooks.after(queue, messages, failed, error=error, now_ms=now_ms)
            self.pull_loop.process_consume_result(
                queue, messages, failed=failed, now_ms=now_ms
            )
            return
        self._admin.direct.process_consume_result(
            delivery.ticket, is_failed=bool(failed), error=error, now_ms=now_ms
        )


def _subscriptions(
    options: ConsumerOptions, *, version: int
) -> tuple[Subscription, ...]:
    """Build the subscriptions to the topic and, if clustering, the retry topic."""
    topic = subscription_of(
        options.topic,
        options.expression,
        version=version,
        expression_type=options.expression_type,
    )
    if options.broadcasts:
        return (topic,)
    retry_topic = RETRY_PREFIX + options.group  # [CLIENT-SENDBACK-002]
    return topic, subscription_of(retry_topic, ALL_MESSAGES, version=version)


def _membership(
    options: ConsumerOptions, subscriptions: tuple[Subscription, ...]
) -> ConsumerMembership:
    """Build the group's part of a heartbeat."""
    from_where = "FIRST_OFFSET" if options.from_first else "LAST_OFFSET"
    if options.from_time_ms is not None:
        from_where = "TIMESTAMP"
    return ConsumerMembership(
        group=options.group,
        consume_type="CONSUME_PASSIVELY",
        message_model="BROADCASTING" if options.broadcasts else "CLUSTERING",
        consume_from=f"CONSUME_FROM_{from_where}",
        subscriptions=subscriptions,
    )
