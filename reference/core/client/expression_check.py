"""
Whether a broker can choose messages as a consumer wants it: asked before it starts.

Tags are known to every broker; an expression of another type may be wrong, or not
allowed there.
"""

from __future__ import annotations

from reference.core.client.asking import Asker, Outcome
from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.requests import command
from reference.core.client.routes import Routes
from reference.core.client.subscription import TAGS
from spec.client.subscribing import CHECK_TIMEOUT_MS
from spec.routing.route_data import TopicRoute
from spec.wire.heartbeat import FilterCheck, Subscription
from spec.wire.json_body import body_as_json, encode_body
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

CALL = 0
"""The number of the call: a consumer has no other."""


class ExpressionCheck:
    """Asks one broker of the topic about a subscription."""

    def __init__(
        self, group: str, client_id: str, *, asker: Asker, routes: Routes
    ) -> None:
        self._group = group
        self._client_id = client_id
        self._asker = asker
        self._routes = routes

    def begin(self, subscription: Subscription, now_ms: int) -> int:
        """Begin to ask; return the number of the call, which may end with an error."""
        if subscription.expression_type == TAGS:
            self._asker.finish(CALL, None)
            return CALL

        def found(route: TopicRoute | None, later_ms: int) -> None:
            names = (
                [] if route is None else [one.broker_name for one in route.broker_datas]
            )
            address = self._routes.any_address(names[0]) if names else None
            if address is None:
                self._asker.finish(CALL, None)
            else:
                self._ask(address, subscription, later_ms)

        self._routes.ask(subscription.topic, found, now_ms=now_ms)
        return CALL

    def _ask(self, address: str, subscription: Subscription, now_ms: int) -> None:
        check = FilterCheck(
            client_id=self._client_id,
            group=self._group,
            subscription=body_as_json(subscription),
        )
        asked = command(RequestCode.CHECK_CLIENT_CONFIG, body=encode_body(check))
        until_ms = now_ms + CHECK_TIMEOUT_MS  # [CLIENT-SUBSCRIBE-005]
        self._asker.ask(address, asked, self._answered, until_ms=until_ms)

    def _answered(self, outcome: Outcome, _now_ms: int) -> None:
        if isinstance(outcome, Failure):
            self._asker.finish(CALL, ClientError(outcome))
        elif outcome.code != ResponseCode.SUCCESS:
            remark = outcome.remark or ""
            refused = Failure(reason=Reason.REFUSED, code=outcome.code, remark=remark)
            self._asker.finish(CALL, ClientError(refused))
        else:
            self._asker.finish(CALL, None)
