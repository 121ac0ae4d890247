"""
A reader pulls the queues that are a consumer's, and keeps how far each has come.

It pulls ahead of the application, so far and no further. Messages are handled in any
order, or as ``in_order`` has it; how far a queue has come is committed at the broker.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reference.core.client.asking import Asker, Deliver, Outcome, Remember, Then
from reference.core.client.backlog import USUAL_LIMITS, Backlog, Limits
from reference.core.client.failure import Failure
from reference.core.client.in_order import InOrder
from reference.core.client.locks import Locks
from reference.core.client.message import Queue
from reference.core.client.pulling import (
    Filter,
    Pulled,
    PullStatus,
    Received,
    pull_command,
    pulled,
)
from reference.core.client.requests import (
    commit_notice,
    end_question,
    offset_question,
    search_question,
)
from reference.core.client.returning import Returns, delivered_again
from reference.core.client.routes import Routes
from reference.core.client.share import Share
from reference.core.client.subscription import TAGS
from reference.core.request import FieldError
from spec.client.subscribing import (
    AFTER_ERROR_MS,
    AFTER_FLOOD_MS,
    AFTER_KEPT_MS,
    OFFSET_TIMEOUT_MS,
    PULL_TIMEOUT_MS,
)
from spec.routing.route_data import MASTER_ID
from spec.wire.command import Command
from spec.wire.groups import RETRY_PREFIX
from spec.wire.heartbeat import Subscription
from spec.wire.language import Version
from spec.wire.response_code import ResponseCode
from spec.wire.running_info import QueueInHand


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions:
    """How the queues are read."""

    group: str
    from_first: bool = False
    """Where a queue begins that the group has not read: at 0, or at its end."""
    from_time_ms: int | None = None
    """If given, it begins where the messages do that were stored at this time."""
    keeps_offsets: bool = True
    """Whether brokers are asked and told how far the group has come."""
    in_order: bool = False
    """Whether a queue's messages are handled one after another."""
    limits: Limits = USUAL_LIMITS
    batch_size: int = 32
    retries_max: int | None = None
    """If given, how often a message that failed is handled again."""
    filters: tuple[Filter, ...] = ()


