"""
Which queues of a topic each member of a consumer group takes.

Nobody hands them out: every member asks a broker who is there, sorts queues and
members, applies the same rule and takes its own share. The group is right only while
all know the same members and use the same rule.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence

from reference.core.client.message import Queue

Allocation = Callable[[str, Sequence[Queue], Sequence[str]], list[Queue]]
"""The rule: own client id, all queues, all client ids; both sorted."""

VIRTUAL_NODES = 10
_HASH_SIZE = 4


def averaged(
    member: str, queues: Sequence[Queue], members: Sequence[str]
) -> list[Queue]:
    """Return *member*'s run of neighbouring queues; first members have one more."""
    if member not in members:  # [CLIENT-ALLOCATE-006]
        return []
    index = members.index(member)
    size, over = divmod(len(queues), len(members))
    start = index * size + min(index, over)  # [CLIENT-ALLOCATE-001]
    return list(queues[start : start + size + (1 if index < over else 0)])


def by_circle(
    member: str, queues: Sequence[Queue], members: Sequence[str]
) -> list[Queue]:
    """Return every n-th queue, dealt out like cards."""
    if member not in members:
        return []
    return list(queues[members.index(member) :: len(members)])  # [CLIENT-ALLOCATE-002]


def by_config(own: Sequence[Queue]) -> Allocation:
    """Return the rule of a member that was told its queues."""

    def allocate(
        _member: str, _queues: Sequence[Queue], _members: Sequence[str]
    ) -> list[Queue]:
        return list(own)  # [CLIENT-ALLOCATE-003]

    return allocate


def by_machine_room(rooms: Collection[str]) -> Allocation:
    """Return the rule of a group that reads only brokers named ROOM@NAME of *rooms*.

    4.6.0 counts the queues in these rooms and then takes as many from the front of
    all queues; only the remainder comes from the rooms.
    """

    def allocate(
        member: str, queues: Sequence[Queue], members: Sequence[str]
    ) -> list[Queue]:
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


def by_consistent_hash(virtual_nodes: int = VIRTUAL_NODES) -> Allocation:
    """Return the rule by which few queues move when a member comes or goes."""

    def allocate(
        member: str, queues: Sequence[Queue], members: Sequence[str]
    ) -> list[Queue]:
        if member not in members:
            return []
        ring = {
            _hash(f"{one}-{number}"): one
            for one in members
            for number in range(virtual_nodes)
        }
        places = sorted(ring)
        return [
            queue
            for queue in queues
            if places and ring[_next_place(places, _hash(java_text(queue)))] == member
        ]

    return allocate


def java_text(queue: Queue) -> str:
    """Return *queue* as Java prints it, which is what is hashed."""
    return (
        f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name},"
        f" queueId={queue.queue_id}]"
    )


def _next_place(places: Sequence[int], wanted: int) -> int:
    """Return the first of *places* that is not before *wanted*, else the first."""
    return places[bisect_left(places, wanted) % len(places)]  # [CLIENT-ALLOCATE-005]


def _hash(text: str) -> int:
    """Return the first four bytes of the MD5 of *text*, as an unsigned number."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:_HASH_SIZE], "big")


def _room(broker_name: str) -> str | None:
    """Return the machine room that *broker_name* names, if it has the form."""
    # Java's split drops empty pieces at the end.
    pieces = broker_name.rstrip("@").split("@")
    return pieces[0] if len(pieces) == 2 else None
