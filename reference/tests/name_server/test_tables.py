"""The route tables: registration, expiry and removal of brokers."""

from __future__ import annotations

from msgspec.structs import replace

from reference.core.name_server.route_tables import (
    BROKER_EXPIRY_MS,
    Registration,
    RouteTables,
)
from spec.routing.broker_registration import RegistrationBody
from spec.routing.topic_config import DataVersion, TopicConfig, TopicTable


def body(queue_count: int, counter: int) -> RegistrationBody:
    """Return a registration's body with one topic."""
    topic = TopicConfig(
        topic="T", read_queue_count=queue_count, write_queue_count=queue_count
    )
    version = DataVersion(timestamp_ms=1, counter=counter)
    return RegistrationBody(topics=TopicTable.of(topic, version=version))


MASTER = Registration(
    cluster="C",
    address="127.0.0.1:1",
    name="a",
    broker_id=0,
    ha_address="127.0.0.1:2",
    body=body(4, 1),
)
SLAVE = replace(MASTER, address="127.0.0.1:3", broker_id=1)


def registered(*brokers: Registration) -> RouteTables:
    """Return tables with *brokers*, each registered over its own connection."""
    tables = RouteTables()
    for connection, broker in enumerate(brokers):
        tables.register(broker, connection, 0)
    return tables


def test_a_broker_expires_after_its_time() -> None:
    tables = registered(MASTER)
    assert tables.remove_expired(BROKER_EXPIRY_MS) == []
    assert tables.remove_expired(BROKER_EXPIRY_MS + 1) == [0]
    assert (tables.queues, tables.brokers, tables.clusters, tables.live_brokers) == (
        {},
        {},
        {},
        {},
    )


def test_a_lost_connection_removes_its_broker_only() -> None:
    tables = registered(MASTER, SLAVE)
    tables.on_connection_lost(0)
    assert tables.brokers["a"].addresses == {1: SLAVE.address}
    assert "T" in tables.queues


def test_the_same_data_version_changes_nothing() -> None:
    tables = registered(MASTER)
    tables.register(replace(MASTER, body=body(8, 1)), 0, 1)
    assert tables.queues["T"][0].read_queue_count == 4
    tables.register(replace(MASTER, body=body(8, 2)), 0, 2)
    assert tables.queues["T"][0].read_queue_count == 8


def test_a_slave_that_becomes_master_has_one_id() -> None:
    tables = registered(SLAVE)
    tables.register(replace(SLAVE, broker_id=0), 0, 1)
    assert tables.brokers["a"].addresses == {0: SLAVE.address}


def test_a_slave_gets_its_master() -> None:
    tables = registered(MASTER, SLAVE)
    assert tables.master_of(SLAVE) == (MASTER.address, MASTER.ha_address)
    assert tables.master_of(MASTER) is None
