"""
The offsets that consumer groups have committed (Java: ConsumerOffsetManager).

An offset is stored as the client sends it, even one that goes back. The table is
persisted in ``consumerOffset.json`` every few seconds and at stop.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.wire.bodies.json_object import JsonObject, object_in

SEPARATOR = "@"
"""Separator of topic and group in the table's keys."""


class ConsumerOffsets:
    """Offsets by ``topic@group`` and queue id."""

    def __init__(self) -> None:
        self.table: dict[str, dict[int, int]] = {}
        self.is_dirty = False
        """Whether the table has changed since it was last persisted."""

    def commit(self, group: str, topic: str, queue_id: int, offset: int) -> None:
        """Store the offset of *group* in a queue."""
        # [OFFSET-COMMIT-002]
        self.table.setdefault(f"{topic}{SEPARATOR}{group}", {})[queue_id] = offset
        self.is_dirty = True

    def query(self, group: str, topic: str, queue_id: int) -> int:
        """Return the offset of *group* in a queue; -1 without one."""
        return self.table.get(f"{topic}{SEPARATOR}{group}", {}).get(queue_id, -1)

    def of(self, group: str, topic: str) -> Mapping[int, int]:
        """Return the offsets of *group* in *topic*, by queue id."""
        return self.table.get(f"{topic}{SEPARATOR}{group}", {})

    def remove_group(self, group: str) -> None:
        """Remove all offsets of *group*."""
        for topic in self.topics_of(group):
            del self.table[f"{topic}{SEPARATOR}{group}"]
            self.is_dirty = True

    def topics_of(self, group: str) -> list[str]:
        """Return the topics in which *group* has offsets."""
        pairs = (key.split(SEPARATOR) for key in self.table)
        return [pair[0] for pair in pairs if len(pair) == 2 and pair[1] == group]

    def groups_of(self, topic: str) -> list[str]:
        """Return the groups that have offsets in *topic*."""
        pairs = (key.split(SEPARATOR) for key in self.table)
        return [pair[1] for pair in pairs if len(pair) == 2 and pair[0] == topic]

    def clone(self, source: str, target: str, topic: str) -> None:
        """Copy the offsets in *topic* from the group *source* to *target*."""
        offsets = self.table.get(f"{topic}{SEPARATOR}{source}")
        if offsets is not None:
            self.table[f"{topic}{SEPARATOR}{target}"] = dict(offsets)
            self.is_dirty = True

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of ``consumerOffset.json`` and of tools."""
        return {"offsetTable": self.table}

    def load(self, content: JsonObject) -> None:
        """Load ``consumerOffset.json``."""
        table = object_in(content, "offsetTable").items()
        self.table |= {
            str(key): {int(q): int(n) for q, n in offsets.items()}
            for key, offsets in table
        }

    def synchronize(self, content: JsonObject, now_ms: int) -> None:  # noqa: ARG002
        """Add the offsets of the master."""
        self.load(content)  # [HA-SLAVE-005]
        self.is_dirty = True
