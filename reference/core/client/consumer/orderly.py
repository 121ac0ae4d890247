"""
Orderly consumption: one message of a queue at a time, while the queue is locked.

A failed message is delivered again before those behind it. A broadcasting group has no
locks but the same order (Java: ConsumeMessageOrderlyService).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.client_instance import ClientInstance
from reference.core.client.consumer.send_back import SendBackService, next_delivery
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.assigned_queue import (
    AssignedQueue,
    OrderlyEvent,
    OrderlyState,
)
from reference.core.client.rebalance.queue_locks import LockClient
from reference.core.client.remoting.rpc_client import DeliverMessages
from reference.core.client.remoting.tasks import start
from spec.client.orderly import AFTER_FAILURE_MS, AFTER_UNLOCKED_MS


class ConsumeOrderly:
    """Delivers the messages of queues in order."""

    def __init__(
        self,
        options: ConsumerOptions,
        client: ClientInstance,
        *,
        locks: LockClient | None,
        send_back: SendBackService,
    ) -> None:
        self._rpc = client.rpc
        self._locks = locks
        self._send_back = send_back
        self._retries_max = options.retries_max

    def on_messages(
        self, assigned: AssignedQueue, messages: Sequence[MessageExt]
    ) -> None:
        """Queue pulled messages, and deliver the first if no other is current."""
        assigned.waiting.extend(messages)
        if assigned.orderly_state is OrderlyState.IDLE:
            self._deliver_next(assigned)

    def process_consume_result(
        self,
        assigned: AssignedQueue | None,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt],
    ) -> None:
        """Continue after the listener returned; an outdated result is ignored.

        So is the result of a queue that is not assigned any more.
        """
        if assigned is None:
            return
        message = assigned.current
        is_consuming = assigned.orderly_state is OrderlyState.CONSUMING
        if not is_consuming or all(one is not message for one in messages):
            return
        assert message is not None, "a queue that is being consumed has a message"
        if message not in failed:
            self._finish(assigned, message, OrderlyEvent.CONSUMED)
            return

        times = message.record.reconsume_times
        if self._retries_max is None or times < self._retries_max:
            start(self._retry(assigned, message, OrderlyEvent.FAILED))
        else:  # [CLIENT-ORDERLY-006]
            assigned.on_orderly(OrderlyEvent.RETRIES_EXHAUSTED)
            start(self._send_to_retry_topic(assigned, message))

    async def _send_to_retry_topic(
        self, assigned: AssignedQueue, message: MessageExt
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
        self, assigned: AssignedQueue, message: MessageExt, event: OrderlyEvent
    ) -> None:
        assigned.on_orderly(event)
        assigned.process_queue.remove([message])
        self._deliver_next(assigned)

    async def _retry(
        self, assigned: AssignedQueue, message: MessageExt, event: OrderlyEvent
    ) -> None:
        """Deliver *message* once more, a second later."""
        assigned.on_orderly(event)
        again = assigned.current = next_delivery(message)  # [CLIENT-ORDERLY-005]
        await self._rpc.sleep(AFTER_FAILURE_MS)  # [CLIENT-ORDERLY-004]
        if assigned.is_active and assigned.current is again:
            assigned.on_orderly(OrderlyEvent.SUSPEND_OVER)
            await self._deliver(assigned, again)

    def _deliver_next(self, assigned: AssignedQueue) -> None:
        assigned.current = assigned.waiting.popleft() if assigned.waiting else None
        if assigned.current is not None:
            assigned.on_orderly(OrderlyEvent.MESSAGE_DUE)
            start(self._deliver(assigned, assigned.current))

    async def _deliver(self, assigned: AssignedQueue, message: MessageExt) -> None:
        """Pass *message* to the application as soon as its queue is locked."""
        while assigned.is_active and assigned.current is message:
            if self._locks is None or self._locks.is_locked(assigned):
                assigned.on_orderly(OrderlyEvent.QUEUE_LOCKED)
                self._rpc.emit(DeliverMessages(assigned.queue, (message,)))
                return
            is_locked = await self._locks.lock(assigned)
            if not is_locked and assigned.current is message:
                assigned.on_orderly(OrderlyEvent.LOCK_REFUSED)
                await self._rpc.sleep(AFTER_UNLOCKED_MS)
