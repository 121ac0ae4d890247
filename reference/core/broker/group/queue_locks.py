"""
Queue locks for orderly consumers (Java: RebalanceLockManager).

A lock belongs to a client of a group. Another client can lock the queue when the lock
has not been renewed for a minute.
"""

from __future__ import annotations

from dataclasses import dataclass

from spec.wire.bodies.queue_name import QueueName

LOCK_EXPIRY_MS = 60_000
"""Life of a lock that is not renewed."""


@dataclass(slots=True)
class Lock:
    """The owner of a queue, and the time of its last renewal."""

    client_id: str
    renewed_at_ms: int


class QueueLocks:
    """The locks of all groups."""

    def __init__(self) -> None:
        self._locks: dict[str, dict[QueueName, Lock]] = {}

    def lock(
        self, group: str, queue: QueueName, client_id: str, *, now_ms: int
    ) -> bool:
        """Lock a queue, or renew the lock; return whether the client has the lock."""
        locks = self._locks.setdefault(group, {})  # [GROUP-LOCK-003]
        lock = locks.get(queue)
        expired = lock is None or now_ms - lock.renewed_at_ms > LOCK_EXPIRY_MS
        # [GROUP-LOCK-002] [GROUP-LOCK-005]
        if lock is not None and not expired and lock.client_id != client_id:
            return False
        locks[queue] = Lock(client_id, now_ms)  # [GROUP-LOCK-001] [GROUP-LOCK-006]
        return True

    def unlock(self, group: str, queue: QueueName, client_id: str) -> None:
        """Unlock a queue that this client has locked."""
        locks = self._locks.get(group, {})
        lock = locks.get(queue)
        if lock is not None and lock.client_id == client_id:  # [GROUP-LOCK-004]
            del locks[queue]
