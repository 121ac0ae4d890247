"""
The pull loop of a push consumer: deliver pulled messages, send failed ones back.

Its subclasses in `concurrently` and `orderly` consume (Java: ConsumeMessageService).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from reference.core.client.client_instance import ClientInstance
from reference.core.client.consumer.send_back import SendBackService
from reference.core.client.effects import DeliverMessages
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.pull.pull_loop import PullLoop
from reference.core.client.pull.pull_request import (
    PullResult,
    PullStatus,
    offset_of,
    pull_command,
    queue_command,
)
from reference.core.client.rebalance.assigned_queue import PushQueue
from reference.core.client.rebalance.process_queue import ProcessQueue
from reference.core.client.remoting.errors import Failure
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.wire.bodies.running_info import ProcessQueueInfo
from spec.wire.message.topic_names import RETRY_PREFIX
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode

Queue = TypeVar("Queue", bound=PushQueue)


class PushPullLoop(PullLoop[Queue]):
    """The assigned queues of a push consumer."""

    _options: ConsumerOptions

    def __init__(self, options: ConsumerOptions, client: ClientInstance) -> None:
        super().__init__(options, client)
        self._send_back = SendBackService(options, client)

    def start(self) -> None:
        """Commit offsets periodically."""
        commit_ms = self._options.periods.commit_ms
        self._rpc.call_every(commit_ms, self.offset_store.commit_all)

    def stop(self) -> None:
        """Commit the offsets and unassign all queues."""
        self.offset_store.commit_all()
        for _, assigned in sorted(self.assigned.items()):
            self._unassign(assigned)

    def begin_consume(self, delivery: DeliverMessages) -> bool:
        """Return whether the queue still has the messages of *delivery*.

        It dropped them if it was lost or reset since. The listener of its next owner
        gets them (4.6.0 ConsumeMessageConcurrentlyService.ConsumeRequest#run).
        """
        assigned = self.assigned.get(delivery.queue)
        if assigned and assigned.process_queue is delivery.process_queue:
            return True
        self._on_dropped_consumed(delivery.messages)
        return False

    def process_consume_result(
        self,
        queue: MessageQueue,
        messages: Sequence[MessageExt],
        *,
        failed: Sequence[MessageExt] = (),
    ) -> None:
        """Process the listener's result, unless the queue is suspended.

        The messages of a queue that is not assigned any more are the next owner's, also
        the failed ones (4.6.0 ProcessQueue#isDropped).
        """
        assigned = self.assigned.get(queue)
        if assigned is None:
            self._on_dropped_consumed(messages)
            return
        assigned.consumed_at_ms = self._rpc.now_ms()
        if not assigned.is_suspended:
            self._on_consumed(assigned, messages, failed)

    def suspend(self, queues: Collection[MessageQueue]) -> None:
        """Drop the messages of *queues* and stop until their offsets are reset."""
        for assigned in self.assigned.values():
            if assigned.queue in queues:
                assigned.is_suspended = True
                assigned.clear_messages()

    def reset_offsets(self, offsets: Mapping[MessageQueue, int]) -> None:
        """Commit the given offsets and unassign the queues until the next rebalance."""
        for assigned in tuple(self.assigned.values()):
            if assigned.queue in offsets:
                assigned.process_queue = ProcessQueue()
                assigned.process_queue.skip_to(offsets[assigned.queue])
                assigned.committed_offset = None
                self._unassign(assigned)

    def offsets(self) -> Mapping[MessageQueue, int]:
        """Return the consumed offsets that are known."""
        found = {one.queue: one.offset for one in self.assigned.values()}
        return {queue: offset for queue, offset in found.items() if offset is not None}

    def running_info(self) -> Mapping[MessageQueue, ProcessQueueInfo]:
        """Return the queues' part of GET_CONSUMER_RUNNING_INFO."""
        return {
            queue: self.assigned[queue].running_info()
            for queue in sorted(self.assigned)
        }

    def _unassign(self, assigned: Queue) -> None:
        self._drop(assigned)
        self.offset_store.commit(assigned)  # [CLIENT-COMMIT-001]

    def _emit(self, assigned: Queue, messages: Sequence[MessageExt]) -> None:
        """Pass *messages* to the application."""
        queue, process_queue = assigned.queue, assigned.process_queue
        self._rpc.emit(DeliverMessages(queue, tuple(messages), process_queue))

    @abstractmethod
    def _deliver(self, assigned: Queue, messages: Sequence[MessageExt]) -> None:
        """Deliver pulled messages, immediately or when it is their turn."""

    @abstractmethod
    def _on_consumed(
        self,
        assigned: Queue,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt],
    ) -> None:
        """Process the listener's result for *messages*, of which some *failed*."""

    def _on_dropped_consumed(self, messages: Sequence[MessageExt]) -> None:
        """Process the end of a listener's call for a queue not assigned any more."""

    async def _find_address(self, assigned: Queue) -> None:
        """Drop the queue: the next rebalance has a newer route."""
        self._drop(assigned)

    async def _find_offset(self, assigned: Queue) -> None:
        """Begin at the committed offset, else by the options."""
        offset = await self._committed_offset(assigned)
        if isinstance(offset, int):  # [CLIENT-CONSUMEFROM-001]
            assigned.start_offset = offset
        elif offset is None:
            offset = await self._offset_to_consume_from(assigned)
        if isinstance(offset, Failure):
            self._drop(assigned)
        else:
            assigned.next_offset = offset

    async def _offset_to_consume_from(self, assigned: Queue) -> int | Failure:
        """Return the first offset without a committed one (Java: ConsumeFromWhere)."""
        is_retry = assigned.queue.topic.startswith(RETRY_PREFIX)
        time_ms = self._options.from_time_ms
        if time_ms is None and (self._options.from_first or is_retry):
            return 0  # [CLIENT-CONSUMEFROM-002]
        request = queue_command(RequestCode.GET_MAX_OFFSET, assigned.queue)
        if time_ms is not None and not is_retry:  # [CLIENT-CONSUMEFROM-004]
            code = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP  # [CLIENT-CONSUMEFROM-003]
            request = queue_command(code, assigned.queue, {"timestamp": time_ms})
        return offset_of(await self._invoke(assigned, request, OFFSET_TIMEOUT_MS))

    def _pull_request(self, assigned: Queue, offset: int) -> Command:
        master = self._routes.address(assigned.queue.broker_name)
        is_master = self._address(assigned) == master
        commits = is_master and not self._options.broadcasts
        return pull_command(  # [CLIENT-PULL-004]
            assigned.queue,
            assigned.subscription,
            group=self._options.group,
            offset=offset,
            committed=assigned.process_queue.offset if commits else None,
            max_count=self._options.batch_size,
        )

    def _on_pulled(self, assigned: Queue, found: PullResult) -> None:
        if not found.messages:
            if found.status is PullStatus.OFFSET_ILLEGAL:
                assigned.clear_messages()  # the queue was deleted and created again
            assigned.process_queue.skip_to(found.next_offset)
        else:
            self._deliver(assigned, found.messages)
