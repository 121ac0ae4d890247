"""
Queues as lists of bodies, and committed offsets as a dictionary.

A stateful test does everything twice, to the broker and to this, and compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Queues:
    """The queues of one topic, and what groups have committed of them."""

    messages: dict[int, list[bytes]] = field(default_factory=dict)
    committed: dict[tuple[str, int], int] = field(default_factory=dict)

    def send(self, queue_id: int, *bodies: bytes) -> int:
        """Append *bodies*, and return the queue offset of the first."""
        queue = self.messages.setdefault(queue_id, [])
        queue.extend(bodies)
        return len(queue) - len(bodies)

    def size(self, queue_id: int) -> int:
        """Return the queue's max offset."""
        return len(self.messages.get(queue_id, []))

    def pull(self, queue_id: int, offset: int, count: int) -> list[bytes]:
        """Return the bodies of a pull."""
        return self.messages.get(queue_id, [])[offset : offset + count]

    def commit(self, group: str, queue_id: int, offset: int) -> None:
        """Commit an offset."""
        self.committed[group, queue_id] = offset

    def queried(self, group: str, queue_id: int) -> int:
        """Return a group's offset, 0 before it has committed one."""
        return self.committed.get((group, queue_id), 0)
