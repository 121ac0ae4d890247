"""
Consumer offsets of a group's member: at brokers, or local if it broadcasts.

Java: RemoteBrokerOffsetStore, LocalFileOffsetStore. An offset that a broker was sent is
not sent again before it changes.
"""

from __future__ import annotations

from collections.abc import Mapping

from reference.core.client.client_instance import ClientInstance
from reference.core.client.effects import PersistOffsets
from reference.core.client.message import MessageQueue
from reference.core.client.options import RebalanceOptions
from reference.core.client.pull.pull_request import queue_command
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.remoting.rpc_client import is_success
from reference.core.client.remoting.tasks import begin
from spec.client.subscription import OFFSET_TIMEOUT_MS
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode


class OffsetStore:
    """Commits the consumed offsets of assigned queues."""

    def __init__(
        self,
        options: RebalanceOptions,
        client: ClientInstance,
        assigned_queues: Mapping[MessageQueue, AssignedQueue],
    ) -> None:
        self._local_offsets = client.local_offsets
        self._group = options.group
        self._broadcasts = options.broadcasts
        self._assigned_queues = assigned_queues
        self._rpc, self._routes = client.rpc, client.routes

    def commit(self, assigned: AssignedQueue) -> None:
        """Commit the offset of one queue, without a response."""
        offset = assigned.process_queue.offset
        if self._broadcasts and offset is not None:
            self._local_offsets[assigned.queue] = offset
        elif commit := self._next_commit(assigned, oneway=True):
            self._rpc.invoke_oneway(*commit)

    def commit_all(self) -> None:
        """Commit the offsets of all queues without responses, or persist them."""
        for assigned in self._assigned_queues.values():
            self.commit(assigned)
        offsets = self._local_offsets.items()
        known = {queue: at for queue, at in offsets if queue in self._assigned_queues}
        if known:  # [CLIENT-LOCALOFFSET-001]
            self._rpc.emit(PersistOffsets(known))

    async def commit_sync(self) -> None:
        """Commit, and wait for every response or timeout.

        The next commit repeats the offsets that no broker confirmed.
        """
        if self._broadcasts:
            self.commit_all()
            return
        responses = []
        for assigned in self._assigned_queues.values():
            if commit := self._next_commit(assigned, oneway=False):
                response = begin(self._rpc.invoke(*commit, OFFSET_TIMEOUT_MS))
                responses.append((assigned, response))
        for assigned, response in responses:
            if not is_success(await response):
                assigned.committed_offset = None

    def _next_commit(
        self, assigned: AssignedQueue, *, oneway: bool
    ) -> tuple[str, Command] | None:
        """Return address and request of a changed offset, which counts as committed."""
        offset, queue = assigned.process_queue.offset, assigned.queue
        address = self._routes.any_address(queue.broker_name)
        if address is None or offset is None or offset == assigned.committed_offset:
            return None
        assigned.committed_offset = offset
        fields = {"consumerGroup": self._group, "commitOffset": offset}
        code = RequestCode.UPDATE_CONSUMER_OFFSET
        return address, queue_command(code, queue, fields, oneway=oneway)
