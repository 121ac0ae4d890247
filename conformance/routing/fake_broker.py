"""
A broker that exists only in its registrations.

It sends a name server the requests of a real broker and has nothing behind it. A test
can let it live, change and die at will. Its names and address are unique. When the test
ends, it unregisters and its topics are deleted, for the name server may be shared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, require_success
from conformance.harness.client.peer import Peer
from conformance.harness.process.context import Closing
from conformance.harness.process.deadline import wait_until
from spec.routing.broker_registration import (
    BrokerIdentity,
    RegistrationBody,
    encode_registration,
    registration_fields,
)
from spec.routing.cluster_info import ClusterInfo, decode_cluster_info
from spec.routing.route_data import TopicRoute, decode_route
from spec.routing.topic_config import (
    FIRST_RELEASE,
    DataVersion,
    TopicConfig,
    TopicTable,
    encode_data_version,
)
from spec.wire.remoting.command import Command
from spec.wire.remoting.request_code import RequestCode
from spec.wire.remoting.response_code import ResponseCode

ATTEMPTS = 5
"""Attempts of a request that a change may disturb; a change takes far less time."""


class FakeBroker:
    """One broker address, with the connection over which it registers."""

    def __init__(
        self, peer: Peer, identity: BrokerIdentity, release: str = FIRST_RELEASE
    ) -> None:
        self.peer = peer
        self.identity = identity
        self.release = release
        """The release of which it sends its registrations."""
        self.version = DataVersion(timestamp_ms=1_600_000_000_000, counter=1)
        """The data version of its last registration."""
        self.topics_seen: set[str] = set()

    @property
    def name(self) -> str:
        """The broker's name."""
        return self.identity.broker_name

    @property
    def own_topics(self) -> tuple[TopicConfig, TopicConfig]:
        """The topics that every broker has: that of its name, that of its cluster.

        Releases since 5.0 refuse a first registration of one topic, so two are needed.
        """
        own = TopicConfig(topic=self.name, read_queue_count=1, write_queue_count=1)
        return own, TopicConfig(topic=self.identity.cluster)

    def table(self, *topics: TopicConfig) -> TopicTable:
        """Return the table of *topics* and its own ones, with the current version."""
        return TopicTable.of(*self.own_topics, *topics, version=self.version)

    def register(
        self,
        *topics: TopicConfig,
        compressed: bool = False,
        filter_servers: tuple[str, ...] = (),
        serialize_type: int = 0,
    ) -> Command:
        """Register with a new data version and return the response."""
        counter = self.version.counter + 1
        self.version = replace(self.version, counter=counter)
        return self.register_again(
            *topics,
            compressed=compressed,
            filter_servers=filter_servers,
            serialize_type=serialize_type,
        )

    def register_again(
        self,
        *topics: TopicConfig,
        compressed: bool = False,
        filter_servers: tuple[str, ...] = (),
        serialize_type: int = 0,
    ) -> Command:
        """Register with the data version of last time and return the response."""
        table = self.table(*topics)
        self.topics_seen |= set(table.topics)
        data = self.encode(table, compressed=compressed, filter_servers=filter_servers)
        fields = self.fields(data, compressed=compressed)
        return self.send(fields, data, serialize_type=serialize_type)

    def encode(
        self,
        table: TopicTable,
        *,
        compressed: bool = False,
        filter_servers: tuple[str, ...] = (),
    ) -> bytes:
        """Return the body of its registration with *table*."""
        body = RegistrationBody(topics=table, filter_servers=filter_servers)
        return encode_registration(body, compressed=compressed, release=self.release)

    def fields(self, body: bytes, *, compressed: bool = False) -> dict[str, str]:
        """Return the header fields of its registration with *body*."""
        return registration_fields(self.identity, body, compressed=compressed)

    def send(
        self, fields: dict[str, str], body: bytes, *, serialize_type: int = 0
    ) -> Command:
        """Send a registration of these fields and this body; return the response."""
        return self.peer.request(
            Command(
                code=RequestCode.REGISTER_BROKER,
                fields=fields,
                body=body,
                serialize_type=serialize_type,
            )
        )

    def unregister(self) -> Command:
        """Unregister and return the response."""
        return unregister(self.peer, self.identity)


