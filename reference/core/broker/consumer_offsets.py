"""
How far each consumer group has read each queue.

An offset is taken as the client gives it, even when it goes back. The table is kept
in ``consumerOffset.json``, written every few seconds and at stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SEPARATOR = "@"
"""Stands between topic and group in the table's keys."""


class ConsumerOffsets:
    """Offsets by ``topic@group`` and queue id."""

    def __init__(self) -> None:
        self.table: dict[str, dict[int, int]] = {}
        self.is_dirty = False
        """Whether anything changed since the table was last kept."""

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Note that *group* has read the queue up to *offset*."""
        # [OFFSET-COMMIT-002]
        self.table.setdefault(f"{topic}{SEPARATOR}{group}", {})[queue_id] = offset
        self.is_dirty = True

    def query(self, group: str, topic: str, queue_id: int) -> int:
        """Return how far *group* has read the queue, or -1 if it never said."""
        return self.table.get(f"{topic}{SEPARATOR}{group}", {}).get(queue_id, -1)

    def of(self, group: str, topic: str) -> Mapping[int, int]:
        """Return the offsets of *group* in *topic*, by queue id."""
        return self.table.get(f"{topic}{SEPARATOR}{group}", {})

    def forget(self, group: str) -> None:
        """Forget how far *group* has read anything."""
        for topic in self.topics_of(group):
            del self.table[f"{topic}{SEPARATOR}{group}"]
            self.is_dirty = True

    def topics_of(self, group: str) -> list[str]:
        """Return the topics of which *group* has read."""
        pairs = (key.split(SEPARATOR) for key in self.table)
        return [pair[0] for pair in pairs if len(pair) == 2 and pair[1] == group]

    def groups_of(self, topic: str) -> list[str]:
        """Return the groups that have read of *topic*."""
        pairs = (key.split(SEPARATOR) for key in self.table)
        return [pair[1] for pair in pairs if len(pair) == 2 and pair[0] == topic]

    def clone(self, source: str, target: str, topic: str) -> None:
        """Let the group *target* be as far in *topic* as *source* is."""
        offsets = self.table.get(f"{topic}{SEPARATOR}{source}")
        if offsets is not None:
            self.table[f"{topic}{SEPARATOR}{target}"] = dict(offsets)
            self.is_dirty = True

    def as_json(self) -> dict[str, object]:
        """Return the table as ``consumerOffset.json`` and tools have it."""
        return {"offsetTable": self.table}

    def load(self, content: Mapping[Any, Any]) -> None:
        """Take over what ``consumerOffset.json`` holds."""
        for key, offsets in (content.get("offsetTable") or {}).items():
            self.table[str(key)] = {int(q): int(n) for q, n in offsets.items()}
