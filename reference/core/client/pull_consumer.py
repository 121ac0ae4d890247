"""
A consumer that reads what it wants: the application names queues, offsets and counts.

It shares queues with nobody and keeps no offset by itself; brokers hear of its group by
heartbeats all the same, so that tools find it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from reference.core.client.asking import Asker, Outcome
from reference.core.client.checks import check_group, check_topic
from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.hooks import ConsumeHook, ConsumeHooks
from reference.core.client.membership import Membership
from reference.core.client.message import Queue
from reference.core.client.periods import USUAL_PERIODS, Periods
from reference.core.client.pulling import Filter, Pulled, pull_command, pulled
from reference.core.client.queues import subscribe_queues
from reference.core.client.requests import (
    begin_question,
    commit_notice,
    end_question,
    offset_question,
    search_question,
)
from reference.core.client.routes import Routes
from reference.core.client.subscription import subscription_of
from reference.core.request import FieldError
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.routing.route_data import MASTER_ID, TopicRoute
from spec.wire.command import Command
from spec.wire.heartbeat import ALL_MESSAGES, ConsumerMembership, Heartbeat
from spec.wire.response_code import ResponseCode

PULL_TIMEOUT_MS = 10_000
"""Java: consumerPullTimeoutMillis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullOptions:
    """What it is set to; the defaults are those of 4.6.0."""

    group: str
    client_id: str
    periods: Periods = USUAL_PERIODS
    filters: tuple[Filter, ...] = ()
    hooks: tuple[ConsumeHook, ...] = ()
    """They hear of a message when it was pulled; it counts as handled at once."""


