"""
Concurrent consumption: pulled messages are delivered immediately, in any number.

Failed messages are sent back to the broker, so they do not stop those behind them
(Java: ConsumeMessageConcurrentlyService).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.client_instance import ClientInstance
from reference.core.client.consumer.send_back import SendBackService, next_delivery
from reference.core.client.options import ConsumerOptions
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.remoting.rpc_client import DeliverMessages
from reference.core.client.remoting.tasks import start
from spec.client.subscription import AFTER_KEPT_MS


class ConsumeConcurrently:
    """Delivers the messages of queues as they are pulled."""

    def __init__(
        self,
        options: ConsumerOptions,
        client: ClientInstance,
        *,
        send_back: SendBackService,
    ) -> None:
        self._rpc = client.rpc
        self._broadcasts = options.broadcasts
        self._send_back = send_back

    def on_messages(
        self, assigned: AssignedQueue, messages: Sequence[MessageExt]
    ) -> None:
        """Deliver pulled messages."""
        self._rpc.emit(DeliverMessages(assigned.queue, tuple(messages)))

    def process_consume_result(
        self,
        assigned: AssignedQueue | None,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt],
    ) -> None:
        """Remove consumed messages and send the *failed* ones back.

        *assigned* is None if the queue is not assigned any more.
        """
        if self._broadcasts:  # [CLIENT-SENDBACK-005]
            failed = ()
        if assigned is not None:
            assigned.process_queue.remove(one for one in messages if one not in failed)
        for message in failed:
            start(self._send_message_back(assigned, message))

    async def _send_message_back(
        self, assigned: AssignedQueue | None, message: MessageExt
    ) -> None:
        """Send *message* back, or deliver it here again if that fails."""
        is_sent = await self._send_back.send_message_back(message)
        if assigned is None:
            return
        if is_sent:
            assigned.process_queue.remove([message])
            return
        await self._rpc.sleep(AFTER_KEPT_MS)  # [CLIENT-SENDBACK-004]
        if assigned.is_active:
            again = next_delivery(message)
            self._rpc.emit(DeliverMessages(assigned.queue, (again,)))
