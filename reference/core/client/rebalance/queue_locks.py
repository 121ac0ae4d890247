"""
Queue locks of an orderly consumer: LOCK_BATCH_MQ and UNLOCK_BATCH_MQ.

A broker drops a lock that is not renewed for a minute. A client renews its locks every
20 seconds, and counts one as expired 30 seconds after the last confirmation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import RebalanceOptions
from reference.core.client.rebalance.orderly_queue import (
    LockEvent,
    LockState,
    OrderlyQueue,
)
from reference.core.client.remoting.rpc_client import body_of
from reference.core.client.remoting.tasks import start
from reference.core.remoting.response import create_request
from spec.client.orderly import LOCK_TIMEOUT_MS
from spec.wire.bodies.json_body import encode_body
from spec.wire.consumer.queue_locks import LockBatchRequestBody, LockBatchResponseBody
from spec.wire.remoting.request_code import RequestCode


class LockClient:
    """Locks queues for one member of a group."""

    def __init__(self, options: RebalanceOptions, client: ClientInstance) -> None:
        self._group = options.group
        self._client_id = client.client_id
        self._rpc, self._routes = client.rpc, client.routes
        self._lives_ms = options.periods.lock_lives_ms

    def is_locked(self, assigned: OrderlyQueue) -> bool:
        """Return whether a lock was confirmed within its lifetime."""
        is_held = assigned.lock_state is LockState.LOCKED
        if is_held and self._rpc.now_ms() - assigned.locked_at_ms > self._lives_ms:
            assigned.on_lock(LockEvent.LIFETIME_OVER)
        return assigned.lock_state is LockState.LOCKED  # [CLIENT-ORDERLY-002]

    async def lock(self, assigned: OrderlyQueue) -> bool:
        """Lock one queue; return whether that succeeded."""
        is_locked = bool(await self._lock_batch_mq([assigned.queue]))
        if is_locked:
            assigned.on_lock(LockEvent.CONFIRMED, self._rpc.now_ms())
        return is_locked

    def renew(self, assigned_queues: Collection[OrderlyQueue]) -> None:
        """Renew the locks of all queues, with one request for each broker."""
        by_broker = defaultdict(list)  # [CLIENT-ORDERLY-009]
        for assigned in assigned_queues:
            by_broker[assigned.queue.broker_name].append(assigned)
        for some in by_broker.values():
            start(self._renew(some))

    def unlock(self, assigned: OrderlyQueue) -> None:
        """Unlock a queue that is not assigned any more."""
        assigned.on_lock(LockEvent.UNLOCK)
        code, body = RequestCode.UNLOCK_BATCH_MQ, self._body([assigned.queue])
        request = create_request(code, body=body, oneway=True)
        address = self._routes.address(assigned.queue.broker_name)
        self._rpc.invoke_oneway(address, request)

    async def _renew(self, some: Collection[OrderlyQueue]) -> None:
        """Renew locks at one broker; a failed request changes nothing."""
        locked = await self._lock_batch_mq([assigned.queue for assigned in some])
        if locked is None:  # [CLIENT-ORDERLY-008]
            return
        for assigned in some:
            is_locked = assigned.queue in locked
            event = LockEvent.CONFIRMED if is_locked else LockEvent.RENEWAL_REFUSED
            assigned.on_lock(event, self._rpc.now_ms())

    async def _lock_batch_mq(
        self, queues: Sequence[MessageQueue]
    ) -> Collection[MessageQueue] | None:
        """Lock *queues* of one broker; return the locked ones.

        Returns None without a successful response.
        """
        request = create_request(RequestCode.LOCK_BATCH_MQ, body=self._body(queues))
        address = self._routes.address(queues[0].broker_name)
        result = await self._rpc.invoke(address, request, LOCK_TIMEOUT_MS)
        body = body_of(result, LockBatchResponseBody)
        if body is None:
            return None
        return {one for one in queues if one.name in body.queues}

    def _body(self, queues: Sequence[MessageQueue]) -> bytes:
        names = tuple(queue.name for queue in queues)
        return encode_body(
            LockBatchRequestBody(
                group=self._group, client_id=self._client_id, queues=names
            )
        )
