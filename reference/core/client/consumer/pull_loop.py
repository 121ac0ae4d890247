"""
The pull loop of a push consumer: pull assigned queues, deliver, commit offsets.

It pulls ahead of the application up to the thresholds. Messages are consumed
concurrently, or in order by `orderly` (Java: DefaultMQPushConsumerImpl#pullMessage,
ConsumeMessageConcurrentlyService).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from reference.core.client.consumer.orderly import ConsumeOrderly
from reference.core.client.consumer.send_back import SendBackService, next_delivery
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_request import (
    PullResult,
    PullStatus,
    offset_of,
    pull_command,
    pull_result,
)
from reference.core.client.pull.subscription import TAGS
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.client.rebalance.queue_locks import LockClient
from reference.core.client.remoting.errors import Failure
from reference.core.client.remoting.requests import (
    get_max_offset_request,
    query_consumer_offset_request,
    search_offset_request,
    update_consumer_offset_request,
)
from reference.core.client.remoting.rpc_client import (
    Callback,
    DeliverMessages,
    PersistOffsets,
    Result,
    RpcClient,
)
from reference.core.client.route.routes import Routes
from spec.client.subscribing import (
    AFTER_ERROR_MS,
    AFTER_FLOOD_MS,
    AFTER_KEPT_MS,
    OFFSET_TIMEOUT_MS,
    PULL_TIMEOUT_MS,
)
from spec.routing.route_data import MASTER_ID
from spec.wire.bodies.heartbeat import Subscription
from spec.wire.bodies.running_info import QueueInHand
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.command import Command
from spec.wire.remoting.response_code import ResponseCode


class PullLoop:
    """The assigned queues of a push consumer."""

    def __init__(
        self,
        options: ConsumerOptions,
        *,
        rpc: RpcClient,
        routes: Routes,
        persisted: Mapping[MessageQueue, int] | None = None,
    ) -> None:
        self._options = options
        self._thresholds = options.thresholds
        self._rpc = rpc
        self._routes = routes
        self._local_offsets = dict(persisted or {})
        """Consumer offsets of a broadcasting member."""
        self._send_back = SendBackService(
            options.group, rpc=rpc, routes=routes, retries_max=options.retries_max
        )
        self._locks: LockClient | None = None
        self._orderly: ConsumeOrderly | None = None
        self._assigned: dict[MessageQueue, AssignedQueue] = {}
        if options.is_orderly:
            self._init_orderly()

    def _init_orderly(self) -> None:
        """Consume in order, with locks unless every member has all queues."""
        options = self._options
        self._thresholds = replace(options.thresholds, span=None)  # [CLIENT-PULL-011]
        if not options.broadcasts:
            self._locks = LockClient(
                options.group,
                options.client_id,
                rpc=self._rpc,
                routes=self._routes,
                lives_ms=options.periods.lock_lives_ms,
            )
        self._orderly = ConsumeOrderly(
            rpc=self._rpc,
            locks=self._locks,
            send_back=self._send_back,
            retries_max=options.retries_max,
        )

    @property
    def queues(self) -> list[MessageQueue]:
        """The assigned queues, sorted."""
        return sorted(self._assigned)

    def start(self, now_ms: int) -> None:
        """Commit offsets and renew locks periodically."""
        call_every, periods = self._rpc.timers.call_every, self._options.periods
        commit_ms = periods.commit_ms
        call_every(commit_ms, self.commit_all, first_ms=now_ms + commit_ms)
        if self._locks is not None:
            lock_ms = periods.lock_ms  # [CLIENT-ORDERLY-002]
            call_every(lock_ms, self.lock_all, first_ms=now_ms + lock_ms)

    def assign(
        self,
        queues: Collection[MessageQueue],
        subscription: Subscription,
        now_ms: int,
    ) -> None:
        """Replace the assigned queues of the subscription's topic."""
        topic = subscription.topic
        for queue in self.queues:
            if queue.topic == topic and queue not in queues:
                self._unassign(self._assigned[queue])
        for queue in sorted(queues):
            if queue not in self._assigned:
                assigned = AssignedQueue(queue=queue, subscription=subscription)
                self._assigned[queue] = assigned
                self._lock_and_begin(assigned, now_ms)

    def process_consume_result(
        self,
        queue: MessageQueue,
        messages: Sequence[MessageExt],
        *,
        failed: Sequence[MessageExt] = (),
        now_ms: int,
    ) -> None:
        """Remove consumed messages and send the *failed* ones back.

        An orderly consumer delivers the first failed message again instead.
        """
        assigned = self._assigned.get(queue)
        if assigned is not None:
            assigned.consumed_at_ms = now_ms
            if assigned.is_suspended:
                return
        if self._orderly is not None:
            if assigned is not None:
                self._orderly.process_consume_result(assigned, messages, failed, now_ms)
            return
        if self._options.broadcasts:  # [CLIENT-SENDBACK-005]
            failed = ()
        if assigned is not None:
            assigned.process_queue.remove(one for one in messages if one not in failed)
        for message in failed:
            self._send_message_back(assigned, message, now_ms)

    def suspend(self, queues: Collection[MessageQueue]) -> None:
        """Drop the messages of *queues* and stop until their offsets are reset."""
        for assigned in self._assigned.values():
            if assigned.queue in queues:
                assigned.is_suspended = True
                assigned.clear_messages()

    def reset_offsets(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Commit the given offsets and unassign the queues until the next rebalance."""
        for assigned in tuple(self._assigned.values()):
            if assigned.queue in offsets:
                assigned.process_queue = ProcessQueue()
                assigned.process_queue.skip_to(offsets[assigned.queue])
                assigned.committed_offset = None
                self._unassign(assigned)

    def offsets(self) -> Mapping[MessageQueue, int]:
        """Return the consumed offsets that are known."""
        found = {one.queue: one.offset for one in self._assigned.values()}
        return {queue: offset for queue, offset in found.items() if offset is not None}

    def running_info(self) -> Mapping[MessageQueue, QueueInHand]:
        """Return the queues' part of GET_CONSUMER_RUNNING_INFO."""
        return {queue: self._assigned[queue].running_info() for queue in self.queues}

    def commit_all(self, _now_ms: int) -> None:
        """Commit the offsets of all queues at brokers, or persist them."""
        for assigned in self._assigned.values():
            self._commit(assigned)
        known = {q: n for q, n in self._local_offsets.items() if q in self._assigned}
        if known:  # [CLIENT-LOCALOFFSET-001]
            self._rpc.emit(PersistOffsets(known))

    def lock_all(self, now_ms: int) -> None:
        """Renew the locks of all queues."""
        if self._locks is not None:
            self._locks.renew(tuple(self._assigned.values()), now_ms)

    def _lock_and_begin(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Begin with a queue, for an orderly consumer when it is locked."""
        if self._locks is None:
            self._begin(assigned, now_ms)
            return

        def on_lock(is_locked: bool, later_ms: int) -> None:
            if not assigned.is_active:
                return
            if is_locked:
                self._begin(assigned, later_ms)
            else:  # [CLIENT-ORDERLY-001]
                self._drop(assigned)

        self._locks.lock(assigned, on_lock, now_ms)

    def _drop(self, assigned: AssignedQueue) -> None:
        """Remove a queue; the next rebalance may assign it again."""
        assigned.is_dropped = True
        self._assigned.pop(assigned.queue, None)

    def _unassign(self, assigned: AssignedQueue) -> None:
        self._drop(assigned)
        self._commit(assigned)  # [CLIENT-COMMIT-001]
        if self._locks is not None:
            self._locks.unlock(assigned)  # [CLIENT-ORDERLY-003]

    def _begin(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Find the offset of the first pull: the committed one, or by the options."""
        known = self._local_offsets.get(assigned.queue)
        if known is not None:
            assigned.start_offset = assigned.next_offset = known
            self._pull(assigned, now_ms)
            return
        if self._options.broadcasts:
            self._begin_without_offset(assigned, now_ms)
            return

        def on_result(result: Result, later_ms: int) -> None:
            missing = ResponseCode.QUERY_NOT_FOUND
            if not isinstance(result, Failure) and result.code == missing:
                self._begin_without_offset(assigned, later_ms)
            elif self._set_offset(assigned, result):  # [CLIENT-CONSUMEFROM-001]
                assigned.start_offset = assigned.next_offset
                self._pull(assigned, later_ms)

        request = query_consumer_offset_request(self._options.group, assigned.queue)
        self._invoke(assigned, request, on_result, until_ms=now_ms + OFFSET_TIMEOUT_MS)

    def _begin_without_offset(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Begin a queue without committed offset, as ConsumeFromWhere has it."""
        is_retry = assigned.queue.topic.startswith(RETRY_PREFIX)
        time_ms = self._options.from_time_ms
        if time_ms is None and (self._options.from_first or is_retry):
            self._pull(assigned, now_ms)  # [CLIENT-CONSUMEFROM-002]
            return

        def on_result(result: Result, later_ms: int) -> None:
            if self._set_offset(assigned, result):
                self._pull(assigned, later_ms)

        request = get_max_offset_request(assigned.queue)
        if time_ms is not None and not is_retry:  # [CLIENT-CONSUMEFROM-004]
            # [CLIENT-CONSUMEFROM-003]
            request = search_offset_request(assigned.queue, time_ms)
        self._invoke(assigned, request, on_result, until_ms=now_ms + OFFSET_TIMEOUT_MS)

    def _set_offset(self, assigned: AssignedQueue, result: Result) -> bool:
        """Set the offset of the first pull; drop the queue if there is none."""
        offset = offset_of(result)
        if isinstance(offset, Failure):
            self._drop(assigned)
            return False
        assigned.next_offset = offset
        return True

    def _pull(self, assigned: AssignedQueue, now_ms: int) -> None:
        """Send the next pull, or delay it."""
        if not assigned.is_active:
            return
        if not self._may_pull(assigned):
            self._pull_later(assigned, now_ms + AFTER_ERROR_MS)
            return
        thresholds = self._thresholds.of_queue(len(self._assigned))
        if assigned.process_queue.exceeds(thresholds):
            self._pull_later(assigned, now_ms + AFTER_FLOOD_MS)
            return
        assigned.pulled_at_ms = now_ms
        commits = not self._options.broadcasts and assigned.broker_id == MASTER_ID
        request = pull_command(  # [CLIENT-PULL-004]
            assigned.queue,
            assigned.subscription,
            group=self._options.group,
            offset=assigned.next_offset,
            committed=assigned.process_queue.offset if commits else None,
            max_count=self._options.batch_size,
        )

        def on_result(result: Result, later_ms: int) -> None:
            self._on_pull_result(assigned, result, later_ms)

        self._invoke(assigned, request, on_result, until_ms=now_ms + PULL_TIMEOUT_MS)

    def _may_pull(self, assigned: AssignedQueue) -> bool:
        """Return whether the queue is locked and its broker knows the expression."""
        # [CLIENT-ORDERLY-007]
        if self._locks is not None and not assigned.has_lock:
            return False
        if assigned.subscription.expression_type == TAGS:
            return True
        return self._routes.knows_expressions(self._address(assigned))

    def _address(self, assigned: AssignedQueue) -> str | None:
        name = assigned.queue.broker_name
        return self._routes.pull_address(name, assigned.broker_id)

    def _on_pull_result(
        self, assigned: AssignedQueue, result: Result, now_ms: int
    ) -> None:
        """Deliver the pulled messages, and pull again."""
        if not assigned.is_active:
            return
        filters = self._options.filters
        found = pull_result(result, assigned.queue, assigned.subscription, filters)
        if not isinstance(found, PullResult):
            self._pull_later(assigned, now_ms + AFTER_ERROR_MS)  # [CLIENT-PULL-012]
            return
        assigned.next_offset = found.next_offset  # [CLIENT-PULL-005]
        assigned.broker_id = found.suggested_broker_id  # [CLIENT-PULL-003]
        if found.messages:
            assigned.process_queue.add(found.messages)
            if self._orderly is not None:
                self._orderly.on_messages(assigned, found.messages, now_ms)
            else:
                self._rpc.emit(DeliverMessages(assigned.queue, found.messages))
        else:
            if found.status is PullStatus.OFFSET_ILLEGAL:
                assigned.clear_messages()  # the queue was deleted and created again
            assigned.process_queue.skip_to(found.next_offset)
        self._pull(assigned, now_ms)

    def _pull_later(self, assigned: AssignedQueue, at_ms: int) -> None:

        self._rpc.timers.call_at(at_ms, lambda now_ms: self._pull(assigned, now_ms))

    def _invoke(
        self,
        assigned: AssignedQueue,
        request: Command,
        callback: Callback,
        *,
        until_ms: int,
    ) -> None:
        """Send to the broker of the next pull; drop a queue without address."""
        address = self._address(assigned)
        if address is None:
            self._drop(assigned)
        else:
            self._rpc.invoke(address, request, callback, until_ms=until_ms)

    def _commit(self, assigned: AssignedQueue) -> None:
        offset = assigned.process_queue.offset
        if offset is None:
            return
        if self._options.broadcasts:
            self._local_offsets[assigned.queue] = offset
            return
        address = self._routes.any_address(assigned.queue.broker_name)
        if address is not None and offset != assigned.committed_offset:
            assigned.committed_offset = offset
            request = update_consumer_offset_request(
                self._options.group, assigned.queue, offset, oneway=True
            )
            self._rpc.invoke_oneway(address, request)

    def _send_message_back(
        self, assigned: AssignedQueue | None, message: MessageExt, now_ms: int
    ) -> None:
        """Send *message* back, or deliver it here again if that fails."""

        def on_sent_back(is_sent: bool, later_ms: int) -> None:
            if assigned is None:
                return
            if is_sent:
                assigned.process_queue.remove([message])
                return
            again = DeliverMessages(assigned.queue, (next_delivery(message),))
            at_ms = later_ms + AFTER_KEPT_MS  # [CLIENT-SENDBACK-004]
            self._rpc.timers.call_at(at_ms, lambda _: self._deliver(assigned, again))

        self._send_back.send_message_back(message, on_sent_back, now_ms)

    def _deliver(self, assigned: AssignedQueue, delivery: DeliverMessages) -> None:
        if assigned.is_active:
            self._rpc.emit(delivery)
