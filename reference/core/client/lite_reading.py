"""
A lite pull consumer's queues, each pulled ahead of the application that polls.

There is one pull of a queue at a time, which the broker holds while there is nothing;
what it finds waits as one batch (Java: PullTaskImpl).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from reference.core.client.asking import Asker, Outcome, Then
from reference.core.client.failure import Failure
from reference.core.client.lite_queue import LITE_SUSPEND_MS, LiteOptions, LiteQueue
from reference.core.client.message import Queue
from reference.core.client.pull_consumer import offset_in
from reference.core.client.pulling import Pulled, Received, pull_command, pulled
from reference.core.client.requests import offset_question
from reference.core.client.routes import Routes
from reference.core.client.subscription import TAGS
from spec.client.subscribing import (
    AFTER_ERROR_MS,
    AFTER_FLOOD_MS,
    OFFSET_TIMEOUT_MS,
    PULL_TIMEOUT_MS,
)
from spec.routing.route_data import TopicRoute
from spec.wire.command import Command
from spec.wire.heartbeat import Subscription
from spec.wire.language import Version

AFTER_PAUSE_MS = 1000
"""When a paused queue is looked at again (Java: PULL_TIME_DELAY_MILLS_WHEN_PAUSE)."""


class LiteReader:
    """Reads some queues, and hands out what they had, batch by batch."""

    def __init__(
        self,
        options: LiteOptions,
        *,
        asker: Asker,
        routes: Routes,
        remembered: Mapping[Queue, int],
        arrived: Callable[[], None],
    ) -> None:
        self.held: dict[Queue, LiteQueue] = {}
        """The queues that are ours."""
        self._options = options
        self._asker = asker
        self._routes = routes
        self._remembered = remembered
        self._arrived = arrived
        self._batches: deque[tuple[LiteQueue, tuple[Received, ...]]] = deque()

    def own(
        self, queues: Collection[Queue], subscription: Subscription, now_ms: int
    ) -> None:
        """Read exactly *queues* of the subscription's topic from now on."""
        for queue in sorted(self.held):
            if queue.topic != subscription.topic:
                continue
            self.held[queue].subscription = subscription
            if queue not in queues:
                self.held.pop(queue).drop()
        for queue in sorted(queues):
            if queue not in self.held:
                one = LiteQueue(queue=queue, subscription=subscription)
                self.held[queue] = one
                self._pull(one, one.turn, now_ms)

    def take(self) -> tuple[Received, ...]:
        """Return the batch that came first, and note that it is polled; () for none."""
        while self._batches:
            one, messages = self._batches.popleft()
            if not one.is_dropped:
                one.backlog.remove(messages)
                one.polled = one.backlog.offset
                return messages
        return ()

    def seek(self, queue: Queue, offset: int, now_ms: int) -> None:
        """Read *queue*, which is ours, from *offset* on.

        A pull that a broker holds comes to nothing, as with Java's of 4.9.2; that
        of 4.6.0 pulls from there only when the broker has answered.
        """
        one = self.held[queue]
        one.seek(offset)
        self._batches = deque(two for two in self._batches if two[0] is not one)
        self._pull(one, one.turn, now_ms)

    def _pull(self, one: LiteQueue, turn: int, now_ms: int) -> None:
        """Pull what comes next, or wait until that may be."""
        if one.turn != turn:
            return
        delay_ms = self._delay_ms(one)
        if delay_ms:
            self._pull_later(one, now_ms + delay_ms)
        elif one.next_offset is None:
            self._find_offset(one, now_ms)
        else:
            subscription = one.subscription
            if subscription.expression_type == TAGS:
                subscription = replace(subscription, version=0)
            asked = pull_command(
                one.queue,
                subscription,
                group=self._options.group,
                offset=one.next_offset,
                max_count=self._options.batch_size,
                suspend_ms=LITE_SUSPEND_MS,
            )
            self._ask(one, asked, self._judging(one), now_ms, PULL_TIMEOUT_MS)

    def _delay_ms(self, one: LiteQueue) -> int:
        """Return how long to wait before more may be pulled, 0 if it may be now."""
        if one.is_paused:
            return AFTER_PAUSE_MS
        options = self._options
        is_flooded = len(self._batches) * options.batch_size > options.ahead_max
        if is_flooded or one.backlog.exceeds(options.limits):
            return AFTER_FLOOD_MS
        return 0

    def _find_offset(self, one: LiteQueue, now_ms: int) -> None:
        """Begin where the group is; where nobody knows that, ask again and again.

        Who broadcasts and remembers nothing begins at 0.
        """
        if self._options.broadcasts:
            one.next_offset = one.told = self._remembered.get(one.queue, 0)
            self._pull(one, one.turn, now_ms)
            return

        def then(outcome: Outcome, later_ms: int) -> None:
            found = offset_in(outcome)
            if isinstance(found, Failure):
                self._pull_later(one, later_ms + AFTER_ERROR_MS)
                return
            one.next_offset = one.told = found
            self._pull(one, one.turn, later_ms)

        asked = offset_question(self._options.group, one.queue)
        self._ask(one, asked, then, now_ms, OFFSET_TIMEOUT_MS)

    def _judging(self, one: LiteQueue) -> Then:
        """Return what keeps the messages that a pull has found, and pulls again."""

        def judge(outcome: Outcome, now_ms: int) -> None:
            filters = self._options.filters
            found = pulled(outcome, one.queue, one.subscription, filters)
            if not isinstance(found, Pulled):
                self._pull_later(one, now_ms + AFTER_ERROR_MS)
                return
            one.next_offset = found.next_offset
            one.broker_id = found.suggested_broker_id
            if found.messages:
                one.backlog.add(found.messages)
                self._batches.append((one, found.messages))
                self._arrived()
            self._pull(one, one.turn, now_ms)

        return judge

    def _pull_later(self, one: LiteQueue, at_ms: int) -> None:
        turn = one.turn
        self._asker.schedule.at(at_ms, lambda now_ms: self._pull(one, turn, now_ms))

    def _ask(
        self, one: LiteQueue, asked: Command, then: Then, now_ms: int, timeout_ms: int
    ) -> None:
        """Ask the broker that is next, unless that comes to nothing meanwhile."""
        turn = one.turn

        def if_ours(outcome: Outcome, later_ms: int) -> None:
            if one.turn == turn:
                then(outcome, later_ms)

        def found(_route: TopicRoute | None, later_ms: int) -> None:
            if one.turn != turn:
                return
            if self._address(one) is None:
                self._pull_later(one, later_ms + AFTER_ERROR_MS)
            else:
                self._pull(one, turn, later_ms)

        address = self._address(one)
        if address is None:
            self._routes.ask(one.queue.topic, found, now_ms=now_ms)
        elif self._is_understood(one, address):
            self._asker.ask(address, asked, if_ours, until_ms=now_ms + timeout_ms)
        else:
            self._pull_later(one, now_ms + AFTER_ERROR_MS)

    def _address(self, one: LiteQueue) -> str | None:
        name = one.queue.broker_name
        address = self._routes.address(name, one.broker_id)
        return address or self._routes.any_address(name)

    def _is_understood(self, one: LiteQueue, address: str) -> bool:
        """Return whether the broker there knows such expressions."""
        if one.subscription.expression_type == TAGS:
            return True
        # [CLIENT-SUBSCRIBE-004]
        return self._routes.versions.get(address, 0) >= Version.V4_1_0_SNAPSHOT
