"""
Routes of topics, and the brokers they point to (Java: RouteInfoManager).

Brokers fill the tables by registering. Nothing is persisted: a restarted name server
has no routes until the brokers register again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from msgspec import Struct

from spec.routing.broker_registration import RegistrationBody
from spec.routing.route_data import MASTER_ID, BrokerData, QueueData
from spec.routing.topic_config import DataVersion, Permission, TopicConfig

BROKER_EXPIRY_MS = 120_000  # [ROUTE-LIVENESS-013]
"""Time without a registration after which a broker is removed."""


class LiveBroker(Struct, kw_only=True):
    """The last registration of a broker address (Java: BrokerLiveInfo)."""

    updated_at_ms: int
    """Time of the last registration or of a query of its data version."""
    version: DataVersion
    connection: int
    """The connection of the last registration, whose loss removes the broker."""
    ha_address: str | None


class Master(NamedTuple):
    """The live master of a broker name, as its slaves need it."""

    address: str
    ha_address: str | None
    """Its address for slaves (Java: haServerAddr)."""


class Registration(Struct, frozen=True, kw_only=True):
    """A registration, decoded (Java: RegisterBrokerRequestHeader and its body)."""

    cluster: str
    address: str
    name: str
    broker_id: int
    ha_address: str | None
    body: RegistrationBody
    has_filter_servers: bool = True
    """Without a list of them the broker keeps those of the registration before."""


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
        is_new = self._register_address(broker)
        table = broker.body.topics
        if broker.broker_id == MASTER_ID and (  # [ROUTE-REG-011] [ROUTE-LIVENESS-012]
            # [ROUTE-REG-012] [ROUTE-REG-013] [ROUTE-LIVENESS-011]
            is_new or self.is_changed(broker.address, table.version)
        ):
            for topic in table.topics.values():  # [ROUTE-REG-016]
                self._register_queues(broker.name, topic)
        self.live_brokers[broker.address] = LiveBroker(
            updated_at_ms=now_ms,
            version=table.version,
            connection=connection,  # [ROUTE-LIVENESS-009]
            ha_address=broker.ha_address,
        )
        if broker.has_filter_servers:
            self._register_filter_servers(broker.address, broker.body.filter_servers)

    def master_of(self, broker: Registration) -> Master | None:
        """Return the live master of a slave; None without one, and for a master."""
        if broker.broker_id == MASTER_ID:
            return None
        address = self.brokers[broker.name].addresses.get(MASTER_ID)
        live = self.live_brokers.get(address) if address is not None else None
        return Master(address, live.ha_address) if address and live else None

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
        # [ROUTE-LIVENESS-001] [ROUTE-LIVENESS-004] [ROUTE-LIVENESS-006]
        if self._remove_broker_id(broker, broker_id):
            self._leave_cluster(cluster, name)

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
            for number, queue in enumerate(queues):
                if queue.broker_name == broker_name:
                    # [ROUTE-PERM-001] [ROUTE-PERM-003]
                    permission = queue.permission & ~Permission.WRITE
                    queues[number] = replace(queue, permission=permission)
                    wiped += 1
        return wiped  # [ROUTE-PERM-002]

    def _register_address(self, broker: Registration) -> bool:
        """Store a broker's address; return whether its broker id is new."""
        number, address = broker.broker_id, broker.address
        known = self.brokers.get(broker.name) or BrokerData(
            cluster=broker.cluster, broker_name=broker.name, addresses={}
        )
        others = {  # [ROUTE-REG-017]
            n: a for n, a in known.addresses.items() if n == number or a != address
        }
        addresses = {**others, number: address}  # [ROUTE-REG-018]
        if addresses != known.addresses:
            self.route_bodies.clear()
            self.brokers[broker.name] = replace(known, addresses=addresses)
        return number not in known.addresses

    def _register_queues(self, broker_name: str, topic: TopicConfig) -> None:
        # [ROUTE-TOPIC-001] [ROUTE-TOPIC-002] [ROUTE-TOPIC-003]
        queue = QueueData(
            broker_name=broker_name,
            read_queue_count=topic.read_queue_count,
            write_queue_count=topic.write_queue_count,
            permission=topic.permission,
            topic_flags=topic.topic_flags,
        )
        queues = self.queues.setdefault(topic.topic, [])
        if queue not in queues:
            self.route_bodies.clear()
            # [ROUTE-DATA-011] [ROUTE-REG-015]
            queues[:] = [q for q in queues if q.broker_name != broker_name]
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
        for name, broker in self.brokers.items():
            ids = [n for n, known in broker.addresses.items() if known == address]
            if not ids:
                continue
            if self._remove_broker_id(broker, ids[0]):
                clusters = (c for c, names in self.clusters.items() if name in names)
                self._leave_cluster(next(clusters, ""), name)
            return

    def _remove_broker_id(self, broker: BrokerData, broker_id: int) -> bool:
        """Remove a broker id; return whether it was the last one of its name.

        The last one leaves with the queues of the broker name.
        """
        addresses = {n: a for n, a in broker.addresses.items() if n != broker_id}
        if addresses:
            self.brokers[broker.broker_name] = replace(broker, addresses=addresses)
            return False
        del self.brokers[broker.broker_name]
        self._remove_queues(broker.broker_name)
        return True

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
