"""
A slave of either make follows a master of either make, and serves its content.

Both are started from settings alone. The commit logs are compared byte by byte, the
queues message by message, the tables by queries. Then either ends and restarts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.harness.client.address import Address
from conformance.harness.client.client import require_success
from conformance.harness.process.deadline import wait_until
from conformance.harness.pytest_plugin.fixtures import unique_name
from conformance.interop.clients.quick_start import CONSUMER_DEADLINE_S, TOPIC
from conformance.interop.java.client import JavaClient
from conformance.interop.programs.program_output import received_messages
from conformance.interop.replication.checks import (
    check_logs,
    check_messages,
    check_refusal,
    check_same,
    check_tables,
)
from conformance.interop.replication.mixed_clusters import OURS, name_server
from conformance.interop.replication.replication import (
    LOG_FILE_SIZE,
    QUEUES,
    SLAVE_SETTINGS,
    SOON_S,
    Member,
    send_some,
    wait_for_topic,
    wait_until_same,
)
from spec.wire.remoting.response_code import ResponseCode

REAL = "4.6.0"
PAIRS = [(REAL, OURS), (OURS, REAL), (OURS, OURS)]
"""Master and slave."""

Starter = Callable[..., Member]


@pytest.fixture
def names(tmp_path: Path) -> Iterator[Address]:
    """Yield the address of a name server that has no other brokers."""
    with name_server(REAL, tmp_path) as one:
        yield one.address


@pytest.fixture
def start(names: Address, tmp_path: Path) -> Iterator[Starter]:
    """Return a function that starts a member of a pair."""
    with ExitStack() as running:

        def started(make: str, role: str = "master", **conf: str) -> Member:
            roles = SLAVE_SETTINGS if role == "slave" else {}
            place = tmp_path / role
            member = Member(make, [names], place, {**roles, **conf})
            running.callback(member.close)
            member.start()
            return member

        yield started


@pytest.mark.parametrize(("master_make", "slave_make"), PAIRS)
def test_a_slave_has_what_its_master_has(
    start: Starter, master_make: str, slave_make: str
) -> None:
    master = start(master_make)
    slave = start(slave_make, "slave")
    topic = topic_at(master, slave)
    end = send_some(master, topic, first=2, count=200)
    assert end > 2 * LOG_FILE_SIZE
    check_same(master, slave, topic, end=end)
    check_tables(master, slave, topic)
    check_refusal(slave, topic)

    master.stop()
    master.start()
    end = send_some(master, topic, first=202, count=20)
    check_same(master, slave, topic, end=end)

    slave.kill()
    end = send_some(master, topic, first=222, count=20)
    slave.start()
    check_same(master, slave, topic, end=end)


@pytest.mark.parametrize(("master_make", "slave_make"), PAIRS)
def test_a_fresh_slave_begins_with_the_last_file(
    start: Starter, master_make: str, slave_make: str
) -> None:
    master = start(master_make)
    topic = topic_at(master)
    send_some(master, topic, first=0, count=200)
    slave = start(slave_make, "slave")
    end = send_some(master, topic, first=200, count=10)
    wait_until_same(master, slave, topic)
    begin = check_logs(master, slave, end=end)
    assert begin == 2 * LOG_FILE_SIZE
    with slave.client() as broker:
        smallest = int(require_success(broker.min_offset(topic=topic)).fields["offset"])
    assert smallest > 0
    check_messages(master, slave, topic, first=smallest)


@pytest.mark.parametrize("master_make", [REAL, OURS])
def test_a_consumer_goes_on_at_the_slave_when_the_master_is_gone(
    start: Starter, names: Address, master_make: str, tmp_path: Path
) -> None:
    slave_make = OURS if master_make == REAL else REAL
    master = start(master_make)
    slave = start(slave_make, "slave")
    with master.client() as broker:
        require_success(broker.create_topic(topic=TOPIC, queue_count=len(QUEUES)))
    wait_for_topic(slave, TOPIC)
    sent = send_with_keys(master, count=100)
    wait_until_same(master, slave, TOPIC)
    master.kill()
    client = JavaClient(release=REAL, namesrv=names, directory=tmp_path)
    consumer = client.run_example("Consumer")
    try:
        consumer.wait_until(
            lambda: (
                sent <= {one.unique_key for one in received_messages(consumer.output())}
            ),
            what="every message, printed by the consumer",
            deadline_s=CONSUMER_DEADLINE_S,
        )
    finally:
        consumer.terminate()


@pytest.mark.parametrize(("master_make", "slave_make"), PAIRS[:2])
def test_a_master_that_waits_is_answered_by_its_slave(
    start: Starter, master_make: str, slave_make: str
) -> None:
    master = start(master_make, brokerRole="SYNC_MASTER", syncFlushTimeout="2000")
    topic = unique_name("waiting")
    with master.client() as broker:
        require_success(broker.create_topic(topic=topic, queue_count=2))
        alone = broker.send_message(topic=topic, body=b"alone").code
        assert alone == ResponseCode.SLAVE_NOT_AVAILABLE
        slave = start(slave_make, "slave")
        wait_until(
            lambda: broker.send_message(topic=topic, body=b"followed").code == 0,
            what="the slave has a message in time",
            timeout_s=SOON_S,
        )
        codes = {broker.send_message(topic=topic, body=b"x").code for _ in range(50)}
        assert codes == {ResponseCode.SUCCESS}
        slave.kill()
        wait_until(
            lambda: (
                broker.send_message(topic=topic, body=b"alone").code
                == ResponseCode.SLAVE_NOT_AVAILABLE
            ),
            what="the master has detected the loss of its slave",
            timeout_s=SOON_S,
        )


def send_with_keys(master: Member, *, count: int) -> set[str]:
    """Send messages to the quick start's topic; return their unique keys."""
    keys = [f"{number:032X}" for number in range(count)]
    with master.client() as broker:
        for number, key in enumerate(keys):
            response = broker.send_message(
                topic=TOPIC,
                queue_id=number % len(QUEUES),
                body=b"for the quick start's consumer",
                properties={"UNIQ_KEY": key, "TAGS": "TagA", "WAIT": "true"},
            )
            require_success(response)
    return set(keys)


def topic_at(master: Member, *slaves: Member) -> str:
    """Create a topic at *master*; wait until *slaves* have it and follow."""
    topic = unique_name("pair")
    with master.client() as broker:
        require_success(broker.create_topic(topic=topic, queue_count=len(QUEUES)))
    for slave in slaves:
        wait_for_topic(slave, topic)
        # One that has not connected yet may be sent only what is written later.
        send_some(master, topic, first=0, count=len(QUEUES))
        wait_until_same(master, slave, topic)
    return topic
