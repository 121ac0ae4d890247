"""
The locks of a consumer in order: a queue is read only by who holds its lock.

A broker forgets a lock that is not renewed for a minute, so it is every 20 seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from reference.core.client.asking import Asker, Outcome
from reference.core.client.failure import Failure
from reference.core.client.message import Queue
from reference.core.client.requests import command, notice
from reference.core.client.routes import Routes
from spec.client.ordering import LOCK_LIVES_MS, LOCK_TIMEOUT_MS
from spec.layout import LayoutError
from spec.wire.json_body import decode_body, encode_body
from spec.wire.queue_locks import LockedQueues, QueueLocks
from spec.wire.request_code import RequestCode
from spec.wire.response_code import ResponseCode

Locked = Callable[[Collection[Queue] | None, int], None]
"""Told which queues are locked, None if no broker said so, and when."""


class Locks:
    """Asks brokers for the locks of one member of a group."""

    def __init__(
        self,
        group: str,
        client_id: str,
        *,
        asker: Asker,
        routes: Routes,
        lives_ms: int = LOCK_LIVES_MS,
    ) -> None:
        self.lives_ms = lives_ms
        """How long after it was last confirmed a lock is believed in."""
        self._group = group
        self._client_id = client_id
        self._asker = asker
        self._routes = routes

    def take(self, queues: Collection[Queue], then: Locked, now_ms: int) -> None:
        """Lock *queues*, which are of one broker, or lock them again."""
        (broker_name,) = {queue.broker_name for queue in queues}
        address = self._routes.address(broker_name)
        if address is None:
            then(None, now_ms)
            return

        def answered(outcome: Outcome, later_ms: int) -> None:
            then(_granted(outcome, queues), later_ms)

        asked = command(RequestCode.LOCK_BATCH_MQ, body=self._body(queues))
        self._asker.ask(address, asked, answered, until_ms=now_ms + LOCK_TIMEOUT_MS)

    def release(self, queue: Queue) -> None:
        """Unlock *queue*, without waiting for it."""
        address = self._routes.address(queue.broker_name)
        if address is not None:
            body = self._body([queue])
            self._asker.tell(address, notice(RequestCode.UNLOCK_BATCH_MQ, body=body))

    def _body(self, queues: Iterable[Queue]) -> bytes:
        names = tuple(queue.name for queue in queues)
        return encode_body(
            QueueLocks(group=self._group, client_id=self._client_id, queues=names)
        )


def _granted(outcome: Outcome, queues: Collection[Queue]) -> Collection[Queue] | None:
    """Return those of *queues* that an answer says are locked, if it says anything."""
    if isinstance(outcome, Failure) or outcome.code != ResponseCode.SUCCESS:
        return None
    try:
        names = decode_body(LockedQueues, outcome.body).queues
    except LayoutError:
        return None
    return {queue for queue in queues if queue.name in names}
