"""
The name server's tables: topics and their queues, brokers, clusters, and life signs.

Brokers fill them by registering; nothing of it is kept on disk. Every change that
4.6.0's route table knows is a method here, with the same reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MASTER_ID = 0
PERM_WRITE = 2
BROKER_EXPIRY_MS = 120_000  # [ROUTE-LIVE-013]
"""A broker that has given no life sign for longer than this is dropped."""

DataVersion = tuple[int, int]
"""Timestamp in milliseconds and counter of a broker's topic configuration."""


@dataclass(slots=True)
class QueueData:
    """What one broker has of a topic."""

    broker_name: str
    read_queue_count: int
    write_queue_count: int
    permission: int
    topic_flag: int

    def as_json(self) -> dict[str, object]:
        """Return it as route data spells it."""
        return {
            "brokerName": self.broker_name,
            "perm": self.permission,
            "readQueueNums": self.read_queue_count,
            "topicSynFlag": self.topic_flag,  # [ROUTE-DATA-007]
            "writeQueueNums": self.write_queue_count,
        }


@dataclass(slots=True)
class BrokerData:
    """The addresses under which a broker name is served, by broker id."""

    cluster: str
    name: str
    addresses: dict[int, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return it as route data spells it."""
        return {
            "brokerAddrs": dict(self.addresses),  # [ROUTE-DATA-004] [ROUTE-CLUSTER-003]
            "brokerName": self.name,
            "cluster": self.cluster,
        }


@dataclass(slots=True)
class Life:
    """The last life sign of a broker address."""

    seen_at_ms: int
    version: DataVersion
    connection: int
    ha_address: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """What a broker says of itself."""

    cluster: str
    address: str
    name: str
    broker_id: int
    ha_address: str | None
    version: DataVersion
    topics: Mapping[str, QueueData]
    filter_servers: tuple[str, ...] | None = None
    """None leaves the known ones alone."""


class Tables:
    """Everything that the name server knows of brokers."""

    def __init__(self) -> None:
        self.queues: dict[str, list[QueueData]] = {}
        self.brokers: dict[str, BrokerData] = {}
        self.clusters: dict[str, set[str]] = {}
        self.alive: dict[str, Life] = {}
        self.filter_servers: dict[str, tuple[str, ...]] = {}
        self.route_bodies: dict[str, bytes] = {}
        """Routes as they were answered, by topic, until anything in routes changes."""

    def register(self, broker: Registration, connection: int, now_ms: int) -> None:
        """Take in what a broker says of itself, and count it as a life sign."""
        # [ROUTE-CLUSTER-001]
        self.clusters.setdefault(broker.cluster, set()).add(broker.name)
        is_first = self._register_address(broker)
        if broker.broker_id == MASTER_ID and (  # [ROUTE-REG-011] [ROUTE-LIVE-012]
            # [ROUTE-REG-012] [ROUTE-REG-013] [ROUTE-LIVE-011]
            is_first or self.has_changed(broker.address, broker.version)
        ):
            for topic, queue in broker.topics.items():  # [ROUTE-REG-016]
                self._register_queue(topic, queue)
        self.alive[broker.address] = Life(
            now_ms,
            broker.version,
            connection,
            broker.ha_address,  # [ROUTE-LIVE-009]
        )
        if broker.filter_servers is not None:
            self._register_filter_servers(broker.address, broker.filter_servers)

    def master_of(self, broker: Registration) -> tuple[str, str | None] | None:
        """Return address and HA address of the living master of a slave."""
        if broker.broker_id == MASTER_ID:
            return None
        address = self.brokers[broker.name].addresses.get(MASTER_ID)
        life = self.alive.get(address) if address is not None else None
        return (address, life.ha_address) if address and life else None

    def has_changed(self, address: str, version: DataVersion) -> bool:
        """Return whether *version* is news about the broker at *address*."""
        life = self.alive.get(address)
        return life is None or life.version != version

    def touch(self, address: str, now_ms: int) -> None:
        """Count a life sign of the broker at *address*."""
        if address in self.alive:
            self.alive[address].seen_at_ms = now_ms

    def unregister(
        self, *, cluster: str, address: str, name: str, broker_id: int
    ) -> None:
        """Forget a broker that says goodbye."""
        self.route_bodies.clear()
        self.alive.pop(address, None)
        self.filter_servers.pop(address, None)
        broker = self.brokers.get(name)
        if broker is None:
            return
        broker.addresses.pop(broker_id, None)  # [ROUTE-LIVE-006]
        if not broker.addresses:
            del self.brokers[name]
            self._leave_cluster(cluster, name)  # [ROUTE-LIVE-001] [ROUTE-LIVE-004]
            self._remove_queues(name)

    def connection_closed(self, connection: int) -> None:
        """Forget the broker that had registered by a connection that is gone."""
        for address, life in self.alive.items():
            if life.connection == connection:  # [ROUTE-LIVE-008] [ROUTE-LIVE-010]
                self.forget_address(address)
                return

    def expire(self, now_ms: int) -> list[int]:
        """Forget silent brokers; return the connections that they registered by."""
        silent = [
            (address, life.connection)
            for address, life in self.alive.items()
            if life.seen_at_ms + BROKER_EXPIRY_MS < now_ms
        ]
        for address, _ in silent:
            self.forget_address(address)
        return [connection for _, connection in silent]

    def forget_address(self, address: str) -> None:
        """Forget what is known of a broker's address."""
        self.route_bodies.clear()
        self.alive.pop(address, None)
        self.filter_servers.pop(address, None)
        for broker in self.brokers.values():
            ids = [n for n, known in broker.addresses.items() if known == address]
            if not ids:
                continue
            del broker.addresses[ids[0]]
            if not broker.addresses:
                self._forget_name(broker.name)
            return

    def delete_topic(self, topic: str) -> None:
        """Forget a topic; its brokers bring it back unless they forget it too."""
        self.route_bodies.clear()
        self.queues.pop(topic, None)  # [ROUTE-DELETE-001] [ROUTE-DELETE-002]

    def wipe_write_permission(self, broker_name: str) -> int:
        """Take the write permission from a broker's queues; return how many."""
        self.route_bodies.clear()
        wiped = 0
        for queues in self.queues.values():
            for queue in queues:
                if queue.broker_name == broker_name:
                    queue.permission &= ~PERM_WRITE  # [ROUTE-PERM-001] [ROUTE-PERM-003]
                    wiped += 1
        return wiped  # [ROUTE-PERM-002]

    def _register_address(self, broker: Registration) -> bool:
        """Note a broker's address; return whether its id was free before."""
        is_first = broker.name not in self.brokers
        if is_first:
            self.brokers[broker.name] = BrokerData(broker.cluster, broker.name)
        addresses = self.brokers[broker.name].addresses
        before = dict(addresses)
        for number, address in list(addresses.items()):
            # [ROUTE-REG-017]
            if address == broker.address and number != broker.broker_id:
                del addresses[number]
        is_new = broker.broker_id not in addresses
        addresses[broker.broker_id] = broker.address  # [ROUTE-REG-018]
        if addresses != before:
            self.route_bodies.clear()
        return is_first or is_new

    def _register_queue(self, topic: str, queue: QueueData) -> None:
        queues = self.queues.setdefault(topic, [])
        if queue not in queues:
            self.route_bodies.clear()
            # [ROUTE-DATA-011] [ROUTE-REG-015]
            queues[:] = [q for q in queues if q.broker_name != queue.broker_name]
            queues.append(queue)  # [ROUTE-REG-019]

    def _register_filter_servers(self, address: str, servers: tuple[str, ...]) -> None:
        if servers == self.filter_servers.get(address, ()):
            return
        self.route_bodies.clear()
        if servers:  # [ROUTE-DATA-010]
            self.filter_servers[address] = servers
        else:
            self.filter_servers.pop(address, None)

    def _forget_name(self, name: str) -> None:
        del self.brokers[name]
        for cluster, names in self.clusters.items():
            if name in names:
                self._leave_cluster(cluster, name)
                break
        self._remove_queues(name)

    def _leave_cluster(self, cluster: str, name: str) -> None:
        names = self.clusters.get(cluster)
        if names is not None:
            names.discard(name)
            if not names:
                del self.clusters[cluster]  # [ROUTE-CLUSTER-002]

    def _remove_queues(self, broker_name: str) -> None:
        for topic, queues in list(self.queues.items()):
            # [ROUTE-LIVE-003]
            queues[:] = [q for q in queues if q.broker_name != broker_name]
            if not queues:
                del self.queues[topic]
