"""
Name servers and brokers of mixed make form one cluster for a real client.

Real brokers register with the reference's name server, its broker with real name
servers, and either of two name servers may end. The quick start's programs must find
the brokers each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from conformance.harness.client.address import Address
from conformance.harness.java.cluster_info import broker_addresses
from conformance.harness.process.deadline import wait_until
from conformance.interop.clients.quick_start import TOPIC, consume
from conformance.interop.java.client import JavaClient
from conformance.interop.replication.mixed_clusters import (
    LOST_SENDS,
    OURS,
    broker,
    broker_name,
    create_topic,
    name_server,
    produce_to,
    wait_for_route,
    wait_until_known,
)

REAL = ("4.6.0", "5.3.3")


def test_real_brokers_of_two_releases_meet_at_our_name_server(tmp_path: Path) -> None:
    with ExitStack() as running:
        names = running.enter_context(name_server(OURS, tmp_path)).address
        brokers = {
            broker_name(make): running.enter_context(broker(make, [names], tmp_path))
            for make in REAL
        }
        create_topic(TOPIC, brokers, [names])
        for release in REAL:
            exchange(
                JavaClient(release=release, namesrv=names, directory=tmp_path), brokers
            )


@pytest.mark.parametrize("release", REAL)
def test_our_broker_is_found_through_a_real_name_server(
    release: str, tmp_path: Path
) -> None:
    with name_server(release, tmp_path) as names:
        with broker(OURS, [names.address], tmp_path) as ours:
            brokers = {broker_name(OURS): ours}
            create_topic(TOPIC, brokers, [names.address])
            client = JavaClient(
                release=release, namesrv=names.address, directory=tmp_path
            )
            exchange(client, brokers)
        wait_until(
            lambda: not broker_addresses(names.address),
            what="the name server has forgotten the broker whose connection closed",
        )


@pytest.mark.parametrize(
    ("make", "release"), [(OURS, "4.6.0"), ("4.6.0", "5.3.3"), ("5.3.3", "4.6.0")]
)
def test_a_broker_is_found_through_the_name_server_that_is_left(
    make: str, release: str, tmp_path: Path
) -> None:
    """The other name server is real, of *release*; first ours ends, then that one."""
    with ExitStack() as running:
        ours = running.enter_context(name_server(OURS, tmp_path))
        theirs = running.enter_context(name_server(release, tmp_path))
        both = [ours.address, theirs.address]
        address = running.enter_context(broker(make, both, tmp_path))
        brokers = {broker_name(make): address}
        create_topic(TOPIC, brokers, both)
        client = JavaClient(
            release=release, namesrv=";".join(map(str, both)), directory=tmp_path
        )
        lost = LOST_SENDS[release]
        consumer = client.run_example("Consumer")
        running.callback(consumer.kill)

        ours.kill()
        create_topic("WithoutOurs", brokers, [theirs.address])
        consume(consumer, produce_to(client, brokers, lost=lost))

        ours.start()
        wait_until_known(address, ours.address)
        for topic in (TOPIC, "WithoutOurs"):
            wait_for_route(topic, brokers, ours.address)

        theirs.kill()
        create_topic("WithoutTheirs", brokers, [ours.address])
        consume(consumer, produce_to(client, brokers, lost=lost))


def exchange(client: JavaClient, brokers: Mapping[str, Address]) -> None:
    """Let the quick start send to *brokers* and receive all of it."""
    sent = produce_to(client, brokers)
    consumer = client.run_example("Consumer")
    try:
        received = consume(consumer, sent)
    finally:
        consumer.terminate()
    times = Counter(message.unique_key for message in received)
    assert {times[message.unique_key] for message in sent} == {1}
