"""
Locks on queues: in-order consumption needs one consumer a queue, and knows it.

A lock belongs to a client of a group. It must be renewed; one that was not for a
minute can be taken over by another client.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reference.core.answer import Answer
from reference.core.request import Request
from spec.wire import fastjson

if TYPE_CHECKING:
    from reference.core.broker.broker import Broker

LOCK_EXPIRY_MS = 60_000
"""How long a lock lives without being renewed."""

Queue = tuple[str, str, int]
"""Topic, broker name and queue id."""


class LockRequestError(ValueError):
    """A request's body is not what a client sends."""


@dataclass(slots=True)
class Lock:
    """Who has a queue, and since when."""

    client_id: str
    renewed_at_ms: int


class QueueLocks:
    """The locks of all groups."""

    def __init__(self) -> None:
        self._locks: dict[str, dict[Queue, Lock]] = {}

    def take(self, group: str, queue: Queue, client_id: str, *, now_ms: int) -> bool:
        """Lock a queue, or renew the lock; return whether the client has it now."""
        locks = self._locks.setdefault(group, {})  # [GROUP-LOCK-003]
        lock = locks.get(queue)
        expired = lock is None or now_ms - lock.renewed_at_ms > LOCK_EXPIRY_MS
        # [GROUP-LOCK-002] [GROUP-LOCK-005]
        if lock is not None and not expired and lock.client_id != client_id:
            return False
        locks[queue] = Lock(client_id, now_ms)  # [GROUP-LOCK-001] [GROUP-LOCK-006]
        return True

    def release(self, group: str, queue: Queue, client_id: str) -> None:
        """Unlock a queue if it is this client that has it."""
        locks = self._locks.get(group, {})
        lock = locks.get(queue)
        if lock is not None and lock.client_id == client_id:  # [GROUP-LOCK-004]
            del locks[queue]


def lock_queues(broker: Broker, request: Request) -> Answer:
    """Lock what can be locked; answer with the queues that the client has now."""
    group, client_id, queues = _read(request.body)
    got = [
        {"brokerName": queue[1], "queueId": queue[2], "topic": queue[0]}
        for queue in queues
        if broker.locks.take(group, queue, client_id, now_ms=request.now_ms)
    ]
    return Answer(body=fastjson.dumps({"lockOKMQSet": got}))


def unlock_queues(broker: Broker, request: Request) -> Answer:
    """Unlock what the client has."""
    group, client_id, queues = _read(request.body)
    for queue in queues:
        broker.locks.release(group, queue, client_id)
    return Answer()


def _read(body: bytes) -> tuple[str, str, list[Queue]]:
    value = fastjson.loads(body)
    if not isinstance(value, dict):
        raise LockRequestError("the body is no JSON object")
    queues = [_queue(entry) for entry in value.get("mqSet") or ()]
    return str(value.get("consumerGroup")), str(value.get("clientId")), queues


def _queue(entry: Mapping[str, Any]) -> Queue:
    return str(entry["topic"]), str(entry["brokerName"]), int(entry["queueId"])
