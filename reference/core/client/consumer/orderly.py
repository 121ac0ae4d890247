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
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.rebalance.queue_locks import LockClient
from reference.core.client.rebalance.queue_states import OrderlyEvent, OrderlyState
from reference.core.client.remoting.rpc_client import DeliverMessages
from spec.client.ordering import AFTER_FAILURE_MS, AFTER_UNLOCKED_MS


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
        self, assigned: AssignedQueue, messages: Sequence[MessageExt], now_ms: int
    ) -> None:
        """Queue pulled messages, and deliver the first if no other is current."""
        assigned.waiting.extend(messages)
        if assigned.orderly_state is OrderlyState.IDLE:
            self._deliver_next(assigned, now_ms)

    def process_consume_result(
        self,
        assigned: AssignedQueue,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt],
        now_ms: int,
    ) -> None:
        """Continue after the listener returned; an outdated result is ignored."""
        message = assigned.current
        is_consuming = assigned.orderly_state is OrderlyState.CONSUMING
        if not is_consuming or all(one is not message for one in messages):
            return
        assert message is not None, "a queue that is being consumed has a message"
        if message not in failed:
            self._finish(assigned, message, OrderlyEvent.CONSUMED, now_ms)
            return

        def on_sent_back(is_sent: bool, later_ms: int) -> None:
            if assigned.current is not message:
                return
            if is_sent:
                self._finish(assigned, message, OrderlyEvent.SENT_BACK, later_ms)
            else:
                event = OrderlyEvent.SEND_BACK_FAILED
                self._retry(assigned, message, event, later_ms)

        times = message.record.reconsume_times
        if self._retries_max is None or times < self._retries_max:
            self._retry(assigned, message, OrderlyEvent.FAILED, now_ms)
        else:  # [CLIENT-ORDERLY-006]
            assigned.on_orderly(OrderlyEvent.RETRIES_EXHAUSTED)
            send = self._send_back.send_to_retry_topic
            send(message, on_sent_back, now_ms, times=times)

    def _finish(
        self,
        assigned: AssignedQueue,
        message: MessageExt,
        event: OrderlyEvent,
        now_ms: int,
    ) -> None:
        """Remove a message, and deliver the next one."""
        assigned.on_orderly(event)
        assigned.process_queue.remove([message])
        self._deliver_next(assigned, now_ms)

    def _retry(
        self,
        assigned: AssignedQueue,
        message: MessageExt,
        event: OrderlyEvent,
        now_ms: int,
    ) -> None:
        """Deliver *message* once more, a second later."""
        assigned.on_orderly(event)
        again = next_delivery(message)  # [CLIENT-ORDERLY-005]
        assigned.current = again

        def on_timer(later_ms: int) -> None:
            if assigned.is_active and assigned.current is again:
                assigned.on_orderly(OrderlyEvent.SUSPEND_OVER)
                self._deliver(assigned, again, later_ms)

        at_ms = now_ms + AFTER_FAILURE_MS  # [CLIENT-ORDERLY-004]
        self._rpc.timers.call_at(at_ms, on_timer)

    def _deliver_next(self, assigned: AssignedQueue, now_ms: int) -> None:
        assigned.current = assigned.waiting.popleft() if assigned.waiting else None
        if assigned.current is not None:
            assigned.on_orderly(OrderlyEvent.MESSAGE_DUE)
            self._deliver(assigned, assigned.current, now_ms)

    def _deliver(
        self, assigned: AssignedQueue, message: MessageExt, now_ms: int
    ) -> None:
        """Pass *message* to the application as soon as its queue is locked."""
        if not assigned.is_active or assigned.current is not message:
            return

        def on_lock(is_locked: bool, later_ms: int) -> None:
            if is_locked:
                self._deliver(assigned, message, later_ms)
            elif assigned.current is message:
                assigned.on_orderly(OrderlyEvent.LOCK_REFUSED)
                at_ms = later_ms + AFTER_UNLOCKED_MS
                self._rpc.timers.call_at(
                    at_ms, lambda at_ms: self._deliver(assigned, message, at_ms)
                )

        if self._locks is None or self._locks.is_locked(assigned, now_ms):
            assigned.on_orderly(OrderlyEvent.QUEUE_LOCKED)
            self._rpc.emit(DeliverMessages(assigned.queue, (message,)))
        else:
            self._locks.lock(assigned, on_lock, now_ms)
