"""
Subscriptions: a topic with a tag or SQL92 filter (Java: FilterAPI, SubscriptionData).

Every broker knows tags. A consumer with another type of expression has one broker check
it before the start, because it may be wrong or not enabled.
"""

from __future__ import annotations

from reference.core.client.remoting.errors import ClientError, Failure
from reference.core.client.remoting.requests import client_request
from reference.core.client.remoting.rpc_client import Result, RpcClient, failure_of
from reference.core.client.route.routes import Routes
from spec.client.subscribing import CHECK_TIMEOUT_MS
from spec.integers import java_string_hash
from spec.routing.route_data import TopicRoute
from spec.wire.bodies.heartbeat import ALL_MESSAGES, FilterCheck, Subscription
from spec.wire.bodies.json_body import body_as_json, encode_body
from spec.wire.message.properties import Property
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

_OR = "||"
TAGS = "TAG"
"""The expression type that every broker knows."""
CHECK_CALL = 0
"""Number of the check's call; the push consumer has no other call."""


def subscription_of(
    topic: str, expression: str, *, version: int, expression_type: str = TAGS
) -> Subscription:
    """Build the subscription to the tags in *expression*, or to every message."""
    if expression_type != TAGS:  # [CLIENT-SUBSCRIBE-003]
        return Subscription(
            topic=topic,
            expression=expression,
            version=version,
            expression_type=expression_type,
        )
    text = expression.strip() or ALL_MESSAGES
    parts = [] if text == ALL_MESSAGES else text.split(_OR)
    tags = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return Subscription(
        topic=topic,
        expression=text,
        tags=tags,
        # [CLIENT-SUBSCRIBE-002]
        codes=tuple(dict.fromkeys(java_string_hash(tag) for tag in tags)),
        version=version,
    )


def matches_tags(subscription: Subscription, properties: dict[str, str]) -> bool:
    """Return whether the tag of a message, compared as text, is subscribed to."""
    if not subscription.tags:
        return True
    return properties.get(Property.TAGS) in subscription.tags  # [CLIENT-PULL-002]


class SubscriptionCheck:
    """Sends CHECK_CLIENT_CONFIG to one broker of the topic."""

    def __init__(
        self, group: str, client_id: str, *, rpc: RpcClient, routes: Routes
    ) -> None:
        self._group = group
        self._client_id = client_id
        self._rpc = rpc
        self._routes = routes

    def begin(self, subscription: Subscription, now_ms: int) -> int:
        """Begin the check; return the number of its call."""
        if subscription.expression_type == TAGS:
            self._rpc.finish(CHECK_CALL, None)
            return CHECK_CALL

        def on_route(route: TopicRoute | None, later_ms: int) -> None:
            address = None if route is None else self._routes.first_broker(route)
            if address is None:
                self._rpc.finish(CHECK_CALL, None)
            else:
                self._send(address, subscription, later_ms)

        self._routes.fetch(subscription.topic, on_route, now_ms=now_ms)
        return CHECK_CALL

    def _send(self, address: str, subscription: Subscription, now_ms: int) -> None:
        check = FilterCheck(
            client_id=self._client_id,
            group=self._group,
            subscription=body_as_json(subscription),
        )
        body = encode_body(check)
        request = client_request(RequestCode.CHECK_CLIENT_CONFIG, body=body)
        until_ms = now_ms + CHECK_TIMEOUT_MS  # [CLIENT-SUBSCRIBE-005]
        self._rpc.invoke(address, request, self._on_result, until_ms=until_ms)

    def _on_result(self, result: Result, _now_ms: int) -> None:
        if isinstance(result, Failure):
            self._rpc.finish(CHECK_CALL, ClientError(result))
        elif result.code != ResponseCode.SUCCESS:
            self._rpc.finish(CHECK_CALL, ClientError(failure_of(result)))
        else:
            self._rpc.finish(CHECK_CALL, None)
