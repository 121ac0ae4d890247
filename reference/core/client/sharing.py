"""
Which queues of a topic are a member's: its share of the group's.

A broker is asked who is in the group; whoever broadcasts has all and asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from reference.core.client.allocation import Allocation
from reference.core.client.asking import Asker, Outcome
from reference.core.client.failure import Failure
from reference.core.client.message import Queue
from reference.core.client.queues import subscribe_queues
from reference.core.client.requests import members_question
from reference.core.client.routes import Routes
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.layout import LayoutError
from spec.routing.route_data import TopicRoute
from spec.wire.heartbeat import GroupMembers, Subscription
from spec.wire.json_body import decode_body
from spec.wire.response_code import ResponseCode

Own = Callable[[Collection[Queue], Subscription, int], None]
"""Reads exactly these queues of the subscription's topic; it is given the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """One member's way to its share."""

    group: str
    client_id: str
    rule: Allocation
    broadcasts: bool
    asker: Asker
    routes: Routes
    own: Own

    def look(self, subscription: Subscription, now_ms: int) -> None:
        """Find the share of a topic anew; without an answer what was ours stays so."""
        topic = subscription.topic
        route = self.routes.known(topic)
        if route is not None:
            self._ask_members(subscription, route, now_ms)
            return

        def then(found: TopicRoute | None, later_ms: int) -> None:
            if found is not None:
                self._ask_members(subscription, found, later_ms)

        self.routes.ask(topic, then, now_ms=now_ms)

    def _ask_members(
        self, subscription: Subscription, route: TopicRoute, now_ms: int
    ) -> None:
        """Ask a broker of the topic who is in the group, and take our share."""
        queues = subscribe_queues(subscription.topic, route)  # [CLIENT-ALLOCATE-008]
        if self.broadcasts:  # [CLIENT-ALLOCATE-009]
            self.own(queues, subscription, now_ms)
            return

        def then(outcome: Outcome, later_ms: int) -> None:
            members = _members_of(outcome)
            if members is None:
                return  # what was ours stays so
            own = self.rule(self.client_id, queues, sorted(members))
            here = [queue for queue in own if queue.topic == subscription.topic]
            self.own(here, subscription, later_ms)

        names = [data.broker_name for data in route.broker_datas]
        address = self.routes.any_address(names[0]) if names else None
        if address is not None:
            asked = members_question(self.group)
            self.asker.ask(address, asked, then, until_ms=now_ms + OFFSET_TIMEOUT_MS)


def _members_of(outcome: Outcome) -> Sequence[str] | None:
    """Return the ids in a broker's answer, if it is one."""
    if isinstance(outcome, Failure) or outcome.code != ResponseCode.SUCCESS:
        return None
    try:
        return decode_body(GroupMembers, outcome.body).client_ids
    except LayoutError:
        return None
