"""
Which queues of a topic are a member's: its share of the group's.

A broker is asked who is in the group; whoever broadcasts has all and asks nobody. The
shares are looked at anew every 20 seconds, when a broker says that members changed, and
as soon as the first broker has heard of us.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from reference.core.answer import Answer
from reference.core.client.allocation import Allocation
from reference.core.client.asking import Asker, Outcome
from reference.core.client.failure import Failure
from reference.core.client.message import Queue
from reference.core.client.queues import subscribe_queues
from reference.core.client.requests import members_question
from reference.core.client.routes import Routes
from reference.core.request import Request
from spec.client.allocation import REBALANCE_PERIOD_MS
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.layout import LayoutError
from spec.routing.route_data import TopicRoute
from spec.wire.heartbeat import GroupMembers, Subscription
from spec.wire.json_body import decode_body
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

Own = Callable[[Collection[Queue], Subscription, int], None]
"""Reads exactly these queues of the subscription's topic; it is given the time."""


class MemberOptions(Protocol):
    """What of a consumer's options its share depends on."""

    @property
    def group(self) -> str:
        """The group that it is a member of."""

    @property
    def client_id(self) -> str:
        """By what others know it."""

    @property
    def rule(self) -> Allocation:
        """Who gets which queues."""

    @property
    def broadcasts(self) -> bool:
        """Whether every member reads everything."""


class Sharing:
    """One member's way to its share."""

    def __init__(
        self,
        options: MemberOptions,
        *,
        asker: Asker,
        routes: Routes,
        subscriptions: Callable[[], Collection[Subscription]],
        own: Own,
    ) -> None:
        self.is_known = False
        """Whether a broker has heard what we are subscribed to now."""
        self._options = options
        self._asker = asker
        self._routes = routes
        self._subscriptions = subscriptions
        self._own = own
        asker.handlers[RequestCode.NOTIFY_CONSUMER_IDS_CHANGED] = self._members_changed

    def start(self, now_ms: int) -> None:
        """Look at the shares every so often, from now on."""
        first_ms = now_ms + REBALANCE_PERIOD_MS  # [CLIENT-ALLOCATE-010]
        every = self._asker.schedule.every
        every(REBALANCE_PERIOD_MS, self.rebalance, first_ms=first_ms)

    def rebalance(self, now_ms: int) -> None:
        """Look anew at which queues are ours."""
        for subscription in self._subscriptions():
            self._look(subscription, now_ms)

    def was_heard(self, outcome: Outcome, now_ms: int) -> None:
        """Take a share as soon as a broker knows that we are there."""
        if not self.is_known and not isinstance(outcome, Failure):
            self.is_known = True
            self.rebalance(now_ms)

    def _members_changed(
        self, _address: str, request: Request, now_ms: int
    ) -> Answer | None:
        if request.optional_text("consumerGroup") == self._options.group:
            self.rebalance(now_ms)
        return None

    def _look(self, subscription: Subscription, now_ms: int) -> None:
        """Find the share of a topic anew; without an answer what was ours stays so."""
        topic = subscription.topic
        route = self._routes.known(topic)
        if route is not None:
            self._ask_members(subscription, route, now_ms)
            return

        def then(found: TopicRoute | None, later_ms: int) -> None:
            if found is not None:
                self._ask_members(subscription, found, later_ms)

        self._routes.ask(topic, then, now_ms=now_ms)

    def _ask_members(
        self, subscription: Subscription, route: TopicRoute, now_ms: int
    ) -> None:
        """Ask a broker of the topic who is in the group, and take our share."""
        queues = subscribe_queues(subscription.topic, route)  # [CLIENT-ALLOCATE-008]
        if self._options.broadcasts:  # [CLIENT-ALLOCATE-009]
            self._own(queues, subscription, now_ms)
            return

        def then(outcome: Outcome, later_ms: int) -> None:
            members = _members_of(outcome)
            if members is None:
                return  # what was ours stays so
            own = self._options.rule(self._options.client_id, queues, sorted(members))
            here = [queue for queue in own if queue.topic == subscription.topic]
            self._own(here, subscription, later_ms)

        names = [data.broker_name for data in route.broker_datas]
        address = self._routes.any_address(names[0]) if names else None
        if address is not None:
            asked = members_question(self._options.group)
            self._asker.ask(address, asked, then, until_ms=now_ms + OFFSET_TIMEOUT_MS)


def _members_of(outcome: Outcome) -> Sequence[str] | None:
    """Return the ids in a broker's answer, if it is one."""
    if isinstance(outcome, Failure) or outcome.code != ResponseCode.SUCCESS:
        return None
    try:
        return decode_body(GroupMembers, outcome.body).client_ids
    except LayoutError:
        return None
