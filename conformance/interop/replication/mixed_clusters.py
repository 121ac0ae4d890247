"""
Clusters of mixed make: name servers and brokers of the project and of real releases.

Any broker may register with any name server, without an effect on clients. The parts
are started one by one. Clients of a real release use the cluster: the quick start's
Producer and Consumer, which have only addresses of name servers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from conformance.harness.client.address import Address
from conformance.harness.client.client import Client, body_of, require_success
from conformance.harness.java.apache import ApacheCluster
from conformance.harness.java.cluster_info import broker_addresses
from conformance.harness.process.deadline import wait_until
from conformance.harness.targets.target import Target, parse_target
from conformance.interop.clients.quick_start import CONSUMER_DEADLINE_S, MESSAGES
from conformance.interop.java.client import JavaClient
from conformance.interop.programs.program_output import Printed, sent_messages

OURS = "ours"
"""In place of a release: the reference."""

LOST_SENDS: Mapping[str, int] = {"4.6.0": 0, "5.3.3": 1}
"""Sends that may fail while one of two name servers is down, by release of the client.

A client of 4.6.0 tries every name server before a call fails. One of 5.3.3 tries
another only at its next call, so that its first send may fail. [CLIENT-NAMESRV-001]
[CLIENT-NAMESRV-002]"""

QUEUE_COUNT = 4
SOON_S = 45.0
"""A real broker registers every ten seconds at best; the machine may be busy."""


class NameServer(Protocol):
    """A name server that a test may kill and start again where it was."""

    @property
    def address(self) -> Address:
        """Address of its socket."""

    def start(self) -> None:
        """Serve; return when it does."""

    def kill(self) -> None:
        """Kill the process."""


class OurNameServer:
    """The reference; its own broker is there too, and is given no topics."""

    def __init__(self, target: Target) -> None:
        self._target = target

    @property
    def address(self) -> Address:
        """Address of its socket, once it has started."""
        assert self._target.namesrv is not None
        return self._target.namesrv

    def start(self) -> None:
        """Serve; return when it does."""
        self._target.start()

    def kill(self) -> None:
        """Kill the process."""
        self._target.kill()


class RealNameServer:
    """The name server of a real release, alone."""

    def __init__(self, cluster: ApacheCluster) -> None:
        self._cluster = cluster

    @property
    def address(self) -> Address:
        """Address of its socket."""
        return self._cluster.namesrv

    def start(self) -> None:
        """Serve; return when it does."""
        self._cluster.start(broker=False)

    def kill(self) -> None:
        """Kill the process."""
        self._cluster.kill()


@contextlib.contextmanager
def name_server(make: str, directory: Path) -> Iterator[NameServer]:
    """Run the name server of a release, or ours."""
    one: NameServer
    with contextlib.ExitStack() as ending:
        if make == OURS:
            target = parse_target("embedded:", conf={"brokerName": "broker-unused"})
            ending.callback(target.close)
            one = OurNameServer(target)
        else:
            home = directory / f"name-server-{make}"
            home.mkdir()
            cluster = ApacheCluster(make, directory=home)
            ending.callback(cluster.close)
            one = RealNameServer(cluster)
        one.start()
        yield one


@contextlib.contextmanager
def broker(
    make: str, name_servers: Sequence[Address], directory: Path
) -> Iterator[Address]:
    """Run the broker of a release, or ours; it has registered with *name_servers*."""
    conf = {"brokerName": broker_name(make), "registerNameServerPeriod": "10000"}
    with contextlib.ExitStack() as ending:
        if make == OURS:
            conf["namesrvAddr"] = ";".join(map(str, name_servers))
            target = ending.enter_context(parse_target("embedded:", conf=conf))
            assert target.broker is not None
            address = target.broker
        else:
            home = directory / f"broker-{make}"
            home.mkdir()
            cluster = ApacheCluster(
                make, directory=home, conf=conf, name_servers=name_servers
            )
            ending.callback(cluster.close)
            cluster.start()
            address = cluster.broker
        for one in name_servers:
            wait_until_known(address, one)
        yield address


def broker_name(make: str) -> str:
    """Return the name of a broker of that make."""
    return f"broker-{make.replace('.', '-')}"


def wait_until_known(broker: Address, name_server: Address) -> None:
    """Wait until a name server lists a broker."""
    wait_until(
        lambda: str(broker) in broker_addresses(name_server),
        what=f"the name server at {name_server} lists the broker at {broker}",
        timeout_s=SOON_S,
    )


def create_topic(
    topic: str, brokers: Mapping[str, Address], name_servers: Sequence[Address]
) -> None:
    """Create *topic* at all *brokers*; wait for its route at all *name_servers*."""
    for address in brokers.values():
        with Client.connect(address) as client:
            require_success(client.create_topic(topic=topic, queue_count=QUEUE_COUNT))
    for one in name_servers:
        wait_for_route(topic, brokers, one)


def wait_for_route(
    topic: str, brokers: Mapping[str, Address], name_server: Address
) -> None:
    """Wait until a name server routes *topic* to exactly *brokers*, by name."""
    wanted = {name: str(address) for name, address in brokers.items()}
    with Client.connect(name_server) as client:
        wait_until(
            lambda: masters_of(client, topic) == wanted,
            what=f"the name server at {name_server} routes {topic} to {wanted}",
            timeout_s=SOON_S,
        )


def masters_of(client: Client, topic: str) -> dict[str, str]:
    """Return name and address of each master that a topic is routed to."""
    response = client.route(topic)
    if response.code != 0:
        return {}
    body = body_of(response)
    assert isinstance(body, dict)
    return {
        one["brokerName"]: address
        for one in body["brokerDatas"]
        for number, address in one["brokerAddrs"].items()
        if str(number) == "0"
    }


def produce_to(
    client: JavaClient, brokers: Mapping[str, Address], *, lost: int = 0
) -> list[Printed]:
    """
    Run the Producer to its end; it must have used every queue of *brokers*.

    All but *lost* of its sends must have require_success.
    """
    producer = client.run_example("Producer")
    assert producer.wait_end(deadline_s=CONSUMER_DEADLINE_S) == 0, producer.log_tail()
    sent = sent_messages(producer.output())
    assert {one.status for one in sent} == {"SEND_OK"}, producer.log_tail()
    assert MESSAGES - lost <= len(sent) <= MESSAGES, producer.log_tail()
    assert {(one.broker_name, one.queue_id) for one in sent} == {
        (name, queue_id) for name in brokers for queue_id in range(QUEUE_COUNT)
    }
    return sent
