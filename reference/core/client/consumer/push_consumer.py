"""
A push consumer: a member of a group, with its share of the queues of one topic.

It sends heartbeats, rebalances, and leaves pulling to the pull loop. A change of the
group's members is handled after a broker's notification, or within 20 seconds (Java:
DefaultMQPushConsumerImpl).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.client_instance import ClientInstance, GroupMember
from reference.core.client.consumer.admin_request_handler import AdminRequestHandler
from reference.core.client.consumer.concurrently import ConcurrentPullLoop
from reference.core.client.consumer.orderly import OrderlyPullLoop
from reference.core.client.effects import DeliverMessages
from reference.core.client.hooks import ConsumeHooks
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.subscription import consumer_data, subscription_of
from reference.core.client.rebalance.rebalance import Rebalance
from reference.core.client.remoting.errors import ClientError
from reference.core.client.remoting.rpc_client import failure_of, is_success
from reference.core.client.remoting.tasks import start
from reference.core.client.validators import check_topic
from reference.core.remoting.request import Request
from reference.core.remoting.response import create_request
from spec.client.subscription import CHECK_TIMEOUT_MS
from spec.wire.bodies.heartbeat import (
    ALL_MESSAGES,
    TAG,
    CheckClientRequestBody,
    ConsumerData,
    SubscriptionData,
)
from spec.wire.bodies.json_body import body_as_json, encode_body
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.request_code import RequestCode


class PushConsumer(GroupMember):
    """A push consumer without sockets and threads."""

    def __init__(self, options: ConsumerOptions, client: ClientInstance) -> None:
        super().__init__(options, client)
        check_topic(options.topic)
        self.options = options
        subscriptions = _subscriptions(options, version=client.rpc.now_ms())
        self._group_data = consumer_data(
            options.group,
            subscriptions,
            is_push=True,
            broadcasts=options.broadcasts,
            consume_from=_consume_from(options),
        )
        loop_type = OrderlyPullLoop if options.is_orderly else ConcurrentPullLoop
        self.pull_loop = loop_type(options, client)
        by_topic = {one.topic: one for one in subscriptions}
        self._rebalance = Rebalance(options, client, by_topic, self.pull_loop.assign)
        self._hooks = ConsumeHooks(options.group, options.hooks, client.rpc.now_ms)
        self._admin = AdminRequestHandler(
            options,
            client,
            consumer_data=self._group_data,
            pull_loop=self.pull_loop,
            rebalance=self._rebalance.rebalance,
        )

    def group_data(self) -> ConsumerData:
        """Return the consumer's part of a heartbeat."""
        return self._group_data

    async def check_expression(self) -> None:
        """Have a broker check an expression that is not of tags.

        Raises ClientError if it is wrong, or not enabled.
        """
        subscription = self._group_data.subscriptions[0]
        if subscription.expression_type == TAG:
            return
        route = await self._routes.fetch(subscription.topic)
        first = None if route is None else self._routes.any_broker(route)
        if first is None:
            return
        check = CheckClientRequestBody(  # [CLIENT-SUBSCRIBE-005]
            client_id=self._client.client_id,
            group=self.options.group,
            subscription=body_as_json(subscription),
        )
        body = encode_body(check)
        request = create_request(RequestCode.CHECK_CLIENT_CONFIG, body=body)
        result = await self._rpc.invoke(first, request, CHECK_TIMEOUT_MS)
        if not is_success(result):
            raise ClientError(failure_of(result))

    def start(self) -> None:
        """Join the group."""
        self._rebalance.start()
        self.pull_loop.start()
        super().start()
        start(self._announce())

    def stop(self) -> None:
        """Commit offsets and leave the group."""
        self.pull_loop.stop()
        self._rpc.abandon()
        super().stop()

    def begin_consume(self, delivery: DeliverMessages) -> bool:
        """Run the hooks before the listener's call.

        Return False, without the hooks, if the messages were dropped meanwhile.
        """
        if delivery.direct is None:
            if not self.pull_loop.begin_consume(delivery):
                return False
            self._hooks.before(delivery.queue, delivery.messages)
        return True

    def process_consume_result(
        self,
        delivery: DeliverMessages,
        failed: Sequence[MessageExt] = (),
        *,
        error: str | None = None,
    ) -> None:
        """Process the listener's result; *error* is its exception."""
        queue, messages = delivery.queue, delivery.messages
        if delivery.direct is None:
            self._hooks.after(queue, messages, failed, error=error)
            self.pull_loop.process_consume_result(queue, messages, failed=failed)
            return
        self._admin.process_consume_result(
            delivery.direct, is_failed=bool(failed), error=error
        )

    @property
    def has_route(self) -> bool:
        """Whether a name server has returned a route of the topic."""
        return self.options.topic in self._routes.table

    async def _announce(self) -> None:
        """Send the first heartbeats, after fetching the route."""
        await self._routes.fetch(self.options.topic)
        self.send_heartbeats()

    def _on_heartbeat(self, address: str, response: Request) -> None:
        super()._on_heartbeat(address, response)
        self._rebalance.on_heartbeat()


def _subscriptions(
    options: ConsumerOptions, *, version: int
) -> tuple[SubscriptionData, ...]:
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


def _consume_from(options: ConsumerOptions) -> str:
    if options.from_time_ms is not None:
        return "CONSUME_FROM_TIMESTAMP"
    where = "FIRST" if options.from_first else "LAST"
    return f"CONSUME_FROM_{where}_OFFSET"
