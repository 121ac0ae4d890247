"""
Allocate strategies: the queues of a topic for each member of a consumer group.

There is no coordinator. Every member gets the consumer ids from a broker, sorts queues
and ids, and applies the same strategy. The result is consistent only while all members
see the same ids and use the same strategy.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

from reference.core.client.message import MessageQueue

AllocateStrategy = Callable[
    [str, Sequence[MessageQueue], Sequence[str]], list[MessageQueue]
]
"""Strategy: own client id, all queues and all client ids, both sorted."""

VIRTUAL_NODES = 10
_HASH_SIZE = 4


def allocate_message_queue_averagely(
    member: str, queues: Sequence[MessageQueue], members: Sequence[str]
) -> list[MessageQueue]:
    """Allocate adjacent queues; the first members have one more."""
    if member not in members:  # [CLIENT-ALLOCATE-006]
        return []
    index = members.index(member)
    size, over = divmod(len(queues), len(members))
    start = index * size + min(index, over)  # [CLIENT-ALLOCATE-001]
    return list(queues[start : start + size + (1 if index < over else 0)])


def allocate_message_queue_averagely_by_circle(
    member: str, queues: Sequence[MessageQueue], members: Sequence[str]
) -> list[MessageQueue]:
    """Allocate every n-th queue (Java: AllocateMessageQueueAveragelyByCircle)."""
    if member not in members:
        return []
    return list(queues[members.index(member) :: len(members)])  # [CLIENT-ALLOCATE-002]


def allocate_message_queue_by_config(own: Sequence[MessageQueue]) -> AllocateStrategy:
    """Build the strategy with fixed queues (Java: AllocateMessageQueueByConfig)."""

    def allocate(
        _member: str, _queues: Sequence[MessageQueue], _members: Sequence[str]
    ) -> list[MessageQueue]:
        return list(own)  # [CLIENT-ALLOCATE-003]

    return allocate


def allocate_message_queue_by_machine_room(rooms: Collection[str]) -> AllocateStrategy:
    """Build the strategy for brokers named ROOM@NAME in *rooms*.

    QUIRK of 4.6.0: it counts the queues in these rooms, but allocates that many from
    the front of all queues. Only the remainder comes from the rooms (Java:
    AllocateMessageQueueByMachineRoom).
    """

    def allocate(
        member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        if member not in members:
            return []
        near = [queue for queue in queues if _room(queue.broker_name) in rooms]
        index = members.index(member)
        size, over = divmod(len(near), len(members))
        start = index * size
        own = list(queues[start : start + size])  # [CLIENT-ALLOCATE-004]
        if index < over:
            own.append(near[size * len(members) + index])
        return own

    return allocate


def allocate_message_queue_consistent_hash(
    member: str, queues: Sequence[MessageQueue], members: Sequence[str]
) -> list[MessageQueue]:
    """Allocate by a hash ring: few queues move when a member comes or goes."""
    if member not in members:
        return []
    ring = {
        _hash(f"{one}-{number}"): one
        for one in members
        for number in range(VIRTUAL_NODES)
    }
    places = sorted(ring)
    return [
        queue
        for queue in queues
        if ring[_next_place(places, _hash(java_text(queue)))] == member
    ]


def java_text(queue: MessageQueue) -> str:
    """Return MessageQueue#toString, the text that is hashed."""
    return (
        f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name},"
        f" queueId={queue.queue_id}]"
    )


def _next_place(places: Sequence[int], place: int) -> int:
    return places[bisect_left(places, place) % len(places)]  # [CLIENT-ALLOCATE-005]


def _hash(text: str) -> int:
    """Return the first four bytes of the MD5 of *text*, as an unsigned number."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:_HASH_SIZE], "big")


def _room(broker_name: str) -> str | None:
    # Java's split drops empty pieces at the end.
    pieces = broker_name.rstrip("@").split("@")
    return pieces[0] if len(pieces) == 2 else None
