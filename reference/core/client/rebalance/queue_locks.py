"""
Queue locks of an orderly consumer: LOCK_BATCH_MQ and UNLOCK_BATCH_MQ.

A broker drops a lock that is not renewed for a minute. A client renews its locks every
20 seconds, and counts one as expired 30 seconds after the last confirmation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from reference.core.client.client_instance import ClientInstance
from reference.core.client.message import MessageQueue
from reference.core.client.options import MemberOptions
from reference.core.client.rebalance.assigned_queue import AssignedQueue
from reference.core.client.rebalance.queue_states import LockEvent, LockState
from reference.core.client.remoting.rpc_client import Result, body_of
from reference.core.remoting.response import create_request
from spec.client.ordering import LOCK_TIMEOUT_MS
from spec.wire.bodies.json_body import encode_body
from spec.wire.consumer.queue_locks import LockedQueues, QueueLocks
from spec.wire.remoting.request_code import RequestCode

LockCallback = Callable[[Collection[MessageQueue] | None, int], None]
"""Called with the locked queues, None without a successful response, and the time."""


class LockClient:
    """Locks queues for one member of a group."""

    def __init__(self, options: MemberOptions, client: ClientInstance) -> None:
        self._group = options.group
        self._client_id = client.client_id
        self._rpc, self._routes = client.rpc, client.routes
        self._lives_ms = options.periods.lock_lives_ms

    def is_locked(self, assigned: AssignedQueue, now_ms: int) -> bool:
        """Return whether a lock was confirmed within its lifetime."""
        is_held = assigned.lock_state is LockState.LOCKED
        if is_held and now_ms - assigned.locked_at_ms > self._lives_ms:
            assigned.on_lock(LockEvent.LIFETIME_OVER)
        return assigned.lock_state is LockState.LOCKED  # [CLIENT-ORDERLY-002]

    def lock(
        self,
        assigned: AssignedQueue,
        callback: Callable[[bool, int], None],
        now_ms: int,
    ) -> None:
        """Lock one queue; call back with whether that succeeded, and the time."""

        def on_locked(locked: Collection[MessageQueue] | None, later_ms: int) -> None:
            is_locked = bool(locked)
            if is_locked:
                assigned.on_lock(LockEvent.CONFIRMED, later_ms)
            callback(is_locked, later_ms)

        self._lock_batch_mq([assigned.queue], on_locked, now_ms)

    def renew(self, assigned_queues: Collection[AssignedQueue], now_ms: int) -> None:
        """Renew the locks of all queues, with one request for each broker."""
        by_broker = defaultdict(list)
        for assigned in assigned_queues:
            by_broker[assigned.queue.broker_name].append(assigned)
        for some in by_broker.values():
            queues = [assigned.queue for assigned in some]  # [CLIENT-ORDERLY-009]
            self._lock_batch_mq(queues, _on_renewed(some), now_ms)

    def unlock(self, assigned: AssignedQueue) -> None:
        """Unlock a queue that is not assigned any more."""
        assigned.on_lock(LockEvent.UNLOCK)
        code, body = RequestCode.UNLOCK_BATCH_MQ, self._body([assigned.queue])
        request = create_request(code, body=body, oneway=True)
        address = self._routes.address(assigned.queue.broker_name)
        self._rpc.invoke_oneway(address, request)

    def _lock_batch_mq(
        self, queues: Sequence[MessageQueue], callback: LockCallback, now_ms: int
    ) -> None:
        """Lock *queues* of one broker."""

        def on_result(result: Result, later_ms: int) -> None:
            body = body_of(result, LockedQueues)
            if body is None:
                callback(None, later_ms)
                return
            callback({one for one in queues if one.name in body.queues}, later_ms)

        request = create_request(RequestCode.LOCK_BATCH_MQ, body=self._body(queues))
        address = self._routes.address(queues[0].broker_name)
        self._rpc.invoke(address, request, on_result, now_ms, LOCK_TIMEOUT_MS)

    def _body(self, queues: Sequence[MessageQueue]) -> bytes:
        names = tuple(queue.name for queue in queues)
        return encode_body(
            QueueLocks(group=self._group, client_id=self._client_id, queues=names)
        )


def _on_renewed(assigned_queues: Collection[AssignedQueue]) -> LockCallback:
    """Build the callback of a renewal; a failed request changes nothing."""

    def callback(locked: Collection[MessageQueue] | None, now_ms: int) -> None:
        if locked is None:  # [CLIENT-ORDERLY-008]
            return
        for assigned in assigned_queues:
            is_locked = assigned.queue in locked
            event = LockEvent.CONFIRMED if is_locked else LockEvent.RENEWAL_REFUSED
            assigned.on_lock(event, now_ms)

    return callback
