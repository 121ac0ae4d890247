"""
Concurrent consumption: pulled messages are delivered immediately, in any number.

Failed messages are sent back to the broker, so they do not stop those behind them
(Java: ConsumeMessageConcurrentlyService).
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.consumer.push_pull_loop import PushPullLoop
from reference.core.client.consumer.send_back import next_delivery
from reference.core.client.pull.message_ext import MessageExt
from reference.core.client.rebalance.assigned_queue import PushQueue
from reference.core.client.remoting.tasks import start
from spec.client.subscription import AFTER_KEPT_MS


class ConcurrentPullLoop(PushPullLoop[PushQueue]):
    """Delivers the messages of queues as they are pulled."""

    queue_type = PushQueue

    def _deliver(self, assigned: PushQueue, messages: Sequence[MessageExt]) -> None:
        self._emit(assigned, messages)

    def _on_consumed(
        self,
        assigned: PushQueue,
        messages: Sequence[MessageExt],
        failed: Sequence[MessageExt],
    ) -> None:
        """Remove consumed messages and send the *failed* ones back."""
        if self._options.broadcasts:  # [CLIENT-SENDBACK-005]
            failed = ()
        assigned.process_queue.remove(one for one in messages if one not in failed)
        for message in failed:
            start(self._send_message_back(assigned, message))

    async def _send_message_back(
        self, assigned: PushQueue, message: MessageExt
    ) -> None:
        """Send *message* back, or deliver it here again if that fails."""
        if await self._send_back.send_message_back(message):
            assigned.process_queue.remove([message])
            return
        await self._rpc.sleep(AFTER_KEPT_MS)  # [CLIENT-SENDBACK-004]
        if assigned.is_active:
            self._emit(assigned, [next_delivery(message)])
