"""
Which queue the next message goes to: each in its turn, away from brokers that failed.

The turn is a number that grows by one with every choice. Java keeps one for each of
its threads and begins anywhere; here whoever makes a turn says where it begins.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.core.client.faults import FaultTable
from reference.core.client.message import Queue

_TURN_END = 2**31


class Turn:
    """A number that grows by one whenever it is taken, and stays a Java int."""

    def __init__(self, start: int = 0) -> None:
        self._next = start % _TURN_END  # [CLIENT-SELECT-002]

    def take(self) -> int:
        """Return the number, and go on."""
        taken = self._next
        self._next = (taken + 1) % _TURN_END
        return taken


def choose(
    queues: Sequence[Queue], turn: Turn, *, last_broker: str | None = None
) -> Queue:
    """Return the next of *queues*, which are some; not of *last_broker* if one isn't.

    *last_broker* is where the last attempt of the same message failed.
    """
    first = turn.take()
    if last_broker is not None:
        for queue in _from(queues, first):
            if queue.broker_name != last_broker:  # [CLIENT-SELECT-003]
                return queue
        first = turn.take()
    return queues[first % len(queues)]  # [CLIENT-SELECT-001]


def choose_available(
    queues: Sequence[Queue],
    turn: Turn,
    faults: FaultTable,
    *,
    now_ms: int,
    last_broker: str | None = None,
) -> Queue:
    """Return the next of *queues* as a producer with a fault table chooses it.

    4.6.0 takes an available queue in a retry only where it is of the broker that
    failed. When none may be taken the least bad broker is asked for.
    """
    for queue in _from(queues, turn.take()):
        if last_broker is not None and queue.broker_name != last_broker:
            continue  # [CLIENT-FAULT-009]
        if faults.is_available(queue.broker_name, now_ms):
            return queue
    name = faults.least_bad(now_ms)
    if name is None:
        return choose(queues, turn)
    own = [queue for queue in queues if queue.broker_name == name]
    if not own:
        faults.forget(name)
        return choose(queues, turn)
    turn.take()
    return own[turn.take() % len(own)]


def _from(queues: Sequence[Queue], first: int) -> list[Queue]:
    """Return *queues*, beginning at the one whose turn *first* is."""
    start = first % len(queues)
    return [*queues[start:], *queues[:start]]