class Reader:
    """Reads some queues."""

    def __init__(
        self,
        options: ReadingOptions,
        *,
        asker: Asker,
        routes: Routes,
        locks: Locks | None = None,
        remembered: Mapping[Queue, int] | None = None,
    ) -> None:
        self.options = options
        self._asker = asker
        self._routes = routes
        self._remembered = dict(remembered or {})
        """Where brokers keep no offsets: how far each queue has come."""
        self._returns = Returns(
            options.group,
            asker=asker,
            routes=routes,
            retries_max=options.retries_max,
        )
        self._in_order: InOrder | None = None
        """Who hands messages out, if not we."""
        if options.in_order:
            self._in_order = InOrder(
                asker=asker,
                locks=locks,
                returns=self._returns,
                retries_max=options.retries_max,
            )
        self._shares: dict[Queue, Share] = {}

    @property
    def queues(self) -> list[Queue]:
        """The queues that are being read, sorted."""
        return sorted(self._shares)

    def own(
        self, queues: Collection[Queue], subscription: Subscription, now_ms: int
    ) -> None:
        """Read exactly *queues* of the subscription's topic from now on."""
        topic = subscription.topic
        for queue in self.queues:
            if queue.topic == topic and queue not in queues:
                self._give_up(self._shares[queue])
        for queue in sorted(queues):
            if queue not in self._shares:
                share = Share(queue=queue, subscription=subscription)
                self._shares[queue] = share
                self._lock_first(share, now_ms)

    def handled(
        self,
        queue: Queue,
        messages: Sequence[Received],
        *,
        failed: Sequence[Received] = (),
        now_ms: int,
    ) -> None:
        """Note that *messages* of *queue* are handled, all but *failed*.

        These go back, to be delivered to the group again, and are handled when they
        have; in order the first has failed, and is delivered here again before those
        behind it.
        """
        share = self._shares.get(queue)
        if share is not None:
            share.handled_at_ms = now_ms
            if share.is_resting:
                return
        if self._in_order is not None:
            if share is not None:
                self._in_order.handled(share, messages, failed, now_ms)
            return
        if not self.options.keeps_offsets:  # [CLIENT-RETURN-005]
            failed = ()
        if share is not None:
            share.backlog.remove(one for one in messages if one not in failed)
        for message in failed:
            self._give_back(share, message, now_ms)

    def rest(self, queues: Collection[Queue]) -> None:
        """Drop what waits of *queues*, and let them rest until they are moved."""
        for share in self._shares.values():
            if share.queue in queues:
                share.is_resting = True
                share.drop_what_waits()

    def move(self, offsets: Mapping[Queue, int]) -> None:
        """Give queues up, each at its offset; whoever takes them begins there."""
        for share in tuple(self._shares.values()):
            if share.queue in offsets:
                share.backlog = Backlog()
                share.backlog.skip_to(offsets[share.queue])
                share.told = None
                self._give_up(share)

    def offsets(self) -> Mapping[Queue, int]:
        """Return how far each queue has come of which that is known."""
        found = {share.queue: share.offset for share in self._shares.values()}
        return {queue: offset for queue, offset in found.items() if offset is not None}

    def states(self) -> Mapping[Queue, QueueInHand]:
        """Return what an administrator is told of each queue."""
        return {queue: self._shares[queue].state() for queue in self.queues}

    def commit_all(self, _now_ms: int) -> None:
        """Tell brokers how far every queue has come, or remember it."""
        for share in self._shares.values():
            self._commit(share)
        known = {q: n for q, n in self._remembered.items() if q in self._shares}
        if known:  # [CLIENT-LOCAL-001]
            self._asker.emit(Remember(known))

    def lock_all(self, now_ms: int) -> None:
        """Lock every queue again that is read in order."""
        if self._in_order is not None:
            self._in_order.lock_all(tuple(self._shares.values()), now_ms)

    def _lock_first(self, share: Share, now_ms: int) -> None:
        """Begin a queue, in order only when it is locked."""
        if self._in_order is None:
            self._begin(share, now_ms)
            return

        def then(is_locked: bool, later_ms: int) -> None:
            if not share.is_read:
                return
            if is_locked:
                self._begin(share, later_ms)
            else:  # [CLIENT-ORDER-001]
                self._leave(share)

        self._in_order.lock(share, then, now_ms)

    def _leave(self, share: Share) -> None:
        """Read a queue no more; the next look at the group may begin it again."""
        share.is_dropped = True
        self._shares.pop(share.queue, None)

    def _give_up(self, share: Share) -> None:
        self._leave(share)
        self._commit(share)  # [CLIENT-COMMIT-001]
        if self._in_order is not None:
            self._in_order.release(share)  # [CLIENT-ORDER-003]

    def _deliver(self, share: Share, delivery: Deliver) -> None:
        if share.is_read:
            self._asker.emit(delivery)

    def _begin(self, share: Share, now_ms: int) -> None:
        """Find where to begin: at the committed offset, or by the options."""
        known = self._remembered.get(share.queue)
        if known is not None:
            share.committed = share.next_offset = known
            self._pull(share, now_ms)
            return
        if not self.options.keeps_offsets:
            self._begin_anew(share, now_ms)
            return

        def then(outcome: Outcome, later_ms: int) -> None:
            missing = ResponseCode.QUERY_NOT_FOUND
            if not isinstance(outcome, Failure) and outcome.code == missing:
                self._begin_anew(share, later_ms)
            else:
                self._begin_at(share, outcome, later_ms)  # [CLIENT-BEGIN-001]
                share.committed = share.next_offset

        asked = offset_question(self.options.group, share.queue)
        self._ask(share, asked, then, until_ms=now_ms + OFFSET_TIMEOUT_MS)

    def _begin_anew(self, share: Share, now_ms: int) -> None:
        """Begin where nobody of the group has read: where the options say."""
        is_retry = share.queue.topic.startswith(RETRY_PREFIX)
        time_ms = self.options.from_time_ms
        if time_ms is None and (self.options.from_first or is_retry):
            self._pull(share, now_ms)  # [CLIENT-BEGIN-002]
            return

        def then(outcome: Outcome, later_ms: int) -> None:
            self._begin_at(share, outcome, later_ms)

        asked = end_question(share.queue)
        if time_ms is not None and not is_retry:  # [CLIENT-BEGIN-004]
            asked = search_question(share.queue, time_ms)  # [CLIENT-BEGIN-003]
        self._ask(share, asked, then, until_ms=now_ms + OFFSET_TIMEOUT_MS)

    def _begin_at(self, share: Share, outcome: Outcome, now_ms: int) -> None:
        """Begin at the offset that an answer has; without one leave the queue."""
        try:
            if isinstance(outcome, Failure) or outcome.code != ResponseCode.SUCCESS:
                raise FieldError("offset")
            share.next_offset = outcome.int64("offset")
        except FieldError:
            self._leave(share)
            return
        self._pull(share, now_ms)

    def _pull(self, share: Share, now_ms: int) -> None:
        """Pull what comes next, or wait until the application has caught up."""
        if not share.is_read:
            return
        if not self._may_pull(share):
            self._pull_later(share, now_ms + AFTER_ERROR_MS)
            return
        if share.backlog.exceeds(self.options.limits.of_queue(len(self._shares))):
            self._pull_later(share, now_ms + AFTER_FLOOD_MS)
            return
        share.pulled_at_ms = now_ms
        commits = self.options.keeps_offsets and share.broker_id == MASTER_ID
        asked = pull_command(  # [CLIENT-PULL-004]
            share.queue,
            share.subscription,
            group=self.options.group,
            offset=share.next_offset,
            committed=share.backlog.offset if commits else None,
            max_count=self.options.batch_size,
        )

        def then(outcome: Outcome, later_ms: int) -> None:
            self._judge(share, outcome, later_ms)

        self._ask(share, asked, then, until_ms=now_ms + PULL_TIMEOUT_MS)

    def _may_pull(self, share: Share) -> bool:
        """Return whether the queue is locked, and its broker knows the expression."""
        # [CLIENT-ORDER-007]
        if self._in_order is not None and not self._in_order.has_lock(share):
            return False
        if share.subscription.expression_type == TAGS:
            return True
        version = self._routes.versions.get(self._address(share) or "", 0)
        return version >= Version.V4_1_0_SNAPSHOT  # [CLIENT-SUBSCRIBE-004]

    def _address(self, share: Share) -> str | None:
        """Return where the broker is that is next for a queue."""
        name = share.queue.broker_name
        address = self._routes.address(name, share.broker_id)
        return address or self._routes.any_address(name)

    def _judge(self, share: Share, outcome: Outcome, now_ms: int) -> None:
        """Deliver what was found, or pull again."""
        if not share.is_read:
            return
        found = pulled(outcome, share.queue, share.subscription, self.options.filters)
        if not isinstance(found, Pulled):
            self._pull_later(share, now_ms + AFTER_ERROR_MS)  # [CLIENT-PULL-012]
            return
        share.next_offset = found.next_offset  # [CLIENT-PULL-005]
        share.broker_id = found.suggested_broker_id  # [CLIENT-PULL-003]
        if found.messages:
            share.backlog.add(found.messages)
            if self._in_order is not None:
                self._in_order.arrived(share, found.messages, now_ms)
            else:
                self._asker.emit(Deliver(share.queue, found.messages))
        elif found.status is PullStatus.OFFSET_ILLEGAL:
            share.drop_what_waits()  # it is of a queue that is no more
            share.backlog.skip_to(found.next_offset)
        else:
            share.backlog.skip_to(found.next_offset)
        self._pull(share, now_ms)

    def _pull_later(self, share: Share, at_ms: int) -> None:
        self._asker.schedule.at(at_ms, lambda now_ms: self._pull(share, now_ms))

    def _ask(self, share: Share, asked: Command, then: Then, *, until_ms: int) -> None:
        """Ask the broker that is next for the queue; without an address give it up."""
        address = self._address(share)
        if address is None:
            self._leave(share)
            return
        self._asker.ask(address, asked, then, until_ms=until_ms)

    def _commit(self, share: Share) -> None:
        offset = share.backlog.offset
        if not self.options.keeps_offsets and offset is not None:
            self._remembered[share.queue] = offset
        address = self._routes.any_address(share.queue.broker_name)
        if not self.options.keeps_offsets or address is None:
            return
        if offset is not None and offset != share.told:
            share.told = offset
            told = commit_notice(self.options.group, share.queue, offset)
            self._asker.tell(address, told)

    def _give_back(self, share: Share | None, message: Received, now_ms: int) -> None:
        """Give *message* back; deliver it here again if nobody takes it."""

        def then(is_taken: bool, later_ms: int) -> None:
            if share is None:
                return
            if is_taken:
                share.backlog.remove([message])
                return
            again = Deliver(share.queue, (delivered_again(message),))
            at_ms = later_ms + AFTER_KEPT_MS  # [CLIENT-RETURN-004]
            self._asker.schedule.at(at_ms, lambda _: self._deliver(share, again))

        self._returns.give_back(message, then, now_ms)
