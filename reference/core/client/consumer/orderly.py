"""
Orderly consumption: one message of a queue at a time, while the queue is locked.

A failed message is delivered again before those behind it. A broadcasting group has no
locks but the same order. A queue that is lost while one of its messages is consumed
stays locked until the listener returns (Java: ConsumeMessageOrderlyService).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from reference.core.client.client_instance import ClientInstance
from reference.core.client.consumer.push_pull_loop import PushPullLoop
from reference.core.client.consumer.send_back import next_delivery
from reference.core.client.message import MessageQueue
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.orderly_queue import (
    OrderlyEvent,
    OrderlyQueue,
    OrderlyState,
)
from reference.core.client.rebalance.queue_locks import LockClient
from reference.core.client.remoting.tasks import start
from spec.client.orderly import AFTER_FAILURE_MS, AFTER_UNLOCKED_MS
from spec.client.subscription import AFTER_ERROR_MS


class OrderlyPullLoop(PushPullLoop[OrderlyQueue]):
    """Delivers the messages of queues in order."""

    queue_type = OrderlyQueue

    def __init__(self, options: ConsumerOptions, client: ClientInstance) -> None:
        thresholds = replace(options.thresholds, span=None)  # [CLIENT-PULL-011]
        super().__init__(replace(options, thresholds=thresholds), client)
        self._locks = None if options.broadcasts else LockClient(options, client)
        """None: the members of a broadcasting group do not share queues."""
        self._consuming: dict[MessageQueue, OrderlyQueue] = {}
        """Dropped queues of which the application still has a message."""

    def start(self) -> None:
        """Commit offsets and renew locks periodically."""
        super().start()
        self._rpc.call_every(self._options.periods.lock_ms, self.lock_all)

    def stop(self) -> None:
        """Unlock all queues, also those of which a message is being consumed."""
        super().stop()
        while self._consuming:
            _, dropped = self._consuming.popitem()
            self._unlock(dropped)

    def lock_all(self) -> None:
        """Renew the locks of all queues."""
        if self._locks is not None:
            self._locks.renew([*self.assigned.values(), *self._consuming.values()])

    async def _run(self, assigned: OrderlyQueue) -> None:
        """Pull a queue as soon as it is locked."""
        if assigned.queue in self._consuming:
            self._drop(assigned)
        elif self._locks is None or await self._locks.lock(assigned):
            await super()._run(assigned)
        elif assigned.is_active:  # [CLIENT-ORDERLY-001]
            self._drop(assigned)

    def _drop(self, assigned: OrderlyQueue) -> None:
        super()._drop(assigned)
        if assigned.orderly_state is OrderlyState.CONSUMING:
            self._consuming[assigned.queue] = assigned

    def _unassign(self, assigned: OrderlyQueue) -> None:
        """Remove a queue, and unlock it unless one of its messages is being consumed.

        The next owner would consume that message at the same time
        (4.6.0 RebalancePushImpl#removeUnnecessaryMessageQueue).
        """
        super()._unassign(assigned)
        if assigned.queue not in self._consuming:
            self._unlock(assigned)

    def _unlock(self, assigned: OrderlyQueue) -> None:
        if self._locks is not None:
            self._locks.unlock(assigned)  # [CLIENT-ORDERLY-003]

    def _on_dropped_consumed(self, messages: Sequence[MessageExt]) -> None:
        """Unlock the dropped queue whose last message is among *messages*."""
        for dropped in tuple(self._consuming.values()):
            if any(one is dropped.current for one in messages):
                del self._consuming[dropped.queue]
                self._unlock(dropped)

    def _delay_ms(self, assigned: OrderlyQueue) -> int:
        # [CLIENT-ORDERLY-007]
        if self._locks is not None and not assigned.has_lock:
            return AFTER_ERROR_MS
        return super()._delay_ms(assigned)

    def _deliver(self, assigned: OrderlyQueue, messages: Sequence[MessageExt]) -> None:
        """Queue pulled messages, and deliver the first if no other is current."""
        assigned.waiting.extend(messages)
        if assigned.orderly_state is OrderlyState.IDLE:
            self._deliver_next(assigned)

    def _on_consumed(
        self,
        assigned: OrderlyQueue,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt],
    ) -> None:
        """Continue after the listener returned; an outdated result is ignored."""
        message = assigned.current
        is_consuming = assigned.orderly_state is OrderlyState.CONSUMING
        if not is_consuming or all(one is not message for one in messages):
            return
        assert message is not None, "a queue that is being consumed has a message"
        if message not in failed:
            self._finish(assigned, message, OrderlyEvent.CONSUMED)
            return
        times, retries_max = message.record.reconsume_times, self._options.retries_max
        if retries_max is None or times < retries_max:
            start(self._retry(assigned, message, OrderlyEvent.FAILED))
        else:  # [CLIENT-ORDERLY-006]
            assigned.on_orderly(OrderlyEvent.RETRIES_EXHAUSTED)
            start(self._send_to_retry_topic(assigned, message))

    async def _send_to_retry_topic(
        self, assigned: OrderlyQueue, message: MessageExt
    ) -> None:
        """Go on with the next message; retry this one if no broker has taken it."""
        times = message.record.reconsume_times
        is_sent = await self._send_back.send_to_retry_topic(message, times=times)
        if assigned.current is not message:
            return
        if is_sent:
            self._finish(assigned, message, OrderlyEvent.SENT_BACK)
        else:
            await self._retry(assigned, message, OrderlyEvent.SEND_BACK_FAILED)

    def _finish(
        self, assigned: OrderlyQueue, message: MessageExt, event: OrderlyEvent
    ) -> None:
        assigned.on_orderly(event)
        assigned.process_queue.remove([message])
        self._deliver_next(assigned)

    async def _retry(
        self, assigned: OrderlyQueue, message: MessageExt, event: OrderlyEvent
    ) -> None:
        """Deliver *message* once more, a second later."""
        assigned.on_orderly(event)
        again = assigned.current = next_delivery(message)  # [CLIENT-ORDERLY-005]
        await self._rpc.sleep(AFTER_FAILURE_MS)  # [CLIENT-ORDERLY-004]
        if assigned.is_active and assigned.current is again:
            assigned.on_orderly(OrderlyEvent.SUSPEND_OVER)
            await self._deliver_when_locked(assigned, again)

    def _deliver_next(self, assigned: OrderlyQueue) -> None:
        assigned.current = assigned.waiting.popleft() if assigned.waiting else None
        if assigned.current is not None:
            assigned.on_orderly(OrderlyEvent.MESSAGE_DUE)
            start(self._deliver_when_locked(assigned, assigned.current))

    async def _deliver_when_locked(
        self, assigned: OrderlyQueue, message: MessageExt
    ) -> None:
        """Pass *message* to the application as soon as its queue is locked."""
        while assigned.is_active and assigned.current is message:
            if self._locks is None or self._locks.is_locked(assigned):
                assigned.on_orderly(OrderlyEvent.QUEUE_LOCKED)
                self._emit(assigned, [message])
                return
            is_locked = await self._locks.lock(assigned)
            if not is_locked and assigned.current is message:
                assigned.on_orderly(OrderlyEvent.LOCK_REFUSED)
                await self._rpc.sleep(AFTER_UNLOCKED_MS)
