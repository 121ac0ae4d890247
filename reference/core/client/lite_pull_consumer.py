"""
A pull consumer that pulls by itself: the application polls what its queues had.

It shares the queues of the topics that it subscribes to, or is told which to take. How
far it was polled is committed, by a call or every 5 seconds while it is polled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from reference.core.client.asking import Asker, Outcome
from reference.core.client.checks import check_topic
from reference.core.client.failure import ClientError, Failure, Reason
from reference.core.client.lite_commits import LiteCommits
from reference.core.client.lite_polls import LitePolls
from reference.core.client.lite_queue import LiteOptions
from reference.core.client.lite_reading import LiteReader
from reference.core.client.message import Queue
from reference.core.client.pull_consumer import PullConsumer, offset_in
from reference.core.client.requests import begin_question, end_question
from reference.core.client.routes import Routes
from reference.core.client.sharing import Sharing
from reference.core.client.subscription import TAGS, subscription_of
from spec.client.subscribing import OFFSET_TIMEOUT_MS
from spec.routing.route_data import TopicRoute
from spec.wire.heartbeat import (
    ALL_MESSAGES,
    ConsumerMembership,
    Heartbeat,
    Subscription,
)


class LitePullConsumer(PullConsumer):
    """Each poll, seek and commit has a number and a result, as a question has."""

    options: LiteOptions

    def __init__(
        self,
        options: LiteOptions,
        *,
        asker: Asker,
        routes: Routes,
        remembered: Mapping[Queue, int] | None = None,
    ) -> None:
        super().__init__(options, asker=asker, routes=routes)
        kept = dict(remembered or {})
        self.reader = LiteReader(
            options, asker=asker, routes=routes, remembered=kept, arrived=self._serve
        )
        self._polls = LitePolls(asker, self.reader.take)
        self._commits = LiteCommits(
            options, self.reader, asker=asker, routes=routes, remembered=kept
        )
        self._sharing = Sharing(
            options,
            asker=asker,
            routes=routes,
            subscriptions=lambda: self._subscriptions.values(),
            own=self._own,
        )
        self._subscriptions: dict[str, Subscription] = {}
        self._takes = False
        """Whether it was told which queues to take."""
        self._next_commit_ms = 0

    def start(self, now_ms: int) -> None:
        """Join the group, from now on."""
        self._sharing.start(now_ms)
        super().start(now_ms)

    def stop(self, now_ms: int) -> None:
        """Leave the group; what was polled and not committed nobody hears of."""
        self._polls.end()
        for one in self.reader.held.values():
            one.drop()
        super().stop(now_ms)

    def subscribe(
        self,
        topic: str,
        expression: str = ALL_MESSAGES,
        *,
        expression_type: str = TAGS,
        now_ms: int,
    ) -> None:
        """Share the queues of *topic*; raises ClientError where queues were taken."""
        check_topic(topic)
        if self._takes:
            raise ClientError(Failure(reason=Reason.MIXED, remark=topic))
        self._subscriptions[topic] = subscription_of(
            topic, expression, version=now_ms, expression_type=expression_type
        )

        def then(_route: TopicRoute | None, later_ms: int) -> None:
            self._sharing.is_known = False
            self._membership.beat(later_ms)

        self._routes.ask(topic, then, now_ms=now_ms)

    def unsubscribe(self, topic: str, now_ms: int) -> None:
        """Read *topic* no more."""
        subscription = self._subscriptions.pop(topic, None)
        if subscription is not None:
            self.reader.own((), subscription, now_ms)

    def assign(self, queues: Collection[Queue], now_ms: int) -> None:
        """Read exactly *queues*; raises ClientError where topics are subscribed to."""
        if self._subscriptions:
            raise ClientError(Failure(reason=Reason.MIXED))
        self._takes = True
        for topic in sorted({queue.topic for queue in (*self.reader.held, *queues)}):
            own = [queue for queue in queues if queue.topic == topic]
            everything = subscription_of(topic, ALL_MESSAGES, version=0)
            self.reader.own(own, everything, now_ms)

    def poll(self, timeout_ms: int, now_ms: int) -> int:
        """Ask for a batch; the result is a tuple of Received, () after *timeout_ms*."""
        if self.options.auto_commits and now_ms >= self._next_commit_ms:
            self._commits.tell()
            self._next_commit_ms = now_ms + self.options.periods.commit_ms
        number = next(self._numbers)
        self._polls.begin(number, until_ms=now_ms + timeout_ms)
        return number

    def commit_polled(self, now_ms: int) -> int:
        """Commit what was polled; no result, when every broker has answered."""
        number = next(self._numbers)
        self._commits.ask(lambda: self._asker.finish(number, None), now_ms)
        return number

    def pause(self, queues: Collection[Queue], *, is_paused: bool = True) -> None:
        """Pull those of *queues* that are ours no more for now, or again."""
        for queue in queues:
            if queue in self.reader.held:
                self.reader.held[queue].is_paused = is_paused

    def seek(self, queue: Queue, offset: int, now_ms: int) -> int:
        """Go on at *offset* if *queue* is ours and its broker has that; no result."""
        number = next(self._numbers)
        ends: list[int] = []

        def ask(address: str, later_ms: int) -> None:
            asked = end_question(queue) if ends else begin_question(queue)
            until_ms = later_ms + OFFSET_TIMEOUT_MS
            self._asker.ask(address, asked, noted, until_ms=until_ms)

        def noted(outcome: Outcome, later_ms: int) -> None:
            found = offset_in(outcome)
            if isinstance(found, Failure):
                self._asker.finish(number, ClientError(found))
                return
            ends.append(found)
            if len(ends) == 1:
                self._reach(queue, number, ask, later_ms)
            else:
                result = self._seek_within(queue, offset, ends, later_ms)
                self._asker.finish(number, result)

        self._reach(queue, number, ask, now_ms)
        return number

    def heartbeat(self) -> Heartbeat:
        """Return what brokers are told of this member."""
        member = ConsumerMembership(
            group=self.options.group,
            consume_type="CONSUME_ACTIVELY",
            message_model="BROADCASTING" if self.options.broadcasts else "CLUSTERING",
            consume_from="CONSUME_FROM_LAST_OFFSET",
            subscriptions=tuple(self._subscriptions.values()),
        )
        return Heartbeat(client_id=self.options.client_id, consumers=(member,))

    def _own(
        self, queues: Collection[Queue], subscription: Subscription, now_ms: int
    ) -> None:
        """Take a share, unless the topic was unsubscribed from meanwhile."""
        if subscription.topic in self._subscriptions:
            self.reader.own(queues, self._subscriptions[subscription.topic], now_ms)

    def _serve(self) -> None:
        """Give what has arrived to the polls that wait."""
        self._polls.serve()

    def _seek_within(
        self, queue: Queue, offset: int, ends: Sequence[int], now_ms: int
    ) -> ClientError | None:
        """Go on at *offset* of *queue*, which has those; return why that cannot be."""
        first, end = ends
        if queue not in self.reader.held:
            return ClientError(Failure(reason=Reason.NOT_ASSIGNED, remark=str(queue)))
        if not first <= offset <= end:
            remark = f"{offset} is not within {first} and {end}"
            return ClientError(Failure(reason=Reason.NO_OFFSET, remark=remark))
        self.reader.seek(queue, offset, now_ms)
        return None

    def _was_heard(self, outcome: Outcome, now_ms: int) -> None:
        self._sharing.was_heard(outcome, now_ms)
