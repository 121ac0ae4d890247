"""
Pulls that wait for a message: long polling without a thread.

A pull that finds nothing new is held. It is tried again when a message arrives that
it wants, now and then when its queue has grown by others, and when its time is up;
that last try is answered whatever it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from reference.core.broker.subscription import Subscription
from reference.core.request import Request
from reference.core.store.api import Arrival, Queue


@dataclass(slots=True)
class HeldPull:
    """A pull, what it waits for, and how long."""

    request: Request
    offset: int
    deadline_ms: int
    subscription: Subscription


class HeldPulls:
    """All pulls that wait, by the queue they wait at."""

    def __init__(self) -> None:
        self._waiting: dict[Queue, list[HeldPull]] = {}

    def __len__(self) -> int:
        return sum(len(pulls) for pulls in self._waiting.values())

    def hold(self, queue: Queue, pull: HeldPull) -> None:
        """Let *pull* wait at *queue*."""
        self._waiting.setdefault(queue, []).append(pull)  # [PULL-HOLD-005]

    def queues(self) -> list[Queue]:
        """Return the queues at which a pull waits."""
        return list(self._waiting)

    def arrived(
        self,
        arrivals: Iterable[Arrival],
        is_wanted: Callable[[Arrival, Subscription], bool] = lambda *_: True,
    ) -> list[HeldPull]:
        """Take out and return the pulls that one of *arrivals* is for.

        *is_wanted* looks closer where the tags code says too little.
        """
        woken: list[HeldPull] = []
        if not self._waiting:
            return woken
        for arrival in arrivals:
            queue = (arrival.topic, arrival.queue_id)
            pulls = self._waiting.get(queue)
            if pulls is None:
                continue
            for pull in list(pulls):
                wanted = pull.subscription
                is_new = arrival.end_offset > pull.offset
                # [PULL-HOLD-003]
                if (
                    is_new
                    and wanted.wants(arrival.tags_code)
                    and is_wanted(arrival, wanted)
                ):
                    pulls.remove(pull)
                    woken.append(pull)
            if not pulls:
                del self._waiting[queue]
        return woken

    def grown(self, queue: Queue, end_offset: int) -> list[HeldPull]:
        """Take out and return the pulls at *queue* that wait before *end_offset*."""
        return self._take(queue, lambda pull: end_offset > pull.offset)

    def overdue(self, now_ms: int) -> list[HeldPull]:
        """Take out and return the pulls whose time is up."""
        return [
            pull
            for queue in self.queues()
            # [PULL-HOLD-002]
            for pull in self._take(queue, lambda pull: pull.deadline_ms <= now_ms)
        ]

    def drop(self, connection: int) -> None:
        """Forget the pulls of a connection that is gone."""
        for queue in self.queues():
            self._take(queue, lambda pull: pull.request.connection == connection)

    def all(self) -> Iterator[HeldPull]:
        """Yield every pull that waits."""
        for pulls in self._waiting.values():
            yield from pulls

    def _take(self, queue: Queue, wanted: Callable[[HeldPull], bool]) -> list[HeldPull]:
        pulls = self._waiting.get(queue, [])
        taken = [pull for pull in pulls if wanted(pull)]
        if taken:
            rest = [pull for pull in pulls if not wanted(pull)]
            if rest:
                self._waiting[queue] = rest
            else:
                del self._waiting[queue]
        return taken
