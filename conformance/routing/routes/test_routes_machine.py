"""
Brokers come, change and go in any order, and the name server keeps up.

A machine sends the requests of brokers and administrators. After every step it
compares routes, clusters and key values with three dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import TooLateError, wait_until
from conformance.harness.pytest_plugin.expectations import expect
from conformance.harness.pytest_plugin.stateful import run_machine
from conformance.harness.targets.shared_target import SharedTarget
from conformance.harness.targets.target import Target
from conformance.models.route_table import Queues, RouteTable
from conformance.routing.fake_broker import FakeBroker, FakeCluster, unregister
from conformance.strategies.routes import permissions, queue_counts
from spec.clause import release_key
from spec.routing.broker_registration import BrokerIdentity
from spec.routing.kv_config import decode_key_value_table
from spec.routing.topic_config import TopicConfig
from spec.wire.remoting.response_code import ResponseCode

NAMES = st.integers(0, 2)
IDS = st.integers(0, 2)
TOPICS = st.integers(0, 3)
KEYS = st.sampled_from("ab")


class NameServerMachine(RuleBasedStateMachine):
    """Three broker names in two clusters, three addresses each, and four topics."""

    def __init__(
        self, target: Target, unique: Callable[[str], str], *, takes_compressed: bool
    ) -> None:
        super().__init__()
        assert target.namesrv is not None
        self.fake_cluster = FakeCluster(target.namesrv, unique, target.release)
        self.model = RouteTable(target.release)
        # Since 5.0 an unregistration is answered before it has taken effect.
        self.patience_s = 2.0 if release_key(target.release) >= (5,) else 0.0
        clusters = [unique("cluster") for _ in "12"]
        self.cluster_of = {unique("broker"): clusters[i // 2] for i in range(3)}
        self.topics = [unique("topic") for _ in range(4)]
        self.namespace = unique("namespace")
        self.values: dict[str, str] = {}
        self.takes_compressed = takes_compressed
        self.brokers: dict[tuple[int, int], FakeBroker] = {}

    @rule(
        name=NAMES,
        address=IDS,
        broker_id=IDS,
        chosen=st.sets(TOPICS),
        counts=st.tuples(queue_counts(), queue_counts(), permissions()),
        new_version=st.booleans(),
        compressed=st.booleans(),
    )
    def register(
        self,
        name: int,
        address: int,
        broker_id: int,
        chosen: set[int],
        counts: Queues,
        new_version: bool,
        compressed: bool,
    ) -> None:
        """Register an address of a name under an id, with some of the topics."""
        broker = self._broker(name, address)
        broker.identity = replace(broker.identity, broker_id=broker_id)
        topics = self._topics(chosen, counts)
        self._register(
            broker,
            topics,
            new_version=new_version,
            compressed=compressed and self.takes_compressed,
        )

    @rule(name=NAMES, chosen=st.sets(TOPICS, min_size=1), new_version=st.booleans())
    def register_master(self, name: int, chosen: set[int], new_version: bool) -> None:
        """Register a name's first address as its master, as happens most in life."""
        broker = self._broker(name, 0)
        broker.identity = replace(broker.identity, broker_id=0)
        topics = self._topics(chosen, (len(chosen), 4, 6))
        self._register(broker, topics, new_version=new_version, compressed=False)

    @rule(name=NAMES, broker_id=IDS)
    def unregister(self, name: int, broker_id: int) -> None:
        """Unregister the address that a name's id has, if any."""
        broker_name = list(self.cluster_of)[name]
        address = self.model.addresses.get(broker_name, {}).get(broker_id)
        identity = BrokerIdentity(
            cluster=self.cluster_of[broker_name],
            broker_name=broker_name,
            address=address or "127.0.0.1:1",
            broker_id=broker_id,
        )
        unregister(self.fake_cluster.client.peer, identity)
        self.model.unregister(identity)

    @rule(name=NAMES)
    def wipe_write_permission(self, name: int) -> None:
        """Take the write permission from a name."""
        broker_name = list(self.cluster_of)[name]
        response = self.fake_cluster.client.wipe_write_permission(broker_name)
        expect(
            "ROUTE-PERM-002",
            found=response.fields.get("wipeTopicCount"),
            expected=str(self.model.wipe_write(broker_name)),
            what="wipeTopicCount",
            transcript=self.fake_cluster.client.transcript,
        )

    @rule(topic=TOPICS)
    def delete_topic(self, topic: int) -> None:
        """Delete a topic in the name server."""
        self.fake_cluster.client.delete_topic_in_namesrv(self.topics[topic])
        self.model.delete_topic(self.topics[topic])

    @rule(key=KEYS, value=st.text("xyz ", min_size=1, max_size=3))
    def put(self, key: str, value: str) -> None:
        """Put a value."""
        client = self.fake_cluster.client
        client.put_kv(namespace=self.namespace, key=key, value=value)
        self.values[key] = value

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        """Delete a value."""
        self.fake_cluster.client.delete_kv(namespace=self.namespace, key=key)
        self.values.pop(key, None)

    @invariant()
    def routes_are_those_of_the_model(self) -> None:
        """Compare routes and clusters, with patience for a slow unregistration."""
        expected = (self._expected_routes(), self._expected_clusters())
        try:
            wait_until(
                lambda: (self._routes(), self._clusters()) == expected,
                what="routes and clusters are those of the model",
                timeout_s=self.patience_s,
            )
        except TooLateError:
            expect(
                "ROUTE-DATA-001",
                found=(self._routes(), self._clusters()),
                expected=expected,
                what="queues and addresses by topic, addresses by cluster and broker",
                transcript=self.fake_cluster.client.transcript,
            )

    @invariant()
    def values_are_those_of_the_model(self) -> None:
        """Compare the namespace."""
        response = self.fake_cluster.client.kv_list(namespace=self.namespace)
        values = decode_key_value_table(response.body).values if response.body else {}
        expect(
            "ROUTE-KV-004",
            found=dict(values),
            expected=self.values,
            what="keys and values of the namespace",
            transcript=self.fake_cluster.client.transcript,
        )

    def teardown(self) -> None:
        """Take everything out of the name server again."""
        for key in list(self.values):
            self.fake_cluster.client.delete_kv(namespace=self.namespace, key=key)
        for broker_name, addresses in list(self.model.addresses.items()):
            for broker_id, address in list(addresses.items()):
                identity = BrokerIdentity(
                    cluster=self.cluster_of[broker_name],
                    broker_name=broker_name,
                    address=address,
                    broker_id=broker_id,
                )
                unregister(self.fake_cluster.client.peer, identity)
        self.fake_cluster.close()

    def _register(
        self,
        broker: FakeBroker,
        topics: list[TopicConfig],
        *,
        new_version: bool,
        compressed: bool,
    ) -> None:
        register = broker.register if new_version else broker.register_again
        response = register(*topics, compressed=compressed)
        require_success(response)
        table = broker.table(*topics).topics
        self.model.register(broker.identity, table, broker.version.counter)

    def _topics(self, chosen: set[int], counts: Queues) -> list[TopicConfig]:
        """Return the chosen topics with these queues."""
        read, write, permission = counts
        return [
            TopicConfig(
                topic=self.topics[i],
                read_queue_count=read,
                write_queue_count=write,
                permission=permission,
            )
            for i in sorted(chosen)
        ]

    def _broker(self, name: int, address: int) -> FakeBroker:
        """Return the broker behind an address, the same one every time."""
        broker_name = list(self.cluster_of)[name]
        if (name, address) not in self.brokers:
            self.brokers[name, address] = self.fake_cluster.broker(
                name=broker_name,
                cluster=self.cluster_of[broker_name],
                broker_id=address,
                peer=self.fake_cluster.client.peer,
            )
        return self.brokers[name, address]

    def _routes(self) -> dict[str, tuple[object, object]]:
        """Return queues and addresses by broker name of every topic with a route."""
        routes: dict[str, tuple[object, object]] = {}
        for topic in self.topics:
            route = self.fake_cluster.route(topic)
            if route is not None:
                routes[topic] = (
                    {
                        q.broker_name: (
                            q.read_queue_count,
                            q.write_queue_count,
                            q.permission,
                        )
                        for q in route.queue_datas
                    },
                    {d.broker_name: dict(d.addresses) for d in route.broker_datas},
                )
        return routes

    def _expected_routes(self) -> dict[str, tuple[object, object]]:
        return {
            topic: (queues, {name: self.model.addresses[name] for name in queues})
            for topic, queues in self.model.queues.items()
            if topic in self.topics
        }

    def _clusters(self) -> dict[str, dict[str, dict[int, str]]]:
        """Return addresses by cluster, broker name and id, of our clusters."""
        info = self.fake_cluster.clusters()
        return {
            cluster: {name: dict(info.brokers[name].addresses) for name in members}
            for cluster, members in info.clusters.items()
            if cluster in self.cluster_of.values()
        }

    def _expected_clusters(self) -> dict[str, dict[str, dict[int, str]]]:
        clusters: dict[str, dict[str, dict[int, str]]] = {}
        for name, addresses in self.model.addresses.items():
            clusters.setdefault(self.cluster_of[name], {})[name] = addresses
        return clusters


@pytest.mark.long
@pytest.mark.clause(
    "ROUTE-DATA-001",
    "ROUTE-DATA-002",
    "ROUTE-DATA-003",
    "ROUTE-CLUSTER-001",
    "ROUTE-LIVENESS-001",
    "ROUTE-REG-015",
    "ROUTE-PERM-001",
    "ROUTE-PERM-002",
    "ROUTE-DELETE-001",
    "ROUTE-KV-004",
)
@pytest.mark.needs("wire")
def test_the_name_server_keeps_up_with_any_history(
    target: SharedTarget,
    fake_cluster: FakeCluster,
    unique: Callable[[str], str],
    pytestconfig: pytest.Config,
) -> None:
    # A refusal of a compressed registration is the subject of ROUTE-REG-002.
    compressed = fake_cluster.broker().register(compressed=True)
    takes_compressed = compressed.code == ResponseCode.SUCCESS
    run_machine(
        pytestconfig,
        lambda: NameServerMachine(target, unique, takes_compressed=takes_compressed),
        examples=20,
        steps=25,
    )
