"""
The connected clients: members of groups, their queue locks, and filter servers.

Heartbeats fill the tables of groups. A member is a client on one connection (Java:
ConsumerManager, ProducerManager).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from msgspec import Struct, field

from reference.core.broker.filter.subscription import Subscription
from reference.core.remoting.request import Request
from spec.wire.bodies.queue_name import QueueName

CLIENT_EXPIRY_MS = 120_000  # [GROUP-MEMBER-013] [GROUP-MEMBER-015]
"""Time after which a client without heartbeats is removed."""
LOCK_EXPIRY_MS = 60_000
"""Life of a lock that is not renewed."""
FILTER_SERVER_EXPIRY_MS = 30_000
"""Time after which a filter server that does not register is removed."""


class Client(Struct, kw_only=True):
    """A client on one connection (Java: ClientChannelInfo)."""

    connection: int
    client_id: str
    language: str
    version: int
    seen_at_ms: int

    @classmethod
    def of(cls, request: Request, client_id: str) -> Client:
        """Return the client that sends *request*."""
        return cls(
            connection=request.connection,
            client_id=client_id,
            language=request.language,
            version=request.version,
            seen_at_ms=request.now_ms,
        )


class ConsumerGroup(Struct):
    """The members and subscriptions of a group (Java: ConsumerGroupInfo)."""

    name: str
    consume_type: str | None = "CONSUME_PASSIVELY"
    message_model: str | None = "CLUSTERING"
    consume_from: str | None = "CONSUME_FROM_LAST_OFFSET"
    members: dict[int, Client] = field(default_factory=dict)
    """By connection."""
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    """By topic."""

    def join(self, client: Client) -> bool:
        """Record a heartbeat; return whether the member is new."""
        known = self.members.get(client.connection)
        if known is None or known.client_id != client.client_id:
            self.members[client.connection] = client  # [GROUP-MEMBER-011]
        else:
            known.seen_at_ms = client.seen_at_ms
        return known is None  # [GROUP-MEMBER-009]

    def subscribe(self, subscriptions: Iterable[Subscription]) -> bool:
        """Record a member's subscriptions; return whether the set of topics changed.

        A newer expression for a known topic is recorded, but it is not a change.
        """
        new = {one.data.topic: one for one in subscriptions}
        changed = new.keys() != self.subscriptions.keys()
        for topic in self.subscriptions.keys() - new.keys():  # [GROUP-MEMBER-008]
            del self.subscriptions[topic]
        for topic, subscription in new.items():
            old = self.subscriptions.get(topic)
            # [GROUP-HEARTBEAT-004]
            if old is None or subscription.data.version > old.data.version:
                self.subscriptions[topic] = subscription
        return changed


class Clients:
    """The consumer and producer groups that have members, and the filter servers."""

    def __init__(self) -> None:
        self.consumers: dict[str, ConsumerGroup] = {}
        self.producers: dict[str, dict[int, Client]] = {}
        self.producer_connections: dict[str, int] = {}
        """Connection for replies, by client id (Java: clientChannelTable)."""
        self.filter_servers: dict[int, Client] = {}
        """Programs that filtered messages by a consumer's class, by connection.

        The client id is their address, which the broker passes on to the name servers
        (Java: FilterServerManager). 4.6.0 has kept no more of them.
        """
        self._turn = 0

    def groups_subscribed_to(self, topic: str) -> Iterator[str]:
        """Yield the groups that subscribe to *topic*."""
        for name, group in self.consumers.items():
            if topic in group.subscriptions:
                yield name

    def leave_consumer(self, group: str, connection: int) -> ConsumerGroup | None:
        """Remove a member of a consumer group; return the group."""
        found = self.consumers.get(group)
        if found is not None:
            found.members.pop(connection, None)
            if not found.members:
                del self.consumers[group]
        return found

    def join_producer(self, group: str, client: Client) -> None:
        """Record a producer's heartbeat; a known member keeps its first client id."""
        members = self.producers.setdefault(group, {})
        known = members.setdefault(client.connection, client)
        known.seen_at_ms = client.seen_at_ms
        if known is client:
            self.producer_connections[client.client_id] = client.connection

    def leave_producer(self, group: str, connection: int, client_id: str) -> None:
        """Remove a member of a producer group.

        As in 4.6.0, the client gets no replies then, even if it is in other groups.
        """
        members = self.producers.get(group)
        if members is not None:
            self.producer_connections.pop(client_id, None)  # [SEND-REPLY-009]
            members.pop(connection, None)
            if not members:
                del self.producers[group]

    def drop(self, connection: int) -> list[ConsumerGroup]:
        """Remove a closed connection from all tables; return its consumer groups."""
        self.filter_servers.pop(connection, None)
        for name, members in list(self.producers.items()):
            if connection in members:
                self.leave_producer(name, connection, members[connection].client_id)
        # [GROUP-MEMBER-006]
        groups = [g for g in self.consumers.values() if connection in g.members]
        for group in groups:
            self.leave_consumer(group.name, connection)
        return groups

    def not_active(self, now_ms: int) -> set[int]:
        """Return the connections of clients without a heartbeat for too long.

        Java: ConsumerManager#scanNotActiveChannel and ProducerManager's.
        """
        consumers = (c for g in self.consumers.values() for c in g.members.values())
        members = chain(consumers, self._all_producers())
        servers = self.filter_servers.values()
        kinds = (members, CLIENT_EXPIRY_MS), (servers, FILTER_SERVER_EXPIRY_MS)
        return {
            one.connection
            for clients, expiry_ms in kinds
            for one in clients
            if now_ms - one.seen_at_ms > expiry_ms
        }

    def any_producer(self, group: str) -> Client | None:
        """Return a member of a producer group, another each time."""
        members = list(self.producers.get(group, {}).values())
        if not members:
            return None
        self._turn += 1
        return members[self._turn % len(members)]

    def _all_producers(self) -> Iterator[Client]:
        return (c for members in self.producers.values() for c in members.values())


class Lock(Struct):
    """The owner of a queue, and the time of its last renewal."""

    client_id: str
    renewed_at_ms: int


class QueueLocks:
    """The locks of orderly consumers (Java: RebalanceLockManager).

    A lock belongs to a client of a group. Another client can lock the queue when the
    lock has not been renewed for a minute.
    """

    def __init__(self) -> None:
        self._locks: dict[str, dict[QueueName, Lock]] = {}

    def lock(
        self, group: str, queue: QueueName, client_id: str, *, now_ms: int
    ) -> bool:
        """Lock a queue, or renew the lock; return whether the client has the lock."""
        locks = self._locks.setdefault(group, {})  # [GROUP-LOCK-003]
        lock = locks.get(queue)
        expired = lock is None or now_ms - lock.renewed_at_ms > LOCK_EXPIRY_MS
        # [GROUP-LOCK-002] [GROUP-LOCK-005]
        if lock is not None and not expired and lock.client_id != client_id:
            return False
        locks[queue] = Lock(client_id, now_ms)  # [GROUP-LOCK-001] [GROUP-LOCK-006]
        return True

    def unlock(self, group: str, queue: QueueName, client_id: str) -> None:
        """Unlock a queue that this client has locked."""
        locks = self._locks.get(group, {})
        lock = locks.get(queue)
        if lock is not None and lock.client_id == client_id:  # [GROUP-LOCK-004]
            del locks[queue]
