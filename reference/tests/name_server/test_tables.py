"""The name server's tables: who is forgotten, when, and what goes along."""

from __future__ import annotations

from dataclasses import replace

from reference.core.name_server.tables import (
    BROKER_EXPIRY_MS,
    QueueData,
    Registration,
    Tables,
)

MASTER = Registration(
    cluster="C",
    address="127.0.0.1:1",
    name="a",
    broker_id=0,
    ha_address="127.0.0.1:2",
    version=(1, 1),
    topics={"T": QueueData("a", 4, 4, 6, 0)},
)
SLAVE = replace(MASTER, address="127.0.0.1:3", broker_id=1)


def registered(*brokers: Registration) -> Tables:
    """Return tables with these brokers, each by a connection of its own."""
    tables = Tables()
    for connection, broker in enumerate(brokers):
        tables.register(broker, connection, 0)
    return tables


def test_a_broker_is_kept_until_its_time_is_over() -> None:
    tables = registered(MASTER)
    assert tables.expire(BROKER_EXPIRY_MS) == []
    assert tables.expire(BROKER_EXPIRY_MS + 1) == [0]
    assert (tables.queues, tables.brokers, tables.clusters, tables.alive) == (
        {},
        {},
        {},
        {},
    )


def test_a_lost_connection_forgets_its_broker_only() -> None:
    tables = registered(MASTER, SLAVE)
    tables.connection_closed(0)
    assert tables.brokers["a"].addresses == {1: SLAVE.address}
    assert "T" in tables.queues


def test_the_same_version_is_no_news() -> None:
    tables = registered(MASTER)
    changed = replace(MASTER, topics={"T": QueueData("a", 8, 8, 6, 0)})
    tables.register(changed, 0, 1)
    assert tables.queues["T"][0].read_queue_count == 4
    tables.register(replace(changed, version=(1, 2)), 0, 2)
    assert tables.queues["T"][0].read_queue_count == 8


def test_a_slave_that_becomes_master_has_one_id() -> None:
    tables = registered(SLAVE)
    tables.register(replace(SLAVE, broker_id=0), 0, 1)
    assert tables.brokers["a"].addresses == {0: SLAVE.address}


def test_a_slave_is_told_its_master() -> None:
    tables = registered(MASTER, SLAVE)
    assert tables.master_of(SLAVE) == (MASTER.address, MASTER.ha_address)
    assert tables.master_of(MASTER) is None
