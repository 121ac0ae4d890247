"""
A consumer: a member of a group that reads its share of a topic's queues.

It tells brokers that it is there, asks who else is, and takes its share; a reader does
the rest. Whoever comes or goes is noticed by a word of the broker, or in 20 seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reference.core.client.administered import Administered
from reference.core.client.allocation import Allocation, averaged
from reference.core.client.asking import Asker, Deliver
from reference.core.client.backlog import USUAL_LIMITS, Limits
from reference.core.client.checks import check_group, check_topic
from reference.core.client.directly import Directly
from reference.core.client.hooks import ConsumeHook, ConsumeHooks
from reference.core.client.locks import Locks
from reference.core.client.membership import Membership
from reference.core.client.message import Queue
from reference.core.client.periods import USUAL_PERIODS, Periods
from reference.core.client.pulling import Filter, Received
from reference.core.client.reading import Reader, ReadingOptions
from reference.core.client.routes import Routes
from reference.core.client.sharing import Sharing
from reference.core.client.subscription import TAGS, subscription_of
from reference.core.schedule import Schedule
from spec.routing.route_data import TopicRoute
from spec.wire.groups import RETRY_PREFIX
from spec.wire.heartbeat import (
    ALL_MESSAGES,
    ConsumerMembership,
    Heartbeat,
    Subscription,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOptions:
    """What a consumer is set to; the defaults are those of 4.6.0."""

    group: str
    client_id: str
    topic: str
    expression: str = ALL_MESSAGES
    expression_type: str = TAGS
    """TAG or SQL92."""
    from_first: bool = False
    from_time_ms: int | None = None
    """If given, a group that has read nothing begins at this time."""
    broadcasts: bool = False
    """Every member reads everything, and keeps to itself how far."""
    in_order: bool = False
    """A queue is read by one member alone, message by message."""
    limits: Limits = USUAL_LIMITS
    """How far it pulls ahead of the application; in order whatever the span."""
    batch_size: int = 32
    retries_max: int | None = None
    """How often a message that failed is handled again (Java: maxReconsumeTimes); if
    not given, 16 times, and in order without end."""
    rule: Allocation = averaged
    periods: Periods = USUAL_PERIODS
    filters: tuple[Filter, ...] = ()
    hooks: tuple[ConsumeHook, ...] = ()


class Consumer:
    """Reads messages as a member of a group."""

    def __init__(
        self,
        options: ConsumerOptions,
        *,
        asker: Asker,
        routes: Routes,
        now_ms: int,
        remembered: Mapping[Queue, int] | None = None,
    ) -> None:
        check_group(options.group)
        check_topic(options.topic)
        self.options = options
        self.made_ms = now_ms
        limits = options.limits
        if options.in_order:  # [CLIENT-PULL-011]
            limits = replace(limits, span=None)
        self.reader = Reader(
            ReadingOptions(
                group=options.group,
                from_first=options.from_first,
                from_time_ms=options.from_time_ms,
                keeps_offsets=not options.broadcasts,
                in_order=options.in_order,
                limits=limits,
                batch_size=options.batch_size,
                retries_max=options.retries_max,
                filters=options.filters,
            ),
            asker=asker,
            routes=routes,
            locks=self._locks(asker, routes),
            remembered=remembered,
        )
        self._sharing = Sharing(
            options,
            asker=asker,
            routes=routes,
            subscriptions=lambda: self.subscriptions,
            own=self.reader.own,
        )
        self.membership = Membership(
            asker,
            routes,
            self.heartbeat,
            self._sharing.was_heard,
            period_ms=options.periods.heartbeat_ms,
        )
        self._asker = asker
        self._routes = routes
        self.subscriptions = self._subscribe(now_ms)
        self.directly = Directly(asker, in_order=options.in_order)
        self._hooks = ConsumeHooks(options.group, options.hooks)
        asker.handlers.update(Administered(self).handlers)

    @property
    def schedule(self) -> Schedule:
        """What it has to do later."""
        return self._asker.schedule

    @property
    def name_servers(self) -> Sequence[str]:
        """Where it asks for routes."""
        return self._routes.name_servers

    def start(self, now_ms: int) -> None:
        """Join the group and read, from now on."""
        self._sharing.start(now_ms)
        every = self._asker.schedule.every
        commit_ms = self.options.periods.commit_ms
        every(commit_ms, self.reader.commit_all, first_ms=now_ms + commit_ms)
        if self.options.in_order and not self.options.broadcasts:
            lock_ms = self.options.periods.lock_ms  # [CLIENT-ORDER-002]
            every(lock_ms, self.reader.lock_all, first_ms=now_ms + lock_ms)
        self._routes.start(now_ms)
        self.membership.start(now_ms)

        def then(_route: TopicRoute | None, later_ms: int) -> None:
            self.membership.beat(later_ms)

        self._routes.ask(self.options.topic, then, now_ms=now_ms)

    def stop(self, now_ms: int) -> None:
        """Commit what was handled and leave the group."""
        self.reader.commit_all(now_ms)
        for subscription in self.subscriptions:
            self.reader.own((), subscription, now_ms)
        self._asker.abandon()
        self.membership.leave(now_ms)

    def taken(self, delivery: Deliver, now_ms: int) -> None:
        """Note that the application takes *delivery*; hooks hear of it."""
        if delivery.ticket is None:
            self._hooks.begin(delivery.queue, delivery.messages, now_ms)

    def handled(
        self,
        delivery: Deliver,
        failed: Sequence[Received] = (),
        *,
        error: str | None = None,
        now_ms: int,
    ) -> None:
        """Note that *delivery* is handled, all but *failed*, because of an *error*."""
        if delivery.ticket is None:
            self._hooks.end(
                delivery.queue, delivery.messages, failed, error=error, now_ms=now_ms
            )
            self.reader.handled(
                delivery.queue, delivery.messages, failed=failed, now_ms=now_ms
            )
            return
        self.directly.handled(
            delivery.ticket, is_failed=bool(failed), error=error, now_ms=now_ms
        )

    def rebalance(self, now_ms: int) -> None:
        """Look anew at which queues are ours."""
        self._sharing.rebalance(now_ms)

    def _locks(self, asker: Asker, routes: Routes) -> Locks | None:
        """Return what locks queues, where they are read in order and shared."""
        options = self.options
        if not options.in_order or options.broadcasts:
            return None
        return Locks(
            options.group,
            options.client_id,
            asker=asker,
            routes=routes,
            lives_ms=options.periods.lock_lives_ms,
        )

    def _subscribe(self, now_ms: int) -> tuple[Subscription, ...]:
        options = self.options
        own = subscription_of(
            options.topic,
            options.expression,
            version=now_ms,
            expression_type=options.expression_type,
        )
        if options.broadcasts:
            return (own,)
        retries = RETRY_PREFIX + options.group  # [CLIENT-RETURN-002]
        return own, subscription_of(retries, ALL_MESSAGES, version=now_ms)

    def heartbeat(self) -> Heartbeat:
        """Return what brokers are told of this member."""
        begins = "FIRST_OFFSET" if self.options.from_first else "LAST_OFFSET"
        if self.options.from_time_ms is not None:
            begins = "TIMESTAMP"
        member = ConsumerMembership(
            group=self.options.group,
            consume_type="CONSUME_PASSIVELY",
            message_model="BROADCASTING" if self.options.broadcasts else "CLUSTERING",
            consume_from=f"CONSUME_FROM_{begins}",
            subscriptions=self.subscriptions,
        )
        return Heartbeat(client_id=self.options.client_id, consumers=(member,))