def unregister(peer: Peer, identity: BrokerIdentity) -> Command:
    """Unregister the broker of *identity* over *peer* and return the response."""
    code = RequestCode.UNREGISTER_BROKER
    return peer.request(Command(code=code, fields=identity.fields()))


class FakeCluster(Closing):
    """A name server with fake brokers, and clients that read its tables."""

    def __init__(
        self,
        namesrv: Address,
        unique: Callable[[str], str],
        release: str = FIRST_RELEASE,
    ) -> None:
        self.namesrv = namesrv
        self.release = release
        self.client = Client.connect(namesrv, release)
        self.unique = unique
        self._brokers: list[FakeBroker] = []
        self._peers: list[Peer] = []

    def broker(
        self,
        *,
        name: str | None = None,
        cluster: str | None = None,
        broker_id: int = 0,
        peer: Peer | None = None,
        address: str | None = None,
    ) -> FakeBroker:
        """Return a broker that is not registered yet, with a connection of its own."""
        name = name or self.unique("broker")
        identity = BrokerIdentity(
            cluster=cluster or self.unique("cluster"),
            broker_name=name,
            address=address or loopback_address(f"{name}-{broker_id}"),
            broker_id=broker_id,
            ha_address=loopback_address(f"{name}-{broker_id}-ha"),
        )
        broker = FakeBroker(peer or self.connect(), identity, self.release)
        self._brokers.append(broker)
        return broker

    def connect(self) -> Peer:
        """Return a new connection to the name server, closed when the test ends."""
        peer = Peer(self.namesrv)
        self._peers.append(peer)
        return peer

    def route(self, topic: str) -> TopicRoute | None:
        """Return the route of *topic*, or None if the name server has none."""
        response = self.client.route(topic)
        if response.code == ResponseCode.TOPIC_NOT_EXIST:
            return None
        require_success(response)
        return decode_route(response.body)

    def clusters(self) -> ClusterInfo:
        """Return the name server's table of all clusters."""
        return decode_cluster_info(require_success(self.cluster_response()).body)

    def cluster_response(self) -> Command:
        """Return the response about all clusters, requested again where it is refused.

        4.6.0 writes this body without its lock, so beside a change it may fail.
        """
        for _ in range(ATTEMPTS):
            response = self.client.cluster_info()
            if response.code == ResponseCode.SUCCESS:
                break
        return response

    def wait_until_gone(self, broker: FakeBroker) -> None:
        """Wait until the name server has forgotten the broker's name."""

        def forgotten() -> bool:
            return broker.name not in self.clusters().brokers

        wait_until(forgotten, what=f"the name server has forgotten {broker.name}")

    def close(self) -> None:
        """Take every fake broker and topic out of the name server."""
        with ExitStack() as last:
            last.callback(self.client.close)
            for peer in self._peers:
                last.callback(peer.close)
            sweeper = last.enter_context(Client.connect(self.namesrv))
            for broker in self._brokers:
                unregister(sweeper.peer, broker.identity)
                for topic in broker.topics_seen:
                    sweeper.delete_topic_in_namesrv(topic)


def loopback_address(name: str) -> str:
    """Return an address on loopback that no other *name* is likely to have."""
    digest = hashlib.sha256(name.encode()).digest()
    port = 1024 + int.from_bytes(digest[3:5], "big") % 60_000
    return f"127.{digest[0]}.{digest[1]}.{1 + digest[2] % 254}:{port}"


def version_query(
    identity: BrokerIdentity, version: DataVersion, release: str
) -> Command:
    """Return the query of *release* whether *identity* registered *version*."""
    return Command(
        code=RequestCode.QUERY_DATA_VERSION,
        fields=identity.fields(),
        body=encode_data_version(version, release),
    )