class PullConsumer:
    """Asks brokers for messages and offsets; each call has a number and a result."""

    def __init__(self, options: PullOptions, *, asker: Asker, routes: Routes) -> None:
        check_group(options.group)
        self.options = options
        self._asker = asker
        self._routes = routes
        self._numbers = itertools.count(1)
        self._hooks = ConsumeHooks(options.group, options.hooks)
        self._suggested: dict[Queue, int] = {}
        """The broker that is pulled from next, where it is not the master."""
        self._membership = Membership(
            asker,
            routes,
            self.heartbeat,
            self._was_heard,
            period_ms=options.periods.heartbeat_ms,
        )

    def start(self, now_ms: int) -> None:
        """Tell brokers of the group, from now on."""
        self._routes.start(now_ms)
        self._membership.start(now_ms)

    def stop(self, now_ms: int) -> None:
        """Wait for nothing more and leave the group."""
        self._asker.abandon()
        self._membership.leave(now_ms)

    def queues(self, topic: str, now_ms: int) -> int:
        """Ask which queues of *topic* may be read; the result is a tuple of them."""
        check_topic(topic)
        number = next(self._numbers)

        def found(route: TopicRoute | None, _later_ms: int) -> None:
            if route is None:
                failure = Failure(reason=Reason.NO_ROUTE, remark=topic)
                self._asker.finish(number, ClientError(failure))
            else:
                self._asker.finish(number, subscribe_queues(topic, route))

        self._routes.ask(topic, found, now_ms=now_ms)
        return number

    def pull(
        self,
        queue: Queue,
        expression: str = ALL_MESSAGES,
        *,
        offset: int,
        count: int,
        now_ms: int,
        timeout_ms: int = PULL_TIMEOUT_MS,
    ) -> int:
        """Ask for *count* messages from *offset* on; the result is a Pulled.

        The broker answers at once, whether or not there are any.
        """
        subscription = subscription_of(queue.topic, expression, version=0)
        asked = pull_command(
            queue,
            subscription,
            group=self.options.group,
            offset=offset,
            max_count=count,
            waits=False,
        )

        def read(outcome: Outcome) -> Pulled | Failure:
            found = pulled(outcome, queue, subscription, self.options.filters)
            if isinstance(found, Pulled):  # [CLIENT-PULL-003]
                self._suggested[queue] = found.suggested_broker_id
                self._hooks.begin(queue, found.messages, now_ms)
                self._hooks.end(queue, found.messages, now_ms=now_ms)
            return found

        return self._call(
            queue,
            asked,
            read,
            now_ms=now_ms,
            timeout_ms=timeout_ms,
            broker_id=self._suggested.get(queue, MASTER_ID),
        )

    def first_offset(self, queue: Queue, now_ms: int) -> int:
        """Ask for the offset of the first message that *queue* has."""
        return self._call(queue, begin_question(queue), offset_in, now_ms=now_ms)

    def end_offset(self, queue: Queue, now_ms: int) -> int:
        """Ask for the offset that the next message of *queue* will have."""
        return self._call(queue, end_question(queue), offset_in, now_ms=now_ms)

    def offset_at(self, queue: Queue, time_ms: int, now_ms: int) -> int:
        """Ask for the offset of the message of *queue* that was stored at a time."""
        asked = search_question(queue, time_ms)
        return self._call(queue, asked, offset_in, now_ms=now_ms)

    def committed(self, queue: Queue, now_ms: int) -> int:
        """Ask how far the group has come; the result is None where it was never."""

        def read(outcome: Outcome) -> int | Failure | None:
            if _code(outcome) == ResponseCode.QUERY_NOT_FOUND:
                return None
            return offset_in(outcome)

        asked = offset_question(self.options.group, queue)
        return self._call(queue, asked, read, now_ms=now_ms)

    def commit(self, queue: Queue, offset: int, now_ms: int) -> int:
        """Tell that the group has handled everything before *offset*; no result."""
        told = commit_notice(self.options.group, queue, offset)
        number = next(self._numbers)

        def then(address: str, _later_ms: int) -> None:
            self._asker.tell(address, told)
            self._asker.finish(number, None)

        self._reach(queue, number, then, now_ms)
        return number

    def heartbeat(self) -> Heartbeat:
        """Return what brokers are told: a group that pulls, and no subscription."""
        member = ConsumerMembership(
            group=self.options.group,
            consume_type="CONSUME_ACTIVELY",
            message_model="CLUSTERING",
            consume_from="CONSUME_FROM_LAST_OFFSET",
            subscriptions=(),
        )
        return Heartbeat(client_id=self.options.client_id, consumers=(member,))

    def _was_heard(self, outcome: Outcome, now_ms: int) -> None:
        """Note that a broker knows of the group; who shares queues has to."""

    def _call(
        self,
        queue: Queue,
        asked: Command,
        read: Callable[[Outcome], object],
        *,
        now_ms: int,
        timeout_ms: int = OFFSET_TIMEOUT_MS,
        broker_id: int = MASTER_ID,
    ) -> int:
        """Ask a broker of *queue*; the result is what *read* makes of the answer."""
        number = next(self._numbers)

        def answered(outcome: Outcome, _later_ms: int) -> None:
            found = read(outcome)
            if isinstance(found, Failure):
                self._asker.finish(number, ClientError(found))
            else:
                self._asker.finish(number, found)

        def then(address: str, later_ms: int) -> None:
            until_ms = later_ms + timeout_ms
            self._asker.ask(address, asked, answered, until_ms=until_ms)

        self._reach(queue, number, then, now_ms, broker_id)
        return number

    def _reach(
        self,
        queue: Queue,
        number: int,
        then: Callable[[str, int], None],
        now_ms: int,
        broker_id: int = MASTER_ID,
    ) -> None:
        """Go on with an address of the broker; its route is asked for if need be."""

        def found(_route: TopicRoute | None, later_ms: int) -> None:
            address = self._address(queue, broker_id)
            if address is None:
                failure = Failure(reason=Reason.NO_BROKER, remark=queue.broker_name)
                self._asker.finish(number, ClientError(failure))
            else:
                then(address, later_ms)

        if self._address(queue, broker_id) is None:
            self._routes.ask(queue.topic, found, now_ms=now_ms)
        else:
            found(None, now_ms)

    def _address(self, queue: Queue, broker_id: int) -> str | None:
        """Return where the broker of this id is, or another of the same name."""
        name = queue.broker_name
        return self._routes.address(name, broker_id) or self._routes.any_address(name)


def _code(outcome: Outcome) -> int | None:
    return None if isinstance(outcome, Failure) else outcome.code


def offset_in(outcome: Outcome) -> int | Failure:
    """Return the offset that an answer has, or why it has none."""
    if isinstance(outcome, Failure):
        return outcome
    remark = outcome.remark or ""
    try:
        if outcome.code == ResponseCode.SUCCESS:
            return outcome.int64("offset")
    except FieldError as error:
        remark = str(error)
    return Failure(reason=Reason.REFUSED, code=outcome.code, remark=remark)
