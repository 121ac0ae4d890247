"""
Routes of topics, and the brokers they point to (Java: RouteInfoManager).

Brokers fill the tables by registering. Nothing is persisted: a restarted name server
has no routes until the brokers register again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spec.routing.route_data import MASTER_ID
from spec.routing.topic_config import Permission

PERM_WRITE = int(Permission.WRITE)
BROKER_EXPIRY_MS = 120_000  # [ROUTE-LIVENESS-013]
"""Time without a registration after which a broker is removed."""

DataVersion = tuple[int, int]
"""Timestamp in milliseconds and counter of a broker's topic table."""


@dataclass(slots=True)
class QueueData:
    """Queues of one topic on one broker name (Java: QueueData)."""

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
    """Addresses of one broker name, by broker id (Java: BrokerData)."""

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
class LiveBroker:
    """The last registration of a broker address (Java: BrokerLiveInfo)."""

    updated_at_ms: int
    version: DataVersion
    connection: int
    ha_address: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A registration, decoded (Java: RegisterBrokerRequestHeader and its body)."""

    cluster: str
    address: str
    name: str
    broker_id: int
    ha_address: str | None
    version: DataVersion
    topics: Mapping[str, QueueData]
    filter_servers: tuple[str, ...] | None = None
    """None keeps the filter servers of the registration before."""


class RouteTables:
    """Queues by topic, brokers by name, clusters by name, live brokers by address."""

    def __init__(self) -> None:
        self.queues: dict[str, list[QueueData]] = {}
        """By topic (Java: topicQueueTable)."""
        self.brokers: dict[str, BrokerData] = {}
        """By broker name (Java: brokerAddrTable)."""
        self.clusters: dict[str, set[str]] = {}
        """Broker names by cluster (Java: clusterAddrTable)."""
        self.live_brokers: dict[str, LiveBroker] = {}
        """By broker address (Java: brokerLiveTable)."""
        self.filter_servers: dict[str, tuple[str, ...]] = {}
        """By broker address (Java: filterServerTable)."""
        self.route_bodies: dict[str, bytes] = {}
        """Encoded routes by topic, emptied by each change that a route can show."""

    def register(self, broker: Registration, connection: int, now_ms: int) -> None:
        """Register a broker, or renew its registration (Java: registerBroker)."""
        # [ROUTE-CLUSTER-001]
        self.clusters.setdefault(broker.cluster, set()).add(broker.name)
        is_first = self._register_address(broker)
        if broker.broker_id == MASTER_ID and (  # [ROUTE-REG-011] [ROUTE-LIVENESS-012]
            # [ROUTE-REG-012] [ROUTE-REG-013] [ROUTE-LIVENESS-011]
            is_first or self.is_changed(broker.address, broker.version)
        ):
            for topic, queue in broker.topics.items():  # [ROUTE-REG-016]
                self._register_queue(topic, queue)
        self.live_brokers[broker.address] = LiveBroker(
            now_ms,
            broker.version,
            connection,
            broker.ha_address,  # [ROUTE-LIVENESS-009]
        )
        if broker.filter_servers is not None:
            self._register_filter_servers(broker.address, broker.filter_servers)

    def master_of(self, broker: Registration) -> tuple[str, str | None] | None:
        """Return address and HA address of a slave's live master, None without one."""
        if broker.broker_id == MASTER_ID:
            return None
        address = self.brokers[broker.name].addresses.get(MASTER_ID)
        live = self.live_brokers.get(address) if address is not None else None
        return (address, live.ha_address) if address and live else None

    def is_changed(self, address: str, version: DataVersion) -> bool:
        """Return whether *version* differs from the registered one.

        Java: isBrokerTopicConfigChanged.
        """
        live = self.live_brokers.get(address)
        return live is None or live.version != version

    def renew(self, address: str, now_ms: int) -> None:
        """Postpone the expiry of a broker (Java: updateBrokerInfoUpdateTimestamp)."""
        if address in self.live_brokers:
            self.live_brokers[address].updated_at_ms = now_ms

    def unregister(
        self, *, cluster: str, address: str, name: str, broker_id: int
    ) -> None:
        """Remove a broker that shuts down (Java: unregisterBroker)."""
        self.route_bodies.clear()
        self.live_brokers.pop(address, None)
        self.filter_servers.pop(address, None)
        broker = self.brokers.get(name)
        if broker is None:
            return
        broker.addresses.pop(broker_id, None)  # [ROUTE-LIVENESS-006]
        if not broker.addresses:
            del self.brokers[name]
            self._leave_cluster(
                cluster, name
            )  # [ROUTE-LIVENESS-001] [ROUTE-LIVENESS-004]
            self._remove_queues(name)

    def on_connection_lost(self, connection: int) -> None:
        """Remove the broker that registered over a connection that is closed."""
        for address, live in self.live_brokers.items():
            # [ROUTE-LIVENESS-008] [ROUTE-LIVENESS-010]
            if live.connection == connection:
                self._remove_address(address)
                return

    def remove_expired(self, now_ms: int) -> list[int]:
        """Remove expired brokers and return their connections.

        Java: scanNotActiveBroker.
        """
        expired = [
            (address, live.connection)
            for address, live in self.live_brokers.items()
            if live.updated_at_ms + BROKER_EXPIRY_MS < now_ms
        ]
        for address, _ in expired:
            self._remove_address(address)
        return [connection for _, connection in expired]

    def delete_topic(self, topic: str) -> None:
        """Remove a topic until a broker registers it again."""
        self.route_bodies.clear()
        self.queues.pop(topic, None)  # [ROUTE-DELETE-001] [ROUTE-DELETE-002]

    def wipe_write_permission(self, broker_name: str) -> int:
        """Remove PERM_WRITE from a broker's queues; return the number of topics."""
        self.route_bodies.clear()
        wiped = 0
        for queues in self.queues.values():
            for queue in queues:
                if queue.broker_name == broker_name:
                    queue.permission &= ~PERM_WRITE  # [ROUTE-PERM-001] [ROUTE-PERM-003]
                    wiped += 1
        return wiped  # [ROUTE-PERM-002]

    def _register_address(self, broker: Registration) -> bool:
        """Store a broker's address; return whether its broker id is new."""
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

    def _remove_address(self, address: str) -> None:
        """Remove a broker address that expired or lost its connection.

        Java: onChannelDestroy.
        """
        self.route_bodies.clear()
        self.live_brokers.pop(address, None)
        self.filter_servers.pop(address, None)
        for broker in self.brokers.values():
            ids = [n for n, known in broker.addresses.items() if known == address]
            if not ids:
                continue
            del broker.addresses[ids[0]]
            if not broker.addresses:
                self._remove_name(broker.name)
            return

    def _remove_name(self, name: str) -> None:
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
            # [ROUTE-LIVENESS-003]
            queues[:] = [q for q in queues if q.broker_name != broker_name]
            if not queues:
                del self.queues[topic]
