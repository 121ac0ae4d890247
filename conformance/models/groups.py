"""
Consumer groups as dictionaries, and the locks of their members on queues.

Each change returns the connections to notify, so that a test can compare them with
the notifications received. Time is an argument; its unit is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Wanted(NamedTuple):
    """Subscription of a heartbeat to one topic."""

    version: int
    expression: str


@dataclass(slots=True)
class Group:
    """The members of a group, and what it is subscribed to."""

    members: dict[int, str] = field(default_factory=dict)
    """Client ids by connection."""
    subscriptions: dict[str, Wanted] = field(default_factory=dict)
    """By topic: those of the latest heartbeat, of whichever member it was."""

    def beat(
        self, connection: int, client_id: str, wanted: Mapping[str, Wanted]
    ) -> list[int]:
        """Take a heartbeat; return the connections to notify."""
        changed = (
            connection not in self.members or wanted.keys() != self.subscriptions.keys()
        )
        self.members[connection] = client_id
        known = self.subscriptions
        self.subscriptions = {
            topic: one
            if topic not in known or one.version > known[topic].version
            else known[topic]
            for topic, one in wanted.items()
        }
        return list(self.members) if changed else []


@dataclass(slots=True)
class Groups:
    """All groups with members."""

    groups: dict[str, Group] = field(default_factory=dict)

    def beat(
        self, name: str, connection: int, client_id: str, wanted: Mapping[str, Wanted]
    ) -> list[int]:
        """Take a heartbeat; return the connections to notify."""
        group = self.groups.setdefault(name, Group())
        return group.beat(connection, client_id, wanted)

    def leave(self, name: str, connection: int) -> list[int]:
        """Let a connection leave a group, whether it was a member or not."""
        group = self.groups.get(name)
        if group is None:
            return []
        group.members.pop(connection, None)
        if not group.members:
            del self.groups[name]
        return list(group.members)

    def close(self, connection: int) -> dict[str, list[int]]:
        """Let a connection leave all its groups; return those to notify, by group."""
        left = [name for name, one in self.groups.items() if connection in one.members]
        return {name: self.leave(name, connection) for name in left}


class Held(NamedTuple):
    """Holder of a queue; it began between the two times."""

    client_id: str
    earliest: float
    latest: float
    is_renewed: bool


Key = tuple[str, int]
"""A group and a queue id."""


@dataclass(slots=True)
class Locks:
    """The locks on queues, each of which ends *life* after it was renewed."""

    life: float
    held: dict[Key, Held] = field(default_factory=dict)

    def may_take(
        self, key: Key, client_id: str, *, began: float, ended: float
    ) -> set[bool]:
        """Return whether a client may get a lock that it requested in that time.

        Both are possible while the lock of another may have ended, or not yet.
        """
        held = self.held.get(key)
        if held is None or held.client_id == client_id:
            return {True}
        return {ended - held.earliest > self.life, began - held.latest > self.life}

    def take(self, key: Key, client_id: str, *, began: float, ended: float) -> None:
        """Note that a client has got a lock, or has renewed it."""
        held = self.held.get(key)
        is_renewed = held is not None and held.client_id == client_id
        self.held[key] = Held(client_id, began, ended, is_renewed)

    def release(self, key: Key, client_id: str) -> None:
        """Note that a client has given a lock back, if it was its own."""
        held = self.held.get(key)
        if held is not None and held.client_id == client_id:
            del self.held[key]
